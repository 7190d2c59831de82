/* turned.c: see turned.h. */
#include "linear/turned.h"

#include "base/parallel.h"
#include "base/vector.h"

#include <string.h>

enum {
    ROW_GRAIN = 128,
    VECTOR_GRAIN = 4096,
    BLOCKS = 9 * DRAPE_COUPLING_VERTICES * DRAPE_COUPLING_VERTICES,
    REACH = DRAPE_COUPLING_VERTICES * DRAPE_I_GROUP_MOST /* vertices of y in a coupling */
};

/* ---- Memory ---- */

static void free_couplings(drape_context *ctx, drape_i_turned *t) {
    DRAPE_FREE(ctx, t->list, t->room);
    DRAPE_FREE(ctx, t->blocks, BLOCKS * (int64_t)t->room);
    DRAPE_FREE(ctx, t->large, t->room);
    t->list = NULL;
    t->blocks = NULL;
    t->large = NULL;
    t->room = 0;
}

void drape_i_turned_free(drape_context *ctx, drape_i_turned *t) {
    const int64_t n = 3 * (int64_t)t->rows;
    drape_matrix_destroy(t->A);
    drape_i_couplings_free(ctx, &t->of_x);
    free_couplings(ctx, t);
    if (t->rows >= 0) {
        DRAPE_FREE(ctx, t->b, n);
        DRAPE_FREE(ctx, t->y, n);
        DRAPE_FREE(ctx, t->work, n);
        DRAPE_FREE(ctx, t->kernel, n * t->kernel_room);
    }
    DRAPE_FREE(ctx, t->W, 9 * (int64_t)REACH * DRAPE_COUPLING_VERTICES);
    *t = (drape_i_turned){.rows = -1};
}

static drape_status make_vectors(drape_context *ctx, int32_t rows, int32_t kernel, drape_i_turned *t) {
    const int64_t n = 3 * (int64_t)rows;
    if (t->rows != rows) {
        drape_i_turned_free(ctx, t);
        t->rows = rows;
        if (!DRAPE_NEW(ctx, t->b, n) || !DRAPE_NEW(ctx, t->y, n) || !DRAPE_NEW(ctx, t->work, n)) {
            drape_i_turned_free(ctx, t);
            return DRAPE_ERROR_MEMORY;
        }
    }
    if (kernel <= t->kernel_room) return DRAPE_OK;
    DRAPE_FREE(ctx, t->kernel, n * t->kernel_room);
    t->kernel_room = 0;
    if (!DRAPE_NEW(ctx, t->kernel, n * kernel)) return DRAPE_ERROR_MEMORY;
    t->kernel_room = kernel;
    return DRAPE_OK;
}

