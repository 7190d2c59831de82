/* scene_frames.c: positions from frame to frame that a scene names: a point cache, or a sequence of meshes. Colliders
 * that change their form, pins that follow them, and cloth that starts from them read them here. */
#include "io/mesh.h"
#include "io/reader.h"
#include "io/scene_reader.h"

#include <math.h>
#include <string.h>

bool drape_i_is_file_name(reader_t *r, const drape_i_node *node, const char *wanted) {
    if (node->kind == DRAPE_I_SCALAR && *node->text) return true;
    drape_i_problem_at(&r->problems, node, false, "%s: expected the name of %s", node->key, wanted);
    return false;
}

void drape_i_frame_source_begin(reader_t *r, const drape_i_node *map, drape_i_frame_source *out) {
    *out = (drape_i_frame_source){.unit = 1, .y_up = r->y_up, .fps = 25};
    drape_i_read_unit(r, map, &out->unit);
    drape_i_read_up(r, map, &out->y_up);
}

bool drape_i_read_frame_source(reader_t *r, const drape_i_node *map, drape_i_frame_source *out) {
    const drape_i_range fps_range = {1e-3, 1e6, false};
    drape_i_read_number(r, map, "fps", DRAPE_I_FREQUENCY, fps_range, &out->fps);
    drape_i_read_number(r, map, "start", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->start);
    out->file = drape_i_node_find(map, "file");
    if (out->file) return drape_i_is_file_name(r, out->file, "a sequence of frames (.obj, .ply, .pc2, .mdd)");
    drape_i_problem_at(&r->problems, map, true, "%s: expected a file, such as {file: walk.pc2, fps: 25}", map->key);
    return false;
}

void drape_i_frame_source_scale(const reader_t *r, const drape_i_frame_source *from, int64_t count, double *x) {
    for (int64_t i = 0; i < 3 * count; i++) x[i] *= from->unit;
    if (from->y_up != r->y_up) drape_i_turn_axes(from->y_up, count, x);
}

static bool lies_inside(void *user, const char *path) {
    reader_t *r = user;
    drape_i_note_file(r, path);
    return r->options->trust_paths || !drape_i_path_leads_out(r, path);
}

static bool has_frame(reader_t *r, const drape_i_frame_source *from, int32_t frames, int32_t frame) {
    if (frame < frames) return true;
    drape_i_problem_at(&r->problems, from->file, false,
                       "frame %d does not exist; the last frame of %s is number %d, counted from 0", frame,
                       from->file->text, frames - 1);
    return false;
}

static bool copy_frames(reader_t *r, const drape_i_frame_source *from, drape_reader *reader, int32_t first,
                        int32_t count, drape_i_frames *out) {
    const drape_reader_info *info = drape_reader_describe(reader);
    if (!has_frame(r, from, info->frames, first)) return false;
    if (count == 0 || count > info->frames - first) count = info->frames - first;
    int64_t numbers = 3 * (int64_t)info->vertices;
    int32_t *triangle = drape_i_scene_get(r, 3 * (int64_t)info->triangles, sizeof *triangle);
    *out = (drape_i_frames){.vertices = info->vertices, .triangles = info->triangles, .frames = count};
    out->x = drape_i_scene_get(r, count * numbers, sizeof *out->x);
    out->time = drape_i_scene_get(r, count, sizeof *out->time);
    out->triangle = triangle;
    if (!out->x || !out->time || !triangle) return false;
    if (info->triangles > 0) memcpy(triangle, info->triangle, 3 * (size_t)info->triangles * sizeof *triangle);
    for (int32_t f = 0; f < count; f++) {
        drape_status status = drape_reader_frame(reader, first + f, out->x + f * numbers);
        if (status) return drape_i_scene_file_failed(r, from->file, status);
        out->time[f] = from->start + (first + f) / from->fps;
    }
    return true;
}

