/* wind.h: pressure drag on triangles as a term of its own, whatever the model. */
#ifndef DRAPE_CLOTH_WIND_H
#define DRAPE_CLOTH_WIND_H

#include "cloth/model.h"

typedef struct drape_i_wind_data {
    const drape_i_evaluation *at;
    const int32_t *nodes;
    const drape_forces *forces; /* wind and drag */
} drape_i_wind_data;

DRAPE_I_KERNEL(void, drape_i_wind, (const void *data, const int32_t *elements, drape_i_batch *out));

#endif
