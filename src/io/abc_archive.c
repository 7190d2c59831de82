/* abc_archive.c: the samples of an Alembic archive as they come, the records that wait, and the end of the file. */
#include "io/abc_archive.h"
#include "io/abc_tables.h"

#include <errno.h>
#include <string.h>

enum { FROZEN_AT = 5, ROOT_AT = 8 };

/* ---- opening ---- */

/* "Ogawa", a byte that becomes 255 when the file is whole, version 1, the place of the root. */
static const unsigned char HEAD[16] = {'O', 'g', 'a', 'w', 'a', 0, 0, 1};

drape_status drape_i_abc_create(drape_context *ctx, const char *path, double fps, drape_i_abc_archive *out) {
    *out = (drape_i_abc_archive){.fps = fps, .top = {.name = "ABC", .metadata = ""}};
    drape_status status = drape_i_file_create(ctx, path, &out->file);
    if (!status) status = drape_i_spill_create(ctx, out->file.path, &out->records);
    if (!status) drape_i_abc_put(out, HEAD, sizeof HEAD);
    return status;
}

void drape_i_abc_destroy(drape_context *ctx, drape_i_abc_archive *a) {
    drape_i_spill_destroy(&a->records);
    drape_i_file_abandon(ctx, &a->file);
    drape_i_arena_free(ctx, &a->arena);
}

drape_i_abc_object *drape_i_abc_add_object(drape_context *ctx, drape_i_abc_archive *a, drape_i_abc_object *parent,
                                           const char *name, const char *metadata) {
    drape_i_abc_object *o = drape_i_arena_get(ctx, &a->arena, 1, sizeof *o);
    if (!o) return NULL;
    o->name = name;
    o->metadata = metadata;
    if (parent->last_child) parent->last_child->next = o;
    else parent->child = o;
    parent->last_child = o;
    return o;
}

drape_i_abc_property *drape_i_abc_add_property(drape_context *ctx, drape_i_abc_archive *a,
                                               drape_i_abc_property *parent, const drape_i_abc_property *what) {
    drape_i_abc_property *p = drape_i_arena_get(ctx, &a->arena, 1, sizeof *p);
    if (!p) return NULL;
    *p = *what;
    if (parent->last_child) parent->last_child->next = p;
    else parent->child = p;
    parent->last_child = p;
    if (p->kind == DRAPE_I_ABC_COMPOUND) return p;
    p->column = a->columns++;
    if (a->last_sampled) a->last_sampled->later = p;
    else a->sampled = p;
    a->last_sampled = p;
    return p;
}

/* ---- samples ---- */

static int64_t number_bytes(drape_i_abc_number number) {
    switch (number) {
    case DRAPE_I_ABC_BOOL:
    case DRAPE_I_ABC_UINT8: return 1;
    case DRAPE_I_ABC_FLOAT64: return 8;
    default: return 4;
    }
}

/* The digest of an array's sample is that of its bytes and of how many elements they are. */
static drape_i_digest shape_digest(const drape_i_abc_property *p) {
    unsigned char bytes[24];
    drape_i_spooky h = {0};
    if (p->kind == DRAPE_I_ABC_SCALAR) return p->digest;
    drape_i_little_u64(bytes, (uint64_t)p->points);
    drape_i_little_u64(bytes + 8, p->digest.word[0]);
    drape_i_little_u64(bytes + 16, p->digest.word[1]);
    drape_i_spooky_add(&h, bytes, sizeof bytes);
    return drape_i_spooky_end(&h);
}

static void put_sample(drape_i_abc_archive *a, drape_i_abc_property *p, const unsigned char *bytes, int64_t size) {
    p->samples.position = size > 0 ? a->end : 0;
    if (size == 0) return;
    drape_i_abc_put_u64(a, (uint64_t)size + 16);
    drape_i_abc_put_u64(a, p->digest.word[0]);
    drape_i_abc_put_u64(a, p->digest.word[1]);
    drape_i_abc_put(a, bytes, size);
}

static void count_sample(drape_i_abc_property *p) {
    if (p->sampled++ == 0) p->samples.sum = p->shaped;
    else drape_i_spooky_fold(&p->samples.sum, p->shaped);
}

void drape_i_abc_sample(drape_i_abc_archive *a, drape_i_abc_property *p, const unsigned char *bytes, int64_t size) {
    drape_i_digest digest = drape_i_murmur3(bytes, (size_t)size);
    DRAPE_ASSERT(p->sampled == (p->timed ? a->frames : 0));
    DRAPE_ASSERT(size % (p->extent * number_bytes(p->number)) == 0);
    bool first = p->sampled == 0;
    if (first || memcmp(&digest, &p->digest, sizeof digest) != 0) {
        p->digest = digest;
        p->points = size / (p->extent * number_bytes(p->number));
        p->shaped = shape_digest(p);
        put_sample(a, p, bytes, size);
        if (!first) p->samples.last_change = (uint32_t)p->sampled;
        if (p->samples.first_change == 0) p->samples.first_change = p->samples.last_change;
    }
    count_sample(p);
}

/* ---- frames and their records ---- */

static int64_t record_bytes(const drape_i_abc_archive *a) {
    return (int64_t)sizeof(drape_i_abc_record) + a->columns * (int64_t)sizeof(drape_i_abc_samples);
}

