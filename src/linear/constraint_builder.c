/* constraint_builder.c: conditions from several sources on one vertex, merged.
 *
 * A source asks for (d . x) = (d . z) in each of its directions d, made orthonormal. A vertex with one source gets
 * that constraint unchanged. With several, the conditions d_j . x = w_j of all of them, each of weight one, are
 * solved in least squares:
 *
 *     N x = sum_j d_j w_j,   N = sum_j d_j d_j'   (3x3, symmetric, semidefinite).
 *
 * The held directions are the eigenvectors of N whose eigenvalue l has sqrt(l / l_max) > SAME_SPAN. That square root
 * is the sine of the angle between a direction and the span of the others. They do not depend on the order of the
 * sources, except for rounding, as a pivoted Gram-Schmidt would. x is computed in that basis and corrected twice by
 * the residuals w_j - d_j . x, because forming N squares the condition number. What remains of the residuals is the
 * contradiction.
 *
 * Cost: a copy for a vertex with one source, some 500 flops for one with several. */
#include "linear/constraints.h"

#include <math.h>
#include <string.h>

static const double SAME_SPAN = 1e-6; /* sine of the least angle at which a direction counts as one of its own */
static const double ROUNDING = 1e-12; /* a smaller residual, relative to the largest w, is rounding */

enum { SWEEPS = 12, CORRECTIONS = 2, FIRST_ROOM = 64 };

/* What one source asks of a vertex. */
typedef struct entry {
    drape_constraint what;
    int32_t source;
    int32_t next; /* of the same vertex; -1: none */
} entry;

struct drape_constraint_builder {
    drape_context *ctx;
    int32_t vertices;
    double tolerance;
    int32_t *first, *last; /* vertices: entries of each; -1: none */
    entry *entries;
    int32_t entry_count, entry_room;
    drape_constraint *merged; /* entry_room; in the order in which vertices were first added */
    int32_t merged_count;
    drape_contradiction *contradictions; /* entry_room */
    int32_t contradiction_count;
};

/* ---- Collecting ---- */

drape_status drape_constraint_builder_create(drape_context *ctx, int32_t vertices, drape_constraint_builder **out) {
    drape_constraint_builder *b;
    if (out) *out = NULL;
    if (!ctx || !out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_constraint_builder_create: out is NULL");
    if (vertices < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "constraint builder: %d vertices", vertices);
    if (!DRAPE_NEW(ctx, b, 1)) return DRAPE_ERROR_MEMORY;
    b->ctx = ctx;
    b->vertices = vertices;
    if (!DRAPE_NEW(ctx, b->first, vertices) || !DRAPE_NEW(ctx, b->last, vertices)) {
        drape_constraint_builder_destroy(b);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < vertices; i++) b->first[i] = b->last[i] = -1;
    *out = b;
    return DRAPE_OK;
}

static void free_entries(drape_constraint_builder *b) {
    DRAPE_FREE(b->ctx, b->entries, b->entry_room);
    DRAPE_FREE(b->ctx, b->merged, b->entry_room);
    DRAPE_FREE(b->ctx, b->contradictions, b->entry_room);
}

void drape_constraint_builder_destroy(drape_constraint_builder *b) {
    if (!b) return;
    drape_context *ctx = b->ctx;
    free_entries(b);
    DRAPE_FREE(ctx, b->first, b->vertices);
    DRAPE_FREE(ctx, b->last, b->vertices);
    DRAPE_FREE(ctx, b, 1);
}

drape_status drape_constraint_builder_begin(drape_constraint_builder *b, double tolerance) {
    if (!b) return DRAPE_ERROR_ARGUMENT;
    if (!(tolerance >= 0) || !isfinite(tolerance))
        return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT, "constraint builder: tolerance %g; it must be >= 0",
                            tolerance);
    for (int32_t i = 0; i < b->entry_count; i++) b->first[b->entries[i].what.vertex] = -1;
    b->entry_count = b->merged_count = b->contradiction_count = 0;
    b->tolerance = tolerance;
    return DRAPE_OK;
}

static drape_status grow(drape_constraint_builder *b) {
    if (b->entry_room > INT32_MAX / 2)
        return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT, "constraint builder: more than %d conditions",
                            b->entry_room);
    int32_t room = b->entry_room ? 2 * b->entry_room : FIRST_ROOM;
    entry *entries = NULL;
    drape_constraint *merged = NULL;
    drape_contradiction *contradictions = NULL;
    if (!DRAPE_NEW_RAW(b->ctx, entries, room) || !DRAPE_NEW_RAW(b->ctx, merged, room) ||
        !DRAPE_NEW_RAW(b->ctx, contradictions, room)) {
        DRAPE_FREE(b->ctx, entries, room);
        DRAPE_FREE(b->ctx, merged, room);
        return DRAPE_ERROR_MEMORY;
    }
    if (b->entry_count > 0) memcpy(entries, b->entries, (size_t)b->entry_count * sizeof *entries);
    free_entries(b);
    b->entries = entries;
    b->merged = merged;
    b->contradictions = contradictions;
    b->entry_room = room;
    return DRAPE_OK;
}

