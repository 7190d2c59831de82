/* quadratic.h: an energy 1/2 sum_ij k_ij x_i.x_j with constant numbers k_ij, symmetric, rows of which sum to zero.
 *
 * Its Hessian has the blocks k_ij I, the same at every state. */
#ifndef DRAPE_CLOTH_QUADRATIC_H
#define DRAPE_CLOTH_QUADRATIC_H

#include "cloth/model.h"

/* Row i has the couplings [rowptr[i], rowptr[i + 1]) to the vertices col[], ascending, without i itself. */
typedef struct drape_i_quadratic {
    int32_t vertices;
    int64_t count;
    int64_t *rowptr; /* vertices + 1 */
    int32_t *col;
    double *k; /* N/m, of each coupling */
} drape_i_quadratic;

/* Dense symmetric matrices of groups of vertices, which are summed up. */
typedef struct drape_i_patches {
    int32_t count;
    int64_t *first; /* count + 1: where the vertices of each start */
    int32_t *node;
    void *data; /* for `fill` */
    /* The matrix of patch p, n x n with n = first[p + 1] - first[p]; what is on the diagonal is not read. */
    drape_status (*fill)(void *data, int32_t p, double *matrix);
} drape_i_patches;

drape_status drape_i_quadratic_create(drape_context *ctx, int32_t vertices, const drape_i_patches *patches,
                                      drape_i_quadratic **out);
void drape_i_quadratic_destroy(drape_context *ctx, drape_i_quadratic *q); /* NULL is fine */

/* Couplings as elements of two vertices each, i < j, for the pattern of a matrix: *pairs holds 2 per coupling and is
 * freed by the caller, 2 * *count of them. */
drape_status drape_i_quadratic_pairs(drape_context *ctx, const drape_i_quadratic *q, int32_t **pairs, int32_t *count);

/* For rows [begin, end): force -= K x, stiff_v += K v, and the matrix += stiffness K. Each may be NULL. slot says, of
 * each coupling, which block of its row in the matrix it is. */
typedef struct drape_i_quadratic_rows {
    int32_t begin, end;
    const double *x, *v;
    double stiffness;
    double *force, *stiff_v;
    const int64_t *rowptr; /* of the matrix */
    const int32_t *slot, *diagonal;
    bool upper; /* blocks left of the diagonal are left alone */
    double *val;
} drape_i_quadratic_rows;

void drape_i_quadratic_add(drape_context *ctx, const drape_i_quadratic *q, const drape_i_quadratic_rows *rows);

/* 1/2 x'Kx, J */
double drape_i_quadratic_energy(drape_context *ctx, const drape_i_quadratic *q, const double *x);

/* Rows [begin, end): out += scale K y; and their part of the energy. */
DRAPE_I_KERNEL(void, drape_i_quadratic_multiply,
               (const drape_i_quadratic *q, double scale, const double *y, int64_t begin, int64_t end, double *out));
DRAPE_I_KERNEL(double, drape_i_quadratic_energies,
               (const drape_i_quadratic *q, const double *x, int64_t begin, int64_t end));

#endif