static drape_status make_room_for_couplings(drape_context *ctx, int32_t count, drape_i_turned *t) {
    if (!t->W && !DRAPE_NEW(ctx, t->W, 9 * (int64_t)REACH * DRAPE_COUPLING_VERTICES)) return DRAPE_ERROR_MEMORY;
    if (count <= t->room) return DRAPE_OK;
    const int32_t room = count < INT32_MAX / 2 ? count + count / 2 : count;
    free_couplings(ctx, t);
    t->room = room;
    bool good = DRAPE_NEW(ctx, t->list, room) && DRAPE_NEW_RAW(ctx, t->blocks, BLOCKS * (int64_t)room) &&
                DRAPE_NEW(ctx, t->large, room);
    if (!good) free_couplings(ctx, t);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* ---- 3x3 blocks ---- */

/* out = a b */
static void times(const double *a, const double *b, double out[9]) {
    for (int32_t m = 0; m < 9; m++)
        out[m] = (a[m / 3 * 3] * b[m % 3] + a[m / 3 * 3 + 1] * b[m % 3 + 3]) + a[m / 3 * 3 + 2] * b[m % 3 + 6];
}

/* out = a' b */
static void transposed_times(const double *a, const double *b, double out[9]) {
    for (int32_t m = 0; m < 9; m++)
        out[m] = (a[m / 3] * b[m % 3] + a[m / 3 + 3] * b[m % 3 + 3]) + a[m / 3 + 6] * b[m % 3 + 6];
}

static bool is_zero(const double a[9]) {
    for (int32_t m = 0; m < 9; m++)
        if (a[m] != 0) return false;
    return true;
}

/* ---- A coupling in the unknowns y ---- */

/* The vertices of y that it is over, and W: block q of its vertex a is at W + 9 (REACH a + q). */
typedef struct reach {
    int32_t count, vertex[REACH];
    bool turned, scalar; /* a vertex is in a group; all groups are scalar */
    double *W;
} reach;

static int32_t place_of(reach *r, int32_t vertex) {
    int32_t q = 0;
    while (q < r->count && r->vertex[q] != vertex) q++;
    if (q < r->count) return q;
    r->vertex[r->count++] = vertex;
    for (int32_t a = 0; a < DRAPE_COUPLING_VERTICES; a++) memset(r->W + 9 * (REACH * a + q), 0, 9 * sizeof *r->W);
    return q;
}

static void find_reach(const drape_i_groups *G, const drape_coupling *c, double *W, reach *r) {
    r->count = 0;
    r->turned = false;
    r->scalar = true;
    r->W = W;
    for (int32_t a = 0; a < c->count; a++) r->turned |= G->of[c->vertex[a]] >= 0;
    for (int32_t a = 0; r->turned && a < c->count; a++) {
        const int32_t g = G->of[c->vertex[a]];
        if (g < 0) {
            double *to = W + 9 * (REACH * a + place_of(r, c->vertex[a]));
            to[0] = to[4] = to[8] = 1;
            continue;
        }
        r->scalar &= G->group[g].scalar;
        for (int32_t l = 0; l < G->group[g].size; l++) {
            const int32_t v = G->member[G->group[g].first + l];
            double block[9];
            drape_i_group_block(G, g, G->place[c->vertex[a]], l, block);
            if (drape_i_group_fixes(G, v) || is_zero(block)) continue;
            memcpy(W + 9 * (REACH * a + place_of(r, v)), block, sizeof block);
        }
    }
}

/* The block of H'C H between two of its vertices. */
static void reached_block(const drape_coupling *c, const reach *r, int32_t p, int32_t q, double out[9]) {
    double K[9], KW[9], part[9];
    memset(out, 0, 9 * sizeof *out);
    for (int32_t a = 0; a < c->count; a++)
        for (int32_t b = 0; b < c->count; b++) {
            drape_i_coupling_block(c, a, b, K);
            times(K, r->W + 9 * (REACH * b + q), KW);
            transposed_times(r->W + 9 * (REACH * a + p), KW, part);
            for (int32_t m = 0; m < 9; m++) out[m] += part[m];
        }
}

static void turn_weights(const drape_coupling *c, const reach *r, drape_coupling *to) {
    to->count = r->count;
    for (int32_t q = 0; q < r->count; q++) {
        to->vertex[q] = r->vertex[q];
        to->w[q] = 0;
        for (int32_t a = 0; a < c->count; a++) to->w[q] += r->W[9 * (REACH * a + q)] * c->w[a];
    }
}

static void turn_blocks(const drape_coupling *c, const reach *r, double *blocks, drape_coupling *to) {
    const int32_t n = 3 * r->count;
    to->count = r->count;
    to->blocks = blocks;
    for (int32_t p = 0; p < r->count; p++)
        for (int32_t q = 0; q <= p; q++) {
            double block[9];
            reached_block(c, r, p, q, block);
            for (int32_t m = 0; m < 9; m++)
                blocks[n * (3 * p + m / 3) + 3 * q + m % 3] = blocks[n * (3 * q + m % 3) + 3 * p + m / 3] = block[m];
        }
    memcpy(to->vertex, r->vertex, (size_t)r->count * sizeof *to->vertex);
}

static drape_status turn_couplings(drape_context *ctx, const drape_problem *p, drape_i_turned *t) {
    t->couplings = t->larges = 0;
    drape_status status = p->A ? drape_i_couplings_set(ctx, p->A->rows, &p->couplings, &t->of_x) : DRAPE_OK;
    if (!status && p->couplings.count > 0) status = make_room_for_couplings(ctx, p->couplings.count, t);
    for (int32_t i = 0; i < p->couplings.count && !status; i++) {
        const drape_coupling *c = &p->couplings.list[i];
        reach r;
        find_reach(t->G, c, t->W, &r);
        if (r.turned && r.count == 0) continue; /* it is among what is held */
        if (r.turned && r.count > DRAPE_COUPLING_VERTICES) {
            t->large[t->larges++] = i;
            continue;
        }
        drape_coupling *to = &t->list[t->couplings];
        *to = *c;
        if (r.turned && r.scalar && !c->blocks) turn_weights(c, &r, to);
        else if (r.turned) turn_blocks(c, &r, t->blocks + BLOCKS * (int64_t)t->couplings, to);
        t->couplings++;
    }
    t->problem.couplings = (drape_couplings){t->couplings, t->list};
    return status;
}

/* ---- The pattern of A~ ---- */

typedef struct patterning {
    const drape_bsr3 *A;
    const drape_i_groups *G;
    const drape_bsr3 *old; /* whose blocks stay; NULL: none */
    int64_t *extra_first;  /* rows + 1: columns that large couplings add to each row; NULL: none */
    int32_t *extra;
    int32_t *mark, *list, count; /* columns of the row in hand; mark[j] = row: j is among them */
} patterning;

static void push(patterning *p, int32_t row, int32_t column) {
    if (p->mark[column] == row) return;
    p->mark[column] = row;
    p->list[p->count++] = column;
}

/* Columns of y that a column of x leads to. */
static void push_turned(patterning *p, int32_t row, int32_t column) {
    const int32_t g = p->G->of[column];
    if (g < 0) {
        push(p, row, column);
        return;
    }
    const int32_t *member = p->G->member + p->G->group[g].first;
    for (int32_t l = 0; l < p->G->group[g].size; l++)
        if (!drape_i_group_fixes(p->G, member[l])) push(p, row, member[l]);
}

static void sort_columns(int32_t *a, int32_t n) {
    for (int32_t end = n, start = n / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            int32_t swap = a[0];
            a[0] = a[--end];
            a[end] = swap;
        }
        for (int32_t i = start, child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && a[child] < a[child + 1]) child++;
            if (a[i] >= a[child]) break;
            int32_t swap = a[i];
            a[i] = a[child];
            a[child] = swap;
        }
    }
}

