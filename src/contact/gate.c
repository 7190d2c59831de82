/* gate.c: decides whether a step is kept. It uses nothing that earlier stages have found, with one exception: if all
 * pairs were proved apart and no end has changed since, they are not proved again. */
#include "contact/response_parts.h"

#include "base/timer.h"
#include "contact/narrow.h"

#include <string.h>

bool drape_i_response_finite(drape_i_response *r) {
    for (int64_t i = 0; i < 3 * (int64_t)r->vertices; i++)
        if (!isfinite(r->world->end[i]) || !isfinite(r->world->start[i])) {
            r->trouble = (drape_i_trouble){
                .kind = DRAPE_I_TROUBLE_NOT_FINITE, .vertex = {(int32_t)(i / 3), -1, -1, -1}, .collider = -1};
            return false;
        }
    return true;
}

/* All pairs at their floor. */
static drape_status judge_pairs(drape_i_response *r, drape_ccd_kind kind) {
    const drape_i_pairs *p = &r->world->pairs[kind];
    drape_i_verdicts *v = &r->verdicts[kind];
    const drape_ccd_settings settings = drape_ccd_defaults();
    const drape_ccd_pairs pairs = {.kind = kind,
                                   .vertices = r->world->vertices,
                                   .start = r->world->start,
                                   .end = r->world->end,
                                   .pairs = p->count,
                                   .vertex = p->count > 0 ? p->vertex[0] : NULL,
                                   .separation = v->floor};
    drape_i_ccd_times(r->ctx, &pairs, &settings, v->time);
    for (int64_t i = 0; i < p->count; i++) {
        if (v->time[i] > 1) continue;
        drape_status status =
            drape_i_response_grow(r->ctx, (void **)&r->hit, &r->hit_room, r->hits + 1, sizeof *r->hit);
        if (status) return status;
        r->hit[r->hits++] = (drape_i_hit){kind, i, v->time[i]};
    }
    return DRAPE_OK;
}

drape_status drape_i_response_judge(drape_i_response *r, bool *kept) {
    double begin = drape_i_seconds();
    *kept = false;
    r->hits = 0;
    drape_status status = DRAPE_OK;
    bool good = drape_i_response_finite(r) && drape_i_response_above(r);
    for (int32_t k = 0; k < 2 && !status && good && !r->proved; k++) status = judge_pairs(r, (drape_ccd_kind)k);
    r->counts.seconds_gate += drape_i_seconds() - begin;
    if (status || !good) return status;
    if (r->hits > 0) drape_i_response_blame_pair(r, &r->hit[0]);
    *kept = r->hits == 0;
    return DRAPE_OK;
}
