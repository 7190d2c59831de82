/* block_diagonal.h: one symmetric 3x3 block per vertex, eight vertices at a time.
 *
 * Blocks are in groups of eight vertices: G[48 g + 8 k + l] is number k of xx xy xz yy yz zz of vertex 8 g + l. The
 * last group is filled up with zeros. Vertices are summed in eight lanes, vertex i in lane i modulo 8. */
#ifndef DRAPE_LINEAR_BLOCK_DIAGONAL_H
#define DRAPE_LINEAR_BLOCK_DIAGONAL_H

#include "base/simd_level.h"

#include <stdint.h>

enum { DRAPE_I_GROUP = 8, DRAPE_I_GROUP_NUMBERS = 48 };

/* Over the vertices [begin, end), begin a multiple of eight. */

/* h = G r (h may be NULL: only the sum); returns r'h. */
DRAPE_I_KERNEL(double, drape_i_blocks_apply,
               (const double *G, const double *r, double *h, int64_t begin, int64_t end));
/* r -= a q; sums[0] = r'G r, sums[1] = r'r */
DRAPE_I_KERNEL(void, drape_i_blocks_residual,
               (const double *G, double a, const double *q, double *r, int64_t begin, int64_t end, double *sums));
/* x += a p, p = G r + b p */
DRAPE_I_KERNEL(void, drape_i_blocks_direction,
               (const double *G, double a, double b, const double *r, double *x, double *p, int64_t begin,
                int64_t end));

#endif
