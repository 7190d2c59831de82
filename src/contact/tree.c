/* tree.c: the broad phase: a tree of boxes over the triangles of a mesh, and the pairs it finds.
 *
 * The tree. Triangles are sorted in Morton order of their centres. Eight in a row are a leaf, eight leaves in a row a
 * node, eight nodes a node of the next level, up to one. So the tree has no pointers: the children of node g are 8g
 * .. 8g+7 of the level below. Runs of 8 in Morton order alone are ragged: a leaf of a sheet meets 8 others after it.
 * So each run of 4096 is then halved across its longest side repeatedly, at multiples of the sizes of nodes, which
 * leaves 4. Each vertex and each edge belongs to the first leaf that has it, so that a pair of elements appears in
 * one pair of leaves only, and once.
 *
 * Boxes are floats, rounded outward, relative to an origin near the mesh. They contain the vertices in the
 * middle of the motion. In addition, each node has a box around half the displacements of its vertices. tree_simd.c
 * compares both.
 * An update recomputes the boxes and keeps the order of the triangles until queries meet too many pairs of leaves;
 * then the next update sorts again. Too many is 1.5 times those of the first query of its kind after the order was
 * made. The kinds are with and without DRAPE_CONTACT_TOGETHER. They must also be more than there are leaves, so that
 * sorting costs less than such a query. If later queries meet fewer, the number to compare with decreases slowly.
 * No decision depends on a clock.
 *
 * Queries run over the leaves in pieces that depend only on their number (base/parallel.h). A piece writes its pairs
 * into a part of the list that is a quarter larger than what it needed before. It keeps counting when that part is
 * full. If a part was too small, all parts are made as large as was counted, and the query is repeated. So no pair is
 * lost, and the order is that of the leaves. Finally the gaps between the parts are closed.
 *
 * Cost, for a mesh of n vertices against itself: an update reads 48 bytes per vertex. It writes 64 for the vertex,
 * and 24 bytes for each box of n vertices, 3n edges and 2n triangles. A query compares each leaf with some 30 nodes
 * and 5 leaves, and in those the elements at the border. */
#include "contact/tree.h"

#include "base/arena.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = DRAPE_I_TREE_WIDTH, VERTEX_GRAIN = 1024, LEAF_GRAIN = 32, QUERY_GRAIN = 8 };
/* Slots of edges are numbered too: up to 3 for a triangle, and 8 more for each leaf. */
enum { MOST_TRIANGLES = INT32_MAX / 8 };

/* ---- Edges ---- */

typedef struct half_edge {
    int32_t low, high, side; /* side: 3 triangle + k */
} half_edge;

/* Sorted by the low vertex, and among those of the same by the high one. */
static bool sort_half_edges(drape_contact_tree *tree, drape_i_arena *scratch, half_edge **out) {
    int64_t sides = 3 * (int64_t)tree->triangles;
    half_edge *from = drape_i_arena_get(tree->ctx, scratch, sides, sizeof *from);
    half_edge *to = drape_i_arena_get(tree->ctx, scratch, sides, sizeof *to);
    int64_t *begin = drape_i_arena_get(tree->ctx, scratch, (int64_t)tree->vertices + 1, sizeof *begin);
    if (!from || !to || !begin) return false;
    for (int64_t i = 0; i < sides; i++) {
        int32_t a = tree->triangle[i / 3][i % 3], b = tree->triangle[i / 3][(i + 1) % 3];
        from[i] = (half_edge){a < b ? a : b, a < b ? b : a, (int32_t)i};
    }
    for (int32_t pass = 0; pass < 2; pass++) { /* a stable sort by the high vertex, then one by the low */
        memset(begin, 0, ((size_t)tree->vertices + 1) * sizeof *begin);
        for (int64_t i = 0; i < sides; i++) begin[(pass ? from[i].low : from[i].high) + 1]++;
        for (int32_t v = 0; v < tree->vertices; v++) begin[v + 1] += begin[v];
        for (int64_t i = 0; i < sides; i++) to[begin[pass ? from[i].low : from[i].high]++] = from[i];
        half_edge *other = from;
        from = to, to = other;
    }
    *out = from;
    return true;
}

