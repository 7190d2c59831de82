/* narrow.c: do two parts meet while they move? */
#include "drape/contact.h"

const char *drape_ccd_kind_name(drape_ccd_kind kind) {
    switch (kind) {
    case DRAPE_CCD_VERTEX_FACE: return "vertex-face";
    case DRAPE_CCD_EDGE_EDGE: return "edge-edge";
    }
    return NULL;
}