drape_status drape_constraint_builder_add(drape_constraint_builder *b, int32_t source, const drape_constraint *what) {
    if (!b || !what)
        return drape_i_fail(b ? b->ctx : NULL, DRAPE_ERROR_ARGUMENT, "constraint builder: nothing to add");
    if (what->vertex < 0 || what->vertex >= b->vertices || what->directions < 0 || what->directions > 3)
        return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT,
                            "constraints: source %d: vertex %d of %d with %d directions; expected 0 to 3", source,
                            what->vertex, b->vertices, what->directions);
    if (b->entry_count == b->entry_room) {
        drape_status status = grow(b);
        if (status) return status;
    }
    int32_t at = b->entry_count++;
    b->entries[at] = (entry){*what, source, -1};
    if (b->first[what->vertex] < 0) b->first[what->vertex] = at;
    else b->entries[b->last[what->vertex]].next = at;
    b->last[what->vertex] = at;
    return DRAPE_OK;
}

/* ---- The conditions of one vertex ---- */

/* Row by row; returns how many. The entry's directions were checked. */
static int32_t conditions_of(const entry *e, double d[3][3], double w[3]) {
    int32_t n = e->what.directions;
    if (n == 3) memcpy(d, (double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 9 * sizeof(double));
    else memcpy(d, e->what.direction, 9 * sizeof(double));
    for (int32_t k = 0; k < n; k++) {
        bool independent = n == 3 || drape_i_orthonormalise(d, k);
        DRAPE_ASSERT(independent);
        (void)independent;
        w[k] = (d[k][0] * e->what.z[0] + d[k][1] * e->what.z[1]) + d[k][2] * e->what.z[2];
    }
    return n;
}

static double residual(const double *d, double w, const double *x) {
    return w - ((d[0] * x[0] + d[1] * x[1]) + d[2] * x[2]);
}

/* rhs = sum of d (w - d . x) over all conditions. */
static void gather(const drape_constraint_builder *b, int32_t first, const double x[3], double rhs[3]) {
    memset(rhs, 0, 3 * sizeof *rhs);
    for (int32_t e = first; e >= 0; e = b->entries[e].next) {
        double d[3][3], w[3];
        int32_t n = conditions_of(&b->entries[e], d, w);
        for (int32_t k = 0; k < n; k++)
            for (int32_t i = 0; i < 3; i++) rhs[i] += residual(d[k], w[k], x) * d[k][i];
    }
}

/* N, and the largest |w|. */
static double form_normal(const drape_constraint_builder *b, int32_t first, double N[3][3]) {
    double largest = 0;
    memset(N, 0, 9 * sizeof(double));
    for (int32_t e = first; e >= 0; e = b->entries[e].next) {
        double d[3][3], w[3];
        int32_t n = conditions_of(&b->entries[e], d, w);
        for (int32_t k = 0; k < n; k++) {
            largest = fmax(largest, fabs(w[k]));
            for (int32_t i = 0; i < 9; i++) N[i / 3][i % 3] += d[k][i / 3] * d[k][i % 3];
        }
    }
    return largest;
}

/* Turns rows and columns p and q of A so that A[p][q] vanishes; the rows of V are the directions so far. */
static void rotate(double A[3][3], double V[3][3], int32_t p, int32_t q) {
    if (A[p][q] == 0) return;
    double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    if (!isfinite(theta * theta)) t = 1 / (2 * theta);
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int32_t k = 0; k < 3; k++) {
        double a = A[k][p], b = A[k][q];
        A[k][p] = c * a - s * b;
        A[k][q] = s * a + c * b;
    }
    for (int32_t k = 0; k < 3; k++) {
        double a = A[p][k], b = A[q][k], v = V[p][k], w = V[q][k];
        A[p][k] = c * a - s * b;
        A[q][k] = s * a + c * b;
        V[p][k] = c * v - s * w;
        V[q][k] = s * v + c * w;
    }
    A[p][q] = A[q][p] = 0;
}

/* Jacobi's method: eigenvalues on A's diagonal, eigenvectors in the rows of V. It converges quadratically: five
 * sweeps are the most that matrices of this size take. */
static void eigen(double A[3][3], double V[3][3]) {
    for (int32_t i = 0; i < 9; i++) V[i / 3][i % 3] = i % 4 == 0 ? 1 : 0;
    for (int32_t sweep = 0; sweep < SWEEPS && (A[0][1] != 0 || A[0][2] != 0 || A[1][2] != 0); sweep++) {
        rotate(A, V, 0, 1);
        rotate(A, V, 0, 2);
        rotate(A, V, 1, 2);
    }
}

/* ---- Merging ---- */