static drape_status number_edges(drape_contact_tree *tree) {
    drape_context *ctx = tree->ctx;
    drape_i_arena scratch = {0};
    half_edge *half = NULL;
    drape_status status = DRAPE_ERROR_MEMORY;
    if (!sort_half_edges(tree, &scratch, &half)) goto done;
    int64_t sides = 3 * (int64_t)tree->triangles;
    for (int32_t pass = 0; pass < 2; pass++) { /* count, then fill */
        int32_t count = 0;
        for (int64_t i = 0; i < sides; i++) {
            const half_edge *h = &half[i];
            bool fresh = i == 0 || h->low != half[i - 1].low || h->high != half[i - 1].high;
            bool point = h->low == h->high;
            if (fresh && !point) {
                if (pass) tree->edge[count][0] = h->low, tree->edge[count][1] = h->high;
                count++;
            }
            if (pass) tree->triangle_edge[h->side / 3][h->side % 3] = point ? -1 : count - 1;
        }
        tree->edges = count;
        if (!pass && !DRAPE_NEW(ctx, tree->edge, count)) goto done;
    }
    status = DRAPE_OK;
done:
    drape_i_arena_free(ctx, &scratch);
    return status;
}

/* ---- Creating ---- */

static drape_status check_mesh(drape_context *ctx, int32_t vertices, int32_t triangles, const int32_t *triangle) {
    if (vertices < 0 || triangles < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "a mesh of %d vertices and %d triangles: neither may be negative", vertices, triangles);
    if (triangles > MOST_TRIANGLES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a mesh of %d triangles: a tree takes at most %d", triangles,
                            MOST_TRIANGLES);
    for (int64_t i = 0; i < 3 * (int64_t)triangles; i++)
        if (triangle[i] < 0 || triangle[i] >= vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "triangle %lld has the vertex %d; the mesh has vertices 0 to %d", (long long)(i / 3),
                                triangle[i], vertices - 1);
    return DRAPE_OK;
}

static void list_lanes(drape_contact_tree *tree) {
    for (int32_t bits = 0; bits < 256; bits++)
        for (uint8_t lane = 0; lane < 8; lane++)
            if (bits >> lane & 1) tree->lanes[bits][tree->lane_count[bits]++] = lane;
}

static bool make_elements(drape_contact_tree *tree, drape_i_elements *e, int32_t corners, int64_t most) {
    drape_context *ctx = tree->ctx;
    e->corners = corners;
    e->most = (int32_t)most;
    if (!DRAPE_NEW_RAW(ctx, e->box, most) || !DRAPE_NEW_RAW(ctx, e->id, most)) return false;
    if (corners == 1) e->vertex = e->id;
    else if (!DRAPE_NEW_RAW(ctx, e->vertex, corners * most)) return false;
    return DRAPE_NEW(ctx, e->begin, (int64_t)tree->leaves + 1);
}

static bool make_levels(drape_contact_tree *tree) {
    int32_t below = tree->leaves;
    if (below == 0) return true;
    do {
        int32_t nodes = (below + WIDTH - 1) / WIDTH;
        DRAPE_ASSERT(tree->levels < DRAPE_I_TREE_LEVELS);
        tree->nodes[tree->levels] = nodes;
        if (!DRAPE_NEW(tree->ctx, tree->level[tree->levels], nodes)) return false;
        tree->levels++;
        below = nodes;
    } while (below > 1);
    return true;
}

static bool make_arrays(drape_contact_tree *tree) {
    drape_context *ctx = tree->ctx;
    int64_t leaves = tree->leaves;
    /* A leaf's last block of a kind may be filled in part. */
    return DRAPE_NEW(ctx, tree->vertex, tree->vertices) && make_elements(tree, &tree->faces, 3, leaves) &&
           make_elements(tree, &tree->points, 1, tree->vertices / WIDTH + leaves) &&
           make_elements(tree, &tree->lines, 2, tree->edges / WIDTH + leaves) && make_levels(tree) &&
           DRAPE_NEW(ctx, tree->owned, (int64_t)tree->vertices + tree->edges);
}

