/* The tree of boxes against a search through all pairs, on meshes that are smooth, crumpled, random, degenerate, huge
 * and tiny. Also what it promises about repeats, threads, memory and bad input. */
#include "contact/tree.h"
#include "support/meshes.h"
#include "support/testing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A mesh in motion ---- */

typedef struct motion {
    int32_t vertices, triangles;
    int32_t *triangle;
    double *start, *end;
    double margin, origin[3], drift[3];
} motion;

static void *memory(int64_t count, size_t size) {
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    return p;
}

static motion new_motion(int32_t vertices, int32_t triangles) {
    return (motion){.vertices = vertices,
                    .triangles = triangles,
                    .triangle = memory(3 * (int64_t)triangles, sizeof(int32_t)),
                    .start = memory(3 * (int64_t)vertices, sizeof(double)),
                    .end = memory(3 * (int64_t)vertices, sizeof(double))};
}

static void clear_motion(motion *m) { free(m->triangle), free(m->start), free(m->end); }

/* A soup: triangles between any vertices, also such that have a vertex twice. */
static motion random_soup(test_random *r, int32_t vertices, int32_t triangles, double size, double way) {
    motion m = new_motion(vertices, triangles);
    for (int32_t i = 0; i < 3 * triangles; i++) m.triangle[i] = test_random_below(r, vertices);
    for (int32_t i = 0; i < 3 * vertices; i++) {
        m.start[i] = test_random_between(r, -size, size);
        m.end[i] = m.start[i] + test_random_between(r, -way, way);
    }
    return m;
}

/* Small triangles of their own vertices, strewn over a cube of 1 m: few pairs are near. */
static motion confetti(test_random *r, int32_t triangles, double size, double way) {
    motion m = new_motion(3 * triangles, triangles);
    for (int32_t i = 0; i < triangles; i++)
        for (int32_t k = 0; k < 3; k++) {
            double c = test_random_between(r, 0, 1), d = test_random_between(r, -way, way);
            for (int32_t j = 0; j < 3; j++) {
                int32_t at = 3 * (3 * i + j) + k;
                m.triangle[3 * i + j] = 3 * i + j;
                m.start[at] = c + test_random_between(r, -size, size);
                m.end[at] = m.start[at] + d + test_random_between(r, -way, way);
            }
        }
    return m;
}

/* A sheet of `side` cells each way, crumpled by `rough` cells, turned at random, which falls by `way` cells. */
static motion sheet(test_random *r, int32_t side, double rough, double way) {
    test_mesh mesh = test_mesh_irregular(side, side, 1, 1, r);
    motion m = new_motion(mesh.vertices, mesh.triangles);
    double R[9], zero[3] = {0};
    test_random_rotation(r, R);
    memcpy(m.triangle, mesh.triangle, 3 * (size_t)mesh.triangles * sizeof *m.triangle);
    for (int32_t i = 0; i < 3 * mesh.vertices; i++) mesh.rest[i] += rough / side * test_random_between(r, -1, 1);
    test_move(mesh.vertices, mesh.rest, R, zero, m.start);
    for (int32_t i = 0; i < 3 * mesh.vertices; i++)
        m.end[i] = m.start[i] + way / side * (i % 3 == 2 ? -1 : 0.1 * test_random_between(r, -1, 1));
    test_mesh_clear(&mesh);
    return m;
}

static void scale(motion *m, double factor, double shift) {
    for (int32_t i = 0; i < 3 * m->vertices; i++) {
        m->start[i] = m->start[i] * factor + shift;
        m->end[i] = m->end[i] * factor + shift;
    }
    m->margin *= factor;
}

static drape_contact_tree *make_tree(drape_context *ctx, const motion *m) {
    drape_contact_tree *tree;
    ASSERT_OK(ctx, drape_contact_tree_create(ctx, m->vertices, m->triangles, m->triangle, &tree));
    return tree;
}

static drape_contact_motion view(const motion *m) {
    drape_contact_motion v = {.start = m->start, .end = m->end, .margin = m->margin};
    memcpy(v.origin, m->origin, sizeof v.origin);
    memcpy(v.drift, m->drift, sizeof v.drift);
    return v;
}

static void update(drape_context *ctx, drape_contact_tree *tree, const motion *m) {
    drape_contact_motion v = view(m);
    ASSERT_OK(ctx, drape_contact_tree_update(tree, &v));
}

static drape_contact_pairs *make_pairs(drape_context *ctx) {
    drape_contact_pairs *pairs;
    ASSERT_OK(ctx, drape_contact_pairs_create(ctx, &pairs));
    return pairs;
}

/* ---- Pairs as a set ---- */

typedef struct pair_of {
    int32_t vertex[4], a, b;
} pair_of;

typedef struct pair_set {
    pair_of *pair;
    int64_t count, room;
} pair_set;

