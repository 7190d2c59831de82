/* mesh_onto.c: a panel is sewn onto another one: a pocket, a patch, a flap. See mesh_sew.h.
 *
 * The path lies somewhere in the pattern of the panel below. That panel is divided there, so that the path becomes a
 * row of its edges. First the corners of the path become vertices. Where the path then crosses an edge, the nearer
 * end of the edge moves there; the edge is divided if a triangle would become too thin by that. Then both rows get
 * the vertices that only the other one has. So pairs of vertices are all that has to be held together. Points of
 * triangles would couple vertex after vertex, along the whole path. Two layers that have the edges of their seam in
 * common also do not cross there.
 *
 * All of this happens in the plane of the pattern; places in space follow from it, and the surface below stays the
 * same set of points where it is flat. */
#include "io/sewing.h"

#include <math.h>
#include <string.h>

static const double NEAR = 0.45; /* of an edge: places that are one, and how far a vertex moves to a corner */
static const double FAR =
    0.2; /* of an edge: the farther end of it moves where it is no more than that beyond the middle */
static const double BESIDE = 0.15; /* of a triangle's height: a corner of the path as near as that to an edge */
static const double KEPT = 0.25;   /* of the area of a triangle, at least, when a corner moves */
static const double ON = 1e-9;     /* of the lengths around: rounding */
static const double CORNER = 1e-6; /* sine: a path that bends by less goes on */

typedef struct cutter {
    drape_i_sewing *s;
    drape_i_mesh *mesh;
    int32_t panel;  /* that is divided */
    uint8_t *fixed; /* per vertex of the pattern, fixed_room of them: it may not move any more */
    int32_t fixed_room;
} cutter;

static bool is_below(const cutter *c, int32_t t) { return c->s->panel_of[c->s->cut_from[t]] == c->panel; }
static double *uv_of(const cutter *c, int32_t u) { return c->mesh->uv + 2 * (int64_t)u; }
static double cross(const double *a, const double *b, const double *p) {
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}
static double length(const double *a, const double *b) {
    const double d[2] = {b[0] - a[0], b[1] - a[1]};
    return sqrt(d[0] * d[0] + d[1] * d[1]);
}

static bool fix(cutter *c, int32_t u) {
    if (u >= c->fixed_room) {
        int32_t room = 2 * c->mesh->uv_vertices + 64;
        uint8_t *more = drape_i_arena_get(c->s->ctx, c->s->arena, room, sizeof *more);
        if (!more) return false;
        if (c->fixed_room > 0) memcpy(more, c->fixed, (size_t)c->fixed_room);
        c->fixed = more, c->fixed_room = room;
    }
    c->fixed[u] = 1;
    return true;
}

static bool is_fixed(const cutter *c, int32_t u) { return u < c->fixed_room && c->fixed[u]; }

/* ---- moving a vertex ---- */

/* Whether no triangle at u turns over or becomes too thin, and u lies inside the pattern: then it moves to p, and its
 * vertex to x. */
static bool move(cutter *c, int32_t u, const double p[2], const double x[3]) {
    drape_i_mesh *m = c->mesh;
    int32_t vertex = -1;
    if (is_fixed(c, u)) return false;
    for (int32_t t = 0; t < m->triangles; t++) {
        if (!is_below(c, t)) continue;
        const int32_t *q = m->uv_triangle[t];
        if (q[0] != u && q[1] != u && q[2] != u) continue;
        int32_t k = drape_i_sew_corner(q, u);
        vertex = m->triangle[t][k];
        const double *a = uv_of(c, q[(k + 1) % 3]), *b = uv_of(c, q[(k + 2) % 3]);
        double was = cross(a, b, uv_of(c, u)), is = cross(a, b, p);
        if (!(is * was > 0) || fabs(is) < KEPT * fabs(was)) return false;
    }
    if (vertex < 0 || drape_i_sewing_on_boundary(c->s, vertex)) return false;
    for (int32_t t = 0; t < m->triangles; t++) /* a dart that the file has sewn */
        for (int32_t k = 0; k < 3; k++)
            if (m->triangle[t][k] == vertex && m->uv_triangle[t][k] != u) return false;
    memcpy(uv_of(c, u), p, 2 * sizeof *p);
    memcpy(m->position + 3 * (int64_t)vertex, x, 3 * sizeof *x);
    return true;
}

