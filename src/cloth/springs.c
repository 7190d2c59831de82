/* springs.c: which springs a triangle mesh has, how long they are at rest, and how stiff.
 *
 * Which. An edge is along a thread when its direction in material space is within 5 degrees of u or v. A triangle
 * with one edge along each thread is half a cell; its third edge is a diagonal. Two halves that share it are a cell,
 * and a spring along the other diagonal is added. So a grid has the springs of Provot (1995): structural ones along
 * the edges, shear along both diagonals. Bend springs join a and c where neither of the edges a b and b c is a
 * diagonal. Each edge must be the straightest continuation of the other, within 20 degrees of straight. The springs
 * span two cells along each thread.
 *
 * How long. Edges are as long as in material space. The other two kinds are as long as when edges and angles within
 * triangles are those of material space and the sheet is folded as at rest. So a curved rest shape feels no force.
 *
 * How stiff. Let e_u, e_v be the strains and g = w_u.w_v the shear. A spring of constant k, length L and direction
 * (c, s) adds k L^2/2 (c^2 e_u + s^2 e_v + c s g)^2. For a cell of dx by dy with the moduli K_u, K_v (stretch) and G
 * (shear):
 *   - both diagonals: k = G L^2/(2 dx dy), which makes the shear modulus G. They resist stretching too, with
 *     G (dx/dy)^2 along u, G (dy/dx)^2 along v, and couple the two by G.
 *   - edges along u: k = s_u (area of the triangles beside it)/L^2. Where springs resist compression, the modulus of
 *     a strip that may narrow is y_u - G^2/y_v with y_u = s_u + G (dx/dy)^2; it is K_u, and K_v across, for
 *     y_u = (K_u + sqrt(K_u^2 + 4 G^2 K_u/K_v))/2.
 *   - tension_only: the sheet narrows until the diagonals are slack, and s_u = K_u; in shear one diagonal of two is
 *     slack, and G doubles.
 * On triangles that are not half a cell the springs of three edges cannot have three moduli of one's choice. Such an
 * edge gets k = (FREE_STRETCH cos^2(2a) (c^2 K_u + s^2 K_v) + 2 sin^2(2a) G) area/L^2, a being its angle against the
 * warp: edges near a thread carry it. With directions spread evenly the modulus along a thread is K. That of shear is
 * some 0.15 K or more, so an irregular mesh of springs shears less easily than the cloth should. (Van Gelder 1998: no
 * springs on the edges of triangles are equivalent to a membrane.) */
#include "cloth/springs.h"

#include "base/elementary.h"
#include "base/vec3.h"

static const double ALONG_A_THREAD = 0.0872; /* sine of 5 degrees */
static const double STRAIGHT = -0.9397;      /* cosine of 160 degrees */
/* 1/(D - C^2/D), D = 3 mean(cos^2 2a c^4) = 21/32, C = 3 mean(cos^2 2a c^2 s^2) = 3/32 over all directions */
static const double FREE_STRETCH = 1.5556;

typedef struct edge {
    int32_t node[2], triangle[2]; /* the second triangle is -1 at a border */
    drape_i_spring_kind kind;
    double u, v;    /* from node[0] to node[1] in material space, as the first triangle has it, m */
    double length2; /* mean over its triangles, m^2 */
} edge;

typedef struct finder {
    drape_context *ctx;
    const drape_i_model_input *in;
    bool tension_only;
    int32_t edges, springs, *first_vertex; /* of each piece */
    edge *edge;
    int64_t *first;  /* of a vertex in `around`; vertices + 1 */
    int32_t *around; /* the edges at each vertex */
    int32_t (*node)[2];
    drape_i_spring *spring;
} finder;

/* ---- material space ---- */

/* Where the corners are, the first at the origin: rest.c has the inverse. */
static void corners_of(const drape_i_rest_triangle *t, double uv[3][2]) {
    double det = 1 / (t->du[1] * t->dv[2] - t->du[2] * t->dv[1]);
    uv[0][0] = uv[0][1] = 0;
    uv[1][0] = t->dv[2] * det, uv[1][1] = -t->du[2] * det;
    uv[2][0] = -t->dv[1] * det, uv[2][1] = t->du[1] * det;
}