drape_status drape_contact_tree_create(drape_context *ctx, int32_t vertices, int32_t triangles,
                                       const int32_t *triangle, drape_contact_tree **out) {
    drape_contact_tree *tree = NULL;
    drape_status status;
    if (!out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_contact_tree_create: out is NULL");
    *out = NULL;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (triangles > 0 && !triangle)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_contact_tree_create: triangle is NULL");
    if ((status = check_mesh(ctx, vertices, triangles, triangle))) return status;
    if (!DRAPE_NEW(ctx, tree, 1)) return DRAPE_ERROR_MEMORY;
    tree->ctx = ctx;
    tree->vertices = vertices, tree->triangles = triangles;
    tree->leaves = (int32_t)(((int64_t)triangles + WIDTH - 1) / WIDTH);
    tree->forgotten = true;
    list_lanes(tree);
    if (!DRAPE_NEW(ctx, tree->triangle, triangles) || !DRAPE_NEW(ctx, tree->triangle_edge, triangles)) {
        status = DRAPE_ERROR_MEMORY;
    } else {
        if (triangles) memcpy(tree->triangle, triangle, (size_t)triangles * sizeof *tree->triangle);
        status = number_edges(tree);
        if (!status && !make_arrays(tree)) status = DRAPE_ERROR_MEMORY;
    }
    if (status) drape_contact_tree_destroy(tree);
    else *out = tree;
    return status;
}

static void free_elements(drape_contact_tree *tree, drape_i_elements *e) {
    DRAPE_FREE(tree->ctx, e->box, e->most);
    if (e->vertex != e->id) DRAPE_FREE(tree->ctx, e->vertex, e->corners * (int64_t)e->most);
    DRAPE_FREE(tree->ctx, e->id, e->most);
    DRAPE_FREE(tree->ctx, e->begin, (int64_t)tree->leaves + 1);
}

void drape_contact_tree_destroy(drape_contact_tree *tree) {
    if (!tree) return;
    drape_context *ctx = tree->ctx;
    int64_t n = tree->triangles;
    DRAPE_FREE(ctx, tree->triangle, n);
    DRAPE_FREE(ctx, tree->triangle_edge, n);
    DRAPE_FREE(ctx, tree->edge, tree->edges);
    DRAPE_FREE(ctx, tree->vertex, tree->vertices);
    free_elements(tree, &tree->faces);
    free_elements(tree, &tree->points);
    free_elements(tree, &tree->lines);
    for (int32_t l = 0; l < tree->levels; l++) DRAPE_FREE(ctx, tree->level[l], tree->nodes[l]);
    DRAPE_FREE(ctx, tree->owned, (int64_t)tree->vertices + tree->edges);
    DRAPE_FREE(ctx, tree, 1);
}

int32_t drape_contact_tree_edges(const drape_contact_tree *tree, const int32_t **edge) {
    if (edge) *edge = tree ? (const int32_t *)tree->edge : NULL;
    return tree ? tree->edges : 0;
}

drape_status drape_contact_tree_set_first_vertex(drape_contact_tree *tree, int32_t first_vertex) {
    if (!tree) return DRAPE_ERROR_ARGUMENT;
    if (first_vertex < 0 || first_vertex > INT32_MAX - tree->vertices)
        return drape_i_fail(tree->ctx, DRAPE_ERROR_ARGUMENT,
                            "first vertex %d of a mesh of %d vertices: the numbers must be in 0 to %d", first_vertex,
                            tree->vertices, INT32_MAX);
    tree->first_vertex = first_vertex;
    return DRAPE_OK;
}

drape_contact_tree_counts drape_contact_tree_count(const drape_contact_tree *tree) {
    return tree ? tree->counts : (drape_contact_tree_counts){0};
}

void drape_contact_tree_forget(drape_contact_tree *tree) {
    if (tree) tree->forgotten = true;
}

/* ---- Vertices ----
 *
 * Every float is rounded to nearest and then widened by 2^-22 of itself. That is two units in its last place or more,
 * where half a unit would do. FLT_MIN, the least normal number, stands for what may underflow, also on processors
 * that flush to zero. */

static const float WIDEN = 0x1p-22f;
/* Of x - origin and what follows, in doubles: the sum of a few roundings of 2^-53 each. */
static const double DOUBLE_WIDEN = 0x1p-50;

static float round_up(double positive) {
    return positive <= FLT_MAX ? (float)positive * (1 + WIDEN) + FLT_MIN : INFINITY;
}

/* One coordinate, from a to b, both relative to the origin; either may have overflowed. Returns how far c - m and c +
 * m may be off. */
static double fit_coordinate(double a, double b, int32_t k, drape_i_vertex_box *v) {
    double middle = 0.5 * a + 0.5 * b, half = 0.5 * b - 0.5 * a;
    if (!(fabs(middle) <= FLT_MAX)) middle = middle > 0 ? FLT_MAX : -FLT_MAX;
    if (!(fabs(half) <= FLT_MAX)) half = 0;
    double c = v->c[k] = (float)middle, m = v->m[k] = (float)half;
    double start = fabs(a - (c - m)), end = fabs(b - (c + m)), off = start > end ? start : end;
    return off + DOUBLE_WIDEN * (off + fabs(c) + fabs(m));
}

static void fit_vertex(const double *start, const double *end, const drape_contact_tree *tree,
                       drape_i_vertex_box *v) {
    double off = 0;
    for (int32_t k = 0; k < 3; k++) {
        double a = start[k] - tree->origin[k], b = end[k] - (tree->origin[k] + tree->drift[k]);
        double this_off = fit_coordinate(a, b, k, v);
        off = this_off > off ? this_off : off;
    }
    v->e = round_up(off);
    for (int32_t k = 0; k < 3; k++) {
        float w = (v->e + tree->margin_up) * (1 + WIDEN), lo = v->c[k] - w, hi = v->c[k] + w;
        v->lo[k] = lo - fabsf(lo) * WIDEN, v->hi[k] = hi + fabsf(hi) * WIDEN;
    }
}

typedef struct vertex_loop {
    drape_contact_tree *tree;
    const drape_contact_motion *motion;
} vertex_loop;

/* sums[0]: how many vertices are not finite. */
static void fit_vertices(void *data, int64_t begin, int64_t end, double *sums) {
    vertex_loop *loop = data;
    for (int64_t i = begin; i < end; i++) {
        const double *s = loop->motion->start + 3 * i, *e = loop->motion->end + 3 * i;
        double zero = 0;
        for (int32_t k = 0; k < 3; k++)
            zero += (s[k] - s[k]) + (e[k] - e[k]); /* not a number where one is not finite */
        fit_vertex(s, e, loop->tree, &loop->tree->vertex[i]);
        if (!(zero == 0)) sums[0]++;
    }
}

static drape_status name_not_finite(const drape_contact_tree *tree, const drape_contact_motion *motion) {
    for (int64_t i = 0; i < 3 * (int64_t)tree->vertices; i++) {
        bool at_start = !isfinite(motion->start[i]);
        if (!at_start && isfinite(motion->end[i])) continue;
        return drape_i_fail(tree->ctx, DRAPE_ERROR_NUMBER,
                            "vertex %lld is at %g at the %s of the motion, which is not a finite number",
                            (long long)(i / 3), at_start ? motion->start[i] : motion->end[i],
                            at_start ? "start" : "end");
    }
    return DRAPE_OK;
}

/* ---- The order of the triangles ---- */

/* Places are in the memory of the faces' boxes, those of a leaf where its box will be. */
static drape_i_place *places_of(drape_contact_tree *tree) { return (drape_i_place *)tree->faces.box; }

enum { MORTON_BITS = 16, DIGIT_BITS = 12, DIGITS = 3 * MORTON_BITS / DIGIT_BITS, RUN = 4096 };

/* Bit i of the lowest 16 goes to bit 3 i. */
static uint64_t spread(uint64_t x) {
    x = (x | x << 16) & UINT64_C(0x0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x0c30c30c30c3);
    return (x | x << 2) & UINT64_C(0x249249249249);
}

typedef struct morton_loop {
    drape_contact_tree *tree;
    float low[3], scale; /* of the sum of three corners */
} morton_loop;

static void make_keys(void *data, int64_t begin, int64_t end) {
    morton_loop *loop = data;
    drape_contact_tree *tree = loop->tree;
    const float most = (1 << MORTON_BITS) - 1;
    for (int64_t i = begin; i < end; i++) {
        const int32_t *t = tree->triangle[i];
        drape_i_place *p = &places_of(tree)[i];
        *p = (drape_i_place){.triangle = (int32_t)i};
        for (int32_t k = 0; k < 3; k++) {
            p->sum[k] = (tree->vertex[t[0]].c[k] + tree->vertex[t[1]].c[k]) + tree->vertex[t[2]].c[k];
            float cell = (p->sum[k] - loop->low[k]) * loop->scale;
            if (!(cell > 0)) cell = 0; /* also what is not a number, after an overflow */
            if (cell > most) cell = most;
            p->key |= spread((uint64_t)cell) << k;
        }
    }
}

static morton_loop measure(drape_contact_tree *tree) {
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX}, side = 0;
    morton_loop loop = {.tree = tree};
    for (int32_t i = 0; i < tree->vertices; i++)
        for (int32_t k = 0; k < 3; k++) {
            float c = tree->vertex[i].c[k];
            low[k] = c < low[k] ? c : low[k];
            high[k] = c > high[k] ? c : high[k];
        }
    for (int32_t k = 0; k < 3; k++) {
        loop.low[k] = 3 * low[k];
        side = high[k] - low[k] > side ? high[k] - low[k] : side;
    }
    loop.scale = side > 0 ? (float)(1 << MORTON_BITS) / (3 * side) : 0;
    return loop;
}

