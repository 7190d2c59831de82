/* own_springs.h: the springs of the model provot as a force of a program's own (drape/force.h). */
#ifndef DRAPE_TESTS_OWN_SPRINGS_H
#define DRAPE_TESTS_OWN_SPRINGS_H

#include "drape/force.h"

/* Spring i pulls with stiffness[i] (l - length[i]) + damping[i] dl/dt. */
typedef struct own_springs {
    int32_t count;
    int32_t *ends; /* 2 per spring */
    double *length, *stiffness, *damping;
} own_springs;

/* The springs of a cloth of the model provot; free them with own_springs_clear. */
own_springs own_springs_of(const drape_cloth *provot);
void own_springs_clear(own_springs *springs);

/* The table, which looks at the springs; damped: with their damping. */
drape_force own_springs_force(own_springs *springs, bool damped);

#endif
