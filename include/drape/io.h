/* drape/io.h: reads scenes from files, and writes results to files: meshes frame by frame, pictures, and reports.
 *
 *   drape_writer *out;
 *   drape_animation what = {.cloth = drape_sim_cloth(sim), .title = "my sheet"};
 *   drape_writer_open(ctx, "sheet.html", &what, &out);
 *   drape_writer_frame(out, &(drape_frame){.positions = drape_sim_positions(sim)});     // and so on, frame by frame
 *   drape_writer_close(out);
 *
 * Every file is complete or absent: it is written under a temporary name and renamed at its end. */
#ifndef DRAPE_IO_H
#define DRAPE_IO_H

#include "drape/contact.h"
#include "drape/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scenes: docs/scenes.md lists the keys ---- */

/* How a scene is read. Zero means the default in every field: the scene as it is written. */
typedef struct drape_scene_options {
    int32_t resolution;     /* of every grid, vertices along its width, 2..8192; 0: what the scene says */
    bool irregular;         /* every grid becomes an irregular mesh */
    const char *const *set; /* "path=value" each, as in "time.step=1 ms"; overrides what the scene says */
    int32_t set_count;
    bool trust_paths;       /* mesh files may lie outside the scene file's folder, outputs outside the current one */
    bool no_files;          /* the scene may not name mesh files at all */
    const char *integrator; /* one of drape_integrator_name, in place of the scene's; NULL: the scene's */
    void (*problem)(void *user, const char *text); /* gets every problem that is found, not only the first; or NULL */
    void *problem_user;                            /* its first argument */
    double jitter;      /* m, 0..1: every coordinate of every vertex is moved at random by at most this. Vertices that
                           exact      stitches hold from the start are not moved. Patterns do not change; the rest shape of a
                           mesh      without a pattern is that of the moved vertices */
    uint64_t seed;      /* of these random numbers; another seed gives other positions */
    const char *folder; /* in which files that the scene names lie; NULL: that of the scene file. Scenes that ship and
                           need files ("character") run with a stand-in if there is none */
    uint64_t reserved[5]; /* zero: reserved for later fields */
} drape_scene_options;

/* A scene that was read. It owns the memory of everything in the scene. */
typedef struct drape_loaded_scene drape_loaded_scene;

/* Reads a scene file (a name that ends in .yaml or .yml, or contains a slash), or else a scene that ships with the
 * library. options may be NULL. On failure *out is NULL and the message is the first problem: "file:line:column:
 * what" and the line below. The context must outlive the loaded scene. */
DRAPE_API drape_status drape_scene_load(drape_context *ctx, const char *name, const drape_scene_options *options,
                                        drape_loaded_scene **out);
/* The same from text; name is used in messages, and mesh files are looked for beside it. */
DRAPE_API drape_status drape_scene_parse(drape_context *ctx, const char *name, const char *text, int64_t size,
                                         const drape_scene_options *options, drape_loaded_scene **out);
/* drape_scene_load of a scene that ships with the library, at a resolution (0: the scene's). */
DRAPE_API drape_status drape_scene_builtin(drape_context *ctx, const char *name, int32_t resolution,
                                           drape_loaded_scene **out);
/* The scene: plain data, valid as long as the loaded scene. A copy of the struct may be changed freely; its arrays
 * stay owned by the loaded scene. NULL gives NULL. */
DRAPE_API const drape_scene *drape_loaded_scene_data(const drape_loaded_scene *loaded);
/* The same scene, which may be changed in place before it is simulated: numbers, names, elements of its arrays, or
 * the pointers themselves. Arrays that pointers no longer name are still freed with the loaded scene. */
DRAPE_API drape_scene *drape_loaded_scene_edit(drape_loaded_scene *loaded);
/* The files that were read because the scene names them, without the scene file itself; NULL past the end. A file
 * that is named twice may be listed twice. */
DRAPE_API const char *drape_loaded_scene_file(const drape_loaded_scene *loaded, int32_t index);
DRAPE_API void drape_loaded_scene_destroy(drape_loaded_scene *loaded); /* NULL is fine */