/* A stable radix sort by key, from the lowest digit up. It works in the memory of the edges' boxes, too, which are
 * made afterwards. */
static void sort_places(drape_contact_tree *tree) {
    int64_t n = tree->triangles;
    drape_i_place *from = places_of(tree), *to = (drape_i_place *)tree->lines.box;
    DRAPE_ASSERT((size_t)n * sizeof *to <= (size_t)tree->lines.most * sizeof *tree->lines.box);
    for (int32_t d = 0; d < DIGITS; d++) {
        int32_t begin[(1 << DIGIT_BITS) + 1] = {0};
        const int32_t shift = d * DIGIT_BITS;
        const uint64_t mask = (1 << DIGIT_BITS) - 1;
        for (int64_t i = 0; i < n; i++) begin[(from[i].key >> shift & mask) + 1]++;
        if (begin[(from[0].key >> shift & mask) + 1] == n) continue;
        for (int32_t i = 0; i < 1 << DIGIT_BITS; i++) begin[i + 1] += begin[i];
        for (int64_t i = 0; i < n; i++) to[begin[from[i].key >> shift & mask]++] = from[i];
        drape_i_place *other = from;
        from = to, to = other;
    }
    if (from != places_of(tree)) memcpy(places_of(tree), from, (size_t)n * sizeof *from);
}

