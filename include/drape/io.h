/* drape/io.h: results as files: meshes frame by frame, and the report of a run.
 *
 *   drape_writer *out;
 *   drape_writer_open(ctx, "sheet.obj", drape_sim_cloth(sim), &out);
 *   drape_writer_frame(out, drape_sim_positions(sim));     // sheet_0000.obj, and so on
 *   drape_writer_close(out);
 *
 * Every file is complete or absent: it is written under a temporary name and renamed at its end. */
#ifndef DRAPE_IO_H
#define DRAPE_IO_H

#include "drape/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Meshes ---- */

typedef struct drape_writer drape_writer;

/* Name endings that are known (".obj") and what each gives; NULL past the end. */
DRAPE_API const char *drape_writer_extension(int32_t index);
DRAPE_API const char *drape_writer_description(int32_t index);

/* The format follows from the path's ending. The cloth must live on until the writer is closed. */
DRAPE_API drape_status drape_writer_open(drape_context *ctx, const char *path, const drape_cloth *cloth,
                                         drape_writer **out);
/* positions: m, 3 a vertex. */
DRAPE_API drape_status drape_writer_frame(drape_writer *writer, const double *positions);
/* Finishes what there is to finish and frees the writer, also on failure. NULL is fine. */
DRAPE_API drape_status drape_writer_close(drape_writer *writer);

/* ---- Reports: JSON with machine, settings, and a record of every step ---- */

typedef struct drape_report drape_report;

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
