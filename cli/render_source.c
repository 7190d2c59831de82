/* render_source.c: frames to be drawn, of files or of a scene that is simulated first. Those of a scene wait in a
 * file without a name: the camera wants to see all of them before the first is drawn. */
#include "render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool say_message(const frame_source *s) {
    complain("%s", *drape_message(s->ctx) ? drape_message(s->ctx) : "out of memory");
    return false;
}

static bool no_memory(void) {
    complain("out of memory");
    return false;
}

static bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

bool source_is_scene(const char *name) {
    return ends_in(name, ".yaml") || ends_in(name, ".yml") || word_index(WORDS_SCENES, name) >= 0;
}

/* ---- Opening ---- */

static const drape_scene *scene_of(const frame_source *s) { return drape_loaded_scene_data(s->loaded); }

/* Whether a collider is a horizontal plane that rests, with its free side up; its height then. */
static bool is_floor(const drape_collider *c, const drape_frame_mesh *mesh, double *height) {
    const double *x = mesh->positions;
    if (c->shape != DRAPE_COLLIDER_PLANE || c->key_count > 1 || mesh->vertices != 4) return false;
    double u[2] = {x[3] - x[0], x[4] - x[1]}, v[2] = {x[9] - x[0], x[10] - x[1]}, low = x[2], high = x[2];
    for (int k = 1; k < 4; k++) low = fmin(low, x[3 * k + 2]), high = fmax(high, x[3 * k + 2]);
    *height = low;
    return high - low <= 1e-9 * (fabs(u[0]) + fabs(u[1])) && u[0] * v[1] > u[1] * v[0];
}

/* The highest of these planes is the floor. */
static bool take_colliders(frame_source *s) {
    const drape_scene *scene = scene_of(s);
    if (drape_collider_meshes_create(s->ctx, scene, &s->colliders)) return say_message(s);
    s->shown = malloc(((size_t)scene->collider_count + 1) * sizeof *s->shown);
    s->shown_look = malloc(((size_t)scene->collider_count + 1) * sizeof *s->shown_look);
    if (!s->shown || !s->shown_look) return no_memory();
    const drape_frame_mesh *mesh = drape_collider_meshes_at(s->colliders, 0);
    for (int32_t i = 0; i < scene->collider_count; i++) {
        double height;
        if (!is_floor(scene->colliders + i, mesh + i, &height)) continue;
        s->floor = s->has_floor ? fmax(s->floor, height) : height;
        s->has_floor = true;
    }
    return true;
}

static bool load_scene(frame_source *s) {
    drape_scene_options how = scene_options(s->scene);
    if (drape_scene_load(s->ctx, s->scene->name, &how, &s->loaded)) return say_message(s);
    const drape_scene *scene = scene_of(s);
    if (!join_pieces(scene, &s->cloth)) return false;
    s->fps = 1 / (scene->step * scene->steps_per_frame);
    s->piece_triangles = malloc(((size_t)scene->piece_count + 1) * sizeof *s->piece_triangles);
    s->piece_color = malloc(((size_t)scene->piece_count + 1) * sizeof *s->piece_color);
    if (!s->piece_triangles || !s->piece_color) return no_memory();
    s->piece_count = scene->piece_count;
    for (int32_t p = 0; p < s->piece_count; p++) {
        const drape_appearance *look = scene->pieces[p].appearance;
        s->piece_triangles[p] = scene->pieces[p].triangles;
        for (int k = 0; k < 3; k++) s->piece_color[p][k] = look && look->colored ? look->color[k] / 255.0 : -1;
    }
    return s->no_colliders || take_colliders(s);
}

static bool open_frames(frame_source *s) {
    if (drape_reader_open(s->ctx, s->name, &(drape_reader_options){.mesh = s->mesh_file}, &s->reader))
        return say_message(s);
    const drape_reader_info *file = drape_reader_describe(s->reader);
    s->frames = file->frames;
    s->vertices = file->vertices;
    if (s->scene->name) return load_scene(s) && frames_fit_scene(s->name, file, s->scene->name, &s->cloth);
    s->cloth = (cloth_mesh){.vertices = file->vertices, .triangles = file->triangles, .triangle = file->triangle};
    s->fps = file->fps > 0 ? file->fps : 25;
    if (file->triangles > 0) return true;
    complain("%s holds only positions; name the scene (--scene) or a mesh file (--mesh) for the triangles", s->name);
    return false;
}