/* Scenes that ship with the library: name, a line about it, its text; NULL past the end. */
DRAPE_API const char *drape_scene_name(int32_t index);
DRAPE_API const char *drape_scene_description(int32_t index);
DRAPE_API const char *drape_scene_text(int32_t index);
/* The scene that is used instead if the options name no folder with its files; NULL if it needs no files. */
DRAPE_API const char *drape_scene_stand_in(int32_t index);

/* Colors that the key `color` knows by name: the 16 basic ones of CSS and some of cloth; NULL past the end. */
DRAPE_API const char *drape_color_name(int32_t index);
/* Red, green and blue (sRGB) of such a name, of "#rrggbb" or "#rgb"; false if the text is none of these. */
DRAPE_API bool drape_color_find(const char *text, uint8_t color[3]);

/* ---- Checking: every problem of a scene or a mesh file, before it is simulated (docs/doctor.md) ---- */

/* How serious a finding is. */
typedef enum drape_severity {
    DRAPE_SEVERITY_WARNING, /* the simulation runs, but perhaps not as intended */
    DRAPE_SEVERITY_ERROR    /* the simulation is refused */
} drape_severity;

DRAPE_API const char *drape_severity_name(drape_severity severity); /* "warning", "error"; else NULL */

/* Valid during the callback. Vertices and triangles are numbered within their piece, from 0. */
typedef struct drape_finding {
    drape_severity severity;
    const char *code;        /* a word that stays the same from version to version: "degenerate-triangle" */
    const char *file;        /* the scene or mesh file; NULL: none */
    int32_t line, column;    /* from 1; 0: not known. Of a scene's mesh: where the scene names it */
    const char *source;      /* that line of the file; NULL: not known */
    const char *piece;       /* name of the piece; NULL: none, or a mesh file on its own */
    const char *message;     /* one line, with the mesh file where a scene names it */
    const char *advice;      /* what to do about it, one line; NULL: the message says it */
    int64_t count;           /* how many findings this represents: 1, or those beyond drape_check_options.examples */
    int32_t vertex_count;    /* vertices it is about; 0: none, or too many */
    const int32_t *vertex;   /* vertex_count of them */
    int32_t triangle_count;  /* triangles it is about; 0: none, or too many */
    const int32_t *triangle; /* triangle_count of them */
    uint64_t reserved[4];    /* zero */
} drape_finding;

/* How fast a vibration of a piece dies out, by its fabric and by the integrator at the scene's step. The strip is as
 * long as the longest side, parallel to an axis, of the box around the piece; for bending at most 10 cm, the size of
 * folds. Valid during the callback. */
typedef struct drape_check_vibration {
    const char *piece; /* its name */
    drape_vibration vibration;
    double length;        /* m, of the strip */
    double frequency;     /* rad/s: drape_vibration_frequency; never 0 */
    double fabric;        /* damping ratio of the fabric: drape_damping_ratio */
    double integrator;    /* of the integrator, beside it: drape_integration_damping */
    uint64_t reserved[4]; /* zero */
} drape_check_vibration;

/* How to check, and what to call for each finding. Zero means the default in every field. */
typedef struct drape_check_options {
    drape_scene_options scene;  /* how a scene is read; its `problem` is not called */
    int32_t examples;           /* findings of one code and piece that come one by one, >= 1; 0: the default, 5 */
    const drape_direct *direct; /* what drape_solve_settings.direct is to be in a run, or NULL */
    void (*finding)(void *user, const drape_finding *finding); /* or NULL: only counted */
    void *user;
    /* or NULL. Called after the findings of a scene without errors, for every piece and vibration that has a
     * frequency and a finite ratio; not for pieces with masses of their own. */
    void (*vibration)(void *user, const drape_check_vibration *vibration);
    uint64_t reserved[7]; /* zero: reserved for later fields */
} drape_check_options;

