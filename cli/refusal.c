/* refusal.c: why drape_sim_create refuses a scene that could be read: the first error that the doctor finds, which
 * has the place in the scene file and what to do. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 2000 };

/* "towel.yaml:6:15: what is wrong; what to do", and the line of the file below it. */
static void keep_first_error(void *user, const drape_finding *f) {
    char *text = user, place[32] = "";
    if (*text || f->severity != DRAPE_SEVERITY_ERROR) return;
    if (f->line > 0 && f->column > 0) snprintf(place, sizeof place, "%d:%d:", f->line, f->column);
    else if (f->line > 0) snprintf(place, sizeof place, "%d:", f->line);
    snprintf(text, LONGEST, "%s%s%s%s%s%s%s%s%s", f->file ? f->file : "", f->file ? ":" : "", place,
             f->file ? " " : "", f->message, f->advice ? "; " : "", f->advice ? f->advice : "",
             f->source ? "\n    " : "", f->source ? f->source : "");
}

void complain_of_refusal(drape_context *ctx, const scene_arguments *scene) {
    char text[LONGEST] = "";
    const drape_check_options how = {.scene = scene_options(scene),
                                     .examples = 1,
                                     .direct = direct_solver(),
                                     .finding = keep_first_error,
                                     .user = text};
    char *refused = strdup(drape_message(ctx)); /* the check has messages of its own */
    if (strcmp(scene->name, "-") != 0) drape_check(ctx, scene->name, &how, NULL);
    complain("%s", *text ? text : refused && *refused ? refused : "out of memory");
    free(refused);
}
