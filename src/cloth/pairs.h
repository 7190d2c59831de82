/* pairs.h: pairs of neighbouring triangles. */
#ifndef DRAPE_CLOTH_PAIRS_H
#define DRAPE_CLOTH_PAIRS_H

#include "cloth/model.h"

/* Joins triangles in pairs across hinges, each triangle in one pair at most, and leaves few alone. *pair lists the
 * hinges of the pairs, *count of them, in the order of their first triangles; the caller frees hinges->count numbers.
 * Two triangles that see their edge at different points of the pattern are never joined. */
drape_status drape_i_pairs_find(drape_context *ctx, const drape_i_model_input *input, int32_t **pair, int32_t *count);

#endif
