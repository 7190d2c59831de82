/* raster.c: which triangle each sample of a pixel sees.
 *
 * The picture is cut into tiles of SIDE x SIDE samples. Every triangle goes on the lists of the tiles that its box
 * meets, in order. Then each tile, by itself and on any thread, draws its list into a depth buffer on its stack and
 * passes its pixels to shade.c. A sample belongs to the triangle that is nearest there, of equals the first.
 *
 * Along the line from a to b the sign of dx (y - a.y) - dy (x - a.x) says on which side a sample is. It is evaluated
 * from the end that comes first by its coordinates, so that both triangles of an edge get the same number, and no
 * sample falls between them. 1 / depth is linear in the picture. */
#include "base/parallel.h"
#include "io/render.h"

enum { SIDE = 64, MOST_CORNERS = 4 };

typedef struct screen_point {
    double x, y;    /* pixels */
    double inverse; /* 1 / depth */
} screen_point;

typedef struct screen_triangle {
    screen_point p[3];
    int32_t source; /* its triangle of the surface */
} screen_triangle;

typedef struct raster {
    const drape_i_picture *picture;
    screen_triangle *triangle;
    int64_t count;
    int32_t tile; /* pixels along a side */
    int32_t columns, rows;
    int64_t *start; /* of each tile's list; columns * rows + 1 */
    int32_t *list;
} raster;

/* ---- Projection ---- */

static vec3 to_camera(const drape_i_camera *c, const double *x) {
    vec3 d = vec3_sub(vec3_at(x), c->eye);
    return (vec3){vec3_dot(c->right, d), vec3_dot(c->up, d), -vec3_dot(c->back, d)};
}

static screen_point project(const drape_i_camera *c, vec3 p) {
    double inverse = 1 / p.z;
    return (screen_point){c->center[0] + c->focal * p.x * inverse, c->center[1] - c->focal * p.y * inverse, inverse};
}

/* What is left of a triangle in front of the near plane: at most four corners. */
static int32_t clip(const vec3 p[3], double near, vec3 out[MOST_CORNERS]) {
    int32_t count = 0;
    for (int k = 0; k < 3; k++) {
        vec3 a = p[k], b = p[(k + 1) % 3];
        if (a.z >= near) out[count++] = a;
        if ((a.z >= near) == (b.z >= near)) continue;
        double share = (near - a.z) / (b.z - a.z);
        out[count] = vec3_plus(a, share, vec3_sub(b, a));
        out[count++].z = near;
    }
    return count;
}

static void project_triangle(raster *r, int32_t t) {
    const drape_i_surface *s = &r->picture->surface;
    const drape_i_camera *c = &r->picture->camera;
    vec3 p[3], kept[MOST_CORNERS];
    for (int k = 0; k < 3; k++) p[k] = to_camera(c, s->x + 3 * (int64_t)s->corner[t][k]);
    int32_t corners = clip(p, c->near, kept);
    for (int32_t k = 2; k < corners; k++) {
        screen_triangle *to = &r->triangle[r->count++];
        *to = (screen_triangle){{project(c, kept[0]), project(c, kept[k - 1]), project(c, kept[k])}, t};
    }
}

/* ---- Lists of tiles ---- */

typedef struct range {
    int32_t x0, x1, y0, y1; /* the last ones belong to it */
} range;

static double least(double a, double b, double c) { return fmin(a, fmin(b, c)); }
static double most(double a, double b, double c) { return fmax(a, fmax(b, c)); }

/* The whole part of a number, brought into low..high. */
static int32_t whole_within(double x, int32_t low, int32_t high) {
    return x < low ? low : x > high ? high : (int32_t)x;
}

/* The pixels of the box of a triangle within those of `clip_to`; empty where x0 > x1 or y0 > y1. */
static range pixels_of(const screen_triangle *t, range to) {
    const screen_point *p = t->p;
    double x0 = least(p[0].x, p[1].x, p[2].x), x1 = most(p[0].x, p[1].x, p[2].x);
    double y0 = least(p[0].y, p[1].y, p[2].y), y1 = most(p[0].y, p[1].y, p[2].y);
    if (!(x0 < to.x1 + 1 && x1 >= to.x0 && y0 < to.y1 + 1 && y1 >= to.y0)) return (range){1, 0, 1, 0};
    return (range){whole_within(x0, to.x0, to.x1), whole_within(x1, to.x0, to.x1), whole_within(y0, to.y0, to.y1),
                   whole_within(y1, to.y0, to.y1)};
}