bool drape_i_read_frames(reader_t *r, const drape_i_frame_source *from, int32_t first, int32_t count,
                         drape_i_frames *out) {
    const char *path = drape_i_path_beside(r, from->file);
    const char *mesh = from->mesh ? drape_i_path_beside(r, from->mesh) : NULL;
    const drape_i_reader_gate gate = {
        .allows = lies_inside,
        .why_not = "is outside the scene's folder; move it there, or allow it with --trust-paths",
        .user = r};
    drape_reader *reader;
    if (!path || (from->mesh && !mesh)) return false;
    drape_status status = drape_i_reader_open(r->ctx, path, &(drape_reader_options){.mesh = mesh}, &gate, &reader);
    if (status) return drape_i_scene_file_failed(r, from->file, status);
    bool good = copy_frames(r, from, reader, first, count, out);
    drape_reader_close(reader);
    if (good) drape_i_frame_source_scale(r, from, (int64_t)out->frames * out->vertices, out->x);
    return good;
}

/* From the scene's axes to those of the simulation, in which z is up. */
static void turn_up(const reader_t *r, int64_t count, double *x) {
    for (int64_t i = 0; i < count; i++) drape_i_turn_up(r, x + 3 * i);
}

/* ---- pins that follow frames ---- */

static const double FARTHEST_START = 0.01; /* m: from where the frames have a vertex at the start */

/* Frames as they are in a file, once for all pins that follow them: many pins of a small scene must not take the
 * memory of many files. */
static const drape_i_frames *read_once(reader_t *r, const drape_i_frame_source *from) {
    drape_i_frame_source plain = *from;
    plain.unit = 1, plain.y_up = r->y_up;
    for (drape_i_frames_read *f = r->frames_read; f; f = f->before)
        if (strcmp(f->name, from->file->text) == 0) return &f->frames;
    drape_i_frames_read *f = drape_i_scene_get(r, 1, sizeof *f);
    if (!f || !drape_i_read_frames(r, &plain, 0, 0, &f->frames)) return NULL;
    f->name = from->file->text;
    f->before = r->frames_read;
    r->frames_read = f;
    return &f->frames;
}

/* From the file to metres with z up. */
static void convert(const reader_t *r, const drape_i_frame_source *from, int64_t count, double *x) {
    drape_i_frame_source_scale(r, from, count, x);
    turn_up(r, count, x);
}

static int32_t nearest_vertex(const reader_t *r, const drape_i_frame_source *from, const drape_i_frames *f,
                              const double p[3]) {
    int32_t nearest = 0;
    double least = -1;
    for (int32_t v = 0; v < f->vertices; v++) {
        double x[3], square = 0;
        memcpy(x, f->x + 3 * (int64_t)v, sizeof x);
        convert(r, from, 1, x);
        for (int32_t k = 0; k < 3; k++) square += (x[k] - p[k]) * (x[k] - p[k]);
        if (least < 0 || square < least) nearest = v, least = square;
    }
    return nearest;
}

/* Where a vertex starts, which is numbered over all pieces. */
static const double *start_of(const reader_t *r, const drape_i_shape *shape, int64_t vertex) {
    const double *start = r->out->scene.start;
    return start ? start + 3 * vertex : shape->position + 3 * (vertex - shape->first_vertex);
}

/* Where frames of the file's own vertices lead vertex v of a refined piece; in units and axes of the frames. */
static void interpolate(const drape_i_mesh *m, const double *x, int32_t v, double out[3]) {
    const drape_i_mesh_origin *origin = &m->origin[v];
    for (int32_t k = 0; k < 3; k++) {
        out[k] = 0;
        for (int32_t i = 0; i < 3 && origin->vertex[i] >= 0; i++)
            out[k] += origin->weight[i] * x[3 * (int64_t)origin->vertex[i] + k];
    }
}

/* Whether frames of so many vertices are those of the file of a refined piece. */
static bool is_unrefined(const drape_i_shape *shape, int32_t vertices) {
    return shape->mesh && shape->mesh->origin && !shape->mesh->of_file && vertices == shape->mesh->unrefined;
}

