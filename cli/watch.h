/* watch.h: files that are watched for being saved. */
#ifndef DRAPE_CLI_WATCH_H
#define DRAPE_CLI_WATCH_H

#include "cli.h"

/* What tells one version of a file from the next. */
typedef struct file_state {
    bool there;
    int64_t seconds, nanoseconds; /* when it was changed */
    int64_t size;
    uint64_t inode; /* another one where an editor renames a new file to the old name */
} file_state;

typedef struct watched_file {
    char *path;
    file_state noted; /* as the run read it */
    file_state seen;  /* at the last look */
} watched_file;

/* The scene file first. All zero: none. */
typedef struct file_watch {
    watched_file *file;
    int32_t count;
    bool saved;    /* one of them was, since they were noted */
    double looked; /* s: when */
} file_watch;

/* One more file, as it is now; one that is there already stays as it was noted. False: no memory. */
bool watch_add(file_watch *w, const char *path);
void watch_clear(file_watch *w);
/* All files as they are now. */
void watch_note(file_watch *w);
/* Whether one of them was saved since. Cheap: it looks at most some ten times per second. */
bool watch_saved(file_watch *w);
/* Waits until one of them was saved and all of them rest, half-written ones not; false where `stop` says so first. */
bool watch_wait(file_watch *w, bool (*stop)(void));

#endif
