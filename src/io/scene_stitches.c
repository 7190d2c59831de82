/* scene_stitches.c: `stitches:`, points of the cloth that are held together, and `attach:`, cloth that is held to
 * colliders. */
#include "io/scene_reader.h"
#include "sim/attach.h"

#include <math.h>
#include <string.h>

enum { MOST_ENTRIES = 100000 };
static const double OPEN = 1e-6; /* m: as in sim/stitches.c */

/* ---- Points ---- */

/* One side of an entry. */
typedef struct side {
    int32_t piece, count;
    drape_cloth_point *point;
    bool surface; /* the points of the other side find theirs on its triangles */
} side;

static const double *position_of(const reader_t *r, int32_t vertex) {
    if (r->out->scene.start) return r->out->scene.start + 3 * (int64_t)vertex;
    int32_t p = 0;
    while (vertex >= r->shapes[p].first_vertex + r->shapes[p].vertices) p++;
    return r->shapes[p].position + 3 * (int64_t)(vertex - r->shapes[p].first_vertex);
}

static void place_of(const reader_t *r, const drape_cloth_point *p, double out[3]) {
    for (int32_t k = 0; k < 3; k++) {
        out[k] = 0;
        for (int32_t a = 0; a < p->count; a++)
            out[k] += (p->count > 1 ? p->w[a] : 1) * position_of(r, p->vertex[a])[k];
    }
}

/* The piece that `cloth` names; the only one where there is but one. -1 after a problem. */
static int32_t read_piece(reader_t *r, const drape_i_node *map) {
    const drape_scene *s = &r->out->scene;
    const char *name = NULL, *known[DRAPE_I_MOST_NAMES + 1] = {0};
    char list[400];
    if (!drape_i_node_find(map, "cloth")) {
        if (s->piece_count == 1) return 0;
        drape_i_problem_at(&r->problems, map, false, "cloth is missing: which of the %d it is", s->piece_count);
        return -1;
    }
    if (!drape_i_read_text(r, map, "cloth", &name)) return -1;
    for (int32_t p = 0; p < s->piece_count; p++)
        if (s->pieces[p].name && strcmp(s->pieces[p].name, name) == 0) return p;
    for (int32_t p = 0; p < s->piece_count && p < DRAPE_I_MOST_NAMES; p++) known[p] = s->pieces[p].name;
    drape_i_join(known, list, sizeof list);
    drape_i_problem_at(&r->problems, drape_i_node_find(map, "cloth"), false, "there is no cloth \"%s\"; known: %s",
                       name, list);
    return -1;
}

/* {vertices: [4, 5, 9], weights: [0.2, 0.3, 0.5]} */
static bool read_point(reader_t *r, const drape_i_node *map, const drape_i_shape *shape, drape_cloth_point *out) {
    static const char *const keys[] = {"vertices", "weights", NULL};
    if (!drape_i_read_map(r, map, keys)) return false;
    const drape_i_node *vertices = drape_i_node_find(map, "vertices"), *weights = drape_i_node_find(map, "weights");
    int32_t count = vertices && vertices->kind == DRAPE_I_LIST ? drape_i_node_count(vertices) : 0;
    double sum = 0;
    if (count < 1 || count > 3 ||
        (weights && (weights->kind != DRAPE_I_LIST || drape_i_node_count(weights) != count)) ||
        (count > 1 && !weights)) {
        drape_i_problem_at(
            &r->problems, map, false,
            "a point has one to three vertices and as many weights, such as {vertices: [4, 5], weights: "
            "[0.5, 0.5]}");
        return false;
    }
    out->count = count;
    const drape_i_node *v = vertices->first, *w = weights ? weights->first : NULL;
    for (int32_t a = 0; a < count; a++, v = v->next, w = w ? w->next : NULL) {
        if (!drape_i_node_whole(r, v, 0, shape->vertices - 1, &out->vertex[a])) return false;
        out->vertex[a] += shape->first_vertex;
        out->w[a] = 1;
        if (w && !drape_i_node_number(r, w, DRAPE_I_SHARE, DRAPE_I_ANY, &out->w[a])) return false;
        for (int32_t b = 0; b < a; b++)
            if (out->vertex[a] == out->vertex[b]) {
                drape_i_problem_at(&r->problems, v, false, "a point names vertex %d twice",
                                   out->vertex[a] - shape->first_vertex);
                return false;
            }
        sum += out->w[a];
    }
    if (fabs(sum - 1) > 1e-6) {
        drape_i_problem_at(&r->problems, weights, false, "the weights of a point add up to %g; they must add up to 1",
                           sum);
        return false;
    }
    for (int32_t a = 0; a < count; a++) out->w[a] /= sum;
    return true;
}