/* The source that is missed by most, and the one of another source that is missed by most. */
static void note_contradiction(drape_constraint_builder *b, int32_t first, const double x[3], double largest) {
    drape_contradiction c = {.vertex = b->entries[first].what.vertex, .source = -1, .other_source = -1};
    double other = 0;
    for (int32_t e = first; e >= 0; e = b->entries[e].next) {
        double d[3][3], w[3], size = 0;
        int32_t n = conditions_of(&b->entries[e], d, w), source = b->entries[e].source;
        for (int32_t k = 0; k < n; k++) size = fmax(size, fabs(residual(d[k], w[k], x)));
        if (size > c.size) {
            if (c.source >= 0 && source != c.source) other = c.size, c.other_source = c.source;
            c.size = size, c.source = source;
        } else if (size > other && source != c.source) {
            other = size, c.other_source = source;
        }
    }
    if (c.size > fmax(b->tolerance, ROUNDING * largest)) b->contradictions[b->contradiction_count++] = c;
}

static void merge(drape_constraint_builder *b, int32_t first, drape_constraint *out) {
    double N[3][3], V[3][3], x[3] = {0}, rhs[3];
    double largest = form_normal(b, first, N);
    eigen(N, V);
    double most = fmax(fmax(N[0][0], N[1][1]), N[2][2]);
    *out = (drape_constraint){.vertex = b->entries[first].what.vertex};
    for (int32_t pass = 0; pass <= CORRECTIONS; pass++) {
        gather(b, first, x, rhs);
        for (int32_t k = 0; k < 3; k++) {
            if (!(N[k][k] > SAME_SPAN * SAME_SPAN * most)) continue;
            double along = ((V[k][0] * rhs[0] + V[k][1] * rhs[1]) + V[k][2] * rhs[2]) / N[k][k];
            for (int32_t i = 0; i < 3; i++) x[i] += along * V[k][i];
        }
    }
    for (int32_t k = 0; k < 3; k++)
        if (N[k][k] > SAME_SPAN * SAME_SPAN * most) memcpy(out->direction[out->directions++], V[k], sizeof V[k]);
    memcpy(out->z, x, sizeof x);
    note_contradiction(b, first, x, largest);
}

/* What drape_constraints_set would refuse later, said with the source. */
static drape_status check_entries(drape_constraint_builder *b) {
    for (int32_t i = 0; i < b->entry_count; i++) {
        const drape_constraint *c = &b->entries[i].what;
        double d[3][3];
        memcpy(d, c->direction, sizeof d);
        for (int32_t k = 0; k < c->directions && c->directions < 3; k++)
            if (!drape_i_orthonormalise(d, k))
                return drape_i_fail(
                    b->ctx, DRAPE_ERROR_ARGUMENT,
                    "constraints: source %d: vertex %d: direction %d (%g, %g, %g) has no length or lies "
                    "in the span of those before it",
                    b->entries[i].source, c->vertex, k, c->direction[k][0], c->direction[k][1], c->direction[k][2]);
        if (!isfinite(c->z[0]) || !isfinite(c->z[1]) || !isfinite(c->z[2]))
            return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT,
                                "constraints: source %d: vertex %d: z is not a finite number", b->entries[i].source,
                                c->vertex);
    }
    return DRAPE_OK;
}

drape_status drape_constraint_builder_finish(drape_constraint_builder *b, drape_constraints *out) {
    if (!b) return DRAPE_ERROR_ARGUMENT;
    if (out && out->vertices != b->vertices)
        return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT, "constraint builder: of %d vertices, the set of %d",
                            b->vertices, out->vertices);
    b->merged_count = b->contradiction_count = 0;
    drape_status status = check_entries(b);
    if (status) return status;
    for (int32_t i = 0; i < b->entry_count; i++) {
        const entry *e = &b->entries[i];
        if (b->first[e->what.vertex] != i) continue;
        DRAPE_ASSERT(b->merged_count < b->entry_room);
        if (e->next < 0) b->merged[b->merged_count++] = e->what;
        else merge(b, i, &b->merged[b->merged_count++]);
    }
    return out ? drape_constraints_set(out, b->merged, b->merged_count) : DRAPE_OK;
}

const drape_constraint *drape_constraint_builder_list(const drape_constraint_builder *b, int32_t *count) {
    if (count) *count = b ? b->merged_count : 0;
    return b ? b->merged : NULL;
}

int32_t drape_constraint_builder_contradictions(const drape_constraint_builder *b) {
    return b ? b->contradiction_count : 0;
}

drape_status drape_constraint_builder_contradiction(const drape_constraint_builder *b, int32_t index,
                                                    drape_contradiction *out) {
    if (!b || !out || index < 0 || index >= b->contradiction_count)
        return drape_i_fail(b ? b->ctx : NULL, DRAPE_ERROR_ARGUMENT, "constraint builder: no contradiction %d of %d",
                            index, b ? b->contradiction_count : 0);
    *out = b->contradictions[index];
    return DRAPE_OK;
}