/* The result of a check: what was found in the file, and how many problems it has. */
typedef struct drape_check_summary {
    int64_t errors, warnings;
    int32_t pieces;
    int64_t vertices, triangles;
    int32_t frames, steps_per_frame; /* of a scene that could be read; frames also of a point cache; else 0 */
    double step;                     /* s, likewise */
    double fastest;    /* 1/s: a bound from above of the angular frequencies of stretch and shear at rest (bending is
                          left out); an explicit method needs steps of less than about 2 / fastest */
    bool controlled;   /* steps are chosen by their error: `step` is only the longest */
    double swing_loss; /* numerical damping: the share of its energy that the largest piece, hung up by one end,
                          loses in one swing. 0 without gravity, with explicit and with controlled steps */
    bool at_rest;      /* residual is known and below 1e-6, and the cloth starts without velocity */
    double residual;   /* of a scene that says where its cloth starts (`start`): drape_equilibrium_result.residual
                          there; -1: not known, also with contact and strain limits */
    uint64_t reserved[5]; /* zero */
} drape_check_summary;

/* Checks a mesh file (.obj, .ply), a point cache (.pc2, .mdd), or a scene that drape_scene_load would load, and
 * writes nothing. The status says whether the check could be done: it is DRAPE_OK however many problems there are,
 * and DRAPE_ERROR_IO if the file cannot be opened. drape_sim_create accepts every scene without an error. With an
 * explicit integrator of fixed steps, drape_sim_step also accepts its first step. options and summary may be NULL. */
DRAPE_API drape_status drape_check(drape_context *ctx, const char *name, const drape_check_options *options,
                                   drape_check_summary *summary);

/* Checks how a run of this scene is likely to go: the findings "pins-apart", "odd-wind" and "large-step" of
 * docs/doctor.md, all of them warnings. The scene must be one that drape_sim_create accepts. options->finding gets
 * the findings; options and summary may be NULL. */
DRAPE_API drape_status drape_check_scene(drape_context *ctx, const drape_scene *scene,
                                         const drape_check_options *options, drape_check_summary *summary);

/* ---- Meshes ---- */

/* Files that are being written, frame by frame. */
typedef struct drape_writer drape_writer;

/* What stays the same in all frames. */
typedef struct drape_animation {
    const drape_cloth *cloth; /* its pieces are the objects of a file; must outlive the writer */
    double fps;               /* frames per second of simulated time, finite, > 0; 0: the default, 25 */
    const char *title;        /* UTF-8, for people to read; NULL: "drape" */
    /* The pieces that the cloth was made of, for their texture coordinates and appearance; must outlive the writer,
     * images and all. NULL: files have neither. An image that is not a PNG or JPEG file is DRAPE_ERROR_ARGUMENT. */
    const drape_piece *pieces;
    /* The expected number of frames, >= 0; 0: not known. A format that cannot hold so many frames (a .glb file has at
     * most 4 GiB) is then refused when it is opened. There may be fewer or more. */
    int64_t frames;
    uint64_t reserved[7]; /* zero: reserved for later fields */
} drape_animation;

/* A triangle mesh beside the cloth, such as a collider that moves. */
typedef struct drape_frame_mesh {
    const char *name; /* UTF-8; NULL: "mesh" */
    int32_t vertices; /* >= 0 */
    int32_t triangles;
    const double *positions; /* m, 3 doubles per vertex, z up */
    const int32_t *triangle; /* 3 indices per triangle, each below `vertices` */
} drape_frame_mesh;

/* Where an attribute has its numbers. */
typedef enum drape_attribute_place { DRAPE_PER_VERTEX, DRAPE_PER_TRIANGLE } drape_attribute_place;

/* "vertex", "triangle"; NULL if there is no such place. */
DRAPE_API const char *drape_attribute_place_name(drape_attribute_place place);

/* Numbers at every vertex or triangle of the cloth, such as a stress or a temperature. */
typedef struct drape_frame_attribute {
    const char *name; /* an identifier of at most 63 characters: a letter, then letters, digits and underscores; names
                         of mesh formats' own properties ("x", "nx", "s", "st", ...) are refused */
    drape_attribute_place place;
    int32_t components;   /* 1..4 */
    const double *values; /* finite; `components` doubles per vertex or triangle, over all pieces */
} drape_frame_attribute;