/* The vector from node a to node b of triangle t. */
static void vector_in(const finder *f, int32_t t, int32_t a, int32_t b, double d[2]) {
    const int32_t *c = f->in->triangle[t];
    double uv[3][2];
    int32_t i = c[0] == a ? 0 : c[1] == a ? 1 : 2, j = c[0] == b ? 0 : c[1] == b ? 1 : 2;
    corners_of(&f->in->rest_triangle[t], uv);
    for (int32_t k = 0; k < 2; k++) d[k] = uv[j][k] - uv[i][k];
}

typedef enum thread { WARP, WEFT, OBLIQUE } thread;

static thread thread_of(const double d[2]) {
    double least = ALONG_A_THREAD * sqrt(d[0] * d[0] + d[1] * d[1]);
    return fabs(d[1]) < least ? WARP : fabs(d[0]) < least ? WEFT : OBLIQUE;
}

/* One edge along the warp, one along the weft. */
static bool is_half_cell(const finder *f, int32_t t) {
    const int32_t *c = f->in->triangle[t];
    int32_t along[3] = {0};
    for (int32_t k = 0; k < 3; k++) {
        double d[2];
        vector_in(f, t, c[k], c[(k + 1) % 3], d);
        along[thread_of(d)]++;
    }
    return along[WARP] == 1 && along[WEFT] == 1;
}

static bool is_diagonal(const finder *f, const edge *e, int32_t side) {
    double d[2];
    vector_in(f, e->triangle[side], e->node[0], e->node[1], d);
    return thread_of(d) == OBLIQUE && is_half_cell(f, e->triangle[side]);
}

static const drape_material *material_of(const finder *f, int32_t t) { return f->in->material[t]; }

/* ---- stiffness ---- */

static double shear_modulus(const finder *f, const drape_material *m) {
    return f->tension_only ? 2 * m->shear : m->shear;
}

/* s_u of the head: K along the edge, `across` the other modulus, aspect2 = (dx/dy)^2. */
static double edge_modulus(const finder *f, double K, double across, double G, double aspect2) {
    if (f->tension_only || K == 0) return K;
    double y = across > 0 ? 0.5 * (K + sqrt(K * K + 4 * G * G * K / across)) : K + G;
    return fmax(y - G * aspect2, 0);
}

/* What triangle t gives to an edge's stiffness times its squared length, N m. */
static double share_of(const finder *f, int32_t t, const edge *e, bool in_a_cell) {
    const drape_material *m = material_of(f, t);
    double d[2], A = f->in->rest_triangle[t].area, G = shear_modulus(f, m);
    vector_in(f, t, e->node[0], e->node[1], d);
    double length2 = d[0] * d[0] + d[1] * d[1], c2 = d[0] * d[0] / length2, s2 = d[1] * d[1] / length2;
    double aspect2 = length2 * length2 / (4 * A * A);
    if (!is_half_cell(f, t)) {
        double threads = FREE_STRETCH * (c2 - s2) * (c2 - s2) * (c2 * m->stretch[0] + s2 * m->stretch[1]);
        return A * (threads + 8 * c2 * s2 * m->shear);
    }
    switch (thread_of(d)) {
    case WARP: return A * edge_modulus(f, m->stretch[0], m->stretch[1], G, aspect2);
    case WEFT: return A * edge_modulus(f, m->stretch[1], m->stretch[0], G, aspect2);
    default: return A * G / (c2 * s2) * (in_a_cell ? 0.5 : 1);
    }
}

static bool is_cell(const finder *f, const edge *e) {
    return e->triangle[1] >= 0 && is_diagonal(f, e, 0) && is_diagonal(f, e, 1);
}

/* ---- edges ---- */

static int32_t corner_of(const int32_t corners[3], int32_t node) {
    return corners[0] == node ? 0 : corners[1] == node ? 1 : 2;
}

static void measure_edge(const finder *f, edge *e) {
    double d[2], sum = 0;
    int32_t sides = e->triangle[1] >= 0 ? 2 : 1;
    bool shear = true;
    for (int32_t side = sides - 1; side >= 0; side--) {
        vector_in(f, e->triangle[side], e->node[0], e->node[1], d);
        sum += d[0] * d[0] + d[1] * d[1];
        shear = shear && is_diagonal(f, e, side);
    }
    e->u = d[0], e->v = d[1];
    e->length2 = sum / sides;
    e->kind = shear ? DRAPE_I_SPRING_SHEAR : DRAPE_I_SPRING_STRETCH;
}

