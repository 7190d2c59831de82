/* reader.c: sequences of frames that were written before, in any format that can be read: one mesh file per frame, a
 * point cache, or the log of an interrupted run. */
#include "io/reader.h"
#include "base/arena.h"
#include "base/text.h"
#include "drape/io.h"
#include "io/journal.h"
#include "io/mesh.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct kind_of_file kind_of_file;

/* One file of a sequence. */
typedef struct frame_file {
    int64_t number;
    const char *path;
} frame_file;

struct drape_reader {
    drape_context *ctx;
    const kind_of_file *kind;
    drape_i_arena memory; /* what lives as long as the reader */
    const char *path;
    drape_reader_info info;
    frame_file *files; /* of a sequence; NULL: it is another kind */
    double *first;     /* positions of its first frame, which was read for the triangles */
    drape_cache *cache;
    drape_i_frame_log *log;
    const drape_i_reader_gate *gate; /* while it is opened; or NULL */
};

struct kind_of_file {
    const char *ending;
    drape_status (*open)(drape_reader *r); /* fills in what `info` is to hold */
    drape_status (*frame)(drape_reader *r, int32_t frame, double *x);
};

static void *get(drape_reader *r, int64_t count, size_t size) {
    return drape_i_arena_get(r->ctx, &r->memory, count, size);
}

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

static drape_status pass_gate(const drape_reader *r, const char *path) {
    if (!r->gate || r->gate->allows(r->gate->user, path)) return DRAPE_OK;
    return drape_i_fail(r->ctx, DRAPE_ERROR_ARGUMENT, "%s %s", path, r->gate->why_not);
}

/* ---- One mesh file per frame ---- */

/* The number of "sheet_0012.obj" for the stem "sheet" and ".obj"; -1: it is not one of them. */
static int64_t number_in(const char *name, const char *stem, size_t length, const char *ending) {
    if (strncmp(name, stem, length) != 0 || name[length] != '_') return -1;
    const char *digit = name + length + 1, *at = digit;
    int64_t number = 0;
    for (; drape_i_is_digit(*at) && at - digit < 18; at++) number = 10 * number + (*at - '0');
    return at > digit && strlen(at) == strlen(ending) && drape_i_ends_in(name, ending) ? number : -1;
}

/* The folder of a path, with its slash, and where the file's name begins. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static int by_number(const void *p, const void *q) {
    const frame_file *a = p, *b = q;
    return (a->number > b->number) - (a->number < b->number);
}

/* Fills r->files, or only counts them where that is NULL. */
static drape_status scan_folder(drape_reader *r, int64_t *count) {
    size_t folder = folder_length(r->path), ending = strlen(r->kind->ending), room = strlen(r->path) + 32;
    const char *stem = r->path + folder;
    char *name = get(r, (int64_t)folder + 1, 1);
    if (!name) return DRAPE_ERROR_MEMORY;
    memcpy(name, r->path, folder);
    DIR *open = opendir(folder ? name : ".");
    if (!open)
        return drape_i_fail(r->ctx, DRAPE_ERROR_IO, "%s: cannot look into its folder: %s", r->path, strerror(errno));
    drape_status status = DRAPE_OK;
    int64_t found = 0;
    for (struct dirent *entry = readdir(open); entry && !status; entry = readdir(open)) {
        int64_t number = number_in(entry->d_name, stem, strlen(stem) - ending, r->kind->ending);
        if (number < 0 || (r->files && found == *count)) continue;
        char *path = r->files ? get(r, (int64_t)room, 1) : NULL;
        if (r->files && !path) status = DRAPE_ERROR_MEMORY;
        else if (r->files) snprintf(path, room, "%.*s%s", (int)folder, r->path, entry->d_name);
        if (r->files && !status) r->files[found] = (frame_file){number, path};
        found++;
    }
    closedir(open);
    *count = found;
    return status;
}

/* No frame may be missing between two others: a check that passes is to mean all of them. */
static drape_status check_numbers(const drape_reader *r) {
    const frame_file *f = r->files;
    for (int32_t i = 1; i < r->info.frames; i++) {
        if (f[i].number == f[i - 1].number)
            return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s and %s have the same number", f[i - 1].path,
                                f[i].path);
        if (f[i].number - f[i - 1].number != f[1].number - f[0].number)
            return drape_i_fail(
                r->ctx, DRAPE_ERROR_FORMAT,
                "%s: frame %lld is followed by %lld, but the first frames are numbered %lld and %lld; "
                "add the missing file, or renumber the files",
                r->path, (long long)f[i - 1].number, (long long)f[i].number, (long long)f[0].number,
                (long long)f[1].number);
    }
    return DRAPE_OK;
}