/* The state of one frame. Arrays belong to the caller and are read during the call. Meshes and attributes are
 * optional. If there are any, every frame of a writer has the same ones: names, numbers of vertices and components,
 * triangles. .html, .glb, .abc, .obj and .usda store the meshes; .abc, .ply and .usda store the attributes
 * (docs/formats.md). */
typedef struct drape_frame {
    const double *positions; /* m, 3 doubles per vertex of the cloth, over all pieces */
    bool has_time;  /* number and time are given; false: the writer counts from 0, and time is number / fps */
    int64_t number; /* of the frame within its run, >= 0; greater than that of the frame before */
    double time;    /* s, greater than that of the frame before */
    const drape_frame_mesh *meshes;
    int32_t mesh_count;
    const drape_frame_attribute *attributes;
    int32_t attribute_count;
    const drape_certificate_energy *energy; /* of this state, for the chart of .html; finite; NULL: not known */
    /* One per mesh, for its color; NULL, also of one mesh: as the format chooses. That of the first frame counts. */
    const drape_appearance *const *mesh_appearance;
    uint64_t reserved[6]; /* zero: reserved for later fields */
} drape_frame;

/* The colliders of a scene as such meshes, one per collider and in the same order. Round colliders become inscribed
 * meshes, and a plane becomes a square that extends beyond the cloth.
 *
 *   drape_collider_meshes *colliders;
 *   drape_collider_meshes_create(ctx, scene, &colliders);
 *   double time = drape_sim_time(sim);
 *   drape_frame frame = {.positions = drape_sim_positions(sim),
 *                        .meshes = drape_collider_meshes_at(colliders, time),
 *                        .mesh_appearance = drape_collider_meshes_appearance(colliders),
 *                        .mesh_count = drape_collider_meshes_count(colliders)}; */
typedef struct drape_collider_meshes drape_collider_meshes;
/* Copies what it needs of the scene. A collider that is not valid is DRAPE_ERROR_ARGUMENT. */
DRAPE_API drape_status drape_collider_meshes_create(drape_context *ctx, const drape_scene *scene,
                                                    drape_collider_meshes **out);
DRAPE_API void drape_collider_meshes_destroy(drape_collider_meshes *meshes);        /* NULL is fine */
DRAPE_API int32_t drape_collider_meshes_count(const drape_collider_meshes *meshes); /* NULL: 0 */
/* All meshes at a time (s); valid until the next call. NULL if the time is not finite, or meshes is NULL. */
DRAPE_API const drape_frame_mesh *drape_collider_meshes_at(drape_collider_meshes *meshes, double time);
/* Their appearance: one entry per mesh, which is NULL if the scene does not set it. NULL if meshes is NULL. */
DRAPE_API const drape_appearance *const *drape_collider_meshes_appearance(const drape_collider_meshes *meshes);

/* The file extensions (".obj", ".html", ...) that drape writes, and a description of each; NULL past the end. See
 * docs/formats.md. */
DRAPE_API const char *drape_writer_extension(int32_t index);
DRAPE_API const char *drape_writer_description(int32_t index);

/* Whether a format is known for this path. */
DRAPE_API bool drape_writer_knows(const char *path);

/* Writes name number `index` of the files that a writer of this path makes. Returns its length without the
 * terminating zero, as snprintf does, and truncates it if it does not fit; 0 past the end or if the format is
 * unknown. A `*` stands for the number of a frame: "sheet.obj" makes "sheet_*.obj", and "sheet.pc2" makes "sheet.pc2"
 * and "sheet_rest.obj". */
DRAPE_API size_t drape_writer_makes(const char *path, int32_t index, char *out, size_t size);

/* The same for the additional files that hold the appearance of the pieces and colliders of a scene. "sheet.usda"
 * with a PNG image makes "sheet_texture_*.png", where `*` stands for the number of an image; "sheet.obj" also makes
 * "sheet.mtl". */
DRAPE_API size_t drape_writer_makes_besides(const char *path, const drape_scene *scene, int32_t index, char *out,
                                            size_t size);

/* The extension of the path selects the format. *what is copied, including its title. */
DRAPE_API drape_status drape_writer_open(drape_context *ctx, const char *path, const drape_animation *what,
                                         drape_writer **out);
