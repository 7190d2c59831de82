/* doctor_contact.c: how cloth and colliders start and move: what crosses or is inside, cloth too thick for its mesh,
 * colliders that jump, pins that lead into them.
 *
 * Planes, spheres and capsules are tested vertex by vertex, exactly. For the others the exact search of crossings
 * decides. If nothing crosses a closed mesh, each connected part of the cloth is inside or outside as a whole. One
 * vertex tells which, by the solid angle of the mesh as seen from it. */
#include "base/vec3.h"
#include "contact/collider.h"
#include "drape/crossings.h"
#include "io/doctor.h"
#include "io/scene_reader.h"
#include "sim/contact.h"

#include <math.h>
#include <string.h>

static const char APART[] = "move them apart, or let the simulation separate them: contact: {allow_crossings: true} "
                            "(docs/wrong.md#it-sinks-in)";

/* The cloth of a scene as one mesh. */
typedef struct patient {
    drape_i_doctor *d;
    const drape_loaded_scene *loaded;
    const drape_scene *scene;
    drape_i_arena arena;
    int32_t vertices, triangles;
    double *x;
    int32_t (*triangle)[3];
    int32_t *first;         /* first vertex of each piece */
    int32_t *part;          /* of each vertex: the lowest vertex that it is connected with */
    drape_i_colliders *all; /* the scene's colliders: where they are */
    double *points;         /* of all of them, at the start */
} patient;

static void *get(patient *p, int64_t count, size_t size) {
    return drape_i_arena_get(p->d->ctx, &p->arena, count, size);
}

/* ---- the cloth ---- */

static drape_status gather(patient *p) {
    const drape_scene *s = p->scene;
    int64_t vertices = 0, triangles = 0;
    for (int32_t i = 0; i < s->piece_count; i++) {
        vertices += s->pieces[i].vertices;
        triangles += s->pieces[i].triangles;
    }
    p->x = get(p, 3 * vertices, sizeof *p->x);
    p->triangle = get(p, triangles, sizeof *p->triangle);
    p->first = get(p, s->piece_count + 1, sizeof *p->first);
    p->part = get(p, vertices, sizeof *p->part);
    if (!p->x || !p->triangle || !p->first || !p->part) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < s->piece_count; i++) {
        const drape_piece *piece = &s->pieces[i];
        p->first[i] = p->vertices;
        const double *start = s->start ? s->start + 3 * (int64_t)p->vertices : piece->rest;
        memcpy(p->x + 3 * (int64_t)p->vertices, start, 3 * (size_t)piece->vertices * sizeof *p->x);
        for (int32_t t = 0; t < piece->triangles; t++) {
            int32_t *corner = p->triangle[p->triangles++];
            for (int32_t k = 0; k < 3; k++) corner[k] = p->vertices + piece->triangle[3 * (int64_t)t + k];
        }
        p->vertices += piece->vertices;
    }
    p->first[s->piece_count] = p->vertices;
    drape_i_find_parts(p->vertices, p->triangles, p->triangles > 0 ? p->triangle[0] : NULL, p->part);
    return DRAPE_OK;
}

static int32_t piece_of(const patient *p, int32_t vertex) {
    int32_t i = 0;
    while (i + 1 < p->scene->piece_count && vertex >= p->first[i + 1]) i++;
    return i;
}

static const char *piece_name(const patient *p, int32_t piece) {
    const char *name = p->scene->pieces[piece].name;
    return name ? name : "cloth";
}

/* Mistakes that simulations refuse, unless the scene allows them. */
static drape_severity at_start(const patient *p) {
    return p->scene->contact && p->scene->contact->allow_crossings ? DRAPE_SEVERITY_WARNING : DRAPE_SEVERITY_ERROR;
}

static void set_node(patient *p, const drape_i_node *node) {
    p->d->place = (drape_finding){.file = node->file,
                                  .line = node->line,
                                  .column = node->line ? node->column : 0,
                                  .source = node->line ? node->line_text : NULL};
    p->d->mesh = NULL;
}