static int compare_pairs(const void *p, const void *q) {
    const pair_of *a = p, *b = q;
    return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

static void add_pair(pair_set *set, pair_of pair) {
    if (set->count == set->room) {
        set->room = 2 * set->room + 64;
        set->pair = realloc(set->pair, (size_t)set->room * sizeof pair);
        assert_non_null(set->pair);
    }
    set->pair[set->count++] = pair;
}

static void sort_set(pair_set *set) {
    if (set->count) qsort(set->pair, (size_t)set->count, sizeof *set->pair, compare_pairs);
}

/* The list of this kind, sorted. Edges of one mesh get the smaller number first. No pair is there twice. */
static pair_set set_of(const drape_contact_pairs *pairs, drape_contact_kind kind, bool one_mesh) {
    drape_contact_list list = drape_contact_pairs_list(pairs, kind);
    pair_set set = {0};
    for (int64_t i = 0; i < list.count; i++) {
        pair_of p = {.a = list.element[2 * i], .b = list.element[2 * i + 1]};
        memcpy(p.vertex, list.vertex + 4 * i, sizeof p.vertex);
        if (kind == DRAPE_CONTACT_EDGE_EDGE && one_mesh && p.a > p.b)
            p = (pair_of){{p.vertex[2], p.vertex[3], p.vertex[0], p.vertex[1]}, p.b, p.a};
        add_pair(&set, p);
    }
    sort_set(&set);
    for (int64_t i = 1; i < set.count; i++) assert_int_not_equal(compare_pairs(&set.pair[i - 1], &set.pair[i]), 0);
    return set;
}

static void assert_same(const pair_set *a, const pair_set *b) {
    assert_int_equal(a->count, b->count);
    if (a->count) assert_memory_equal(a->pair, b->pair, (size_t)a->count * sizeof *a->pair);
}

static bool has(const pair_set *set, const pair_of *pair) {
    return set->count && bsearch(pair, set->pair, (size_t)set->count, sizeof *pair, compare_pairs);
}

/* ---- The search through all pairs ---- */

typedef struct interval {
    double lo[3], hi[3];
} interval;

/* Exact boxes of some vertices: at the start, at the end and in the middle of their ways, and of halves of their
 * ways. */
typedef struct moving_box {
    interval start, end, middle, half;
} moving_box;

static void grow(interval *b, int32_t k, double x) { b->lo[k] = fmin(b->lo[k], x), b->hi[k] = fmax(b->hi[k], x); }

static moving_box box_of(const motion *m, const int32_t *vertex, int32_t count) {
    const interval none = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    moving_box b = {none, none, none, none};
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++) {
            double s = m->start[3 * (int64_t)vertex[i] + k], e = m->end[3 * (int64_t)vertex[i] + k];
            grow(&b.start, k, s), grow(&b.end, k, e);
            grow(&b.middle, k, 0.5 * s + 0.5 * e), grow(&b.half, k, 0.5 * e - 0.5 * s);
        }
    return b;
}

/* How boxes are compared. */
typedef enum comparison {
    SWEPT, /* around starts and ends */
    AT_BOTH_ENDS /* no coordinate tells them apart, in the same order at the start and at the end */,
    MIDDLES,         /* in the middle, as near as the largest halves of both ways together; with some slack */
    MIDDLES_TOGETHER /* in the middle, as near as the largest difference of such halves; with some slack */
} comparison;

/* Boxes are allowed a slack of 2^-18 of the coordinates, so the search runs on meshes relative to the origin. */
static const double SLACK = 0x1p-18;

static double largest(const interval *b, int32_t k) { return fmax(fabs(b->lo[k]), fabs(b->hi[k])); }

static bool boxes_meet(const moving_box *a, const moving_box *b, double distance, comparison how) {
    bool meet = true;
    for (int32_t k = 0; k < 3; k++) {
        double size = largest(&a->start, k) + largest(&a->end, k) + largest(&b->start, k) + largest(&b->end, k);
        double far = fmax(a->start.lo[k] - b->start.hi[k], b->start.lo[k] - a->start.hi[k]), reach = distance;
        if (how == SWEPT) {
            far = fmax(fmin(a->start.lo[k], a->end.lo[k]) - fmax(b->start.hi[k], b->end.hi[k]),
                       fmin(b->start.lo[k], b->end.lo[k]) - fmax(a->start.hi[k], a->end.hi[k]));
        } else if (how == AT_BOTH_ENDS) {
            far = fmax(fmin(a->start.lo[k] - b->start.hi[k], a->end.lo[k] - b->end.hi[k]),
                       fmin(b->start.lo[k] - a->start.hi[k], b->end.lo[k] - a->end.hi[k]));
        } else {
            far = fmax(a->middle.lo[k] - b->middle.hi[k], b->middle.lo[k] - a->middle.hi[k]);
            reach += SLACK * (size + distance);
            reach += how == MIDDLES ? largest(&a->half, k) + largest(&b->half, k)
                                    : fmax(a->half.hi[k] - b->half.lo[k], b->half.hi[k] - a->half.lo[k]);
        }
        meet &= far <= reach;
    }
    return meet;
}

static bool shared(const int32_t *a, int32_t na, const int32_t *b, int32_t nb) {
    for (int32_t i = 0; i < na; i++)
        for (int32_t k = 0; k < nb; k++)
            if (a[i] == b[k]) return true;
    return false;
}

static bool in_a_triangle(const motion *m, int32_t v) {
    for (int32_t i = 0; i < 3 * m->triangles; i++)
        if (m->triangle[i] == v) return true;
    return false;
}

/* Vertices of a against triangles of b. */
static pair_set all_vertex_triangle(const motion *a, const motion *b, comparison how) {
    pair_set set = {0};
    for (int32_t v = 0; v < a->vertices; v++) {
        if (!in_a_triangle(a, v)) continue;
        moving_box box = box_of(a, &v, 1);
        for (int32_t t = 0; t < b->triangles; t++) {
            const int32_t *c = b->triangle + 3 * t;
            moving_box other = box_of(b, c, 3);
            if ((a == b && shared(&v, 1, c, 3)) || !boxes_meet(&box, &other, a->margin + b->margin, how)) continue;
            add_pair(&set, (pair_of){{v, c[0], c[1], c[2]}, v, t});
        }
    }
    return set;
}

static pair_set all_edge_edge(const motion *a, const drape_contact_tree *tree_a, const motion *b,
                              const drape_contact_tree *tree_b, comparison how) {
    const int32_t *ea, *eb;
    int32_t na = drape_contact_tree_edges(tree_a, &ea), nb = drape_contact_tree_edges(tree_b, &eb);
    pair_set set = {0};
    for (int32_t i = 0; i < na; i++) {
        moving_box box = box_of(a, ea + 2 * i, 2);
        for (int32_t k = a == b ? i + 1 : 0; k < nb; k++) {
            const int32_t *p = ea + 2 * i, *q = eb + 2 * k;
            moving_box other = box_of(b, q, 2);
            if ((a == b && shared(p, 2, q, 2)) || !boxes_meet(&box, &other, a->margin + b->margin, how)) continue;
            add_pair(&set, (pair_of){{p[0], p[1], q[0], q[1]}, i, k});
        }
    }
    return set;
}

typedef struct vector {
    long double x, y, z;
} vector;

