/* drape/io.h: scenes from files; results as files: meshes frame by frame, and the report of a run.
 *
 *   drape_writer *out;
 *   drape_animation what = {.cloth = drape_sim_cloth(sim), .title = "my sheet"};
 *   drape_writer_open(ctx, "sheet.html", &what, &out);
 *   drape_writer_frame(out, drape_sim_positions(sim));     // and so on, frame by frame
 *   drape_writer_close(out);
 *
 * Every file is complete or absent: it is written under a temporary name and renamed at its end. */
#ifndef DRAPE_IO_H
#define DRAPE_IO_H

#include "drape/sim.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scenes: docs/scenes.md lists the keys ---- */

typedef struct drape_scene_options {
    int32_t resolution;     /* of every grid, vertices along its width, 2..8192; 0: what the scene says */
    bool irregular;         /* every grid becomes an irregular mesh */
    const char *const *set; /* "path=value" each, as in "time.step=1 ms"; overrides what the scene says */
    int32_t set_count;
    bool trust_paths;       /* mesh files may lie outside the scene file's folder, outputs outside the present one */
    bool no_files;          /* the scene may not name mesh files at all */
    const char *integrator; /* one of drape_integrator_name, in place of the scene's; NULL: the scene's */
    void (*problem)(void *user, const char *text); /* gets every problem that is found, not only the first; or NULL */
    void *problem_user;
} drape_scene_options;

/* A scene file (a name that ends in .yaml or .yml, or has a slash in it), or else a scene that ships with the
 * library. options may be NULL. The message is the first problem: "file:line:column: what" and the line below. */
DRAPE_API drape_status drape_scene_load(drape_context *ctx, const char *name, const drape_scene_options *options,
                                        drape_scene **out);
/* The same from text; name stands in messages, and mesh files are looked for beside it. */
DRAPE_API drape_status drape_scene_parse(drape_context *ctx, const char *name, const char *text, int64_t size,
                                         const drape_scene_options *options, drape_scene **out);
/* drape_scene_load of a scene that ships with the library, at a resolution. */
DRAPE_API drape_status drape_scene_builtin(drape_context *ctx, const char *name, int32_t resolution,
                                           drape_scene **out);
DRAPE_API void drape_scene_destroy(drape_context *ctx, drape_scene *scene); /* of the three above; NULL is fine */

/* Scenes that ship with the library: name, a line about it, its text; NULL past the end. */
DRAPE_API const char *drape_scene_name(int32_t index);
DRAPE_API const char *drape_scene_description(int32_t index);
DRAPE_API const char *drape_scene_text(int32_t index);

/* ---- Checking: every problem of a scene or a mesh file, before it is simulated; docs/doctor.md lists the codes ----
 */

typedef enum drape_severity {
    DRAPE_SEVERITY_WARNING, /* a simulation runs, but perhaps not as it was meant */
    DRAPE_SEVERITY_ERROR    /* it is refused */
} drape_severity;

/* Valid during the callback. Vertices and triangles are numbered within their piece, from 0. */
typedef struct drape_finding {
    drape_severity severity;
    const char *code;      /* a word that stays the same from version to version: "degenerate-triangle" */
    const char *file;      /* the scene or mesh file; NULL: of none */
    int32_t line, column;  /* from 1; 0: not known. Of a scene's mesh: where the scene names it */
    const char *source;    /* that line of the file; NULL: not known */
    const char *piece;     /* name of the piece; NULL: of none, or of a mesh file by itself */
    const char *message;   /* one line, with the mesh file where a scene names it */
    const char *advice;    /* what to do about it, one line; NULL: the message says it */
    int64_t count;         /* how many this stands for: 1, or those beyond drape_check_options.examples */
    int32_t vertex_count;  /* vertices it is about; 0: none, or too many */
    const int32_t *vertex; /* likewise */
    int32_t triangle_count;
    const int32_t *triangle;
} drape_finding;

typedef struct drape_check_options {
    drape_scene_options scene;  /* how a scene is read; its `problem` is not called */
    int32_t examples;           /* findings of one code and piece that come one by one, >= 1; 0: the default, 5 */
    const drape_direct *direct; /* what drape_solve_settings.direct is to be in a run, or NULL */
    void (*finding)(void *user, const drape_finding *finding); /* or NULL: only counted */
    void *user;
} drape_check_options;

/* What there is and how much is wrong with it. */
typedef struct drape_check_summary {
    int64_t errors, warnings;
    int32_t pieces;
    int64_t vertices, triangles;
    int32_t frames, steps_per_frame; /* of a scene that could be read; frames also of a point cache; else 0 */
    double step;                     /* s, likewise */
    double fastest; /* 1/s: a bound from above of the angular frequencies of stretch and shear at rest (bending is
                       left out); an explicit method needs steps of less than about 2 / fastest */
} drape_check_summary;

/* Looks at a mesh file (.obj, .ply), a point cache (.pc2, .mdd) or at what drape_scene_load would load, and writes
 * nothing. The status is about the looking: DRAPE_OK also where everything is wrong; DRAPE_ERROR_IO where the file
 * cannot be opened. A scene without an error is one that drape_sim_create takes, and with an explicit integrator of
 * fixed steps one whose first step drape_sim_step takes. options and summary may be NULL. */
DRAPE_API drape_status drape_check(drape_context *ctx, const char *name, const drape_check_options *options,
                                   drape_check_summary *summary);

/* ---- Meshes ---- */

typedef struct drape_writer drape_writer;

/* What the frames to come are of. */
typedef struct drape_animation {
    const drape_cloth *cloth; /* must live on until the writer is closed */
    double fps;               /* frames per second of simulated time, finite, > 0; 0: the default, 25 */
    const char *title;        /* UTF-8, for people to read; NULL: "drape" */
    /* What the cloth was made of, for the texture coordinates; must live on likewise. NULL: files have none. */
    const drape_piece *pieces;
} drape_animation;