/* The axis along which the places spread most. */
static int32_t longest_axis(const drape_i_place *p, int32_t count) {
    float low[3], high[3];
    for (int32_t k = 0; k < 3; k++) low[k] = high[k] = p[0].sum[k];
    for (int32_t i = 1; i < count; i++)
        for (int32_t k = 0; k < 3; k++) {
            low[k] = p[i].sum[k] < low[k] ? p[i].sum[k] : low[k];
            high[k] = p[i].sum[k] > high[k] ? p[i].sum[k] : high[k];
        }
    int32_t axis = 0;
    for (int32_t k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    return axis;
}

static float middle_of_three(float a, float b, float c) {
    float low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Hoare's selection: the `first` places with the least coordinates come first. No choice but by coordinates and their
 * present order, so the result is always the same. */
static void select_first(drape_i_place *p, int32_t count, int32_t first, int32_t axis) {
    int32_t begin = 0, end = count - 1;
    while (begin < end) {
        float pivot = middle_of_three(p[begin].sum[axis], p[begin + (end - begin) / 2].sum[axis], p[end].sum[axis]);
        int32_t i = begin, k = end;
        while (i <= k) {
            while (p[i].sum[axis] < pivot) i++;
            while (p[k].sum[axis] > pivot) k--;
            if (i > k) break;
            drape_i_place other = p[i];
            p[i++] = p[k], p[k--] = other;
        }
        if (first <= k) end = k;
        else if (first >= i) begin = i;
        else return;
    }
}

/* Along the leaf's longest side, so that the blocks of its vertices and edges are compact too. */
static void sort_leaf(drape_i_place *p, int32_t count) {
    int32_t axis = longest_axis(p, count);
    for (int32_t i = 1; i < count; i++) {
        drape_i_place moved = p[i];
        int32_t k = i;
        for (; k > 0 && p[k - 1].sum[axis] > moved.sum[axis]; k--) p[k] = p[k - 1];
        p[k] = moved;
    }
}

/* Splits places in two across their longest side until they are leaves, at multiples of the largest node below. */
static void split(drape_i_place *p, int32_t count) {
    while (count > WIDTH) {
        int32_t unit = WIDTH;
        while (unit * WIDTH < count) unit *= WIDTH;
        int32_t first = (count / 2 + unit - 1) / unit * unit;
        select_first(p, count, first, longest_axis(p, count));
        split(p, first);
        p += first, count -= first;
    }
    sort_leaf(p, count);
}

static void split_run(void *data, int64_t begin, int64_t end) {
    drape_contact_tree *tree = data;
    for (int64_t run = begin; run < end; run++) {
        int64_t at = run * RUN, left = tree->triangles - at;
        split(places_of(tree) + at, left < RUN ? (int32_t)left : RUN);
    }
}

/* ---- Building ---- */

static void clear_block(drape_i_elements *e, int64_t block) {
    memset(&e->box[block], 0xff, sizeof *e->box); /* not numbers */
    memset(e->id[block], 0xff, sizeof *e->id);    /* -1 */
    memset(e->vertex[e->corners * block], 0xff, (size_t)e->corners * sizeof *e->vertex);
}

/* Puts element `id` into the blocks from e->begin[leaf] on; *filled counts those of this leaf. */
static void put(drape_i_elements *e, int32_t leaf, int32_t *filled, int32_t id, const int32_t *vertex) {
    int32_t lane = *filled % WIDTH;
    int64_t block = e->begin[leaf] + *filled / WIDTH;
    DRAPE_ASSERT(block < e->most);
    if (lane == 0) clear_block(e, block);
    e->id[block][lane] = id;
    for (int32_t k = 0; k < e->corners; k++) e->vertex[e->corners * block + k][lane] = vertex[k];
    ++*filled;
}

static void end_leaf(drape_i_elements *e, int32_t leaf, int32_t filled) {
    e->begin[leaf + 1] = e->begin[leaf] + (filled + WIDTH - 1) / WIDTH;
}

/* Leaves of eight triangles in their order; each vertex and edge goes to the first leaf that has it. */
static void fill_leaves(drape_contact_tree *tree) {
    uint8_t *owned_vertex = tree->owned, *owned_edge = tree->owned + tree->vertices;
    memset(tree->owned, 0, (size_t)tree->vertices + (size_t)tree->edges);
    for (int32_t leaf = 0; leaf < tree->leaves; leaf++) {
        int32_t points = 0, lines = 0, faces = 0, triangle[WIDTH];
        const int32_t first = leaf * WIDTH, left = tree->triangles - first, count = left < WIDTH ? left : WIDTH;
        for (int32_t i = 0; i < count; i++)
            triangle[i] = places_of(tree)[first + i].triangle; /* the box comes here */
        for (int32_t i = 0; i < count; i++) {
            const int32_t t = triangle[i];
            put(&tree->faces, leaf, &faces, t, tree->triangle[t]);
            for (int32_t k = 0; k < 3; k++) {
                int32_t v = tree->triangle[t][k], e = tree->triangle_edge[t][k];
                if (!owned_vertex[v]) put(&tree->points, leaf, &points, v, &v);
                owned_vertex[v] = 1;
                if (e < 0) continue;
                if (!owned_edge[e]) put(&tree->lines, leaf, &lines, e, tree->edge[e]);
                owned_edge[e] = 1;
            }
        }
        end_leaf(&tree->points, leaf, points);
        end_leaf(&tree->lines, leaf, lines);
        end_leaf(&tree->faces, leaf, faces);
    }
}

static void build(drape_contact_tree *tree) {
    morton_loop loop = measure(tree);
    drape_i_loop(tree->ctx, tree->triangles, VERTEX_GRAIN, make_keys, &loop);
    sort_places(tree);
    drape_i_loop(tree->ctx, ((int64_t)tree->triangles + RUN - 1) / RUN, 1, split_run, tree);
    fill_leaves(tree);
    for (int32_t l = 0; l < tree->levels; l++)
        memset(tree->level[l], 0xff, (size_t)tree->nodes[l] * sizeof *tree->level[l]); /* not numbers */
    tree->forgotten = false;
    tree->grown = false;
    tree->reference[0] = tree->reference[1] = -1;
    tree->counts.builds++;
}

/* ---- Updating ---- */

static void refit_leaves(void *data, int64_t begin, int64_t end) {
    drape_contact_tree *tree = data;
    drape_i_tree_refit_at[tree->ctx->simd](tree, begin, end);
}

static void refit(drape_contact_tree *tree) {
    drape_i_loop(tree->ctx, tree->leaves, LEAF_GRAIN, refit_leaves, tree);
    for (int32_t l = 0; l + 1 < tree->levels; l++)
        drape_i_tree_refit_level_at[tree->ctx->simd](tree, l, 0, tree->nodes[l]);
}

static drape_status check_motion(drape_contact_tree *tree, const drape_contact_motion *motion) {
    drape_context *ctx = tree->ctx;
    if (!motion || (tree->vertices > 0 && (!motion->start || !motion->end)))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_contact_tree_update: motion, or its start or end, is NULL");
    if (!(motion->margin >= 0) || !isfinite(motion->margin))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a margin of %g m: it must be a finite number, 0 or more",
                            motion->margin);
    for (int32_t k = 0; k < 3; k++)
        if (!isfinite(motion->origin[k]) || !isfinite(motion->drift[k]))
            return drape_i_fail(
                ctx, DRAPE_ERROR_ARGUMENT,
                "the origin (%g, %g, %g) of a tree of boxes, or its drift (%g, %g, %g), is not finite",
                motion->origin[0], motion->origin[1], motion->origin[2], motion->drift[0], motion->drift[1],
                motion->drift[2]);
    return drape_i_check_reserved(ctx, "drape_contact_motion", motion->reserved, 4);
}

drape_status drape_contact_tree_update(drape_contact_tree *tree, const drape_contact_motion *motion) {
    if (!tree) return DRAPE_ERROR_ARGUMENT;
    drape_status status = check_motion(tree, motion);
    double not_finite = 0;
    if (status) return status;
    tree->updated = false;
    tree->margin = motion->margin;
    tree->margin_up = round_up(motion->margin);
    memcpy(tree->origin, motion->origin, sizeof tree->origin);
    memcpy(tree->drift, motion->drift, sizeof tree->drift);
    vertex_loop loop = {tree, motion};
    if (tree->vertices) drape_i_sum(tree->ctx, tree->vertices, VERTEX_GRAIN, fit_vertices, &loop, 1, &not_finite);
    if (not_finite > 0) return name_not_finite(tree, motion);
    if (tree->triangles && (tree->forgotten || tree->grown)) build(tree);
    if (tree->triangles) refit(tree);
    tree->counts.updates++;
    tree->updated = true;
    return DRAPE_OK;
}

/* ---- Pairs ---- */

typedef struct part {
    drape_i_sink sink[DRAPE_CONTACT_KINDS];
    int64_t overlaps, candidates;
} part;

struct drape_contact_pairs {
    drape_context *ctx;
    struct list {
        int32_t (*vertex)[4], (*element)[2];
        int64_t room, count;
    } list[DRAPE_CONTACT_KINDS];
    part part[DRAPE_I_CHUNKS];
};

drape_status drape_contact_pairs_create(drape_context *ctx, drape_contact_pairs **out) {
    if (!out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_contact_pairs_create: out is NULL");
    *out = NULL;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    drape_contact_pairs *pairs;
    if (!DRAPE_NEW(ctx, pairs, 1)) return DRAPE_ERROR_MEMORY;
    pairs->ctx = ctx;
    *out = pairs;
    return DRAPE_OK;
}

static void free_list(drape_contact_pairs *pairs, int32_t kind) {
    struct list *list = &pairs->list[kind];
    DRAPE_FREE(pairs->ctx, list->vertex, list->room);
    DRAPE_FREE(pairs->ctx, list->element, list->room);
    *list = (struct list){0};
}

void drape_contact_pairs_destroy(drape_contact_pairs *pairs) {
    if (!pairs) return;
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) free_list(pairs, k);
    DRAPE_FREE(pairs->ctx, pairs, 1);
}

drape_contact_list drape_contact_pairs_list(const drape_contact_pairs *pairs, drape_contact_kind kind) {
    if (!pairs || (unsigned)kind >= DRAPE_CONTACT_KINDS) return (drape_contact_list){0};
    const struct list *list = &pairs->list[kind];
    return (drape_contact_list){list->count, (const int32_t *)list->vertex, (const int32_t *)list->element};
}

/* ---- Queries ---- */

typedef struct query_loop {
    drape_i_tree_query query;
    int64_t length; /* leaves of a part */
    part *part;
} query_loop;

static void run_part(void *data, int32_t index) {
    query_loop *loop = data;
    const drape_contact_tree *first = loop->query.first;
    part result = loop->part[index]; /* on the stack: neighbours share cache lines */
    int64_t begin = index * loop->length, end = begin + loop->length;
    if (end > first->leaves) end = first->leaves;
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) result.sink[k].count = 0;
    drape_i_tree_pairs_at[first->ctx->simd](&loop->query, begin, end, result.sink, &result.overlaps,
                                            &result.candidates);
    loop->part[index] = result;
}