/* ---- dividing ---- */

static void between(const double *x, int32_t a, int32_t b, double share, double out[3]) {
    for (int32_t k = 0; k < 3; k++) out[k] = (1 - share) * x[3 * (int64_t)a + k] + share * x[3 * (int64_t)b + k];
}

/* A vertex inside the cloth, and its pattern vertex *u; -1: no memory. */
static int32_t add_inside(cutter *c, const double p[2], const double x[3], int32_t *u) {
    drape_i_sewing *s = c->s;
    drape_i_mesh *m = c->mesh;
    if (!drape_i_sew_reserve_vertex(s) || !drape_i_sew_reserve_uv(s)) return -1;
    int32_t v = m->vertices++;
    *u = m->uv_vertices++;
    memcpy(m->position + 3 * (int64_t)v, x, 3 * sizeof *x);
    memcpy(uv_of(c, *u), p, 2 * sizeof *p);
    s->beside[v][0] = s->beside[v][1] = -1;
    s->parent[v] = v;
    return v;
}

/* A copy of triangle t behind the others; -1: no memory. */
static int32_t copy_triangle(cutter *c, int32_t t) {
    drape_i_mesh *m = c->mesh;
    if (!drape_i_sew_reserve_triangle(c->s)) return -1;
    int32_t new = m->triangles++;
    memcpy(m->triangle[new], m->triangle[t], sizeof *m->triangle);
    memcpy(m->uv_triangle[new], m->uv_triangle[t], sizeof *m->uv_triangle);
    c->s->cut_from[new] = c->s->cut_from[t];
    return new;
}

static void set_corner(cutter *c, int32_t t, int32_t k, int32_t v, int32_t u) {
    c->mesh->triangle[t][k] = v;
    c->mesh->uv_triangle[t][k] = u;
}

/* The edge from a to b of triangle t, where it is on the boundary, is one of triangle `to` from now on. */
static void hand_over(cutter *c, int32_t a, int32_t b, int32_t t, int32_t to) {
    drape_i_border *e = drape_i_sew_border(c->s, a, b);
    if (e && e->triangle == t) e->triangle = to;
}

/* The triangle t (a, b, c) becomes (a, v, c), and a new one (v, b, c). */
static bool halve(cutter *c, int32_t t, int32_t a, int32_t b, int32_t v, int32_t u) {
    int32_t new = copy_triangle(c, t);
    if (new < 0) return false;
    const int32_t *of = c->mesh->uv_triangle[t];
    int32_t ka = drape_i_sew_corner(of, a), kb = drape_i_sew_corner(of, b), kc = 3 - ka - kb;
    hand_over(c, c->mesh->triangle[t][kb], c->mesh->triangle[t][kc], t, new);
    set_corner(c, t, kb, v, u);
    set_corner(c, new, ka, v, u);
    return true;
}

/* The triangles of the panel with this edge of the pattern: how many, 0..2. */
static int32_t beside_edge(const cutter *c, int32_t a, int32_t b, int32_t t[2]) {
    int32_t count = 0;
    for (int32_t i = 0; i < c->mesh->triangles && count < 2; i++) {
        const int32_t *q = c->mesh->uv_triangle[i];
        bool has_a = q[0] == a || q[1] == a || q[2] == a, has_b = q[0] == b || q[1] == b || q[2] == b;
        if (has_a && has_b && is_below(c, i)) t[count++] = i;
    }
    return count;
}

static int32_t vertex_of(const cutter *c, int32_t t, int32_t u) {
    return c->mesh->triangle[t][drape_i_sew_corner(c->mesh->uv_triangle[t], u)];
}

static drape_status leaves(const cutter *c, const double p[2]) {
    return drape_i_fail(c->s->ctx, DRAPE_ERROR_ARGUMENT,
                        "the path leaves panel %s, at (%.4g m, %.4g m) of its pattern; change `at` or `turn`",
                        c->s->panel_name[c->panel] ? c->s->panel_name[c->panel] : "", p[0], p[1]);
}

