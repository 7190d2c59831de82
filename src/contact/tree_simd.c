/* tree_simd.c: boxes of a tree, which of them meet, and a tighter test for pairs whose boxes do.
 *
 * Everything goes in eight lanes of floats whatever the vector width, so neither results nor their order depend on
 * it.
 *
 * From leaves to pairs. A leaf looks for others from the root down, one comparison for the eight children of a node;
 * a mesh against itself looks only at leaves behind its own. Where two leaves meet, their elements that meet the
 * other leaf's box are compared one by one with the eight elements of each of its blocks.
 *
 * The tighter test. Neighbours in a smooth sheet meet with their boxes but are clearly apart in the plane of the
 * sheet. A vertex is known as |x - c| <= h, componentwise, wherever it is on its way. A direction n separates the
 * elements a and b by more than d, wherever each of their vertices is on its way, when for all vertices i of a and j
 * of b
 *
 *   n.(c_i - c_j) - |n|.(h_i + h_j) > d |n|_2           (|n|: componentwise)
 *
 * or the same with -n. Any n will do, so how n was rounded is of no matter. Tried are, with e edge vectors:
 *
 *   vertex x, triangle t    the sum of x - t_i; the triangle's normal; for each edge the part of x - t_i that is
 * normal to it edges a, b              the sum of the a_i - b_i; the parts of it that are normal to a and to b; a x b
 *
 * Rounding. u = 2^-24. With r = fl(c_i - c_j), g = sum |n_k| |r_k| and w = sum |n_k| (h_i + h_j)_k as computed, n.r
 * is off by at most 4u g (one rounding in r, one in each product, two in the sum), w by 4u w, and the two
 * subtractions below by 2u (g + w) and a bit; 16u (g + w) is taken off. Products that underflow are off by up to
 * 2^-126 each, if the processor flushes them to zero; 1e-36 is a hundred times that. |n|_2 <= M + (sqrt 2 - 1) m +
 * (sqrt 3 - sqrt 2) l for the largest, middle and least of |n_k|; the factors are rounded up, and d is too. What
 * overflows or is not a number satisfies no comparison, and the pair stays. */
#include "base/simd_float.h"
#include "contact/tree.h"

/* ---- Boxes ---- */

typedef struct box {
    float lo[3], hi[3];
} box;

static box get_box(const drape_i_box8 *b, int32_t lane) {
    return (box){{b->lo[0][lane], b->lo[1][lane], b->lo[2][lane]}, {b->hi[0][lane], b->hi[1][lane], b->hi[2][lane]}};
}

/* The lanes of b that meet a; touching counts. */
DRAPE_INLINE uint32_t meets(const drape_i_box8 *b, const box *a) {
    vi8 yes = vf8_load(b->lo[0]) <= vf8_set1(a->hi[0]);
    yes &= vf8_load(b->hi[0]) >= vf8_set1(a->lo[0]);
    yes &= vf8_load(b->lo[1]) <= vf8_set1(a->hi[1]);
    yes &= vf8_load(b->hi[1]) >= vf8_set1(a->lo[1]);
    yes &= vf8_load(b->lo[2]) <= vf8_set1(a->hi[2]);
    yes &= vf8_load(b->hi[2]) >= vf8_set1(a->lo[2]);
    return vi8_bits(yes);
}

/* ---- Refitting ---- */

DRAPE_INLINE void put_box(drape_i_box8 *b, int32_t lane, vf4 lo, vf4 hi) {
    for (int32_t k = 0; k < 3; k++) b->lo[k][lane] = lo[k], b->hi[k][lane] = hi[k];
}

