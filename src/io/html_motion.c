/* html_motion.c: the choice of the quantum, and the frames in units of it.
 *
 * The quantum is as fine as 16 bits allow for the first frame: its box's diagonal / 65534, 22 um for a sheet of 1 m x
 * 1 m. That is far less than a pixel; what shows first is what derives from edges, which a quantum turns and
 * stretches by quantum/length: at 100 x 100 vertices by 0.002, an eighth of a degree of shading and 0.2 % of stretch
 * at most. */
#include "io/html_motion.h"

#include <math.h>

enum { HEAD = 12 }; /* bytes before the vertices' */

static const double DIAGONAL = 65534;  /* quanta: half of it each way from the middle fits int16 */
static const double SMALLEST = 1e-6;   /* m: for cloth that is one point */
static const double FARTHEST = 0x1p29; /* quanta: differences stay within int32 */

drape_status drape_i_motion_create(drape_context *ctx, const drape_cloth *cloth, drape_i_motion *out) {
    int64_t n = drape_cloth_vertices(cloth);
    *out = (drape_i_motion){.cloth = cloth, .size = HEAD + 6 * n};
    if (DRAPE_NEW(ctx, out->place, 3 * n) && DRAPE_NEW(ctx, out->bytes, out->size)) return DRAPE_OK;
    drape_i_motion_clear(ctx, out);
    return DRAPE_ERROR_MEMORY;
}

void drape_i_motion_clear(drape_context *ctx, drape_i_motion *m) {
    if (!m->cloth) return;
    int64_t n = drape_cloth_vertices(m->cloth);
    if (m->place) DRAPE_FREE(ctx, m->place, 3 * n);
    if (m->bytes) DRAPE_FREE(ctx, m->bytes, m->size);
    *m = (drape_i_motion){0};
}

void drape_i_motion_begin(drape_i_motion *m, const double *x) {
    int64_t n = drape_cloth_vertices(m->cloth);
    double squares = 0;
    for (int k = 0; k < 3; k++) {
        double low = n ? x[k] : 0, high = low;
        for (int64_t i = 1; i < n; i++) {
            low = fmin(low, x[3 * i + k]);
            high = fmax(high, x[3 * i + k]);
        }
        m->origin[k] = low + 0.5 * (high - low);
        squares += (high - low) * (high - low);
    }
    m->quantum = fmax(sqrt(squares) / DIAGONAL, SMALLEST);
    m->first = true;
}

static int32_t nearest(const drape_i_motion *m, double x, int64_t k) {
    double quanta = (x - m->origin[k]) / m->quantum;
    return (int32_t)floor(fmin(fmax(quanta, -FARTHEST), FARTHEST) + 0.5);
}

/* How far all vertices together go along coordinate k. */
static int32_t mean_way(const drape_i_motion *m, const double *x, int64_t k) {
    int64_t n = drape_cloth_vertices(m->cloth), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (int64_t)nearest(m, x[3 * i + k], k) - m->place[3 * i + k];
    return n ? (int32_t)(sum / n) : 0;
}

static int32_t clamp16(int64_t d) { return (int32_t)(d < INT16_MIN ? INT16_MIN : d > INT16_MAX ? INT16_MAX : d); }

/* r modulo 2^16, its sign folded into the lowest bit. */
static uint32_t fold(int32_t r) {
    uint32_t low = (uint32_t)r & 0xffff;
    return low < 0x8000 ? 2 * low : 2 * (0xffff - low) + 1;
}

void drape_i_motion_frame(drape_i_motion *m, const double *x) {
    int64_t n = drape_cloth_vertices(m->cloth);
    for (int64_t k = 0; k < 3; k++) {
        int32_t way = m->first ? 0 : mean_way(m, x, k), before = 0;
        unsigned char *low = m->bytes + HEAD + k * n, *high = low + 3 * n;
        for (int byte = 0; byte < 4; byte++)
            m->bytes[4 * k + byte] = (unsigned char)((uint32_t)way >> 8 * byte & 255);
        for (int64_t i = 0; i < n; i++) {
            int32_t *place = &m->place[3 * i + k];
            int32_t d = clamp16((int64_t)nearest(m, x[3 * i + k], k) - *place - way);
            uint32_t z = fold(d - before);
            DRAPE_ASSERT(z <= UINT16_MAX); /* two bytes hold it */
            *place += way + d;
            before = d;
            low[i] = (unsigned char)(z & 255);
            high[i] = (unsigned char)(z >> 8);
        }
    }
    m->first = false;
}