/* Gives each part its place in the lists, which grow where they must. */
static drape_status lay_out(drape_contact_pairs *pairs, int32_t parts) {
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
        struct list *list = &pairs->list[k];
        int64_t total = 0;
        for (int32_t i = 0; i < parts; i++) total += pairs->part[i].sink[k].room;
        if (total > list->room) {
            free_list(pairs, k);
            list->room = total; /* also where there is no memory: what is freed has that size or is NULL */
            if (!DRAPE_NEW_RAW(pairs->ctx, list->vertex, total) || !DRAPE_NEW_RAW(pairs->ctx, list->element, total)) {
                free_list(pairs, k);
                return DRAPE_ERROR_MEMORY;
            }
        }
        total = 0;
        for (int32_t i = 0; i < parts; i++) {
            drape_i_sink *sink = &pairs->part[i].sink[k];
            sink->vertex = list->vertex ? list->vertex + total : NULL;
            sink->element = list->element ? list->element + total : NULL;
            total += sink->room;
        }
    }
    return DRAPE_OK;
}

static int64_t with_spare(int64_t count) { return count + count / 4 + 8; }

/* Whether every part had room. Where one was too small, all get what they need and a quarter more. Those that once
 * needed more keep it, unless the sum is several times what is needed. */
static bool had_room(drape_contact_pairs *pairs, int32_t parts) {
    bool enough = true;
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
        int64_t need = 0, room = 0;
        bool fits = true;
        for (int32_t i = 0; i < parts; i++) {
            drape_i_sink *s = &pairs->part[i].sink[k];
            if (s->count > s->room) fits = false, s->room = with_spare(s->count);
            need += with_spare(s->count), room += s->room;
        }
        enough &= fits;
        if (fits || room <= 3 * need) continue;
        for (int32_t i = 0; i < parts; i++) pairs->part[i].sink[k].room = with_spare(pairs->part[i].sink[k].count);
    }
    return enough;
}

