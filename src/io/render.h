/* render.h: the parts of the renderer.
 *
 *   render.c          settings, what the camera is shown, and a picture from beginning to end
 *   render_camera.c   where the camera is
 *   render_paint.c    the colors of the cloth
 *   render_surface.c  cloth and meshes as one list of triangles with normals
 *   raster.c          triangles -> which one each sample of a pixel sees, tile by tile
 *   depth_map.c       the same from a light: what lies in its shadow
 *   sky_light.c       how much of the sky a vertex or a place on the floor sees
 *   shade.c           what a sample sees -> colors -> pixels
 *
 * Lengths are m. All colors are linear light. Every part does the same arithmetic whatever thread it runs on. */
#ifndef DRAPE_IO_RENDER_H
#define DRAPE_IO_RENDER_H

#include "base/arena.h"
#include "base/vec3.h"
#include "drape/io.h"
#include "io/srgb.h"

/* ---- The camera ---- */

/* A box around points. */
typedef struct drape_i_box {
    double low[3], high[3];
} drape_i_box;

drape_i_box drape_i_box_empty(void);
void drape_i_box_add(drape_i_box *box, const double *x);
void drape_i_box_join(drape_i_box *box, const drape_i_box *other);
double drape_i_box_diagonal(const drape_i_box *box); /* 0 where it is empty */

typedef struct drape_i_camera {
    vec3 eye, right, up, back; /* the last three are orthonormal */
    double focal;              /* pixels */
    double center[2];          /* pixels: where `back` points away from */
    double near;               /* m: what is nearer is not seen */
} drape_i_camera;

/* What must be known of points so that a camera of a given direction sees them all. The planes through the origin
 * parallel to a side of the view are given; this is how far the points reach beyond each. */
typedef struct drape_i_reach {
    double beyond[4]; /* right, left, top, bottom */
} drape_i_reach;

/* All but eye and near. */
void drape_i_camera_aim(drape_i_camera *camera, const drape_render_settings *settings);
drape_i_reach drape_i_reach_empty(void);
void drape_i_reach_add(drape_i_reach *reach, const drape_i_camera *camera, const double *x);
void drape_i_reach_join(drape_i_reach *reach, const drape_i_reach *other);
/* Puts the eye as near as it may be for all of these points to be seen, with a margin; pad, > 0, is added all around.
 */
void drape_i_camera_place(drape_i_camera *camera, const drape_i_reach *reach, double pad);
/* The direction of the ray through a place of the picture, with -dot(back, ray) = 1. */
vec3 drape_i_camera_ray(const drape_i_camera *camera, double x, double y);

/* ---- Surfaces ---- */

typedef struct drape_i_paint {
    vec3 front, back; /* colors of both sides */
    bool cloth;       /* light shines through it */
} drape_i_paint;

/* Everything that is drawn in a frame. Triangles of the cloth come first, then those of meshes that cast shadows,
 * then those of meshes too large for that. */
typedef struct drape_i_surface {
    int32_t vertices, triangles;
    int32_t casters;        /* triangles that cast shadows */
    int32_t caster_corners; /* vertices up to there */
    double *x;              /* 3 per vertex */
    int32_t (*corner)[3];   /* vertices of each triangle */
    vec3 (*normal)[3];      /* of length 1, at each corner of each triangle */
    int32_t *paint;         /* of each triangle: which of `paints` */
    drape_i_paint *paints;  /* those of the cloth, then one per mesh */
    vec3 *upright;          /* of length 1 or 0, at each vertex: the mean normal */
    double (*open)[2];      /* 0..1 at each vertex: what its front and its back see of the sky */
} drape_i_surface;

/* The mesh of the cloth, and its colors. */
typedef struct drape_i_painted_cloth {
    int32_t vertices, triangles;
    int32_t *triangle;    /* 3 per triangle */
    int32_t *paint_of;    /* each triangle */
    drape_i_paint *paint; /* `paints` of them */
    int32_t paints;
} drape_i_painted_cloth;

/* Whether all three are in 0..1. */
bool drape_i_is_color(const double c[3]);
/* What a mesh of this look is painted with; NULL: as those without a color. */
drape_i_paint drape_i_object_paint(const drape_appearance *look);
/* Checks and copies; `out` is zero before, and to be freed in any case. */
drape_status drape_i_paint_cloth(drape_context *ctx, const drape_render_cloth *cloth, drape_i_painted_cloth *out);
void drape_i_painted_cloth_free(drape_context *ctx, drape_i_painted_cloth *cloth);

/* Whether a mesh beside the cloth is so large that the camera does not have to see it. cloth: its size, m. */
bool drape_i_is_large(const drape_frame_mesh *mesh, double cloth);
drape_status drape_i_surface_make(drape_context *ctx, drape_i_arena *memory, const drape_i_painted_cloth *cloth,
                                  double size, const drape_frame *frame, drape_i_surface *out);

