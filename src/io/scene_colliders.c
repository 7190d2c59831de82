/* scene_colliders.c: `colliders:`, a list of objects that cloth meets: a shape or a mesh, its place and its motion.
 */
#include "base/elementary.h"
#include "contact/collider.h"
#include "io/mesh.h"
#include "io/scene_reader.h"

#include <math.h>
#include <string.h>

enum { MOST_COLLIDERS = 10000, MOST_SIDES = 1024, FEWEST_SIDES = 3 };

static const double RADIANS = 0.017453292519943295769; /* per degree */

static const char *shape_name(int32_t index) { return drape_collider_shape_name((drape_collider_shape)index); }

/* ---- shapes ---- */

enum {
    ROUND = 1 << DRAPE_COLLIDER_SPHERE | 1 << DRAPE_COLLIDER_CAPSULE | 1 << DRAPE_COLLIDER_CYLINDER,
    LONG = 1 << DRAPE_COLLIDER_CAPSULE | 1 << DRAPE_COLLIDER_CYLINDER,
    BOXES = 1 << DRAPE_COLLIDER_BOX | 1 << DRAPE_COLLIDER_BOX_WITH_HOLE,
    MESH = 1 << DRAPE_COLLIDER_MESH
};

/* Keys that only some shapes have, and of these which need them. */
static const struct {
    const char *key;
    int32_t shapes;
    bool needed;
    const char *example;
} shape_keys[] = {
    {"radius", ROUND, true, "30 cm"},
    {"length", LONG, true, "1 m"},
    {"size", BOXES, true, "[1 m, 1 m, 10 cm]"},
    {"hole", 1 << DRAPE_COLLIDER_BOX_WITH_HOLE, true, "[50 cm, 50 cm]"},
    {"sides", 1 << DRAPE_COLLIDER_CYLINDER, false, NULL},
    {"mesh", MESH, false, NULL},
    {"frames", MESH, false, NULL},
    {"unit", MESH, false, NULL},
    {"up", MESH, false, NULL},
};

/* Whether the collider has the keys of its shape, and no others. */
static bool has_its_keys(reader_t *r, const drape_i_node *node, drape_collider_shape shape) {
    int32_t before = r->problems.count;
    for (size_t i = 0; i < sizeof shape_keys / sizeof *shape_keys; i++) {
        const drape_i_node *found = drape_i_node_find(node, shape_keys[i].key);
        bool fits = shape_keys[i].shapes >> shape & 1;
        if (found && !fits)
            drape_i_problem_at(&r->problems, found, true, "a %s has no %s; leave it out",
                               drape_collider_shape_name(shape), found->key);
        if (!found && fits && shape_keys[i].needed)
            drape_i_problem_at(&r->problems, node, false, "a %s needs a %s, such as %s: %s",
                               drape_collider_shape_name(shape), shape_keys[i].key, shape_keys[i].key,
                               shape_keys[i].example);
    }
    return r->problems.count == before;
}

/* hole: [50 cm, 50 cm], along x and the other level axis. */
static void read_hole(reader_t *r, const drape_i_node *node, double hole[2]) {
    if (!node) return;
    if (node->kind != DRAPE_I_LIST || drape_i_node_count(node) != 2) {
        drape_i_problem_at(&r->problems, node, false, "hole: expected two lengths, such as [50 cm, 50 cm]");
        return;
    }
    drape_i_node_number(r, node->first, DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &hole[0]);
    drape_i_node_number(r, node->first->next, DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &hole[1]);
}

/* A cylinder is upright and a plane is level, whichever axis is up. */
static void read_sizes(reader_t *r, const drape_i_node *node, drape_collider *c) {
    drape_i_read_number(r, node, "radius", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &c->radius);
    drape_i_read_number(r, node, "length", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &c->length);
    drape_i_read_vector(r, node, "size", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, c->size);
    if (r->y_up) {
        double up = c->size[1];
        c->size[1] = c->size[2];
        c->size[2] = up;
    }
    read_hole(r, drape_i_node_find(node, "hole"), c->hole);
    drape_i_read_whole(r, node, "sides", FEWEST_SIDES, MOST_SIDES, &c->sides);
}

/* ---- place and motion ---- */

/* The vector along the axis, of the angle's length in rad, of a turn about x, then y, then z by so many degrees. */
static void rotation_vector(const double degrees[3], double out[3]) {
    double q[4] = {1, 0, 0, 0}; /* a quaternion: its real part, then x, y, z */
    for (int32_t k = 0; k < 3; k++) {
        double c = drape_i_cos(0.5 * RADIANS * degrees[k]), s = drape_i_sin(0.5 * RADIANS * degrees[k]);
        int32_t i = 1 + k, j = 1 + (k + 1) % 3, l = 1 + (k + 2) % 3;
        double old[4] = {q[0], q[1], q[2], q[3]};
        q[0] = c * old[0] - s * old[i];
        q[i] = c * old[i] + s * old[0];
        q[j] = c * old[j] - s * old[l];
        q[l] = c * old[l] + s * old[j];
    }
    double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double angle = 2 * drape_i_atan2(sine, q[0]);
    for (int32_t k = 0; k < 3; k++) out[k] = sine > 0 ? angle / sine * q[1 + k] : 0;
}