/* Moves the parts of each list together. */
static void close_gaps(drape_contact_pairs *pairs, int32_t parts) {
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
        struct list *list = &pairs->list[k];
        list->count = 0;
        for (int32_t i = 0; i < parts; i++) {
            const drape_i_sink *s = &pairs->part[i].sink[k];
            if (s->count) {
                memmove(list->vertex + list->count, s->vertex, (size_t)s->count * sizeof *s->vertex);
                memmove(list->element + list->count, s->element, (size_t)s->count * sizeof *s->element);
            }
            list->count += s->count;
        }
    }
}

/* Compares the count of leaves with that of earlier queries of the same kind, see the head of this file. */
static void note_overlaps(drape_contact_tree *tree, bool together, int64_t overlaps, int64_t candidates) {
    int64_t *reference = &tree->reference[together];
    tree->counts.overlaps = overlaps;
    tree->counts.candidates = candidates;
    if (*reference < 0) *reference = overlaps;
    else if (overlaps < *reference) *reference -= (*reference - overlaps + 63) / 64;
    tree->grown = overlaps > *reference + *reference / 2 && overlaps > tree->leaves;
}

static drape_status query(drape_contact_tree *first, drape_contact_tree *second, uint32_t options,
                          drape_contact_pairs *pairs) {
    query_loop loop = {.query = {.first = first,
                                 .second = second,
                                 .distance = round_up(first->margin + second->margin),
                                 .boxes_only = options & DRAPE_CONTACT_BOXES,
                                 .together = options & DRAPE_CONTACT_TOGETHER},
                       .length = drape_i_chunk_length(first->leaves, QUERY_GRAIN),
                       .part = pairs->part};
    bool empty = first->leaves == 0 || second->leaves == 0;
    int32_t parts = empty ? 0 : (int32_t)((first->leaves + loop.length - 1) / loop.length);
    int64_t overlaps = 0, candidates = 0;
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) pairs->list[k].count = 0;
    do {
        drape_status status = lay_out(pairs, parts);
        if (status) return status;
        drape_i_tasks(first->ctx, parts, run_part, &loop);
    } while (!had_room(pairs, parts));
    close_gaps(pairs, parts);
    for (int32_t i = 0; i < parts; i++) {
        overlaps += pairs->part[i].overlaps;
        candidates += pairs->part[i].candidates;
    }
    note_overlaps(second, loop.query.together, overlaps, candidates);
    return DRAPE_OK;
}