static vector minus(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static long double dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vector cross(vector a, vector b) {
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* All places where some vertices are at the start and at the end. */
typedef struct cloud {
    vector at[8];
    int32_t count;
} cloud;

static cloud cloud_of(const motion *m, const int32_t *vertex, int32_t count) {
    cloud c = {.count = 2 * count};
    for (int32_t i = 0; i < c.count; i++) {
        const double *x = (i % 2 ? m->end : m->start) + 3 * (int64_t)vertex[i / 2];
        c.at[i] = (vector){x[0], x[1], x[2]};
    }
    return c;
}

/* Whether n or -n separates the clouds by more than d. */
static bool splits(vector n, const cloud *a, const cloud *b, double d) {
    long double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, length = sqrtl(dot(n, n));
    for (int32_t k = 0; k < 2; k++)
        for (int32_t i = 0; i < (k ? b : a)->count; i++) {
            long double s = dot(n, minus((k ? b : a)->at[i], a->at[0]));
            low[k] = fminl(low[k], s), high[k] = fmaxl(high[k], s);
        }
    return low[0] - high[1] > d * length || low[1] - high[0] > d * length;
}

/* Whether two clouds are farther apart than d: their hulls are, and then the direction between nearest points says
 * so. These are two points, a point and an edge, a point and a face, or two edges. */
static bool clouds_apart(const cloud *a, const cloud *b, double d) {
    vector edge[64];
    int32_t edges = 0;
    for (int32_t k = 0; k < 2; k++)
        for (int32_t i = 0; i < (k ? b : a)->count; i++)
            for (int32_t j = 0; j < i; j++) edge[edges++] = minus((k ? b : a)->at[i], (k ? b : a)->at[j]);
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t j = 0; j < b->count; j++) {
            vector between = minus(a->at[i], b->at[j]);
            if (splits(between, a, b, d)) return true;
            for (int32_t k = 0; k < edges; k++)
                if (splits(cross(cross(edge[k], between), edge[k]), a, b, d)) return true;
        }
    for (int32_t i = 0; i < edges; i++)
        for (int32_t j = 0; j < i; j++)
            if (splits(cross(edge[i], edge[j]), a, b, d)) return true;
    return false;
}

static void assert_subset(const pair_set *small, const pair_set *large) {
    for (int64_t i = 0; i < small->count; i++) assert_true(has(large, &small->pair[i]));
}

/* Every pair of `all` that `kept` lacks is apart by more than both margins, wherever its vertices are on their ways.
 */
static void assert_rest_apart(const pair_set *all, const pair_set *kept, const motion *a, const motion *b,
                              int32_t na) {
    for (int64_t i = 0; i < all->count; i++) {
        const pair_of *p = &all->pair[i];
        if (has(kept, p)) continue;
        cloud ca = cloud_of(a, p->vertex, na), cb = cloud_of(b, p->vertex + na, 4 - na);
        assert_true(clouds_apart(&ca, &cb, a->margin + b->margin));
    }
}

/* Every pair of `all` that `kept` lacks is apart by more than both margins whenever its vertices move together. The
 * hull of the differences between their vertices, at the start and at the end, does not contain zero. */
static void assert_rest_apart_together(const pair_set *all, const pair_set *kept, const motion *a, const motion *b,
                                       int32_t na) {
    const cloud zero = {.count = 1};
    for (int64_t i = 0; i < all->count; i++) {
        const pair_of *p = &all->pair[i];
        if (has(kept, p)) continue;
        cloud ca = cloud_of(a, p->vertex, na), cb = cloud_of(b, p->vertex + na, 4 - na), between = {.count = 0};
        for (int32_t k = 0; k < ca.count; k++)
            for (int32_t l = k % 2; l < cb.count; l += 2) between.at[between.count++] = minus(ca.at[k], cb.at[l]);
        assert_true(clouds_apart(&between, &zero, a->margin + b->margin));
    }
}

/* What queries with all combinations of options find; boxes and tight: without and with the tighter test. */
typedef struct answers {
    drape_contact_pairs *boxes, *tight, *boxes_together, *together;
} answers;

static answers ask(drape_context *ctx, drape_contact_tree *a, drape_contact_tree *b) {
    answers found;
    drape_contact_pairs **to[4] = {&found.tight, &found.boxes, &found.together, &found.boxes_together};
    for (uint32_t options = 0; options < 4; options++) {
        *to[options] = make_pairs(ctx);
        ASSERT_OK(ctx, a == b ? drape_contact_tree_self(a, options, *to[options])
                              : drape_contact_tree_against(a, b, options, *to[options]));
    }
    return found;
}

static void clear_answers(answers *found) {
    drape_contact_pairs_destroy(found->boxes), drape_contact_pairs_destroy(found->tight);
    drape_contact_pairs_destroy(found->boxes_together), drape_contact_pairs_destroy(found->together);
}

/* A query against the search through all pairs: `near`, those that boxes do not tell apart, and `most`, those that it
 * may list. */
static void check_options(const drape_contact_pairs *boxes, const drape_contact_pairs *tight, drape_contact_kind kind,
                          bool one_mesh, const motion *a, const motion *b, int32_t na, pair_set near, pair_set most,
                          bool together) {
    pair_set found = set_of(boxes, kind, one_mesh), left = set_of(tight, kind, one_mesh);
    sort_set(&near), sort_set(&most);
    if (!together) assert_subset(&near, &found);
    assert_subset(&found, &most);
    assert_subset(&left, &found);
    (together ? assert_rest_apart_together : assert_rest_apart)(&near, &left, a, b, na);
    free(found.pair), free(left.pair), free(near.pair), free(most.pair);
}

static void check_vertex_triangle(const answers *found, drape_contact_kind kind, const motion *a, const motion *b) {
    check_options(found->boxes, found->tight, kind, a == b, a, b, 1, all_vertex_triangle(a, b, SWEPT),
                  all_vertex_triangle(a, b, MIDDLES), false);
    check_options(found->boxes_together, found->together, kind, a == b, a, b, 1,
                  all_vertex_triangle(a, b, AT_BOTH_ENDS), all_vertex_triangle(a, b, MIDDLES_TOGETHER), true);
}

static void check_edge_edge(const answers *found, const motion *a, const drape_contact_tree *ta, const motion *b,
                            const drape_contact_tree *tb) {
    check_options(found->boxes, found->tight, DRAPE_CONTACT_EDGE_EDGE, a == b, a, b, 2,
                  all_edge_edge(a, ta, b, tb, SWEPT), all_edge_edge(a, ta, b, tb, MIDDLES), false);
    check_options(found->boxes_together, found->together, DRAPE_CONTACT_EDGE_EDGE, a == b, a, b, 2,
                  all_edge_edge(a, ta, b, tb, AT_BOTH_ENDS), all_edge_edge(a, ta, b, tb, MIDDLES_TOGETHER), true);
}

static void check_self(drape_context *ctx, const motion *m, drape_contact_tree *tree) {
    update(ctx, tree, m);
    answers found = ask(ctx, tree, tree);
    check_vertex_triangle(&found, DRAPE_CONTACT_VERTEX_TRIANGLE, m, m);
    check_edge_edge(&found, m, tree, m, tree);
    assert_int_equal(drape_contact_pairs_list(found.boxes, DRAPE_CONTACT_TRIANGLE_VERTEX).count, 0);
    clear_answers(&found);
}

static void check_against(drape_context *ctx, const motion *a, const motion *b) {
    drape_contact_tree *ta = make_tree(ctx, a), *tb = make_tree(ctx, b);
    update(ctx, ta, a), update(ctx, tb, b);
    answers found = ask(ctx, ta, tb);
    check_vertex_triangle(&found, DRAPE_CONTACT_VERTEX_TRIANGLE, a, b);
    check_vertex_triangle(&found, DRAPE_CONTACT_TRIANGLE_VERTEX, b, a);
    check_edge_edge(&found, a, ta, b, tb);
    drape_contact_tree_destroy(ta), drape_contact_tree_destroy(tb);
    clear_answers(&found);
}

static void check_and_clear(drape_context *ctx, motion m) {
    drape_contact_tree *tree = make_tree(ctx, &m);
    check_self(ctx, &m, tree);
    drape_contact_tree_destroy(tree);
    clear_motion(&m);
}

/* ---- Tests ---- */

static void assert_refused(drape_context *ctx, drape_status got, drape_status want, const char *text) {
    assert_int_equal(got, want);
    if (!strstr(drape_message(ctx), text)) fail_msg("'%s' does not say '%s'", drape_message(ctx), text);
}

static void finds_what_a_search_through_all_pairs_finds(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    test_random r = {11};
    for (int32_t i = 0; i < 6; i++) {
        check_and_clear(ctx, random_soup(&r, 1 + test_random_below(&r, 30), test_random_below(&r, 50), 1, 0.2 * i));
        motion m = confetti(&r, 1 + test_random_below(&r, 200), 0.1, 0.05 * i);
        m.margin = 0.01 * i;
        check_and_clear(ctx, m);
        m = sheet(&r, 2 + test_random_below(&r, 10), 0.4 * i, 0.5 * i);
        m.margin = 0.02 * i / 10;
        check_and_clear(ctx, m);
    }
    drape_context_destroy(ctx);
}

/* Motions of a mesh as a whole, by far more than an edge: it flies, turns about an axis, is sheared and stretched.
 * `own`: and each vertex moves by so much of its own. */
static void move_as_a_whole(test_random *r, motion *m, double way, double angle, double shear, double rough) {
    double R[9], drift[3], n[3];
    test_random_rotation(r, R);
    for (int32_t k = 0; k < 3; k++) drift[k] = way * test_random_between(r, -1, 1), n[k] = R[k];
    for (int32_t i = 0; i < m->vertices; i++) {
        const double *x = m->start + 3 * (int64_t)i;
        double along = n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
        for (int32_t k = 0; k < 3; k++) {
            int32_t l = (k + 1) % 3, j = (k + 2) % 3;
            double turned =
                n[k] * along + cos(angle) * (x[k] - n[k] * along) + sin(angle) * (n[l] * x[j] - n[j] * x[l]);
            m->end[3 * i + k] = turned + shear * R[3 + k] * along + drift[k] + rough * test_random_between(r, -1, 1);
        }
    }
}

static void finds_them_in_fast_common_motion(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    test_random r = {24};
    for (int32_t i = 0; i < 12; i++) {
        motion m = sheet(&r, 3 + test_random_below(&r, 5), 0.3 * (i % 4), 0), b = confetti(&r, 20, 0.1, 0.1);
        m.margin = 0.004 * (i % 3), b.margin = 0.002;
        move_as_a_whole(&r, &m, i % 2 ? 3 : 0.2, 0.4 * (i % 5), i % 3 ? 0 : 0.5, 0.01 * (i % 4));
        move_as_a_whole(&r, &b, 0.5, 0.3 * i, 0, 0);
        check_against(ctx, &m, &b);
        clear_motion(&b);
        check_and_clear(ctx, m);
    }
    drape_context_destroy(ctx);
}

static void finds_them_between_two_meshes(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    test_random r = {12};
    for (int32_t i = 0; i < 4; i++) {
        motion a = sheet(&r, 6, 0.3 * i, 0.5), b = confetti(&r, 90, 0.2, 0.1);
        a.margin = 0.01, b.margin = 0.003 * i;
        check_against(ctx, &a, &b);
        check_against(ctx, &b, &a);
        clear_motion(&a), clear_motion(&b);
    }
    drape_context_destroy(ctx);
}

/* Vertices of both meshes stand in one array, those of the second after those of the first. */
static void vertices_are_numbered_from_the_first(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {22};
    motion a = confetti(&r, 40, 0.2, 0.1), b = confetti(&r, 30, 0.2, 0.1);
    drape_contact_tree *ta = make_tree(ctx, &a), *tb = make_tree(ctx, &b);
    drape_contact_pairs *plain = make_pairs(ctx), *shifted = make_pairs(ctx);
    update(ctx, ta, &a), update(ctx, tb, &b);
    ASSERT_OK(ctx, drape_contact_tree_against(ta, tb, 0, plain));
    ASSERT_OK(ctx, drape_contact_tree_set_first_vertex(tb, a.vertices));
    ASSERT_OK(ctx, drape_contact_tree_against(ta, tb, 0, shifted));
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
        drape_contact_list p = drape_contact_pairs_list(plain, (drape_contact_kind)k);
        drape_contact_list q = drape_contact_pairs_list(shifted, (drape_contact_kind)k);
        assert_true(p.count > 0);
        assert_int_equal(p.count, q.count);
        assert_memory_equal(p.element, q.element, 2 * (size_t)p.count * sizeof *p.element);
        for (int64_t i = 0; i < 4 * p.count; i++) {
            bool second =
                k == DRAPE_CONTACT_EDGE_EDGE ? i % 4 >= 2 : (i % 4 >= 1) == (k == DRAPE_CONTACT_VERTEX_TRIANGLE);
            assert_int_equal(q.vertex[i], p.vertex[i] + (second ? a.vertices : 0));
        }
    }
    drape_contact_pairs_destroy(plain), drape_contact_pairs_destroy(shifted);
    drape_contact_tree_destroy(ta), drape_contact_tree_destroy(tb);
    clear_motion(&a), clear_motion(&b);
    drape_context_destroy(ctx);
}