/* Hinges first, in their order, then the edges at the borders. */
static drape_status list_edges(finder *f) {
    const drape_i_hinges *h = f->in->hinges;
    int64_t corners = 3 * (int64_t)f->in->triangles;
    bool *inside; /* of each corner: the edge opposite to it is a hinge's */
    if (!DRAPE_NEW(f->ctx, inside, corners)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < h->count; i++) {
        f->edge[i] =
            (edge){.node = {h->node[i][0], h->node[i][1]}, .triangle = {h->triangle[i][0], h->triangle[i][1]}};
        for (int32_t k = 0; k < 2; k++) {
            int32_t t = h->triangle[i][k];
            inside[3 * (int64_t)t + corner_of(f->in->triangle[t], h->node[i][2 + k])] = true;
        }
    }
    f->edges = h->count;
    for (int64_t i = 0; i < corners; i++) {
        const int32_t *c = f->in->triangle[i / 3];
        if (!inside[i])
            f->edge[f->edges++] = (edge){{c[(i + 1) % 3], c[(i + 2) % 3]}, {(int32_t)(i / 3), -1}, 0, 0, 0, 0};
    }
    for (int32_t i = 0; i < f->edges; i++) measure_edge(f, &f->edge[i]);
    DRAPE_FREE(f->ctx, inside, corners);
    return DRAPE_OK;
}

/* ---- springs in the plane ---- */

static void add_spring(finder *f, int32_t a, int32_t b, int32_t triangle, drape_i_spring spring) {
    const drape_material *m = material_of(f, triangle);
    bool bends = spring.kind == DRAPE_I_SPRING_BEND;
    double given = spring.kind == DRAPE_I_SPRING_STRETCH ? m->spring_stretch : m->spring_shear;
    if (!bends && given > 0) spring.stiffness = given;
    spring.piece = f->in->piece_of_triangle[triangle];
    spring.most = m->strain_limit > 0 && !bends ? (1 + m->strain_limit) * spring.length : INFINITY;
    f->node[f->springs][0] = a, f->node[f->springs][1] = b;
    f->spring[f->springs++] = spring;
}

static void add_edge(finder *f, const edge *e) {
    bool cell = is_cell(f, e);
    double share = share_of(f, e->triangle[0], e, cell);
    if (e->triangle[1] >= 0) share += share_of(f, e->triangle[1], e, cell);
    add_spring(f, e->node[0], e->node[1], e->triangle[0],
               (drape_i_spring){.kind = e->kind, .length = sqrt(e->length2), .stiffness = share / e->length2});
}

/* Where `node` stands against the edge in triangle t: so far along it and so high above it. */
static void stand(const finder *f, int32_t t, const edge *e, int32_t node, double *along, double *height) {
    double d[2], p[2];
    vector_in(f, t, e->node[0], e->node[1], d);
    vector_in(f, t, e->node[0], node, p);
    double length = sqrt(d[0] * d[0] + d[1] * d[1]);
    *along = (d[0] * p[0] + d[1] * p[1]) / length;
    *height = fabs(d[0] * p[1] - d[1] * p[0]) / length;
}

/* The other diagonal of the cell whose first diagonal is hinge i: unfolded for its direction, folded for its length.
 */