static bool read_points(reader_t *r, const drape_i_node *list, side *out) {
    int32_t i = 0;
    if (list->kind != DRAPE_I_LIST || !list->first) {
        drape_i_problem_at(&r->problems, list, false, "points: expected a list, such as [{vertices: [4]}]");
        return false;
    }
    out->count = drape_i_node_count(list);
    out->point = drape_i_scene_get(r, out->count, sizeof *out->point);
    for (const drape_i_node *n = list->first; n && out->point; n = n->next)
        if (!read_point(r, n, &r->shapes[out->piece], &out->point[i++])) return false;
    return out->point != NULL;
}

static bool read_side(reader_t *r, const drape_i_node *entry, const char *key, side *out) {
    static const char *const keys[] = {DRAPE_I_PICK_KEYS, "cloth", "points", "surface", NULL};
    const drape_i_node *map = drape_i_node_find(entry, key);
    const int32_t *vertices;
    *out = (side){0};
    if (!map) {
        drape_i_problem_at(&r->problems, entry, false,
                           "a stitch joins two sides, a and b, such as a: {cloth: front, where: left-edge}");
        return false;
    }
    if (!drape_i_read_map(r, map, keys)) return false;
    out->piece = read_piece(r, map);
    if (out->piece < 0 || !r->shapes[out->piece].position) return false;
    drape_i_read_truth(r, map, "surface", &out->surface);
    if (out->surface) return true;
    if (drape_i_node_find(map, "points")) return read_points(r, drape_i_node_find(map, "points"), out);
    out->count = drape_i_pick_vertices(r, map, out->piece, &vertices);
    out->point = drape_i_scene_get(r, out->count, sizeof *out->point);
    for (int32_t i = 0; out->point && i < out->count; i++)
        out->point[i] = (drape_cloth_point){.count = 1, .vertex = {vertices[i]}};
    return out->point && out->count > 0;
}

/* For each point of a side the nearest one on the triangles of the other. */
static bool find_on_surface(reader_t *r, const drape_i_node *entry, const side *from, side *on) {
    const drape_piece *piece = &r->out->scene.pieces[on->piece];
    const int32_t first = r->shapes[on->piece].first_vertex;
    if (from->piece == on->piece) {
        drape_i_problem_at(&r->problems, entry, false,
                           "surface: on the same cloth, the point nearest to a point is the point itself; select "
                           "points instead, such as where: right-edge");
        return false;
    }
    if (!drape_i_may_visit(r, entry, (int64_t)from->count * piece->triangles)) return false;
    on->count = from->count;
    on->point = drape_i_scene_get(r, on->count, sizeof *on->point);
    for (int32_t i = 0; on->point && i < on->count; i++) {
        drape_cloth_point *to = &on->point[i];
        double p[3];
        place_of(r, &from->point[i], p);
        to->count = 3;
        drape_i_nearest_on(position_of(r, first), piece->triangles, piece->triangle, p, to->vertex, to->w);
        for (int32_t a = 0; a < 3; a++) to->vertex[a] += first;
    }
    return on->point != NULL && piece->triangles > 0;
}

/* ---- Stitches ---- */

/* "3", or "(3, 4)", within its piece */
static int32_t first_of(const reader_t *r, const side *s, const drape_cloth_point *p) {
    return p->vertex[0] - r->shapes[s->piece].first_vertex;
}