/* Writes one frame. A frame that is refused (DRAPE_ERROR_ARGUMENT) changes nothing. Memory does not grow with the
 * number of frames. The beginning of .mdd, .usda and .glb depends on the end. So they keep 12 bytes per vertex and
 * frame in a temporary file until they are closed. .abc keeps about 300 bytes per mesh and frame. */
DRAPE_API drape_status drape_writer_frame(drape_writer *writer, const drape_frame *frame);
/* Finishes the files and frees the writer, also on failure. Formats with one file for all frames put it in its place
 * here; if there was no frame, they leave no file. After a frame that failed, the file holds the frames before it. If
 * the disk is full, the status is an error, and the message says how many frames are kept. .pc2 keeps all, .mdd,
 * .usda, .glb and .abc keep as many as fit, and .html keeps none. NULL is fine. */
DRAPE_API drape_status drape_writer_close(drape_writer *writer);

/* ---- Reading queries of continuous collision detection: CSV files with known answers (docs/contact.md) ---- */

/* How to read them. Zero means the default in every field. */
typedef struct drape_ccd_read_options {
    const char *kind;     /* "vertex-face", "edge-edge"; NULL: from the header or the path of the file */
    const char *start;    /* mesh at time 0, for a file of vertex numbers; NULL: frames/N.ply[.gz] beside the file, if
                             its name begins with the number N */
    const char *end;      /* mesh at time 1; NULL: frames/M.ply[.gz], M = N + 1 */
    uint64_t reserved[8]; /* zero: reserved for later fields */
} drape_ccd_read_options;

/* The queries of a file, with the answers that it gives. */
typedef struct drape_ccd_queries {
    drape_ccd_pairs pairs;
    const int8_t *truth;  /* one per pair: 1 if they touch, 0 if they do not, -1 if the file does not say */
    const double *time;   /* one per pair: when they first touch, as the file says; NaN: it does not say */
    int64_t rounded;      /* coordinates that are not doubles, and were rounded */
    uint64_t reserved[8]; /* zero */
} drape_ccd_queries;

/* Reads a file, compressed by gzip or not. options may be NULL. Messages are "path:line: what". */
DRAPE_API drape_status drape_ccd_read(drape_context *ctx, const char *path, const drape_ccd_read_options *options,
                                      drape_ccd_queries **out);
/* The same from size bytes of memory. path is used in messages, and meshes are relative to its folder. */
DRAPE_API drape_status drape_ccd_parse(drape_context *ctx, const char *path, const void *data, int64_t size,
                                       const drape_ccd_read_options *options, drape_ccd_queries **out);
DRAPE_API void drape_ccd_queries_destroy(drape_ccd_queries *queries); /* NULL is fine */

/* ---- Reading point caches: .pc2 and .mdd files of any program ---- */

/* A point cache in memory. */
typedef struct drape_cache drape_cache;

/* What a point cache contains. */
typedef struct drape_cache_info {
    int32_t vertices, frames; /* vertices of each frame, and frames; both >= 1 */
    bool has_times;           /* .mdd: every frame has its time; .pc2: they follow from start and rate */
    double start;             /* .pc2: number of the first frame; else 0 */
    double rate;              /* .pc2: frames from one sample to the next, > 0; else 0 */
    uint64_t reserved[4];     /* zero */
} drape_cache_info;

/* The extension of the path selects the format. If the size of the file does not match its header, or a number is not
 * finite, the result is DRAPE_ERROR_FORMAT. The cache takes as much memory as the size of the file. */
DRAPE_API drape_status drape_cache_open(drape_context *ctx, const char *path, drape_cache **out);
/* The same from bytes, which are copied; name is for messages, and its extension gives the format. */
DRAPE_API drape_status drape_cache_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                         drape_cache **out);
DRAPE_API const drape_cache_info *drape_cache_describe(const drape_cache *cache);
/* positions: 3 doubles per vertex, in the units of the file (m, where drape wrote it). Frames count from 0. */
DRAPE_API drape_status drape_cache_frame(const drape_cache *cache, int32_t frame, double *positions);
/* .mdd: the time in s; .pc2: the number of the frame, since the file does not store the frame rate. NaN if there is
 * no such frame. */