/* The box around `corners` vertices of each element; lanes without one stay as they are. */
DRAPE_INLINE void fit_block(drape_i_block *b, const drape_i_vertex_box *vertex, int32_t corners) {
    for (int32_t lane = 0; lane < DRAPE_I_TREE_WIDTH && b->id[lane] >= 0; lane++) {
        const drape_i_vertex_box *v = vertex + b->vertex[0][lane];
        vf4 lo = vf4_load(v->lo), hi = vf4_load(v->hi);
        for (int32_t k = 1; k < corners; k++) {
            v = vertex + b->vertex[k][lane];
            lo = vf4_min(vf4_load(v->lo), lo);
            hi = vf4_max(vf4_load(v->hi), hi);
        }
        put_box(&b->box, lane, lo, hi);
    }
}

/* The box around eight boxes, of which the first is there. */
DRAPE_INLINE void put_union(drape_i_box8 *to, int32_t lane, const drape_i_box8 *from) {
    for (int32_t k = 0; k < 3; k++) {
        float lo = from->lo[k][0], hi = from->hi[k][0];
        for (int32_t i = 1; i < DRAPE_I_TREE_WIDTH; i++) {
            lo = from->lo[k][i] < lo ? from->lo[k][i] : lo; /* not a number: false */
            hi = from->hi[k][i] > hi ? from->hi[k][i] : hi;
        }
        to->lo[k][lane] = lo, to->hi[k][lane] = hi;
    }
}

void DRAPE_NAME(drape_i_tree_refit)(drape_contact_tree *tree, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        fit_block(&tree->faces.block[i], tree->vertex, 3);
        for (int32_t k = tree->points.begin[i]; k < tree->points.begin[i + 1]; k++)
            fit_block(&tree->points.block[k], tree->vertex, 1);
        for (int32_t k = tree->lines.begin[i]; k < tree->lines.begin[i + 1]; k++)
            fit_block(&tree->lines.block[k], tree->vertex, 2);
        put_union(&tree->level[0][i / DRAPE_I_TREE_WIDTH], i % DRAPE_I_TREE_WIDTH, &tree->faces.block[i].box);
    }
}

void DRAPE_NAME(drape_i_tree_refit_level)(drape_contact_tree *tree, int32_t level, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        put_union(&tree->level[level + 1][i / DRAPE_I_TREE_WIDTH], i % DRAPE_I_TREE_WIDTH, &tree->level[level][i]);
}

/* ---- The tighter test ---- */

typedef struct vf3 {
    vf8 x, y, z;
} vf3;

