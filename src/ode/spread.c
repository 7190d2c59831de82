/* spread.c: the sums and norms that integrators decide by. Where a system is spread over processes, only the numbers
 * that count here go into them, range by range, and then the system adds up what all processes have. */
#include "ode/ode.h"

#include <math.h>

double drape_i_ode_dot(const drape_ode *ode, int64_t n, const double *a, const double *b) {
    const drape_ode_spread *s = ode->system.spread;
    double sum = 0;
    if (!s) return drape_i_dot(ode->ctx, n, a, b);
    for (int64_t half = 0; half < n; half += ode->size)
        for (int32_t i = 0; i < s->range_count; i++) {
            const int64_t at = half + s->range[2 * i], length = s->range[2 * i + 1] - s->range[2 * i];
            sum += drape_i_dot(ode->ctx, length, a + at, b + at);
        }
    s->sum(s->user, &sum);
    return sum;
}

/* Also where b is not: a NaN stays. */
static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }

double drape_i_ode_most(const drape_ode *ode, const double *e, int64_t *where) {
    const drape_ode_spread *s = ode->system.spread;
    double most = -1;
    if (!s) return drape_i_ode_largest(ode->ctx, ode->size, e, where);
    *where = 0;
    for (int32_t i = 0; i < s->range_count && !isnan(most); i++) {
        const int64_t first = s->range[2 * i];
        int64_t at;
        double value = drape_i_ode_largest(ode->ctx, s->range[2 * i + 1] - first, e + first, &at);
        if (!isnan(value) && !(value > most)) continue;
        most = value;
        *where = first + at;
    }
    s->largest(s->user, &most);
    return most;
}

double drape_i_ode_weigh(const drape_ode *ode, bool largest, double factor, const double *e, const double *y,
                         double rtol, double atol) {
    const drape_ode_spread *s = ode->system.spread;
    double (*measure)(drape_context *, int64_t, double, const double *, const double *, double, double) =
        largest ? drape_i_ode_weighted_largest : drape_i_ode_weighted;
    double all = 0;
    if (!s) return measure(ode->ctx, ode->size, factor, e, y, rtol, atol);
    for (int32_t i = 0; i < s->range_count; i++) {
        const int64_t first = s->range[2 * i], length = s->range[2 * i + 1] - first;
        double part = measure(ode->ctx, length, factor, e + first, y + first, rtol, atol);
        all = largest ? larger(part, all) : all + part;
    }
    (largest ? s->largest : s->sum)(s->user, &all);
    return all;
}