static drape_status check_query(drape_context *ctx, const drape_contact_tree *tree, uint32_t options,
                                const drape_contact_pairs *pairs) {
    if (!pairs) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a query for pairs: pairs is NULL");
    const double *drift = tree->drift;
    if (options & ~(uint32_t)(DRAPE_CONTACT_BOXES | DRAPE_CONTACT_TOGETHER))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a query for pairs: there are no options 0x%x", options);
    if (!tree->updated)
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "a query for pairs of a tree that does not know where its mesh is: call drape_contact_tree_update first");
    if ((drift[0] != 0 || drift[1] != 0 || drift[2] != 0) && !(options & DRAPE_CONTACT_TOGETHER))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "a query for pairs of a motion with a drift: that needs the option DRAPE_CONTACT_TOGETHER");
    return DRAPE_OK;
}

drape_status drape_contact_tree_self(drape_contact_tree *tree, uint32_t options, drape_contact_pairs *pairs) {
    if (!tree) return DRAPE_ERROR_ARGUMENT;
    drape_status status = check_query(tree->ctx, tree, options, pairs);
    return status ? status : query(tree, tree, options, pairs);
}

drape_status drape_contact_tree_against(drape_contact_tree *first, drape_contact_tree *second, uint32_t options,
                                        drape_contact_pairs *pairs) {
    drape_status status;
    if (!first || !second) return DRAPE_ERROR_ARGUMENT;
    if ((status = check_query(first->ctx, first, options, pairs))) return status;
    if ((status = check_query(first->ctx, second, options, pairs))) return status;
    if (first == second)
        return drape_i_fail(first->ctx, DRAPE_ERROR_ARGUMENT, "a tree against itself: call drape_contact_tree_self");
    bool same = true;
    for (int32_t k = 0; k < 3; k++)
        same &= first->origin[k] == second->origin[k] && first->drift[k] == second->drift[k];
    if (!same)
        return drape_i_fail(
            first->ctx, DRAPE_ERROR_ARGUMENT,
            "two trees with boxes relative to different origins or drifts: update both with the same");
    return query(first, second, options, pairs);
}
