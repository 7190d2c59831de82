/* mesh_sew.c: see mesh_sew.h.
 *
 * Lengths are those of the pattern, where there is one. Two paths are matched by the share of their length. Places
 * nearer to each other than NEAR of the shorter edge beside them are one. Others are added to the path that lacks
 * them. Dividing a boundary edge turns its triangle into a fan about the corner opposite. */
#include "io/sewing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 0.35;     /* of an edge: places of two paths that are one */
static const double STRAIGHT = 0.94; /* cosine: a path that bends by less than 20 degrees goes on */
static const double CROSSED = 0.25;  /* of the squared distances: what turning a path around would leave of them */

/* ---- memory that grows ---- */

static void *grow(drape_i_sewing *s, void *old, int64_t used, int64_t room, size_t size) {
    void *new = drape_i_arena_get(s->ctx, s->arena, room, size);
    if (new &&used > 0) memcpy(new, old, (size_t)used * size);
    return new;
}

#define GROW(s, array, used, room) ((array = grow(s, array, used, room, sizeof *(array))) != NULL)

bool drape_i_sew_reserve_vertex(drape_i_sewing *s) {
    drape_i_mesh *m = s->mesh;
    if (m->vertices < s->vertex_room) return true;
    int32_t room = s->vertex_room = 2 * m->vertices + 64;
    m->position = grow(s, m->position, 3 * (int64_t)m->vertices, 3 * (int64_t)room, sizeof *m->position);
    return m->position && GROW(s, s->beside, m->vertices, room) && GROW(s, s->parent, m->vertices, room);
}

bool drape_i_sew_reserve_uv(drape_i_sewing *s) {
    drape_i_mesh *m = s->mesh;
    if (!m->uv || m->uv_vertices < s->uv_room) return true;
    s->uv_room = 2 * m->uv_vertices + 64;
    m->uv = grow(s, m->uv, 2 * (int64_t)m->uv_vertices, 2 * (int64_t)s->uv_room, sizeof *m->uv);
    return m->uv != NULL;
}

bool drape_i_sew_reserve_triangle(drape_i_sewing *s) {
    drape_i_mesh *m = s->mesh;
    if (m->triangles < s->triangle_room) return true;
    int32_t room = s->triangle_room = 2 * m->triangles + 64;
    if (m->uv && !GROW(s, m->uv_triangle, m->triangles, room)) return false;
    return GROW(s, m->triangle, m->triangles, room) && GROW(s, s->cut_from, m->triangles, room);
}

static bool reserve_border(drape_i_sewing *s) {
    if (s->borders < s->border_room) return true;
    s->border_room = 2 * s->borders + 64;
    return GROW(s, s->border, s->borders, s->border_room);
}

/* ---- the boundary ---- */

static int compare_borders(const void *a, const void *b) {
    const drape_i_border *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static bool same_border(const drape_i_border *p, const drape_i_border *q) {
    return p->low == q->low && p->high == q->high;
}

static drape_i_border border_between(int32_t a, int32_t b) {
    return (drape_i_border){.low = a < b ? a : b, .high = a < b ? b : a};
}

drape_i_border *drape_i_sew_border(const drape_i_sewing *s, int32_t a, int32_t b) {
    drape_i_border wanted = border_between(a, b);
    for (int32_t i = s->sorted; i < s->borders; i++)
        if (same_border(&s->border[i], &wanted)) return s->border[i].triangle >= 0 ? &s->border[i] : NULL;
    int32_t low = 0, high = s->sorted;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const drape_i_border *at = &s->border[middle];
        if (at->low < wanted.low || (at->low == wanted.low && at->high < wanted.high)) low = middle + 1;
        else high = middle;
    }
    bool found = low < s->sorted && same_border(&s->border[low], &wanted) && s->border[low].triangle >= 0;
    return found ? &s->border[low] : NULL;
}

static void note_neighbour(drape_i_sewing *s, int32_t v, int32_t neighbour) {
    int32_t *b = s->beside[v];
    if (b[0] == -1) b[0] = neighbour;
    else if (b[1] == -1) b[1] = neighbour;
    else b[0] = b[1] = -2;
}

