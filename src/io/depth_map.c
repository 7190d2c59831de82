/* depth_map.c: a surface seen from infinitely far away, in the direction of a light: how near to the light it comes
 * in each texel of a square. Texels keep the extremes of what is drawn, so the order of triangles does not matter. */
#include "base/parallel.h"
#include "io/render.h"

#include <float.h>

static vec3 any_normal(vec3 w) {
    vec3 other = fabs(w.z) < 0.9 ? (vec3){0, 0, 1} : (vec3){1, 0, 0}, u = vec3_cross(other, w);
    return vec3_scale(1 / vec3_length(u), u);
}

drape_status drape_i_depth_map_create(drape_context *ctx, drape_i_arena *memory, vec3 to_light, int32_t size,
                                      bool both, drape_i_depth_map *out) {
    int64_t texels = (int64_t)size * size;
    out->w = vec3_scale(1 / vec3_length(to_light), to_light);
    out->u = any_normal(out->w);
    out->v = vec3_cross(out->w, out->u);
    out->size = size;
    out->nearest = drape_i_arena_get(ctx, memory, texels, sizeof *out->nearest);
    out->farthest = both ? drape_i_arena_get(ctx, memory, texels, sizeof *out->farthest) : NULL;
    return out->nearest && (!both || out->farthest) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

vec3 drape_i_depth_map_at(const drape_i_depth_map *map, vec3 p) {
    vec3 d = vec3_sub(p, map->center);
    double scale = 0.5 * map->size / map->reach, middle = 0.5 * map->size;
    return (vec3){middle + scale * vec3_dot(map->u, d), middle + scale * vec3_dot(map->v, d), vec3_dot(map->w, d)};
}

/* ---- Drawing ---- */

static double least(double a, double b, double c) { return fmin(a, fmin(b, c)); }
static double most(double a, double b, double c) { return fmax(a, fmax(b, c)); }

/* Whole numbers i with begin <= i < end and low <= i + 0.5 <= high. */
static void centers_between(double low, double high, int32_t begin, int32_t end, int32_t *first, int32_t *last) {
    *first = low - 0.5 > begin ? low - 0.5 < end ? (int32_t)ceil(low - 0.5) : end : begin;
    *last = high - 0.5 < end - 1 ? high - 0.5 >= begin ? (int32_t)floor(high - 0.5) : begin - 1 : end - 1;
}

static void put(drape_i_depth_map *map, int64_t texel, double height) {
    float h = (float)height;
    if (h > map->nearest[texel]) map->nearest[texel] = h;
    if (map->farthest && h < map->farthest[texel]) map->farthest[texel] = h;
}

/* Positive where p is to the left of the way from a to b. */
static double side_of(vec3 a, vec3 b, double x, double y) {
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

static void draw_triangle(drape_i_depth_map *map, vec3 a, vec3 b, vec3 c, int32_t begin, int32_t end) {
    int32_t x0, x1, y0, y1;
    double area = side_of(a, b, c.x, c.y), low = least(a.z, b.z, c.z), high = most(a.z, b.z, c.z);
    centers_between(least(a.x, b.x, c.x), most(a.x, b.x, c.x), 0, map->size, &x0, &x1);
    centers_between(least(a.y, b.y, c.y), most(a.y, b.y, c.y), begin, end, &y0, &y1);
    if (!(area != 0)) return;
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            double at_a = side_of(b, c, x + 0.5, y + 0.5) / area, at_b = side_of(c, a, x + 0.5, y + 0.5) / area;
            double at_c = side_of(a, b, x + 0.5, y + 0.5) / area;
            if (!(at_a >= 0 && at_b >= 0 && at_c >= 0)) continue;
            double height = at_a * a.z + at_b * b.z + at_c * c.z;
            put(map, (int64_t)y * map->size + x, fmin(fmax(height, low), high));
        }
}

void drape_i_depth_map_draw(drape_i_depth_map *map, const drape_i_surface *s, int32_t begin, int32_t end) {
    for (int64_t i = (int64_t)begin * map->size; i < (int64_t)end * map->size; i++) {
        map->nearest[i] = -FLT_MAX;
        if (map->farthest) map->farthest[i] = FLT_MAX;
    }
    for (int32_t t = 0; t < s->casters; t++) {
        vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = drape_i_depth_map_at(map, vec3_at(s->x + 3 * (int64_t)s->corner[t][k]));
        draw_triangle(map, p[0], p[1], p[2], begin, end);
    }
}

/* ---- Blocks of texels ---- */

static void sum_up_rows(void *data, int64_t begin, int64_t end) {
    drape_i_depth_map *map = data;
    for (int64_t row = begin; row < end; row++)
        for (int32_t y = (int32_t)row * DRAPE_I_DEPTH_BLOCK; y < map->size && y < (row + 1) * DRAPE_I_DEPTH_BLOCK;
             y++)
            for (int32_t x = 0; x < map->size; x++) {
                float *highest = &map->highest[row * map->blocks + x / DRAPE_I_DEPTH_BLOCK];
                float here = map->nearest[(int64_t)y * map->size + x];
                if (here > *highest) *highest = here;
            }
}

drape_status drape_i_depth_map_sum_up(drape_context *ctx, drape_i_arena *memory, drape_i_depth_map *map) {
    map->blocks = (map->size + DRAPE_I_DEPTH_BLOCK - 1) / DRAPE_I_DEPTH_BLOCK;
    map->highest = drape_i_arena_get(ctx, memory, (int64_t)map->blocks * map->blocks, sizeof *map->highest);
    if (!map->highest) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < map->blocks * map->blocks; i++) map->highest[i] = -FLT_MAX;
    drape_i_loop(ctx, map->blocks, 1, sum_up_rows, map);
    return DRAPE_OK;
}

static int32_t block_of(const drape_i_depth_map *map, double x) {
    double last = map->blocks - 1, block = x / DRAPE_I_DEPTH_BLOCK;
    return (int32_t)(block < 0 ? 0 : block > last ? last : block);
}

bool drape_i_depth_map_clear(const drape_i_depth_map *map, double x, double y, double radius, double height) {
    double around = radius + 1; /* the texels that are mixed */
    if (!isfinite(x + y)) return false;
    for (int32_t j = block_of(map, y - around); j <= block_of(map, y + around); j++)
        for (int32_t i = block_of(map, x - around); i <= block_of(map, x + around); i++)
            if (map->highest[j * map->blocks + i] > height) return false;
    return true;
}

/* ---- Asking ---- */

/* sign 1: nothing above `height`; -1: nothing below it. */
static double lit(const drape_i_depth_map *map, const float *depth, double sign, double x, double y, double height) {
    double share = 0;
    x -= 0.5, y -= 0.5;
    if (!(x >= 0 && y >= 0 && x < map->size - 1 && y < map->size - 1)) return 1;
    int32_t i = (int32_t)x, j = (int32_t)y;
    double fx = x - i, fy = y - j;
    const float *at = depth + (int64_t)j * map->size + i;
    if (sign * at[0] <= sign * height) share += (1 - fx) * (1 - fy);
    if (sign * at[1] <= sign * height) share += fx * (1 - fy);
    if (sign * at[map->size] <= sign * height) share += (1 - fx) * fy;
    if (sign * at[map->size + 1] <= sign * height) share += fx * fy;
    return share;
}

double drape_i_depth_map_lit(const drape_i_depth_map *map, double x, double y, double height) {
    return lit(map, map->nearest, 1, x, y, height);
}

double drape_i_depth_map_lit_below(const drape_i_depth_map *map, double x, double y, double height) {
    return lit(map, map->farthest, -1, x, y, height);
}
