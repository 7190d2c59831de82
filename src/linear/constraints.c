/* constraints.c: from directions to the filter S of Ascher and Boxerman (2003, eq. 2).
 *
 *     S_i = I - sum_k d_k d_k',  d_k orthonormal,
 *
 * so S_i is an orthogonal projection. Directions come in any length and at any angle; Gram-Schmidt (twice, so that
 * the result is orthogonal to rounding) makes them orthonormal. A direction that lies in the span of those before it
 * to 1e-8 is degenerate. */
#include "linear/constraints.h"

#include "base/parallel.h"
#include "linear/groups.h"
#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

static const double DEGENERATE = 1e-8;       /* sine of the least angle to the span of the directions before */
static const double PROJECTION_ERROR = 1e-9; /* how far S S may be from S in a filter from outside */

drape_status drape_constraints_create(drape_context *ctx, int32_t vertices, drape_constraints **out) {
    drape_constraints *set;
    if (out) *out = NULL;
    if (!ctx || !out) return drape_i_missing(ctx, "constraints", "out");
    if (vertices < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "constraints: %d vertices", vertices);
    if (!DRAPE_NEW(ctx, set, 1)) return DRAPE_ERROR_MEMORY;
    set->ctx = ctx;
    set->vertices = vertices;
    if (!DRAPE_NEW(ctx, set->held, vertices) || !DRAPE_NEW(ctx, set->next, vertices) ||
        !DRAPE_NEW(ctx, set->index, vertices)) {
        drape_constraints_destroy(set);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < vertices; i++) set->index[i] = -1;
    *out = set;
    return DRAPE_OK;
}

void drape_constraints_destroy(drape_constraints *set) {
    if (!set) return;
    drape_context *ctx = set->ctx;
    drape_i_groups_destroy(set->groups);
    DRAPE_FREE(ctx, set->held, set->vertices);
    DRAPE_FREE(ctx, set->next, set->vertices);
    DRAPE_FREE(ctx, set->index, set->vertices);
    DRAPE_FREE(ctx, set, 1);
}

static double dot3(const double *a, const double *b) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

/* Scales by the largest component first, so that no length overflows or vanishes. */
static bool normalise(double d[3]) {
    double largest = fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2]));
    if (!(largest > 0) || !isfinite(largest)) return false;
    for (int32_t k = 0; k < 3; k++) d[k] /= largest;
    double length = sqrt(dot3(d, d));
    for (int32_t k = 0; k < 3; k++) d[k] /= length;
    return true;
}

bool drape_i_orthonormalise(double d[3][3], int32_t n) {
    DRAPE_ASSERT(n >= 0 && n < 3);
    if (!normalise(d[n])) return false;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < n; j++) {
            double along = dot3(d[j], d[n]);
            for (int32_t k = 0; k < 3; k++) d[n][k] -= along * d[j][k];
        }
        if (pass == 0 && !(dot3(d[n], d[n]) > DEGENERATE * DEGENERATE)) return false;
        if (!normalise(d[n])) return false;
    }
    return true;
}

static drape_status make_held(drape_context *ctx, const drape_constraint *c, drape_i_held *out) {
    double d[3][3];
    memcpy(d, c->direction, sizeof d);
    for (int32_t i = 0; i < 9; i++) out->S[i] = i % 4 == 0 && c->directions < 3 ? 1 : 0;
    for (int32_t n = 0; n < c->directions && c->directions < 3; n++) {
        if (!drape_i_orthonormalise(d, n))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: vertex %d: direction %d (%g, %g, %g) has no length or lies in the span "
                                "of those before it",
                                c->vertex, n, c->direction[n][0], c->direction[n][1], c->direction[n][2]);
        for (int32_t i = 0; i < 9; i++) out->S[i] -= d[n][i / 3] * d[n][i % 3];
    }
    for (int32_t k = 0; k < 3; k++) {
        out->z[k] = c->z[k];
        if (!isfinite(c->z[k]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "constraints: vertex %d: z is not a finite number",
                                c->vertex);
    }
    out->vertex = c->vertex;
    return DRAPE_OK;
}

static int by_vertex(const void *a, const void *b) {
    int32_t x = ((const drape_i_held *)a)->vertex, y = ((const drape_i_held *)b)->vertex;
    return (x > y) - (x < y);
}

/* Heap sort: the standard qsort may allocate. */
static void sort_held(drape_i_held *a, int32_t n) {
    bool sorted = true;
    for (int32_t i = 1; i < n && sorted; i++) sorted = by_vertex(&a[i - 1], &a[i]) <= 0;
    if (sorted) return;
    for (int32_t end = n, start = n / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            end--;
            drape_i_held swap = a[0];
            a[0] = a[end];
            a[end] = swap;
        }
        for (int32_t i = start, child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && by_vertex(&a[child], &a[child + 1]) < 0) child++;
            if (by_vertex(&a[i], &a[child]) >= 0) break;
            drape_i_held swap = a[i];
            a[i] = a[child];
            a[child] = swap;
        }
    }
}