static drape_status find_borders(drape_i_sewing *s) {
    const drape_i_mesh *m = s->mesh;
    int64_t halves = 3 * (int64_t)m->triangles;
    s->border = drape_i_arena_get(s->ctx, s->arena, halves + 1, sizeof *s->border);
    if (!s->border) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < halves; i++) {
        const int32_t *t = m->triangle[i / 3];
        s->border[i] = border_between(t[i % 3], t[(i + 1) % 3]);
        s->border[i].triangle = (int32_t)(i / 3);
    }
    qsort(s->border, (size_t)halves, sizeof *s->border, compare_borders);
    for (int64_t i = 0, next; i < halves; i = next) {
        for (next = i + 1; next < halves && same_border(&s->border[i], &s->border[next]);) next++;
        if (next - i > 2)
            return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                                "the edge from vertex %d to %d belongs to %d triangles; it may belong to two",
                                s->border[i].low, s->border[i].high, (int)(next - i));
        if (next - i == 1) s->border[s->borders++] = s->border[i];
    }
    s->sorted = s->borders;
    s->border_room = (int32_t)(halves < INT32_MAX ? halves : INT32_MAX);
    for (int32_t i = 0; i < s->borders; i++) {
        note_neighbour(s, s->border[i].low, s->border[i].high);
        note_neighbour(s, s->border[i].high, s->border[i].low);
    }
    return DRAPE_OK;
}

drape_status drape_i_sewing_begin(drape_context *ctx, drape_i_arena *arena, drape_i_mesh *mesh, int32_t panels,
                                  const char *const *panel_name, const int32_t *panel_first, drape_i_sewing **out) {
    drape_i_sewing *s = *out = drape_i_arena_get(ctx, arena, 1, sizeof *s);
    if (!s) return DRAPE_ERROR_MEMORY;
    *s = (drape_i_sewing){.ctx = ctx,
                          .arena = arena,
                          .mesh = mesh,
                          .panels = panels,
                          .panel_name = panel_name,
                          .panel_first = panel_first,
                          .named = mesh->vertices,
                          .vertex_room = mesh->vertices,
                          .triangle_room = mesh->triangles,
                          .uv_room = mesh->uv_vertices,
                          .was_triangles = mesh->triangles};
    s->beside = drape_i_arena_get(ctx, arena, mesh->vertices, sizeof *s->beside);
    s->parent = drape_i_arena_get(ctx, arena, mesh->vertices, sizeof *s->parent);
    s->cut_from = drape_i_arena_get(ctx, arena, mesh->triangles, sizeof *s->cut_from);
    s->panel_of = drape_i_arena_get(ctx, arena, mesh->triangles, sizeof *s->panel_of);
    if (!s->beside || !s->parent || !s->cut_from || !s->panel_of) return DRAPE_ERROR_MEMORY;
    for (int32_t v = 0; v < mesh->vertices; v++) s->beside[v][0] = s->beside[v][1] = -1, s->parent[v] = v;
    for (int32_t t = 0, p = 0; t < mesh->triangles; t++) { /* panel after panel */
        while (p + 1 < panels && panel_first[p + 1] <= mesh->triangle[t][0]) p++;
        s->cut_from[t] = t;
        s->panel_of[t] = p;
    }
    return find_borders(s);
}

int32_t drape_i_sewing_boundary_edges(const drape_i_sewing *s) { return s->borders; }
bool drape_i_sewing_on_boundary(const drape_i_sewing *s, int32_t v) { return s->beside[v][0] != -1; }

const char *drape_i_sewing_vertex(const drape_i_sewing *s, int32_t vertex, char *text, size_t size) {
    int32_t p = 0;
    if (vertex >= s->named) {
        snprintf(text, size, "a new vertex");
        return text;
    }
    while (p + 1 < s->panels && s->panel_first[p + 1] <= vertex) p++;
    if (s->panel_name[p]) snprintf(text, size, "vertex %d of panel %s", vertex - s->panel_first[p], s->panel_name[p]);
    else snprintf(text, size, "vertex %d", vertex);
    return text;
}

/* ---- paths ---- */

static double distance(const double *a, const double *b, int32_t dimension) {
    double square = 0;
    for (int32_t k = 0; k < dimension; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(square);
}

int32_t drape_i_sew_corner(const int32_t *triangle, int32_t vertex) {
    return triangle[0] == vertex ? 0 : triangle[1] == vertex ? 1 : 2;
}

/* Of a boundary edge, in the pattern. */
static double edge_length(const drape_i_sewing *s, int32_t a, int32_t b) {
    const drape_i_mesh *m = s->mesh;
    const drape_i_border *e = drape_i_sew_border(s, a, b);
    if (!m->uv || !e) return distance(m->position + 3 * (int64_t)a, m->position + 3 * (int64_t)b, 3);
    const int32_t *t = m->triangle[e->triangle], *uv = m->uv_triangle[e->triangle];
    return distance(m->uv + 2 * (int64_t)uv[drape_i_sew_corner(t, a)],
                    m->uv + 2 * (int64_t)uv[drape_i_sew_corner(t, b)], 2);
}

double drape_i_sewing_length(const drape_i_sewing *s, const drape_i_path *path) {
    double sum = 0;
    for (int32_t i = 1; i < path->count; i++) sum += edge_length(s, path->vertex[i - 1], path->vertex[i]);
    return sum;
}

static drape_status refuse_vertex(drape_i_sewing *s, int32_t v) {
    char name[160];
    drape_i_sewing_vertex(s, v, name, sizeof name);
    return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                        s->beside[v][0] == -1
                            ? "%s is not on the boundary; a path follows boundary edges"
                            : "at %s the boundary touches itself, so that no path can pass; separate "
                              "the parts there",
                        name);
}

