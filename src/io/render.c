/* render.c: settings, what the camera is shown, and a picture from beginning to end. */
#include "io/render.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

static const drape_render_settings DEFAULTS = {.width = 960,
                                               .height = 540,
                                               .samples = 9,
                                               .has_view = true,
                                               .azimuth = -58,
                                               .elevation = 24,
                                               .has_background = true,
                                               .background = {{0.953, 0.945, 0.933}, {0.855, 0.835, 0.808}}};

enum { MOST_PIXELS = 16384, LEAST_MAP = 512, MOST_MAP = 4096, BANDS = 16 };

static const double OUTLIER = 8;      /* frames in which the cloth is so much larger than usual are not followed */
static const double PAD = 0.004;      /* of the size of everything, around it; */
static const double LEAST_PAD = 1e-6; /* m, and where that is nothing */
static const double GAP = 0.05;       /* of the size: from the lowest point to the default floor */

/* What is seen in a frame. */
typedef struct seen_frame {
    drape_i_reach reach;
    drape_i_box box;
    double size; /* of the cloth */
} seen_frame;

struct drape_renderer {
    drape_context *ctx;
    drape_render_settings settings;
    drape_i_painted_cloth cloth;
    drape_i_samples samples;
    drape_i_srgb_bytes bytes;
    drape_i_camera camera;
    seen_frame *seen;
    int64_t seen_count, seen_room;
    bool placed;       /* the camera, for all of them */
    double first_size; /* m, of the cloth: what else is large is so for the whole film */
    drape_i_box box;
};

/* ---- Settings ---- */

drape_render_settings drape_render_defaults(void) { return DEFAULTS; }

static bool is_square(int32_t n) {
    int32_t side = 1;
    while (side * side < n) side++;
    return side * side == n;
}

static void resolve(drape_render_settings *s) {
    if (s->width == 0) s->width = DEFAULTS.width;
    if (s->height == 0) s->height = DEFAULTS.height;
    if (s->samples == 0) s->samples = DEFAULTS.samples;
    if (!s->has_view) s->azimuth = DEFAULTS.azimuth, s->elevation = DEFAULTS.elevation;
    if (!s->has_background) memcpy(s->background, DEFAULTS.background, sizeof s->background);
}

static drape_status check_settings(drape_context *ctx, const drape_render_settings *s) {
    drape_status status = drape_i_check_reserved(ctx, "drape_render_settings", s->reserved, 8);
    if (status) return status;
    if (s->width < 1 || s->height < 1 || s->width > MOST_PIXELS || s->height > MOST_PIXELS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a picture of %d x %d pixels: 1 to %d each are possible",
                            s->width, s->height, MOST_PIXELS);
    if (s->samples < 1 || s->samples > DRAPE_I_MOST_SAMPLES || !is_square(s->samples))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%d samples per pixel: 1, 4, 9, 16, 25, 36, 49 or 64",
                            s->samples);
    if (!isfinite(s->azimuth) || !(fabs(s->elevation) <= 90))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a view from %g, %g degrees: elevations are -90..90",
                            s->azimuth, s->elevation);
    if (s->has_floor && !isfinite(s->floor))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "the height of the floor is not finite");
    if (!drape_i_is_color(s->background[0]) || !drape_i_is_color(s->background[1]))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a color of the background is not in 0..1");
    return DRAPE_OK;
}

/* ---- Creating ---- */

drape_status drape_renderer_create(drape_context *ctx, const drape_render_cloth *cloth,
                                   const drape_render_settings *settings, drape_renderer **out) {
    drape_render_settings s = settings ? *settings : DEFAULTS;
    drape_renderer *r;
    if (out) *out = NULL;
    if (!ctx || !cloth || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_renderer_create: cloth or out is NULL");
    resolve(&s);
    drape_status status = check_settings(ctx, &s);
    if (status) return status;
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->ctx = ctx;
    r->settings = s;
    drape_i_samples_fill(&r->samples, s.samples);
    drape_i_srgb_bytes_fill(&r->bytes);
    drape_i_camera_aim(&r->camera, &s);
    status = drape_i_paint_cloth(ctx, cloth, &r->cloth);
    if (status) drape_renderer_destroy(r);
    else *out = r;
    return status;
}

void drape_renderer_destroy(drape_renderer *r) {
    if (!r) return;
    drape_context *ctx = r->ctx;
    drape_i_painted_cloth_free(ctx, &r->cloth);
    DRAPE_FREE(ctx, r->seen, r->seen_room);
    DRAPE_FREE(ctx, r, 1);
}

/* ---- What the camera is shown ---- */

static drape_status check_mesh(drape_context *ctx, const drape_frame_mesh *m) {
    const char *name = m->name ? m->name : "mesh";
    if (m->vertices < 0 || m->triangles < 0 || (m->vertices > 0 && !m->positions) ||
        (m->triangles > 0 && !m->triangle))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: %d vertices and %d triangles, or no arrays of them", name,
                            m->vertices, m->triangles);
    for (int64_t i = 0; i < 3 * (int64_t)m->triangles; i++)
        if (m->triangle[i] < 0 || m->triangle[i] >= m->vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: triangle %lld has vertex %d, and there are %d", name,
                                (long long)(i / 3), m->triangle[i], m->vertices);
    return DRAPE_OK;
}

