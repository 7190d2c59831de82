/* render_output.c: pictures and films. The library writes .gif and .png. The program ffmpeg writes .mp4: it gets the
 * frames through a pipe, and writes under a temporary name that is changed at the end. */
#include "render.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const ENDINGS[OUTPUT_KINDS] = {".png", ".gif", ".mp4"};

/* The name without its ending, and a number: NAME_0012.png; to be freed. */
static char *numbered(const picture_output *o, int64_t number) {
    size_t stem = strlen(o->path) - strlen(ENDINGS[o->kind]), room = stem + 32;
    char *name = malloc(room);
    if (name) snprintf(name, room, "%.*s_%04lld%s", (int)stem, o->path, (long long)number, o->path + stem);
    return name;
}

static bool say_message(const picture_output *o) {
    complain("%s", drape_message(o->ctx));
    return false;
}

/* ---- Before there are pictures ---- */

static bool same_letters(const char *a, const char *b) { /* those of b are small */
    for (; *a && *b; a++, b++)
        if ((*a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a) != *b) return false;
    return *a == *b;
}

static bool find_kind(picture_output *o) {
    size_t length = strlen(o->path);
    for (int k = 0; k < OUTPUT_KINDS; k++) {
        size_t tail = strlen(ENDINGS[k]);
        if (length <= tail || !same_letters(o->path + length - tail, ENDINGS[k])) continue;
        o->kind = (output_kind)k;
        return true;
    }
    complain("%s: unknown extension; a picture is a .png, a film a .gif or .mp4", o->path);
    return false;
}

static bool is_program(const char *folder, size_t length, const char *name) {
    char path[4096];
    if (snprintf(path, sizeof path, "%.*s/%s", (int)length, length ? folder : ".", name) >= (int)sizeof path)
        return false;
    return access(path, X_OK) == 0;
}

static bool program_is_there(const char *name) {
    const char *folders = getenv("PATH");
    while (folders) {
        size_t length = strcspn(folders, ":");
        if (is_program(folders, length ? length : 1, name)) return true;
        folders = folders[length] ? folders + length + 1 : NULL;
    }
    return false;
}

static bool check_mp4(const picture_output *o) {
    if (o->width % 2 || o->height % 2) {
        complain("%s: an .mp4 needs an even number of pixels in both directions, not %d x %d", o->path, o->width,
                 o->height);
        return false;
    }
    if (program_is_there("ffmpeg")) return true;
    complain("%s: an .mp4 needs the program ffmpeg, which is not in PATH; install it (Debian: apt install ffmpeg), "
             "or make a .gif",
             o->path);
    return false;
}

bool output_check(picture_output *o) {
    if (!find_kind(o)) return false;
    if (o->series && o->kind != OUTPUT_PNG) o->series = false;
    if (o->kind == OUTPUT_MP4 && !check_mp4(o)) return false;
    char *name = o->series ? numbered(o, 0) : NULL;
    bool good = can_write(name ? name : o->path);
    free(name);
    return good;
}

/* ---- The other program ---- */

/* Both ends belong to this process alone; false with errno. */
static bool make_pipe(int ends[2]) {
    if (pipe(ends) != 0) return false;
    for (int k = 0; k < 2; k++) (void)fcntl(ends[k], F_SETFD, FD_CLOEXEC);
    return true;
}

enum { MOST_FFMPEG_WORDS = 48 };

/* Raw pixels in, H.264 out, in the colors that players expect. Splits `text`, which must live on. */
static void ffmpeg_words(const picture_output *o, char *text, size_t size, char *target, char **words) {
    int count = 0;
    char *rest = text;
    snprintf(text, size,
             "ffmpeg -nostdin -loglevel error -y -f rawvideo -pixel_format rgb24 -video_size %dx%d -framerate %.10g "
             "-i pipe:0 -an -c:v libx264 -crf 18 -vf scale=out_color_matrix=bt709 -pix_fmt yuv420p "
             "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -movflags +faststart -f mp4",
             o->width, o->height, o->fps);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words[count++] = word;
    words[count++] = target;
    words[count] = NULL;
}