/* A vertex on the edge of the pattern from a to b. */
static drape_status divide(cutter *c, int32_t a, int32_t b, double share, int32_t *u) {
    int32_t t[2], count = beside_edge(c, a, b, t);
    double p[2], x[3];
    if (count == 0) return leaves(c, uv_of(c, a));
    int32_t va = vertex_of(c, t[0], a), vb = vertex_of(c, t[0], b);
    if (count == 1) {
        drape_i_border *e = drape_i_sew_border(c->s, va, vb);
        if (!e || e->triangle != t[0]) return leaves(c, uv_of(c, a)); /* a dart that the file has sewn */
        int32_t v = drape_i_sew_divide(c->s, va, vb, share);
        *u = c->mesh->uv_vertices - 1;
        return v < 0 ? DRAPE_ERROR_MEMORY : DRAPE_OK;
    }
    for (int32_t k = 0; k < 2; k++) p[k] = (1 - share) * uv_of(c, a)[k] + share * uv_of(c, b)[k];
    between(c->mesh->position, va, vb, share, x);
    int32_t v = add_inside(c, p, x, u);
    return v >= 0 && halve(c, t[0], a, b, v, *u) && halve(c, t[1], a, b, v, *u) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* The triangle (a, b, c) becomes (a, b, v), and new ones (v, b, c) and (a, v, c). */
static drape_status divide_triangle(cutter *c, int32_t t, const double p[2], const double x[3], int32_t *u) {
    int32_t v = add_inside(c, p, x, u), second = v < 0 ? -1 : copy_triangle(c, t),
            third = second < 0 ? -1 : copy_triangle(c, t);
    if (third < 0) return DRAPE_ERROR_MEMORY;
    const int32_t *of = c->mesh->triangle[t];
    hand_over(c, of[1], of[2], t, second);
    hand_over(c, of[0], of[2], t, third);
    set_corner(c, t, 2, v, *u);
    set_corner(c, second, 0, v, *u);
    set_corner(c, third, 1, v, *u);
    return DRAPE_OK;
}

/* ---- a corner of the path ---- */

/* The triangle of the panel in whose pattern p lies, with its barycentric coordinates; -1: none. */
static int32_t find_triangle(const cutter *c, const double p[2], double w[3]) {
    for (int32_t t = 0; t < c->mesh->triangles; t++) {
        if (!is_below(c, t)) continue;
        const int32_t *q = c->mesh->uv_triangle[t];
        const double *a = uv_of(c, q[0]), *b = uv_of(c, q[1]), *d = uv_of(c, q[2]), area = cross(a, b, d);
        w[0] = cross(b, d, p) / area, w[1] = cross(d, a, p) / area, w[2] = cross(a, b, p) / area;
        if (fmin(fmin(w[0], w[1]), w[2]) >= -ON) return t;
    }
    return -1;
}

/* It becomes a vertex of the pattern, *u. */
static drape_status place_corner(cutter *c, const double p[2], int32_t *u) {
    double w[3], x[3] = {0};
    int32_t t = find_triangle(c, p, w), most = 0, least = 0;
    if (t < 0) return leaves(c, p);
    const int32_t *q = c->mesh->uv_triangle[t], *v = c->mesh->triangle[t];
    for (int32_t k = 0; k < 3; k++) {
        if (w[k] > w[most]) most = k;
        if (w[k] < w[least]) least = k;
        for (int32_t d = 0; d < 3; d++) x[d] += w[k] * c->mesh->position[3 * (int64_t)v[k] + d];
    }
    const double *near = uv_of(c, q[most]);
    double edge = fmin(length(near, uv_of(c, q[(most + 1) % 3])), length(near, uv_of(c, q[(most + 2) % 3])));
    *u = q[most];
    if (length(near, p) <= ON * edge) return DRAPE_OK;
    if (length(near, p) <= NEAR * edge && move(c, *u, p, x)) return DRAPE_OK;
    if (!(w[least] < BESIDE)) return divide_triangle(c, t, p, x, u);
    int32_t a = q[(least + 1) % 3], b = q[(least + 2) % 3], beside[2];
    double share = w[(least + 2) % 3] / (w[(least + 1) % 3] + w[(least + 2) % 3]);
    if (!(w[least] > ON)) return divide(c, a, b, share, u);
    if (beside_edge(c, a, b, beside) < 2) return divide_triangle(c, t, p, x, u);
    drape_status status = divide(c, a, b, share, u);
    if (status || move(c, *u, p, x)) return status;
    t = find_triangle(c, p, w); /* the triangles beyond the edge would be too thin */
    return t < 0 ? leaves(c, p) : divide_triangle(c, t, p, x, u);
}

/* ---- from corner to corner ---- */

/* The next vertex of the pattern on the straight way from u to the point p; *crossed: the edge that lies across it,
 * where it leads to none. */
typedef struct way {
    int32_t next, a, b;
    double share; /* from a to b */
} way;

static bool look_ahead(const cutter *c, int32_t u, const double p[2], way *out) {
    const double *o = uv_of(c, u), far = length(o, p);
    *out = (way){.next = -1, .a = -1};
    for (int32_t t = 0; t < c->mesh->triangles; t++) {
        const int32_t *q = c->mesh->uv_triangle[t];
        if ((q[0] != u && q[1] != u && q[2] != u) || !is_below(c, t)) continue;
        int32_t k = drape_i_sew_corner(q, u), a = q[(k + 1) % 3], b = q[(k + 2) % 3];
        if (cross(o, uv_of(c, a), uv_of(c, b)) < 0) a = q[(k + 2) % 3], b = q[(k + 1) % 3];
        const int32_t end[2] = {a, b};
        double off[2];
        for (int32_t i = 0; i < 2; i++) {
            const double *e = uv_of(c, end[i]);
            off[i] = cross(o, p, e);
            double along = (e[0] - o[0]) * (p[0] - o[0]) + (e[1] - o[1]) * (p[1] - o[1]);
            if (fabs(off[i]) <= ON * far * length(o, e) && along > 0) {
                out->next = end[i];
                return true;
            }
        }
        if (off[0] < 0 && off[1] > 0) out->a = a, out->b = b, out->share = off[0] / (off[0] - off[1]);
    }
    return out->a >= 0;
}

/* Vertices of the pattern after `from` up to `to`, each joined by an edge to the one before. */
static drape_status cut(cutter *c, int32_t from, int32_t to, int32_t most, int32_t *list, int32_t *count) {
    int32_t u = from;
    while (u != to) {
        way w;
        if (*count == most || !look_ahead(c, u, uv_of(c, to), &w)) return leaves(c, uv_of(c, u));
        if (w.next < 0) {
            const double *a = uv_of(c, w.a), *b = uv_of(c, w.b);
            double p[2], x[3];
            int32_t t[2];
            if (beside_edge(c, w.a, w.b, t) < 1) return leaves(c, uv_of(c, u));
            for (int32_t k = 0; k < 2; k++) p[k] = (1 - w.share) * a[k] + w.share * b[k];
            between(c->mesh->position, vertex_of(c, t[0], w.a), vertex_of(c, t[0], w.b), w.share, x);
            const bool first = w.share < 0.5; /* the nearer end of the edge */
            if (move(c, first ? w.a : w.b, p, x)) w.next = first ? w.a : w.b;
            else if (fabs(w.share - 0.5) < FAR && move(c, first ? w.b : w.a, p, x)) w.next = first ? w.b : w.a;
            drape_status status = w.next < 0 ? divide(c, w.a, w.b, w.share, &w.next) : DRAPE_OK;
            if (status) return status;
        }
        if (!fix(c, w.next)) return DRAPE_ERROR_MEMORY;
        list[(*count)++] = u = w.next;
    }
    return DRAPE_OK;
}

/* ---- the whole path ---- */

static void pattern_below(const drape_i_sewing *s, const drape_i_laying *how, int32_t a, int32_t b, int32_t of,
                          double out[2]) {
    const drape_i_mesh *m = s->mesh;
    const drape_i_border *e = drape_i_sew_border(s, a, b);
    const double *p =
        m->uv + 2 * (int64_t)m->uv_triangle[e->triangle][drape_i_sew_corner(m->triangle[e->triangle], of)];
    const double d[2] = {p[0] - how->middle[0], p[1] - how->middle[1]};
    for (int32_t k = 0; k < 2; k++) out[k] = (how->turn[2 * k] * d[0] + how->turn[2 * k + 1] * d[1]) + how->at[k];
}

/* Where the path bends, and its ends. */
static drape_status place_corners(cutter *c, const drape_i_patch *patch, const drape_i_path *path, int32_t *corner,
                                  int32_t *place, int32_t *corners) {
    *corners = 0;
    for (int32_t i = 0; i < path->count; i++) {
        double p[2], before[2], after[2];
        const int32_t *v = path->vertex;
        pattern_below(c->s, &patch->how, v[i > 0 ? i - 1 : 0], v[i > 0 ? i : 1], v[i], p);
        if (i > 0 && i + 1 < path->count) {
            pattern_below(c->s, &patch->how, v[i - 1], v[i], v[i - 1], before);
            pattern_below(c->s, &patch->how, v[i], v[i + 1], v[i + 1], after);
            if (fabs(cross(before, p, after)) <= CORNER * length(before, p) * length(p, after)) continue;
        }
        drape_status status = place_corner(c, p, &corner[*corners]);
        if (!status && !fix(c, corner[*corners])) status = DRAPE_ERROR_MEMORY;
        if (status) return status;
        place[(*corners)++] = i;
    }
    return DRAPE_OK;
}

/* The row of vertices below, and at which share of the path each is. */
static drape_status cut_line(cutter *c, const drape_i_patch *patch, const drape_i_line *above, drape_i_line *below,
                             int32_t **uv) {
    const drape_i_path *path = &patch->path;
    const int32_t room = 2 * c->mesh->vertices + 4 * path->count;
    int32_t corners, *corner = drape_i_arena_get(c->s->ctx, &c->s->scratch, path->count, sizeof *corner),
                     *place = drape_i_arena_get(c->s->ctx, &c->s->scratch, path->count, sizeof *place);
    *uv = drape_i_arena_get(c->s->ctx, &c->s->scratch, room, sizeof **uv);
    *below = (drape_i_line){.vertex = drape_i_arena_get(c->s->ctx, &c->s->scratch, room, sizeof *below->vertex),
                            .at = drape_i_arena_get(c->s->ctx, &c->s->scratch, room, sizeof *below->at),
                            .length = above->length};
    if (!corner || !place || !*uv || !below->vertex || !below->at) return DRAPE_ERROR_MEMORY;
    drape_status status = place_corners(c, patch, path, corner, place, &corners);
    if (status) return status;
    (*uv)[0] = corner[0];
    below->count = 1;
    for (int32_t i = 1; i < corners && !status; i++) {
        const double *from = uv_of(c, corner[i - 1]), begin = above->at[place[i - 1]], end = above->at[place[i]];
        const int32_t first = below->count;
        const double far = length(from, uv_of(c, corner[i]));
        status = cut(c, corner[i - 1], corner[i], c->mesh->vertices + path->count, *uv, &below->count);
        from = uv_of(c, corner[i - 1]);
        for (int32_t k = first; k < below->count && !status; k++)
            below->at[k] =
                k + 1 == below->count ? end : begin + (end - begin) * length(from, uv_of(c, (*uv)[k])) / far;
    }
    return status;
}

/* A vertex of the row below that only the path above has. */
static drape_status insert_below(cutter *c, drape_i_line *l, int32_t *uv, int32_t before, double at) {
    int32_t u;
    double share = (at - l->at[before - 1]) / (l->at[before] - l->at[before - 1]);
    drape_status status = divide(c, uv[before - 1], uv[before], share, &u);
    if (status) return status;
    const size_t behind = (size_t)(l->count - before);
    memmove(uv + before + 1, uv + before, behind * sizeof *uv);
    memmove(l->at + before + 1, l->at + before, behind * sizeof *l->at);
    uv[before] = u, l->at[before] = at;
    l->count++;
    return fix(c, u) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status match(cutter *c, drape_i_line *above, drape_i_line *below, int32_t *uv) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 1; (i < above->count || i < below->count) && !status; i++) {
        bool last_a = i == above->count - 1, last_b = i == below->count - 1;
        if (last_a && last_b) break;
        double a = above->at[i], b = below->at[i], edge = fmin(a - above->at[i - 1], b - below->at[i - 1]);
        if (!last_a) edge = fmin(edge, above->at[i + 1] - a);
        if (!last_b) edge = fmin(edge, below->at[i + 1] - b);
        bool same = fabs(a - b) <= ON, near = fabs(a - b) <= NEAR * edge && !last_a && !last_b;
        if (near && !same) drape_i_sew_slide(c->s, above, i, b);
        if (same || (near && above->at[i] == b)) continue;
        if (a < b) status = insert_below(c, below, uv, i, a);
        else if (!drape_i_sew_insert(c->s, above, i, b)) status = DRAPE_ERROR_MEMORY;
    }
    return status;
}

