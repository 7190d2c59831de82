/* planes.c: half spaces. Every vertex of the cloth is kept above every plane: n.(x - p) >= f at the end of the step.
 * n is the upward normal and p the point of the plane at that time. Edges and triangles are above a plane if
 * their vertices are. Impulses ignore planes; before and after them, vertices below a plane are lifted. In impact
 * zones, planes are contacts like others. Otherwise a pile of cloth on a plane would be pushed into it and lifted in
 * turn. */
#include "contact/response_parts.h"

enum { ROUNDS = 4 }; /* what is lifted off one plane may come below another */

static const double NEAR = 2; /* times what a vertex is lifted to */

typedef struct plane {
    int32_t collider;
    vec3 start_normal, start_point, normal, point;
    double thickness, friction;
} plane;

static plane plane_of(const drape_i_world *world, int32_t index) {
    plane p = {.collider = world->plane[index]};
    const drape_i_collider *c = &world->colliders->item[p.collider];
    int64_t first = 3 * ((int64_t)world->cloth_vertices + c->first_point);
    double n[3];
    drape_i_collider_normal(world->colliders, p.collider, world->start_time, n);
    p.start_normal = vec3_at(n);
    drape_i_collider_normal(world->colliders, p.collider, world->end_time, n);
    p.normal = vec3_at(n);
    p.start_point = vec3_at(world->start + first);
    p.point = vec3_at(world->end + first);
    p.thickness = c->thickness;
    p.friction = c->friction;
    return p;
}

static double height(const plane *p, const double *x) { return vec3_dot(p->normal, vec3_sub(vec3_at(x), p->point)); }

/* Where a vertex ends that sticks to the plane. */
static vec3 carried(const drape_i_world *world, const plane *p, int32_t vertex) {
    double to[3];
    drape_i_collider_carry(world->colliders, p->collider, world->start_time, world->end_time,
                           world->start + 3 * (int64_t)vertex, to);
    return vec3_at(to);
}

/* Where the vertex ends when it is lifted by `rise`: what moved along the plane is braked. */
static vec3 lifted(const drape_i_response *r, const plane *p, int32_t vertex, double rise) {
    const drape_i_world *world = r->world;
    const double *x = world->end + 3 * (int64_t)vertex;
    vec3 to = vec3_plus(vec3_at(x), rise, p->normal);
    double friction = sqrt(p->friction * world->friction[vertex]);
    if (!(friction > 0)) return to;
    vec3 u = vec3_sub(to, carried(world, p, vertex));
    u = vec3_plus(u, -vec3_dot(u, p->normal), p->normal);
    double slid = vec3_length(u);
    return slid > 0 ? vec3_plus(to, -fmin(1, friction * rise / slid), u) : to;
}

/* How high a vertex has to be (m), and how high it should be if it is not. */
static double least_height(const drape_i_response *r, const plane *p, int32_t vertex, double *target) {
    const drape_i_world *world = r->world;
    double distance = p->thickness + 0.5 * world->thickness[vertex], floor = drape_i_world_floor(world, distance, 0);
    double keep = drape_i_response_separation(floor, 0);
    double gap = vec3_dot(p->start_normal, vec3_sub(vec3_at(world->start + 3 * (int64_t)vertex), p->start_point));
    *target = drape_i_response_target(gap, keep, drape_i_response_reach(floor, distance, 0));
    return keep;
}

/* Vertices that began below a plane, where that is allowed, or that are pinched. */
static bool is_exempt(const drape_i_world *world, int32_t vertex, int32_t collider) {
    return (world->exempt && world->exempt[vertex]) || drape_i_world_sets_aside(world, vertex, collider);
}

static int32_t lift(drape_i_response *r, const plane *p) {
    int32_t count = 0;
    for (int32_t i = 0; i < r->world->cloth_vertices; i++) {
        double target, now = height(p, r->world->end + 3 * (int64_t)i), keep = least_height(r, p, i, &target);
        if (now >= keep || r->request->inverse_mass[i] == 0 || is_exempt(r->world, i, p->collider)) continue;
        drape_i_response_move(r, i, lifted(r, p, i, target - now));
        count++;
    }
    return count;
}

bool drape_i_response_near_plane(const drape_i_response *r, int32_t vertex) {
    for (int32_t k = 0; k < r->world->plane_count; k++) {
        plane p = plane_of(r->world, k);
        double target;
        if (is_exempt(r->world, vertex, p.collider)) continue;
        least_height(r, &p, vertex, &target);
        if (height(&p, r->world->end + 3 * (int64_t)vertex) < NEAR * target) return true;
    }
    return false;
}

drape_i_impact drape_i_response_on_plane(const drape_i_response *r, int32_t index, int32_t vertex) {
    plane p = plane_of(r->world, index);
    int32_t point = r->world->cloth_vertices + r->world->colliders->item[p.collider].first_point;
    drape_i_impact c = {.vertex = {vertex, point, point, point}, .w = {1, -1, 0, 0}, .n = p.normal};
    double keep = least_height(r, &p, vertex, &c.target);
    c.slack = c.target - keep;
    c.friction = sqrt(p.friction * r->world->friction[vertex]);
    c.anchor = vec3_sub(carried(r->world, &p, vertex), p.point);
    return c;
}

int32_t drape_i_response_lift(drape_i_response *r) {
    int32_t count = 0;
    for (int32_t round = 0, more = 1; round < ROUNDS && more > 0; round++) {
        more = 0;
        for (int32_t k = 0; k < r->world->plane_count; k++) {
            plane p = plane_of(r->world, k);
            more += lift(r, &p);
        }
        count += more;
        if (r->world->plane_count < 2) break;
    }
    return count;
}

bool drape_i_response_above(drape_i_response *r) {
    const drape_i_world *world = r->world;
    for (int32_t k = 0; k < world->plane_count; k++) {
        plane p = plane_of(world, k);
        for (int32_t i = 0; i < world->cloth_vertices; i++) {
            double distance = p.thickness + 0.5 * world->thickness[i];
            if (height(&p, world->end + 3 * (int64_t)i) >= drape_i_world_floor(world, distance, 0)) continue;
            if (is_exempt(world, i, p.collider)) continue;
            if (r->trouble.kind == DRAPE_I_TROUBLE_NONE)
                r->trouble = (drape_i_trouble){
                    .kind = DRAPE_I_TROUBLE_PLANE, .vertex = {i, -1, -1, -1}, .collider = p.collider};
            return false;
        }
    }
    return true;
}