static int32_t onward(const drape_i_sewing *s, int32_t before, int32_t v) {
    return s->beside[v][0] == before ? s->beside[v][1] : s->beside[v][0];
}

/* Vertices from a on, first towards beside[a][side], until b; 0 where that is never reached or an edge is taken.
 * out NULL: counts them and adds up their length. */
static int32_t follow(const drape_i_sewing *s, int32_t a, int32_t b, int32_t side, int32_t mark, int32_t *out,
                      double *length) {
    int32_t before = a, v = s->beside[a][side], count = 0;
    *length = 0;
    for (;;) {
        drape_i_border *e = v >= 0 ? drape_i_sew_border(s, before, v) : NULL;
        if (!e || e->seam == mark) return 0;
        *length += edge_length(s, before, v);
        if (out) out[count] = v, e->seam = mark;
        count++;
        if (v == b) return count;
        if (v == a || s->beside[v][0] == -2) return 0;
        int32_t next = onward(s, before, v);
        before = v, v = next;
    }
}

/* Marks of edges while a path is laid; no seam has this number. */
enum { LAYING = -1 };

static void unmark(drape_i_sewing *s, const drape_i_path *path) {
    for (int32_t i = 1; i < path->count; i++) {
        drape_i_border *e = drape_i_sew_border(s, path->vertex[i - 1], path->vertex[i]);
        if (e && e->seam == LAYING) e->seam = 0;
    }
}

drape_status drape_i_sewing_walk(drape_i_sewing *s, int32_t count, const int32_t *over, drape_i_path *out) {
    char names[2][160];
    for (int32_t i = 0; i < count; i++)
        if (s->beside[over[i]][0] < 0) return refuse_vertex(s, over[i]);
    out->vertex = drape_i_arena_get(s->ctx, s->arena, (int64_t)s->borders + 1, sizeof *out->vertex);
    if (!out->vertex) return DRAPE_ERROR_MEMORY;
    out->vertex[0] = over[0], out->count = 1;
    for (int32_t i = 1; i < count; i++) {
        double length[2];
        int32_t found[2];
        for (int32_t side = 0; side < 2; side++)
            found[side] = follow(s, over[i - 1], over[i], side, LAYING, NULL, &length[side]);
        int32_t side = !found[0] || (found[1] && length[1] < length[0]) ? 1 : 0;
        if (!found[side]) {
            unmark(s, out);
            return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                                "no way along the boundary leads from %s to %s without an edge twice",
                                drape_i_sewing_vertex(s, over[i - 1], names[0], sizeof names[0]),
                                drape_i_sewing_vertex(s, over[i], names[1], sizeof names[1]));
        }
        out->count += follow(s, over[i - 1], over[i], side, LAYING, out->vertex + out->count, &length[0]);
    }
    unmark(s, out);
    out->ordered = true;
    return DRAPE_OK;
}

drape_status drape_i_sewing_collect(drape_i_sewing *s, int32_t count, const int32_t *vertex, drape_i_path *out) {
    uint8_t *in = drape_i_arena_get(s->ctx, s->arena, s->mesh->vertices, sizeof *in);
    int32_t ends = 0, end = -1, edges = 0, any = -1;
    char name[160];
    if (!in) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) in[vertex[i]] = 1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t *b = s->beside[vertex[i]];
        if (b[0] == -1) continue;
        if (b[0] == -2) return refuse_vertex(s, vertex[i]);
        int32_t neighbours = in[b[0]] + in[b[1]];
        edges += neighbours;
        if (neighbours == 1) ends++, end = ends == 1 ? vertex[i] : end;
        if (neighbours == 2) any = vertex[i];
    }
    if (edges == 0) return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "no boundary edge has both ends there");
    int32_t begin = ends ? end : any, before = -1, v = begin;
    out->vertex = drape_i_arena_get(s->ctx, s->arena, edges / 2 + 1, sizeof *out->vertex);
    if (!out->vertex) return DRAPE_ERROR_MEMORY;
    out->count = 0;
    out->ordered = false;
    do {
        out->vertex[out->count++] = v;
        int32_t next = -1;
        for (int32_t k = 0; k < 2 && next < 0; k++)
            if (s->beside[v][k] != before && in[s->beside[v][k]]) next = s->beside[v][k];
        before = v, v = next;
    } while (v >= 0 && v != begin && out->count <= edges / 2);
    if (v == begin) out->vertex[out->count++] = v;
    if (out->count - 1 == edges / 2) return DRAPE_OK;
    return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                        "the boundary edges there are not one path: one begins at %s; name its vertices instead",
                        drape_i_sewing_vertex(s, begin, name, sizeof name));
}

