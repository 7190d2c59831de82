/* palette.c: colors by repeated cuts. Of all boxes of colors, the one with the largest squared error is cut in two,
 * at its mean and across the channel in which its colors differ most. When there are enough boxes, each gives its
 * mean. Greens weigh more than reds, and those more than blues, about as eyes see differences. */
#include "io/palette.h"

static const double WEIGHT[3] = {3, 6, 1.5};

enum { SHIFT = 8 - DRAPE_I_PALETTE_BITS };

typedef struct box {
    int32_t begin, end; /* of the list of bins */
    double mean[3], error[3];
    double count;
} box;

static int32_t bin_of(const uint8_t rgb[3]) {
    return rgb[0] >> SHIFT << (2 * DRAPE_I_PALETTE_BITS) | rgb[1] >> SHIFT << DRAPE_I_PALETTE_BITS | rgb[2] >> SHIFT;
}

static double channel(const drape_i_color_bin *b, int k) { return (double)b->sum[k] / b->count; }

drape_status drape_i_palette_create(drape_context *ctx, drape_i_palette *out) {
    *out = (drape_i_palette){0};
    if (DRAPE_NEW(ctx, out->bin, DRAPE_I_PALETTE_BINS) && DRAPE_NEW(ctx, out->nearest, DRAPE_I_PALETTE_BINS))
        return DRAPE_OK;
    drape_i_palette_destroy(ctx, out);
    return DRAPE_ERROR_MEMORY;
}

void drape_i_palette_destroy(drape_context *ctx, drape_i_palette *p) {
    DRAPE_FREE(ctx, p->bin, DRAPE_I_PALETTE_BINS);
    DRAPE_FREE(ctx, p->nearest, DRAPE_I_PALETTE_BINS);
    *p = (drape_i_palette){0};
}

void drape_i_palette_add(drape_i_palette *p, const uint8_t *rgb, int64_t pixels) {
    for (int64_t i = 0; i < pixels; i++, rgb += 3) {
        drape_i_color_bin *b = &p->bin[bin_of(rgb)];
        if (b->count == UINT32_MAX) continue;
        b->count++;
        for (int k = 0; k < 3; k++) b->sum[k] += rgb[k];
    }
}

static void measure(const drape_i_palette *p, const int32_t *list, box *b) {
    *b = (box){.begin = b->begin, .end = b->end};
    for (int32_t i = b->begin; i < b->end; i++) {
        const drape_i_color_bin *bin = &p->bin[list[i]];
        b->count += bin->count;
        for (int k = 0; k < 3; k++) b->mean[k] += (double)bin->sum[k];
    }
    for (int k = 0; k < 3; k++) b->mean[k] /= b->count;
    for (int32_t i = b->begin; i < b->end; i++)
        for (int k = 0; k < 3; k++) {
            double d = channel(&p->bin[list[i]], k) - b->mean[k];
            b->error[k] += WEIGHT[k] * p->bin[list[i]].count * d * d;
        }
}

static int32_t worst_box(const box *boxes, int32_t count) {
    int32_t worst = -1;
    double most = 0;
    for (int32_t i = 0; i < count; i++) {
        double error = boxes[i].error[0] + boxes[i].error[1] + boxes[i].error[2];
        if (boxes[i].end - boxes[i].begin > 1 && error > most) most = error, worst = i;
    }
    return worst;
}

/* Puts bins below the mean in front, and returns where the others begin. */
static int32_t cut(const drape_i_palette *p, int32_t *list, const box *b) {
    int k = b->error[1] >= b->error[0] && b->error[1] >= b->error[2] ? 1 : b->error[0] >= b->error[2] ? 0 : 2;
    int32_t next = b->begin;
    for (int32_t i = b->begin; i < b->end; i++)
        if (channel(&p->bin[list[i]], k) < b->mean[k]) {
            int32_t here = list[i];
            list[i] = list[next];
            list[next++] = here;
        }
    return next;
}

static int32_t cut_boxes(const drape_i_palette *p, int32_t *list, box *boxes, int32_t most) {
    int32_t count = 1;
    measure(p, list, boxes);
    while (count < most) {
        int32_t worst = worst_box(boxes, count);
        if (worst < 0) break;
        int32_t middle = cut(p, list, boxes + worst);
        if (middle == boxes[worst].begin || middle == boxes[worst].end) { /* rounding: all are the same */
            boxes[worst].error[0] = boxes[worst].error[1] = boxes[worst].error[2] = 0;
            continue;
        }
        boxes[count] = (box){.begin = middle, .end = boxes[worst].end};
        boxes[worst].end = middle;
        measure(p, list, boxes + worst);
        measure(p, list, boxes + count++);
    }
    return count;
}

drape_status drape_i_palette_choose(drape_context *ctx, drape_i_palette *p, int32_t colors) {
    box boxes[256] = {{0}};
    int32_t *list;
    if (!DRAPE_NEW(ctx, list, DRAPE_I_PALETTE_BINS)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < DRAPE_I_PALETTE_BINS; i++) {
        if (p->bin[i].count > 0) list[boxes[0].end++] = i;
        p->nearest[i] = -1;
    }
    p->colors = boxes[0].end > 0 ? cut_boxes(p, list, boxes, colors) : 1;
    for (int32_t i = 0; i < p->colors; i++)
        for (int k = 0; k < 3; k++) p->color[i][k] = (uint8_t)(boxes[i].mean[k] + 0.5);
    DRAPE_FREE(ctx, list, DRAPE_I_PALETTE_BINS);
    return DRAPE_OK;
}

static int32_t search(const drape_i_palette *p, const uint8_t rgb[3]) {
    int32_t best = 0;
    double least = 1e9;
    for (int32_t i = 0; i < p->colors; i++) {
        double distance = 0;
        for (int k = 0; k < 3; k++) distance += WEIGHT[k] * (rgb[k] - p->color[i][k]) * (rgb[k] - p->color[i][k]);
        if (distance < least) least = distance, best = i;
    }
    return best;
}

/* Of the middle of the bin, so that it does not matter which of its colors is asked for first. */
int32_t drape_i_palette_nearest(drape_i_palette *p, const uint8_t rgb[3]) {
    int32_t bin = bin_of(rgb);
    if (p->nearest[bin] < 0) {
        uint8_t middle[3];
        for (int k = 0; k < 3; k++) middle[k] = (uint8_t)((rgb[k] >> SHIFT << SHIFT) + (1 << SHIFT) / 2);
        p->nearest[bin] = (int16_t)search(p, middle);
    }
    return p->nearest[bin];
}