static void list_row(patterning *p, int32_t i) {
    const drape_i_groups *G = p->G;
    const int32_t g = G->of[i], sources = g < 0 ? 1 : G->group[g].size;
    p->count = 0;
    push(p, i, i);
    if (drape_i_group_fixes(G, i)) return;
    for (int32_t s = 0; s < sources; s++) {
        const int32_t row = g < 0 ? i : G->member[G->group[g].first + s];
        for (int64_t k = p->A->rowptr[row]; k < p->A->rowptr[row + 1]; k++) push_turned(p, i, p->A->col[k]);
    }
    for (int64_t k = p->old ? p->old->rowptr[i] : 0; p->old && k < p->old->rowptr[i + 1]; k++)
        push(p, i, p->old->col[k]);
    for (int64_t k = p->extra ? p->extra_first[i] : 0; p->extra && k < p->extra_first[i + 1]; k++)
        push(p, i, p->extra[k]);
    sort_columns(p->list, p->count);
}

static drape_status list_rows(drape_context *ctx, patterning *p, drape_matrix **out) {
    int64_t blocks = 0;
    for (int32_t i = 0; i < p->A->rows; i++) p->mark[i] = -1;
    for (int32_t i = 0; i < p->A->rows; i++) {
        list_row(p, i);
        blocks += p->count;
    }
    drape_status status = drape_i_matrix_alloc(ctx, p->A->rows, blocks, out);
    if (status) return status;
    for (int32_t i = 0; i < p->A->rows; i++) p->mark[i] = -1;
    for (int32_t i = 0; i < p->A->rows; i++) {
        list_row(p, i);
        memcpy((*out)->col + (*out)->rowptr[i], p->list, (size_t)p->count * sizeof *p->list);
        (*out)->rowptr[i + 1] = (*out)->rowptr[i] + p->count;
    }
    return DRAPE_OK;
}

