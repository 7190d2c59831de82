/* tree_simd.c: tests which boxes of a tree meet, and a tighter test for pairs whose boxes do.
 *
 * All computations use eight lanes of floats, whatever the vector width, so neither results nor their order depend on
 * it.
 *
 * Boxes that meet. A vertex is at c + s m at the time (1 + s)/2, -1 <= s <= 1, up to e in each coordinate. A node, a
 * leaf or an element has a box [lo, hi] around c -+ (e + margin) of its vertices, and a box [wlo, whi] around their
 * m. In one coordinate, let a lie above b: for all vertices i of a and j of b
 *
 *   x_i - x_j >= (c_i - e_i) - (c_j + e_j) - |m_i - m_j| >= lo_a - hi_b + both margins - r,
 *   r = max(whi_a - wlo_b, whi_b - wlo_a)            all at the same time s: DRAPE_CONTACT_TOGETHER
 *   r = max(|wlo_a|, |whi_a|) + max(|wlo_b|, |whi_b|)     each at a time of its own
 *
 * so a and b are farther apart than both margins where lo_a - hi_b > r or lo_b - hi_a > r in some coordinate. A
 * common velocity drops out of the first r: boxes of a sheet that flies meet as few others as those of a sheet at
 * rest. Rounding: r takes three roundings, of 2^-24 each, and is widened by 2^-22;
 * 4 FLT_MIN stand for what underflows, also on processors that are told to flush to zero. A rounded difference is
 * above r, a float, only where the difference is. No difference is of the kind inf - inf, since lo and wlo are below
 * infinity, hi and whi above -infinity. Lanes without a box hold what is not a number, and meet nothing.
 *
 * Boxes of a part are inside of those of the whole, and rounding is monotonic, so parts never meet where wholes do
 * not; also where a and b change places. Elements are compared by the r of their leaves, which costs no more memory.
 * Pairs that are left are compared by their own r, so that they do not depend on which leaves they are in.
 *
 * From leaves to pairs. A leaf looks for others from the root down, one comparison for the eight children of a node;
 * a mesh against itself looks only at leaves behind its own. Where two leaves meet, their elements that meet the
 * other leaf's box are compared one by one with the eight elements of each of its blocks.
 *
 * The tighter test. Neighbours in a smooth sheet meet with their boxes but are clearly apart in the plane of the
 * sheet. A vertex goes from c - m to c + m, up to e in each coordinate. A direction n separates the elements a and b
 * by more than d when for all vertices i of a and j of b, with r = c_i - c_j,
 *
 *   n.r - |n|.(|m_i| + |m_j|) - |n|_1 (e_i + e_j) > d |n|_2     (|n|, |m|: componentwise)
 *
 * wherever each vertex is on its way; and when
 *
 *   n.r - |n.(m_i - m_j)| - |n|_1 (e_i + e_j) > d |n|_2
 *
 * where they move together: the left side bounds n.(x_i - x_j) at the start and at the end, between which it is
 * linear. Or the same with -n. Any n will do, so how n was rounded does not matter. These are tried, with the
 * differences between centres:
 *
 *   vertex x, triangle t:  the sum of x - t_i; the triangle's normal; for each edge the part of x - t_i normal to it
 *   edges a, b:  (a_0 - b_0) + (a_1 - b_1); the parts of that normal to a and normal to b; the cross product of a and
 * b
 *
 * Rounding. u = 2^-24. Let N = |n|_1, R and V the largest |r_k| and |v_k| of all i, j, and E the largest e_i + e_j.
 * Here v is the sum or the difference of the m. Then n.r is off by at most 4u N R: one rounding in r, one in each
 * product, two in the sum. The term of the motion is off by 4u N V. What follows, N E, sums and differences, is off
 * by less than 6u N (R + V + E), up to factors 1 + O(u). 16u N (R + V + E) is taken off. Products that underflow are
 * off by up to 2^-126 each, should the processor flush them to zero; 1e-36 is some eighty times that. |n|_2 <= M +
 * (sqrt 2 - 1) m + (sqrt 3 - sqrt 2) l for the largest, middle and least of |n_k|; these factors are rounded up, and
 * so is d. What overflows or is not a number satisfies no comparison, and the pair stays. */
#include "base/simd_float.h"
#include "contact/tree.h"

#include <float.h>
#include <math.h>

/* ---- Boxes ---- */