static drape_status find_files(drape_reader *r) {
    int64_t count = 0;
    bool alone = is_there(r->path);
    drape_status status = scan_folder(r, &count);
    if (status) return status;
    if (alone && count > 0)
        return drape_i_fail(r->ctx, DRAPE_ERROR_ARGUMENT,
                            "%s: this file and a sequence of %lld numbered files both exist; rename one of them",
                            r->path, (long long)count);
    if (!alone && count == 0) {
        size_t stem = strlen(r->path) - strlen(r->kind->ending);
        return drape_i_fail(r->ctx, DRAPE_ERROR_IO, "%s: neither this file nor a sequence %.*s_0000%s, ... exists",
                            r->path, (int)stem, r->path, r->kind->ending);
    }
    if (count > INT32_MAX) return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s: too many files", r->path);
    r->files = get(r, alone ? 1 : count, sizeof *r->files);
    if (!r->files) return DRAPE_ERROR_MEMORY;
    if (alone) r->files[0] = (frame_file){0, r->path};
    else status = scan_folder(r, &count);
    r->info.frames = alone ? 1 : (int32_t)count;
    if (!status && !alone) {
        qsort(r->files, (size_t)count, sizeof *r->files, by_number);
        status = check_numbers(r);
    }
    for (int32_t i = 0; i < r->info.frames && !status; i++) status = pass_gate(r, r->files[i].path);
    return status;
}

static drape_status open_meshes(drape_reader *r) {
    drape_i_mesh mesh;
    drape_status status = find_files(r);
    if (!status) status = drape_i_mesh_read(r->ctx, &r->memory, r->files[0].path, NULL, &mesh);
    if (status) return status;
    r->first = mesh.position;
    r->info.vertices = mesh.vertices;
    r->info.triangles = mesh.triangles;
    r->info.triangle = mesh.triangle[0];
    return DRAPE_OK;
}

static drape_status compare_mesh(const drape_reader *r, const char *path, const drape_i_mesh *mesh) {
    if (mesh->vertices != r->info.vertices || mesh->triangles != r->info.triangles)
        return drape_i_fail(
            r->ctx, DRAPE_ERROR_FORMAT,
            "%s has %d vertices and %d triangles, but %s has %d and %d; all frames must have the same mesh", path,
            mesh->vertices, mesh->triangles, r->files[0].path, r->info.vertices, r->info.triangles);
    for (int32_t t = 0; t < mesh->triangles; t++)
        if (memcmp(mesh->triangle[t], r->info.triangle + 3 * (int64_t)t, sizeof *mesh->triangle) != 0)
            return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT,
                                "%s: triangle %d differs from that of %s; all frames must have the same mesh "
                                "(polygons are divided by their shape in each frame: export triangles)",
                                path, t, r->files[0].path);
    return DRAPE_OK;
}

static drape_status read_mesh(drape_reader *r, int32_t frame, double *x) {
    drape_i_arena scratch = {0};
    drape_i_mesh mesh = {.position = r->first};
    drape_status status = DRAPE_OK;
    if (frame > 0) {
        const char *path = r->files[frame].path;
        status = drape_i_mesh_read(r->ctx, &scratch, path, NULL, &mesh);
        if (!status) status = compare_mesh(r, path, &mesh);
    }
    if (!status) memcpy(x, mesh.position, 3 * (size_t)r->info.vertices * sizeof *x);
    drape_i_arena_free(r->ctx, &scratch);
    return status;
}

/* ---- Positions only ---- */

/* 0 where it has no times, or such that do not go on. */
static double rate_of(const drape_cache *cache) {
    const drape_cache_info *info = drape_cache_describe(cache);
    if (!info->has_times || info->frames < 2) return 0;
    double seconds = drape_cache_time(cache, info->frames - 1) - drape_cache_time(cache, 0);
    double fps = (info->frames - 1) / seconds;
    return seconds > 0 && isfinite(fps) ? fps : 0;
}

static drape_status open_cache(drape_reader *r) {
    drape_status status = pass_gate(r, r->path);
    if (!status) status = drape_cache_open(r->ctx, r->path, &r->cache);
    if (status) return status;
    r->info.vertices = drape_cache_describe(r->cache)->vertices;
    r->info.frames = drape_cache_describe(r->cache)->frames;
    r->info.fps = rate_of(r->cache);
    return DRAPE_OK;
}

static drape_status read_cache(drape_reader *r, int32_t frame, double *x) {
    return drape_cache_frame(r->cache, frame, x);
}

static drape_status open_log(drape_reader *r) {
    drape_status status = pass_gate(r, r->path);
    if (!status) status = drape_i_frame_log_open(r->ctx, r->path, &r->log);
    if (status) return status;
    r->info.vertices = drape_i_frame_log_vertices(r->log);
    r->info.frames = drape_i_frame_log_frames(r->log);
    return DRAPE_OK;
}

static drape_status read_log(drape_reader *r, int32_t frame, double *x) {
    return drape_i_frame_log_frame(r->log, frame, x);
}