/* Columns that large couplings ask for, row by row, some of them twice. */
static drape_status list_extra(drape_context *ctx, const drape_problem *given, const drape_i_turned *t,
                               patterning *p) {
    const int32_t rows = p->A->rows;
    reach r;
    if (t->larges == 0) return DRAPE_OK;
    if (!DRAPE_NEW(ctx, p->extra_first, (int64_t)rows + 1)) return DRAPE_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < t->larges; i++) {
            find_reach(t->G, &given->couplings.list[t->large[i]], t->W, &r);
            for (int32_t a = 0; a < r.count; a++) {
                int64_t *first = &p->extra_first[r.vertex[a] + (pass == 0 ? 1 : 0)];
                if (pass == 1) memcpy(p->extra + *first, r.vertex, (size_t)r.count * sizeof *r.vertex);
                *first += r.count;
            }
        }
        if (pass == 1) break;
        for (int32_t i = 0; i < rows; i++) p->extra_first[i + 1] += p->extra_first[i];
        if (!DRAPE_NEW(ctx, p->extra, p->extra_first[rows])) return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = rows; i > 0; i--) p->extra_first[i] = p->extra_first[i - 1];
    p->extra_first[0] = 0;
    return DRAPE_OK;
}

static drape_status make_pattern(drape_context *ctx, const drape_problem *given, bool grows, drape_i_turned *t) {
    const int32_t rows = given->A->rows;
    patterning p = {.A = given->A, .G = t->G, .old = grows ? &t->view : NULL};
    drape_matrix *made = NULL;
    drape_status status = drape_bsr3_check(ctx, given->A);
    if (!status && (!DRAPE_NEW(ctx, p.mark, rows) || !DRAPE_NEW(ctx, p.list, rows))) status = DRAPE_ERROR_MEMORY;
    if (!status) status = list_extra(ctx, given, t, &p);
    if (!status) status = list_rows(ctx, &p, &made);
    if (p.extra) DRAPE_FREE(ctx, p.extra, p.extra_first[rows]);
    DRAPE_FREE(ctx, p.extra_first, (int64_t)rows + 1);
    DRAPE_FREE(ctx, p.mark, rows);
    DRAPE_FREE(ctx, p.list, rows);
    if (status) return status;
    drape_matrix_destroy(t->A);
    t->A = made;
    t->view = drape_matrix_view(made);
    t->from = drape_i_pattern_key_of(ctx, given->A);
    t->shape = t->G->shape;
    return DRAPE_OK;
}

static bool has_room_for_large(const drape_problem *given, const drape_i_turned *t) {
    reach r;
    for (int32_t i = 0; i < t->larges; i++) {
        find_reach(t->G, &given->couplings.list[t->large[i]], t->W, &r);
        for (int32_t a = 0; a < r.count; a++)
            for (int32_t b = 0; b < r.count; b++)
                if (drape_i_matrix_find(&t->view, r.vertex[a], r.vertex[b]) < 0) return false;
    }
    return true;
}

/* ---- The values of A~ ---- */

typedef struct turning {
    const drape_bsr3 *A, *to;
    const drape_i_groups *G;
} turning;

static void add_block(const drape_bsr3 *to, int32_t row, int32_t column, const double block[9]) {
    const int64_t k = drape_i_matrix_find(to, row, column);
    DRAPE_ASSERT(k >= 0);
    for (int32_t m = 0; m < 9; m++) to->val[9 * k + m] += block[m];
}

/* Adds block, of row `row` of A~ and column j of x. */
static void add_turned(const turning *t, int32_t row, int32_t j, const double block[9]) {
    const drape_i_groups *G = t->G;
    const int32_t g = G->of[j];
    if (g < 0) {
        add_block(t->to, row, j, block);
        return;
    }
    for (int32_t l = 0; l < G->group[g].size; l++) {
        const int32_t column = G->member[G->group[g].first + l];
        double H[9], product[9];
        if (drape_i_group_fixes(G, column)) continue;
        drape_i_group_block(G, g, G->place[j], l, H);
        if (is_zero(H)) continue;
        times(block, H, product);
        add_block(t->to, row, column, product);
    }
}

/* A row of no group: where its neighbours are in none, its blocks are those of A. */
static void turn_plain_row(const turning *t, int32_t i) {
    for (int64_t k = t->A->rowptr[i], at = t->to->rowptr[i]; k < t->A->rowptr[i + 1]; k++) {
        if (t->G->of[t->A->col[k]] >= 0) {
            add_turned(t, i, t->A->col[k], t->A->val + 9 * k);
            continue;
        }
        while (t->to->col[at] != t->A->col[k]) at++;
        for (int32_t m = 0; m < 9; m++) t->to->val[9 * at + m] += t->A->val[9 * k + m];
    }
}