static void check_stitch(reader_t *r, const drape_i_node *entry, const side s[2], const drape_stitch *t) {
    double a[3], b[3], square = 0;
    const drape_scene *scene = &r->out->scene;
    if (t->a.count + t->b.count > DRAPE_EQUALITY_VERTICES) {
        drape_i_problem_at(
            &r->problems, entry, false,
            "the points at vertex %d of %s and vertex %d of %s have %d vertices together; use points with "
            "fewer vertices, at most %d in all",
            first_of(r, &s[0], &t->a), scene->pieces[s[0].piece].name, first_of(r, &s[1], &t->b),
            scene->pieces[s[1].piece].name, t->a.count + t->b.count, DRAPE_EQUALITY_VERTICES);
        return;
    }
    if (t->a.count == 1 && t->b.count == 1 && t->a.vertex[0] == t->b.vertex[0]) {
        drape_i_problem_at(&r->problems, entry, false,
                           "vertex %d of %s is stitched to itself; leave it out, or name another vertex",
                           first_of(r, &s[0], &t->a), scene->pieces[s[0].piece].name);
        return;
    }
    if (t->close > 0 || t->stiffness > 0 || t->directions < 3) return;
    place_of(r, &t->a, a);
    place_of(r, &t->b, b);
    for (int32_t k = 0; k < 3; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
    if (sqrt(square) > OPEN)
        drape_i_problem_at(
            &r->problems, entry, false,
            "the points at vertex %d of %s and vertex %d of %s are %g m apart at the start; give a time "
            "to close in, such as close: 0.5 s, or make them soft",
            first_of(r, &s[0], &t->a), scene->pieces[s[0].piece].name, first_of(r, &s[1], &t->b),
            scene->pieces[s[1].piece].name, sqrt(square));
}

/* The stitches of one entry; NULL after a problem. */
static drape_stitch *read_entry(reader_t *r, const drape_i_node *entry, int32_t *count) {
    static const char *const keys[] = {"a", "b", "directions", "soft", "close", NULL};
    drape_stitch like = {.directions = 3};
    side s[2];
    if (!drape_i_read_map(r, entry, keys)) return NULL;
    drape_i_read_directions(r, drape_i_node_find(entry, "directions"), &like.directions, like.direction);
    like.stiffness = drape_i_node_find(entry, "soft") ? 1 : 0; /* also where its number is wrong */
    like.close = drape_i_node_find(entry, "close") ? 1 : 0;
    drape_i_read_number(r, entry, "soft", DRAPE_I_STIFFNESS, DRAPE_I_POSITIVE, &like.stiffness);
    drape_i_read_number(r, entry, "close", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &like.close);
    if (!read_side(r, entry, "a", &s[0]) || !read_side(r, entry, "b", &s[1])) return NULL;
    if (s[0].surface && s[1].surface) {
        drape_i_problem_at(&r->problems, entry, false, "surface: only one of a and b can be a surface");
        return NULL;
    }
    if (s[0].surface && !find_on_surface(r, entry, &s[1], &s[0])) return NULL;
    if (s[1].surface && !find_on_surface(r, entry, &s[0], &s[1])) return NULL;
    if (s[0].count != s[1].count) {
        drape_i_problem_at(
            &r->problems, entry, false,
            "a has %d points and b has %d, but they are joined one by one; list as many on both sides, or "
            "use surface: true for one of them",
            s[0].count, s[1].count);
        return NULL;
    }
    drape_stitch *list = drape_i_scene_get(r, s[0].count, sizeof *list);
    const int32_t before = r->problems.count;
    for (int32_t i = 0; list && i < s[0].count && r->problems.count == before; i++) {
        list[i] = like;
        list[i].a = s[0].point[i];
        list[i].b = s[1].point[i];
        check_stitch(r, entry, s, &list[i]);
    }
    *count = s[0].count;
    return list;
}

static const drape_i_node *entries_of(reader_t *r, const drape_i_node *root, const char *key, int32_t *count) {
    const drape_i_node *list = drape_i_node_find(root, key);
    *count = 0;
    if (!list || !r->shapes) return NULL;
    if (list->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&r->problems, list, false, "%s: expected a list, each entry after a dash and a space",
                           key);
        return NULL;
    }
    *count = drape_i_node_count(list);
    if (*count <= MOST_ENTRIES) return list->first;
    drape_i_problem_at(&r->problems, list, true, "more than %d %s", MOST_ENTRIES, key);
    return NULL;
}