/* Its standard input is `from`. Returns errno, or 0. */
static int start_ffmpeg(picture_output *o, int from, char *target) {
    char text[512], *words[MOST_FFMPEG_WORDS];
    ffmpeg_words(o, text, sizeof text, target, words);
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int why = posix_spawn_file_actions_init(&actions);
    if (why) return why;
    why = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    if (!why) why = posix_spawnp(&child, "ffmpeg", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    o->child = (long)child;
    return why;
}

static bool open_pipe(picture_output *o, char *target) {
    int ends[2], why = 0;
    if (!make_pipe(ends)) why = errno;
    if (!why) {
        o->pipe = fdopen(ends[1], "wb");
        why = o->pipe ? start_ffmpeg(o, ends[0], target) : errno;
        close(ends[0]);
        if (!o->pipe) close(ends[1]);
    }
    if (!why) return true;
    complain("%s: cannot start ffmpeg: %s", o->path, strerror(why));
    if (o->pipe) fclose(o->pipe);
    o->pipe = NULL;
    o->child = 0;
    return false;
}

static void drop_file(picture_output *o) {
    fclose(o->file.stream);
    unlink(o->file.temporary);
    free(o->file.temporary);
    o->file = (output_file){0};
}

static bool open_mp4(picture_output *o) {
    if (!output_begin(&o->file, o->path)) return false;
    size_t room = strlen(o->file.temporary) + 8;
    char *target = malloc(room);
    if (target) snprintf(target, room, "file:%s", o->file.temporary); /* whatever letters are in it */
    else complain("out of memory");
    bool good = target && open_pipe(o, target);
    free(target);
    if (!good) drop_file(o);
    return good;
}

/* Waits for it to end; whether all went well. */
static bool close_mp4(picture_output *o, bool keep) {
    int status = 0;
    bool sent = fclose(o->pipe) == 0;
    if (!keep) kill((pid_t)o->child, SIGTERM);
    while (waitpid((pid_t)o->child, &status, 0) < 0 && errno == EINTR) continue;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && sent;
    o->pipe = NULL;
    o->child = 0;
    if (keep && good) {
        bool placed = output_end(&o->file);
        o->file = (output_file){0};
        o->files += placed;
        return placed;
    }
    drop_file(o);
    if (keep)
        complain("%s: ffmpeg failed, its exit code is %d", o->path, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return !keep;
}

/* ---- Pictures ---- */

bool output_open(picture_output *o) {
    if (o->kind == OUTPUT_MP4) return open_mp4(o);
    if (o->kind == OUTPUT_PNG) return true;
    return drape_gif_open(o->ctx, o->path, o->width, o->height, o->fps, &o->gif) ? say_message(o) : true;
}

bool output_sample(picture_output *o, const uint8_t *rgb) {
    return o->gif && drape_gif_sample(o->gif, rgb) ? say_message(o) : true;
}

static bool write_png(picture_output *o, int64_t number, const uint8_t *rgb) {
    char *name = o->series ? numbered(o, number) : NULL;
    drape_status status = drape_png_write(o->ctx, name ? name : o->path, o->width, o->height, rgb);
    free(name);
    o->files += !status;
    return status ? say_message(o) : true;
}

bool output_frame(picture_output *o, int64_t number, const uint8_t *rgb) {
    size_t bytes = 3 * (size_t)o->width * (size_t)o->height;
    if (o->kind == OUTPUT_PNG) return write_png(o, number, rgb);
    if (o->kind == OUTPUT_GIF) return drape_gif_frame(o->gif, rgb) ? say_message(o) : true;
    if (fwrite(rgb, 1, bytes, o->pipe) == bytes) return true;
    complain("%s: ffmpeg takes no more frames: %s", o->path, strerror(errno));
    return false;
}

bool output_close(picture_output *o, bool keep) {
    bool good = true;
    if (o->child) return close_mp4(o, keep);
    if (!o->gif) return true;
    if (keep && drape_gif_finish(o->gif)) good = say_message(o);
    o->files += keep && good;
    drape_gif_destroy(o->gif);
    o->gif = NULL;
    return good;
}