static void set_place(patient *p, int32_t collider) { set_node(p, p->loaded->collider_node[collider]); }

/* ---- inside ---- */

static vec3 nearest_on_segment(vec3 p, vec3 a, vec3 b) {
    vec3 e = vec3_sub(b, a);
    double square = vec3_dot(e, e), along = square > 0 ? vec3_dot(vec3_sub(p, a), e) / square : 0;
    along = fmin(fmax(along, 0), 1);
    return (vec3){a.x + along * e.x, a.y + along * e.y, a.z + along * e.z};
}

static bool is_exact(const drape_i_collider *c) {
    return c->shape == DRAPE_COLLIDER_PLANE || c->shape == DRAPE_COLLIDER_SPHERE ||
           c->shape == DRAPE_COLLIDER_CAPSULE;
}

/* How deep a point is at the start inside a plane, sphere or capsule; below 0: outside. */
static double depth_in(const patient *p, int32_t k, const double *point) {
    const drape_i_collider *c = &p->all->item[k];
    const double *at = p->points + 3 * (int64_t)c->first_point;
    vec3 x = vec3_at(point);
    if (c->shape == DRAPE_COLLIDER_PLANE) {
        double n[3];
        drape_i_collider_normal(p->all, k, 0, n);
        return -vec3_dot(vec3_at(n), vec3_sub(x, vec3_at(at)));
    }
    vec3 near = c->points == 1 ? vec3_at(at) : nearest_on_segment(x, vec3_at(at), vec3_at(at + 3));
    return c->radius - vec3_length(vec3_sub(x, near));
}

static bool is_inside(const patient *p, int32_t k, const double *point) {
    if (is_exact(&p->all->item[k])) return depth_in(p, k, point) > 0;
    return drape_i_collider_encloses(p->all, k, p->points, point);
}

static void tell_inside(patient *p, drape_i_defect *kind, int32_t k, int32_t vertex, const char *what) {
    int32_t piece = piece_of(p, vertex), local = vertex - p->first[piece];
    const double *x = p->x + 3 * (int64_t)vertex;
    p->d->place.piece = p->scene->pieces[piece].name;
    drape_i_found(p->d, kind, &(drape_i_about){.vertices = 1, .vertex = &local},
                  "%s %d of '%s' starts inside the collider '%s', at (%.4g, %.4g, %.4g) m", what, local,
                  piece_name(p, piece), p->all->item[k].name, x[0], x[1], x[2]);
    p->d->place.piece = NULL;
}

static int64_t look_inside(patient *p, int32_t k, bool crossed) {
    drape_i_defect kind = {at_start(p), "starts-inside", APART, 0};
    bool exact = is_exact(&p->all->item[k]);
    if (!exact && crossed) return 0;
    for (int32_t v = 0; v < p->vertices; v++) {
        if (!exact && p->part[v] != v) continue; /* the others are where the first one of the part is */
        if (!is_inside(p, k, p->x + 3 * (int64_t)v)) continue;
        tell_inside(p, &kind, k, v, exact ? "vertex" : "everything connected with vertex");
    }
    drape_i_found_all(p->d, &kind);
    return kind.seen;
}

/* ---- crossings ---- */

static void tell_crossing(patient *p, drape_i_defect *kind, int32_t k, const drape_crossing *c) {
    int32_t side = c->body[0] == 0 ? 0 : 1; /* which of the two is the cloth's */
    int32_t triangle = c->triangle[side], corner = p->triangle[triangle][0], piece = piece_of(p, corner);
    int32_t first = p->first[piece], before = 0;
    for (int32_t i = 0; i < piece; i++) before += p->scene->pieces[i].triangles;
    int32_t local = triangle - before, edge[2] = {c->edge[0] - first, c->edge[1] - first};
    const char *cloth = piece_name(p, piece), *name = p->all->item[k].name;
    drape_i_about about = {.triangles = 1, .triangle = &local};
    p->d->place.piece = p->scene->pieces[piece].name;
    if (c->kind == DRAPE_CROSSING_EDGE && side == 0) {
        about.vertices = 2, about.vertex = edge;
        drape_i_found(p->d, kind, &about, "the edge %d-%d of '%s' starts through triangle %d of the collider '%s'",
                      edge[0], edge[1], cloth, c->triangle[1], name);
    } else if (c->kind == DRAPE_CROSSING_EDGE) {
        drape_i_found(p->d, kind, &about, "triangle %d of '%s' starts across the edge %d-%d of the collider '%s'",
                      local, cloth, c->edge[0], c->edge[1], name);
    } else {
        drape_i_found(p->d, kind, &about, "triangle %d of '%s' starts through triangle %d of the collider '%s'",
                      local, cloth, c->triangle[1 - side], name);
    }
    p->d->place.piece = NULL;
}