static int32_t find_vertex(const cutter *c, int32_t u) {
    for (int32_t t = 0; t < c->mesh->triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            if (c->mesh->uv_triangle[t][k] == u) return c->mesh->triangle[t][k];
    return -1;
}

static drape_status join(cutter *c, const drape_i_line *above, const int32_t *uv) {
    drape_i_sewing *s = c->s;
    for (int32_t i = 0; i < above->count; i++) {
        drape_i_drawn pair = {.a = above->vertex[i], .b = find_vertex(c, uv[i]), .begins = i == 0};
        for (int32_t k = 0; k < s->drawn_count && (i == 0 || i == above->count - 1); k++)
            pair.known |= s->drawn[k].a == pair.a && s->drawn[k].b == pair.b;
        if (!drape_i_sew_draw(s, pair)) return DRAPE_ERROR_MEMORY;
    }
    return DRAPE_OK;
}

/* Vertices of earlier seams stay where they are. */
static bool fix_seams(cutter *c) {
    const drape_i_mesh *m = c->mesh;
    uint8_t *drawn = drape_i_arena_get(c->s->ctx, &c->s->scratch, m->vertices, sizeof *drawn);
    if (!drawn) return false;
    for (int32_t i = 0; i < c->s->drawn_count; i++) drawn[c->s->drawn[i].b] = 1;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            if (drawn[m->triangle[t][k]] && !fix(c, m->uv_triangle[t][k])) return false;
    return true;
}

static drape_status sew_onto(cutter *c, const drape_i_patch *patch, drape_i_path *path) {
    drape_i_line above, below;
    int32_t *uv;
    if (!fix_seams(c)) return DRAPE_ERROR_MEMORY;
    if (!drape_i_sew_line(c->s, path, 2 * c->mesh->vertices + 4 * path->count, &above)) return DRAPE_ERROR_MEMORY;
    drape_status status = cut_line(c, patch, &above, &below, &uv);
    if (!status) status = match(c, &above, &below, uv);
    return status ? status : join(c, &above, uv);
}

drape_status drape_i_sewing_onto(drape_i_sewing *s, const drape_i_patch *patch) {
    cutter c = {.s = s, .mesh = s->mesh, .panel = patch->how.lower};
    drape_i_path path = patch->path;
    drape_status status = drape_i_sew_claim(s, &path, patch->index + 1);
    if (!status) status = sew_onto(&c, patch, &path);
    drape_i_arena_free(s->ctx, &s->scratch);
    return status;
}

/* ---- what would lie flat on the panel below ---- */

/* An edge of triangle t between two vertices of seams that is no edge of the boundary; -1: none. */
static int32_t flat_edge(const drape_i_sewing *s, const uint8_t *sewn, int32_t known, int32_t t) {
    const int32_t *v = s->mesh->triangle[t];
    for (int32_t k = 0; k < 3; k++) {
        const int32_t a = v[k], b = v[(k + 1) % 3];
        if (a < known && b < known && sewn[a] && sewn[b] && !drape_i_sew_border(s, a, b)) return k;
    }
    return -1;
}

drape_status drape_i_sewing_lift(drape_i_sewing *s, const drape_i_laying *how) {
    cutter c = {.s = s, .mesh = s->mesh, .panel = how->upper};
    const int32_t known = s->mesh->vertices;
    uint8_t *sewn = drape_i_arena_get(s->ctx, s->arena, known, sizeof *sewn);
    drape_status status = DRAPE_OK;
    if (!sewn) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < s->drawn_count; i++) sewn[s->drawn[i].a] = 1;
    for (int32_t t = 0, k; t < s->mesh->triangles && !status; t++) /* also those that dividing adds */
        while (!status && is_below(&c, t) && (k = flat_edge(s, sewn, known, t)) >= 0) {
            const int32_t *q = s->mesh->uv_triangle[t];
            status = divide(&c, q[k], q[(k + 1) % 3], 0.5, &(int32_t){0});
        }
    return status;
}

int32_t drape_i_sewing_triangles(const drape_i_sewing *s, int32_t panel) {
    int32_t count = 0;
    for (int32_t t = 0; t < s->mesh->triangles; t++) count += s->panel_of[s->cut_from[t]] == panel;
    return count;
}
