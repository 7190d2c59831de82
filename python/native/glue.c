/* glue.c: callbacks that run without Python for most of their calls. Taking Python's lock in every iteration of a
 * small solve, or for every vertex of a pin, would cost more than the work itself. */
#include <math.h>
#include <time.h>

typedef struct drape_py_watch {
    void *user;
    bool every, stopped;
    int64_t next;
} drape_py_watch;

typedef struct drape_py_motion {
    void *user;
    int32_t count;
    const int32_t *vertex;
    double *moved;
    double time[4];
    bool known[4];
    int32_t next;
} drape_py_motion;

static bool drape_py_ask(void *user, const drape_progress *p);
static bool drape_py_move(void *user, double time, double *moved);

enum { BETWEEN_QUESTIONS = 20000000 }; /* ns */

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool drape_py_progress(void *user, const drape_progress *p) {
    drape_py_watch *watch = user;
    if (watch->stopped) return false;
    if (!watch->every) {
        const int64_t time = now();
        if (time < watch->next) return true;
        watch->next = time + BETWEEN_QUESTIONS;
    }
    watch->stopped = !drape_py_ask(watch->user, p);
    return !watch->stopped;
}

/* The slot with the displacements at a time; -1: Python had none to give. */
static int slot_of(drape_py_motion *m, double time) {
    for (int k = 0; k < 4; k++)
        if (m->known[k] && m->time[k] == time) return k;
    const int k = m->next;
    m->next = (k + 1) % 4;
    m->time[k] = time;
    m->known[k] = drape_py_move(m->user, time, m->moved + (int64_t)3 * m->count * k);
    return m->known[k] ? k : -1;
}

static int32_t place_of(const drape_py_motion *m, int32_t vertex) {
    int32_t low = 0, high = m->count - 1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (m->vertex[middle] < vertex) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void drape_py_displacement(void *user, int32_t vertex, double time, const double *start,
                                  double *displacement) {
    drape_py_motion *m = user;
    const int slot = slot_of(m, time);
    (void)start; /* Python knows where its vertices start */
    for (int c = 0; c < 3; c++)
        displacement[c] = slot < 0 ? NAN : m->moved[3 * ((int64_t)m->count * slot + place_of(m, vertex)) + c];
}
