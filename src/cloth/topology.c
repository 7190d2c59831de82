/* topology.c: finds the two triangles of every interior edge by sorting half edges.
 *
 * A half edge is (lower vertex, higher vertex, triangle, corner opposite). Sorted, the halves of an edge stand side
 * by side. The hinges are then sorted by their later triangle, so that hinges, triangles and (in a mesh that was
 * made in order) vertices run through memory together. */
#include "cloth/topology.h"

#include <stdlib.h>

typedef struct half_edge {
    int32_t low, high, triangle, opposite;
} half_edge;

static int compare_edges(const void *a, const void *b) {
    const half_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

typedef struct hinge {
    int32_t node[4], triangle[2];
} hinge;

static int compare_hinges(const void *a, const void *b) {
    const hinge *p = a, *q = b;
    if (p->triangle[1] != q->triangle[1]) return p->triangle[1] < q->triangle[1] ? -1 : 1;
    return (p->triangle[0] > q->triangle[0]) - (p->triangle[0] < q->triangle[0]);
}

static bool same_edge(const half_edge *a, const half_edge *b) { return a->low == b->low && a->high == b->high; }

static void list_half_edges(int32_t triangles, const int32_t (*triangle)[3], half_edge *halves) {
    for (int32_t t = 0; t < triangles; t++)
        for (int32_t c = 0; c < 3; c++) {
            int32_t a = triangle[t][(c + 1) % 3], b = triangle[t][(c + 2) % 3];
            halves[3 * (int64_t)t + c] = (half_edge){a < b ? a : b, a < b ? b : a, t, triangle[t][c]};
        }
}

static drape_status pair_halves(drape_context *ctx, int64_t n, const half_edge *h, hinge *hinges, int32_t *count) {
    *count = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        if (!same_edge(&h[i], &h[i + 1])) continue;
        if (i + 2 < n && same_edge(&h[i], &h[i + 2]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "the edge from vertex %d to %d belongs to three triangles or more (%d, %d, %d)",
                                h[i].low, h[i].high, h[i].triangle, h[i + 1].triangle, h[i + 2].triangle);
        hinges[(*count)++] =
            (hinge){{h[i].low, h[i].high, h[i].opposite, h[i + 1].opposite}, {h[i].triangle, h[i + 1].triangle}};
        i++;
    }
    qsort(hinges, (size_t)*count, sizeof *hinges, compare_hinges);
    return DRAPE_OK;
}

static drape_status copy_hinges(drape_context *ctx, int32_t count, const hinge *hinges, drape_i_hinges *out) {
    out->count = count;
    if (!DRAPE_NEW(ctx, out->node, count) || !DRAPE_NEW(ctx, out->triangle, count)) {
        drape_i_hinges_clear(ctx, out);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < 4; k++) out->node[i][k] = hinges[i].node[k];
        for (int32_t k = 0; k < 2; k++) out->triangle[i][k] = hinges[i].triangle[k];
    }
    return DRAPE_OK;
}

drape_status drape_i_hinges_find(drape_context *ctx, int32_t triangles, const int32_t (*triangle)[3],
                                 drape_i_hinges *out) {
    int64_t n = 3 * (int64_t)triangles;
    half_edge *halves;
    hinge *hinges = NULL;
    int32_t count;
    *out = (drape_i_hinges){0};
    drape_status status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, halves, n) && DRAPE_NEW(ctx, hinges, n / 2 + 1)) {
        list_half_edges(triangles, triangle, halves);
        qsort(halves, (size_t)n, sizeof *halves, compare_edges);
        status = pair_halves(ctx, n, halves, hinges, &count);
        if (!status) status = copy_hinges(ctx, count, hinges, out);
    }
    DRAPE_FREE(ctx, hinges, n / 2 + 1);
    DRAPE_FREE(ctx, halves, n);
    return status;
}

void drape_i_hinges_clear(drape_context *ctx, drape_i_hinges *hinges) {
    DRAPE_FREE(ctx, hinges->node, hinges->count);
    DRAPE_FREE(ctx, hinges->triangle, hinges->count);
    *hinges = (drape_i_hinges){0};
}