static void add_other_diagonal(finder *f, int32_t i) {
    const edge *e = &f->edge[i];
    const int32_t *node = f->in->hinges->node[i];
    double a2, h2, a3, h3, d[2], p[2];
    stand(f, e->triangle[0], e, node[2], &a2, &h2);
    stand(f, e->triangle[1], e, node[3], &a3, &h3);
    vector_in(f, e->triangle[0], e->node[0], e->node[1], d);
    vector_in(f, e->triangle[0], e->node[0], node[2], p);
    double side = d[0] * p[1] - d[1] * p[0] > 0 ? -1 : 1, length = sqrt(d[0] * d[0] + d[1] * d[1]); /* node[3]'s */
    double u = ((a3 - a2) * d[0] - side * (h2 + h3) * d[1]) / length;
    double v = ((a3 - a2) * d[1] + side * (h2 + h3) * d[0]) / length, flat2 = u * u + v * v;
    double slope2 = u * u / flat2 * (v * v / flat2);         /* c^2 s^2 */
    if (!(slope2 > ALONG_A_THREAD * ALONG_A_THREAD)) return; /* along a thread: no diagonal */
    double area = f->in->rest_triangle[e->triangle[0]].area + f->in->rest_triangle[e->triangle[1]].area;
    double fold = drape_i_cos(f->in->rest_hinge[i].angle);
    double length2 = (a3 - a2) * (a3 - a2) + h2 * h2 + h3 * h3 + 2 * h2 * h3 * fold;
    if (!(length2 > 1e-12 * flat2)) return; /* folded onto each other at rest: no spring has a length there */
    double k = shear_modulus(f, material_of(f, e->triangle[0])) * area / (2 * slope2 * flat2);
    add_spring(f, node[2], node[3], e->triangle[0],
               (drape_i_spring){.kind = DRAPE_I_SPRING_SHEAR, .length = sqrt(length2), .stiffness = k});
}

/* ---- bend springs ---- */

static drape_status list_around(finder *f) {
    int32_t vertices = f->in->vertices;
    if (!DRAPE_NEW(f->ctx, f->first, (int64_t)vertices + 2) || !DRAPE_NEW(f->ctx, f->around, 2 * (int64_t)f->edges))
        return DRAPE_ERROR_MEMORY;
    int64_t *next = f->first + 1; /* ends as first[v + 1] */
    for (int32_t i = 0; i < 2 * f->edges; i++) next[f->edge[i / 2].node[i % 2] + 1]++;
    for (int32_t v = 0; v < vertices; v++) next[v + 1] += next[v];
    for (int32_t i = 0; i < 2 * f->edges; i++) f->around[next[f->edge[i / 2].node[i % 2]]++] = i / 2;
    return DRAPE_OK;
}

/* Cosine of the angle between two edges at vertex b, in material space. */
static double cosine_between(int32_t b, const edge *p, const edge *q) {
    double sign = (p->node[0] == b) == (q->node[0] == b) ? 1 : -1;
    double dot = p->u * q->u + p->v * q->v;
    return sign * dot / sqrt((p->u * p->u + p->v * p->v) * (q->u * q->u + q->v * q->v));
}

/* The edge at b that goes on straightest from edge i, or -1. */
static int32_t continuation(const finder *f, int32_t b, int32_t i) {
    int32_t best = -1;
    double least = STRAIGHT;
    if (f->edge[i].kind == DRAPE_I_SPRING_SHEAR) return -1;
    for (int64_t k = f->first[b]; k < f->first[b + 1]; k++) {
        int32_t j = f->around[k];
        if (j == i || f->edge[j].kind == DRAPE_I_SPRING_SHEAR) continue;
        double cosine = cosine_between(b, &f->edge[i], &f->edge[j]);
        if (cosine < least) least = cosine, best = j;
    }
    return best;
}

static int32_t other_end(const edge *e, int32_t b) { return e->node[0] == b ? e->node[1] : e->node[0]; }

static vec3 rest_of(const finder *f, int32_t piece, int32_t vertex) {
    return vec3_at(f->in->pieces[piece].rest + 3 * (int64_t)(vertex - f->first_vertex[piece]));
}

/* From a over b to c, with edges as long as in material space. The angle is that of the rest shape, or of material
 * space where the piece is flat at rest. */
static double chord2(const finder *f, int32_t b, const edge *p, const edge *q) {
    int32_t piece = f->in->piece_of_triangle[p->triangle[0]];
    vec3 x = rest_of(f, piece, b);
    vec3 d = vec3_sub(rest_of(f, piece, other_end(p, b)), x), e = vec3_sub(rest_of(f, piece, other_end(q, b)), x);
    double lengths = vec3_length(d) * vec3_length(e), cosine = lengths > 0 ? vec3_dot(d, e) / lengths : -1;
    if (f->in->pieces[piece].flat) cosine = cosine_between(b, p, q);
    return p->length2 + q->length2 - 2 * sqrt(p->length2 * q->length2) * cosine;
}

