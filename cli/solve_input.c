/* solve_input.c: a linear system from a system file or a Matrix Market file, told apart by how they begin. */
#include "solve.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char SYSTEM[] = "DRAPESY1", MARKET[] = "%%MatrixMarket";
static const double ASYMMETRY = 1e-8; /* of what is no rounding, relative to the diagonal */

enum { HEAD = sizeof MARKET - 1 };

static bool refuse(const drape_context *ctx) {
    complain("%s", drape_message(ctx));
    return false;
}

/* A file that cannot be read has an empty head: the library's reader says why. */
static size_t read_head(const char *path, char head[HEAD]) {
    struct stat info;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool readable = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    ssize_t size = readable ? read(file, head, HEAD) : 0;
    if (file >= 0) close(file);
    return size > 0 ? (size_t)size : 0;
}

/* ---- System files ---- */

static bool take_system(drape_context *ctx, const char *path, linear_system *out) {
    drape_status status = drape_system_read(ctx, path, &out->file);
    if (status) return refuse(ctx);
    out->A = out->file.A;
    out->unknowns = 3 * (int64_t)out->A.rows;
    status = drape_constraints_create(ctx, out->A.rows, &out->held);
    if (!status) status = drape_constraints_set_filter(out->held, out->file.S, out->file.z);
    return status ? refuse(ctx) : true;
}

/* ---- Matrix Market files ---- */

static bool take_market(drape_context *ctx, const char *path, linear_system *out) {
    drape_builder *builder;
    drape_status status = drape_matrix_market_read(ctx, path, &builder);
    if (status) return refuse(ctx);
    out->unknowns = drape_builder_rows(builder);
    status = drape_builder_finish(builder, &out->matrix);
    drape_builder_destroy(builder);
    if (status) return refuse(ctx);
    out->A = drape_matrix_view(out->matrix);
    return true;
}

/* ---- The right-hand side ---- */

static bool take_rhs(drape_context *ctx, const char *path, linear_system *s) {
    s->b = calloc(3 * (size_t)s->A.rows + 1, sizeof *s->b);
    if (!s->b) {
        complain("out of memory");
        return false;
    }
    if (path) return drape_vector_read(ctx, path, s->unknowns, s->b) ? refuse(ctx) : true;
    for (int64_t i = 0; i < s->unknowns; i++) s->b[i] = s->held ? s->file.b[i] : 1;
    return true;
}

bool system_read(drape_context *ctx, const char *path, const char *rhs, linear_system *out) {
    char head[HEAD];
    size_t size = read_head(path, head);
    *out = (linear_system){0};
    bool is_system = size >= sizeof SYSTEM - 1 && memcmp(head, SYSTEM, sizeof SYSTEM - 1) == 0;
    if (size && !is_system && (size < HEAD || strncasecmp(head, MARKET, HEAD) != 0)) {
        complain("%s: neither a system file, which begins with %s, nor a Matrix Market file, which begins with %s",
                 path, SYSTEM, MARKET);
        return false;
    }
    return (is_system ? take_system : take_market)(ctx, path, out) && take_rhs(ctx, rhs, out);
}

void system_clear(drape_context *ctx, linear_system *s) {
    drape_constraints_destroy(s->held);
    drape_matrix_destroy(s->matrix);
    drape_system_clear(ctx, &s->file);
    free(s->b);
}

/* ---- Symmetry ---- */

static double entry_at(const drape_bsr3 *A, int64_t row, int64_t column) {
    for (int64_t k = A->rowptr[row / 3]; k < A->rowptr[row / 3 + 1]; k++)
        if (A->col[k] == column / 3) return A->val[9 * k + 3 * (row % 3) + column % 3];
    return 0;
}

/* The scalar entry of the block that differs most from its counterpart. */
static void worst_entry(const drape_bsr3 *A, int32_t block_row, int32_t block_column, int64_t *row, int64_t *column) {
    double most = -1;
    for (int64_t i = 3 * (int64_t)block_row; i < 3 * (int64_t)block_row + 3; i++)
        for (int64_t j = 3 * (int64_t)block_column; j < 3 * (int64_t)block_column + 3; j++) {
            double difference = fabs(entry_at(A, i, j) - entry_at(A, j, i));
            if (!(difference > most)) continue;
            most = difference;
            *row = i;
            *column = j;
        }
}

bool system_suits(const linear_system *s, const char *path, const char *method) {
    int32_t block_row = 0, block_column = 0;
    int64_t i = 0, j = 0;
    if (!drape_method_needs_symmetry(method)) return true;
    if (drape_bsr3_asymmetry(&s->A, &block_row, &block_column) <= ASYMMETRY) return true;
    worst_entry(&s->A, block_row, block_column, &i, &j);
    double here = entry_at(&s->A, i, j), there = entry_at(&s->A, j, i);
    if (s->held)
        complain("%s: the block of vertices %d and %d has %.10g, but that of %d and %d has %.10g; %s needs a "
                 "symmetric matrix: try --method bicgstab",
                 path, block_row, block_column, here, block_column, block_row, there, method);
    else
        complain("%s: entry (%lld, %lld) is %.10g, but entry (%lld, %lld) is %.10g; %s needs a symmetric matrix: try "
                 "--method bicgstab",
                 path, (long long)i + 1, (long long)j + 1, here, (long long)j + 1, (long long)i + 1, there, method);
    return false;
}