/* ---- Depth maps: a surface seen from infinitely far away ---- */

typedef struct drape_i_depth_map {
    vec3 u, v, w;    /* orthonormal; w points to the light */
    vec3 center;     /* of what it shows */
    double reach;    /* m: it shows so far in all directions of u and v */
    int32_t size;    /* texels along a side */
    float *nearest;  /* the largest dot(w, x - center) in each texel, -FLT_MAX where there is nothing */
    float *farthest; /* the least; NULL: not wanted */
    int32_t blocks;  /* along a side, of DRAPE_I_DEPTH_BLOCK x DRAPE_I_DEPTH_BLOCK texels */
    float *highest;  /* the largest `nearest` in each of them; NULL: not known */
} drape_i_depth_map;

enum { DRAPE_I_DEPTH_BLOCK = 32 };

drape_status drape_i_depth_map_create(drape_context *ctx, drape_i_arena *memory, vec3 to_light, int32_t size,
                                      bool both, drape_i_depth_map *out);
/* Draws rows [begin, end). */
void drape_i_depth_map_draw(drape_i_depth_map *map, const drape_i_surface *surface, int32_t begin, int32_t end);
/* Fills `highest`, once all rows are drawn. */
drape_status drape_i_depth_map_sum_up(drape_context *ctx, drape_i_arena *memory, drape_i_depth_map *map);
/* Whether nothing is above this height within a square of 2 * radius about a place, all but the height in texels. May
 * say no where it is so. */
bool drape_i_depth_map_clear(const drape_i_depth_map *map, double x, double y, double radius, double height);
/* The share, 0..1, of the four texels around a place that have nothing above this height. x, y: texels. */
double drape_i_depth_map_lit(const drape_i_depth_map *map, double x, double y, double height);
/* The same from the other side: nothing below it. */
double drape_i_depth_map_lit_below(const drape_i_depth_map *map, double x, double y, double height);
/* Place in texels, and height, of a point. */
vec3 drape_i_depth_map_at(const drape_i_depth_map *map, vec3 p);

/* ---- Light of the sky ---- */

enum { DRAPE_I_SKY_MAPS = 16, DRAPE_I_SKY_FLOOR = 97 };

typedef struct drape_i_sky {
    drape_i_depth_map map[DRAPE_I_SKY_MAPS];
    vec3 center;   /* of the square of the floor */
    double reach;  /* m: half of its side */
    double *floor; /* 0..1, what each of its DRAPE_I_SKY_FLOOR^2 points sees */
} drape_i_sky;

/* Fills surface->open as well. */
drape_status drape_i_sky_make(drape_context *ctx, drape_i_arena *memory, drape_i_surface *surface, vec3 center,
                              double radius, double floor, drape_i_sky *out);
double drape_i_sky_floor(const drape_i_sky *sky, double x, double y); /* 1 beyond the square */

/* ---- Pictures ---- */

/* Where the samples of a pixel are, and which of its points of a disc each takes for soft shadows. */
enum { DRAPE_I_MOST_SAMPLES = 64, DRAPE_I_SHADOW_TAPS = 64 };

typedef struct drape_i_samples {
    int32_t side, count;                                     /* count = side^2 */
    double x[DRAPE_I_MOST_SAMPLES], y[DRAPE_I_MOST_SAMPLES]; /* within the pixel, 0..1 */
    int32_t taps;                                            /* per sample */
    double tap[DRAPE_I_SHADOW_TAPS][2]; /* count * taps of them, spread over the disc of radius 1 */
} drape_i_samples;

void drape_i_samples_fill(drape_i_samples *out, int32_t count);

/* Everything that the color of a pixel follows from. */
typedef struct drape_i_picture {
    int32_t width, height;
    const drape_i_samples *samples;
    const drape_i_srgb_bytes *bytes;
    drape_i_camera camera;
    drape_i_surface surface;
    const drape_i_paint *paint;
    drape_i_depth_map key; /* the shadows of the main light */
    drape_i_sky sky;
    vec3 center; /* of what there is to see */
    double radius;
    bool has_floor;
    double floor;       /* its height */
    double tile;        /* m: side of its squares */
    vec3 background[2]; /* top, bottom */
    uint8_t *rgb;       /* 3 * width * height */
} drape_i_picture;

/* One pixel: seen[k] is the triangle that sample k sees, or -1. */
void drape_i_shade_pixel(const drape_i_picture *picture, int32_t x, int32_t y, const int32_t *seen);

/* Draws all of the picture. */
drape_status drape_i_rasterise(drape_context *ctx, drape_i_arena *memory, const drape_i_picture *picture);

#endif