typedef struct box {
    float lo[3], hi[3];
} box;

typedef struct node {
    box at, way;
} node;

static box get_box(const drape_i_box8 *b, int32_t lane) {
    return (box){{b->lo[0][lane], b->lo[1][lane], b->lo[2][lane]}, {b->hi[0][lane], b->hi[1][lane], b->hi[2][lane]}};
}

static node get_node(const drape_i_node8 *n, int32_t lane) {
    return (node){get_box(&n->at, lane), get_box(&n->way, lane)};
}

static const float WIDEN = 0x1p-22f, TINY = 4 * FLT_MIN;

static float largest(float a, float b) { return a > b ? a : b; }

/* r of two leaves, see above. */
static void reach(const box *a, const box *b, bool together, float r[3]) {
    for (int32_t k = 0; k < 3; k++) {
        float ab = a->hi[k] - b->lo[k], ba = b->hi[k] - a->lo[k];
        float sum = largest(fabsf(a->lo[k]), fabsf(a->hi[k])) + largest(fabsf(b->lo[k]), fabsf(b->hi[k]));
        r[k] = (together ? largest(ab, ba) : sum) * (1 + WIDEN) + TINY;
    }
}

/* The lanes of b that come as near to a as r, as bits. */
DRAPE_INLINE uint32_t meets(const drape_i_box8 *b, const box *a, const float r[3]) {
    uint32_t bits = 0;
    for (int32_t p = 0; p < 8; p += VF_LANES) {
        vm yes[3];
        for (int32_t k = 0; k < 3; k++) {
            vf above = vf_load(b->lo[k] + p) - vf_set1(a->hi[k]), below = vf_set1(a->lo[k]) - vf_load(b->hi[k] + p);
            yes[k] = vf_le(vf_max(above, below), vf_set1(r[k]));
        }
        bits |= vm_bits(yes[0] & yes[1] & yes[2]) << p;
    }
    return bits;
}

/* The nodes b that come as near to a as their r. */
DRAPE_INLINE uint32_t nodes_meet(const drape_i_node8 *b, const node *a, bool together) {
    uint32_t bits = 0;
    for (int32_t p = 0; p < 8; p += VF_LANES) {
        vm yes[3];
        for (int32_t k = 0; k < 3; k++) {
            vf above = vf_load(b->at.lo[k] + p) - vf_set1(a->at.hi[k]);
            vf below = vf_set1(a->at.lo[k]) - vf_load(b->at.hi[k] + p);
            vf lo = vf_load(b->way.lo[k] + p), hi = vf_load(b->way.hi[k] + p);
            vf r;
            if (together) r = vf_max(vf_set1(a->way.hi[k]) - lo, hi - vf_set1(a->way.lo[k]));
            else r = largest(fabsf(a->way.lo[k]), fabsf(a->way.hi[k])) + vf_max(vf_abs(lo), vf_abs(hi));
            yes[k] = vf_le(vf_max(above, below), r * (1 + WIDEN) + TINY);
        }
        bits |= vm_bits(yes[0] & yes[1] & yes[2]) << p;
    }
    return bits;
}

/* ---- Refitting ---- */

DRAPE_INLINE void put_box(drape_i_box8 *b, int32_t lane, vf4 lo, vf4 hi) {
    for (int32_t k = 0; k < 3; k++) b->lo[k][lane] = lo[k], b->hi[k][lane] = hi[k];
}

/* The box around the `corners` vertices of each element of a block; lanes without one stay as they are. */
DRAPE_INLINE void fit_block(const drape_i_elements *e, int32_t block, const drape_i_vertex_box *vertex,
                            int32_t corners) {
    const int32_t *id = e->id[block], (*of)[8] = (const int32_t(*)[8])e->vertex + (int64_t)corners * block;
    for (int32_t lane = 0; lane < DRAPE_I_TREE_WIDTH && id[lane] >= 0; lane++) {
        const drape_i_vertex_box *v = vertex + of[0][lane];
        vf4 lo = vf4_load(v->lo), hi = vf4_load(v->hi);
        for (int32_t k = 1; k < corners; k++) {
            v = vertex + of[k][lane];
            lo = vf4_min(vf4_load(v->lo), lo);
            hi = vf4_max(vf4_load(v->hi), hi);
        }
        put_box(&e->box[block], lane, lo, hi);
    }
}