static drape_status check_frame(drape_context *ctx, const drape_frame *f) {
    if (!f || !f->positions || f->mesh_count < 0 || (f->mesh_count > 0 && !f->meshes))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a frame without positions, or without the meshes it counts");
    drape_status status = drape_i_check_reserved(ctx, "drape_frame", f->reserved, 6);
    for (int32_t i = 0; i < f->mesh_count && !status; i++) status = check_mesh(ctx, f->meshes + i);
    return status;
}

static void show_points(const drape_renderer *r, seen_frame *seen, int32_t vertices, const double *x) {
    for (int64_t v = 0; v < vertices; v++, x += 3)
        if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])) {
            drape_i_reach_add(&seen->reach, &r->camera, x);
            drape_i_box_add(&seen->box, x);
        }
}

static bool grow(drape_renderer *r) {
    if (r->seen_count < r->seen_room) return true;
    int64_t room = 2 * r->seen_room + 16;
    seen_frame *more;
    if (!DRAPE_NEW(r->ctx, more, room)) return false;
    if (r->seen_count > 0) memcpy(more, r->seen, (size_t)r->seen_count * sizeof *more);
    DRAPE_FREE(r->ctx, r->seen, r->seen_room);
    r->seen = more;
    r->seen_room = room;
    return true;
}

drape_status drape_renderer_include(drape_renderer *r, const drape_frame *frame) {
    if (!r) return drape_i_fail(NULL, DRAPE_ERROR_ARGUMENT, "drape_renderer_include: the renderer is NULL");
    drape_status status = check_frame(r->ctx, frame);
    if (status) return status;
    seen_frame seen = {drape_i_reach_empty(), drape_i_box_empty(), 0};
    show_points(r, &seen, r->cloth.vertices, frame->positions);
    seen.size = drape_i_box_diagonal(&seen.box);
    if (r->first_size == 0) r->first_size = seen.size;
    for (int32_t i = 0; i < frame->mesh_count; i++)
        if (!drape_i_is_large(frame->meshes + i, r->first_size))
            show_points(r, &seen, frame->meshes[i].vertices, frame->meshes[i].positions);
    if (!grow(r)) return DRAPE_ERROR_MEMORY;
    r->seen[r->seen_count++] = seen;
    r->placed = false;
    return DRAPE_OK;
}

static int by_value(const void *p, const void *q) {
    double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

static drape_status usual_size(const drape_renderer *r, double *out) {
    double *size;
    if (!DRAPE_NEW(r->ctx, size, r->seen_count)) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < r->seen_count; i++) size[i] = r->seen[i].size;
    qsort(size, (size_t)r->seen_count, sizeof *size, by_value);
    *out = size[r->seen_count / 2];
    DRAPE_FREE(r->ctx, size, r->seen_count);
    return DRAPE_OK;
}

static bool is_empty(const drape_i_box *box) { return box->low[0] > box->high[0]; }