/* Which vertex of the frames each vertex of the pin follows. */
static bool match_vertices(reader_t *r, const drape_i_node *map, const drape_i_shape *shape, const drape_pin *pin,
                           const drape_i_frame_source *from, bool nearest, const drape_i_frames *f, int32_t *match) {
    if (!nearest && f->vertices != shape->vertices && !is_unrefined(shape, f->vertices)) {
        drape_i_problem_at(&r->problems, map, true,
                           "%s has %d vertices, but the piece has %d; use frames of the piece itself, or match: "
                           "nearest to follow another mesh",
                           from->file->text, f->vertices, shape->vertices);
        return false;
    }
    if (nearest && !drape_i_may_visit(r, map, (int64_t)f->vertices * pin->count)) return false;
    for (int32_t i = 0; i < pin->count; i++) {
        int32_t v = pin->vertices[i] - shape->first_vertex;
        match[i] = nearest ? nearest_vertex(r, from, f, start_of(r, shape, pin->vertices[i])) : v;
    }
    return true;
}

/* A pin that would jump is refused: a cloth is torn by that. */
static void check_start(reader_t *r, const drape_i_node *map, const drape_i_shape *shape, const drape_pin *pin,
                        const drape_motion_path *path) {
    for (int32_t i = 0; i < pin->count && !path->keep_offset && pin->from <= 0; i++) {
        int64_t v = pin->vertices[i] - shape->first_vertex;
        const double *p = start_of(r, shape, pin->vertices[i]);
        double square = 0;
        for (int32_t k = 0; k < 3; k++)
            square += (p[k] - path->frame[3 * (int64_t)i + k]) * (p[k] - path->frame[3 * (int64_t)i + k]);
        if (!(square > FARTHEST_START * FARTHEST_START)) continue;
        drape_i_problem_at(&r->problems, map, true,
                           "vertex %lld starts %.3g m away from its place in the frames; write keep_offset: true, or "
                           "start the cloth from the frames (start:)",
                           (long long)v, sqrt(square));
        return;
    }
}

void drape_i_read_followed_frames(reader_t *r, const drape_i_node *map, int32_t piece, drape_pin *pin) {
    static const char *const keys[] = {"file", "fps", "start", "unit", "up", "match", "keep_offset", NULL};
    const char *match = NULL;
    const drape_i_shape *shape = &r->shapes[piece];
    drape_i_frame_source from;
    int32_t before = r->problems.count;
    if (!drape_i_read_map(r, map, keys)) return;
    drape_i_frame_source_begin(r, map, &from);
    bool good = drape_i_read_frame_source(r, map, &from);
    drape_motion_path *path = drape_i_scene_get(r, 1, sizeof *path);
    if (drape_i_read_text(r, map, "match", &match) && strcmp(match, "number") != 0 && strcmp(match, "nearest") != 0)
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "match"), false,
                           "match is %s; it must be number or nearest", match);
    bool nearest = match && strcmp(match, "nearest") == 0;
    if (path) path->keep_offset = nearest;
    if (path) drape_i_read_truth(r, map, "keep_offset", &path->keep_offset);
    if (!good || !path || r->problems.count > before || pin->count == 0) return;
    const drape_i_frames *f = read_once(r, &from);
    if (!f) return;
    int32_t *of = drape_i_scene_get(r, pin->count, sizeof *of);
    double *x = drape_i_scene_get(r, 3 * (int64_t)f->frames * pin->count, sizeof *x);
    double *time = drape_i_scene_get(r, f->frames, sizeof *time);
    if (!of || !x || !time || !match_vertices(r, map, shape, pin, &from, nearest, f, of)) return;
    for (int64_t i = 0; i < (int64_t)f->frames * pin->count; i++) {
        int64_t frame = i / pin->count;
        int32_t v = of[i % pin->count];
        const double *from_x = f->x + 3 * frame * f->vertices;
        if (!nearest && is_unrefined(shape, f->vertices)) interpolate(shape->mesh, from_x, v, x + 3 * i);
        else memcpy(x + 3 * i, from_x + 3 * (int64_t)v, 3 * sizeof *x);
    }
    convert(r, &from, (int64_t)f->frames * pin->count, x);
    for (int32_t i = 0; i < f->frames; i++) time[i] = from.start + i / from.fps;
    path->frames = f->frames, path->frame_time = time, path->frame = x;
    pin->motion.kind = DRAPE_MOTION_FRAMES;
    pin->motion.path = path;
    check_start(r, map, shape, pin, path);
}