static void add_bends(finder *f, int32_t b) {
    int32_t before = f->springs;
    for (int64_t k = f->first[b]; k < f->first[b + 1]; k++) {
        int32_t i = f->around[k], j = continuation(f, b, i);
        if (j <= i || continuation(f, b, j) != i) continue;
        const edge *p = &f->edge[i], *q = &f->edge[j];
        double length2 = chord2(f, b, p, q);
        if (!(length2 > 1e-12 * (p->length2 + q->length2))) continue;
        add_spring(f, other_end(p, b), other_end(q, b), p->triangle[0],
                   (drape_i_spring){.kind = DRAPE_I_SPRING_BEND, .length = sqrt(length2)});
    }
    int32_t pairs = f->springs - before;
    for (int32_t s = before; s < f->springs; s++) f->spring[s].area = f->in->area[b] * (pairs > 2 ? 2.0 / pairs : 1);
}

/* ---- all ---- */

static drape_status allocate(finder *f) {
    int64_t edges = 3 * (int64_t)f->in->triangles - f->in->hinges->count;
    int64_t most = 2 * edges + f->in->hinges->count; /* edges, other diagonals, at most an edge's worth of bends */
    if (most > INT32_MAX / 2)
        return drape_i_fail(f->ctx, DRAPE_ERROR_ARGUMENT, "%lld triangles have more springs than can be numbered",
                            (long long)f->in->triangles);
    bool good = DRAPE_NEW(f->ctx, f->edge, edges) && DRAPE_NEW(f->ctx, f->node, most) &&
                DRAPE_NEW(f->ctx, f->spring, most) && DRAPE_NEW(f->ctx, f->first_vertex, f->in->piece_count);
    for (int32_t p = 1; p < f->in->piece_count && good; p++)
        f->first_vertex[p] = f->first_vertex[p - 1] + f->in->pieces[p - 1].vertices;
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static void clear(finder *f) {
    int64_t edges = 3 * (int64_t)f->in->triangles - f->in->hinges->count, most = 2 * edges + f->in->hinges->count;
    DRAPE_FREE(f->ctx, f->edge, edges);
    DRAPE_FREE(f->ctx, f->node, most);
    DRAPE_FREE(f->ctx, f->spring, most);
    DRAPE_FREE(f->ctx, f->first_vertex, f->in->piece_count);
    DRAPE_FREE(f->ctx, f->first, (int64_t)f->in->vertices + 2);
    DRAPE_FREE(f->ctx, f->around, 2 * (int64_t)f->edges);
}

static drape_status copy_springs(const finder *f, drape_i_springs *out) {
    out->count = f->springs;
    if (!DRAPE_NEW(f->ctx, out->node, f->springs) || !DRAPE_NEW(f->ctx, out->spring, f->springs)) {
        drape_i_springs_clear(f->ctx, out);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < f->springs; i++) {
        out->spring[i] = f->spring[i];
        for (int32_t k = 0; k < 2; k++) out->node[i][k] = f->node[i][k];
    }
    return DRAPE_OK;
}

drape_status drape_i_springs_find(drape_context *ctx, const drape_i_model_input *in, bool tension_only,
                                  drape_i_springs *out) {
    finder f = {.ctx = ctx, .in = in, .tension_only = tension_only};
    *out = (drape_i_springs){0};
    drape_status status = allocate(&f);
    if (!status) status = list_edges(&f);
    if (!status) status = list_around(&f);
    for (int32_t i = 0; i < f.edges && !status; i++) add_edge(&f, &f.edge[i]);
    for (int32_t i = 0; i < in->hinges->count && !status; i++)
        if (is_cell(&f, &f.edge[i])) add_other_diagonal(&f, i);
    out->in_plane = f.springs;
    for (int32_t b = 0; b < in->vertices && !status; b++) add_bends(&f, b);
    if (!status) status = copy_springs(&f, out);
    clear(&f);
    return status;
}

void drape_i_springs_clear(drape_context *ctx, drape_i_springs *springs) {
    DRAPE_FREE(ctx, springs->node, springs->count);
    DRAPE_FREE(ctx, springs->spring, springs->count);
    *springs = (drape_i_springs){0};
}
