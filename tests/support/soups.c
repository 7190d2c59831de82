/* soups.c: see soups.h. */
#include "support/soups.h"

#include "drape/crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOSE = 6,
    MOST_TRIES = 1000,
    PATCH = SOUP_SIDE * SOUP_SIDE,
    PATCH_TRIANGLES = 2 * (SOUP_SIDE - 1) * (SOUP_SIDE - 1)
};

static void *room(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    assert_non_null(memory);
    return memory;
}

static double spread(test_random *r, double most) { return test_random_between(r, -most, most); }

/* ---- Cloth ---- */

static void make_triangles(int32_t (*triangle)[3], int32_t patches) {
    for (int32_t p = 0, t = 0; p < patches; p++)
        for (int32_t i = 0; i < SOUP_SIDE - 1; i++)
            for (int32_t j = 0; j < SOUP_SIDE - 1; j++) {
                int32_t a = PATCH * p + SOUP_SIDE * i + j, b = a + 1, c = a + SOUP_SIDE, d = c + 1;
                const int32_t two[2][3] = {{a, b, d}, {a, d, c}};
                memcpy(triangle[t], two, sizeof two);
                t += 2;
            }
}

/* A patch in a random frame, somewhat bent. */
static void place_patch(test_random *r, double *x) {
    double u[3], v[3], at[3];
    for (int k = 0; k < 3; k++) u[k] = spread(r, 1), v[k] = spread(r, 1), at[k] = spread(r, 1.2);
    double lu = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]), along = 0, lv = 0;
    for (int k = 0; k < 3; k++) u[k] /= lu, along += u[k] * v[k];
    for (int k = 0; k < 3; k++) v[k] -= along * u[k], lv += v[k] * v[k];
    for (int k = 0; k < 3; k++) v[k] /= sqrt(lv);
    for (int i = 0; i < PATCH; i++)
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = at[k] + u[k] * (i / SOUP_SIDE - 1.0) / (SOUP_SIDE - 1) +
                           v[k] * (i % SOUP_SIDE - 1.0) / (SOUP_SIDE - 1) + spread(r, 0.05);
}

static void move_patch(test_random *r, double speed, const double *x0, double *x1) {
    double velocity[3];
    for (int k = 0; k < 3; k++) {
        double middle = 0;
        for (int i = 0; i < PATCH; i++) middle += x0[3 * i + k] / PATCH;
        velocity[k] = speed * (spread(r, 0.3) - middle);
    }
    for (int i = 0; i < PATCH; i++)
        for (int k = 0; k < 3; k++) x1[3 * i + k] = x0[3 * i + k] + velocity[k] + spread(r, 0.1 * speed);
}

/* ---- Colliders ---- */

typedef struct objects {
    drape_collider list[4];
    drape_collider_key key[4][2];
    double position[9 * LOOSE];
    int32_t triangle[3 * LOOSE], count;
} objects;

static void add_object(test_random *r, const soup_recipe *recipe, objects *o, drape_collider c) {
    int32_t i = o->count++;
    drape_collider_key *key = o->key[i];
    c.friction = recipe->friction;
    c.key_count = 2;
    c.key = key;
    for (int k = 0; k < 3; k++) {
        key[0].position[k] = c.shape == DRAPE_COLLIDER_PLANE ? (k == 2 ? -1.6 : 0) : spread(r, 0.5);
        key[0].rotation[k] = c.shape == DRAPE_COLLIDER_PLANE ? 0 : spread(r, 2);
        key[1].position[k] = key[0].position[k] + (recipe->moving ? spread(r, 0.1) : 0);
        key[1].rotation[k] = key[0].rotation[k] + (recipe->moving ? spread(r, 0.05) : 0);
    }
    key[0].time = 0;
    key[1].time = 1;
    o->list[i] = c;
}

static void make_objects(test_random *r, const soup_recipe *recipe, objects *o) {
    for (int i = 0; i < LOOSE; i++)
        for (int c = 0; c < 3; c++) {
            o->triangle[3 * i + c] = 3 * i + c;
            for (int k = 0; k < 3; k++)
                o->position[9 * i + 3 * c + k] = c == 0 ? spread(r, 1) : o->position[9 * i + k] + spread(r, 0.5);
        }
    if (recipe->objects & SOUP_MESH)
        add_object(r, recipe, o,
                   (drape_collider){.shape = DRAPE_COLLIDER_MESH,
                                    .vertices = 3 * LOOSE,
                                    .triangles = LOOSE,
                                    .positions = o->position,
                                    .triangle = o->triangle,
                                    .thickness = recipe->thickness});
    if (recipe->objects & SOUP_SPHERE)
        add_object(r, recipe, o, (drape_collider){.shape = DRAPE_COLLIDER_SPHERE, .radius = 0.3, .thickness = 0.01});
    if (recipe->objects & SOUP_CAPSULE)
        add_object(r, recipe, o, (drape_collider){.shape = DRAPE_COLLIDER_CAPSULE, .radius = 0.1, .length = 0.8});
    if (recipe->objects & SOUP_PLANE) add_object(r, recipe, o, (drape_collider){.shape = DRAPE_COLLIDER_PLANE});
}