/* ---- dividing boundary edges ---- */

static int32_t add_vertex(drape_i_sewing *s, int32_t a, int32_t b, double share) {
    drape_i_mesh *m = s->mesh;
    if (!drape_i_sew_reserve_vertex(s)) return -1;
    int32_t v = m->vertices++;
    for (int32_t k = 0; k < 3; k++)
        m->position[3 * (int64_t)v + k] =
            (1 - share) * m->position[3 * (int64_t)a + k] + share * m->position[3 * (int64_t)b + k];
    s->beside[v][0] = a, s->beside[v][1] = b;
    s->parent[v] = v;
    return v;
}

static int32_t add_uv(drape_i_sewing *s, int32_t a, int32_t b, double share) {
    drape_i_mesh *m = s->mesh;
    if (!drape_i_sew_reserve_uv(s)) return -1;
    int32_t v = m->uv_vertices++;
    for (int32_t k = 0; k < 2; k++)
        m->uv[2 * (int64_t)v + k] = (1 - share) * m->uv[2 * (int64_t)a + k] + share * m->uv[2 * (int64_t)b + k];
    return v;
}

static void replace_neighbour(drape_i_sewing *s, int32_t v, int32_t old, int32_t new) {
    s->beside[v][s->beside[v][0] == old ? 0 : 1] = new;
}

enum { MOST_UNSORTED = 256 }; /* new edges, which are looked through one by one */

int32_t drape_i_sew_divide(drape_i_sewing *s, int32_t a, int32_t b, double share) {
    drape_i_mesh *m = s->mesh;
    int32_t v = add_vertex(s, a, b, share);
    if (s->borders - s->sorted > MOST_UNSORTED) {
        qsort(s->border, (size_t)s->borders, sizeof *s->border, compare_borders);
        s->sorted = s->borders;
    }
    if (v < 0 || !drape_i_sew_reserve_triangle(s) || !reserve_border(s)) return -1;
    drape_i_border *e = drape_i_sew_border(s, a, b);
    DRAPE_ASSERT(e);
    int32_t t = e->triangle, new = m->triangles++, seam = e->seam;
    int32_t ka = drape_i_sew_corner(m->triangle[t], a), kb = drape_i_sew_corner(m->triangle[t], b), kc = 3 - ka - kb;
    memcpy(m->triangle[new], m->triangle[t], sizeof *m->triangle);
    m->triangle[t][kb] = m->triangle[new][ka] = v;
    s->cut_from[new] = s->cut_from[t];
    if (m->uv) {
        int32_t w = add_uv(s, m->uv_triangle[t][ka], m->uv_triangle[t][kb], share);
        if (w < 0) return -1;
        memcpy(m->uv_triangle[new], m->uv_triangle[t], sizeof *m->uv_triangle);
        m->uv_triangle[t][kb] = m->uv_triangle[new][ka] = w;
    }
    drape_i_border *behind =
        drape_i_sew_border(s, b, m->triangle[t][kc]); /* of the old triangle, where it is on the boundary */
    if (behind && behind->triangle == t) behind->triangle = new;
    e->triangle = -1; /* it is no edge any more */
    s->border[s->borders] = border_between(a, v);
    s->border[s->borders].triangle = t, s->border[s->borders++].seam = seam;
    if (!reserve_border(s)) return -1;
    s->border[s->borders] = border_between(v, b);
    s->border[s->borders].triangle = new, s->border[s->borders++].seam = seam;
    replace_neighbour(s, a, b, v);
    replace_neighbour(s, b, a, v);
    return v;
}

/* ---- matching two paths ---- */

bool drape_i_sew_line(drape_i_sewing *s, const drape_i_path *path, int32_t room, drape_i_line *out) {
    out->vertex = drape_i_arena_get(s->ctx, s->arena, room, sizeof *out->vertex);
    out->at = drape_i_arena_get(s->ctx, s->arena, room, sizeof *out->at);
    if (!out->vertex || !out->at) return false;
    out->count = path->count;
    out->length = 0;
    for (int32_t i = 0; i < path->count; i++) {
        if (i > 0) out->length += edge_length(s, path->vertex[i - 1], path->vertex[i]);
        out->vertex[i] = path->vertex[i];
        out->at[i] = out->length;
    }
    for (int32_t i = 0; i < path->count; i++) out->at[i] = out->length > 0 ? out->at[i] / out->length : 0;
    out->at[path->count - 1] = 1;
    return true;
}

