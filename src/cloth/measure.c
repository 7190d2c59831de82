/* measure.c: numbers about a state: energies of elements, largest stretch. */
#include "base/parallel.h"
#include "cloth/force.h"

#include <math.h>

typedef struct energy_job {
    const drape_i_term *term;
    const drape_i_evaluation *at;
    drape_simd simd;
} energy_job;

/* Chunks start at multiples of eight, so element e always sums into lane e modulo 8. */
static void sum_energy(void *data, int64_t begin, int64_t end, double *sums) {
    const energy_job *job = data;
    double lanes[DRAPE_I_LANES] = {0}, energy[DRAPE_I_LANES];
    for (int64_t first = begin; first < end; first += DRAPE_I_LANES) {
        int32_t elements[DRAPE_I_LANES];
        for (int32_t l = 0; l < DRAPE_I_LANES; l++) elements[l] = (int32_t)(first + l < end ? first + l : end - 1);
        job->term->energy[job->simd](job->term->data, job->at, elements, energy);
        for (int32_t l = 0; l < DRAPE_I_LANES && first + l < end; l++) lanes[l] += energy[l];
    }
    for (int32_t l = 0; l < DRAPE_I_LANES; l++) sums[0] += lanes[l];
}

double drape_i_terms_energy(drape_context *ctx, const drape_i_term *terms, int32_t count,
                            const drape_i_evaluation *at) {
    double total = 0;
    for (int32_t t = 0; t < count; t++) {
        if (!terms[t].energy) continue;
        energy_job job = {&terms[t], at, ctx->simd};
        double energy;
        drape_i_sum(ctx, terms[t].elements.count, DRAPE_I_GRAIN, sum_energy, &job, 1, &energy);
        total += energy;
    }
    return total;
}

double drape_cloth_energy(const drape_cloth *c, const double *x) {
    const drape_i_evaluation at = {.x = x};
    return c && x ? drape_i_terms_energy(c->ctx, c->terms, c->term_count, &at) : 0;
}

typedef struct stretch_job {
    const drape_cloth *cloth;
    const double *x;
    int64_t chunk;
    double largest[DRAPE_I_CHUNKS]; /* of each chunk; the order of a maximum does not matter */
} stretch_job;

static double squared_length(const double *x, const int32_t *corner, const double *d) {
    double sum = 0;
    for (int32_t k = 0; k < 3; k++) {
        double w = d[0] * x[3 * (int64_t)corner[0] + k] + d[1] * x[3 * (int64_t)corner[1] + k] +
                   d[2] * x[3 * (int64_t)corner[2] + k];
        sum += w * w;
    }
    return sum;
}

static void find_stretch(void *data, int64_t begin, int64_t end) {
    stretch_job *job = data;
    double largest = 0;
    for (int64_t t = begin; t < end; t++) {
        const drape_i_rest_triangle *rest = &job->cloth->rest_triangle[t];
        largest = fmax(largest, squared_length(job->x, job->cloth->triangle[t], rest->du));
        largest = fmax(largest, squared_length(job->x, job->cloth->triangle[t], rest->dv));
    }
    job->largest[begin / job->chunk] = largest;
}

double drape_cloth_stretch(const drape_cloth *c, const double *x) {
    if (!c || !x) return 0;
    stretch_job job = {.cloth = c, .x = x, .chunk = drape_i_chunk_length(c->triangles, DRAPE_I_GRAIN)};
    double largest = 0;
    drape_i_loop(c->ctx, c->triangles, DRAPE_I_GRAIN, find_stretch, &job);
    for (int32_t i = 0; i < DRAPE_I_CHUNKS; i++) largest = fmax(largest, job.largest[i]);
    return sqrt(largest);
}