/* Crossings of the cloth with the surface of a collider at the start; *count: how many. */
static drape_status look_for_crossings(patient *p, int32_t k, bool tell, int64_t *count) {
    drape_context *ctx = p->d->ctx;
    drape_collider_surface *surface = NULL;
    drape_crossings *search = NULL;
    drape_crossings_result found = {0};
    drape_i_defect kind = {at_start(p), "starts-crossing", APART, 0};
    drape_status status = drape_collider_surface_create(ctx, &p->scene->colliders[k], 0, &surface);
    if (status) return status;
    int32_t vertices = drape_collider_surface_vertices(surface);
    double *x = get(p, 3 * (int64_t)vertices, sizeof *x);
    const drape_crossings_mesh other = {.vertices = vertices,
                                        .triangles = drape_collider_surface_triangles(surface),
                                        .triangle = drape_collider_surface_triangle(surface)};
    const drape_crossings_bodies bodies = {
        .cloth = {.vertices = p->vertices, .triangles = p->triangles, .triangle = p->triangle[0]},
        .others = &other,
        .other_count = 1};
    if (!x) status = DRAPE_ERROR_MEMORY;
    if (!status) status = drape_collider_surface_at(surface, 0, x);
    if (!status) status = drape_crossings_create(ctx, &bodies, &search);
    if (!status) status = drape_crossings_count(search, p->x, &(const double *){x}, &found);
    for (int64_t i = 0; i < found.count && !status; i++) {
        const drape_crossing *c = &found.crossings[i];
        if (c->kind == DRAPE_CROSSING_TOUCH || c->body[0] == c->body[1]) continue;
        if (c->kind == DRAPE_CROSSING_TRIANGLES && found.others.edges > 0) continue; /* the edges tell it */
        ++*count;
        if (tell) tell_crossing(p, &kind, k, c);
    }
    drape_i_found_all(p->d, &kind);
    drape_crossings_destroy(search);
    drape_collider_surface_destroy(surface);
    return status;
}

static drape_status look_at_start(patient *p, int32_t k) {
    int64_t crossings = 0;
    drape_status status = DRAPE_OK;
    bool exact = is_exact(&p->all->item[k]);
    set_place(p, k);
    if (exact && look_inside(p, k, false) > 0) return DRAPE_OK;
    if (p->all->item[k].shape != DRAPE_COLLIDER_PLANE) status = look_for_crossings(p, k, true, &crossings);
    if (!status && !exact) look_inside(p, k, crossings > 0);
    return status;
}

/* Meshes that cross themselves are allowed, but cloth may be caught where they do. */
static drape_status look_at_itself(patient *p, int32_t k) {
    const drape_i_collider *c = &p->all->item[k];
    if (c->shape != DRAPE_COLLIDER_MESH) return DRAPE_OK;
    drape_i_defect kind = {DRAPE_SEVERITY_WARNING, "self-crossing-collider",
                           "repair the mesh; cloth can get caught where it passes through itself "
                           "(docs/wrong.md#it-sinks-in)",
                           0};
    const drape_collider *given = &p->scene->colliders[k];
    const drape_crossings_bodies bodies = {
        .cloth = {.vertices = c->points, .triangles = c->triangles, .triangle = given->triangle}};
    drape_crossings *search;
    drape_crossings_result found;
    drape_status status = drape_crossings_create(p->d->ctx, &bodies, &search);
    if (status) return status;
    status = drape_crossings_count(search, p->points + 3 * (int64_t)c->first_point, NULL, &found);
    set_place(p, k);
    if (!status && found.self.edges + found.self.triangles > 0)
        drape_i_found(
            p->d, &kind, NULL,
            "the collider '%s' passes through itself: triangles %d and %d, %lld edges through triangles in all",
            c->name, found.crossings[0].triangle[0], found.crossings[0].triangle[1], (long long)found.self.edges);
    drape_crossings_destroy(search);
    return status;
}