/* The triangles of a mesh file, for the frames of another. */
static drape_status take_triangles(drape_reader *r, const char *path) {
    drape_i_mesh mesh;
    drape_status status = pass_gate(r, path);
    if (!status) status = drape_i_mesh_read(r->ctx, &r->memory, path, NULL, &mesh);
    if (status) return status;
    if (mesh.vertices != r->info.vertices)
        return drape_i_fail(r->ctx, DRAPE_ERROR_FORMAT, "%s has %d vertices, but %s has %d; it is another mesh",
                            r->path, r->info.vertices, path, mesh.vertices);
    r->info.triangles = mesh.triangles;
    r->info.triangle = mesh.triangle[0];
    return DRAPE_OK;
}

/* sheet.pc2 -> sheet_rest.obj, which drape writes beside it. */
static drape_status find_triangles(drape_reader *r, const char *mesh) {
    if (mesh) return take_triangles(r, mesh);
    if (!r->cache) return DRAPE_OK;
    int64_t room = (int64_t)strlen(r->path) + 16;
    char *rest = get(r, room, 1);
    if (!rest) return DRAPE_ERROR_MEMORY;
    snprintf(rest, (size_t)room, "%.*s_rest.obj", (int)(strlen(r->path) - strlen(r->kind->ending)), r->path);
    return is_there(rest) ? take_triangles(r, rest) : DRAPE_OK;
}

/* ---- All kinds ---- */

static const kind_of_file kinds[] = {
    {".obj", open_meshes, read_mesh}, {".ply", open_meshes, read_mesh},     {".pc2", open_cache, read_cache},
    {".mdd", open_cache, read_cache}, {".ckpt.frames", open_log, read_log},
};

static const kind_of_file *kind_of(const char *path) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (drape_i_ends_in(path, kinds[i].ending)) return kinds + i;
    return NULL;
}

static drape_status refuse(drape_context *ctx, const char *path) {
    static const char can[] = ".obj, .ply, .pc2, .mdd and .ckpt.frames can be read";
    if (drape_writer_knows(path))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "%s: frames of this format can be written but not read; %s: let the run write one of these too", path,
            can);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: not a known format for frames; %s", path, can);
}

static drape_status open_reader(drape_reader *r, const char *path, const char *mesh) {
    char *copy = get(r, (int64_t)strlen(path) + 1, 1);
    if (!copy) return DRAPE_ERROR_MEMORY;
    r->path = strcpy(copy, path);
    drape_status status = r->kind->open(r);
    if (status) return status;
    if (r->files && mesh)
        return drape_i_fail(r->ctx, DRAPE_ERROR_ARGUMENT, "%s has its own triangles; leave %s out", path, mesh);
    return r->files ? DRAPE_OK : find_triangles(r, mesh);
}

drape_status drape_reader_open(drape_context *ctx, const char *path, const drape_reader_options *options,
                               drape_reader **out) {
    if (out) *out = NULL;
    if (!ctx || !path || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_reader_open: path or out is NULL");
    return drape_i_reader_open(ctx, path, options, NULL, out);
}

drape_status drape_i_reader_open(drape_context *ctx, const char *path, const drape_reader_options *options,
                                 const drape_i_reader_gate *gate, drape_reader **out) {
    static const drape_reader_options none = {0};
    drape_reader *r;
    *out = NULL;
    if (!options) options = &none;
    drape_status status = drape_i_check_reserved(ctx, "drape_reader_options", options->reserved, 8);
    if (status) return status;
    if (!kind_of(path)) return refuse(ctx, path);
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->ctx = ctx;
    r->kind = kind_of(path);
    r->gate = gate;
    status = open_reader(r, path, options->mesh);
    r->gate = NULL;
    if (status) drape_reader_close(r);
    else *out = r;
    return status;
}

const drape_reader_info *drape_reader_describe(const drape_reader *r) { return r ? &r->info : NULL; }

drape_status drape_reader_frame(drape_reader *r, int32_t frame, double *positions) {
    if (!r || !positions)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_reader_frame: the reader or positions is NULL");
    if (frame < 0 || frame >= r->info.frames)
        return drape_i_fail(r->ctx, DRAPE_ERROR_ARGUMENT, "%s: frame %d of %d frames", r->path, frame,
                            r->info.frames);
    return r->kind->frame(r, frame, positions);
}

int64_t drape_reader_number(const drape_reader *r, int32_t frame) {
    if (!r || frame < 0 || frame >= r->info.frames) return -1;
    if (r->files) return r->files[frame].number;
    if (r->cache && !drape_cache_describe(r->cache)->has_times) {
        double number = drape_cache_time(r->cache, frame);
        if (number >= 0 && number < 1e15) return llround(number);
    }
    return frame;
}

void drape_reader_close(drape_reader *r) {
    if (!r) return;
    drape_context *ctx = r->ctx;
    drape_cache_close(r->cache);
    drape_i_frame_log_close(r->log);
    drape_i_arena_free(ctx, &r->memory);
    DRAPE_FREE(ctx, r, 1);
}