/* ---- where the cloth starts ---- */

/* v = (x after - x before) / the time between them, over the frames on both sides, where there are such. */
static void velocities(reader_t *r, const drape_i_node *map, const drape_i_frames *f, int32_t frame) {
    int64_t n = 3 * (int64_t)f->vertices;
    int32_t a = frame > 0 ? frame - 1 : frame, b = frame + 1 < f->frames ? frame + 1 : frame;
    if (a == b) {
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "velocity"), true,
                           "start: a velocity needs two frames, but the file has one; leave velocity out, or use a "
                           "file with more frames");
        return;
    }
    double *v = drape_i_scene_get(r, n, sizeof *v);
    for (int64_t i = 0; v && i < n; i++) v[i] = (f->x[b * n + i] - f->x[a * n + i]) / (f->time[b] - f->time[a]);
    r->out->scene.velocity = v;
}

/* Frames of the pieces as their files have them become those of the refined ones; false where they are not that. */
static bool refine_frames(reader_t *r, drape_i_frames *f) {
    int64_t vertices = 0, from = 0;
    for (int32_t p = 0; p < r->out->scene.piece_count; p++) {
        const drape_i_mesh *m = r->shapes[p].mesh;
        vertices += m && m->origin && !m->of_file ? m->unrefined : r->shapes[p].vertices;
    }
    if (vertices != f->vertices) return false;
    double *x = drape_i_scene_get(r, 3 * (int64_t)r->vertices * f->frames, sizeof *x), *to = x;
    for (int32_t frame = 0; x && frame < f->frames; frame++)
        for (int32_t p = 0; p < r->out->scene.piece_count; p++) {
            const drape_i_shape *shape = &r->shapes[p];
            bool refined = shape->mesh && shape->mesh->origin && !shape->mesh->of_file;
            for (int32_t v = 0; v < shape->vertices; v++, to += 3) {
                if (refined) interpolate(shape->mesh, f->x + 3 * from, v, to);
                else memcpy(to, f->x + 3 * (from + v), 3 * sizeof *to);
            }
            from += refined ? shape->mesh->unrefined : shape->vertices;
        }
    f->x = x;
    f->vertices = r->vertices;
    return x != NULL;
}

/* start: {file: equilibrium.obj, frame: 0, velocity: true, fps: 25}: one frame of all pieces, as drape writes them.
 */
void drape_i_read_start(reader_t *r, const drape_i_node *root) {
    static const char *const keys[] = {"file", "frame", "fps", "velocity", "unit", "up", NULL};
    const drape_i_node *map = drape_i_node_find(root, "start");
    drape_i_frame_source from;
    drape_i_frames f;
    int32_t frame = 0, before = r->problems.count;
    bool moving = false, all = true;
    if (!map || !drape_i_read_map(r, map, keys)) return;
    for (int32_t p = 0; p < r->out->scene.piece_count; p++) all = all && r->shapes && r->shapes[p].position;
    drape_i_frame_source_begin(r, map, &from);
    if (!drape_i_node_find(map, "up")) from.y_up = false; /* as drape writes it */
    bool good = drape_i_read_frame_source(r, map, &from);
    drape_i_read_whole(r, map, "frame", 0, INT32_MAX, &frame);
    drape_i_read_truth(r, map, "velocity", &moving);
    if (!good || !all || r->problems.count > before) return;
    int32_t first = moving && frame > 0 ? frame - 1 : frame;
    if (!drape_i_read_frames(r, &from, first, moving ? frame - first + 2 : 1, &f)) return;
    if (!has_frame(r, &from, first + f.frames, frame)) return;
    if (f.vertices != r->vertices && !refine_frames(r, &f)) {
        drape_i_problem_at(
            &r->problems, from.file, false,
            "%s has %d vertices, but the cloth has %d; use a file that was written for this cloth at this resolution",
            from.file->text, f.vertices, r->vertices);
        return;
    }
    turn_up(r, (int64_t)f.frames * f.vertices, f.x);
    r->out->scene.start = f.x + 3 * (int64_t)(frame - first) * f.vertices;
    if (moving) velocities(r, map, &f, frame - first);
}