/* ---- thickness ---- */

static void look_at_thickness(patient *p) {
    drape_i_defect kind = {DRAPE_SEVERITY_ERROR, "too-thick", "make it thinner (thickness:), or its mesh coarser", 0};
    for (int32_t i = 0; i < p->scene->piece_count; i++) {
        const drape_piece *piece = &p->scene->pieces[i];
        double shortest = INFINITY;
        for (int64_t t = 0; t < piece->triangles; t++)
            for (int32_t k = 0; k < 3; k++) {
                const int32_t *corner = piece->triangle + 3 * t;
                const double *a = piece->rest + 3 * (int64_t)corner[k],
                             *b = piece->rest + 3 * (int64_t)corner[(k + 1) % 3];
                shortest = fmin(shortest, vec3_length(vec3_sub(vec3_at(a), vec3_at(b))));
            }
        const drape_i_node *own = p->loaded->piece_node[i], *thickness = drape_i_node_find(own, "thickness");
        set_node(p, thickness ? thickness : own);
        p->d->place.piece = piece->name;
        if (piece->thickness > shortest)
            drape_i_found(p->d, &kind, NULL, "the cloth '%s' is %.4g m thick, but its shortest edge is %.4g m long",
                          piece_name(p, i), piece->thickness, shortest);
    }
    p->d->place.piece = NULL;
}

/* ---- motion ---- */

static void tell_motion(void *user, const drape_i_motion_trouble *t) {
    patient *p = user;
    bool pin = t->kind == DRAPE_I_MOTION_PIN;
    drape_i_defect kind = {DRAPE_SEVERITY_ERROR, pin ? "pin-in-collider" : "fast-collider", t->advice, 0};
    const drape_i_about about = {.vertices = pin ? 1 : 0, .vertex = &t->vertex};
    set_place(p, t->collider);
    if (pin) p->d->place.piece = p->scene->pieces[t->piece].name;
    drape_i_found(p->d, &kind, &about, "%s", t->what);
    p->d->place.piece = NULL;
}

/* ---- all of it ---- */

static drape_status examine(patient *p) {
    drape_status status = gather(p);
    if (!status) status = drape_i_colliders_create(p->d->ctx, p->scene->colliders, p->scene->collider_count, &p->all);
    if (status) return status;
    p->points = get(p, 3 * (int64_t)p->all->points, sizeof *p->points);
    if (!p->points) return DRAPE_ERROR_MEMORY;
    look_at_thickness(p);
    drape_i_colliders_at(p->all, 0, p->points);
    for (int32_t k = 0; k < p->all->count && !status; k++) {
        status = look_at_start(p, k);
        if (!status) status = look_at_itself(p, k);
    }
    if (status) return status;
    return drape_i_check_motions(p->d->ctx, p->scene, &(drape_i_motion_listener){.tell = tell_motion, .user = p});
}

drape_status drape_i_examine_contact(drape_i_doctor *d, const drape_loaded_scene *loaded) {
    const drape_scene *scene = &loaded->scene;
    drape_finding place = d->place;
    bool self = scene->contact && scene->contact->self;
    patient p = {.d = d, .loaded = loaded, .scene = scene};
    if (scene->collider_count == 0 && !self) return DRAPE_OK;
    drape_status status = examine(&p);
    drape_i_colliders_destroy(p.all);
    drape_i_arena_free(d->ctx, &p.arena);
    d->place = place;
    return status;
}