static bool open_scene(frame_source *s) {
    if (s->scene->name || s->mesh_file) {
        complain("%s is a scene itself; %s applies only to files of frames", s->name,
                 s->scene->name ? "--scene" : "--mesh");
        return false;
    }
    s->scene->name = s->name;
    if (!load_scene(s)) return false;
    drape_scene *scene = drape_loaded_scene_edit(s->loaded);
    scene->solve.direct = direct_solver();
    if (!direct_is_there("solver.method", &scene->solve)) return false;
    drape_status status = drape_sim_create(s->ctx, scene, &s->sim);
    if (status == DRAPE_ERROR_ARGUMENT) {
        complain_of_refusal(s->ctx, s->scene);
        return false;
    }
    if (status) return say_message(s);
    s->vertices = s->cloth.vertices;
    s->frames = scene->frames + 1;
    return true;
}

bool source_open(frame_source *s) {
    bool good = source_is_scene(s->name) ? open_scene(s) : open_frames(s);
    if (!good) return false;
    s->x = malloc((size_t)s->vertices * 3 * sizeof *s->x);
    return s->x ? true : no_memory();
}

void source_close(frame_source *s) {
    if (s->kept) fclose(s->kept);
    drape_sim_destroy(s->sim);
    drape_reader_close(s->reader);
    drape_collider_meshes_destroy(s->colliders);
    drape_loaded_scene_destroy(s->loaded);
    free(s->piece_triangles), free(s->piece_color), free(s->cloth.owned), free(s->x);
    free(s->shown), free(s->shown_look);
}

/* ---- Simulating ---- */

static bool keep_frame(frame_source *s) {
    size_t count = 3 * (size_t)s->vertices;
    if (fwrite(drape_sim_positions(s->sim), sizeof(double), count, s->kept) == count) return true;
    complain("%s: not enough space for the frames in the folder for temporary files", s->name);
    return false;
}

bool source_simulate(frame_source *s, int32_t last, bool (*stop)(void)) {
    if (s->reader) return true;
    s->kept = tmpfile();
    if (!s->kept) {
        complain("%s: cannot make a temporary file for the frames", s->name);
        return false;
    }
    bool good = keep_frame(s);
    for (int32_t f = 1; f <= last && good && !stop(); f++) {
        for (int32_t i = 0; i < scene_of(s)->steps_per_frame && good && !stop(); i++)
            if (drape_sim_step(s->sim, NULL)) good = say_message(s);
        if (good && !stop()) good = keep_frame(s);
    }
    if (good && fflush(s->kept) != 0) {
        complain("%s: not enough space for the frames in the folder for temporary files", s->name);
        good = false;
    }
    s->frames = last + 1;
    return good;
}

/* ---- Taking ---- */

int64_t source_number(const frame_source *s, int32_t frame) {
    return s->reader ? drape_reader_number(s->reader, frame) : frame;
}

static bool take_positions(frame_source *s, int32_t frame) {
    size_t count = 3 * (size_t)s->vertices;
    if (s->reader) return drape_reader_frame(s->reader, frame, s->x) ? say_message(s) : true;
    if (fseeko(s->kept, (off_t)((int64_t)frame * (int64_t)(count * sizeof *s->x)), SEEK_SET) == 0 &&
        fread(s->x, sizeof *s->x, count, s->kept) == count)
        return true;
    complain("%s: cannot read the frames that were simulated", s->name);
    return false;
}

bool source_take(frame_source *s, int32_t frame, drape_frame *out) {
    if (!take_positions(s, frame)) return false;
    double time = (double)source_number(s, frame) / s->fps, height;
    const drape_frame_mesh *mesh = drape_collider_meshes_at(s->colliders, time);
    const drape_appearance *const *look = drape_collider_meshes_appearance(s->colliders);
    *out = (drape_frame){.positions = s->x, .meshes = s->shown, .mesh_appearance = s->shown_look};
    for (int32_t i = 0; i < drape_collider_meshes_count(s->colliders); i++) {
        if (is_floor(scene_of(s)->colliders + i, mesh + i, &height)) continue;
        s->shown[out->mesh_count] = mesh[i];
        s->shown_look[out->mesh_count++] = look[i];
    }
    return true;
}
