/* sheets.h: matrices like those of a cloth, made of springs. A crumpled grid of vertices has springs along edges,
 * diagonals and (weak ones) to the second next vertex, plus a mass. */
#ifndef DRAPE_TESTS_SHEETS_H
#define DRAPE_TESTS_SHEETS_H

#include "drape/solve.h"
#include "support/testing.h"

typedef struct sheet_settings {
    int32_t nx, ny;  /* vertices */
    double mass;     /* that is added to the diagonal; springs have 1 */
    double aspect;   /* of a cell; 0: 1 */
    double contrast; /* springs of the right half have so much more; 0: 1 */
    double bending;  /* springs to the vertex after the next; 0: 0.01 */
    double tension;  /* share of a spring's stiffness that it has across; 0: 0.01 */
    bool flat;       /* all in a plane that is oblique to the axes */
    int32_t springs; /* between random vertices; hubs: all from vertex 0 and the middle one */
    bool hubs;
    bool shuffled;    /* vertices in random order */
    int32_t isolated; /* vertices more, without springs */
    bool two;         /* two sheets that are not connected: none from row ny/2 to the next */
    uint64_t seed;
} sheet_settings;

typedef struct sheet {
    drape_matrix *matrix;
    drape_bsr3 A;
    drape_constraints *set;
    double *x; /* positions */
    double *b; /* in [-1, 1) */
} sheet;

sheet sheet_create(drape_context *ctx, const sheet_settings *settings);
void sheet_destroy(sheet *s);
/* Holds a random share of the vertices, in 1 to 3 directions each. */
void sheet_hold_some(drape_context *ctx, sheet *s, double share);
/* Holds all vertices in so many directions, the first of x, y, z. */
void sheet_hold_all(drape_context *ctx, sheet *s, int32_t directions);

#endif