/* The box around the m of a leaf's triangles. */
DRAPE_INLINE void fit_way(drape_i_box8 *to, int32_t at, const drape_i_elements *faces, int32_t leaf,
                          const drape_i_vertex_box *vertex) {
    const int32_t(*corner)[8] = (const int32_t(*)[8])faces->vertex + 3 * (int64_t)leaf;
    vf4 lo = vf4_load(vertex[corner[0][0]].m), hi = lo;
    for (int32_t lane = 0; lane < DRAPE_I_TREE_WIDTH && faces->id[leaf][lane] >= 0; lane++)
        for (int32_t k = 0; k < 3; k++) {
            vf4 m = vf4_load(vertex[corner[k][lane]].m);
            lo = vf4_min(m, lo);
            hi = vf4_max(m, hi);
        }
    put_box(to, at, lo, hi);
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
    for (int32_t i = (int32_t)begin; i < end; i++) {
        fit_block(&tree->faces, i, tree->vertex, 3);
        for (int32_t k = tree->points.begin[i]; k < tree->points.begin[i + 1]; k++)
            fit_block(&tree->points, k, tree->vertex, 1);
        for (int32_t k = tree->lines.begin[i]; k < tree->lines.begin[i + 1]; k++)
            fit_block(&tree->lines, k, tree->vertex, 2);
        drape_i_node8 *parent = &tree->level[0][i / DRAPE_I_TREE_WIDTH];
        put_union(&parent->at, i % DRAPE_I_TREE_WIDTH, &tree->faces.box[i]);
        fit_way(&parent->way, i % DRAPE_I_TREE_WIDTH, &tree->faces, i, tree->vertex);
    }
}

void DRAPE_NAME(drape_i_tree_refit_level)(drape_contact_tree *tree, int32_t level, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        drape_i_node8 *parent = &tree->level[level + 1][i / DRAPE_I_TREE_WIDTH];
        put_union(&parent->at, i % DRAPE_I_TREE_WIDTH, &tree->level[level][i].at);
        put_union(&parent->way, i % DRAPE_I_TREE_WIDTH, &tree->level[level][i].way);
    }
}

/* ---- The tighter test ---- */

typedef struct vf3 {
    vf x, y, z;
} vf3;

