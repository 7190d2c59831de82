/* doctor.h: what the parts of the doctor share: where it is looking, and how findings go out. */
#ifndef DRAPE_IO_DOCTOR_H
#define DRAPE_IO_DOCTOR_H

#include "base/arena.h"
#include "drape/io.h"

typedef struct drape_i_doctor {
    drape_context *ctx;
    const drape_check_options *options;
    drape_check_summary *summary;
    drape_finding place; /* file, line, column, source and piece of what is looked at */
    const char *mesh;    /* its mesh file where that is not `place.file`; or NULL */
    bool incomplete;     /* faces of it could not be read: vertices may lack triangles for that reason alone */
} drape_i_doctor;

/* A kind of finding in one piece, of which the first few are reported one by one and the others as a number. */
typedef struct drape_i_defect {
    drape_severity severity;
    const char *code, *advice;
    int64_t seen;
} drape_i_defect;

/* Vertices and triangles that a finding is about. */
typedef struct drape_i_about {
    int32_t vertices;
    const int32_t *vertex;
    int32_t triangles;
    const int32_t *triangle;
} drape_i_about;

/* ---- doctor.c: findings ---- */

/* Notes one more; about may be NULL. The message gets the mesh file in front where a scene names it. */
void drape_i_found(drape_i_doctor *d, drape_i_defect *defect, const drape_i_about *about, const char *format, ...)
    DRAPE_PRINTF(4, 5);
/* When all of a kind are noted: says how many were not reported one by one. */
void drape_i_found_all(drape_i_doctor *d, const drape_i_defect *defect);

/* ---- the examinations of a piece ---- */

/* doctor_topology.c: edges, windings, fans, triangles twice, vertices of none or twice. Indices must be in range, and
 * no vertex twice in a triangle. DRAPE_ERROR_MEMORY is the only failure. */
drape_status drape_i_examine_topology(drape_i_doctor *d, const drape_piece *p);
/* doctor_measures.c: areas and angles, material space, size. */
void drape_i_examine_shape(drape_i_doctor *d, const drape_piece *p);
/* doctor_measures.c: numbers beside those of fabrics; raises summary->fastest. */
void drape_i_examine_material(drape_i_doctor *d, const drape_piece *p);
/* doctor_measures.c: tells options->vibration what fabrics and integrator do to the vibrations of the pieces. */
drape_status drape_i_examine_vibrations(const drape_i_doctor *d, const drape_scene *scene);
double drape_i_piece_extent(const drape_piece *p); /* the longest side of the box around it, m */
/* doctor_run.c: what a run will come to: pins, wind, steps. The scene must be valid. Sets summary->swing_loss. */
drape_status drape_i_examine_run(drape_i_doctor *d, const drape_scene *scene);
/* doctor_contact.c: how cloth and colliders of a scene without errors start and move. */
drape_status drape_i_examine_contact(drape_i_doctor *d, const drape_loaded_scene *loaded);

#endif
