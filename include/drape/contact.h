/* drape/contact.h: contact between triangle meshes: which parts may touch, and when.
 *
 * Everything is SI. Positions are 3 doubles per vertex. A NULL handle or output is an error (DRAPE_ERROR_ARGUMENT),
 * or gives 0 or NULL where a function returns a value. */
#ifndef DRAPE_CONTACT_H
#define DRAPE_CONTACT_H

#include "drape/base.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Narrow phase ----
 *
 * Do two parts meet while their vertices move along straight lines, from `start` at time 0 to `end` at time 1?
 *
 *   double t = drape_ccd_time(DRAPE_CCD_EDGE_EDGE, start, end, NULL);
 *   if (t <= 1) ...   // they may touch, and not before t
 *
 * "Apart" is proved, including all rounding (src/contact/narrow.c), so no contact is ever missed and no time is ever
 * late, whether the motion is coplanar, edges are parallel, triangles have no area or nothing moves. What cannot be
 * proved apart counts as a contact: parts that miss each other by less than about 2^-depth of their motion, and by
 * a few roundings of their distances. docs/contact.md gives figures. */

/* What the four vertices of a pair are. */
typedef enum drape_ccd_kind {
    DRAPE_CCD_VERTEX_FACE, /* a vertex, then the three corners of a triangle */
    DRAPE_CCD_EDGE_EDGE,   /* the two ends of an edge, then those of another */
} drape_ccd_kind;

/* "vertex-face", "edge-edge"; NULL for a value that is none. */
DRAPE_API const char *drape_ccd_kind_name(drape_ccd_kind kind);

/* The time of a pair that never touches. Times of contact are in [0, 1]. */
#define DRAPE_CCD_APART 2.0

/* How to look. Zero means the default in every field. */
typedef struct drape_ccd_settings {
    double separation;    /* m, finite, >= 0: parts that come as near as this touch; default 0 */
    int32_t depth;        /* 1..30: times are resolved to 2^-depth of the step; default 16 */
    uint64_t reserved[8]; /* zero: room for later fields */
} drape_ccd_settings;

DRAPE_API drape_ccd_settings drape_ccd_defaults(void);

/* A lower bound of the time at which a pair first touches, in [0, 1], or DRAPE_CCD_APART. start and end hold the four
 * vertices, 12 doubles each. settings may be NULL. What cannot be judged touches at time 0: NULL, coordinates that
 * are not finite or whose differences overflow, a kind that is none, settings out of range. Where differences exceed
 * 2^500 only what the first directions prove on the whole step is apart. */
DRAPE_API double drape_ccd_time(drape_ccd_kind kind, const double *start, const double *end,
                                const drape_ccd_settings *settings);

/* Many pairs of one kind. Zero means zero. To test two meshes against each other, put their vertices into one array.
 */
typedef struct drape_ccd_pairs {
    drape_ccd_kind kind;
    int32_t vertices;
    const double *start; /* m, 3 doubles per vertex, at time 0 */
    const double *end;   /* m, 3 doubles per vertex, at time 1 */
    int64_t pairs;
    const int32_t *vertex;    /* 4 per pair, each in [0, vertices) */
    const double *separation; /* m, one per pair, as in the settings; NULL: that of the settings for all */
    uint64_t reserved[8];     /* zero: room for later fields */
} drape_ccd_pairs;

/* time[i] of every pair i as drape_ccd_time gives it. Runs on the threads of the context; allocates nothing. The same
 * bits for any number of threads and any vector width. settings may be NULL. A pair whose own separation is negative
 * or not finite touches at time 0. DRAPE_ERROR_ARGUMENT for vertices out of range or settings out of range. */
DRAPE_API drape_status drape_ccd_times(drape_context *ctx, const drape_ccd_pairs *pairs,
                                       const drape_ccd_settings *settings, double *time);

#ifdef __cplusplus
}
#endif

#endif
