/* pairs.c: a matching of triangles with their neighbours.
 *
 * After Karp and Sipser (1981): while a triangle has exactly one free neighbour, it takes that one. Else the first
 * triangle that is not taken takes the neighbour across its longest edge in material space. So grids become cells,
 * and a few percent of the triangles of irregular meshes stay alone. */
#include "cloth/pairs.h"

typedef struct matching {
    const drape_i_model_input *in;
    int32_t (*hinge)[3]; /* of each triangle: hinges to the neighbours that it may join; -1: none */
    bool *taken;         /* per triangle */
    int32_t *stack, top; /* triangles that had one neighbour left */
    int32_t *pair, count;
} matching;

/* Material coordinates of a corner's point: those of uv, or which it is. */
static bool same_point(const drape_i_model_input *in, const int32_t *t, int32_t vertex) {
    const int32_t p = in->piece_of_triangle[t[0]];
    const drape_piece *piece = &in->pieces[p];
    if (!piece->uv || !piece->uv_triangle) return true;
    int32_t first = 0, uv[2] = {-1, -1};
    for (int32_t q = 0; q < p; q++) first += in->pieces[q].triangles;
    for (int32_t side = 0; side < 2; side++)
        for (int32_t k = 0; k < 3; k++)
            if (in->triangle[t[side]][k] == vertex) uv[side] = piece->uv_triangle[3 * (int64_t)(t[side] - first) + k];
    return uv[0] == uv[1];
}

static void list_neighbours(matching *m) {
    const drape_i_hinges *h = m->in->hinges;
    for (int32_t t = 0; t < m->in->triangles; t++)
        for (int32_t k = 0; k < 3; k++) m->hinge[t][k] = -1;
    for (int32_t i = 0; i < h->count; i++) {
        if (!same_point(m->in, h->triangle[i], h->node[i][0]) || !same_point(m->in, h->triangle[i], h->node[i][1]))
            continue;
        for (int32_t side = 0; side < 2; side++) {
            int32_t *list = m->hinge[h->triangle[i][side]], k = 0;
            while (list[k] >= 0) k++;
            list[k] = i;
        }
    }
}

static int32_t across(const matching *m, int32_t hinge, int32_t t) {
    const int32_t *sides = m->in->hinges->triangle[hinge];
    return sides[0] == t ? sides[1] : sides[0];
}

/* Neighbours that are not taken; *best is the hinge with the longest edge among them. */
static int32_t choices(const matching *m, int32_t t, int32_t *best) {
    int32_t count = 0;
    double longest = -1;
    for (int32_t k = 0; k < 3; k++) {
        int32_t i = m->hinge[t][k];
        if (i < 0 || m->taken[across(m, i, t)]) continue;
        count++;
        if (m->in->rest_hinge[i].length2 > longest * (1 + 1e-9)) longest = m->in->rest_hinge[i].length2, *best = i;
    }
    return count;
}

/* Takes two triangles; neighbours of theirs that have one choice left go on the stack. */
static void join(matching *m, int32_t hinge) {
    const int32_t *sides = m->in->hinges->triangle[hinge];
    m->taken[sides[0]] = m->taken[sides[1]] = true;
    m->pair[m->count++] = hinge;
    for (int32_t side = 0; side < 2; side++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t i = m->hinge[sides[side]][k], best;
            if (i < 0) continue;
            int32_t other = across(m, i, sides[side]);
            if (!m->taken[other] && choices(m, other, &best) == 1) m->stack[m->top++] = other;
        }
}

static void match(matching *m) {
    int32_t best = -1;
    for (int32_t t = 0; t < m->in->triangles; t++)
        if (choices(m, t, &best) == 1) m->stack[m->top++] = t;
    for (int32_t t = 0; t < m->in->triangles; t++) {
        while (m->top > 0) {
            int32_t next = m->stack[--m->top];
            if (!m->taken[next] && choices(m, next, &best) == 1) join(m, best);
        }
        if (!m->taken[t] && choices(m, t, &best) > 0) join(m, best);
    }
}

drape_status drape_i_pairs_find(drape_context *ctx, const drape_i_model_input *input, int32_t **pair,
                                int32_t *count) {
    const int64_t n = input->triangles,
                  room = 4 * n + 4; /* a triangle goes on the stack at most once per neighbour */
    matching m = {.in = input};
    *pair = NULL, *count = 0;
    drape_status status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, m.hinge, n) && DRAPE_NEW(ctx, m.taken, n) && DRAPE_NEW(ctx, m.stack, room) &&
        DRAPE_NEW(ctx, m.pair, input->hinges->count)) {
        list_neighbours(&m);
        match(&m);
        *pair = m.pair, *count = m.count;
        status = DRAPE_OK;
    }
    DRAPE_FREE(ctx, m.hinge, n);
    DRAPE_FREE(ctx, m.taken, n);
    DRAPE_FREE(ctx, m.stack, room);
    return status;
}