static void takes_meshes_without_area_and_without_triangles(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {13};
    check_and_clear(ctx, new_motion(0, 0));
    check_and_clear(ctx, new_motion(5, 0));
    check_and_clear(ctx, new_motion(1, 9));     /* nine times the same point */
    check_and_clear(ctx, new_motion(40, 13));   /* all in one point, most vertices in no triangle */
    for (int32_t flat = 1; flat <= 3; flat++) { /* coordinates that are equal: in a plane, on a line, in one point */
        motion m = confetti(&r, 60, 0.1, flat == 2 ? 0.1 : 0);
        for (int32_t i = 0; i < 3 * m.vertices; i++)
            if (i % 3 < flat) m.start[i] = m.end[i] = 0.25;
        check_and_clear(ctx, m);
    }
    motion empty = new_motion(3, 0), some = confetti(&r, 5, 0.1, 0);
    check_against(ctx, &empty, &some);
    check_against(ctx, &some, &empty);
    clear_motion(&empty), clear_motion(&some);
    drape_context_destroy(ctx);
}

/* 1e300 and 1e-300 are beyond floats, 1e-40 is below their normal numbers. */
static void takes_coordinates_of_any_size(void **state) {
    (void)state;
    static const double sizes[] = {1e-300, 1e-160, 1e-44, 1e-40, 1e-37, 1e-20, 1e-6,
                                   1e6,    1e18,   1e30,  3e38,  1e60,  1e300};
    drape_context *ctx = test_context(1);
    test_random r = {14};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        drape_contact_pairs *boxes = make_pairs(ctx), *tight = make_pairs(ctx);
        motion m = confetti(&r, 40, 0.1, 0.1);
        m.margin = 0.01;
        scale(&m, sizes[i], 0);
        drape_contact_tree *tree = make_tree(ctx, &m);
        update(ctx, tree, &m);
        ASSERT_OK(ctx, drape_contact_tree_self(tree, DRAPE_CONTACT_BOXES, boxes));
        ASSERT_OK(ctx, drape_contact_tree_self(tree, 0, tight));
        pair_set exact = all_edge_edge(&m, tree, &m, tree, SWEPT),
                 found = set_of(boxes, DRAPE_CONTACT_EDGE_EDGE, true);
        pair_set left = set_of(tight, DRAPE_CONTACT_EDGE_EDGE, true);
        assert_subset(&exact, &found);
        assert_subset(&left, &found);
        if (sizes[i] > 1e-100 && sizes[i] < 1e100) assert_rest_apart(&found, &left, &m, &m, 2);
        else assert_same(&found, &left);
        free(exact.pair), free(found.pair), free(left.pair);
        drape_contact_pairs_destroy(boxes), drape_contact_pairs_destroy(tight);
        drape_contact_tree_destroy(tree), clear_motion(&m);
    }
    drape_context_destroy(ctx);
}