bool drape_i_sew_insert(drape_i_sewing *s, drape_i_line *l, int32_t before, double at) {
    double share = (at - l->at[before - 1]) / (l->at[before] - l->at[before - 1]);
    int32_t v = drape_i_sew_divide(s, l->vertex[before - 1], l->vertex[before], share);
    if (v < 0) return false;
    memmove(l->vertex + before + 1, l->vertex + before, (size_t)(l->count - before) * sizeof *l->vertex);
    memmove(l->at + before + 1, l->at + before, (size_t)(l->count - before) * sizeof *l->at);
    l->vertex[before] = v, l->at[before] = at;
    l->count++;
    return true;
}

/* The pattern vertex of v in the triangle of the boundary edge between v and its neighbour. */
static double *pattern_at(const drape_i_sewing *s, int32_t v, int32_t neighbour, int32_t of) {
    const drape_i_mesh *m = s->mesh;
    const drape_i_border *e = drape_i_sew_border(s, v, neighbour);
    return m->uv + 2 * (int64_t)m->uv_triangle[e->triangle][drape_i_sew_corner(m->triangle[e->triangle], of)];
}

void drape_i_sew_slide(drape_i_sewing *s, drape_i_line *l, int32_t i, double at) {
    double *x = s->mesh->position;
    int32_t v = l->vertex[i], before = l->vertex[i - 1], after = l->vertex[i + 1], to = at < l->at[i] ? i - 1 : i + 1;
    double share = (at - l->at[i]) / (l->at[to] - l->at[i]);
    if (s->mesh->uv) {
        double *p = pattern_at(s, v, before, v), *a = pattern_at(s, v, before, before),
               *b = pattern_at(s, v, after, after);
        double in[2] = {p[0] - a[0], p[1] - a[1]}, out[2] = {b[0] - p[0], b[1] - p[1]};
        double cosine = (in[0] * out[0] + in[1] * out[1]) /
                        (sqrt(in[0] * in[0] + in[1] * in[1]) * sqrt(out[0] * out[0] + out[1] * out[1]));
        if (p != pattern_at(s, v, after, v) || !(cosine > STRAIGHT)) return;
        const double *end = to < i ? a : b;
        for (int32_t k = 0; k < 2; k++) p[k] += share * (end[k] - p[k]);
    }
    for (int32_t k = 0; k < 3; k++)
        x[3 * (int64_t)v + k] += share * (x[3 * (int64_t)l->vertex[to] + k] - x[3 * (int64_t)v + k]);
    l->at[i] = at;
}

/* Afterwards both have as many vertices, which belong together one by one. */
static bool match(drape_i_sewing *s, drape_i_line *a, drape_i_line *b) {
    for (int32_t i = 1; i < a->count || i < b->count; i++) {
        bool last_a = i == a->count - 1, last_b = i == b->count - 1;
        if (last_a && last_b) break;
        double edge = fmin(a->at[i] - a->at[i - 1], b->at[i] - b->at[i - 1]);
        if (!last_a && i + 1 < a->count) edge = fmin(edge, a->at[i + 1] - a->at[i]);
        if (!last_b && i + 1 < b->count) edge = fmin(edge, b->at[i + 1] - b->at[i]);
        bool near = fabs(a->at[i] - b->at[i]) <= NEAR * edge && !last_a && !last_b;
        if (near) {
            if (a->at[i] != b->at[i]) drape_i_sew_slide(s, b, i, a->at[i]);
            continue;
        }
        bool ahead = a->at[i] < b->at[i]; /* a has a place that b lacks */
        if (!(ahead ? drape_i_sew_insert(s, b, i, a->at[i]) : drape_i_sew_insert(s, a, i, b->at[i]))) return false;
    }
    return true;
}

/* ---- welding ---- */

static int32_t root(const drape_i_sewing *s, int32_t v) {
    while (s->parent[v] != v) v = s->parent[v];
    return v;
}

static void weld_two(drape_i_sewing *s, int32_t a, int32_t b) {
    int32_t p = root(s, a), q = root(s, b);
    if (p < q) s->parent[q] = p;
    else s->parent[p] = q;
}

static void reverse(drape_i_path *path) {
    for (int32_t i = 0, j = path->count - 1; i < j; i++, j--) {
        int32_t v = path->vertex[i];
        path->vertex[i] = path->vertex[j], path->vertex[j] = v;
    }
}

/* Squared distances in space between the ends and the middles of two paths. */
static double apart(const drape_i_sewing *s, const drape_i_path *a, const drape_i_path *b, bool turned) {
    double sum = 0;
    for (int32_t k = 0; k <= 4; k++) {
        int32_t i = (int32_t)((int64_t)k * (a->count - 1) / 4), j = (int32_t)((int64_t)k * (b->count - 1) / 4);
        if (turned) j = b->count - 1 - j;
        double d =
            distance(s->mesh->position + 3 * (int64_t)a->vertex[i], s->mesh->position + 3 * (int64_t)b->vertex[j], 3);
        sum += d * d;
    }
    return sum;
}