DRAPE_INLINE vf3 add3(vf3 a, vf3 b) { return (vf3){a.x + b.x, a.y + b.y, a.z + b.z}; }
DRAPE_INLINE vf3 sub3(vf3 a, vf3 b) { return (vf3){a.x - b.x, a.y - b.y, a.z - b.z}; }
DRAPE_INLINE vf dot3(vf3 a, vf3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
DRAPE_INLINE vf3 abs3(vf3 a) { return (vf3){vf_abs(a.x), vf_abs(a.y), vf_abs(a.z)}; }
DRAPE_INLINE vf3 cross3(vf3 a, vf3 b) {
    return (vf3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* (e.e) times the part of a that is normal to e */
DRAPE_INLINE vf3 normal_part(vf3 a, vf3 e) {
    vf ee = dot3(e, e), ae = dot3(a, e);
    return (vf3){a.x * ee - e.x * ae, a.y * ee - e.y * ae, a.z * ee - e.z * ae};
}

/* A vertex in each lane. */
typedef struct mover {
    vf3 c, m;
    vf e;
} mover;

DRAPE_INLINE mover gather(const drape_i_vertex_box *vertex, const int32_t *index) {
    const float *record[VF_LANES];
    vf f[7];
    for (int32_t i = 0; i < VF_LANES; i++) record[i] = vertex[index[i]].c; /* e and m follow */
    vf_transpose(record, f);
    return (mover){{f[0], f[1], f[2]}, {f[4], f[5], f[6]}, f[3]};
}

/* The differences between the vertices of two elements. */
typedef struct differences {
    vf3 r[4], v[4]; /* v: together the difference of their m, else the sum of their |m| */
    vf off;         /* the largest e_i + e_j, and what rounding takes for each unit of |n|_1 */
    int32_t count;
    bool together;
    vf distance;
} differences;

static const float SLACK = 0x1p-20f, UNDERFLOW_SLACK = 1e-36f;
static const float MIDDLE = 0.41422f, LEAST = 0.31784f; /* above sqrt 2 - 1 and sqrt 3 - sqrt 2 */

/* At least |n|_2, a = |n|. */
DRAPE_INLINE vf length_bound(vf3 a) {
    vf high = vf_max(a.x, a.y), low = vf_min(a.x, a.y);
    vf most = vf_max(high, a.z), rest = vf_min(high, a.z);
    return most + MIDDLE * vf_max(rest, low) + LEAST * vf_min(rest, low);
}

/* The lanes in which n separates the elements. */
DRAPE_INLINE vm separates(vf3 n, const differences *d) {
    vf3 a = abs3(n);
    vf bound = d->distance * length_bound(a) * (1 + SLACK) + UNDERFLOW_SLACK + (a.x + a.y + a.z) * d->off;
    vm above = vf_le(bound, bound), below = above;
    for (int32_t i = 0; i < d->count; i++) {
        vf s = dot3(n, d->r[i]), w = d->together ? vf_abs(dot3(n, d->v[i])) : dot3(a, d->v[i]);
        above &= vf_lt(bound, s - w);
        below &= vf_lt(s + w, -bound);
    }
    return above | below;
}

DRAPE_INLINE vf largest3(vf3 a) { return vf_max(vf_max(vf_abs(a.x), vf_abs(a.y)), vf_abs(a.z)); }

DRAPE_INLINE void set_differences(differences *d, const mover *a, int32_t na, const mover *b, int32_t nb) {
    vf e = vf_set1(0), size = e;
    for (int32_t i = 0; i < na * nb; i++) {
        const mover *p = &a[i / nb], *q = &b[i % nb];
        d->r[i] = sub3(p->c, q->c);
        d->v[i] = d->together ? sub3(p->m, q->m) : add3(abs3(p->m), abs3(q->m));
        e = vf_max(p->e + q->e, e);
        size = vf_max(largest3(d->r[i]) + largest3(d->v[i]), size);
    }
    d->off = e + (size + e) * SLACK;
    d->count = na * nb;
}

/* The lanes in which vertex v[0] of x and triangle v[1..3] of y, from lane `at` on, are farther apart than the
 * distance; of those that are wanted. */
static uint32_t vertex_triangle_apart(const drape_i_vertex_box *x, const drape_i_vertex_box *y, int32_t v[4][8],
                                      int32_t at, uint32_t wanted, const drape_i_tree_query *query) {
    differences d = {.together = query->together, .distance = vf_set1(query->distance)};
    mover p = gather(x, v[0] + at), t[3];
    for (int32_t i = 0; i < 3; i++) t[i] = gather(y, v[1 + i] + at);
    set_differences(&d, &p, 1, t, 3);
    vm apart = separates(add3(add3(d.r[0], d.r[1]), d.r[2]), &d);
    if ((vm_bits(apart) & wanted) == wanted) return wanted;
    vf3 e[3] = {sub3(t[1].c, t[0].c), sub3(t[2].c, t[1].c), sub3(t[0].c, t[2].c)};
    apart |= separates(cross3(e[0], e[1]), &d);
    for (int32_t i = 0; i < 3; i++) {
        if ((vm_bits(apart) & wanted) == wanted) return wanted;
        apart |= separates(normal_part(d.r[i], e[i]), &d);
    }
    return vm_bits(apart) & wanted;
}

/* The same for edge v[0..1] of x and edge v[2..3] of y. */
static uint32_t edges_apart(const drape_i_vertex_box *x, const drape_i_vertex_box *y, int32_t v[4][8], int32_t at,
                            uint32_t wanted, const drape_i_tree_query *query) {
    differences d = {.together = query->together, .distance = vf_set1(query->distance)};
    mover a[2] = {gather(x, v[0] + at), gather(x, v[1] + at)}, b[2] = {gather(y, v[2] + at), gather(y, v[3] + at)};
    set_differences(&d, a, 2, b, 2);
    vf3 middle = add3(d.r[0], d.r[3]);
    vm apart = separates(middle, &d);
    if ((vm_bits(apart) & wanted) == wanted) return wanted;
    vf3 ea = sub3(a[1].c, a[0].c), eb = sub3(b[1].c, b[0].c);
    apart |= separates(normal_part(middle, ea), &d);
    if ((vm_bits(apart) & wanted) == wanted) return wanted;
    apart |= separates(normal_part(middle, eb), &d);
    if ((vm_bits(apart) & wanted) == wanted) return wanted;
    apart |= separates(cross3(ea, eb), &d);
    return vm_bits(apart) & wanted;
}

/* ---- Pairs on their way into a list ----
 *
 * Pairs whose boxes meet wait in a queue of slots: 8 block + lane. They are put there eight at a time, whether they
 * are pairs or not, and the next ones overwrite what follows the last pair. A loop over bits, which no processor can
 * predict, would take several times as long. Then eight at a time are tested and written. */

enum { QUEUE = 256 };

typedef struct queue {
    int32_t a[QUEUE],
        b[QUEUE]; /* a: of vertices the number, of edges the slot; b: the slot of a triangle or an edge */
    int32_t count;
    const drape_contact_tree *x, *y; /* of the first element and of the second */
    drape_i_sink *sink;
} queue;

typedef struct search {
    const drape_i_tree_query *query;
    const uint8_t (*lanes)[8], *lane_count; /* of drape_contact_tree */
    queue queue[DRAPE_CONTACT_KINDS];
    int64_t overlaps, candidates;
} search;

/* Vertices of eight pairs. */
typedef struct batch {
    int32_t vertex[4][8];
} batch;

DRAPE_INLINE void look_up(const queue *q, drape_contact_kind kind, int32_t at, int32_t i, batch *out) {
    uint32_t a = (uint32_t)q->a[at], b = (uint32_t)q->b[at];
    if (kind == DRAPE_CONTACT_EDGE_EDGE) {
        int32_t(*e)[8] = q->x->lines.vertex + 2 * (size_t)(a / 8), (*f)[8] = q->y->lines.vertex + 2 * (size_t)(b / 8);
        for (int32_t k = 0; k < 2; k++) out->vertex[k][i] = e[k][a % 8], out->vertex[2 + k][i] = f[k][b % 8];
    } else {
        int32_t(*f)[8] = q->y->faces.vertex + 3 * (size_t)(b / 8);
        out->vertex[0][i] = (int32_t)a;
        for (int32_t k = 0; k < 3; k++) out->vertex[1 + k][i] = f[k][b % 8];
    }
}

DRAPE_INLINE void write_pair(const queue *q, drape_contact_kind kind, int32_t at, int32_t i, const batch *b,
                             int64_t to) {
    const bool edges = kind == DRAPE_CONTACT_EDGE_EDGE;
    uint32_t x = (uint32_t)q->a[at], y = (uint32_t)q->b[at];
    for (int32_t k = 0; k < 4; k++)
        q->sink->vertex[to][k] = b->vertex[k][i] + (k < (edges ? 2 : 1) ? q->x : q->y)->first_vertex;
    q->sink->element[to][0] = edges ? q->x->lines.id[x / 8][x % 8] : (int32_t)x;
    q->sink->element[to][1] = (edges ? &q->y->lines : &q->y->faces)->id[y / 8][y % 8];
}

/* The pairs of `wanted` that the tighter test finds apart. */
DRAPE_INLINE uint32_t apart_of(const queue *q, drape_contact_kind kind, batch *b, uint32_t wanted,
                               const drape_i_tree_query *query) {
    uint32_t bits = 0;
    for (int32_t at = 0; at < 8; at += VF_LANES) {
        uint32_t these = wanted >> at & ((1u << VF_LANES) - 1);
        if (!these) continue;
        bits |= (kind == DRAPE_CONTACT_EDGE_EDGE
                     ? edges_apart(q->x->vertex, q->y->vertex, b->vertex, at, these, query)
                     : vertex_triangle_apart(q->x->vertex, q->y->vertex, b->vertex, at, these, query))
                << at;
    }
    return bits;
}

/* Elements of up to three vertices: boxes as nodes have them. */
typedef struct element {
    vf4 lo, hi, way_lo, way_hi;
} element;

DRAPE_INLINE element element_of(const drape_i_vertex_box *vertex, const batch *b, int32_t from, int32_t to,
                                int32_t lane) {
    const drape_i_vertex_box *v = vertex + b->vertex[from][lane];
    element e = {vf4_load(v->lo), vf4_load(v->hi), vf4_load(v->m), vf4_load(v->m)};
    for (int32_t k = from + 1; k < to; k++) {
        v = vertex + b->vertex[k][lane];
        e.lo = vf4_min(vf4_load(v->lo), e.lo);
        e.hi = vf4_max(vf4_load(v->hi), e.hi);
        e.way_lo = vf4_min(vf4_load(v->m), e.way_lo);
        e.way_hi = vf4_max(vf4_load(v->m), e.way_hi);
    }
    return e;
}

DRAPE_INLINE vf4 vf4_abs(vf4 a) { return vf4_max(a, -a); }

/* Whether the boxes of a pair meet by its own r: where those of its leaves do not, neither do these. So the pairs do
 * not depend on which leaves they are in. */
static bool elements_meet(const queue *q, const batch *b, int32_t of_x, int32_t lane, bool together) {
    element x = element_of(q->x->vertex, b, 0, of_x, lane), y = element_of(q->y->vertex, b, of_x, 4, lane);
    vf4 over = vf4_max(y.lo - x.hi, x.lo - y.hi), r;
    if (together) r = vf4_max(x.way_hi - y.way_lo, y.way_hi - x.way_lo);
    else r = vf4_max(vf4_abs(x.way_lo), vf4_abs(x.way_hi)) + vf4_max(vf4_abs(y.way_lo), vf4_abs(y.way_hi));
    r = r * (1 + WIDEN) + TINY;
    return over[0] <= r[0] && over[1] <= r[1] && over[2] <= r[2];
}

/* Tests and writes `count` pairs of the queue, 1 to 8. */
DRAPE_INLINE void take(search *s, drape_contact_kind kind, int32_t from, int32_t count) {
    queue *q = &s->queue[kind];
    const int32_t of_x = kind == DRAPE_CONTACT_EDGE_EDGE ? 2 : 1; /* vertices of the first element */
    uint32_t left = (1u << count) - 1;
    batch b;
    for (int32_t i = 0; i < 8; i++) look_up(q, kind, from + (i < count ? i : 0), i, &b);
    s->candidates += count;
    if (!s->query->boxes_only) left &= ~apart_of(q, kind, &b, left, s->query);
    for (; left; left &= left - 1) {
        int32_t i = DRAPE_LOWEST_BIT(left);
        if (!elements_meet(q, &b, of_x, i, s->query->together)) continue;
        int64_t to = q->sink->count++;
        if (to < q->sink->room) write_pair(q, kind, from + i, i, &b, to);
    }
}

DRAPE_INLINE void drain_one(search *s, drape_contact_kind kind, bool all) {
    queue *q = &s->queue[kind];
    int32_t done = 0;
    for (; q->count - done >= 8; done += 8) take(s, kind, done, 8);
    if (all && done < q->count) {
        take(s, kind, done, q->count - done);
        done = q->count;
    }
    for (int32_t i = done; i < q->count; i++) q->a[i - done] = q->a[i], q->b[i - done] = q->b[i];
    q->count -= done;
}

/* Empties a queue: all of it, or all whole batches. */
static void drain(search *s, drape_contact_kind kind, bool all) {
    switch (kind) {
    case DRAPE_CONTACT_VERTEX_TRIANGLE: drain_one(s, DRAPE_CONTACT_VERTEX_TRIANGLE, all); break;
    case DRAPE_CONTACT_TRIANGLE_VERTEX: drain_one(s, DRAPE_CONTACT_TRIANGLE_VERTEX, all); break;
    case DRAPE_CONTACT_EDGE_EDGE: drain_one(s, DRAPE_CONTACT_EDGE_EDGE, all); break;
    }
}

/* The pairs of a and the lanes `among` of block b. */
DRAPE_INLINE void enqueue(search *s, drape_contact_kind kind, int32_t a, int32_t block, uint32_t among) {
    queue *q = &s->queue[kind];
    int32_t *restrict qa = q->a + q->count, *restrict qb = q->b + q->count;
    const uint8_t *restrict lane = s->lanes[among];
    for (int32_t i = 0; i < 8; i++) qa[i] = a;
    for (int32_t i = 0; i < 8; i++) qb[i] = 8 * block + lane[i];
    q->count += s->lane_count[among];
    if (q->count > QUEUE - 8) drain(s, kind, false);
}

/* ---- Two leaves ---- */

/* The lanes of a block that have vertex v among their `corners`, as bits. */
DRAPE_INLINE uint32_t has_vertex(const drape_i_elements *e, int32_t block, int32_t corners, int32_t v) {
    const int32_t(*vertex)[8] = (const int32_t(*)[8])e->vertex + (int64_t)corners * block;
    uint32_t bits = 0;
    for (int32_t p = 0; p < 8; p += VF_LANES) {
        vm yes = vfi_eq(vfi_load(vertex[0] + p), vfi_set1(v));
        for (int32_t k = 1; k < corners; k++) yes |= vfi_eq(vfi_load(vertex[k] + p), vfi_set1(v));
        bits |= vm_bits(yes) << p;
    }
    return bits;
}

/* Two leaves, or a leaf twice, and what is near in them. */
typedef struct meeting {
    const drape_contact_tree *a, *b;
    int32_t i, k; /* leaf i of a, leaf k of b */
    const box *box_a, *box_b;
    float r[3];
    bool one_mesh;
} meeting;

/* Vertex `lane` of block n against the faces of leaf k in `among`. */
DRAPE_INLINE void vertex_faces(search *s, drape_contact_kind kind, const drape_i_elements *points, int32_t n,
                               int32_t lane, const drape_i_elements *faces, int32_t k, uint32_t among,
                               const float r[3], bool one_mesh) {
    box of = get_box(&points->box[n], lane);
    among &= meets(&faces->box[k], &of, r);
    if (one_mesh) among &= ~has_vertex(faces, k, 3, points->id[n][lane]);
    enqueue(s, kind, points->id[n][lane], k, among);
}

/* Edge `lane` of block n of a against the edges of block m of b in `among`. */
DRAPE_INLINE void edge_edges(search *s, const meeting *w, int32_t n, int32_t lane, int32_t m, uint32_t among) {
    const drape_i_elements *e = &w->a->lines, *f = &w->b->lines;
    const int32_t(*end)[8] = (const int32_t(*)[8])e->vertex + 2 * (int64_t)n;
    box of = get_box(&e->box[n], lane);
    among &= meets(&f->box[m], &of, w->r);
    if (w->one_mesh) among &= ~(has_vertex(f, m, 2, end[0][lane]) | has_vertex(f, m, 2, end[1][lane]));
    enqueue(s, DRAPE_CONTACT_EDGE_EDGE, 8 * n + lane, m, among);
}

/* The vertices of leaf i of one tree against the faces `among` those of leaf k of the other. */
DRAPE_INLINE void vertices_faces(search *s, drape_contact_kind kind, const drape_contact_tree *points, int32_t i,
                                 const box *box_of_faces, const drape_contact_tree *faces, int32_t k, uint32_t among,
                                 const float r[3], bool one_mesh) {
    for (int32_t n = points->points.begin[i]; n < points->points.begin[i + 1]; n++) {
        for (uint32_t left = meets(&points->points.box[n], box_of_faces, r); left; left &= left - 1)
            vertex_faces(s, kind, &points->points, n, DRAPE_LOWEST_BIT(left), &faces->faces, k, among, r, one_mesh);
    }
}

enum { MOST_LINES = 3 * DRAPE_I_TREE_WIDTH / 8 }; /* blocks of edges of a leaf */

/* The edges of leaf i of a against those of leaf k of b. */
DRAPE_INLINE void edges_edges(search *s, const meeting *w) {
    uint32_t among[MOST_LINES];
    int32_t first = w->b->lines.begin[w->k], last = w->b->lines.begin[w->k + 1];
    for (int32_t m = first; m < last; m++) among[m - first] = meets(&w->b->lines.box[m], w->box_a, w->r);
    for (int32_t n = w->a->lines.begin[w->i]; n < w->a->lines.begin[w->i + 1]; n++) {
        for (uint32_t left = meets(&w->a->lines.box[n], w->box_b, w->r); left; left &= left - 1)
            for (int32_t m = first; m < last; m++)
                if (among[m - first]) edge_edges(s, w, n, DRAPE_LOWEST_BIT(left), m, among[m - first]);
    }
}

static void two_leaves(search *s, const drape_contact_tree *a, int32_t i, const node *leaf_a,
                       const drape_contact_tree *b, int32_t k, const node *leaf_b) {
    meeting w = {a, b, i, k, &leaf_a->at, &leaf_b->at, {0}, a == b};
    reach(&leaf_a->way, &leaf_b->way, s->query->together, w.r);
    s->overlaps++;
    /* Vertices and edges of a leaf are those of its triangles: where none of these is near, nothing is. */
    uint32_t near_a = meets(&b->faces.box[k], w.box_a, w.r), near_b = meets(&a->faces.box[i], w.box_b, w.r);
    if (!near_a || !near_b) return;
    vertices_faces(s, DRAPE_CONTACT_VERTEX_TRIANGLE, a, i, w.box_b, b, k, near_a, w.r, w.one_mesh);
    vertices_faces(s, w.one_mesh ? DRAPE_CONTACT_VERTEX_TRIANGLE : DRAPE_CONTACT_TRIANGLE_VERTEX, b, k, w.box_a, a, i,
                   near_b, w.r, w.one_mesh);
    edges_edges(s, &w);
}

/* A leaf against itself: each pair of edges once. */
static void one_leaf(search *s, const drape_contact_tree *a, int32_t i, const node *leaf) {
    meeting w = {a, a, i, i, &leaf->at, &leaf->at, {0}, true};
    reach(&leaf->way, &leaf->way, s->query->together, w.r);
    s->overlaps++;
    vertices_faces(s, DRAPE_CONTACT_VERTEX_TRIANGLE, a, i, w.box_a, a, i, 0xff, w.r, true);
    for (int32_t n = a->lines.begin[i]; n < a->lines.begin[i + 1]; n++) {
        for (int32_t lane = 0; lane < 8 && a->lines.id[n][lane] >= 0; lane++) {
            edge_edges(s, &w, n, lane, n, (0xffu << lane << 1) & 0xff);
            for (int32_t m = n + 1; m < a->lines.begin[i + 1]; m++) edge_edges(s, &w, n, lane, m, 0xff);
        }
    }
}

/* ---- The way down ---- */

/* All leaves of b from `from` on that meet leaf i of a, in ascending order. */
DRAPE_INLINE void descend(search *s, const drape_contact_tree *a, int32_t i, const node *leaf,
                          const drape_contact_tree *b, int32_t from, bool together) {
    uint32_t left[DRAPE_I_TREE_LEVELS]; /* children of the node on the way that are still to be visited */
    int32_t at[DRAPE_I_TREE_LEVELS], l = b->levels - 1;
    at[l] = 0;
    left[l] = nodes_meet(b->level[l], leaf, together);
    while (l < b->levels) {
        if (!left[l]) {
            l++;
            continue;
        }
        int32_t lane = DRAPE_LOWEST_BIT(left[l]), child = at[l] * DRAPE_I_TREE_WIDTH + lane;
        left[l] &= left[l] - 1;
        if ((int64_t)(child + 1) << 3 * l <= from) continue; /* all its leaves come before */
        if (l == 0) {
            node other = get_node(&b->level[0][at[0]], lane);
            two_leaves(s, a, i, leaf, b, child, &other);
        } else {
            l--;
            at[l] = child;
            left[l] = nodes_meet(&b->level[l][child], leaf, together);
        }
    }
}

void DRAPE_NAME(drape_i_tree_pairs)(const drape_i_tree_query *query, int64_t begin, int64_t end,
                                    drape_i_sink sink[DRAPE_CONTACT_KINDS], int64_t *overlaps, int64_t *candidates) {
    const drape_contact_tree *a = query->first, *b = query->second;
    search s;
    s.query = query;
    s.lanes = (const uint8_t(*)[8])a->lanes;
    s.lane_count = a->lane_count;
    s.overlaps = s.candidates = 0;
    for (int32_t kind = 0; kind < DRAPE_CONTACT_KINDS; kind++) {
        bool swapped = kind == DRAPE_CONTACT_TRIANGLE_VERTEX;
        s.queue[kind].count = 0;
        s.queue[kind].sink = &sink[kind];
        s.queue[kind].x = swapped ? b : a;
        s.queue[kind].y = swapped ? a : b;
    }
    for (int64_t i = begin; i < end; i++) {
        node leaf = get_node(&a->level[0][i / DRAPE_I_TREE_WIDTH], i % DRAPE_I_TREE_WIDTH);
        int32_t from = a == b ? (int32_t)i + 1 : 0;
        if (a == b) one_leaf(&s, a, (int32_t)i, &leaf);
        if (query->together) descend(&s, a, (int32_t)i, &leaf, b, from, true);
        else descend(&s, a, (int32_t)i, &leaf, b, from, false);
    }
    for (int32_t kind = 0; kind < DRAPE_CONTACT_KINDS; kind++) drain(&s, (drape_contact_kind)kind, true);
    *overlaps = s.overlaps;
    *candidates = s.candidates;
}
