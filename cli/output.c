/* output.c: what commands write. Files are complete or absent: they are written under a temporary name in the same
 * folder and then renamed. Progress is a bar on a terminal, and a line per frame in a pipe. Texts may contain any
 * bytes. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Files ---- */

enum { SUFFIX = 48 }; /* ".part-", a number, and the end */

/* Why a file of this name cannot be made, or NULL. Renaming over a device would take it away. */
static const char *obstacle(const char *path, const char *folder) {
    struct stat info;
    if (access(folder, W_OK | X_OK) != 0) return strerror(errno);
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) return NULL;
    return S_ISDIR(info.st_mode) ? strerror(EISDIR) : "it exists and is not a regular file";
}

bool can_write(const char *path) {
    if (!path) return true;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
    const char *why = folder ? obstacle(path, folder) : strerror(errno);
    if (why) complain("%s: cannot write: %s", path, why);
    free(folder);
    return !why;
}

/* Not mkstemp: its files have mode 600, whatever the umask. */
static FILE *open_temporary(char *temporary, const char *path) {
    snprintf(temporary, strlen(path) + SUFFIX, "%s.part-%ld", path, (long)getpid());
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (descriptor >= 0 && !stream) {
        close(descriptor);
        unlink(temporary);
    }
    return stream;
}

bool output_begin(output_file *file, const char *path) {
    *file = (output_file){.path = path, .temporary = malloc(strlen(path) + SUFFIX)};
    if (file->temporary) file->stream = open_temporary(file->temporary, path);
    if (file->stream) return true;
    complain("%s: cannot write: %s", path, strerror(errno));
    free(file->temporary);
    return false;
}

bool output_end(output_file *file) {
    bool failed = ferror(file->stream) != 0;
    if (failed) clearerr(file->stream); /* it does not know why; what waits in it, or one more byte, fails alike */
    bool good = fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    if (good && failed) {
        errno = EIO;
        good = false;
        (void)!write(fileno(file->stream), "", 1);
    }
    int why = errno;
    if (fclose(file->stream) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && rename(file->temporary, file->path) != 0) {
        good = false;
        why = errno;
    }
    if (!good) {
        complain("%s: cannot write: %s", file->path, strerror(why));
        unlink(file->temporary);
    }
    free(file->temporary);
    return good;
}

void output_drop(output_file *file) {
    fclose(file->stream);
    unlink(file->temporary);
    free(file->temporary);
}

/* ---- Progress ---- */

enum { BAR_WIDTH = 24, CONTACTS = 96 };

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

/* What touches at the end of the frame, and how often its steps were cut; empty if there is none of either. */
static const char *contacts(const frame_summary *f, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    if (f->last->contact.count > 0) used = (size_t)snprintf(out, size, "  contacts %d", f->last->contact.count);
    if (f->last->contact.pinched > 0)
        used += (size_t)snprintf(out + used, size - used, "  pinched %lld", (long long)f->last->contact.pinched);
    if (f->cuts > 0) snprintf(out + used, size - used, "  cuts %lld", (long long)f->cuts);
    return out;
}

static void print_bar(const progress *p, const frame_summary *f) {
    char bar[BAR_WIDTH + 1], touching[CONTACTS];
    int filled = (int)((int64_t)BAR_WIDTH * f->frame / p->frames);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[BAR_WIDTH] = 0;
    double passed = seconds_now() - p->begin, each = passed / (f->frame - p->before);
    printf("\r[%s] %d/%d  iterations %lld  energy %+.3e J  %.2f s per frame  %.0f s left%s  %s\033[K", bar, f->frame,
           p->frames, (long long)f->iterations, energy(f->last), f->seconds, each * (p->frames - f->frame),
           contacts(f, touching, sizeof touching), trouble(f->last));
}

static void print_line(const progress *p, const frame_summary *f) {
    char touching[CONTACTS];
    printf("frame %4d/%d  t %8.4f s  iterations %6lld  energy %+.6e J  stretch %.4f  %7.3f s%s%s%s\n", f->frame,
           p->frames, f->last->time, (long long)f->iterations, energy(f->last), f->last->stretch, f->seconds,
           contacts(f, touching, sizeof touching), *trouble(f->last) ? "  " : "", trouble(f->last));
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

/* Energy lost to impacts and friction is not separated from that lost to steps, and moving colliders may hide both.
 */
static void print_share(const drape_verdict *v) {
    double percent = 100 * fabs(v->share);
    if (v->touched && v->share >= 0) printf("; time steps and contact took %.2g %% of the energy", percent);
    if (!v->touched)
        printf("; time steps %s %.2g %% of the energy", v->share < 0 ? "added" : "took",
               percent < 0.01 ? 0 : percent);
}

void print_verdict(const drape_verdict *v, int32_t frames, double seconds) {
    if (v->steps == 0) return;
    printf("largest stretch %.4g at %.4g s", v->stretch, v->stretch_time);
    print_share(v);
    if (v->unconverged == 0) printf("; all steps converged");
    else printf("; %lld of %lld steps did not converge", (long long)v->unconverged, (long long)v->steps);
    if (frames > 0) printf("; %.3g s per frame", seconds / frames);
    putchar('\n');
}

/* ---- Text for a terminal, and of JSON ----
 *
 * Names in scenes and of files may hold anything, also what makes a terminal do something. */

/* Bytes of the character that begins here, its number in *code; 0 where it is no UTF-8. Long ways to write short ones
 * pass: their reader decides. */
static size_t character(const unsigned char *c, uint32_t *code) {
    size_t size = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    *code = size == 1 ? c[0] : c[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (c[i] & 0x3f);
    }
    return size;
}

/* Control characters, and those that turn the direction of text around. */
static bool is_command(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void print_text(FILE *to, const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        uint32_t code;
        size_t size = character(c, &code);
        if (size && (!is_command(code) || code == '\n')) fwrite(c, 1, size, to);
        else if (size && code > 0xff) fprintf(to, "\\u%04x", code);
        else fprintf(to, "\\x%02x", size ? code : *c);
        c += size ? size : 1;
    }
}

/* As printf, then print_text; what is longer is cut. */
static void print_clean(FILE *to, const char *format, va_list arguments) {
    static char text[1 << 15];
    vsnprintf(text, sizeof text, format, arguments);
    print_text(to, text);
}

void tell(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_clean(stdout, format, arguments);
    va_end(arguments);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("drape: ", stderr);
    print_clean(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void print_json_text(const char *text) {
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        uint32_t code;
        size_t size = character(c, &code);
        if (*c == '"' || *c == '\\') printf("\\%c", *c);
        else if (size && is_command(code)) printf("\\u%04x", code);
        else if (size) fwrite(c, 1, size, stdout);
        else putchar('?');
        c += size ? size : 1;
    }
    putchar('"');
}

void print_json_number(double number) {
    if (isfinite(number)) printf("%.17g", number);
    else printf("null");
}
