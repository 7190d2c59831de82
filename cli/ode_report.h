/* ode_report.h: what a run of `drape ode` was, for printing. */
#ifndef DRAPE_CLI_ODE_REPORT_H
#define DRAPE_CLI_ODE_REPORT_H

#include "ode_problem.h"

typedef struct ode_seen {
    int32_t index;
    bool rising;
    double t; /* s */
} ode_seen;

typedef struct ode_report {
    const ode_problem *problem;
    const drape_ode_settings *settings;
    double until; /* s */
    ode_run run;
    drape_ode_result result;
    double worst;             /* largest error over all steps */
    int64_t samples, sampled; /* rows of `sample` that there are to be, and that there are */
    double *sample;           /* t, x and v each; NULL: none were asked for */
    bool watches;             /* events were looked for */
    ode_seen *seen;
    int64_t seen_count, seen_room;
} ode_report;

/* ode_record.c: the first allocates samples at the ends of so many parts of the time (0: none), false after a
 * complaint. The others add the samples up to the present time, and look for events if r->watches. */
bool ode_record_make_samples(ode_report *r, int32_t parts);
drape_status ode_record_samples(ode_report *r);
drape_status ode_record_watch(ode_report *r);
void ode_record_free(ode_report *r);

/* Numbers in a row of `sample`. */
int64_t ode_report_columns(const ode_report *r);
void ode_report_words(const ode_report *r);
void ode_report_json(const ode_report *r);

/* ode_sweep.c: exit codes. Runs with fixed steps from settings->step on, each half of the one before. */
int ode_sweep(drape_context *ctx, const ode_problem *p, const drape_ode_settings *settings, double until,
              int32_t runs);
/* |R| at points x points values of h lambda. */
int ode_stability(drape_context *ctx, const drape_ode_settings *settings, int32_t points);

#endif