static void times(const double *S, const double *v, double out[3]) {
    for (int32_t k = 0; k < 3; k++) out[k] = (S[3 * k] * v[0] + S[3 * k + 1] * v[1]) + S[3 * k + 2] * v[2];
}

static drape_status named_twice(drape_constraints *set, int32_t vertex) {
    return drape_i_fail(set->ctx, DRAPE_ERROR_ARGUMENT, "constraints: vertex %d is listed twice", vertex);
}

static drape_status sort_next(drape_constraints *set, int32_t count) {
    sort_held(set->next, count);
    for (int32_t i = 1; i < count; i++)
        if (set->next[i - 1].vertex == set->next[i].vertex) return named_twice(set, set->next[i].vertex);
    return DRAPE_OK;
}

static bool is_identity(const double *S) {
    for (int32_t i = 0; i < 9; i++)
        if (S[i] != (i % 4 == 0 ? 1 : 0)) return false;
    return true;
}

static bool is_zero(const double S[9]) {
    for (int32_t k = 0; k < 9; k++)
        if (S[k] != 0) return false;
    return true;
}

/* The prepared set becomes the present one, without vertices that are free; of z the part in the held directions is
 * kept. */
drape_status drape_i_constraints_adopt(drape_constraints *set, int32_t count) {
    DRAPE_ASSERT(count >= 0 && count <= set->vertices);
    drape_status status = sort_next(set, count);
    if (status) return status;
    drape_i_groups_clear(set->groups);
    drape_i_held *old = set->held;
    for (int32_t i = 0; i < set->count; i++) set->index[old[i].vertex] = -1;
    set->held = set->next;
    set->next = old;
    set->count = 0;
    set->moving = false;
    for (int32_t i = 0; i < count; i++) {
        if (is_identity(set->held[i].S)) continue;
        set->index[set->held[i].vertex] = set->count;
        drape_i_held *h = &set->held[set->count++];
        double Sz[3];
        *h = set->held[i];
        h->fixed = is_zero(h->S);
        times(h->S, h->z, Sz);
        for (int32_t k = 0; k < 3; k++) {
            h->z[k] -= Sz[k];
            set->moving |= h->z[k] != 0;
        }
    }
    return DRAPE_OK;
}

drape_status drape_constraints_set(drape_constraints *set, const drape_constraint *list, int32_t count) {
    if (!set) return DRAPE_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && !list))
        return drape_i_fail(set->ctx, DRAPE_ERROR_ARGUMENT, "constraints: no list, or %d in it", count);
    for (int32_t i = 0; i < count; i++) {
        const drape_constraint *c = &list[i];
        if (c->vertex < 0 || c->vertex >= set->vertices || c->directions < 0 || c->directions > 3)
            return drape_i_fail(set->ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: vertex %d of %d with %d directions; expected 0 to 3", c->vertex,
                                set->vertices, c->directions);
        if (i == set->vertices) { /* one is there twice already, or this one is */
            drape_status status = sort_next(set, i);
            return status ? status : named_twice(set, c->vertex);
        }
        drape_status status = make_held(set->ctx, c, &set->next[i]);
        if (status) return status;
    }
    return drape_i_constraints_adopt(set, count);
}

static bool is_projection(const double *S) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) {
            double square = S[3 * i] * S[j] + S[3 * i + 1] * S[3 + j] + S[3 * i + 2] * S[6 + j];
            if (!(fabs(square - S[3 * i + j]) <= PROJECTION_ERROR) ||
                !(fabs(S[3 * i + j] - S[3 * j + i]) <= PROJECTION_ERROR))
                return false;
        }
    return true;
}

drape_status drape_constraints_set_filter(drape_constraints *set, const double *S, const double *z) {
    int32_t used = 0;
    if (!set || !S || !z) return drape_i_missing(set ? set->ctx : NULL, "constraints", S ? "z" : "S");
    for (int64_t i = 0; i < set->vertices; i++) {
        if (is_identity(S + 9 * i)) continue;
        if (!is_projection(S + 9 * i) || !isfinite(z[3 * i]) || !isfinite(z[3 * i + 1]) || !isfinite(z[3 * i + 2]))
            return drape_i_fail(set->ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: vertex %d: S is not an orthogonal projection, or z is not finite",
                                (int)i);
        drape_i_held *h = &set->next[used++];
        h->vertex = (int32_t)i;
        memcpy(h->S, S + 9 * i, sizeof h->S);
        memcpy(h->z, z + 3 * i, sizeof h->z);
    }
    return drape_i_constraints_adopt(set, used);
}

int32_t drape_constraints_count(const drape_constraints *set) { return set ? set->count : 0; }

