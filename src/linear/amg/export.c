/* export.c: the interpolations of a hierarchy, for multigrid of others.
 *
 * Levels are scaled (level.h): P leads from the scaled unknowns of the next level to those of this one. The finest
 * one is turned back, x = W x~, so that its rows are W_i P_i, in the order of the caller's rows. Coarse levels keep
 * their own unknowns, which nothing outside the hierarchy refers to. */
#include "linear/amg/hierarchy.h"

#include <string.h>

/* out = W P for one block, W 3x3 */
static void unscale(const float *W, const float *P, int32_t columns, double *out) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < columns; j++) {
            double sum = 0;
            for (int32_t k = 0; k < 3; k++) sum += (double)W[3 * i + k] * P[columns * k + j];
            out[columns * i + j] = sum;
        }
}

static void export_values(const drape_i_level *l, bool finest, int32_t row, int64_t to, double *out) {
    const int64_t size = (int64_t)l->P.r * l->P.c;
    for (int64_t k = l->P.start[row]; k < l->P.start[row + 1]; k++, to++) {
        if (finest) unscale(l->scale + 9 * (int64_t)row, l->P.val + size * k, l->P.c, out + size * to);
        else
            for (int64_t m = 0; m < size; m++) out[size * to + m] = l->P.val[size * k + m];
    }
}

void drape_i_level_interpolation(const drape_i_level *l, bool finest, drape_interpolation *io) {
    const drape_i_fblocks *P = &l->P;
    int64_t at = 0;
    io->rows = P->rows;
    io->columns = P->cols;
    io->row_size = P->r;
    io->column_size = P->c;
    io->blocks = P->count;
    for (int32_t i = 0; i < P->rows; i++) {
        const int32_t row = finest && l->place ? l->place[i] : i;
        const int64_t count = P->start[row + 1] - P->start[row];
        if (io->rowptr) io->rowptr[i] = at;
        if (io->col) memcpy(io->col + at, P->col + P->start[row], (size_t)count * sizeof *io->col);
        if (io->val) export_values(l, finest, row, at, io->val);
        if (io->aggregate) io->aggregate[i] = l->aggregate[row];
        at += count;
    }
    if (io->rowptr) io->rowptr[P->rows] = at;
}