/* Name endings that are known (".obj", ".html", ...) and what each gives; NULL past the end. docs/formats.md */
DRAPE_API const char *drape_writer_extension(int32_t index);
DRAPE_API const char *drape_writer_description(int32_t index);

/* Whether a format is known for this path. */
DRAPE_API bool drape_writer_knows(const char *path);

/* The format follows from the path's ending. *what is copied, its title too. */
DRAPE_API drape_status drape_writer_open(drape_context *ctx, const char *path, const drape_animation *what,
                                         drape_writer **out);
/* positions: m, 3 a vertex. Memory does not grow with the number of frames; .mdd, .usda and .glb, whose beginning
 * depends on the end, keep 12 bytes a vertex and frame in a temporary file until they are closed. */
DRAPE_API drape_status drape_writer_frame(drape_writer *writer, const double *positions);
/* Finishes what there is to finish and frees the writer, also on failure. Formats with one file for all frames put it
 * in its place here; where there was no frame, or a frame failed, they leave no file. NULL is fine. */
DRAPE_API drape_status drape_writer_close(drape_writer *writer);

/* ---- Point caches, read: .pc2 and .mdd of any program ---- */

typedef struct drape_cache drape_cache;

typedef struct drape_cache_info {
    int32_t vertices, frames; /* of each frame; at least 1 both */
    bool has_times;           /* .mdd: every frame has its time; .pc2: they follow from start and rate */
    double start;             /* .pc2: number of the first frame; else 0 */
    double rate;              /* .pc2: frames from one sample to the next, > 0; else 0 */
} drape_cache_info;

/* The format follows from the path's ending. The size must be exactly what head and frames take, and every number
 * finite, else DRAPE_ERROR_FORMAT. Memory: the size of the file. The context must live on until the cache is closed.
 */
DRAPE_API drape_status drape_cache_open(drape_context *ctx, const char *path, drape_cache **out);
/* The same from bytes, which are copied; name stands in messages, and its ending says the format. */
DRAPE_API drape_status drape_cache_parse(drape_context *ctx, const char *name, const void *data, int64_t size,
                                         drape_cache **out);
DRAPE_API const drape_cache_info *drape_cache_describe(const drape_cache *cache);
/* positions: 3 a vertex, in the units of the file (m, where drape wrote it). Frames count from 0. */
DRAPE_API drape_status drape_cache_frame(const drape_cache *cache, int32_t frame, double *positions);
/* .mdd: s; .pc2: the number of a frame, whose rate the file does not hold. NaN where there is no such frame. */
DRAPE_API double drape_cache_time(const drape_cache *cache, int32_t frame);
DRAPE_API void drape_cache_close(drape_cache *cache); /* NULL is fine */

/* ---- Journals: runs that survive being cut off; docs/checkpoints.md ----
 *
 *   drape_journal_begin(ctx, "sheet.ckpt", sim, 10, &journal);          // or drape_journal_resume
 *   ...                                                                 // the steps of a frame
 *   drape_journal_frame(journal);
 *   drape_journal_finish(journal);
 *
 * "sheet.ckpt" is the newest checkpoint, "sheet.ckpt.1" the one before it, and "sheet.ckpt.frames" has the positions
 * of every frame: 24 bytes a vertex and frame. Frames are on the disk when drape_journal_frame returns. */

typedef struct drape_journal drape_journal;

/* Takes the present state as frame 0. interval: frames from one checkpoint to the next, >= 1. Refuses where there is
 * a checkpoint of that name. The simulation must outlive the journal. */
DRAPE_API drape_status drape_journal_begin(drape_context *ctx, const char *path, drape_sim *sim, int32_t interval,
                                           drape_journal **out);
/* Brings the simulation, which is of the same scene, to the newest checkpoint that is whole and whose frames are.
 * Later frames stay in the file until the same ones are written over them. On failure the message says what is wrong
 * with each file, and the simulation may stand at any checkpoint. */
DRAPE_API drape_status drape_journal_resume(drape_context *ctx, const char *path, drape_sim *sim,
                                            drape_journal **out);
/* Why newer checkpoints were passed over, on one line; empty where none was. Never NULL. */
DRAPE_API const char *drape_journal_note(const drape_journal *journal);
DRAPE_API int32_t drape_journal_interval(const drape_journal *journal);
/* How many frames there are, that at the start included. */
DRAPE_API int64_t drape_journal_frames(const drape_journal *journal);
/* The positions of one of them, m, 3 a vertex: to be written anew. */
DRAPE_API drape_status drape_journal_read(drape_journal *journal, int64_t frame, double *positions);
/* Adds the simulation's present state as the next frame, and a checkpoint where it is time for one. */
DRAPE_API drape_status drape_journal_frame(drape_journal *journal);
/* The run is complete: removes the files. The other one keeps them, to resume from. NULL is fine. */
DRAPE_API void drape_journal_finish(drape_journal *journal);
DRAPE_API void drape_journal_close(drape_journal *journal);

/* ---- Reports: JSON with machine, settings, and a record of every step ---- */

typedef struct drape_report drape_report;

/* A simulation that was restored from a checkpoint before gets a report from there on, which says so. */
DRAPE_API drape_status drape_report_create(drape_context *ctx, const drape_scene *scene, drape_sim *sim,
                                           drape_report **out);
DRAPE_API drape_status drape_report_step(drape_report *report, const drape_certificate *certificate);
/* outcome: "finished", or why the run stopped. */
DRAPE_API drape_status drape_report_write(drape_report *report, const char *path, const char *outcome);
DRAPE_API void drape_report_destroy(drape_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
