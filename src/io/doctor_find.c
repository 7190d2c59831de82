/* doctor_find.c: how findings are counted and told. */
#include "io/doctor.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 1000, EXAMPLES = 5 };

static int64_t examples(const drape_i_doctor *d) {
    return d->options->examples > 0 ? d->options->examples : EXAMPLES;
}

static void tell(const drape_i_doctor *d, const drape_i_ailment *ailment, const drape_i_about *about, int64_t count,
                 const char *message) {
    drape_finding f = d->place;
    if (!d->options->finding) return;
    f.severity = ailment->severity;
    f.code = ailment->code;
    f.advice = ailment->advice;
    f.message = message;
    f.count = count;
    if (about) {
        f.vertex_count = about->vertices, f.vertex = about->vertex;
        f.triangle_count = about->triangles, f.triangle = about->triangle;
    }
    d->options->finding(d->options->user, &f);
}

/* Texts of files may hold anything; a message is one line. */
static void flatten(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ') *text = ' ';
}

void drape_i_found(drape_i_doctor *d, drape_i_ailment *ailment, const drape_i_about *about, const char *format, ...) {
    char message[MESSAGE_SIZE];
    int head = 0;
    va_list arguments;
    ++*(ailment->severity == DRAPE_SEVERITY_ERROR ? &d->summary->errors : &d->summary->warnings);
    if (++ailment->seen > examples(d)) return;
    if (d->mesh) head = snprintf(message, sizeof message, "%s: ", d->mesh);
    if (head >= MESSAGE_SIZE) head = MESSAGE_SIZE - 1;
    va_start(arguments, format);
    vsnprintf(message + head, sizeof message - (size_t)head, format, arguments);
    va_end(arguments);
    flatten(message);
    tell(d, ailment, about, 1, message);
}

void drape_i_found_all(drape_i_doctor *d, const drape_i_ailment *ailment) {
    char message[MESSAGE_SIZE];
    int64_t more = ailment->seen - examples(d);
    if (more <= 0) return;
    snprintf(message, sizeof message, "%s%s%lld more of this kind, %lld in all", d->mesh ? d->mesh : "",
             d->mesh ? ": " : "", (long long)more, (long long)ailment->seen);
    flatten(message);
    tell(d, ailment, NULL, more, message);
}