static bool is_closed(const drape_i_path *p) { return p->vertex[0] == p->vertex[p->count - 1]; }

/* Turns around a path without an order of its own; refuses those whose order crosses them over. */
static drape_status arrange(drape_i_sewing *s, drape_i_path *a, drape_i_path *b) {
    char names[3][160];
    double straight = apart(s, a, b, false), turned = apart(s, a, b, true);
    if (!(turned < straight)) return DRAPE_OK;
    if (!a->ordered || !b->ordered) {
        reverse(b->ordered ? a : b);
        return DRAPE_OK;
    }
    if (is_closed(a) || is_closed(b) || turned > CROSSED * straight) return DRAPE_OK;
    return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                        "the seam crosses over: it joins %s with %s, but %s is nearer; reverse one of the two paths",
                        drape_i_sewing_vertex(s, a->vertex[0], names[0], sizeof names[0]),
                        drape_i_sewing_vertex(s, b->vertex[0], names[1], sizeof names[1]),
                        drape_i_sewing_vertex(s, b->vertex[b->count - 1], names[2], sizeof names[2]));
}

drape_status drape_i_sew_claim(drape_i_sewing *s, const drape_i_path *p, int32_t seam) {
    char names[2][160];
    for (int32_t i = 1; i < p->count; i++) {
        drape_i_border *e = drape_i_sew_border(s, p->vertex[i - 1], p->vertex[i]);
        DRAPE_ASSERT(e);
        if (e->seam > 0)
            return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                                "it crosses seam %d%s: both have the edge from %s to %s", e->seam - 1,
                                e->seam == seam ? ", that is itself" : "",
                                drape_i_sewing_vertex(s, p->vertex[i - 1], names[0], sizeof names[0]),
                                drape_i_sewing_vertex(s, p->vertex[i], names[1], sizeof names[1]));
        e->seam = seam;
    }
    return DRAPE_OK;
}

static drape_status check_lengths(drape_i_sewing *s, const drape_i_seam *seam, const drape_i_line *l) {
    char names[4][160];
    for (int32_t k = 0; k < 2; k++)
        if (!(l[k].length > 0))
            return drape_i_fail(
                s->ctx, DRAPE_ERROR_ARGUMENT, "the path from %s to %s has no length in the pattern",
                drape_i_sewing_vertex(s, seam->path[k].vertex[0], names[0], sizeof names[0]),
                drape_i_sewing_vertex(s, seam->path[k].vertex[seam->path[k].count - 1], names[1], sizeof names[1]));
    double ratio = l[0].length > l[1].length ? l[0].length / l[1].length : l[1].length / l[0].length;
    if (seam->gather || ratio <= seam->ease) return DRAPE_OK;
    const drape_i_path *p = seam->path;
    return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                        "its paths have different lengths: %.4g m from %s to %s, %.4g m from %s to %s; the ratio is "
                        "%.4g, at most %.4g "
                        "is allowed; write gather: true if the longer one is to be gathered",
                        l[0].length, drape_i_sewing_vertex(s, p[0].vertex[0], names[0], sizeof names[0]),
                        drape_i_sewing_vertex(s, p[0].vertex[p[0].count - 1], names[1], sizeof names[1]), l[1].length,
                        drape_i_sewing_vertex(s, p[1].vertex[0], names[2], sizeof names[2]),
                        drape_i_sewing_vertex(s, p[1].vertex[p[1].count - 1], names[3], sizeof names[3]), ratio,
                        seam->ease);
}

/* New vertices lie between named ones, which are then as far apart or farther. */
static drape_status check_gap(drape_i_sewing *s, const drape_i_seam *seam, const drape_i_line *l) {
    char names[2][160];
    for (int32_t i = 0; i < l[0].count; i++) {
        int32_t a = l[0].vertex[i], b = l[1].vertex[i];
        double gap = distance(s->mesh->position + 3 * (int64_t)a, s->mesh->position + 3 * (int64_t)b, 3);
        if (gap <= seam->gap) continue;
        return drape_i_fail(
            s->ctx, DRAPE_ERROR_ARGUMENT,
            "%s and %s, which it joins, start %.4g m apart; at most %.4g m is allowed (gap): place the "
            "panels nearer to each other",
            drape_i_sewing_vertex(s, a, names[0], sizeof names[0]),
            drape_i_sewing_vertex(s, b, names[1], sizeof names[1]), gap, seam->gap);
    }
    return DRAPE_OK;
}

bool drape_i_sew_draw(drape_i_sewing *s, drape_i_drawn pair) {
    if (s->drawn_count == s->drawn_room) {
        s->drawn_room = 2 * s->drawn_count + 64;
        if (!GROW(s, s->drawn, s->drawn_count, s->drawn_room)) return false;
    }
    s->drawn[s->drawn_count++] = pair;
    return true;
}