/* A mesh is turned vertex by vertex, so that right angles are exact, and so is what does not move. */
static void place_mesh(const reader_t *r, const drape_i_placement *place, int64_t points, double *x) {
    drape_i_placement here = *place;
    memset(here.translate, 0, sizeof here.translate);
    drape_i_place_points(r, &here, points, x);
}

static void place_shape(reader_t *r, const drape_i_node *node, const drape_i_placement *place, drape_collider *c) {
    if (place->scale != 1)
        drape_i_problem_at(&r->problems, drape_i_node_find(drape_i_node_find(node, "place"), "scale"), true,
                           "scale works only for a collider with `mesh:`; change the size of the shape instead");
    rotation_vector(place->rotate, c->rotation);
    drape_i_turn_up(r, c->rotation);
}

static void read_key(reader_t *r, const drape_i_node *node, drape_collider_key *key) {
    static const char *const keys[] = {"time", "offset", "turn", NULL};
    double offset[3] = {0}, turn[3] = {0};
    if (!drape_i_read_map(r, node, keys)) return;
    if (!drape_i_node_find(node, "time"))
        drape_i_problem_at(&r->problems, node, false, "a key needs a time, such as time: 1 s");
    drape_i_read_number(r, node, "time", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &key->time);
    drape_i_read_vector(r, node, "offset", DRAPE_I_LENGTH, DRAPE_I_ANY, offset);
    drape_i_read_vector(r, node, "turn", DRAPE_I_ANGLE, (drape_i_range){-1e9, 1e9, false}, turn);
    drape_i_turn_up(r, offset);
    drape_i_turn_up(r, turn);
    for (int32_t k = 0; k < 3; k++) {
        key->position[k] += offset[k];
        key->rotation[k] = RADIANS * turn[k];
    }
}

/* move: {keys: [{time: 1 s}, {time: 3 s, offset: [0, 0, 0], turn: [0, 0, 360]}]}; key `at` is where it is placed. */
static void read_motion(reader_t *r, const drape_i_node *move, const drape_collider_key *at, drape_collider *c) {
    static const char *const kinds[] = {"keys", NULL};
    if (!drape_i_read_map(r, move, kinds)) return;
    const drape_i_node *list = drape_i_node_find(move, "keys");
    if (!list || list->kind != DRAPE_I_LIST || !list->first) {
        drape_i_problem_at(&r->problems, list ? list : move, !list,
                           "move: expected a list of keys, such as {keys: [{time: 1 s}, {time: 2 s, offset: [0, 0, "
                           "10 cm], turn: [0, 0, 90]}]}");
        return;
    }
    int32_t count = drape_i_node_count(list), i = 0, before = r->problems.count;
    drape_collider_key *all = drape_i_scene_get(r, count, sizeof *all);
    for (const drape_i_node *n = list->first; n && all; n = n->next, i++) {
        all[i] = *at;
        read_key(r, n, &all[i]);
        if (i > 0 && r->problems.count == before && !(all[i].time > all[i - 1].time))
            drape_i_problem_at(&r->problems, n, false, "the times of keys must increase, but %g s comes after %g s",
                               all[i].time, all[i - 1].time);
    }
    c->key = all;
    c->key_count = all ? count : 0;
}

static void read_place_and_motion(reader_t *r, const drape_i_node *node, const drape_i_placement *place,
                                  drape_collider *c) {
    drape_collider_key at = {0};
    memcpy(at.position, place->translate, sizeof at.position);
    drape_i_turn_up(r, at.position);
    const drape_i_node *move = drape_i_node_find(node, "move");
    if (move) {
        read_motion(r, move, &at, c);
    } else if (at.position[0] != 0 || at.position[1] != 0 || at.position[2] != 0) {
        drape_collider_key *key = drape_i_scene_get(r, 1, sizeof *key);
        if (!key) return;
        *key = at;
        c->key = key;
        c->key_count = 1;
    }
}

/* ---- meshes ---- */

typedef struct mesh_source {
    const drape_i_node *mesh; /* its name in the scene, or NULL */
    bool has_frames;
    drape_i_frame_source frames; /* with that; unit and axes are those of the mesh, too */
} mesh_source;

/* mesh: body.obj, or frames: {file: walk.pc2, fps: 25, start: 1 s}, or both for a file of positions only. */
static bool read_source(reader_t *r, const drape_i_node *node, mesh_source *out) {
    static const char *const keys[] = {"file", "fps", "start", NULL};
    const drape_i_node *frames = drape_i_node_find(node, "frames");
    *out = (mesh_source){.mesh = drape_i_node_find(node, "mesh"), .has_frames = frames != NULL};
    drape_i_frame_source_begin(r, node, &out->frames);
    out->frames.mesh = out->mesh;
    if (out->mesh && !drape_i_is_file_name(r, out->mesh, "an OBJ or PLY file")) return false;
    if (!frames && !out->mesh)
        drape_i_problem_at(&r->problems, node, false, "a mesh needs a file, such as mesh: body.obj");
    if (!frames) return out->mesh != NULL;
    return drape_i_read_map(r, frames, keys) && drape_i_read_frame_source(r, frames, &out->frames);
}