drape_status drape_i_abc_read_record(drape_context *ctx, drape_i_abc_archive *a, int64_t frame,
                                     drape_i_abc_record *out) {
    return drape_i_spill_read(ctx, &a->records, frame * record_bytes(a), out, sizeof *out);
}

drape_status drape_i_abc_read_samples(drape_context *ctx, drape_i_abc_archive *a, int64_t frame,
                                      const drape_i_abc_property *p, drape_i_abc_samples *out) {
    int64_t at = frame * record_bytes(a) + (int64_t)sizeof(drape_i_abc_record) + p->column * (int64_t)sizeof *out;
    return drape_i_spill_read(ctx, &a->records, at, out, sizeof *out);
}

static drape_status flush(drape_context *ctx, drape_i_abc_archive *a) {
    if (!a->file.error && fflush(a->file.stream) != 0) a->file.error = errno;
    if (!a->file.error) return DRAPE_OK;
    return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", a->file.path, strerror(a->file.error));
}

static drape_status keep_record(drape_context *ctx, drape_i_abc_archive *a, drape_i_stamp stamp) {
    drape_i_abc_record record = {a->end, stamp};
    drape_status status = drape_i_spill_append(ctx, &a->records, &record, sizeof record);
    for (drape_i_abc_property *p = a->sampled; p && !status; p = p->later)
        status = drape_i_spill_append(ctx, &a->records, &p->samples, sizeof p->samples);
    return status ? status : drape_i_spill_flush(ctx, &a->records);
}

drape_status drape_i_abc_end_frame(drape_context *ctx, drape_i_abc_archive *a, drape_i_stamp stamp) {
    for (drape_i_abc_property *p = a->sampled; p; p = p->later)
        if (p->timed && p->sampled == a->frames) count_sample(p);
    drape_status status = flush(ctx, a);
    if (!status) status = keep_record(ctx, a, stamp);
    if (!status) a->frames++;
    return status;
}

/* ---- the end ---- */

/* Goes back to the end of the last frame. */
static drape_status go_back(drape_context *ctx, drape_i_abc_archive *a) {
    drape_i_abc_record last;
    drape_status status = drape_i_spill_cut(ctx, &a->records, a->frames * record_bytes(a));
    if (!status) status = drape_i_abc_read_record(ctx, a, a->frames - 1, &last);
    for (drape_i_abc_property *p = a->sampled; p && !status; p = p->later)
        status = drape_i_abc_read_samples(ctx, a, a->frames - 1, p, &p->samples);
    if (status) return status;
    a->end = last.end;
    return drape_i_file_cut(ctx, &a->file, last.end);
}

static drape_status patch(drape_context *ctx, drape_i_abc_archive *a, long at, const void *bytes, size_t count) {
    if (fseek(a->file.stream, at, SEEK_SET) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot write: %s", a->file.path, strerror(errno));
    drape_i_file_write(&a->file, bytes, count);
    return flush(ctx, a);
}

/* The byte that says that the file is whole comes last. */
static drape_status write_end(drape_context *ctx, drape_i_abc_archive *a, const char *metadata) {
    static const unsigned char frozen = 255;
    unsigned char place[8];
    int64_t root;
    drape_status status = drape_i_abc_write_tables(ctx, a, metadata, &root);
    if (!status) status = flush(ctx, a);
    if (status) return status;
    drape_i_little_u64(place, (uint64_t)root);
    status = patch(ctx, a, ROOT_AT, place, sizeof place);
    return status ? status : patch(ctx, a, FROZEN_AT, &frozen, 1);
}

/* After an end that did not fit: one frame is dropped, then two more, then four, until the rest fits. An end is
 * small beside a frame, and quickly written. */
static drape_status write_what_fits(drape_context *ctx, drape_i_abc_archive *a, const char *metadata) {
    drape_status status = DRAPE_ERROR_IO;
    for (int64_t give_up = 1; status == DRAPE_ERROR_IO && a->frames > 1; give_up *= 2) {
        a->frames = a->frames > give_up ? a->frames - give_up : 1;
        status = go_back(ctx, a);
        if (status) return status;
        status = write_end(ctx, a, metadata);
    }
    return status;
}

drape_status drape_i_abc_finish(drape_context *ctx, drape_i_abc_archive *a, const char *metadata) {
    int64_t all = a->frames;
    char why[DRAPE_I_MESSAGE_SIZE];
    drape_status status = a->status ? go_back(ctx, a) : DRAPE_OK;
    if (!status) status = write_end(ctx, a, metadata);
    drape_status first = status;
    snprintf(why, sizeof why, "%s", drape_message(ctx));
    if (first == DRAPE_ERROR_IO && a->file.stream) status = write_what_fits(ctx, a, metadata);
    if (!status) status = drape_i_file_commit(ctx, &a->file);
    if (!first && status) {
        first = status;
        snprintf(why, sizeof why, "%s", drape_message(ctx));
    }
    if (first != DRAPE_ERROR_IO) return status;
    if (status)
        return drape_i_fail(ctx, first, "%.*s; none of its %lld frames is kept", DRAPE_I_MESSAGE_SIZE - 64, why,
                            (long long)all);
    return drape_i_fail(ctx, first, "%.*s; the first %lld of %lld frames are kept", DRAPE_I_MESSAGE_SIZE - 80, why,
                        (long long)a->frames, (long long)all);
}
