/* shade.c: from what the samples of a pixel see to its color.
 *
 * Samples that see the same triangle, or none, are shaded together, at the point between them. Only the shadow of the
 * main light is looked up sample by sample, each with other points of the disc that makes it soft. All of this is in
 * linear light.
 *
 * Light: a main one from the left behind the camera, a fill light from the other side, and the sky above warm earth.
 * Cloth also shines at grazing angles, where its fibres stand up, and lets some light through. */
#include "base/elementary.h"
#include "io/render.h"

static const vec3 KEY_LIGHT = {1.00, 0.95, 0.88}, FILL_LIGHT = {0.26, 0.28, 0.32};
static const vec3 SKY = {0.36, 0.37, 0.40}, EARTH = {0.20, 0.18, 0.165};

static const double FLOOR_KEY = 0.5;    /* share of the floor's light that is the main one's; the rest is the sky's */
static const double DARK_SQUARE = 0.93; /* of the other squares' brightness */
static const double FADE[2] = {1.6, 5.5}; /* of the radius: from where to where the floor becomes the background */
static const double SOFT_FLOOR = 0.014, SOFT_CLOTH = 0.009; /* of the radius: width of shadows' edges */
static const double LIFT = 0.006; /* of the radius: shadows are looked up so far above a surface */
static const double STEEPEST = 3; /* most that is believed of how a surface slopes away from the light */