/* With the origin near it, a mesh far from zero gets as tight boxes as one that is not. */
static void origin_keeps_boxes_tight(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {15};
    motion m = sheet(&r, 12, 0.2, 0.2);
    drape_contact_pairs *near = make_pairs(ctx), *far = make_pairs(ctx);
    drape_contact_tree *tree = make_tree(ctx, &m);
    update(ctx, tree, &m);
    ASSERT_OK(ctx, drape_contact_tree_self(tree, 0, near));
    scale(&m, 1, 1e6);
    for (int32_t k = 0; k < 3; k++) m.origin[k] = 1e6;
    update(ctx, tree, &m);
    ASSERT_OK(ctx, drape_contact_tree_self(tree, 0, far));
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
        pair_set a = set_of(near, (drape_contact_kind)k, true), b = set_of(far, (drape_contact_kind)k, true);
        assert_same(&a, &b);
        free(a.pair), free(b.pair);
    }
    drape_contact_pairs_destroy(near), drape_contact_pairs_destroy(far);
    drape_contact_tree_destroy(tree), clear_motion(&m);
    drape_context_destroy(ctx);
}

/* A smooth sheet has no pairs but those of its boxes: neighbours are found apart without the narrow phase. */
static void neighbours_in_a_smooth_sheet_are_no_pairs(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {16};
    motion m = sheet(&r, 20, 0.02, 0);
    m.margin = 0.02 / 20;
    drape_contact_tree *tree = make_tree(ctx, &m);
    drape_contact_pairs *pairs = make_pairs(ctx);
    update(ctx, tree, &m);
    ASSERT_OK(ctx, drape_contact_tree_self(tree, DRAPE_CONTACT_BOXES, pairs));
    assert_true(drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE).count > m.vertices);
    ASSERT_OK(ctx, drape_contact_tree_self(tree, 0, pairs));
    assert_int_equal(drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE).count, 0);
    assert_int_equal(drape_contact_pairs_list(pairs, DRAPE_CONTACT_VERTEX_TRIANGLE).count, 0);
    drape_contact_pairs_destroy(pairs), drape_contact_tree_destroy(tree), clear_motion(&m);
    drape_context_destroy(ctx);
}

