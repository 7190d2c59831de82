/* Crossings of edges and triangles, against whole numbers and every pair, and in cases with known counts. */
#include "drape/crossings.h"
#include "support/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* ---- What is right: small whole numbers, by clipping ---- */

typedef struct point {
    int64_t x[3];
} point;

static point minus(point a, point b) { return (point){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}}; }
static int64_t dot(point a, point b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static point cross(point a, point b) {
    return (point){
        {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static bool zero(point a) { return a.x[0] == 0 && a.x[1] == 0 && a.x[2] == 0; }

/* The s in [0, 1] for which a point of a segment fulfils linear conditions: from low[0]/low[1] to high[0]/high[1],
 * denominators above 0. */
typedef struct interval {
    wide low[2], high[2];
    bool none;   /* a condition holds nowhere */
    bool strict; /* conditions hold strictly within, too */
} interval;

static const interval all = {{0, 1}, {1, 1}, false, true};

static bool empty(const interval *i) { return i->none || i->low[0] * i->high[1] > i->high[0] * i->low[1]; }
static bool single(const interval *i) { return i->low[0] * i->high[1] == i->high[0] * i->low[1]; }

/* a + (b - a) s >= 0 */
static void clip(interval *i, wide a, wide b) {
    wide slope = b - a;
    if (slope == 0) {
        if (a < 0) i->none = true;
        if (a <= 0) i->strict = false;
    } else if (slope > 0) { /* s >= -a / slope */
        if (-a * i->low[1] > i->low[0] * slope) i->low[0] = -a, i->low[1] = slope;
    } else if (a * i->high[1] < i->high[0] * -slope) { /* s <= a / -slope */
        i->high[0] = a, i->high[1] = -slope;
    }
}

static void clip_zero(interval *i, wide a, wide b) {
    clip(i, a, b);
    clip(i, -a, -b);
}

typedef enum meeting { APART, TOUCH, CROSS } meeting;

/* Where segment pq is in a triangle without area. */
static interval clip_flat(point p, point q, const point t[3]) {
    interval i = all;
    point along = {{0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        point side = minus(t[(k + 1) % 3], t[k]);
        if (dot(side, side) > dot(along, along)) along = side;
    }
    int64_t low = dot(t[0], along), high = low;
    for (int k = 1; k < 3; k++) {
        int64_t d = dot(t[k], along);
        if (d < low) low = d;
        if (d > high) high = d;
    }
    point fromp = minus(p, t[0]), fromq = minus(q, t[0]);
    point a = zero(along) ? fromp : cross(fromp, along), b = zero(along) ? fromq : cross(fromq, along);
    for (int k = 0; k < 3; k++) clip_zero(&i, a.x[k], b.x[k]);
    clip(&i, dot(p, along) - low, dot(q, along) - low);
    clip(&i, high - dot(p, along), high - dot(q, along));
    return i;
}

/* shared_p, shared_q: that end is a vertex of the triangle. */
static meeting right_meeting(point p, point q, const point t[3], bool shared_p, bool shared_q) {
    point n = cross(minus(t[1], t[0]), minus(t[2], t[0]));
    interval i = all;
    bool transversal = false, on_rim = false;
    if (shared_p && shared_q) return APART;
    if (zero(n)) {
        i = clip_flat(p, q, t);
    } else {
        int64_t a = dot(n, minus(p, t[0])), b = dot(n, minus(q, t[0]));
        transversal = (a < 0 && b > 0) || (a > 0 && b < 0);
        clip_zero(&i, a, b);
        for (int k = 0; k < 3; k++) {
            point inward = cross(n, minus(t[(k + 1) % 3], t[k]));
            clip(&i, dot(inward, minus(p, t[k])), dot(inward, minus(q, t[k])));
        }
        if (transversal && !empty(&i))
            for (int k = 0; k < 3; k++) {
                point inward = cross(n, minus(t[(k + 1) % 3], t[k]));
                wide at_p = dot(inward, minus(p, t[k])), at_q = dot(inward, minus(q, t[k]));
                on_rim |= at_p * i.low[1] + (at_q - at_p) * i.low[0] == 0;
            }
    }
    if (empty(&i)) return APART;
    if (transversal) return on_rim ? TOUCH : CROSS;
    if ((shared_p || shared_q) && zero(minus(p, q))) return APART;
    if (shared_p) return i.high[0] > 0 ? TOUCH : APART;
    if (shared_q) return i.low[0] < i.low[1] ? TOUCH : APART;
    return TOUCH;
}

/* Interior points in common, of triangles that are not in one plane: what the plane of b cuts out of a, clipped. */
static bool right_interiors(const point a[3], const point b[3]) {
    point n = cross(minus(b[1], b[0]), minus(b[2], b[0])), m = cross(minus(a[1], a[0]), minus(a[2], a[0]));
    wide end[2][4]; /* the cut's ends, in homogeneous coordinates */
    int ends = 0;
    int64_t d[3];
    if (zero(n) || zero(m)) return false;
    for (int k = 0; k < 3; k++) d[k] = dot(n, minus(a[k], b[0]));
    if (!((d[0] > 0 || d[1] > 0 || d[2] > 0) && (d[0] < 0 || d[1] < 0 || d[2] < 0))) return false;
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3;
        if (d[k] == 0) {
            for (int c = 0; c < 3; c++) end[ends][c] = a[k].x[c];
            end[ends++][3] = 1;
        } else if ((d[k] < 0) != (d[l] < 0) && d[l] != 0) {
            int64_t sign = d[l] > d[k] ? 1 : -1;
            for (int c = 0; c < 3; c++) end[ends][c] = sign * (a[k].x[c] * d[l] - a[l].x[c] * d[k]);
            end[ends++][3] = sign * (d[l] - d[k]);
        }
    }
    assert_int_equal(ends, 2);
    interval i = all;
    for (int k = 0; k < 3; k++) {
        point inward = cross(n, minus(b[(k + 1) % 3], b[k]));
        wide at[2];
        for (int e = 0; e < 2; e++) {
            at[e] = 0;
            for (int c = 0; c < 3; c++) at[e] += inward.x[c] * (end[e][c] - b[k].x[c] * end[e][3]);
        }
        clip(&i, at[0] * end[1][3], at[1] * end[0][3]); /* both times the product of the positive last coordinates */
    }
    return i.strict && !empty(&i) && !single(&i);
}

/* ---- Meshes of whole numbers ---- */

enum { MOST = 64 };

typedef struct small_mesh {
    int32_t vertices, triangles;
    point at[MOST];
    double x[3 * MOST];
    int32_t triangle[MOST][3];
} small_mesh;

/* Coordinates in [0, size); few vertices, so that triangles share many. */
static small_mesh random_mesh(test_random *r, int32_t vertices, int32_t triangles, int32_t size) {
    small_mesh m = {.vertices = vertices, .triangles = triangles};
    for (int32_t i = 0; i < vertices; i++)
        for (int k = 0; k < 3; k++) m.x[3 * i + k] = (double)(m.at[i].x[k] = test_random_below(r, size));
    for (int32_t t = 0; t < triangles; t++) {
        int32_t *c = m.triangle[t];
        do
            for (int k = 0; k < 3; k++) c[k] = test_random_below(r, vertices);
        while (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]);
    }
    return m;
}

static void corners(const small_mesh *m, int32_t t, point out[3]) {
    for (int k = 0; k < 3; k++) out[k] = m->at[m->triangle[t][k]];
}

static bool has(const int32_t triangle[3], int32_t vertex) {
    return triangle[0] == vertex || triangle[1] == vertex || triangle[2] == vertex;
}

/* The first triangle that has this edge. */
static int32_t owner(const small_mesh *m, int32_t p, int32_t q) {
    int32_t t = 0;
    while (!has(m->triangle[t], p) || !has(m->triangle[t], q)) t++;
    return t;
}

typedef struct found_list {
    int64_t count;
    drape_crossing *crossing;
} found_list;

static void append(found_list *l, drape_crossing c) {
    l->crossing = realloc(l->crossing, (size_t)(l->count + 1) * sizeof c);
    assert_non_null(l->crossing);
    l->crossing[l->count++] = c;
}

static meeting edge_meets(const small_mesh *of, int32_t p, int32_t q, const small_mesh *m, int32_t t) {
    point c[3];
    corners(m, t, c);
    bool same = of == m;
    return right_meeting(of->at[p], of->at[q], c, same && has(m->triangle[t], p), same && has(m->triangle[t], q));
}

/* All edges of one against all triangles of the other, which may be the same. */
static void find_edges(found_list *l, const small_mesh *of, int32_t of_body, const small_mesh *m, int32_t m_body) {
    for (int32_t p = 0; p < of->vertices; p++)
        for (int32_t q = p + 1; q < of->vertices; q++) {
            bool edge = false;
            for (int32_t t = 0; t < of->triangles; t++) edge |= has(of->triangle[t], p) && has(of->triangle[t], q);
            for (int32_t t = 0; edge && t < m->triangles; t++) {
                meeting how = edge_meets(of, p, q, m, t);
                if (how != APART)
                    append(l, (drape_crossing){how == CROSS ? DRAPE_CROSSING_EDGE : DRAPE_CROSSING_TOUCH,
                                               {of_body, m_body},
                                               {p, q},
                                               {owner(of, p, q), t}});
            }
        }
}

static bool any_edge_crosses(const small_mesh *of, int32_t t, const small_mesh *m, int32_t u) {
    for (int k = 0; k < 3; k++)
        if (edge_meets(of, of->triangle[t][k], of->triangle[t][(k + 1) % 3], m, u) == CROSS) return true;
    return false;
}

static void find_triangles(found_list *l, const small_mesh *a, const small_mesh *b, int32_t b_body) {
    for (int32_t t = 0; t < a->triangles; t++)
        for (int32_t u = a == b ? t + 1 : 0; u < b->triangles; u++) {
            point p[3], q[3];
            corners(a, t, p), corners(b, u, q);
            if (right_interiors(p, q) || any_edge_crosses(a, t, b, u) || any_edge_crosses(b, u, a, t))
                append(l, (drape_crossing){DRAPE_CROSSING_TRIANGLES, {0, b_body}, {-1, -1}, {t, u}});
        }
}

static int by_place(const void *p, const void *q) {
    const drape_crossing *a = p, *b = q;
    const int32_t left[] = {(int32_t)a->kind, a->body[0], a->body[1],    a->triangle[0],
                            a->edge[0],       a->edge[1], a->triangle[1]};
    const int32_t right[] = {(int32_t)b->kind, b->body[0], b->body[1],    b->triangle[0],
                             b->edge[0],       b->edge[1], b->triangle[1]};
    for (int i = 0; i < 7; i++)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

static drape_crossings_mesh view(const small_mesh *m) {
    return (drape_crossings_mesh){.vertices = m->vertices, .triangles = m->triangles, .triangle = m->triangle[0]};
}

/* Both ways to find what crosses give the same list. Returns it in `kinds`, how many there are of each kind. */
static void compare(drape_context *ctx, const small_mesh *cloth, const small_mesh *other, int64_t kinds[3]) {
    found_list want = {0};
    const drape_crossings_mesh others = other ? view(other) : (drape_crossings_mesh){0};
    const drape_crossings_bodies bodies = {.cloth = view(cloth), .others = &others, .other_count = other ? 1 : 0};
    const double *other_x = other ? other->x : NULL;
    drape_crossings *search;
    drape_crossings_result got;
    find_edges(&want, cloth, 0, cloth, 0);
    find_triangles(&want, cloth, cloth, 0);
    if (other) {
        find_edges(&want, cloth, 0, other, 1);
        find_edges(&want, other, 1, cloth, 0);
        find_triangles(&want, cloth, other, 1);
    }
    if (want.count) qsort(want.crossing, (size_t)want.count, sizeof *want.crossing, by_place);
    ASSERT_OK(ctx, drape_crossings_create(ctx, &bodies, &search));
    ASSERT_OK(ctx, drape_crossings_count(search, cloth->x, &other_x, &got));
    for (int64_t i = 0; i < got.count || i < want.count; i++) {
        if (i < got.count && i < want.count && by_place(got.crossings + i, want.crossing + i) == 0) continue;
        const drape_crossing *c = i < got.count ? got.crossings + i : want.crossing + i;
        fail_msg("item %d of %d, %d wanted: %s, bodies %d %d, edge %d %d, triangles %d %d", (int)i, (int)got.count,
                 (int)want.count, drape_crossing_kind_name(c->kind), c->body[0], c->body[1], c->edge[0], c->edge[1],
                 c->triangle[0], c->triangle[1]);
    }
    assert_int_equal(got.count, got.self.edges + got.self.triangles + got.self.touches + got.others.edges +
                                    got.others.triangles + got.others.touches);
    for (int64_t i = 0; i < want.count; i++) kinds[want.crossing[i].kind]++;
    drape_crossings_destroy(search);
    free(want.crossing);
}

/* ---- Random ones; small sizes make them touch, lie in planes and lines, and lack area ---- */

static void random_meshes(void **state) {
    drape_context *ctx = *state;
    static const int32_t sizes[] = {1, 2, 3, 4, 6, 10, 30};
    test_random r = {1};
    for (int s = 0; s < 7; s++) {
        int64_t kinds[3] = {0};
        for (int n = 0; n < 300; n++) {
            small_mesh cloth =
                random_mesh(&r, 3 + test_random_below(&r, 15), 1 + test_random_below(&r, 20), sizes[s]);
            small_mesh other = random_mesh(&r, 3 + test_random_below(&r, 6), 1 + test_random_below(&r, 8), sizes[s]);
            compare(ctx, &cloth, n % 2 ? &other : NULL, kinds);
        }
        for (int k = 0; k < 3 && sizes[s] > 2; k++) assert_true(kinds[k] > 20); /* all kinds were there */
        if (sizes[s] == 1) assert_int_equal(kinds[0] + kinds[1], 0);
    }
}

/* All in a plane, oblique or not, or on a line: nothing crosses, much touches. */
static void coplanar_meshes(void **state) {
    drape_context *ctx = *state;
    test_random r = {2};
    int64_t kinds[3] = {0};
    for (int n = 0; n < 500; n++) {
        small_mesh m = random_mesh(&r, 3 + test_random_below(&r, 12), 1 + test_random_below(&r, 12), 5);
        for (int32_t i = 0; i < m.vertices; i++) {
            int64_t *x = m.at[i].x;
            if (n % 4 == 0) x[2] = 2;
            else if (n % 4 == 1) x[2] = 3 * x[0] - 2 * x[1];
            else if (n % 4 == 2) x[1] = x[0], x[2] = -2 * x[0];
            else x[0] = 1;
            for (int k = 0; k < 3; k++) m.x[3 * i + k] = (double)x[k];
        }
        compare(ctx, &m, NULL, kinds);
    }
    assert_int_equal(kinds[DRAPE_CROSSING_EDGE] + kinds[DRAPE_CROSSING_TRIANGLES], 0);
    assert_true(kinds[DRAPE_CROSSING_TOUCH] > 10000);
}

/* ---- Any doubles: how a mesh is numbered and placed does not matter ---- */

static void shuffle(test_random *r, int32_t count, int32_t *order) {
    for (int32_t i = 0; i < count; i++) order[i] = i;
    for (int32_t i = count - 1; i > 0; i--) {
        int32_t j = test_random_below(r, i + 1), kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
}

/* The same mesh with renumbered vertices and triangles, corners in another order, axes exchanged or mirrored, and
 * scaled by a power of two. All of these keep exact signs, up to a common one. */
static small_mesh renumber(test_random *r, const small_mesh *m) {
    small_mesh out = *m;
    int32_t vertex[MOST], triangle[MOST], axis[3];
    shuffle(r, m->vertices, vertex), shuffle(r, m->triangles, triangle), shuffle(r, 3, axis);
    double scale = ldexp(test_random_below(r, 2) ? 1 : -1, test_random_below(r, 400) - 200);
    for (int32_t i = 0; i < m->vertices; i++)
        for (int k = 0; k < 3; k++) out.x[3 * vertex[i] + axis[k]] = scale * m->x[3 * i + k];
    for (int32_t t = 0; t < m->triangles; t++) {
        int32_t corner[3];
        shuffle(r, 3, corner);
        for (int k = 0; k < 3; k++) out.triangle[triangle[t]][corner[k]] = vertex[m->triangle[t][k]];
    }
    return out;
}

/* Thirds, so that nothing is exact, and vertices on planes and lines of others as well as rounding allows. */
static small_mesh awkward_mesh(test_random *r) {
    small_mesh m = random_mesh(r, 6 + test_random_below(r, 30), 4 + test_random_below(r, 30), 7);
    for (int32_t i = 0; i < 3 * m.vertices; i++) m.x[i] /= 3;
    for (int32_t i = 3; i < m.vertices; i++) {
        const double *a = m.x + 3 * test_random_below(r, i), *b = m.x + 3 * test_random_below(r, i),
                     *c = m.x + 3 * test_random_below(r, i);
        double s = test_random_unit(r), t = test_random_below(r, 2) ? test_random_unit(r) : 0;
        if (test_random_below(r, 2)) continue;
        for (int k = 0; k < 3; k++) m.x[3 * i + k] = a[k] + s * (b[k] - a[k]) + t * (c[k] - a[k]);
    }
    return m;
}

static drape_crossings_result count_mesh(drape_context *ctx, const small_mesh *m) {
    drape_crossings *search;
    drape_crossings_result got;
    ASSERT_OK(ctx, drape_crossings_create(ctx, &(drape_crossings_bodies){.cloth = view(m)}, &search));
    ASSERT_OK(ctx, drape_crossings_count(search, m->x, NULL, &got));
    drape_crossings_destroy(search);
    return got;
}

static void numbers_and_places_do_not_matter(void **state) {
    drape_context *ctx = *state;
    test_random r = {3};
    int64_t edges = 0, touches = 0;
    for (int n = 0; n < 1000; n++) {
        small_mesh m = awkward_mesh(&r);
        drape_crossings_result want = count_mesh(ctx, &m);
        edges += want.self.edges, touches += want.self.touches;
        for (int again = 0; again < 4; again++) {
            small_mesh other = renumber(&r, &m);
            drape_crossings_result got = count_mesh(ctx, &other);
            assert_memory_equal(&got.self, &want.self, sizeof got.self);
        }
    }
    assert_true(edges > 10000 && touches > 10000);
}

/* ---- Sheets ---- */

/* nx by ny squares on (i, j), two triangles each; the caller places the vertices. */
typedef struct sheet {
    int32_t nx, ny, vertices, triangles;
    double *x;
    int32_t *triangle;
} sheet;

static sheet make_sheet(int32_t nx, int32_t ny) {
    sheet s = {.nx = nx, .ny = ny, .vertices = (nx + 1) * (ny + 1), .triangles = 2 * nx * ny};
    s.x = calloc((size_t)s.vertices, 3 * sizeof *s.x);
    s.triangle = calloc((size_t)s.triangles, 3 * sizeof *s.triangle);
    assert_true(s.x && s.triangle);
    int32_t *t = s.triangle;
    for (int32_t j = 0; j < ny; j++)
        for (int32_t i = 0; i < nx; i++) {
            int32_t a = j * (nx + 1) + i, b = a + 1, c = a + nx + 1, d = c + 1;
            const int32_t both[6] = {a, b, d, a, d, c};
            memcpy(t, both, sizeof both), t += 6;
        }
    return s;
}

static void free_sheet(sheet *s) { free(s->x), free(s->triangle); }

static drape_crossings_mesh sheet_mesh(const sheet *s) {
    return (drape_crossings_mesh){.vertices = s->vertices, .triangles = s->triangles, .triangle = s->triangle};
}

static drape_crossings_result count_sheets(drape_context *ctx, const sheet *cloth, const sheet *other) {
    drape_crossings *search;
    drape_crossings_result got;
    const drape_crossings_mesh others = other ? sheet_mesh(other) : (drape_crossings_mesh){0};
    const double *other_x = other ? other->x : NULL;
    ASSERT_OK(ctx,
              drape_crossings_create(ctx,
                                     &(drape_crossings_bodies){
                                         .cloth = sheet_mesh(cloth), .others = &others, .other_count = other ? 1 : 0},
                                     &search));
    ASSERT_OK(ctx, drape_crossings_count(search, cloth->x, &other_x, &got));
    drape_crossings_destroy(search);
    got.crossings = NULL; /* gone with the search */
    return got;
}

static void place(sheet *s, int32_t vertex, double x, double y, double z) {
    s->x[3 * vertex] = x, s->x[3 * vertex + 1] = y, s->x[3 * vertex + 2] = z;
}

/* A sheet of n x n unit squares in the plane z = 0, and one across it that is 2 squares high. Its middle row of
 * vertices can lie in that plane or off it. */
static void cross_sheets(sheet *flat, sheet *upright, int32_t n, double start, double y, double height) {
    *flat = make_sheet(n, n);
    *upright = make_sheet(n, 1);
    for (int32_t v = 0; v < flat->vertices; v++) place(flat, v, v % (n + 1), v / (n + 1), 0);
    for (int32_t v = 0; v < upright->vertices; v++) {
        int32_t i = v % (n + 1), row = v / (n + 1);
        place(upright, v, start + i, y, row ? height : height - 1);
    }
}

/* A sheet that cuts another one along a line y = const. Each of its n + 1 upright edges and n diagonals crosses one
 * triangle. Of the flat one, n + 1 edges along y and n diagonals cross it. */
static void sheets_through_each_other(void **state) {
    drape_context *ctx = *state;
    sheet flat, upright;
    enum { N = 7 };
    cross_sheets(&flat, &upright, N, 0.0625, 2.25, 0.5);
    /* Of the upright sheet all edges but the last, at x = n + 1/16, pass through the flat one; the diagonals do, at
     * x = i + 1/2 + 1/16. Of the flat one the edges at x = 1..n pass through it, and diagonals at x = i + 1/4. */
    drape_crossings_result got = count_sheets(ctx, &flat, &upright);
    assert_int_equal(got.others.edges, N + N + N + N);
    assert_int_equal(got.others.touches, 0);
    assert_int_equal(got.self.edges + got.self.triangles + got.self.touches, 0);
    /* At each of these points the line of intersection passes from one triangle to another. There are as many pairs
     * of triangles as pieces between the points, one fewer than points. */
    assert_int_equal(got.others.triangles, 4 * N - 1);
    free_sheet(&upright);
    /* The same by the cloth's own triangles: one mesh of both. */
    sheet both = make_sheet(N, 1), again;
    cross_sheets(&again, &upright, N, 0.0625, 2.25, 0.5);
    both.x = realloc(both.x, 3 * sizeof(double) * (size_t)(both.vertices + flat.vertices));
    both.triangle = realloc(both.triangle, 3 * sizeof(int32_t) * (size_t)(both.triangles + flat.triangles));
    assert_true(both.x && both.triangle);
    memcpy(both.x, upright.x, 3 * sizeof(double) * (size_t)upright.vertices);
    memcpy(both.x + 3 * both.vertices, flat.x, 3 * sizeof(double) * (size_t)flat.vertices);
    for (int32_t i = 0; i < 3 * flat.triangles; i++)
        both.triangle[3 * both.triangles + i] = both.vertices + flat.triangle[i];
    both.vertices += flat.vertices, both.triangles += flat.triangles;
    drape_crossings_result self = count_sheets(ctx, &both, NULL);
    assert_int_equal(self.self.edges, 4 * N);
    assert_int_equal(self.self.triangles, 4 * N - 1);
    assert_int_equal(self.self.touches, 0);
    free_sheet(&both), free_sheet(&flat), free_sheet(&upright), free_sheet(&again);
}

/* Edges exactly through edges: no edge crosses the inside of a triangle, but the triangles do. */
static void sheets_through_each_others_edges(void **state) {
    drape_context *ctx = *state;
    sheet flat, upright;
    cross_sheets(&flat, &upright, 4, 0, 2, 0.5);
    drape_crossings_result got = count_sheets(ctx, &flat, &upright);
    assert_int_equal(got.others.edges, 0); /* the cut lies on edges of the flat one */
    assert_int_equal(got.others.triangles, 0);
    assert_true(got.others.touches > 0);
    free_sheet(&flat), free_sheet(&upright);
    cross_sheets(&flat, &upright, 4, 0.5, 2.5, 0.5); /* upright edges meet the diagonals, diagonals the edges */
    got = count_sheets(ctx, &flat, &upright);
    assert_int_equal(got.others.edges, 0);
    assert_int_equal(got.others.triangles, 7); /* along the line y = 2.5 from x = 0.5 to 4, half a square each */
    assert_true(got.others.touches > 0);
    free_sheet(&flat), free_sheet(&upright);
}

/* A sheet that stands on another, and one just above it. */
static void touching_sheets(void **state) {
    drape_context *ctx = *state;
    sheet flat, upright;
    cross_sheets(&flat, &upright, 5, 0.0625, 2.25, 1); /* its lower vertices, 6 of them, 5 above the flat one */
    drape_crossings_result got = count_sheets(ctx, &flat, &upright);
    assert_int_equal(got.others.edges + got.others.triangles, 0);
    assert_true(got.others.touches > 5);
    free_sheet(&flat), free_sheet(&upright);
    cross_sheets(&flat, &upright, 5, 0.0625, 2.25, 1 + 0x1p-50);
    got = count_sheets(ctx, &flat, &upright);
    assert_int_equal(got.count, 0);
    free_sheet(&flat), free_sheet(&upright);
}

/* A sheet folded along its middle: open, shut so that its halves coincide, and shut too far. */
static void folded_sheets(void **state) {
    drape_context *ctx = *state;
    enum { N = 8 };
    const double lift[3] = {0.25, 0, -0.25};
    for (int c = 0; c < 3; c++) {
        sheet s = make_sheet(N, N);
        for (int32_t v = 0; v < s.vertices; v++) {
            int32_t i = v % (N + 1), j = v / (N + 1);
            bool folded = i > N / 2; /* comes back over the other half, lifted towards its end, or through it */
            double back = N - i, up = !folded ? 0 : lift[c] * (i - N / 2) + (c == 2 ? 0.375 : 0);
            place(&s, v, folded ? back + (c == 2 ? 0.0625 : 0) : i, j + (folded && c == 2 ? 0.03125 : 0), up);
        }
        drape_crossings_result got = count_sheets(ctx, &s, NULL);
        if (c < 2) assert_int_equal(got.self.edges + got.self.triangles, 0);
        if (c == 0) assert_int_equal(got.self.touches, 0);
        if (c == 1) assert_true(got.self.touches > N * N);
        if (c == 2) assert_true(got.self.edges >= 2 * N && got.self.triangles >= 2 * N);
        free_sheet(&s);
    }
}

/* A flat sheet in an oblique plane, rounded, and one that is crumpled a little: neighbours do not count. */
static void neighbours_do_not_count(void **state) {
    drape_context *ctx = *state;
    test_random r = {4};
    for (int n = 0; n < 20; n++) {
        sheet s = make_sheet(20, 20);
        for (int32_t v = 0; v < s.vertices; v++) {
            double u = v % 21 * 0.05 - 0.5, w = v / 21 * 0.05 - 0.5, z = n < 10 ? 0 : test_random_unit(&r) * 0.02;
            double cosine = cos(n + 1.0), sine = sin(n + 1.0);
            place(&s, v, cosine * u - sine * z, w * cosine - sine * (sine * u + cosine * z),
                  w * sine + cosine * (sine * u + cosine * z));
        }
        drape_crossings_result got = count_sheets(ctx, &s, NULL);
        assert_int_equal(got.count, 0);
        free_sheet(&s);
    }
}

/* ---- Large ones ---- */

/* A crumpled heap: the list is the same for all numbers of threads, and when counted again. */
static void threads_do_not_matter(void **state) {
    (void)state;
    sheet s = make_sheet(24, 24), ball = make_sheet(9, 9);
    test_random r = {5};
    drape_crossing *kept = NULL;
    drape_crossings_result first = {0};
    for (int64_t i = 0; i < 3 * (int64_t)s.vertices; i++) s.x[i] = test_random_unit(&r);
    for (int64_t i = 0; i < 3 * (int64_t)ball.vertices; i++) ball.x[i] = test_random_unit(&r);
    const drape_crossings_mesh other = sheet_mesh(&ball);
    const double *other_x = ball.x;
    for (int32_t threads = 1; threads <= 7; threads += 3) {
        drape_context *ctx = test_context(threads);
        int64_t before = drape_context_bytes(ctx);
        drape_crossings *search;
        drape_crossings_result got;
        ASSERT_OK(ctx,
                  drape_crossings_create(
                      ctx, &(drape_crossings_bodies){.cloth = sheet_mesh(&s), .others = &other, .other_count = 1},
                      &search));
        for (int again = 0; again < 2; again++) {
            ASSERT_OK(ctx, drape_crossings_count(search, s.x, &other_x, &got));
            if (!kept) {
                first = got;
                kept = malloc((size_t)got.count * sizeof *kept);
                assert_non_null(kept);
                memcpy(kept, got.crossings, (size_t)got.count * sizeof *kept);
                assert_true(got.self.edges > 10000 && got.others.edges > 1000);
            }
            assert_int_equal(got.count, first.count);
            assert_memory_equal(got.crossings, kept, (size_t)got.count * sizeof *kept);
        }
        drape_crossings_destroy(search);
        assert_int_equal(drape_context_bytes(ctx), before);
        drape_context_destroy(ctx);
    }
    free(kept), free_sheet(&s), free_sheet(&ball);
}

/* ---- Bad input ---- */

static void bad_arguments(void **state) {
    drape_context *ctx = *state;
    const int32_t triangle[3] = {0, 1, 3};
    const double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    drape_crossings_bodies bodies = {.cloth = {.vertices = 3, .triangles = 1, .triangle = triangle}};
    drape_crossings *search = (drape_crossings *)&bodies;
    drape_crossings_result got;
    assert_int_equal(drape_crossings_create(ctx, NULL, &search), DRAPE_ERROR_ARGUMENT);
    assert_null(search);
    assert_int_equal(drape_crossings_create(ctx, &bodies, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_crossings_create(NULL, &bodies, &search), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_crossings_create(ctx, &bodies, &search), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "triangle 0 has vertex 3, but there are 3 vertices"));
    bodies.cloth.vertices = 4;
    bodies.other_count = 1;
    assert_int_equal(drape_crossings_create(ctx, &bodies, &search), DRAPE_ERROR_ARGUMENT);
    bodies.other_count = -1;
    assert_int_equal(drape_crossings_create(ctx, &bodies, &search), DRAPE_ERROR_ARGUMENT);
    bodies.other_count = 0;
    bodies.reserved[2] = 1;
    assert_int_equal(drape_crossings_create(ctx, &bodies, &search), DRAPE_ERROR_ARGUMENT);
    bodies.reserved[2] = 0;
    ASSERT_OK(ctx, drape_crossings_create(ctx, &bodies, &search));
    assert_int_equal(drape_crossings_count(search, NULL, NULL, &got), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_crossings_count(NULL, x, NULL, &got), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_crossings_count(search, x, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    drape_crossings_destroy(search);
    drape_crossings_destroy(NULL);
    assert_null(drape_crossing_kind_name((drape_crossing_kind)3));
    assert_null(drape_crossing_kind_name((drape_crossing_kind)-1));
}

static void bad_numbers(void **state) {
    drape_context *ctx = *state;
    sheet s = make_sheet(2, 2), other = make_sheet(1, 1);
    const drape_crossings_mesh others = sheet_mesh(&other);
    const double *other_x = other.x, bad[] = {NAN, INFINITY, -INFINITY, 1e91, -1e300};
    drape_crossings *search;
    drape_crossings_result got;
    for (int32_t v = 0; v < s.vertices; v++) place(&s, v, v % 3, v / 3, 0);
    for (int32_t v = 0; v < other.vertices; v++) place(&other, v, 0.25 + v % 2, 0.5, v / 2 - 0.5);
    ASSERT_OK(ctx, drape_crossings_create(
                       ctx, &(drape_crossings_bodies){.cloth = sheet_mesh(&s), .others = &others, .other_count = 1},
                       &search));
    for (int i = 0; i < 5; i++) {
        double kept = s.x[13];
        s.x[13] = bad[i];
        assert_int_equal(drape_crossings_count(search, s.x, &other_x, &got), DRAPE_ERROR_NUMBER);
        assert_non_null(strstr(drape_message(ctx),
                               i < 3 ? "vertex 4 is not finite: its y is" : "vertex 4 is too far away: its y is"));
        s.x[13] = kept;
        kept = other.x[11];
        other.x[11] = bad[i];
        assert_int_equal(drape_crossings_count(search, s.x, &other_x, &got), DRAPE_ERROR_NUMBER);
        assert_non_null(strstr(drape_message(ctx), "vertex 3 of body 1 is"));
        other.x[11] = kept;
    }
    ASSERT_OK(ctx, drape_crossings_count(search, s.x, &other_x, &got));
    assert_true(got.others.edges > 0);
    /* Numbers that would underflow on the way count as zero. */
    drape_crossings_result plain = got;
    for (int32_t v = 0; v < s.vertices; v++) s.x[3 * v + 2] = v % 2 ? 5e-324 : -1e-80;
    ASSERT_OK(ctx, drape_crossings_count(search, s.x, &other_x, &got));
    assert_memory_equal(&got.others, &plain.others, sizeof got.others);
    assert_int_equal(got.self.touches, 0);
    drape_crossings_destroy(search);
    free_sheet(&s), free_sheet(&other);
}

static void nothing_at_all(void **state) {
    drape_context *ctx = *state;
    drape_crossings *search;
    drape_crossings_result got;
    ASSERT_OK(ctx, drape_crossings_create(ctx, &(drape_crossings_bodies){0}, &search));
    ASSERT_OK(ctx, drape_crossings_count(search, NULL, NULL, &got));
    assert_int_equal(got.count, 0);
    drape_crossings_destroy(search);
}

/* A triangle with a vertex twice is a segment: its other edges still count. */
static void vertex_twice(void **state) {
    drape_context *ctx = *state;
    const int32_t triangle[] = {0, 1, 2, 3, 4, 4, 3, 3, 3};
    const double x[] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, -1, 1, 1, 1};
    drape_crossings *search;
    drape_crossings_result got;
    ASSERT_OK(ctx, drape_crossings_create(
                       ctx, &(drape_crossings_bodies){.cloth = {.vertices = 5, .triangles = 3, .triangle = triangle}},
                       &search));
    ASSERT_OK(ctx, drape_crossings_count(search, x, NULL, &got));
    assert_int_equal(got.self.edges, 1);
    assert_int_equal(got.self.triangles, 1);
    assert_int_equal(got.self.touches, 0);
    drape_crossings_destroy(search);
}

/* ---- */

static int begin(void **state) {
    *state = test_context(1); /* which holds no memory of its own */
    return 0;
}

static int end(void **state) {
    assert_int_equal(drape_context_bytes(*state), 0);
    drape_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_meshes, begin, end),
        cmocka_unit_test_setup_teardown(coplanar_meshes, begin, end),
        cmocka_unit_test_setup_teardown(numbers_and_places_do_not_matter, begin, end),
        cmocka_unit_test_setup_teardown(sheets_through_each_other, begin, end),
        cmocka_unit_test_setup_teardown(sheets_through_each_others_edges, begin, end),
        cmocka_unit_test_setup_teardown(touching_sheets, begin, end),
        cmocka_unit_test_setup_teardown(folded_sheets, begin, end),
        cmocka_unit_test_setup_teardown(neighbours_do_not_count, begin, end),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test_setup_teardown(bad_arguments, begin, end),
        cmocka_unit_test_setup_teardown(bad_numbers, begin, end),
        cmocka_unit_test_setup_teardown(nothing_at_all, begin, end),
        cmocka_unit_test_setup_teardown(vertex_twice, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
