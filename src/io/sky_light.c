/* sky_light.c: how much of the sky a place sees, from depth maps in directions all around. It makes folds and what is
 * beneath the cloth darker, where the main light alone would leave them flat.
 *
 * The directions are spread over the upper half of a sphere by the golden angle. Each map holds the nearest and the
 * farthest depth, so it serves the opposite direction too. A side of normal n gets sum_i max(0, n.d_i) lit_i / sum_i
 * max(0, n.d_i). */
#include "base/elementary.h"
#include "base/parallel.h"
#include "io/render.h"

static const double GOLDEN = 2.39996322972865332; /* rad: the golden angle */

enum { MAP_SIZE = 320, FLOOR_TAPS = 12 };

static const double LIFT =
    0.008; /* of the radius: from how far above a vertex it looks, so that it does not see itself */
static const double BLUR = 0.1;   /* likewise: what the floor sees is a mean over so far */
static const double REACH = 1.02; /* the maps show a little more than everything */
static const double SQUARE = 2.5; /* the floor is looked at so many times the radius around the middle */

typedef struct job {
    drape_i_sky *sky;
    drape_i_surface *surface;
    double radius, floor;
    double tap[DRAPE_I_SKY_MAPS][FLOOR_TAPS][2]; /* m: what the floor sees is a mean over these points around */
} job;

/* ---- Maps ---- */

static vec3 direction(int32_t i) {
    double z = (i + 0.5) / DRAPE_I_SKY_MAPS, r = sqrt(1 - z * z);
    return (vec3){r * drape_i_cos(GOLDEN * i), r * drape_i_sin(GOLDEN * i), z};
}

static void draw_map(void *data, int32_t i) {
    const job *j = data;
    drape_i_depth_map_draw(&j->sky->map[i], j->surface, 0, MAP_SIZE);
}

/* ---- Vertices ---- */

static void look_from_vertex(const job *j, int64_t v) {
    drape_i_surface *s = j->surface;
    vec3 n = s->upright[v], x = vec3_at(s->x + 3 * v);
    double seen[2] = {0, 0}, all = 0;
    for (int32_t i = 0; i < DRAPE_I_SKY_MAPS; i++) {
        const drape_i_depth_map *map = &j->sky->map[i];
        double facing = vec3_dot(n, map->w), weight = fabs(facing), lift = LIFT * j->radius;
        int up = facing > 0 ? 0 : 1; /* the side that sees this direction; the other sees its opposite */
        vec3 above = drape_i_depth_map_at(map, vec3_plus(x, up ? -lift : lift, n));
        vec3 below = drape_i_depth_map_at(map, vec3_plus(x, up ? lift : -lift, n));
        seen[up] += weight * drape_i_depth_map_lit(map, above.x, above.y, above.z);
        seen[1 - up] += weight * drape_i_depth_map_lit_below(map, below.x, below.y, below.z);
        all += weight;
    }
    for (int side = 0; side < 2; side++) s->open[v][side] = all > 0 ? seen[side] / all : 1;
}

static void look_from_vertices(void *data, int64_t begin, int64_t end) {
    const job *j = data;
    for (int64_t v = begin; v < end; v++)
        if (isfinite(j->surface->x[3 * v] + j->surface->x[3 * v + 1] + j->surface->x[3 * v + 2]))
            look_from_vertex(j, v);
}

/* ---- The floor ---- */

static void spread_taps(job *j) {
    for (int32_t i = 0; i < DRAPE_I_SKY_MAPS; i++)
        for (int32_t k = 0; k < FLOOR_TAPS; k++) {
            double r = BLUR * j->radius * sqrt((k + 0.5) / FLOOR_TAPS), a = GOLDEN * (k + i);
            j->tap[i][k][0] = r * drape_i_cos(a);
            j->tap[i][k][1] = r * drape_i_sin(a);
        }
}

static double seen_from_floor(const job *j, vec3 p) {
    double seen = 0, all = 0;
    for (int32_t i = 0; i < DRAPE_I_SKY_MAPS; i++) {
        const drape_i_depth_map *map = &j->sky->map[i];
        for (int32_t k = 0; k < FLOOR_TAPS; k++) {
            vec3 q = {p.x + j->tap[i][k][0], p.y + j->tap[i][k][1], p.z};
            vec3 at = drape_i_depth_map_at(map, q);
            seen += map->w.z * drape_i_depth_map_lit(map, at.x, at.y, at.z);
            all += map->w.z;
        }
    }
    return seen / all;
}

static void look_from_floor(void *data, int64_t begin, int64_t end) {
    const job *j = data;
    const drape_i_sky *sky = j->sky;
    double step = 2 * sky->reach / (DRAPE_I_SKY_FLOOR - 1);
    for (int64_t i = begin; i < end; i++) {
        int64_t column = i % DRAPE_I_SKY_FLOOR, row = i / DRAPE_I_SKY_FLOOR;
        vec3 p = {sky->center.x - sky->reach + step * (double)column, sky->center.y - sky->reach + step * (double)row,
                  j->floor};
        sky->floor[i] = seen_from_floor(j, p);
    }
}

double drape_i_sky_floor(const drape_i_sky *sky, double x, double y) {
    double scale = (DRAPE_I_SKY_FLOOR - 1) / (2 * sky->reach);
    double u = (x - sky->center.x + sky->reach) * scale, v = (y - sky->center.y + sky->reach) * scale;
    if (!(u >= 0 && v >= 0 && u < DRAPE_I_SKY_FLOOR - 1 && v < DRAPE_I_SKY_FLOOR - 1)) return 1;
    int32_t i = (int32_t)u, j = (int32_t)v;
    double fu = u - i, fv = v - j;
    const double *at = sky->floor + j * DRAPE_I_SKY_FLOOR + i;
    double low = at[0] + fu * (at[1] - at[0]);
    double high = at[DRAPE_I_SKY_FLOOR] + fu * (at[DRAPE_I_SKY_FLOOR + 1] - at[DRAPE_I_SKY_FLOOR]);
    return low + fv * (high - low);
}

/* ---- All of it ---- */

drape_status drape_i_sky_make(drape_context *ctx, drape_i_arena *memory, drape_i_surface *surface, vec3 center,
                              double radius, double floor, drape_i_sky *out) {
    enum { POINTS = DRAPE_I_SKY_FLOOR * DRAPE_I_SKY_FLOOR };
    job j = {.sky = out, .surface = surface, .radius = radius, .floor = floor};
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < DRAPE_I_SKY_MAPS && !status; i++) {
        status = drape_i_depth_map_create(ctx, memory, direction(i), MAP_SIZE, true, &out->map[i]);
        out->map[i].center = center;
        out->map[i].reach = REACH * radius;
    }
    if (status) return status;
    out->center = center;
    out->reach = SQUARE * radius;
    out->floor = drape_i_arena_get(ctx, memory, POINTS, sizeof *out->floor);
    if (!out->floor) return DRAPE_ERROR_MEMORY;
    for (int64_t v = surface->caster_corners; v < surface->vertices; v++)
        surface->open[v][0] = surface->open[v][1] = 1; /* too large to say it of vertices */
    spread_taps(&j);
    drape_i_tasks(ctx, DRAPE_I_SKY_MAPS, draw_map, &j);
    drape_i_loop(ctx, surface->caster_corners, DRAPE_I_GRAIN, look_from_vertices, &j);
    drape_i_loop(ctx, POINTS, 64, look_from_floor, &j);
    return DRAPE_OK;
}
