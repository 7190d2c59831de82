/* quadratic.c: see quadratic.h. quadratic_simd.c has the sums over couplings. */
#include "cloth/quadratic.h"

#include "base/parallel.h"

#include <stdlib.h>

/* ---- creation ---- */

void drape_i_quadratic_destroy(drape_context *ctx, drape_i_quadratic *q) {
    if (!q) return;
    DRAPE_FREE(ctx, q->rowptr, (int64_t)q->vertices + 1);
    DRAPE_FREE(ctx, q->col, q->count);
    DRAPE_FREE(ctx, q->k, q->count);
    DRAPE_FREE(ctx, q, 1);
}

/* Patches of each vertex: of[first[i] .. first[i + 1] - 1], ascending. */
typedef struct incidence {
    int64_t *first;
    int32_t *of;
} incidence;

static bool find_incidence(drape_context *ctx, int32_t vertices, const drape_i_patches *p, incidence *out) {
    const int64_t total = p->first[p->count];
    *out = (incidence){0};
    if (!DRAPE_NEW(ctx, out->first, (int64_t)vertices + 2) || !DRAPE_NEW(ctx, out->of, total)) return false;
    int64_t *next = out->first + 1;
    for (int64_t i = 0; i < total; i++) next[p->node[i] + 1]++;
    for (int32_t i = 0; i < vertices; i++) next[i + 1] += next[i];
    for (int32_t c = 0; c < p->count; c++)
        for (int64_t i = p->first[c]; i < p->first[c + 1]; i++) out->of[next[p->node[i]]++] = c;
    return true;
}

static int compare_nodes(const void *a, const void *b) {
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* The vertices that row i is coupled to, each once, sorted where col is not NULL; returns how many. */
static int64_t collect_row(int32_t i, const drape_i_patches *p, const incidence *inc, int32_t *seen, int32_t *col) {
    int64_t count = 0;
    for (int64_t c = inc->first[i]; c < inc->first[i + 1]; c++)
        for (int64_t e = p->first[inc->of[c]]; e < p->first[inc->of[c] + 1]; e++) {
            int32_t j = p->node[e];
            if (j == i || seen[j] == i) continue;
            seen[j] = i;
            if (col) col[count] = j;
            count++;
        }
    if (col) qsort(col, (size_t)count, sizeof *col, compare_nodes);
    return count;
}

static drape_status find_pattern(drape_context *ctx, const drape_i_patches *p, const incidence *inc, int32_t *seen,
                                 drape_i_quadratic *q) {
    if (!DRAPE_NEW(ctx, q->rowptr, (int64_t)q->vertices + 1)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < q->vertices; i++) seen[i] = -1;
    for (int32_t i = 0; i < q->vertices; i++) q->rowptr[i + 1] = q->rowptr[i] + collect_row(i, p, inc, seen, NULL);
    const int64_t count = q->rowptr[q->vertices];
    if (!DRAPE_NEW(ctx, q->col, count)) return DRAPE_ERROR_MEMORY;
    if (!DRAPE_NEW(ctx, q->k, count)) {
        DRAPE_FREE(ctx, q->col, count);
        q->col = NULL;
        return DRAPE_ERROR_MEMORY;
    }
    q->count = count;
    for (int32_t i = 0; i < q->vertices; i++) seen[i] = -1;
    for (int32_t i = 0; i < q->vertices; i++) collect_row(i, p, inc, seen, q->col + q->rowptr[i]);
    return DRAPE_OK;
}

/* Which coupling of row i is that to j; it is there. */
static int64_t find_coupling(const drape_i_quadratic *q, int32_t i, int32_t j) {
    int64_t low = q->rowptr[i], high = q->rowptr[i + 1] - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (q->col[middle] < j) low = middle + 1;
        else high = middle;
    }
    DRAPE_ASSERT(low < q->rowptr[i + 1] && q->col[low] == j);
    return low;
}