void drape_i_read_stitches(reader_t *r, const drape_i_node *root) {
    int32_t entries, i = 0;
    int64_t total = 0;
    const drape_i_node *first = entries_of(r, root, "stitches", &entries);
    for (const drape_i_seam_stitches *s = r->seam_stitches; s; s = s->before) total += s->count;
    if (!first && total == 0) return;
    drape_stitch **part = drape_i_scene_get(r, entries, sizeof *part);
    int32_t *count = drape_i_scene_get(r, entries, sizeof *count);
    for (const drape_i_node *n = first; n && part && count; n = n->next, i++) {
        part[i] = read_entry(r, n, &count[i]);
        total += part[i] ? count[i] : 0;
    }
    drape_stitch *all = part && count && total < INT32_MAX ? drape_i_scene_get(r, total, sizeof *all) : NULL;
    if (!all) return;
    int64_t at = 0;
    for (const drape_i_seam_stitches *s = r->seam_stitches; s; at += s->count, s = s->before)
        memcpy(all + at, s->stitch, (size_t)s->count * sizeof *all);
    for (int32_t k = 0; k < entries; k++) {
        if (!part[k]) continue;
        memcpy(all + at, part[k], (size_t)count[k] * sizeof *all);
        at += count[k];
    }
    r->out->stitch_node = first;
    r->out->scene.stitches = all;
    r->out->scene.stitch_count = (int32_t)total;
}

/* ---- Attachments ---- */

static int32_t read_collider(reader_t *r, const drape_i_node *map) {
    const drape_scene *s = &r->out->scene;
    const char *name = NULL, *known[DRAPE_I_MOST_NAMES + 1] = {0};
    char list[400];
    if (!drape_i_node_find(map, "to")) {
        drape_i_problem_at(&r->problems, map, false, "to is missing: the name of the collider to attach to");
        return -1;
    }
    if (!drape_i_read_text(r, map, "to", &name)) return -1;
    for (int32_t i = 0; i < s->collider_count; i++) {
        if (!s->colliders[i].name || strcmp(s->colliders[i].name, name) != 0) continue;
        if (s->colliders[i].shape != DRAPE_COLLIDER_PLANE) return i;
        if (r->problems.count > 0) return -1; /* it may be no plane at all */
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "to"), false,
                           "%s is a plane, which has no triangles; use a pin", name);
        return -1;
    }
    for (int32_t i = 0; i < s->collider_count && i < DRAPE_I_MOST_NAMES; i++) known[i] = s->colliders[i].name;
    drape_i_join(known, list, sizeof list);
    drape_i_problem_at(&r->problems, drape_i_node_find(map, "to"), false, "there is no collider \"%s\"; known: %s",
                       name, *list ? list : "none");
    return -1;
}

static bool read_attachment(reader_t *r, const drape_i_node *map, drape_attachment *out) {
    static const char *const keys[] = {DRAPE_I_PICK_KEYS, "cloth", "to", "weight", "stiffness", "reach", NULL};
    const drape_i_range share = {0, 1, true};
    double weight = 1;
    if (!drape_i_read_map(r, map, keys)) return false;
    const int32_t piece = read_piece(r, map);
    out->collider = read_collider(r, map);
    drape_i_read_number(r, map, "weight", DRAPE_I_SHARE, share, &weight);
    drape_i_read_number(r, map, "stiffness", DRAPE_I_STIFFNESS, DRAPE_I_POSITIVE, &out->stiffness);
    drape_i_read_number(r, map, "reach", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &out->reach);
    if (out->stiffness > 0 && weight == 1)
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "stiffness"), true,
                           "stiffness has no effect with a weight of 1, which holds exactly; give a smaller weight");
    if (piece < 0 || !r->shapes[piece].position || out->collider < 0) return false;
    out->count = drape_i_pick_vertices(r, map, piece, &out->vertices);
    if (weight == 1) return out->count > 0;
    double *all = drape_i_scene_get(r, out->count, sizeof *all);
    for (int32_t i = 0; all && i < out->count; i++) all[i] = weight;
    out->weight = all;
    return all && out->count > 0;
}

void drape_i_read_attachments(reader_t *r, const drape_i_node *root) {
    int32_t entries;
    const drape_i_node *first = entries_of(r, root, "attach", &entries);
    if (!first) return;
    drape_attachment *all = drape_i_scene_get(r, entries, sizeof *all);
    int32_t count = 0;
    for (const drape_i_node *n = first; n && all; n = n->next) count += read_attachment(r, n, &all[count]);
    r->out->attach_node = first;
    r->out->scene.attachments = all;
    r->out->scene.attachment_count = all ? count : 0;
}
