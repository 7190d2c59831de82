/* validate.h: what the files of drape validate share. */
#ifndef DRAPE_CLI_VALIDATE_H
#define DRAPE_CLI_VALIDATE_H

#include "cli.h"

enum { VALIDATION_ROWS = 512 };

typedef struct validation_row {
    const char *group, *mesh;
    char what[64];
    double load, end; /* of strips: rho g L^3 / B, P L^2 / (B width); else 0 */
    double got, want;
    double bar; /* the largest difference allowed, relative */
} validation_row;

typedef struct validation {
    drape_context *ctx;
    validation_row row[VALIDATION_ROWS];
    int32_t count, missed; /* rows, and those that are not within their limits */
    int32_t cells;         /* along a strip */
    bool quick;
    drape_membrane membrane;
    const char *data; /* a folder with tables of others; NULL: none */
} validation;

/* Takes the row up, and prints it. */
void add_validation_row(validation *v, const validation_row *row);

/* ---- validate_rod.c: the elastica ---- */

/* Tip of a clamped rod of length and rigidity 1 under its weight and a force at the end. It has sunk by `depth`, and
 * is as far from the clamp as `reach`. */
typedef struct rod_tip {
    double depth, reach;
} rod_tip;

rod_tip elastica_tip(double load, double end);

/* ---- validate_sheet.c: strips as meshes ---- */

/* A strip of 2 m, held along the line x = 0. The half x < 0 is the mirror image of the other one. Under loads that
 * are symmetric, too, that line is a clamp, and there is no doubt where it is. */
typedef struct strip_sheet {
    int32_t vertices, triangles, held_count;
    double *rest, *uv;
    int32_t *triangle, *held, *all; /* held: those on the line; all: every vertex */
} strip_sheet;

typedef enum strip_mesh {
    STRIP_ONE_WAY,
    STRIP_ALTERNATING,
    STRIP_IRREGULAR,
    STRIP_TURNED_ALONG, /* cut at 45 degrees out of a grid with diagonals one way, along them */
    STRIP_TURNED_ACROSS,
    STRIP_TURNED_ALTERNATING,
    STRIP_MESHES
} strip_mesh;

const char *strip_mesh_name(strip_mesh mesh);
/* cells: along 1 m. width: m. angle: of the warp against the strip, degrees. False after a complaint. */
bool strip_sheet_create(drape_context *ctx, strip_mesh mesh, int32_t cells, double width, double angle, int32_t seed,
                        strip_sheet *out);
void strip_sheet_clear(strip_sheet *s);
/* Whether a vertex is on the border at one of both ends. */
bool strip_sheet_is_tip(const strip_sheet *s, int32_t vertex);

/* ---- validate_strips.c: cantilevers ---- */

/* All are false after a complaint. */
bool validate_cantilevers(validation *v);
bool validate_end_forces(validation *v);
bool validate_end_moments(validation *v);
bool validate_tables(validation *v); /* those of `data` */

/* ---- validate_limits.c: refinement ---- */

bool validate_limits(validation *v);

/* ---- validate_page.c ---- */

bool write_validation_page(const char *path, const validation_row *rows, int32_t count);

#endif