/* ---- Soups ---- */

soup soup_of(drape_context *ctx, const soup_parts *parts) {
    soup s = {.ctx = ctx, .vertices = parts->vertices, .triangles = parts->triangles};
    const int32_t *edge;
    s.triangle = room(s.triangles, sizeof *s.triangle);
    memcpy(s.triangle, parts->triangle, (size_t)s.triangles * sizeof *s.triangle);
    s.x0 = room(3 * s.vertices, sizeof *s.x0), s.x1 = room(3 * s.vertices, sizeof *s.x1);
    s.thickness = room(s.vertices, sizeof *s.thickness), s.friction = room(s.vertices, sizeof *s.friction);
    for (int32_t i = 0; i < s.vertices; i++) s.thickness[i] = parts->thickness, s.friction[i] = parts->friction;
    drape_i_world_settings settings = {.vertices = s.vertices,
                                       .triangles = s.triangles,
                                       .triangle = s.triangle[0],
                                       .thickness = s.thickness,
                                       .friction = s.friction,
                                       .colliders = parts->colliders,
                                       .collider_count = parts->collider_count,
                                       .self = true};
    ASSERT_OK(ctx, drape_i_world_create(ctx, &settings, &s.world));
    ASSERT_OK(ctx, drape_i_response_create(ctx, s.world->vertices, &s.response));
    s.edges = drape_contact_tree_edges(s.world->cloth, &edge);
    s.edge = room(s.edges, sizeof *s.edge);
    memcpy(s.edge, edge, (size_t)s.edges * sizeof *s.edge);
    s.inverse_mass = room(s.world->vertices, sizeof *s.inverse_mass);
    for (int32_t i = 0; i < s.vertices; i++) s.inverse_mass[i] = 1;
    return s;
}

void start_soup(soup *s) { drape_i_world_set_motion(s->world, s->x0, 0, s->x1, 1); }

/* Patches one after the other, each where it is apart from those before; the others wait far away. */
static void place_all(soup *s, test_random *r, int32_t patches) {
    for (int32_t i = 0; i < patches * PATCH; i++) {
        double *x = s->x0 + 3 * i;
        x[0] = i % SOUP_SIDE, x[1] = i / SOUP_SIDE % SOUP_SIDE, x[2] = 20 + i / PATCH;
    }
    for (int32_t p = 0; p < patches; p++) {
        bool apart = false;
        for (int32_t tries = 0; tries < MOST_TRIES && !apart; tries++) {
            place_patch(r, s->x0 + 3 * PATCH * p);
            drape_i_world_set_motion(s->world, s->x0, 0, s->x0, 0);
            s->world->largest = 60;
            apart = soup_crossings(s, s->x0) == 0 && soup_violations(s, s->world->start, s->world->end, 1.25) == 0;
        }
        assert_true(apart);
    }
}

soup make_soup(drape_context *ctx, test_random *r, const soup_recipe *recipe) {
    objects *o = room(1, sizeof *o);
    int32_t(*triangle)[3] = room(PATCH_TRIANGLES * recipe->patches, sizeof *triangle);
    make_triangles(triangle, recipe->patches);
    make_objects(r, recipe, o);
    soup s = soup_of(ctx, &(soup_parts){.vertices = PATCH * recipe->patches,
                                        .triangles = PATCH_TRIANGLES * recipe->patches,
                                        .triangle = triangle[0],
                                        .thickness = recipe->thickness,
                                        .friction = recipe->friction,
                                        .colliders = o->list,
                                        .collider_count = o->count});
    free(triangle), free(o);
    place_all(&s, r, recipe->patches);
    for (int32_t p = 0; p < recipe->patches; p++)
        move_patch(r, recipe->speed, s.x0 + 3 * PATCH * p, s.x1 + 3 * PATCH * p);
    for (int32_t i = 0; i < s.vertices; i++)
        s.inverse_mass[i] = test_random_unit(r) < recipe->pinned ? 0 : exp2(spread(r, 1));
    start_soup(&s);
    return s;
}

void free_soup(soup *s) {
    drape_i_response_destroy(s->response);
    drape_i_world_destroy(s->world);
    free(s->triangle), free(s->edge), free(s->x0), free(s->x1), free(s->thickness), free(s->friction);
    free(s->inverse_mass);
}

/* ---- Brute force ---- */

typedef struct looking {
    const soup *s;
    const double *start, *end;
    double times;
    int64_t found;
} looking;

static void look_at(looking *l, drape_ccd_kind kind, const int32_t vertex[4], double distance, double round) {
    double floor = drape_i_world_floor(l->s->world, distance, round), from[12], to[12];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            if (vertex[i] == vertex[j]) return;
    for (int i = 0; i < 12; i++) {
        int64_t k = 3 * (int64_t)vertex[i / 3] + i % 3;
        from[i] = l->start[k], to[i] = l->end[k];
    }
    drape_ccd_settings settings = {.separation = round + l->times * (floor - round)};
    double time = drape_ccd_time(kind, from, to, &settings);
    l->found += time <= 1;
}

