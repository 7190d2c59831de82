/* drape/contact.h: contact between triangle meshes: which parts may touch, and when.
 *
 * Everything is SI. Positions are 3 doubles per vertex. A NULL handle or output is an error (DRAPE_ERROR_ARGUMENT), or
 * gives 0 or NULL where a function returns a value. */
#ifndef DRAPE_CONTACT_H
#define DRAPE_CONTACT_H

#include "drape/base.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Narrow phase: do two parts meet while they move? ---- */

/* What the four vertices of a pair are. */
typedef enum drape_ccd_kind {
    DRAPE_CCD_VERTEX_FACE, /* a vertex, then the three corners of a triangle */
    DRAPE_CCD_EDGE_EDGE,   /* the two ends of an edge, then those of another */
} drape_ccd_kind;

/* "vertex-face", "edge-edge"; NULL for a value that is none. */
DRAPE_API const char *drape_ccd_kind_name(drape_ccd_kind kind);

#ifdef __cplusplus
}
#endif

#endif