static bool draw_together(drape_i_sewing *s, const drape_i_seam *seam, const drape_i_line *l) {
    for (int32_t i = 0; i < l[0].count; i++)
        if (!drape_i_sew_draw(
                s, (drape_i_drawn){.a = l[0].vertex[i], .b = l[1].vertex[i], .close = seam->close, .begins = i == 0}))
            return false;
    return true;
}

int32_t drape_i_sewing_drawn(const drape_i_sewing *s, const drape_i_drawn **out) {
    *out = s->drawn;
    return s->drawn_count;
}

drape_status drape_i_sewing_weld(drape_i_sewing *s, const drape_i_seam *seam) {
    drape_i_path a = seam->path[0], b = seam->path[1];
    drape_status status = drape_i_sew_claim(s, &a, seam->index + 1);
    if (!status) status = drape_i_sew_claim(s, &b, seam->index + 1);
    if (!status) status = arrange(s, &a, &b);
    if (status) return status;
    drape_i_line l[2];
    int32_t room = a.count + b.count;
    if (!drape_i_sew_line(s, &a, room, &l[0]) || !drape_i_sew_line(s, &b, room, &l[1])) return DRAPE_ERROR_MEMORY;
    status = check_lengths(s, seam, l);
    if (status) return status;
    if (!match(s, &l[0], &l[1])) return DRAPE_ERROR_MEMORY;
    DRAPE_ASSERT(l[0].count == l[1].count);
    if (seam->close > 0) return draw_together(s, seam, l) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    status = check_gap(s, seam, l);
    for (int32_t i = 0; i < l[0].count && !status; i++) weld_two(s, l[0].vertex[i], l[1].vertex[i]);
    return status;
}

/* ---- the end ---- */

/* A welded vertex lies in the middle of those that it was. */
static drape_status merge_vertices(drape_i_sewing *s, int32_t *of_file) {
    drape_i_mesh *m = s->mesh;
    int32_t count = 0;
    int32_t *number = drape_i_arena_get(s->ctx, s->arena, m->vertices, sizeof *number);
    int32_t *merged = drape_i_arena_get(s->ctx, s->arena, m->vertices, sizeof *merged);
    double *position = drape_i_arena_get(s->ctx, s->arena, 3 * (int64_t)m->vertices, sizeof *position);
    if (!number || !merged || !position) return DRAPE_ERROR_MEMORY;
    for (int32_t v = 0; v < m->vertices; v++)
        if (s->parent[v] == v) number[v] = count++;
    for (int32_t v = 0; v < m->vertices; v++) {
        int32_t to = number[v] = number[root(s, v)];
        merged[to]++;
        for (int32_t k = 0; k < 3; k++) position[3 * (int64_t)to + k] += m->position[3 * (int64_t)v + k];
        if (v < s->named) of_file[v] = to;
    }
    for (int32_t v = 0; v < count; v++)
        for (int32_t k = 0; k < 3 && merged[v] > 1; k++) position[3 * (int64_t)v + k] /= merged[v];
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) m->triangle[t][k] = number[m->triangle[t][k]];
    for (int32_t i = 0; i < s->drawn_count; i++)
        s->drawn[i].a = number[s->drawn[i].a], s->drawn[i].b = number[s->drawn[i].b];
    m->position = position;
    m->vertices = count;
    return DRAPE_OK;
}

/* The first file vertex that became v. */
static const char *name_of(const drape_i_sewing *s, const int32_t *of_file, int32_t v, char *text, size_t size) {
    for (int32_t i = 0; i < s->named; i++)
        if (of_file[i] == v) return drape_i_sewing_vertex(s, i, text, size);
    return drape_i_sewing_vertex(s, s->named, text, size);
}

static drape_status check_manifold(drape_i_sewing *s, const int32_t *of_file) {
    const drape_i_mesh *m = s->mesh;
    char names[2][160];
    int64_t halves = 3 * (int64_t)m->triangles;
    drape_i_border *half = drape_i_arena_get(s->ctx, s->arena, halves, sizeof *half);
    if (!half) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < halves; i++) {
        const int32_t *t = m->triangle[i / 3];
        if (t[i % 3] == t[(i + 1) % 3])
            return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                                "seams sew an edge to a point, at %s; end a path one vertex earlier, or use a finer "
                                "mesh",
                                name_of(s, of_file, t[i % 3], names[0], sizeof names[0]));
        half[i] = border_between(t[i % 3], t[(i + 1) % 3]);
    }
    qsort(half, (size_t)halves, sizeof *half, compare_borders);
    for (int64_t i = 0; i + 2 < halves; i++)
        if (same_border(&half[i], &half[i + 2]))
            return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT,
                                "seams cross: the edge from %s to %s would have three triangles or more",
                                name_of(s, of_file, half[i].low, names[0], sizeof names[0]),
                                name_of(s, of_file, half[i].high, names[1], sizeof names[1]));
    return DRAPE_OK;
}