static range tiles_of(const raster *r, const screen_triangle *t) {
    range all = {0, r->picture->width - 1, 0, r->picture->height - 1}, p = pixels_of(t, all);
    if (p.x0 > p.x1) return p;
    return (range){p.x0 / r->tile, p.x1 / r->tile, p.y0 / r->tile, p.y1 / r->tile};
}

/* Counts into start[tile + 2], or, where there is a list, fills it from start[tile + 1] on. */
static void go_over_tiles(raster *r) {
    for (int64_t t = 0; t < r->count; t++) {
        range tiles = tiles_of(r, r->triangle + t);
        for (int32_t y = tiles.y0; y <= tiles.y1; y++)
            for (int32_t x = tiles.x0; x <= tiles.x1; x++) {
                int64_t tile = (int64_t)y * r->columns + x;
                if (r->list) r->list[r->start[tile + 1]++] = (int32_t)t;
                else r->start[tile + 2]++;
            }
    }
}

static drape_status make_lists(drape_context *ctx, drape_i_arena *memory, raster *r) {
    int64_t tiles = (int64_t)r->columns * r->rows;
    r->start = drape_i_arena_get(ctx, memory, tiles + 2, sizeof *r->start);
    if (!r->start) return DRAPE_ERROR_MEMORY;
    go_over_tiles(r);
    for (int64_t i = 0; i < tiles; i++) r->start[i + 2] += r->start[i + 1];
    r->list = drape_i_arena_get(ctx, memory, r->start[tiles + 1], sizeof *r->list);
    if (!r->list) return DRAPE_ERROR_MEMORY;
    go_over_tiles(r);
    return DRAPE_OK;
}

/* ---- A tile ---- */

typedef struct tile_buffer {
    range pixels;
    float inverse[SIDE * SIDE]; /* of the nearest so far; pixel by pixel, its samples together */
    int32_t seen[SIDE * SIDE];  /* its triangle of the surface, or -1 */
} tile_buffer;

/* A function a + b x + c y of the picture: an edge, or 1 / depth. */
typedef struct plane {
    double x0, y0, dx, dy; /* dx (x - x0) + dy (y - y0) */
    double sign;
} plane;

static bool comes_first(const screen_point *a, const screen_point *b) {
    return a->x != b->x ? a->x < b->x : a->y < b->y;
}

/* Not negative on the side of the triangle, which is `inside` where one goes from a to b. */
static plane edge(const screen_point *a, const screen_point *b, double inside) {
    if (!comes_first(a, b)) {
        const screen_point *c = a;
        a = b, b = c;
        inside = -inside;
    }
    return (plane){a->x, a->y, a->y - b->y, b->x - a->x, inside};
}

static double plane_at(const plane *p, double x, double y) {
    return p->sign * (p->dx * (x - p->x0) + p->dy * (y - p->y0));
}

typedef struct triangle_setup {
    plane edge[3], depth;
    double base, low, high; /* 1 / depth where that plane is zero, its least and its most */
    int32_t source;
} triangle_setup;

static bool set_up(const screen_triangle *t, triangle_setup *out) {
    const screen_point *a = &t->p[0], *b = &t->p[1], *c = &t->p[2];
    double ux = b->x - a->x, uy = b->y - a->y, vx = c->x - a->x, vy = c->y - a->y, area = ux * vy - uy * vx;
    double db = b->inverse - a->inverse, dc = c->inverse - a->inverse;
    if (!(area != 0) || !isfinite(area)) return false;
    for (int k = 0; k < 3; k++) out->edge[k] = edge(&t->p[k], &t->p[(k + 1) % 3], area > 0 ? 1 : -1);
    out->depth = (plane){a->x, a->y, (db * vy - dc * uy) / area, (dc * ux - db * vx) / area, 1};
    out->base = a->inverse;
    out->low = least(a->inverse, b->inverse, c->inverse);
    out->high = most(a->inverse, b->inverse, c->inverse);
    out->source = t->source;
    return true;
}