static void copy_vec3(double to[3], vec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

static double floor_height(const drape_renderer *r) {
    if (r->settings.has_floor) return r->settings.floor;
    return r->box.low[2] - GAP * fmax(drape_i_box_diagonal(&r->box), LEAST_PAD);
}

/* From the left behind the camera, high enough for shadows on the floor. */
static vec3 key_direction(const drape_i_camera *c) {
    vec3 towards = vec3_cross(c->right, (vec3){0, 0, 1}); /* the camera, without its height */
    vec3 beside = vec3_plus(vec3_scale(0.6, towards), -0.8, c->right);
    return vec3_plus(beside, 1.25, (vec3){0, 0, 1});
}

/* The middle of the shadow on the floor is to be seen, too, where the floor is not far below. */
static void show_shadow(const drape_renderer *r, drape_i_reach *reach) {
    vec3 middle = vec3_scale(0.5, vec3_add(vec3_at(r->box.low), vec3_at(r->box.high))),
         key = key_direction(&r->camera);
    double fall = (middle.z - floor_height(r)) / key.z, at[3];
    if (r->settings.no_floor || r->settings.elevation <= 0 || !(fall > 0)) return;
    if (fall * vec3_length(key) > drape_i_box_diagonal(&r->box)) return;
    copy_vec3(at, vec3_plus(middle, -fall, key));
    drape_i_reach_add(reach, &r->camera, at);
}

static drape_status place_camera(drape_renderer *r) {
    drape_i_reach reach = drape_i_reach_empty();
    double usual;
    drape_status status = r->placed ? DRAPE_OK : usual_size(r, &usual);
    if (status || r->placed) return status;
    r->box = drape_i_box_empty();
    for (int64_t i = 0; i < r->seen_count; i++) {
        if (r->seen[i].size > OUTLIER * usual || is_empty(&r->seen[i].box)) continue;
        drape_i_reach_join(&reach, &r->seen[i].reach);
        drape_i_box_join(&r->box, &r->seen[i].box);
    }
    if (is_empty(&r->box)) { /* nothing finite: look at the origin */
        const double origin[3] = {0, 0, 0};
        drape_i_box_add(&r->box, origin);
        drape_i_reach_add(&reach, &r->camera, origin);
    }
    double size = drape_i_box_diagonal(&r->box);
    show_shadow(r, &reach);
    drape_i_camera_place(&r->camera, &reach, PAD * size + LEAST_PAD);
    r->placed = true;
    return DRAPE_OK;
}

drape_status drape_renderer_camera(drape_renderer *r, drape_render_camera *out) {
    if (!r || !out || r->seen_count == 0)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_renderer_camera: no frame was shown to it, or an argument is NULL");
    drape_status status = place_camera(r);
    if (status) return status;
    copy_vec3(out->eye, r->camera.eye);
    copy_vec3(out->right, r->camera.right);
    copy_vec3(out->up, r->camera.up);
    copy_vec3(out->back, r->camera.back);
    out->focal = r->camera.focal;
    return DRAPE_OK;
}

/* ---- A picture ---- */

/* 1, 2 or 5 times a power of ten, at most `size`, so that squares on the floor are of a length that can be said. */
static double round_length(double size) {
    double power = 1;
    while (power > size && power > 1e-9) power /= 10;
    while (power * 10 <= size && power < 1e9) power *= 10;
    return power * (size >= 5 * power ? 5 : size >= 2 * power ? 2 : 1);
}

typedef struct band_job {
    drape_i_depth_map *map;
    const drape_i_surface *surface;
} band_job;

static void draw_band(void *data, int32_t i) {
    const band_job *j = data;
    int64_t size = j->map->size;
    drape_i_depth_map_draw(j->map, j->surface, (int32_t)(i * size / BANDS), (int32_t)((i + 1) * size / BANDS));
}

static drape_status draw_shadows(drape_renderer *r, drape_i_arena *memory, drape_i_picture *p) {
    int32_t longer = p->width > p->height ? p->width : p->height, size = 2 * longer;
    size = size < LEAST_MAP ? LEAST_MAP : size > MOST_MAP ? MOST_MAP : size;
    drape_status status = drape_i_depth_map_create(r->ctx, memory, key_direction(&r->camera), size, false, &p->key);
    if (status) return status;
    p->key.center = p->center;
    p->key.reach = 1.02 * p->radius;
    drape_i_tasks(r->ctx, BANDS, draw_band, &(band_job){&p->key, &p->surface});
    status = drape_i_depth_map_sum_up(r->ctx, memory, &p->key);
    if (status) return status;
    return drape_i_sky_make(r->ctx, memory, &p->surface, p->center, p->radius, p->floor, &p->sky);
}

static void look_around(const drape_renderer *r, drape_i_picture *p) {
    double size = fmax(drape_i_box_diagonal(&r->box), LEAST_PAD);
    p->center = vec3_scale(0.5, vec3_add(vec3_at(r->box.low), vec3_at(r->box.high)));
    p->radius = 0.5 * size;
    p->has_floor = !r->settings.no_floor;
    p->floor = floor_height(r);
    p->tile = round_length(0.6 * p->radius);
    p->camera = r->camera;
    p->camera.near = 0.02 * fabs(vec3_dot(r->camera.back, vec3_sub(r->camera.eye, p->center)));
    for (int k = 0; k < 2; k++) p->background[k] = drape_i_linear_color(r->settings.background[k]);
}

drape_status drape_renderer_draw(drape_renderer *r, const drape_frame *frame, uint8_t *rgb) {
    if (!r || !rgb)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_renderer_draw: an argument is NULL");
    drape_status status = r->seen_count == 0 ? drape_renderer_include(r, frame) : check_frame(r->ctx, frame);
    if (!status) status = place_camera(r);
    if (status) return status;
    drape_i_arena memory = {0};
    drape_i_picture p = {.width = r->settings.width,
                         .height = r->settings.height,
                         .samples = &r->samples,
                         .bytes = &r->bytes,
                         .rgb = rgb};
    status = drape_i_surface_make(r->ctx, &memory, &r->cloth, r->first_size, frame, &p.surface);
    p.paint = p.surface.paints;
    if (!status) look_around(r, &p);
    if (!status) status = draw_shadows(r, &memory, &p);
    if (!status) status = drape_i_rasterise(r->ctx, &memory, &p);
    drape_i_arena_free(r->ctx, &memory);
    return status;
}
