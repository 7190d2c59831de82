/* save.c: what an integrator remembers, as bytes: the state with its past, slopes, the control of the step length,
 * the rate and the guess of Newton's iteration, and the counts.
 *
 *   saved_head
 *   double past_step[room], past[count][length], slope[length] where it is known
 *
 * Little-endian, as it lies in memory. It does not contain the matrix of DRAPE_ODE_SIMPLIFIED, nor the slope that
 * dense output keeps while BDF begins. Both saving and restoring drop them, so that both continue alike. Everything
 * else is recomputed in every step. */
#include "ode/ode.h"

#include <math.h>
#include <string.h>

enum { NAME = 32 };

typedef struct saved_head {
    char method[NAME]; /* filled up with zeros */
    int64_t length;
    int32_t room, count, slope_known, equal;
    int32_t guess_kept, guess_state;
    double t, rate, proposal, error;
    drape_ode_counts counts;
} saved_head;
_Static_assert(sizeof(saved_head) % sizeof(double) == 0,
               "what follows the head is aligned, and the head has no gaps");

int64_t drape_ode_save_size(const drape_ode *ode) {
    if (!ode) return 0;
    int64_t numbers = ode->past_room + (ode->past_room + 1) * ode->length;
    return (int64_t)sizeof(saved_head) + numbers * (int64_t)sizeof(double);
}

int64_t drape_ode_save_head(const drape_ode *ode) {
    return ode ? (int64_t)sizeof(saved_head) + ode->past_room * (int64_t)sizeof(double) : 0;
}

/* Of a system that is spread the parts may be others when it is restored. */
static int64_t saved_length(const drape_ode *ode) { return ode->system.spread ? 0 : ode->length; }

static void name_method(const drape_ode *ode, char name[NAME]) {
    memset(name, 0, NAME);
    for (int32_t i = 0; i + 1 < NAME && ode->method.name[i]; i++) name[i] = ode->method.name[i];
}

static char *put(char *to, const double *from, int64_t count) {
    memcpy(to, from, (size_t)count * sizeof *from);
    return to + count * (int64_t)sizeof *from;
}

/* Whether the slope is saved. tr-bdf2 tells what a step ended with from an evaluation, which dense output may have
 * asked for, and which must change no bit. */
static bool keeps(const drape_ode *ode) {
    bool tells = ode->method.implicit && ode->method.keeps_slope;
    return ode->slope_known && (ode->slope_continues || !tells);
}

void drape_ode_save(drape_ode *ode, void *out) {
    if (!ode || !out) return;
    saved_head head = {.length = saved_length(ode),
                       .room = ode->past_room,
                       .count = ode->past_count,
                       .slope_known = keeps(ode),
                       .equal = ode->control.equal,
                       .guess_kept = ode->newton.guess_kept,
                       .guess_state = ode->newton.guess_state,
                       .t = ode->t,
                       .rate = ode->newton.rate,
                       .proposal = ode->control.proposal,
                       .error = ode->control.error,
                       .counts = ode->counts};
    name_method(ode, head.method);
    memset(out, 0, (size_t)drape_ode_save_size(ode)); /* also what is not known yet has a value */
    memcpy(out, &head, sizeof head);
    char *to = put((char *)out + sizeof head, ode->past_step, ode->past_room);
    for (int32_t j = 0; j < ode->past_count; j++) to = put(to, ode->past[j], ode->length);
    if (keeps(ode)) put(to, ode->slope, ode->length);
    ode->newton.made_c = 0;
    ode->span.old_slope_known = false;
}

/* ---- Restoring ---- */

static drape_status bad(drape_ode *ode, const char *what) {
    return drape_i_fail(ode->ctx, DRAPE_ERROR_FORMAT, "ode: the saved state %s", what);
}

static bool sound_numbers(const saved_head *h) {
    return isfinite(h->t) && h->rate >= 0 && isfinite(h->rate) && h->proposal >= 0 && isfinite(h->proposal) &&
           h->error >= 0 && isfinite(h->error) && h->equal >= 0 && (h->guess_state == 0 || h->guess_state == 1);
}

static drape_status check(drape_ode *ode, const saved_head *h, int64_t bytes) {
    char own[NAME];
    name_method(ode, own);
    if (bytes != drape_ode_save_size(ode)) return bad(ode, "is of another size");
    if (memcmp(h->method, own, NAME) != 0) return bad(ode, "is of another method");
    if (h->length != saved_length(ode) || h->room != ode->past_room) return bad(ode, "is of another system");
    if (h->count < 0 || h->count > h->room || (h->slope_known != 0 && h->slope_known != 1) || !sound_numbers(h))
        return bad(ode, "is damaged");
    return DRAPE_OK;
}

/* Steps must be positive, states finite. */
static bool sound_past(const drape_ode *ode, const saved_head *h, const char *data) {
    int64_t states = (int64_t)h->room + (h->count + h->slope_known) * ode->length;
    double value;
    for (int64_t i = 0; i < states; i++) {
        memcpy(&value, data + i * (int64_t)sizeof value, sizeof value);
        if (!isfinite(value) || (i + 1 < h->count && !(value > 0))) return false;
    }
    return true;
}

static const char *get(const char *from, double *to, int64_t count) {
    memcpy(to, from, (size_t)count * sizeof *to);
    return from + count * (int64_t)sizeof *to;
}

drape_status drape_ode_restore(drape_ode *ode, const void *data, int64_t bytes) {
    saved_head head;
    if (!ode || !data) return DRAPE_ERROR_ARGUMENT;
    const char *from = (const char *)data + sizeof head;
    if (bytes < (int64_t)sizeof head) return bad(ode, "is of another size");
    memcpy(&head, data, sizeof head);
    drape_status status = check(ode, &head, bytes);
    if (!status && !sound_past(ode, &head, from)) status = bad(ode, "is damaged");
    if (status) return status;
    from = get(from, ode->past_step, head.room);
    for (int32_t j = 0; j < head.count; j++) from = get(from, ode->past[j], ode->length);
    if (head.slope_known) get(from, ode->slope, ode->length);
    ode->slope_continues = head.slope_known != 0;
    ode->t = head.t;
    ode->past_count = head.count;
    ode->slope_known = head.slope_known == 1;
    ode->newton.made_c = 0;
    ode->newton.rate = head.rate;
    ode->newton.guess_kept = head.guess_kept;
    ode->newton.guess_state = head.guess_state == 1;
    ode->control = (drape_i_ode_control_memory){.proposal = head.proposal, .error = head.error, .equal = head.equal};
    ode->counts = head.counts;
    ode->span.known = ode->span.old_slope_known = false;
    ode->text[0] = 0;
    return DRAPE_OK;
}