DRAPE_API double drape_cache_time(const drape_cache *cache, int32_t frame);
DRAPE_API void drape_cache_close(drape_cache *cache); /* NULL is fine */

/* ---- Reading frames: any sequence of frames with the same vertices ----
 *
 *   sheet.obj, sheet.ply          sheet_0000.obj, sheet_0001.obj, ...; or that one file, if it exists
 *   sheet.pc2, sheet.mdd          point caches, and the triangles of sheet_rest.obj
 *   sheet.html.ckpt.frames        the frames of a run that was cut off (docs/checkpoints.md)
 *
 * Other formats that drape writes (.html, .glb, .usda, .abc) are refused. */

/* A sequence of frames that is open for reading. */
typedef struct drape_reader drape_reader;

/* How a sequence is read. Zero means the default in every field. */
typedef struct drape_reader_options {
    const char *mesh;     /* a mesh file (.obj, .ply) with the triangles, for files that only hold positions; default
                             NULL: for a point cache NAME.pc2 or NAME.mdd, NAME_rest.obj if it exists */
    uint64_t reserved[8]; /* zero: reserved for later fields */
} drape_reader_options;

/* What a sequence contains. */
typedef struct drape_reader_info {
    int32_t frames;          /* >= 1 */
    int32_t vertices;        /* of each frame, >= 1; also those of meshes beside the cloth, which come last */
    int32_t triangles;       /* 0: the file holds none, and there is no mesh */
    const int32_t *triangle; /* 3 per triangle */
    double fps;              /* frames per second of an .mdd file; 0: the file does not say */
    uint64_t reserved[3];    /* zero */
} drape_reader_info;

/* The extension of the path selects the format. The files of a sequence must be numbered evenly, so that none is
 * missing between two others. options may be NULL. */
DRAPE_API drape_status drape_reader_open(drape_context *ctx, const char *path, const drape_reader_options *options,
                                         drape_reader **out);
DRAPE_API const drape_reader_info *drape_reader_describe(const drape_reader *reader); /* NULL gives NULL */
/* positions: 3 doubles per vertex, in the units of the file (m, where drape wrote it). Frames count from 0. A file of
 * a sequence with other triangles than the first is DRAPE_ERROR_FORMAT. Messages name file and frame. */
DRAPE_API drape_status drape_reader_frame(drape_reader *reader, int32_t frame, double *positions);
/* The number of the frame within its run: the number in the file's name, or counted from 0 (in a .pc2 from its first
 * frame, rounded). -1 if there is no such frame. */
DRAPE_API int64_t drape_reader_number(const drape_reader *reader, int32_t frame);
DRAPE_API void drape_reader_close(drape_reader *reader); /* NULL is fine */

/* ---- Pictures: frames drawn in software, without a window or a graphics card; docs/render.md ----
 *
 *   drape_render_cloth cloth = {.vertices = n, .triangles = m, .triangle = corners};
 *   drape_renderer *r;
 *   drape_renderer_create(ctx, &cloth, NULL, &r);
 *   for (...) drape_renderer_include(r, &frame[i]);             // so that the camera sees all of the motion
 *   drape_renderer_draw(r, &frame[i], rgb);                     // rgb: 3 * 960 * 540 bytes
 *   drape_png_write(ctx, "sheet.png", 960, 540, rgb);
 *
 * The same frame gives the same bytes, whatever the number of threads. */

/* How pictures are drawn. Zero means the default in every field. Colors are sRGB: red, green, blue in 0..1. */
typedef struct drape_render_settings {
    int32_t width, height; /* pixels, 1..16384 each; default 960 and 540 */
    int32_t samples;       /* per pixel, against jagged edges: 1, 4, 9, 16, 25, 36, 49 or 64; default 9 */
    bool has_view;         /* azimuth and elevation are given */
    double azimuth;      /* degrees, in which direction from the cloth the camera is: 0 along x, 90 along y, z is up;
                            default -58 */
    double elevation;    /* degrees, how far above the horizon, -90..90; default 24 */
    bool has_background; /* `background` is given */
    double background[2][3]; /* at the top of the picture, and at its bottom and of the floor; default a warm white */
    bool no_floor;           /* draw no floor; default false */
    bool has_floor;          /* `floor` is given */
    double floor;            /* m; default: a little below everything that the camera is shown */
    uint64_t reserved[8];    /* zero: reserved for later fields */
} drape_render_settings;