static int64_t count_pairs(drape_context *ctx, drape_contact_tree *tree, uint32_t options,
                           drape_contact_pairs *pairs) {
    ASSERT_OK(ctx, drape_contact_tree_self(tree, options, pairs));
    return drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE).count +
           drape_contact_pairs_list(pairs, DRAPE_CONTACT_VERTEX_TRIANGLE).count;
}

/* A sheet that flies three cells along itself sweeps over its own neighbours, but does not meet them. Its boxes meet
 * as few others as those of a sheet at rest, with a drift and without. Two sheets of which one flies through the
 * other do meet. */
static void a_sheet_that_flies_has_no_pairs(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    test_random r = {23};
    motion m = sheet(&r, 20, 0.02, 0), still;
    drape_contact_pairs *pairs = make_pairs(ctx);
    drape_contact_tree *tree = make_tree(ctx, &m);
    m.margin = 0.02 / 20;
    update(ctx, tree, &m);
    int64_t at_rest = count_pairs(ctx, tree, DRAPE_CONTACT_BOXES, pairs);
    for (int32_t i = 0; i < m.vertices; i++)
        for (int32_t k = 0; k < 3; k++) m.end[3 * i + k] += 3 * (m.start[3 * 21 + k] - m.start[k]);
    update(ctx, tree, &m);
    assert_true(count_pairs(ctx, tree, 0, pairs) > m.vertices);
    assert_int_equal(count_pairs(ctx, tree, DRAPE_CONTACT_TOGETHER, pairs), 0);
    int64_t flying = count_pairs(ctx, tree, DRAPE_CONTACT_BOXES | DRAPE_CONTACT_TOGETHER, pairs);
    assert_true(flying < 1.1 * (double)at_rest + 10);
    for (int32_t k = 0; k < 3; k++) m.drift[k] = m.end[k] - m.start[k];
    update(ctx, tree, &m);
    int64_t drifting = count_pairs(ctx, tree, DRAPE_CONTACT_BOXES | DRAPE_CONTACT_TOGETHER, pairs);
    assert_true(drifting < 1.1 * (double)at_rest + 10);
    assert_int_equal(count_pairs(ctx, tree, DRAPE_CONTACT_TOGETHER, pairs), 0);
    assert_refused(ctx, drape_contact_tree_self(tree, 0, pairs), DRAPE_ERROR_ARGUMENT, "DRAPE_CONTACT_TOGETHER");

    still = sheet(&r, 20, 0, 0);
    memcpy(still.start, m.end, 3 * (size_t)m.vertices * sizeof *m.end);
    memcpy(still.end, m.end, 3 * (size_t)m.vertices * sizeof *m.end);
    memcpy(still.drift, m.drift, sizeof m.drift);
    drape_contact_tree *other = make_tree(ctx, &still);
    update(ctx, other, &still);
    ASSERT_OK(ctx, drape_contact_tree_against(tree, other, DRAPE_CONTACT_TOGETHER, pairs));
    assert_true(drape_contact_pairs_list(pairs, DRAPE_CONTACT_VERTEX_TRIANGLE).count >= m.vertices);
    assert_true(drape_contact_pairs_list(pairs, DRAPE_CONTACT_TRIANGLE_VERTEX).count >= m.vertices);
    drape_contact_tree_destroy(tree), drape_contact_tree_destroy(other);
    drape_contact_pairs_destroy(pairs), clear_motion(&m), clear_motion(&still);
    drape_context_destroy(ctx);
}

/* One tree goes with a sheet that is rolled up step by step; the set of pairs is that of a tree built at the place.
 */
static void refitting_finds_the_same_as_building(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    test_random r = {17};
    enum { SIDE = 24 }; /* most of the time goes into sorting what was found */
    motion m = sheet(&r, SIDE, 0, 0);
    test_mesh mesh = test_mesh_grid(SIDE, SIDE, 1, 1);
    memcpy(m.triangle, mesh.triangle, 3 * (size_t)mesh.triangles * sizeof *m.triangle);
    drape_contact_tree *kept = make_tree(ctx, &m), *fresh = make_tree(ctx, &m);
    drape_contact_pairs *a = make_pairs(ctx), *b = make_pairs(ctx);
    m.margin = 0.4 / SIDE;
    for (int32_t step = 0; step <= 20; step++) {
        for (int32_t i = 0; i < m.vertices; i++) {
            double s = mesh.rest[3 * i], angle = 0.05 + s * step, *x = m.start + 3 * (int64_t)i;
            x[0] = step ? s * sin(angle) / (1 + step) * 5 : s;
            x[1] = mesh.rest[3 * i + 1];
            x[2] = step ? s * cos(angle) / (1 + step) * 5 : 0;
        }
        move_as_a_whole(&r, &m, 0.1 * (step % 3), 0.05 * (step % 4), 0.02 * step, 0.001);
        drape_contact_tree_forget(fresh);
        update(ctx, kept, &m), update(ctx, fresh, &m);
        for (int32_t k = 0; k < 4 * DRAPE_CONTACT_KINDS; k++) {
            uint32_t options = (uint32_t)(3 - k / DRAPE_CONTACT_KINDS); /* 0 comes last */
            if (k % DRAPE_CONTACT_KINDS == 0) ASSERT_OK(ctx, drape_contact_tree_self(kept, options, a));
            if (k % DRAPE_CONTACT_KINDS == 0) ASSERT_OK(ctx, drape_contact_tree_self(fresh, options, b));
            pair_set p = set_of(a, (drape_contact_kind)(k % DRAPE_CONTACT_KINDS), true);
            pair_set q = set_of(b, (drape_contact_kind)(k % DRAPE_CONTACT_KINDS), true);
            assert_same(&p, &q);
            free(p.pair), free(q.pair);
        }
    }
    drape_contact_tree_counts counts = drape_contact_tree_count(kept);
    assert_int_equal(counts.updates, 21);
    assert_true(counts.builds > 1 && counts.builds < 15); /* it noticed, and not every time */
    assert_int_equal(drape_contact_tree_count(fresh).builds, 21);
    drape_contact_pairs_destroy(a), drape_contact_pairs_destroy(b);
    drape_contact_tree_destroy(kept), drape_contact_tree_destroy(fresh);
    test_mesh_clear(&mesh), clear_motion(&m);
    drape_context_destroy(ctx);
}

