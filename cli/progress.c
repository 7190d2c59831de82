/* progress.c: how a run comes on: a bar that stays in its line on a terminal, a line a frame in a pipe. */
#include "cli.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_begin(int32_t before, int32_t frames, bool quiet) {
    return (progress){.quiet = quiet,
                      .terminal = isatty(STDOUT_FILENO),
                      .frames = frames,
                      .before = before,
                      .begin = seconds_now()};
}

static double energy(const drape_certificate *c) { return c->energy.kinetic + c->energy.elastic + c->energy.weight; }

/* Not converged, or not with what was tried first: worth a word on every line it happens in. */
static const char *trouble(const drape_certificate *c) {
    if (c->linear.reason != DRAPE_CONVERGED) return drape_reason_name(c->linear.reason);
    return c->linear.fallbacks > 0 ? "fell back" : "";
}

static void print_bar(const progress *p, const frame_summary *f) {
    char bar[BAR_WIDTH + 1];
    int filled = (int)((int64_t)BAR_WIDTH * f->frame / p->frames);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[BAR_WIDTH] = 0;
    double passed = seconds_now() - p->begin, each = passed / (f->frame - p->before);
    printf("\r[%s] %d/%d  iterations %lld  energy %+.3e J  %.2f s a frame  %.0f s left  %s\033[K", bar, f->frame,
           p->frames, (long long)f->iterations, energy(f->last), f->seconds, each * (p->frames - f->frame),
           trouble(f->last));
}

static void print_line(const progress *p, const frame_summary *f) {
    printf("frame %4d/%d  t %8.4f s  iterations %6lld  energy %+.6e J  stretch %.4f  %7.3f s%s%s\n", f->frame,
           p->frames, f->last->time, (long long)f->iterations, energy(f->last), f->last->stretch, f->seconds,
           *trouble(f->last) ? "  " : "", trouble(f->last));
}

void progress_frame(const progress *p, const frame_summary *f) {
    if (p->quiet) return;
    if (p->terminal) print_bar(p, f);
    else print_line(p, f);
    fflush(stdout);
}

void progress_end(const progress *p) {
    if (!p->quiet && p->terminal && p->frames > 0) putchar('\n');
    fflush(stdout);
}
