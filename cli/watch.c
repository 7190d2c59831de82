/* watch.c: drape run --watch: the files that a run reads, and whether one of them was saved. A file was saved if its
 * time, size or place on the disk differs from when the run began to read it. This is checked every now and then,
 * which works on every file system. */
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PAUSE_MS = 100 }; /* between two looks */

static file_state look_at(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return (file_state){0};
    return (file_state){.there = true,
                        .seconds = (int64_t)info.st_mtim.tv_sec,
                        .nanoseconds = (int64_t)info.st_mtim.tv_nsec,
                        .size = (int64_t)info.st_size,
                        .inode = (uint64_t)info.st_ino};
}

static bool same_state(const file_state *a, const file_state *b) {
    return a->there == b->there && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
           a->size == b->size && a->inode == b->inode;
}

bool watch_add(file_watch *w, const char *path) {
    for (int32_t i = 0; i < w->count; i++)
        if (strcmp(w->file[i].path, path) == 0) return true;
    watched_file *longer = realloc(w->file, (size_t)(w->count + 1) * sizeof *longer);
    if (!longer) return false;
    w->file = longer;
    char *copy = strdup(path);
    if (!copy) return false;
    file_state now = look_at(path);
    w->file[w->count++] = (watched_file){.path = copy, .noted = now, .seen = now};
    return true;
}

void watch_clear(file_watch *w) {
    for (int32_t i = 0; i < w->count; i++) free(w->file[i].path);
    free(w->file);
    *w = (file_watch){0};
}

void watch_note(file_watch *w) {
    for (int32_t i = 0; i < w->count; i++) w->file[i].noted = w->file[i].seen = look_at(w->file[i].path);
    w->saved = false;
}

bool watch_saved(file_watch *w) {
    double now = seconds_now();
    if (w->saved || (now - w->looked) * 1000 < PAUSE_MS) return w->saved;
    w->looked = now;
    for (int32_t i = 0; i < w->count && !w->saved; i++) {
        file_state state = look_at(w->file[i].path);
        w->saved = !same_state(&state, &w->file[i].noted);
    }
    return w->saved;
}

/* Whether a file differs from when it was noted, and none has changed since the last look. A file that is still being
 * written is not ready, nor is a scene that an editor is about to replace. */
static bool is_ready(file_watch *w) {
    bool saved = w->saved, quiet = true;
    for (int32_t i = 0; i < w->count; i++) {
        file_state state = look_at(w->file[i].path);
        saved = saved || !same_state(&state, &w->file[i].noted);
        quiet = quiet && same_state(&state, &w->file[i].seen);
        w->file[i].seen = state;
    }
    return saved && quiet && w->file[0].seen.there;
}

bool watch_wait(file_watch *w, bool (*stop)(void)) {
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    while (!stop()) {
        if (is_ready(w)) return true;
        nanosleep(&pause, NULL); /* a signal ends it */
    }
    return false;
}