static bool read_one_mesh(reader_t *r, const mesh_source *from, const drape_i_placement *place, drape_collider *c) {
    drape_i_mesh m;
    const char *path = drape_i_path_beside(r, from->mesh);
    if (!path) return false;
    drape_status status = drape_i_mesh_read(r->ctx, &r->out->arena, path, NULL, &m);
    if (status) return drape_i_scene_file_failed(r, from->mesh, status);
    drape_i_frame_source_scale(r, &from->frames, m.vertices, m.position);
    place_mesh(r, place, m.vertices, m.position);
    c->vertices = m.vertices, c->positions = m.position;
    c->triangles = m.triangles, c->triangle = m.triangle[0];
    return true;
}

static bool read_sequence(reader_t *r, const mesh_source *from, const drape_i_placement *place, drape_collider *c) {
    drape_i_frames f;
    if (!drape_i_read_frames(r, &from->frames, 0, 0, &f)) return false;
    if (f.triangles == 0) {
        drape_i_problem_at(&r->problems, from->frames.file, false,
                           "%s holds only positions; name a mesh file for the triangles, such as mesh: body.obj",
                           from->frames.file->text);
        return false;
    }
    place_mesh(r, place, (int64_t)f.frames * f.vertices, f.x);
    c->vertices = f.vertices, c->triangles = f.triangles, c->triangle = f.triangle;
    c->frames = f.frames, c->frame_time = f.time, c->frame = f.x;
    return true;
}

/* ---- the list ---- */

static bool read_shape(reader_t *r, const drape_i_node *node, const drape_i_placement *place, drape_collider *c) {
    bool file = drape_i_node_find(node, "mesh") || drape_i_node_find(node, "frames");
    int32_t shape = file ? DRAPE_COLLIDER_MESH : -1;
    if (!drape_i_read_index(r, node, "shape", shape_name, &shape)) return false;
    if (shape < 0) {
        drape_i_problem_at(&r->problems, node, false,
                           "a collider needs a shape, such as shape: sphere, or a mesh, such as mesh: body.obj");
        return false;
    }
    c->shape = (drape_collider_shape)shape;
    if (!has_its_keys(r, node, c->shape)) return false;
    read_sizes(r, node, c);
    if (c->shape != DRAPE_COLLIDER_MESH) {
        place_shape(r, node, place, c);
        return true;
    }
    mesh_source from;
    if (!read_source(r, node, &from)) return false;
    return from.has_frames ? read_sequence(r, &from, place, c) : read_one_mesh(r, &from, place, c);
}

static void read_collider(reader_t *r, const drape_i_node *node, drape_collider *c, int32_t index,
                          const char **names) {
    static const char *const keys[] = {"name",      "shape",    "radius", "length", "size",   "hole",
                                       "sides",     "mesh",     "unit",   "up",     "frames", "place",
                                       "thickness", "friction", "move",   "color",  NULL};
    int32_t before = r->problems.count;
    *c = (drape_collider){.name = "collider", .friction = DRAPE_I_SCENE_FRICTION};
    names[index] = c->name;
    if (!drape_i_read_map(r, node, keys)) return;
    c->name = names[index] = drape_i_read_unique_name(r, node, "collider", names, index);
    drape_i_read_number(r, node, "thickness", DRAPE_I_LENGTH, DRAPE_I_NOT_NEGATIVE, &c->thickness);
    drape_i_read_number(r, node, "friction", DRAPE_I_PLAIN, DRAPE_I_NOT_NEGATIVE, &c->friction);
    drape_i_read_collider_appearance(r, node, c);
    drape_i_placement place = drape_i_read_place(r, node);
    bool good = read_shape(r, node, &place, c);
    read_place_and_motion(r, node, &place, c);
    if (!good || r->problems.count > before || r->problems.status == DRAPE_ERROR_MEMORY) return;
    drape_status status = drape_i_collider_check(r->ctx, c, -1);
    if (status) drape_i_scene_failed(r, node, status);
}

void drape_i_read_colliders(reader_t *r, const drape_i_node *root) {
    const drape_i_node *list = drape_i_node_find(root, "colliders");
    int32_t count = list ? drape_i_node_count(list) : 0, index = 0;
    if (!list) return;
    if (list->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&r->problems, list, false,
                           "colliders: expected a list, each entry after a dash and a space");
        return;
    }
    if (count > MOST_COLLIDERS) {
        drape_i_problem_at(&r->problems, list, true, "more than %d colliders", MOST_COLLIDERS);
        return;
    }
    drape_collider *all = drape_i_scene_get(r, count, sizeof *all);
    const drape_i_node **nodes = drape_i_scene_get(r, count, sizeof *nodes);
    const char **names = drape_i_scene_get(r, count, sizeof *names);
    if (!all || !nodes || !names) return;
    r->out->scene.colliders = all;
    r->out->scene.collider_count = count;
    r->out->collider_node = nodes;
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        nodes[index] = n;
        read_collider(r, n, &all[index], index, names);
    }
}