void drape_constraints_filter(const drape_constraints *set, double *S, double *z) {
    if (!set || !S || !z) return;
    for (int64_t i = 0; i < 9 * (int64_t)set->vertices; i++) S[i] = i % 9 % 4 == 0 ? 1 : 0;
    memset(z, 0, 3 * (size_t)set->vertices * sizeof *z);
    for (int32_t i = 0; i < set->count; i++) {
        const drape_i_held *h = &set->held[i];
        memcpy(S + 9 * (int64_t)h->vertex, h->S, sizeof h->S);
        memcpy(z + 3 * (int64_t)h->vertex, h->z, sizeof h->z);
    }
}

/* Filters v at the held vertices [first, last) of the list. */
static void filter_held(const drape_constraints *set, double *v, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
        double out[3], *at = v + 3 * (int64_t)set->held[i].vertex;
        DRAPE_ASSERT(set->index[set->held[i].vertex] == i);
        times(set->held[i].S, at, out);
        memcpy(at, out, sizeof out);
    }
}

typedef struct filtering {
    const drape_constraints *set;
    double *v;
} filtering;

static void filter_chunk(void *data, int64_t begin, int64_t end) {
    const filtering *f = data;
    filter_held(f->set, f->v, begin, end);
}

void drape_i_filter(const drape_constraints *set, double *v) {
    if (set) drape_i_loop(set->ctx, set->count, DRAPE_I_GRAIN, filter_chunk, &(filtering){set, v});
    if (drape_i_any_groups(set)) drape_i_groups_filter(set->groups, false, v);
}

/* The first in the list whose vertex is not below this one. */
static int32_t first_from(const drape_constraints *set, int64_t vertex) {
    int32_t low = 0, high = set->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (set->held[middle].vertex < vertex) low = middle + 1;
        else high = middle;
    }
    return low;
}

void drape_i_filter_rows(const drape_constraints *set, double *v, int64_t begin, int64_t end) {
    DRAPE_ASSERT(!drape_i_any_groups(set));
    if (set && set->count > 0) filter_held(set, v, first_from(set, begin), first_from(set, end));
}

int64_t drape_i_next_fixed(const drape_constraints *set, int64_t begin, int64_t end, int32_t *at) {
    if (!set) return end;
    if (*at < 0) *at = first_from(set, begin);
    for (; *at < set->count && set->held[*at].vertex < end; ++*at)
        if (set->held[*at].fixed) return set->held[(*at)++].vertex;
    return end;
}

/* Vertices of groups are left to these. */
static void clear_free(const drape_constraints *set, double *v) {
    for (int32_t i = 0; i < set->vertices; i++)
        if (set->groups->of[i] < 0 && set->index[i] < 0) memset(v + 3 * (int64_t)i, 0, 3 * sizeof *v);
}

void drape_i_filter_complement(const drape_constraints *set, int32_t vertices, double *v) {
    int64_t done = 0; /* vertices before this one are finished */
    DRAPE_ASSERT(!set || set->vertices == vertices);
    if (drape_i_any_groups(set)) {
        clear_free(set, v);
        for (int32_t i = 0; i < set->count; i++) {
            double out[3], *at = v + 3 * (int64_t)set->held[i].vertex;
            times(set->held[i].S, at, out);
            for (int32_t k = 0; k < 3; k++) at[k] -= out[k];
        }
        drape_i_groups_filter(set->groups, true, v);
        return;
    }
    for (int32_t i = 0; set && i < set->count; i++) {
        double out[3], *at = v + 3 * (int64_t)set->held[i].vertex;
        DRAPE_ASSERT(set->held[i].vertex >= done); /* ascending */
        memset(v + 3 * done, 0, 3 * (size_t)(set->held[i].vertex - done) * sizeof *v);
        times(set->held[i].S, at, out);
        for (int32_t k = 0; k < 3; k++) at[k] -= out[k];
        done = set->held[i].vertex + 1;
    }
    memset(v + 3 * done, 0, 3 * (size_t)(vertices - done) * sizeof *v);
}

void drape_i_blend(const drape_constraints *set, int32_t vertices, const double *y, double *x) {
    if (!y) memset(x, 0, 3 * (size_t)vertices * sizeof *x);
    else if (y != x) memcpy(x, y, 3 * (size_t)vertices * sizeof *x);
    for (int32_t i = 0; set && i < set->count; i++) {
        const drape_i_held *h = &set->held[i];
        double Sy[3], *at = x + 3 * (int64_t)h->vertex;
        times(h->S, at, Sy);
        for (int32_t k = 0; k < 3; k++) at[k] = Sy[k] + h->z[k];
    }
    if (!drape_i_any_groups(set)) return;
    drape_i_groups_filter(set->groups, false, x);
    drape_i_groups_prescribe(set->groups, x);
}