/* Groups are the triangles that were cut from theirs. */
static drape_status renew_groups(drape_i_sewing *s) {
    drape_i_mesh *m = s->mesh;
    uint8_t *in = drape_i_arena_get(s->ctx, s->arena, s->was_triangles, sizeof *in);
    int32_t *mark = drape_i_arena_get(s->ctx, s->arena, m->vertices, sizeof *mark);
    if (!in || !mark) return DRAPE_ERROR_MEMORY;
    for (int32_t g = 0; g < m->groups; g++) {
        drape_i_mesh_group *group = &m->group[g];
        for (int32_t i = 0; i < group->triangles; i++) in[group->triangle[i]] = 1;
        int32_t triangles = 0, vertices = 0;
        for (int32_t t = 0; t < m->triangles; t++) triangles += in[s->cut_from[t]];
        int32_t *triangle = drape_i_arena_get(s->ctx, s->arena, triangles, sizeof *triangle);
        if (!triangle) return DRAPE_ERROR_MEMORY;
        triangles = 0;
        for (int32_t t = 0; t < m->triangles; t++) {
            if (!in[s->cut_from[t]]) continue;
            triangle[triangles++] = t;
            for (int32_t k = 0; k < 3; k++) {
                vertices += mark[m->triangle[t][k]] != g + 1;
                mark[m->triangle[t][k]] = g + 1;
            }
        }
        int32_t *vertex = drape_i_arena_get(s->ctx, s->arena, vertices, sizeof *vertex);
        if (!vertex) return DRAPE_ERROR_MEMORY;
        for (int32_t i = 0; i < group->triangles; i++) in[group->triangle[i]] = 0;
        vertices = 0;
        for (int32_t v = 0; v < m->vertices; v++)
            if (mark[v] == g + 1) vertex[vertices++] = v;
        *group = (drape_i_mesh_group){group->name, vertices, vertex, triangles, triangle};
    }
    return DRAPE_OK;
}

drape_status drape_i_sewing_end(drape_i_sewing *s) {
    int32_t *of_file = drape_i_arena_get(s->ctx, s->arena, s->named, sizeof *of_file);
    if (!of_file) return DRAPE_ERROR_MEMORY;
    drape_status status = merge_vertices(s, of_file);
    if (!status) status = check_manifold(s, of_file);
    if (!status) status = renew_groups(s);
    s->mesh->of_file = of_file;
    s->mesh->file_vertices = s->named;
    s->mesh->cut_from = s->cut_from;
    return status;
}

/* ---- folds ---- */

static double turn(const drape_i_mesh *m, int32_t t) {
    const int32_t *c = m->uv_triangle[t];
    const double *a = m->uv + 2 * (int64_t)c[0], *b = m->uv + 2 * (int64_t)c[1], *d = m->uv + 2 * (int64_t)c[2];
    return (b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]);
}

/* Whether the triangle runs from a to b, rather than from b to a. */
static bool runs(const int32_t *t, int32_t a, int32_t b) {
    return (t[0] == a && t[1] == b) || (t[1] == a && t[2] == b) || (t[2] == a && t[0] == b);
}

/* Two triangles lie on different sides of their edge where one runs along it and the other against it, and both turn
 * the same way; or neither. */
drape_status drape_i_mesh_find_fold(drape_context *ctx, const drape_i_mesh *m, int32_t *triangle, int32_t *other) {
    int64_t halves = 3 * (int64_t)m->triangles;
    drape_i_arena scratch = {0};
    *triangle = *other = -1;
    drape_i_border *half = drape_i_arena_get(ctx, &scratch, halves, sizeof *half);
    if (!half) {
        drape_i_arena_free(ctx, &scratch);
        return DRAPE_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < halves; i++) {
        const int32_t *t = m->uv_triangle[i / 3];
        half[i] = border_between(t[i % 3], t[(i + 1) % 3]);
        half[i].triangle = (int32_t)(i / 3);
    }
    qsort(half, (size_t)halves, sizeof *half, compare_borders);
    for (int64_t i = 1; i < halves && *triangle < 0; i++) {
        if (!same_border(&half[i - 1], &half[i])) continue;
        int32_t p = half[i - 1].triangle, q = half[i].triangle;
        bool along =
            runs(m->uv_triangle[p], half[i].low, half[i].high) != runs(m->uv_triangle[q], half[i].low, half[i].high);
        bool alike = (turn(m, p) > 0) == (turn(m, q) > 0), flat = turn(m, p) == 0 || turn(m, q) == 0;
        if (along != alike && !flat) *triangle = p, *other = q;
    }
    drape_i_arena_free(ctx, &scratch);
    return DRAPE_OK;
}