DRAPE_API drape_render_settings drape_render_defaults(void);

/* The mesh of the cloth, the same in all frames. */
typedef struct drape_render_cloth {
    int32_t vertices; /* >= 1 */
    int32_t triangles;
    const int32_t *triangle; /* 3 per triangle, each below `vertices` */
    int32_t piece_count;     /* >= 0 */
    /* How many triangles each piece has; pieces follow each other and together have all triangles. NULL:
     * triangles that are connected are a piece, in the order of the first vertices, whatever piece_count is. */
    const int32_t *piece_triangles;
    const double (*piece_color)[3]; /* sRGB, 0..1, of the side that triangles turn counter-clockwise on; the other is
                                       paler. piece_count of them, again from the first where there are more pieces.
                                       NULL, or red below 0: that of a palette */
    uint64_t reserved[6];           /* zero: reserved for later fields */
} drape_render_cloth;

/* Where the camera is. With d = p - eye, a point p is drawn at the pixel
 *   (width / 2 + focal * dot(right, d) / -dot(back, d), height / 2 - focal * dot(up, d) / -dot(back, d)),
 * counted from the top left corner of the picture. */
typedef struct drape_render_camera {
    double eye[3]; /* m */
    double right[3], up[3], back[3];
    double focal; /* pixels */
} drape_render_camera;

/* Draws frames of one cloth. */
typedef struct drape_renderer drape_renderer;

/* Copies what it needs. settings may be NULL for the defaults. */
DRAPE_API drape_status drape_renderer_create(drape_context *ctx, const drape_render_cloth *cloth,
                                             const drape_render_settings *settings, drape_renderer **out);
/* Widens the view of the camera to the cloth of this frame. Of its meshes, those are included that are at most three
 * times as large as the first frame's cloth. Vertices that are not finite are ignored, and so are frames in which the
 * cloth is more than eight times as large as in most others. Without a call of this function, the camera sees the
 * first frame that is drawn. Of a frame, positions, meshes and
 * the colors of mesh_appearance are used. */
DRAPE_API drape_status drape_renderer_include(drape_renderer *renderer, const drape_frame *frame);
/* Draws a frame into rgb, an array of the caller: 3 bytes per pixel, row by row from the top left. Triangles with
 * vertices that are not finite are left out. */
DRAPE_API drape_status drape_renderer_draw(drape_renderer *renderer, const drape_frame *frame, uint8_t *rgb);
/* The camera of the last picture, or of the next one if there was none. DRAPE_ERROR_ARGUMENT before any frame. */
DRAPE_API drape_status drape_renderer_camera(drape_renderer *renderer, drape_render_camera *out);
DRAPE_API void drape_renderer_destroy(drape_renderer *renderer); /* NULL is fine */

/* Writes a picture of 3 bytes per pixel, row by row from the top left; width and height from 1 to 16384. */
DRAPE_API drape_status drape_png_write(drape_context *ctx, const char *path, int32_t width, int32_t height,
                                       const uint8_t *rgb);

/* A film that repeats forever, of 255 colors. */
typedef struct drape_gif drape_gif;

/* width, height: pixels, 1..16384. fps: frames per second, 0.01..50. The format counts hundredths of a second; delays
 * are rounded so that the film keeps its length. */
DRAPE_API drape_status drape_gif_open(drape_context *ctx, const char *path, int32_t width, int32_t height, double fps,
                                      drape_gif **out);
/* Call this before the first frame, as often as you like: the colors are chosen to suit these pictures. By default
 * they suit the first frame. rgb is as in drape_renderer_draw. */
