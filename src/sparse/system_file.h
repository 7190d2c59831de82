/* system_file.h: what the two readers of system files share: system_file.c, which has the layout, and mpi/system.c.
 */
#ifndef DRAPE_SPARSE_SYSTEM_FILE_H
#define DRAPE_SPARSE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define DRAPE_I_SYSTEM_MAGIC "DRAPESY1"

typedef struct drape_i_system_header {
    char magic[8];
    int64_t n, nnzb, nconstrained;
    double h;
} drape_i_system_header;
_Static_assert(sizeof(drape_i_system_header) == 40, "the header has no gaps");

enum { DRAPE_I_SYSTEM_ROW_BYTES = 8 + 8 * (9 + 4 * 3), DRAPE_I_SYSTEM_BLOCK_BYTES = 4 + 8 * 9 };

/* Whether a 3x3 matrix is an orthogonal projection up to rounding, and whether it is exactly I. */
bool drape_i_is_projection(const double S[9]);
bool drape_i_is_identity(const double S[9]);

#endif