static void look_at_mesh(looking *l, const drape_i_collider *c, const int32_t (*triangle)[3]) {
    const soup *s = l->s;
    double distance = c->thickness + 0.5 * s->thickness[0];
    for (int32_t t = 0; t < c->triangles; t++) {
        int32_t n = s->vertices, q[3] = {n + triangle[t][0], n + triangle[t][1], n + triangle[t][2]};
        for (int32_t i = 0; i < s->vertices; i++)
            look_at(l, DRAPE_CCD_VERTEX_FACE, (int32_t[4]){i, q[0], q[1], q[2]}, distance, 0);
        for (int32_t k = 0; k < 3; k++) {
            for (int32_t i = 0; i < s->triangles; i++)
                look_at(l, DRAPE_CCD_VERTEX_FACE,
                        (int32_t[4]){q[k], s->triangle[i][0], s->triangle[i][1], s->triangle[i][2]}, distance, 0);
            for (int32_t i = 0; i < s->edges; i++)
                look_at(l, DRAPE_CCD_EDGE_EDGE, (int32_t[4]){s->edge[i][0], s->edge[i][1], q[k], q[(k + 1) % 3]},
                        distance, 0);
        }
    }
}

static void look_at_round(looking *l, const drape_i_collider *c) {
    const soup *s = l->s;
    int32_t first = s->vertices + c->first_point;
    double distance = c->radius + c->thickness + 0.5 * s->thickness[0];
    for (int32_t p = 0; p < c->points; p++)
        for (int32_t i = 0; i < s->triangles; i++)
            look_at(l, DRAPE_CCD_VERTEX_FACE,
                    (int32_t[4]){first + p, s->triangle[i][0], s->triangle[i][1], s->triangle[i][2]}, distance,
                    c->radius);
    for (int32_t i = 0; c->points == 2 && i < s->edges; i++)
        look_at(l, DRAPE_CCD_EDGE_EDGE, (int32_t[4]){s->edge[i][0], s->edge[i][1], first, first + 1}, distance,
                c->radius);
}

static void look_at_plane(looking *l, const drape_i_collider *c, int32_t index) {
    const soup *s = l->s;
    for (int e = 0; e < 2; e++) {
        const double *x = e ? l->end : l->start, *p = x + 3 * ((int64_t)s->vertices + c->first_point);
        double n[3], floor = l->times * drape_i_world_floor(s->world, c->thickness + 0.5 * s->thickness[0], 0);
        drape_i_collider_normal(s->world->colliders, index, e ? s->world->end_time : s->world->start_time, n);
        for (int32_t i = 0; i < s->vertices; i++) {
            double height = 0;
            for (int k = 0; k < 3; k++) height += n[k] * (x[3 * i + k] - p[k]);
            l->found += !(height >= floor * (1 - 1e-9));
        }
    }
}

int64_t soup_violations(const soup *s, const double *start, const double *end, double times) {
    looking l = {s, start, end, times, 0};
    for (int32_t i = 0; i < s->vertices; i++)
        for (int32_t t = 0; t < s->triangles; t++)
            look_at(&l, DRAPE_CCD_VERTEX_FACE,
                    (int32_t[4]){i, s->triangle[t][0], s->triangle[t][1], s->triangle[t][2]}, s->thickness[0], 0);
    for (int32_t i = 0; i < s->edges; i++)
        for (int32_t j = 0; j < i; j++)
            look_at(&l, DRAPE_CCD_EDGE_EDGE, (int32_t[4]){s->edge[i][0], s->edge[i][1], s->edge[j][0], s->edge[j][1]},
                    s->thickness[0], 0);
    const drape_i_colliders *all = s->world->colliders;
    for (int32_t i = 0; all && i < all->count; i++) {
        const drape_i_collider *c = &all->item[i];
        if (c->shape == DRAPE_COLLIDER_MESH)
            look_at_mesh(&l, c, (const int32_t(*)[3])all->triangle + c->first_triangle);
        else if (c->shape == DRAPE_COLLIDER_PLANE) look_at_plane(&l, c, i);
        else look_at_round(&l, c);
    }
    return l.found;
}

int64_t soup_crossings(const soup *s, const double *x) {
    const drape_i_colliders *all = s->world->colliders;
    drape_crossings_mesh mesh = {0};
    drape_crossings *search;
    drape_crossings_result result;
    if (all && all->triangles > 0)
        mesh = (drape_crossings_mesh){
            .vertices = all->points, .triangles = all->triangles, .triangle = all->triangle[0]};
    const drape_crossings_bodies bodies = {
        .cloth = {.vertices = s->vertices, .triangles = s->triangles, .triangle = s->triangle[0]},
        .others = &mesh,
        .other_count = mesh.triangles > 0};
    const double *others[1] = {s->world->end + 3 * (int64_t)s->vertices};
    ASSERT_OK(s->ctx, drape_crossings_create(s->ctx, &bodies, &search));
    ASSERT_OK(s->ctx, drape_crossings_count(search, x, others, &result));
    int64_t count = result.count;
    drape_crossings_destroy(search);
    return count;
}