DRAPE_API drape_status drape_gif_sample(drape_gif *gif, const uint8_t *rgb);
DRAPE_API drape_status drape_gif_frame(drape_gif *gif, const uint8_t *rgb);
/* Gives the file its name; DRAPE_ERROR_ARGUMENT if there is no frame. The film must still be destroyed. */
DRAPE_API drape_status drape_gif_finish(drape_gif *gif);
/* Frees the film. Without drape_gif_finish there is no file. NULL is fine. */
DRAPE_API void drape_gif_destroy(drape_gif *gif);

/* ---- Journals: runs that survive being cut off; docs/checkpoints.md ----
 *
 *   drape_journal_begin(ctx, "sheet.ckpt", sim, 10, &journal);          // or drape_journal_resume
 *   ...                                                                 // the steps of a frame
 *   drape_journal_frame(journal);
 *   drape_journal_finish(journal);
 *
 * "sheet.ckpt" is the newest checkpoint, "sheet.ckpt.1" the one before it, and "sheet.ckpt.frames" has the positions
 * of every frame: 24 bytes per vertex and frame. Frames are on the disk when drape_journal_frame returns. */

/* The checkpoints and the log of frames of a run. */
typedef struct drape_journal drape_journal;

/* Begins a journal with the current state as frame 0. interval: frames from one checkpoint to the next, >= 1. If a
 * checkpoint of that name exists, the call is refused. The simulation must outlive the journal. */
DRAPE_API drape_status drape_journal_begin(drape_context *ctx, const char *path, drape_sim *sim, int32_t interval,
                                           drape_journal **out);
/* Restores the simulation, which must be of the same scene, from the newest checkpoint that is complete and has all
 * its frames. Later frames stay in the file until they are written again. On failure the message says what is wrong
 * with each file, and the simulation may be at any checkpoint. */
DRAPE_API drape_status drape_journal_resume(drape_context *ctx, const char *path, drape_sim *sim,
                                            drape_journal **out);
/* Why newer checkpoints were not used, in one line; empty if the newest was used. Never NULL. */
DRAPE_API const char *drape_journal_note(const drape_journal *journal);
DRAPE_API int32_t drape_journal_interval(const drape_journal *journal); /* frames between checkpoints */
/* How many frames there are, including the one at the start. */
DRAPE_API int64_t drape_journal_frames(const drape_journal *journal);
/* Reads the positions of a frame (from 0) into an array of the caller: m, 3 doubles per vertex. */
DRAPE_API drape_status drape_journal_read(drape_journal *journal, int64_t frame, double *positions);
/* Reads the energies of a frame, as drape_sim_energy gave them. force_count is 0 and force is NULL. */
DRAPE_API drape_status drape_journal_read_energy(drape_journal *journal, int64_t frame,
                                                 drape_certificate_energy *energy);
/* Adds the current state of the simulation as the next frame, and writes a checkpoint if it is time for one. */
DRAPE_API drape_status drape_journal_frame(drape_journal *journal);
/* Both free the journal. drape_journal_finish, for a run that is complete, also removes its files;
 * drape_journal_close keeps them, so that the run can be resumed. NULL is fine. */
DRAPE_API void drape_journal_finish(drape_journal *journal);
DRAPE_API void drape_journal_close(drape_journal *journal);

/* ---- Reports: JSON with machine, settings, and a record of every step (docs/report.md) ---- */

/* A report that is being collected. */
typedef struct drape_report drape_report;

/* Begins a report of the simulation of a scene. If it was restored from a checkpoint, the report covers the steps
 * since then, and says so. */
DRAPE_API drape_status drape_report_create(drape_context *ctx, const drape_scene *scene, drape_sim *sim,
                                           drape_report **out);
/* Keeps the records of steps, about 4 kB each, in an unnamed file in the folder of `path` instead of in memory. Call
 * it before the first step. */
DRAPE_API drape_status drape_report_spill(drape_report *report, const char *path);
/* Adds the record of a step. */
DRAPE_API drape_status drape_report_step(drape_report *report, const drape_certificate *certificate);
/* Writes the report to a file. outcome: "finished", or why the run stopped. */
DRAPE_API drape_status drape_report_write(drape_report *report, const char *path, const char *outcome);
DRAPE_API void drape_report_destroy(drape_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