/* The same bytes with any number of threads and any vectors; and again after forgetting. */
static void order_does_not_depend_on_threads_or_vectors(void **state) {
    (void)state;
    test_random r = {18};
    motion m = sheet(&r, 60, 1.5, 1);
    drape_contact_list first[DRAPE_CONTACT_KINDS] = {{0}};
    int32_t *copy[DRAPE_CONTACT_KINDS] = {NULL}; /* of the first run: vertices, then elements */
    m.margin = 0.002;
    for (int32_t run = 0; run < 5; run++) {
        static const drape_simd level[] = {DRAPE_SIMD_BEST, DRAPE_SIMD_BASELINE, DRAPE_SIMD_AVX2, DRAPE_SIMD_AVX512,
                                           DRAPE_SIMD_BEST};
        drape_context_settings settings = drape_context_defaults();
        drape_context *ctx;
        settings.threads = run % 3 + 1;
        settings.simd = level[run];
        if (drape_context_create(&settings, &ctx)) continue; /* a processor without */
        drape_contact_tree *tree = make_tree(ctx, &m);
        drape_contact_pairs *pairs = make_pairs(ctx);
        update(ctx, tree, &m);
        if (run == 4) { /* another order in between */
            motion other = sheet(&r, 60, 0, 0);
            update(ctx, tree, &other);
            clear_motion(&other);
            drape_contact_tree_forget(tree);
            update(ctx, tree, &m);
        }
        ASSERT_OK(ctx, drape_contact_tree_self(tree, 0, pairs));
        for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) {
            drape_contact_list list = drape_contact_pairs_list(pairs, (drape_contact_kind)k);
            size_t bytes = (size_t)list.count * sizeof *list.vertex;
            if (run == 0) {
                first[k] = list, copy[k] = memory(6 * list.count, sizeof *copy[k]);
                if (bytes) memcpy(copy[k], list.vertex, 4 * bytes);
                if (bytes) memcpy(copy[k] + 4 * list.count, list.element, 2 * bytes);
            }
            assert_int_equal(list.count, first[k].count);
            if (bytes) assert_memory_equal(list.vertex, copy[k], 4 * bytes);
            if (bytes) assert_memory_equal(list.element, copy[k] + 4 * list.count, 2 * bytes);
        }
        drape_contact_pairs_destroy(pairs), drape_contact_tree_destroy(tree), drape_context_destroy(ctx);
    }
    assert_true(first[DRAPE_CONTACT_EDGE_EDGE].count > 1000);
    for (int32_t k = 0; k < DRAPE_CONTACT_KINDS; k++) free(copy[k]);
    clear_motion(&m);
}

/* ---- Memory ---- */

typedef struct counter {
    int64_t calls, live, left; /* left: requests until one fails; negative: none does */
} counter;

static void *count_alloc(void *user, size_t bytes) {
    counter *c = user;
    c->calls++;
    if (c->left >= 0 && c->left-- == 0) return NULL;
    c->live++;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void count_free(void *user, void *block, size_t bytes) {
    (void)bytes;
    ((counter *)user)->live--;
    free(block);
}

static drape_context *count_context(counter *c) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = 1;
    settings.allocator = (drape_allocator){count_alloc, count_free, c};
    c->left = -1;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    return ctx;
}

/* More and more pairs, then fewer: memory grows with them, none is lost, and what was there once needs no more. */
static void lists_grow_and_a_warm_query_allocates_nothing(void **state) {
    (void)state;
    counter memory_calls = {0};
    drape_context *ctx = count_context(&memory_calls);
    test_random r = {19};
    motion m = sheet(&r, 30, 1, 0.5);
    drape_contact_tree *tree = make_tree(ctx, &m);
    drape_contact_pairs *pairs = make_pairs(ctx);
    for (int32_t round = 0; round < 2; round++)
        for (int32_t i = 0; i < 8; i++) {
            m.margin = 0.004 * i;
            int64_t before = memory_calls.calls;
            update(ctx, tree, &m);
            assert_int_equal(memory_calls.calls, before);
            ASSERT_OK(ctx, drape_contact_tree_self(tree, DRAPE_CONTACT_BOXES, pairs));
            int64_t count = drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE).count +
                            drape_contact_pairs_list(pairs, DRAPE_CONTACT_VERTEX_TRIANGLE).count;
            assert_true(count > 0 && count <= drape_contact_tree_count(tree).candidates);
            if (i > 0 && round == 0) assert_true(memory_calls.calls > before);
            before = memory_calls.calls;
            update(ctx, tree, &m);
            ASSERT_OK(ctx, drape_contact_tree_self(tree, DRAPE_CONTACT_BOXES, pairs));
            if (round == 1) assert_int_equal(memory_calls.calls, before);
        }
    drape_contact_pairs_destroy(pairs), drape_contact_tree_destroy(tree), clear_motion(&m);
    drape_context_destroy(ctx);
    assert_int_equal(memory_calls.live, 0);
}

static void every_request_for_memory_may_fail(void **state) {
    (void)state;
    test_random r = {20};
    motion m = sheet(&r, 8, 1, 0.5);
    m.margin = 0.02;
    drape_contact_motion v = view(&m);
    bool done = false;
    for (int32_t n = 0; !done; n++) {
        counter memory_calls = {0};
        drape_context *ctx = count_context(&memory_calls);
        drape_contact_tree *tree = NULL;
        drape_contact_pairs *pairs = NULL;
        memory_calls.left = n;
        drape_status status = drape_contact_tree_create(ctx, m.vertices, m.triangles, m.triangle, &tree);
        if (!status) status = drape_contact_pairs_create(ctx, &pairs);
        if (!status) status = drape_contact_tree_update(tree, &v);
        if (!status) status = drape_contact_tree_self(tree, 0, pairs);
        done = memory_calls.left >= 0; /* none failed */
        assert_int_equal(status, done ? DRAPE_OK : DRAPE_ERROR_MEMORY);
        if (pairs && !done) assert_int_equal(drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE).count, 0);
        memory_calls.left = -1;
        if (pairs && !done) { /* and it goes on afterwards */
            ASSERT_OK(ctx, drape_contact_tree_update(tree, &v));
            ASSERT_OK(ctx, drape_contact_tree_self(tree, 0, pairs));
        }
        if (pairs) assert_true(drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE).count > 0);
        drape_contact_pairs_destroy(pairs), drape_contact_tree_destroy(tree), drape_context_destroy(ctx);
        assert_int_equal(memory_calls.live, 0);
    }
    clear_motion(&m);
}