/* A_ii stands for the row of a vertex that drops out: any positive block does. */
static void keep_diagonal(const turning *t, int32_t i) {
    const int64_t from = drape_i_matrix_find(t->A, i, i), to = drape_i_matrix_find(t->to, i, i);
    if (from >= 0) memcpy(t->to->val + 9 * to, t->A->val + 9 * from, 9 * sizeof *t->to->val);
    else t->to->val[9 * to] = t->to->val[9 * to + 4] = t->to->val[9 * to + 8] = 1;
}

static void turn_group_row(const turning *t, int32_t i) {
    const drape_i_groups *G = t->G;
    const int32_t g = G->of[i];
    for (int32_t s = 0; s < G->group[g].size; s++) {
        const int32_t row = G->member[G->group[g].first + s];
        double H[9], product[9];
        drape_i_group_block(G, g, s, G->place[i], H);
        if (is_zero(H)) continue;
        for (int64_t k = t->A->rowptr[row]; k < t->A->rowptr[row + 1]; k++) {
            transposed_times(H, t->A->val + 9 * k, product);
            add_turned(t, i, t->A->col[k], product);
        }
    }
}

static void turn_rows(void *data, int64_t begin, int64_t end) {
    const turning *t = data;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = t->to->rowptr[i], last = t->to->rowptr[i + 1];
        memset(t->to->val + 9 * first, 0, 9 * (size_t)(last - first) * sizeof *t->to->val);
        if (t->G->of[i] < 0) turn_plain_row(t, (int32_t)i);
        else if (drape_i_group_fixes(t->G, (int32_t)i)) keep_diagonal(t, (int32_t)i);
        else turn_group_row(t, (int32_t)i);
    }
}

static void add_large(const drape_problem *given, const drape_i_turned *t) {
    reach r;
    double block[9];
    for (int32_t i = 0; i < t->larges; i++) {
        const drape_coupling *c = &given->couplings.list[t->large[i]];
        find_reach(t->G, c, t->W, &r);
        for (int32_t a = 0; a < r.count; a++)
            for (int32_t b = 0; b < r.count; b++) {
                reached_block(c, &r, a, b, block);
                add_block(&t->view, r.vertex[a], r.vertex[b], block);
            }
    }
}

static drape_status turn_matrix(drape_context *ctx, const drape_problem *given, drape_i_turned *t) {
    const bool same = t->A && t->shape == t->G->shape && drape_i_pattern_is(ctx, given->A, &t->from);
    drape_status status = DRAPE_OK;
    if (!same || !has_room_for_large(given, t)) status = make_pattern(ctx, given, same, t);
    if (status) return status;
    drape_i_loop(ctx, given->A->rows, ROW_GRAIN, turn_rows, &(turning){given->A, &t->view, t->G});
    add_large(given, t);
    return DRAPE_OK;
}

/* ---- An operator ---- */

static void multiply(void *user, const double *y, double *out) {
    drape_i_turned *t = user;
    memcpy(t->work, y, 3 * (size_t)t->rows * sizeof *y);
    drape_i_groups_turn(t->G, false, t->work);
    t->given->multiply(t->given->user, t->work, out);
    drape_i_groups_turn(t->G, true, out);
}

static void precondition(void *user, const double *r, double *h) {
    drape_i_turned *t = user;
    memcpy(t->work, r, 3 * (size_t)t->rows * sizeof *r);
    drape_i_groups_turn(t->G, false, t->work);
    t->given->precondition(t->given->user, t->work, h);
    drape_i_groups_turn(t->G, true, h);
}

/* ---- The problem ---- */

/* out = A x */
static void times_given(drape_context *ctx, const drape_problem *given, const drape_i_turned *t, const double *x,
                        double *out) {
    if (given->op) given->op->multiply(given->op->user, x, out);
    else drape_i_coupled_multiply(ctx, given->A, &t->of_x, x, out);
}

typedef struct difference {
    const double *a;
    double *b;
} difference;

static void subtract_chunk(void *data, int64_t begin, int64_t end) {
    const difference *d = data;
    for (int64_t i = begin; i < end; i++) d->b[i] = d->a[i] - d->b[i];
}

