/* ode_record.c: the solution at given times and the events of a run of `drape ode`. */
#include "ode_report.h"

#include <stdlib.h>
#include <string.h>

static double sample_time(const ode_report *r, int64_t k) {
    double begin = r->problem->table.begin;
    return k == r->samples - 1 ? r->until : begin + (double)k * ((r->until - begin) / (double)(r->samples - 1));
}

/* The start, or those samples that are in the last step. */
drape_status ode_record_samples(ode_report *r) {
    const drape_ode_system *s = &r->problem->table.system;
    double begin, end;
    bool stepped = drape_ode_last_step(r->run.ode, &begin, &end);
    while (r->sample && r->sampled < r->samples) {
        double t = sample_time(r, r->sampled), *row = r->sample + r->sampled * ode_report_columns(r);
        row[0] = t;
        if (r->sampled == 0) {
            memcpy(row + 1, r->problem->table.x, (size_t)s->size * sizeof *row);
            if (s->order == 2) memcpy(row + 1 + s->size, r->problem->table.v, (size_t)s->size * sizeof *row);
        } else {
            if (!stepped || t > end) return DRAPE_OK;
            drape_status status =
                drape_ode_interpolate(r->run.ode, t, row + 1, s->order == 2 ? row + 1 + s->size : NULL);
            if (status) return status;
        }
        r->sampled++;
    }
    return DRAPE_OK;
}

bool ode_record_make_samples(ode_report *r, int32_t parts) {
    if (!parts) return true;
    r->samples = (int64_t)parts + 1;
    if (r->samples <= INT64_MAX / (int64_t)sizeof *r->sample / ode_report_columns(r))
        r->sample = malloc((size_t)(r->samples * ode_report_columns(r)) * sizeof *r->sample);
    if (!r->sample) complain("--dense %d: there is not enough memory", parts);
    return r->sample != NULL;
}

static drape_status evaluate(void *user, double t, const double *x, const double *v, double *g) {
    const drape_ode_events *own = ((ode_report *)user)->problem->table.events;
    return own->g(own->user, t, x, v, g);
}

static drape_status keep(void *user, const drape_ode_event *event) {
    ode_report *r = user;
    if (r->seen_count == r->seen_room) {
        int64_t room = 2 * r->seen_room + 16;
        ode_seen *more = realloc(r->seen, (size_t)room * sizeof *more);
        if (!more) return DRAPE_ERROR_MEMORY;
        r->seen = more;
        r->seen_room = room;
    }
    r->seen[r->seen_count++] = (ode_seen){event->index, event->rising, event->t};
    return DRAPE_OK;
}

drape_status ode_record_watch(ode_report *r) {
    if (!r->watches) return DRAPE_OK;
    drape_ode_events events = *r->problem->table.events;
    events.user = r;
    events.g = evaluate;
    events.report = keep;
    return drape_ode_watch(r->run.ode, &events);
}

void ode_record_free(ode_report *r) {
    free(r->sample);
    free(r->seen);
}