DRAPE_INLINE vf3 add3(vf3 a, vf3 b) { return (vf3){a.x + b.x, a.y + b.y, a.z + b.z}; }
DRAPE_INLINE vf3 sub3(vf3 a, vf3 b) { return (vf3){a.x - b.x, a.y - b.y, a.z - b.z}; }
DRAPE_INLINE vf8 dot3(vf3 a, vf3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
DRAPE_INLINE vf3 abs3(vf3 a) { return (vf3){vf8_abs(a.x), vf8_abs(a.y), vf8_abs(a.z)}; }
DRAPE_INLINE vf3 cross3(vf3 a, vf3 b) {
    return (vf3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* (e.e) times the part of a that is normal to e */
DRAPE_INLINE vf3 normal_part(vf3 a, vf3 e) {
    vf8 ee = dot3(e, e), ae = dot3(a, e);
    return (vf3){a.x * ee - e.x * ae, a.y * ee - e.y * ae, a.z * ee - e.z * ae};
}

/* c and h of eight vertices. */
typedef struct ball8 {
    vf3 c, h;
} ball8;

DRAPE_INLINE ball8 gather(const drape_i_vertex_box *vertex, const int32_t index[8]) {
    vf8 r[8], low[4], high[4];
    for (int32_t i = 0; i < 8; i++) r[i] = vf8_load(vertex[index[i]].c); /* c, then h */
    for (int32_t i = 0; i < 4; i++) {
        low[i] = VF_SHUFFLE(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);    /* x x y y | x x y y */
        high[i] = VF_SHUFFLE(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15); /* z z 0 0 | z z 0 0 */
    }
    vf8 x0 = VF_SHUFFLE(low[0], low[1], 0, 1, 8, 9, 4, 5, 12, 13); /* x of c of four | x of h of four */
    vf8 x1 = VF_SHUFFLE(low[2], low[3], 0, 1, 8, 9, 4, 5, 12, 13);
    vf8 y0 = VF_SHUFFLE(low[0], low[1], 2, 3, 10, 11, 6, 7, 14, 15);
    vf8 y1 = VF_SHUFFLE(low[2], low[3], 2, 3, 10, 11, 6, 7, 14, 15);
    vf8 z0 = VF_SHUFFLE(high[0], high[1], 0, 1, 8, 9, 4, 5, 12, 13);
    vf8 z1 = VF_SHUFFLE(high[2], high[3], 0, 1, 8, 9, 4, 5, 12, 13);
    return (ball8){{VF_SHUFFLE(x0, x1, 0, 1, 2, 3, 8, 9, 10, 11), VF_SHUFFLE(y0, y1, 0, 1, 2, 3, 8, 9, 10, 11),
                    VF_SHUFFLE(z0, z1, 0, 1, 2, 3, 8, 9, 10, 11)},
                   {VF_SHUFFLE(x0, x1, 4, 5, 6, 7, 12, 13, 14, 15), VF_SHUFFLE(y0, y1, 4, 5, 6, 7, 12, 13, 14, 15),
                    VF_SHUFFLE(z0, z1, 4, 5, 6, 7, 12, 13, 14, 15)}};
}

/* The differences between the vertices of two elements: r of their c, h the sums of their h. */
typedef struct differences {
    vf3 r[4], h[4];
    int32_t count;
    vf8 distance;
} differences;

static const float SLACK = 0x1p-20f, UNDERFLOW_SLACK = 1e-36f;
static const float MIDDLE = 0.41422f, LEAST = 0.31784f; /* above sqrt 2 - 1 and sqrt 3 - sqrt 2 */

/* At least |n|_2, a = |n|. */
DRAPE_INLINE vf8 length_bound(vf3 a) {
    vf8 high = vf8_max(a.x, a.y), low = vf8_min(a.x, a.y);
    vf8 most = vf8_max(high, a.z), rest = vf8_min(high, a.z);
    return most + MIDDLE * vf8_max(rest, low) + LEAST * vf8_min(rest, low);
}

/* The lanes in which n separates the elements. */
DRAPE_INLINE vi8 separates(vf3 n, const differences *d) {
    vf3 a = abs3(n);
    vf8 bound = d->distance * length_bound(a) * (1 + SLACK) + UNDERFLOW_SLACK;
    vi8 above = bound == bound, below = above;
    for (int32_t i = 0; i < d->count; i++) {
        vf8 s = dot3(n, d->r[i]), g = dot3(a, abs3(d->r[i])), w = dot3(a, d->h[i]);
        vf8 less = w + (w + g) * SLACK;
        above &= s - less > bound;
        below &= s + less < -bound;
    }
    return above | below;
}

DRAPE_INLINE void set_difference(differences *d, int32_t i, const ball8 *a, const ball8 *b) {
    d->r[i] = sub3(a->c, b->c);
    d->h[i] = add3(a->h, b->h);
}

/* The lanes in which vertex v[0] of x and triangle v[1..3] of y are farther apart than the distance. */
static uint32_t vertex_triangle_apart(const drape_i_vertex_box *x, const drape_i_vertex_box *y, int32_t v[4][8],
                                      uint32_t wanted, float distance) {
    differences d = {.count = 3, .distance = vf8_set1(distance)};
    ball8 p = gather(x, v[0]), t[3];
    for (int32_t i = 0; i < 3; i++) {
        t[i] = gather(y, v[1 + i]);
        set_difference(&d, i, &p, &t[i]);
    }
    vi8 apart = separates(add3(add3(d.r[0], d.r[1]), d.r[2]), &d);
    if ((vi8_bits(apart) & wanted) == wanted) return wanted;
    vf3 e[3] = {sub3(t[1].c, t[0].c), sub3(t[2].c, t[1].c), sub3(t[0].c, t[2].c)};
    apart |= separates(cross3(e[0], e[1]), &d);
    for (int32_t i = 0; i < 3; i++) {
        if ((vi8_bits(apart) & wanted) == wanted) return wanted;
        apart |= separates(normal_part(d.r[i], e[i]), &d);
    }
    return vi8_bits(apart) & wanted;
}

/* The lanes in which edge v[0..1] of x and edge v[2..3] of y are farther apart than the distance. */
static uint32_t edges_apart(const drape_i_vertex_box *x, const drape_i_vertex_box *y, int32_t v[4][8],
                            uint32_t wanted, float distance) {
    differences d = {.count = 4, .distance = vf8_set1(distance)};
    ball8 a[2] = {gather(x, v[0]), gather(x, v[1])}, b[2] = {gather(y, v[2]), gather(y, v[3])};
    for (int32_t i = 0; i < 4; i++) set_difference(&d, i, &a[i / 2], &b[i % 2]);
    vf3 middle = add3(d.r[0], d.r[3]);
    vi8 apart = separates(middle, &d);
    if ((vi8_bits(apart) & wanted) == wanted) return wanted;
    vf3 ea = sub3(a[1].c, a[0].c), eb = sub3(b[1].c, b[0].c);
    apart |= separates(normal_part(middle, ea), &d);
    if ((vi8_bits(apart) & wanted) == wanted) return wanted;
    apart |= separates(normal_part(middle, eb), &d);
    if ((vi8_bits(apart) & wanted) == wanted) return wanted;
    apart |= separates(cross3(ea, eb), &d);
    return vi8_bits(apart) & wanted;
}

/* ---- Pairs on their way into a list, eight at a time ---- */

typedef struct batch {
    int32_t vertex[4][8], id[2][8];
    int32_t count;
    const drape_i_vertex_box *x, *y; /* of the first element and of the second */
    drape_i_sink *sink;
} batch;

typedef struct search {
    const drape_i_tree_query *query;
    batch batch[DRAPE_CONTACT_KINDS];
    int64_t overlaps, candidates;
} search;

DRAPE_INLINE void flush(search *s, drape_contact_kind kind) {
    batch *b = &s->batch[kind];
    uint32_t left = (1u << b->count) - 1;
    if (!left) return;
    s->candidates += b->count;
    if (!s->query->boxes_only) {
        float distance = s->query->distance;
        left &= kind == DRAPE_CONTACT_EDGE_EDGE ? ~edges_apart(b->x, b->y, b->vertex, left, distance)
                                                : ~vertex_triangle_apart(b->x, b->y, b->vertex, left, distance);
    }
    for (; left; left &= left - 1) {
        int32_t i = DRAPE_LOWEST_BIT(left);
        if (b->sink->count < b->sink->room)
            b->sink->pair[b->sink->count] = (drape_contact_pair){
                {b->vertex[0][i], b->vertex[1][i], b->vertex[2][i], b->vertex[3][i]}, b->id[0][i], b->id[1][i]};
        b->sink->count++;
    }
    b->count = 0;
}

/* ---- Two leaves ---- */

DRAPE_INLINE vi8 same(const int32_t lanes[8], int32_t vertex) { return vi8_load(lanes) == vertex - (vi8){0}; }

/* Vertex `lane` of p against the faces of f in `among`. */
DRAPE_INLINE void vertex_faces(search *s, drape_contact_kind kind, const drape_i_block *p, int32_t lane,
                               const drape_i_block *f, uint32_t among, bool one_mesh) {
    box of = get_box(&p->box, lane);
    int32_t v = p->id[lane];
    among &= meets(&f->box, &of);
    if (one_mesh && among) among &= ~vi8_bits(same(f->vertex[0], v) | same(f->vertex[1], v) | same(f->vertex[2], v));
    batch *b = &s->batch[kind];
    for (; among; among &= among - 1) {
        int32_t k = DRAPE_LOWEST_BIT(among), n = b->count++;
        b->vertex[0][n] = v;
        for (int32_t c = 0; c < 3; c++) b->vertex[1 + c][n] = f->vertex[c][k];
        b->id[0][n] = v, b->id[1][n] = f->id[k];
        if (b->count == 8) flush(s, kind);
    }
}

/* Edge `lane` of e against the edges of f in `among`. */
DRAPE_INLINE void edge_edges(search *s, const drape_i_block *e, int32_t lane, const drape_i_block *f, uint32_t among,
                             bool one_mesh) {
    box of = get_box(&e->box, lane);
    int32_t v = e->vertex[0][lane], w = e->vertex[1][lane];
    among &= meets(&f->box, &of);
    if (one_mesh && among)
        among &=
            ~vi8_bits(same(f->vertex[0], v) | same(f->vertex[1], v) | same(f->vertex[0], w) | same(f->vertex[1], w));
    batch *b = &s->batch[DRAPE_CONTACT_EDGE_EDGE];
    for (; among; among &= among - 1) {
        int32_t k = DRAPE_LOWEST_BIT(among), n = b->count++;
        b->vertex[0][n] = v, b->vertex[1][n] = w;
        b->vertex[2][n] = f->vertex[0][k], b->vertex[3][n] = f->vertex[1][k];
        b->id[0][n] = e->id[lane], b->id[1][n] = f->id[k];
        if (b->count == 8) flush(s, DRAPE_CONTACT_EDGE_EDGE);
    }
}

/* The vertices of leaf i of one tree against the faces of leaf k of the other. */
DRAPE_INLINE void vertices_faces(search *s, drape_contact_kind kind, const drape_contact_tree *points, int32_t i,
                                 const box *box_of_faces, const drape_contact_tree *faces, int32_t k,
                                 const box *box_of_points, bool one_mesh) {
    const drape_i_block *f = &faces->faces.block[k];
    uint32_t among = meets(&f->box, box_of_points);
    if (!among) return;
    for (int32_t n = points->points.begin[i]; n < points->points.begin[i + 1]; n++) {
        const drape_i_block *p = &points->points.block[n];
        for (uint32_t left = meets(&p->box, box_of_faces); left; left &= left - 1)
            vertex_faces(s, kind, p, DRAPE_LOWEST_BIT(left), f, among, one_mesh);
    }
}

enum { MOST_LINES = 3 * DRAPE_I_TREE_WIDTH / 8 }; /* blocks of edges of a leaf */

/* The edges of leaf i of a against those of leaf k of b. */
DRAPE_INLINE void edges_edges(search *s, const drape_contact_tree *a, int32_t i, const box *box_a,
                              const drape_contact_tree *b, int32_t k, const box *box_b, bool one_mesh) {
    uint32_t among[MOST_LINES];
    int32_t first = b->lines.begin[k], last = b->lines.begin[k + 1];
    for (int32_t m = first; m < last; m++) among[m - first] = meets(&b->lines.block[m].box, box_a);
    for (int32_t n = a->lines.begin[i]; n < a->lines.begin[i + 1]; n++) {
        const drape_i_block *e = &a->lines.block[n];
        for (uint32_t left = meets(&e->box, box_b); left; left &= left - 1)
            for (int32_t m = first; m < last; m++)
                if (among[m - first])
                    edge_edges(s, e, DRAPE_LOWEST_BIT(left), &b->lines.block[m], among[m - first], one_mesh);
    }
}

static void two_leaves(search *s, const drape_contact_tree *a, int32_t i, const box *box_a,
                       const drape_contact_tree *b, int32_t k, const box *box_b) {
    bool one_mesh = a == b;
    s->overlaps++;
    vertices_faces(s, DRAPE_CONTACT_VERTEX_TRIANGLE, a, i, box_b, b, k, box_a, one_mesh);
    vertices_faces(s, one_mesh ? DRAPE_CONTACT_VERTEX_TRIANGLE : DRAPE_CONTACT_TRIANGLE_VERTEX, b, k, box_a, a, i,
                   box_b, one_mesh);
    edges_edges(s, a, i, box_a, b, k, box_b, one_mesh);
}

/* A leaf against itself: each pair of edges once. */
static void one_leaf(search *s, const drape_contact_tree *a, int32_t i, const box *box_a) {
    s->overlaps++;
    vertices_faces(s, DRAPE_CONTACT_VERTEX_TRIANGLE, a, i, box_a, a, i, box_a, true);
    for (int32_t n = a->lines.begin[i]; n < a->lines.begin[i + 1]; n++) {
        const drape_i_block *e = &a->lines.block[n];
        for (int32_t lane = 0; lane < 8 && e->id[lane] >= 0; lane++) {
            edge_edges(s, e, lane, e, (0xffu << lane << 1) & 0xff, true);
            for (int32_t m = n + 1; m < a->lines.begin[i + 1]; m++)
                edge_edges(s, e, lane, &a->lines.block[m], 0xff, true);
        }
    }
}

/* ---- The way down ---- */

/* All leaves of b from `from` on that meet leaf i of a, in ascending order. */
static void descend(search *s, const drape_contact_tree *a, int32_t i, const box *box_a, const drape_contact_tree *b,
                    int32_t from) {
    uint32_t left[DRAPE_I_TREE_LEVELS]; /* children of the node on the way that are still to be visited */
    int32_t node[DRAPE_I_TREE_LEVELS], l = b->levels - 1;
    node[l] = 0;
    left[l] = meets(b->level[l], box_a);
    while (l < b->levels) {
        if (!left[l]) {
            l++;
            continue;
        }
        int32_t lane = DRAPE_LOWEST_BIT(left[l]), child = node[l] * DRAPE_I_TREE_WIDTH + lane;
        left[l] &= left[l] - 1;
        if ((int64_t)(child + 1) << 3 * l <= from) continue; /* all its leaves come before */
        if (l == 0) {
            box box_b = get_box(&b->level[0][node[0]], lane);
            two_leaves(s, a, i, box_a, b, child, &box_b);
        } else {
            l--;
            node[l] = child;
            left[l] = meets(&b->level[l][child], box_a);
        }
    }
}

void DRAPE_NAME(drape_i_tree_pairs)(const drape_i_tree_query *query, int64_t begin, int64_t end,
                                    drape_i_sink sink[DRAPE_CONTACT_KINDS], int64_t *overlaps, int64_t *candidates) {
    const drape_contact_tree *a = query->first, *b = query->second;
    search s = {.query = query};
    for (int32_t kind = 0; kind < DRAPE_CONTACT_KINDS; kind++) {
        bool swapped = kind == DRAPE_CONTACT_TRIANGLE_VERTEX;
        s.batch[kind].sink = &sink[kind];
        s.batch[kind].x = swapped ? b->vertex : a->vertex;
        s.batch[kind].y = swapped ? a->vertex : b->vertex;
    }
    for (int64_t i = begin; i < end; i++) {
        box of = get_box(&a->level[0][i / DRAPE_I_TREE_WIDTH], i % DRAPE_I_TREE_WIDTH);
        if (a == b) one_leaf(&s, a, (int32_t)i, &of);
        descend(&s, a, (int32_t)i, &of, b, a == b ? (int32_t)i + 1 : 0);
    }
    for (int32_t kind = 0; kind < DRAPE_CONTACT_KINDS; kind++) flush(&s, (drape_contact_kind)kind);
    *overlaps = s.overlaps;
    *candidates = s.candidates;
}