/* b~ = H'(b - A x_p), and the guess H'y. */
static void turn_vectors(drape_context *ctx, const drape_problem *given, drape_i_turned *t) {
    const int64_t n = 3 * (int64_t)t->rows;
    if (given->constraints->moving) {
        drape_i_blend(given->constraints, t->rows, NULL, t->work);
        times_given(ctx, given, t, t->work, t->b);
        drape_i_loop(ctx, n, VECTOR_GRAIN, subtract_chunk, &(difference){given->b, t->b});
    } else {
        memcpy(t->b, given->b, (size_t)n * sizeof *t->b);
    }
    drape_i_groups_turn(t->G, true, t->b);
    t->problem.b = t->b;
    if (!given->guess) return;
    memcpy(t->y, given->guess, (size_t)n * sizeof *t->y);
    drape_i_groups_turn(t->G, true, t->y);
    t->problem.guess = t->y;
}

static void turn_kernel(const drape_problem *given, drape_i_turned *t) {
    const int64_t n = 3 * (int64_t)t->rows;
    if (!given->near_kernel) return;
    memcpy(t->kernel, given->near_kernel, (size_t)(n * given->near_kernel_count) * sizeof *t->kernel);
    for (int32_t k = 0; k < given->near_kernel_count; k++) drape_i_groups_turn(t->G, true, t->kernel + n * k);
    t->problem.near_kernel = t->kernel;
}

drape_status drape_i_turned_pose(drape_context *ctx, const drape_problem *given, bool keep, bool with_b,
                                 drape_i_turned *t) {
    drape_status status =
        make_vectors(ctx, given->constraints->vertices, given->near_kernel ? given->near_kernel_count : 0, t);
    if (status) return status;
    t->problem = *given;
    t->problem.constraints = given->constraints->groups->turned;
    t->problem.b = t->problem.guess = NULL;
    t->G = given->constraints->groups;
    t->given = given->op;
    if (given->op) {
        t->op = *given->op;
        t->op.user = t;
        t->op.multiply = multiply;
        t->op.precondition = given->op->precondition ? precondition : NULL;
        t->problem.op = &t->op;
    } else {
        keep &= t->A != NULL;
        if (!keep) status = turn_couplings(ctx, given, t);
        else t->problem.couplings = (drape_couplings){t->couplings, t->list};
        if (!keep && !status) status = turn_matrix(ctx, given, t);
        t->problem.A = &t->view;
    }
    if (status) return status;
    turn_kernel(given, t);
    if (with_b) turn_vectors(ctx, given, t);
    return DRAPE_OK;
}

typedef struct forces {
    const double *b;
    double *force;
} forces;

static void force_chunk(void *data, int64_t begin, int64_t end) {
    const forces *f = data;
    for (int64_t i = begin; i < end; i++) f->force[i] -= f->b[i];
}

/* The blend takes off what rounding left, so that equalities hold as well as numbers allow. */
void drape_i_turned_finish(drape_context *ctx, const drape_problem *given, drape_i_turned *t, double *x,
                           double *force) {
    const int64_t n = 3 * (int64_t)t->rows;
    memcpy(x, t->y, (size_t)n * sizeof *x);
    drape_i_groups_turn(t->G, false, x);
    drape_i_blend(given->constraints, t->rows, x, x);
    if (!force) return;
    times_given(ctx, given, t, x, force);
    drape_i_loop(ctx, n, VECTOR_GRAIN, force_chunk, &(forces){given->b, force});
    drape_i_filter_complement(given->constraints, t->rows, force);
}

/* ---- The near-kernel ---- */

void drape_i_turned_modes(const drape_i_groups *G, int32_t vertex, const double *x, const double centre[3],
                          int32_t modes, double *out) {
    const int32_t g = G->of[vertex];
    memset(out, 0, 3 * (size_t)modes * sizeof *out);
    for (int32_t s = 0; s < G->group[g].size; s++) {
        double H[9], K[18] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
        drape_i_group_block(G, g, s, G->place[vertex], H);
        if (modes == 6) { /* rotations about x, y, z */
            const double *at = x + 3 * (int64_t)G->member[G->group[g].first + s];
            const double d[3] = {at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]};
            K[4] = d[2], K[5] = -d[1], K[9] = -d[2], K[11] = d[0], K[15] = d[1], K[16] = -d[0];
        }
        for (int32_t k = 0; k < 3; k++)
            for (int32_t m = 0; m < modes; m++)
                out[modes * k + m] += (H[k] * K[m] + H[3 + k] * K[6 + m]) + H[6 + k] * K[12 + m];
    }
}