void drape_i_samples_fill(drape_i_samples *out, int32_t count) {
    const double golden = 2.39996322972865332;
    enum { LEAST_TAPS = 36 };
    out->count = count;
    for (out->side = 1; out->side * out->side < count; out->side++) continue;
    for (int32_t k = 0; k < count; k++) { /* no two samples have a row or a column in common */
        int32_t i = k % out->side, j = k / out->side;
        out->x[k] = (i + (j + 0.5) / out->side) / out->side;
        out->y[k] = (j + (i + 0.5) / out->side) / out->side;
    }
    out->taps = (LEAST_TAPS + count - 1) / count;
    int32_t all = count * out->taps;
    for (int32_t m = 0; m < all; m++) {
        double r = sqrt((m + 0.5) / all);
        out->tap[m][0] = r * drape_i_cos(golden * m);
        out->tap[m][1] = r * drape_i_sin(golden * m);
    }
}

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
static double mix(double a, double b, double share) { return a + share * (b - a); }
static vec3 mix3(vec3 a, vec3 b, double share) { return vec3_plus(a, share, vec3_sub(b, a)); }
static vec3 times(vec3 a, vec3 b) { return (vec3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static double smooth_step(double low, double high, double x) {
    double s = clamp((x - low) / (high - low), 0, 1);
    return s * s * (3 - 2 * s);
}
static vec3 unit(vec3 a) { return vec3_scale(1 / vec3_length(a), a); }

/* Samples of one pixel that are shaded together. */
typedef struct group {
    int32_t seen; /* triangle, or -1 */
    int32_t count, sample[DRAPE_I_MOST_SAMPLES];
    double x, y; /* their middle in the picture */
    vec3 ray;
} group;

/* ---- Shadows of the main light ---- */

/* The share of the main light that arrives at p, on a surface of normal n: a mean over a disc of this radius, m. */
static double key_light(const drape_i_picture *pic, const group *g, vec3 p, vec3 n, double radius) {
    const drape_i_depth_map *map = &pic->key;
    const drape_i_samples *s = pic->samples;
    double facing = vec3_dot(n, map->w), texels = 0.5 * map->size / map->reach, sum = 0;
    if (facing < 0) n = vec3_scale(-1, n), facing = -facing;
    vec3 at = drape_i_depth_map_at(map, vec3_plus(p, LIFT * pic->radius, n));
    double steep = fmax(facing, 1e-3);
    double su = clamp(-vec3_dot(n, map->u) / steep, -STEEPEST, STEEPEST);
    double sv = clamp(-vec3_dot(n, map->v) / steep, -STEEPEST, STEEPEST);
    if (drape_i_depth_map_clear(map, at.x, at.y, texels * radius, at.z - radius * (fabs(su) + fabs(sv)))) return 1;
    for (int32_t i = 0; i < g->count; i++)
        for (int32_t t = 0; t < s->taps; t++) {
            const double *tap = s->tap[g->sample[i] + s->count * t];
            double u = radius * tap[0], v = radius * tap[1];
            sum += drape_i_depth_map_lit(map, at.x + texels * u, at.y + texels * v, at.z + su * u + sv * v);
        }
    return sum / (g->count * s->taps);
}

/* ---- Surfaces ---- */

typedef struct hit {
    vec3 at, n;  /* n: the smooth normal, on the side that is seen */
    double open; /* to the sky */
    bool front;
} hit;

/* Where the ray of a group meets its triangle, as shares of the corners; never outside. */
static vec3 shares_of(const drape_i_picture *pic, vec3 ray, vec3 a, vec3 b, vec3 c) {
    vec3 e1 = vec3_sub(b, a), e2 = vec3_sub(c, a), normal = vec3_cross(e1, e2);
    double slant = vec3_dot(normal, ray);
    double d00 = vec3_dot(e1, e1), d01 = vec3_dot(e1, e2), d11 = vec3_dot(e2, e2), det = d00 * d11 - d01 * d01;
    const vec3 middle = {1. / 3, 1. / 3, 1. / 3};
    if (!(det > 0) || slant == 0) return middle;
    double t = vec3_dot(normal, vec3_sub(a, pic->camera.eye)) / slant;
    vec3 q = vec3_sub(vec3_plus(pic->camera.eye, t, ray), a);
    double d20 = vec3_dot(q, e1), d21 = vec3_dot(q, e2);
    double v = clamp((d11 * d20 - d01 * d21) / det, 0, 1), w = clamp((d00 * d21 - d01 * d20) / det, 0, 1);
    if (v + w > 1) {
        double sum = v + w;
        v /= sum, w /= sum;
    }
    if (!isfinite(v + w)) return middle;
    return (vec3){1 - v - w, v, w};
}

static vec3 weighted(vec3 share, vec3 a, vec3 b, vec3 c) {
    return vec3_add(vec3_add(vec3_scale(share.x, a), vec3_scale(share.y, b)), vec3_scale(share.z, c));
}

static hit find_hit(const drape_i_picture *pic, const group *g) {
    const drape_i_surface *s = &pic->surface;
    const int32_t *corner = s->corner[g->seen];
    const vec3 *n = s->normal[g->seen];
    vec3 a = vec3_at(s->x + 3 * (int64_t)corner[0]), b = vec3_at(s->x + 3 * (int64_t)corner[1]);
    vec3 c = vec3_at(s->x + 3 * (int64_t)corner[2]), flat = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    vec3 share = shares_of(pic, g->ray, a, b, c);
    hit h = {.at = weighted(share, a, b, c), .front = vec3_dot(flat, g->ray) < 0};
    vec3 smooth = weighted(share, n[0], n[1], n[2]);
    double length = vec3_length(smooth);
    h.n = length > 0 ? vec3_scale((h.front ? 1 : -1) / length, smooth) : vec3_scale(-1, unit(g->ray));
    int side = h.front ? 0 : 1;
    h.open =
        share.x * s->open[corner[0]][side] + share.y * s->open[corner[1]][side] + share.z * s->open[corner[2]][side];
    return h;
}

/* Light that would be brighter than white comes ever nearer to it. */
static double shoulder(double c) {
    const double from = 0.6, rest = 1 - from;
    double t = (c - from) / rest;
    return c <= from ? c : from + rest * t / (1 + t) * 1.15;
}

static vec3 surface_color(const drape_i_picture *pic, const group *g, const hit *h) {
    const drape_i_paint *paint = &pic->paint[pic->surface.paint[g->seen]];
    vec3 fibre = h->front ? paint->front : paint->back, v = vec3_scale(-1, unit(g->ray)), key = pic->key.w;
    double facing = vec3_dot(h->n, key), view = clamp(vec3_dot(h->n, v), 0, 1);
    double sun = key_light(pic, g, h->at, h->n, SOFT_CLOTH * pic->radius);
    double direct = clamp((facing + 0.1) / 1.1, 0, 1) * mix(0.06, 1, sun), open = mix(0.15, 1, h->open);
    vec3 fill_from = unit((vec3){-key.x, -key.y, 0.3});
    double fill = 0.5 + 0.5 * vec3_dot(h->n, fill_from);
    vec3 around = vec3_scale(open, mix3(EARTH, SKY, smooth_step(-1, 1, h->n.z)));
    vec3 arriving = vec3_plus(vec3_plus(around, direct, KEY_LIGHT), fill * fill * open, FILL_LIGHT);
    if (paint->cloth) arriving = vec3_plus(arriving, fmax(-facing, 0) * 0.3 * sun, times(KEY_LIGHT, fibre));
    double rim = (1 - view) * (1 - view), fuzz = rim * rim * (paint->cloth ? 0.8 : 0.35);
    vec3 sheen = vec3_plus(vec3_scale(1.4, around), sun * 0.35 * open, KEY_LIGHT);
    vec3 c = vec3_plus(times(fibre, arriving), fuzz, times(vec3_plus((vec3){0.05, 0.05, 0.05}, 0.8, fibre), sheen));
    double gloss = clamp(vec3_dot(h->n, unit(vec3_add(key, v))), 0, 1), g3 = gloss * gloss * gloss, g6 = g3 * g3;
    if (facing > 0) c = vec3_plus(c, 0.03 * sun * g6 * g6, KEY_LIGHT);
    return (vec3){shoulder(c.x), shoulder(c.y), shoulder(c.z)};
}

/* ---- Floor and background ---- */

static vec3 background(const drape_i_picture *pic, double y) {
    return mix3(pic->background[0], pic->background[1], clamp(y / pic->height, 0, 1));
}

/* Along the ray to the floor; infinity: it does not meet it. */
static double floor_along(const drape_i_picture *pic, vec3 ray) {
    double height = pic->camera.eye.z - pic->floor;
    return pic->has_floor && height > 0 && ray.z < 0 ? -height / ray.z : INFINITY;
}

/* The mean of a wave of squares, +1 and -1 in turns of length 1, over [x - half, x + half]. */
static double mean_of_squares(double x, double half) {
    double a = 0.5 * (x - half), b = 0.5 * (x + half);
    return (fabs(a - floor(a) - 0.5) - fabs(b - floor(b) - 0.5)) /
           half; /* its integral is 1 - 2 |a - floor(a) - 0.5| */
}

/* 0..1: how much of the pixel's part of the floor is on dark squares. */
static double dark_squares(const drape_i_picture *pic, const group *g, double t) {
    vec3 at = vec3_plus(pic->camera.eye, t, g->ray);
    double x = at.x / pic->tile, y = at.y / pic->tile, half[2] = {1e-6, 1e-6};
    for (int k = 0; k < 2; k++) { /* how far the next pixels are apart there */
        vec3 ray = drape_i_camera_ray(&pic->camera, g->x + (k == 0), g->y + (k == 1));
        double along = floor_along(pic, ray);
        if (!isfinite(along)) return 0.5;
        vec3 next = vec3_plus(pic->camera.eye, along, ray);
        half[0] = fmax(half[0], 0.6 * fabs(next.x / pic->tile - x));
        half[1] = fmax(half[1], 0.6 * fabs(next.y / pic->tile - y));
    }
    return 0.5 - 0.5 * mean_of_squares(x, half[0]) * mean_of_squares(y, half[1]);
}

static vec3 floor_color(const drape_i_picture *pic, const group *g, double t) {
    vec3 p = vec3_plus(pic->camera.eye, t, g->ray), behind = background(pic, g->y);
    double dx = p.x - pic->center.x, dy = p.y - pic->center.y, away = sqrt(dx * dx + dy * dy);
    double share = 1 - smooth_step(FADE[0] * pic->radius, FADE[1] * pic->radius, away);
    if (!(share > 0)) return behind;
    double sun = key_light(pic, g, p, (vec3){0, 0, 1}, SOFT_FLOOR * pic->radius);
    double light = FLOOR_KEY * sun + (1 - FLOOR_KEY) * drape_i_sky_floor(&pic->sky, p.x, p.y);
    double square = mix(1, DARK_SQUARE, dark_squares(pic, g, t));
    return mix3(behind, vec3_scale(light * square, pic->background[1]), share);
}

/* ---- Pixels ---- */

static vec3 group_color(const drape_i_picture *pic, const group *g) {
    double along = floor_along(pic, g->ray);
    if (g->seen >= 0) {
        hit h = find_hit(pic, g);
        bool below = isfinite(along) && h.at.z < pic->floor - 1e-4 * pic->radius;
        if (!below) return surface_color(pic, g, &h);
    }
    return isfinite(along) ? floor_color(pic, g, along) : background(pic, g->y);
}

/* The samples from `first` on that see what it sees; they are marked. */
static group gather(const drape_i_picture *pic, int32_t x, int32_t y, const int32_t *seen, int32_t first,
                    bool *done) {
    const drape_i_samples *s = pic->samples;
    group g = {.seen = seen[first]};
    for (int32_t k = first; k < s->count; k++) {
        if (seen[k] != g.seen) continue;
        done[k] = true;
        g.sample[g.count++] = k;
        g.x += s->x[k];
        g.y += s->y[k];
    }
    g.x = x + g.x / g.count;
    g.y = y + g.y / g.count;
    g.ray = drape_i_camera_ray(&pic->camera, g.x, g.y);
    return g;
}

void drape_i_shade_pixel(const drape_i_picture *pic, int32_t x, int32_t y, const int32_t *seen) {
    bool done[DRAPE_I_MOST_SAMPLES] = {false};
    vec3 sum = {0, 0, 0};
    for (int32_t k = 0; k < pic->samples->count; k++) {
        if (done[k]) continue;
        group g = gather(pic, x, y, seen, k, done);
        sum = vec3_plus(sum, g.count, group_color(pic, &g));
    }
    sum = vec3_scale(1. / pic->samples->count, sum);
    uint8_t *to = pic->rgb + 3 * ((int64_t)y * pic->width + x);
    to[0] = drape_i_srgb_byte(pic->bytes, sum.x);
    to[1] = drape_i_srgb_byte(pic->bytes, sum.y);
    to[2] = drape_i_srgb_byte(pic->bytes, sum.z);
}