/* Patch by patch, so that k_ij and k_ji sum up the same numbers in the same order. */
static drape_status sum_patches(drape_context *ctx, const drape_i_patches *p, drape_i_quadratic *q) {
    int64_t most = 0;
    for (int32_t c = 0; c < p->count; c++) {
        int64_t n = p->first[c + 1] - p->first[c];
        if (n > most) most = n;
    }
    double *matrix;
    if (!DRAPE_NEW(ctx, matrix, most * most)) return DRAPE_ERROR_MEMORY;
    drape_status status = DRAPE_OK;
    for (int32_t c = 0; c < p->count && !status; c++) {
        const int32_t *node = p->node + p->first[c];
        const int64_t n = p->first[c + 1] - p->first[c];
        status = p->fill(p->data, c, matrix);
        for (int64_t a = 0; a < n && !status; a++)
            for (int64_t b = a + 1; b < n; b++) {
                if (node[a] == node[b]) continue; /* both sides of a seam: they never move apart */
                q->k[find_coupling(q, node[a], node[b])] += matrix[a * n + b];
                q->k[find_coupling(q, node[b], node[a])] += matrix[a * n + b];
            }
    }
    DRAPE_FREE(ctx, matrix, most * most);
    return status;
}

drape_status drape_i_quadratic_create(drape_context *ctx, int32_t vertices, const drape_i_patches *patches,
                                      drape_i_quadratic **out) {
    drape_i_quadratic *q;
    incidence inc = {0};
    int32_t *seen = NULL;
    *out = NULL;
    if (!DRAPE_NEW(ctx, q, 1)) return DRAPE_ERROR_MEMORY;
    q->vertices = vertices;
    drape_status status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, seen, vertices) && find_incidence(ctx, vertices, patches, &inc))
        status = find_pattern(ctx, patches, &inc, seen, q);
    if (!status) status = sum_patches(ctx, patches, q);
    DRAPE_FREE(ctx, inc.first, (int64_t)vertices + 2);
    DRAPE_FREE(ctx, inc.of, patches->first[patches->count]);
    DRAPE_FREE(ctx, seen, vertices);
    if (status) drape_i_quadratic_destroy(ctx, q);
    else *out = q;
    return status;
}

drape_status drape_i_quadratic_pairs(drape_context *ctx, const drape_i_quadratic *q, int32_t **pairs,
                                     int32_t *count) {
    *count = 0;
    *pairs = NULL;
    if (q->count / 2 > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "bending couples %lld pairs of vertices, which are too many",
                            (long long)(q->count / 2));
    if (!DRAPE_NEW(ctx, *pairs, q->count)) return DRAPE_ERROR_MEMORY;
    int64_t next = 0;
    for (int32_t i = 0; i < q->vertices; i++)
        for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++) {
            if (q->col[e] < i) continue;
            (*pairs)[next++] = i;
            (*pairs)[next++] = q->col[e];
        }
    DRAPE_ASSERT(next == q->count);
    *count = (int32_t)(next / 2);
    return DRAPE_OK;
}

/* ---- forces and Jacobians ---- */

static void add_blocks(const drape_i_quadratic *q, int64_t i, const drape_i_quadratic_rows *r) {
    double *row = r->val + 9 * r->rowptr[i], sum = 0;
    for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++) {
        double *block = row + 9 * (int64_t)r->slot[e], k = r->stiffness * q->k[e];
        sum += k;
        if (r->upper && q->col[e] < i) continue;
        block[0] += k, block[4] += k, block[8] += k;
    }
    double *block = row + 9 * (int64_t)r->diagonal[i];
    block[0] -= sum, block[4] -= sum, block[8] -= sum;
}

void drape_i_quadratic_add(drape_context *ctx, const drape_i_quadratic *q, const drape_i_quadratic_rows *r) {
    if (r->force) drape_i_quadratic_multiply_at[ctx->simd](q, -1, r->x, r->begin, r->end, r->force);
    if (r->stiff_v) drape_i_quadratic_multiply_at[ctx->simd](q, 1, r->v, r->begin, r->end, r->stiff_v);
    for (int64_t i = r->begin; i < r->end && r->val; i++)
        if (q->rowptr[i] < q->rowptr[i + 1]) add_blocks(q, i, r);
}

/* ---- energies ---- */

typedef struct sum_job {
    drape_context *ctx;
    const drape_i_quadratic *q;
    const double *x;
} sum_job;

static void sum_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const sum_job *j = data;
    sums[0] = drape_i_quadratic_energies_at[j->ctx->simd](j->q, j->x, begin, end);
}

double drape_i_quadratic_energy(drape_context *ctx, const drape_i_quadratic *q, const double *x) {
    sum_job job = {ctx, q, x};
    double total;
    drape_i_sum(ctx, q->vertices, DRAPE_I_GRAIN, sum_chunk, &job, 1, &total);
    return total;
}