static void draw_in_pixel(const triangle_setup *t, const drape_i_samples *samples, int32_t x, int32_t y,
                          float *inverse, int32_t *seen) {
    for (int32_t k = 0; k < samples->count; k++) {
        double sx = x + samples->x[k], sy = y + samples->y[k];
        if (!(plane_at(&t->edge[0], sx, sy) >= 0 && plane_at(&t->edge[1], sx, sy) >= 0 &&
              plane_at(&t->edge[2], sx, sy) >= 0))
            continue;
        float near = (float)fmin(fmax(t->base + plane_at(&t->depth, sx, sy), t->low), t->high);
        if (near > inverse[k]) {
            inverse[k] = near;
            seen[k] = t->source;
        }
    }
}

/* Whether a pixel is beyond an edge with all of its samples. */
static bool misses(const triangle_setup *t, int32_t x, int32_t y) {
    for (int k = 0; k < 3; k++) {
        const plane *e = &t->edge[k];
        double reach = 0.5 * (fabs(e->dx) + fabs(e->dy));
        if (plane_at(e, x + 0.5, y + 0.5) < -1.001 * reach) return true;
    }
    return false;
}

static void draw_in_tile(const raster *r, const screen_triangle *t, tile_buffer *tile) {
    const drape_i_samples *samples = r->picture->samples;
    range p = pixels_of(t, tile->pixels);
    int32_t width = tile->pixels.x1 - tile->pixels.x0 + 1;
    triangle_setup setup;
    if (!set_up(t, &setup)) return;
    for (int32_t y = p.y0; y <= p.y1; y++)
        for (int32_t x = p.x0; x <= p.x1; x++) {
            if (misses(&setup, x, y)) continue;
            int64_t at = (int64_t)samples->count * ((y - tile->pixels.y0) * width + (x - tile->pixels.x0));
            draw_in_pixel(&setup, samples, x, y, tile->inverse + at, tile->seen + at);
        }
}

static void draw_tile(const raster *r, int64_t index) {
    tile_buffer tile;
    int32_t x0 = (int32_t)(index % r->columns) * r->tile, y0 = (int32_t)(index / r->columns) * r->tile;
    int32_t width = r->picture->width, height = r->picture->height, count = r->picture->samples->count;
    tile.pixels = (range){x0, x0 + r->tile < width ? x0 + r->tile - 1 : width - 1, y0,
                          y0 + r->tile < height ? y0 + r->tile - 1 : height - 1};
    for (int32_t i = 0; i < SIDE * SIDE; i++) tile.inverse[i] = 0, tile.seen[i] = -1;
    for (int64_t i = r->start[index]; i < r->start[index + 1]; i++) draw_in_tile(r, r->triangle + r->list[i], &tile);
    const int32_t *seen = tile.seen;
    for (int32_t y = tile.pixels.y0; y <= tile.pixels.y1; y++)
        for (int32_t x = tile.pixels.x0; x <= tile.pixels.x1; x++, seen += count)
            drape_i_shade_pixel(r->picture, x, y, seen);
}

static void draw_tiles(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) draw_tile(data, i);
}

drape_status drape_i_rasterise(drape_context *ctx, drape_i_arena *memory, const drape_i_picture *picture) {
    raster r = {.picture = picture, .tile = SIDE / picture->samples->side};
    r.columns = (picture->width + r.tile - 1) / r.tile;
    r.rows = (picture->height + r.tile - 1) / r.tile;
    r.triangle = drape_i_arena_get(ctx, memory, 2 * (int64_t)picture->surface.triangles, sizeof *r.triangle);
    if (!r.triangle) return DRAPE_ERROR_MEMORY;
    for (int32_t t = 0; t < picture->surface.triangles; t++) project_triangle(&r, t);
    drape_status status = make_lists(ctx, memory, &r);
    if (!status) drape_i_loop(ctx, (int64_t)r.columns * r.rows, 1, draw_tiles, &r);
    return status;
}
