/* validate.h: what the table of drape validate and its page share. */
#ifndef DRAPE_CLI_VALIDATE_H
#define DRAPE_CLI_VALIDATE_H

#include "cli.h"

enum { VALIDATION_ROWS = 256, VALIDATION_LATTICE = 16384 /* vertices: of 80 cells, as wide as long */ };

typedef struct validation_row {
    const char *group, *mesh;
    char what[64];
    double load, end; /* of strips: rho g L^3 / B, P L^2 / (B width); else 0 */
    double got, want;
    double bar; /* the largest difference allowed, relative */
} validation_row;

/* Depth of the tip of a clamped rod of length and rigidity 1 under its weight and a force at the end. */
double elastica_depth(double load, double end);

/* False after a complaint. */
bool write_validation_page(const char *path, const validation_row *rows, int32_t count);

#endif
