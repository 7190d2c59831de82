/* faults_files.c: streams whose every read and write passes by here (fopencookie), and the calls around them. */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
int __real_fileno(FILE *stream);
int __real_rename(const char *from, const char *to);
int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);

int __wrap_open(const char *path, int flags, ...);
FILE *__wrap_fdopen(int descriptor, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_fileno(FILE *stream);
int __wrap_fsync(int descriptor);
int __wrap_rename(const char *from, const char *to);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);

fault_plan fault_files = {.left = -1};

enum { MOST_STREAMS = 64 };
static struct open_stream {
    FILE *stream;
    int descriptor;
} streams[MOST_STREAMS];

static bool refused(void) {
    static bool full;
    if (!fault_due(&fault_files)) return false;
    full = !full;
    errno = full ? ENOSPC : EIO;
    return true;
}

static ssize_t read_bytes(void *cookie, char *data, size_t bytes) {
    const struct open_stream *s = cookie;
    return refused() ? -1 : read(s->descriptor, data, bytes);
}

static ssize_t write_bytes(void *cookie, const char *data, size_t bytes) {
    const struct open_stream *s = cookie;
    bool bad = refused();
    int why = errno;
    ssize_t done = write(s->descriptor, data, bad ? bytes / 2 : bytes);
    errno = why;
    return bad ? 0 : done; /* 0 is how such a stream says that a write failed */
}

static int seek_bytes(void *cookie, off64_t *at, int from) {
    const struct open_stream *s = cookie;
    off64_t now = refused() ? -1 : lseek64(s->descriptor, *at, from);
    if (now < 0) return -1;
    *at = now;
    return 0;
}

/* As close(2) does, it closes also where it fails. */
static int close_stream(void *cookie) {
    struct open_stream *s = cookie;
    bool bad = refused();
    int why = errno, failed = close(s->descriptor);
    *s = (struct open_stream){0};
    if (bad) errno = why;
    return bad || failed ? EOF : 0;
}

static FILE *stream_on(int descriptor, const char *mode) {
    static const cookie_io_functions_t functions = {read_bytes, write_bytes, seek_bytes, close_stream};
    for (int i = 0; i < MOST_STREAMS; i++) {
        if (streams[i].stream) continue;
        FILE *stream = fopencookie(&streams[i], mode, functions);
        if (stream) streams[i] = (struct open_stream){stream, descriptor};
        return stream;
    }
    abort();
}

int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return refused() ? -1 : __real_open(path, flags, mode);
}

FILE *__wrap_fdopen(int descriptor, const char *mode) { return refused() ? NULL : stream_on(descriptor, mode); }

/* Files are written by way of fdopen only. */
FILE *__wrap_fopen(const char *path, const char *mode) {
    if (mode[0] != 'r' || strchr(mode, '+')) abort();
    int descriptor = __wrap_open(path, O_RDONLY | O_CLOEXEC);
    FILE *stream = descriptor < 0 ? NULL : stream_on(descriptor, mode);
    if (!stream && descriptor >= 0) close(descriptor);
    return stream;
}

int __wrap_fileno(FILE *stream) {
    for (int i = 0; i < MOST_STREAMS; i++)
        if (streams[i].stream == stream) return streams[i].descriptor;
    return __real_fileno(stream);
}

/* Only asks whether it is to fail: nobody pulls the plug, and a thousand runs would wait for the disk. */
int __wrap_fsync(int descriptor) {
    (void)descriptor;
    return refused() ? -1 : 0;
}

int __wrap_rename(const char *from, const char *to) { return refused() ? -1 : __real_rename(from, to); }

int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return refused() ? -1 : __real_linkat(from_folder, from, to_folder, to, flags);
}
