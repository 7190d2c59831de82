/* quantity.h: numbers with units: "150 g/m^2" is 0.15. */
#ifndef DRAPE_IO_QUANTITY_H
#define DRAPE_IO_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* Powers of m, kg, s; angles are apart. */
typedef enum drape_i_dimension {
    DRAPE_I_PLAIN,        /* no unit */
    DRAPE_I_SHARE,        /* no unit, or % */
    DRAPE_I_LENGTH,       /* m */
    DRAPE_I_TIME,         /* s */
    DRAPE_I_MASS,         /* kg */
    DRAPE_I_SPEED,        /* m/s */
    DRAPE_I_ACCELERATION, /* m/s^2 */
    DRAPE_I_FREQUENCY,    /* Hz */
    DRAPE_I_FORCE,        /* N */
    DRAPE_I_AREA_DENSITY, /* kg/m^2 */
    DRAPE_I_DENSITY,      /* kg/m^3 */
    DRAPE_I_STIFFNESS,    /* N/m */
    DRAPE_I_RIGIDITY,     /* N m */
    DRAPE_I_BEAM,         /* N m^2 */
    DRAPE_I_AIR_DRAG,     /* N s/m^3 */
    DRAPE_I_ANGLE         /* degrees; "rad" is converted */
} drape_i_dimension;

/* "m", "kg/m^2", ...; "" for a plain number. */
const char *drape_i_dimension_unit(drape_i_dimension dimension);

/* Reads a number, with or without a unit, into SI (degrees for angles). On failure writes what is wrong into why
 * and returns false. Numbers are read in the "C" locale. */
bool drape_i_quantity_parse(const char *text, drape_i_dimension dimension, double *out, char *why, size_t why_size);

#endif