/* ---- Bad input ---- */

static void bad_input_is_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {21};
    motion m = confetti(&r, 20, 0.1, 0.1);
    drape_contact_tree *tree = NULL, *other = make_tree(ctx, &m);
    drape_contact_pairs *pairs = make_pairs(ctx);
    int32_t bad[] = {0, 1, 2, 1, 2, 3}, negative[] = {0, -1, 2};
    assert_refused(ctx, drape_contact_tree_create(ctx, 3, 2, bad, &tree), DRAPE_ERROR_ARGUMENT,
                   "triangle 1 has the vertex 3");
    assert_refused(ctx, drape_contact_tree_create(ctx, 3, 1, negative, &tree), DRAPE_ERROR_ARGUMENT, "vertex -1");
    assert_refused(ctx, drape_contact_tree_create(ctx, -1, 0, bad, &tree), DRAPE_ERROR_ARGUMENT, "-1 vertices");
    assert_refused(ctx, drape_contact_tree_create(ctx, 3, 1, NULL, &tree), DRAPE_ERROR_ARGUMENT, "NULL");
    assert_int_equal(drape_contact_tree_create(NULL, 3, 1, bad, &tree), DRAPE_ERROR_ARGUMENT);
    assert_null(tree);
    tree = make_tree(ctx, &m);
    assert_refused(ctx, drape_contact_tree_self(tree, 0, pairs), DRAPE_ERROR_ARGUMENT,
                   "drape_contact_tree_update first");
    for (int32_t at = 0; at < 2; at++) {
        double *x = &(at ? m.end : m.start)[3 * 7 + 1], kept = *x;
        drape_contact_motion v = view(&m);
        *x = at ? NAN : INFINITY;
        assert_refused(ctx, drape_contact_tree_update(tree, &v), DRAPE_ERROR_NUMBER, at ? "end" : "vertex 7");
        assert_refused(ctx, drape_contact_tree_self(tree, 0, pairs), DRAPE_ERROR_ARGUMENT, "update first");
        *x = kept;
    }
    drape_contact_motion v = view(&m);
    v.margin = -1;
    assert_refused(ctx, drape_contact_tree_update(tree, &v), DRAPE_ERROR_ARGUMENT, "margin of -1");
    v.margin = NAN;
    assert_refused(ctx, drape_contact_tree_update(tree, &v), DRAPE_ERROR_ARGUMENT, "margin");
    v = view(&m), v.origin[1] = INFINITY;
    assert_refused(ctx, drape_contact_tree_update(tree, &v), DRAPE_ERROR_ARGUMENT, "origin");
    v = view(&m), v.reserved[2] = 1;
    assert_refused(ctx, drape_contact_tree_update(tree, &v), DRAPE_ERROR_ARGUMENT, "drape_contact_motion");
    v = view(&m), v.end = NULL;
    assert_refused(ctx, drape_contact_tree_update(tree, &v), DRAPE_ERROR_ARGUMENT, "NULL");
    update(ctx, tree, &m);
    m.origin[0] = 1;
    update(ctx, other, &m);
    assert_refused(ctx, drape_contact_tree_against(tree, other, 0, pairs), DRAPE_ERROR_ARGUMENT, "origins");
    assert_refused(ctx, drape_contact_tree_against(tree, tree, 0, pairs), DRAPE_ERROR_ARGUMENT,
                   "drape_contact_tree_self");
    assert_refused(ctx, drape_contact_tree_self(tree, 6, pairs), DRAPE_ERROR_ARGUMENT, "0x6");
    assert_refused(ctx, drape_contact_tree_self(tree, 0, NULL), DRAPE_ERROR_ARGUMENT, "NULL");
    assert_refused(ctx, drape_contact_tree_set_first_vertex(tree, -1), DRAPE_ERROR_ARGUMENT, "first vertex -1");
    assert_refused(ctx, drape_contact_tree_set_first_vertex(tree, INT32_MAX), DRAPE_ERROR_ARGUMENT, "first vertex");
    assert_int_equal(drape_contact_tree_self(NULL, 0, pairs), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_contact_tree_against(NULL, tree, 0, pairs), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_contact_tree_update(NULL, &v), DRAPE_ERROR_ARGUMENT);
    assert_null(drape_contact_pairs_list(pairs, (drape_contact_kind)3).vertex);
    assert_int_equal(drape_contact_tree_edges(NULL, NULL), 0);
    drape_contact_tree_destroy(tree), drape_contact_tree_destroy(other), drape_contact_tree_destroy(NULL);
    drape_contact_pairs_destroy(pairs), drape_contact_pairs_destroy(NULL);
    clear_motion(&m);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_search_through_all_pairs_finds),
        cmocka_unit_test(finds_them_in_fast_common_motion),
        cmocka_unit_test(finds_them_between_two_meshes),
        cmocka_unit_test(vertices_are_numbered_from_the_first),
        cmocka_unit_test(takes_meshes_without_area_and_without_triangles),
        cmocka_unit_test(takes_coordinates_of_any_size),
        cmocka_unit_test(origin_keeps_boxes_tight),
        cmocka_unit_test(neighbours_in_a_smooth_sheet_are_no_pairs),
        cmocka_unit_test(a_sheet_that_flies_has_no_pairs),
        cmocka_unit_test(refitting_finds_the_same_as_building),
        cmocka_unit_test(order_does_not_depend_on_threads_or_vectors),
        cmocka_unit_test(lists_grow_and_a_warm_query_allocates_nothing),
        cmocka_unit_test(every_request_for_memory_may_fail),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
