/* abc_tables.c: groups, headers and hashes of an Alembic archive, from the leaves to the root.
 *
 * A group is a count and so many places; a piece of data is its size and its bytes. Whatever a group names is written
 * before it, so every place is known. The group of a property holds its samples, and that of a compound its
 * properties and their headers. That of an object holds its compound, its children and their headers with two hashes.
 */
#include "io/abc_tables.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const uint64_t DATA = UINT64_C(1) << 63; /* set in places of data; alone: empty data. 0: an empty group */

static const uint32_t FILE_VERSION = 0, LIBRARY_VERSION = 10800; /* as Alembic 1.8.0 writes it */

enum { NOT_LISTED = 255, MOST_LISTED = 255 }; /* metadata: its mark in headers, its longest text */

/* Tables being written; status: of the first record that could not be read. */
typedef struct tables {
    drape_context *ctx;
    drape_i_abc_archive *a;
    drape_status status;
} tables;

/* ---- bytes ---- */

void drape_i_abc_put(drape_i_abc_archive *a, const void *data, int64_t bytes) {
    if (!a->measuring) drape_i_file_write(&a->file, data, (size_t)bytes);
    a->end += bytes;
}

void drape_i_abc_put_u64(drape_i_abc_archive *a, uint64_t value) {
    unsigned char bytes[8];
    drape_i_little_u64(bytes, value);
    drape_i_abc_put(a, bytes, sizeof bytes);
}

static void put_f64(drape_i_abc_archive *a, double value) {
    unsigned char bytes[8];
    drape_i_little_f64(bytes, value);
    drape_i_abc_put(a, bytes, sizeof bytes);
}

/* The lowest `bytes` bytes of a number. */
static void put_number(drape_i_abc_archive *a, uint32_t value, int64_t bytes) {
    unsigned char all[4];
    drape_i_little_u32(all, value);
    drape_i_abc_put(a, all, bytes);
}

static void put_text(drape_i_abc_archive *a, const char *text) { drape_i_abc_put(a, text, (int64_t)strlen(text)); }

/* Puts what `write` puts as a piece of data, its size before it; returns its place. */
static int64_t put_data(tables *t, void (*write)(tables *t, const void *what), const void *what) {
    int64_t place = t->a->end;
    t->a->measuring = true;
    write(t, what);
    int64_t size = t->a->end - place;
    t->a->end = place;
    t->a->measuring = false;
    drape_i_abc_put_u64(t->a, (uint64_t)size);
    write(t, what);
    return place;
}

static void hash_digest(drape_i_spooky *h, drape_i_digest d) {
    unsigned char bytes[16];
    drape_i_little_u64(bytes, d.word[0]);
    drape_i_little_u64(bytes + 8, d.word[1]);
    drape_i_spooky_add(h, bytes, sizeof bytes);
}

static void hash_text(drape_i_spooky *h, const char *text) { drape_i_spooky_add(h, text, strlen(text)); }

static void hash_f64(drape_i_spooky *h, double value) {
    unsigned char bytes[8];
    drape_i_little_f64(bytes, value);
    drape_i_spooky_add(h, bytes, sizeof bytes);
}

/* ---- metadata ---- */

/* The place of a text in the list, 1 for the first; 0 for no text. */
static uint32_t list_metadata(drape_i_abc_words *words, const char *text) {
    if (!*text) return 0;
    if (strlen(text) > MOST_LISTED) return NOT_LISTED;
    for (int32_t i = 0; i < words->count; i++)
        if (strcmp(words->text[i], text) == 0) return (uint32_t)i + 1;
    if (words->count == DRAPE_I_ABC_MOST_METADATA) return NOT_LISTED;
    words->text[words->count++] = text;
    return (uint32_t)words->count;
}

static void write_words(tables *t, const void *what) {
    const drape_i_abc_words *words = what;
    for (int32_t i = 0; i < words->count; i++) {
        put_number(t->a, (uint32_t)strlen(words->text[i]), 1);
        put_text(t->a, words->text[i]);
    }
}

/* ---- times: list 0 is that of properties with one sample, list 1 that of the frames ---- */

static const double ALMOST = 1e-3; /* of a step: times that are nearer to even ones than this are even */

static double frame_time(tables *t, int64_t frame) {
    drape_i_abc_record record = {0};
    if (!t->status) t->status = drape_i_abc_read_record(t->ctx, t->a, frame, &record);
    return record.stamp.time;
}

static double even_step(tables *t) {
    drape_i_abc_record first = {0}, second = {0};
    if (t->a->frames < 2) return 1 / t->a->fps;
    t->status = drape_i_abc_read_record(t->ctx, t->a, 0, &first);
    if (!t->status) t->status = drape_i_abc_read_record(t->ctx, t->a, 1, &second);
    double by_time = second.stamp.time - first.stamp.time;
    double by_number = (double)(second.stamp.number - first.stamp.number) / t->a->fps;
    return fabs(by_time - by_number) <= ALMOST * by_number ? by_number : by_time;
}

static void find_times(tables *t) {
    drape_i_abc_times times = {.uniform = true, .step = even_step(t)};
    times.start = frame_time(t, 0);
    for (int64_t f = 1; f < t->a->frames && times.uniform && !t->status; f++)
        times.uniform = fabs(frame_time(t, f) - (times.start + (double)f * times.step)) <= ALMOST * times.step;
    if (!times.uniform) times.step = DBL_MAX / 32; /* which says that every time is given */
    t->a->times = times;
}

static int64_t given_times(const tables *t) { return t->a->times.uniform ? 1 : t->a->frames; }

static void hash_times(tables *t, bool timed, drape_i_spooky *h) {
    unsigned char count[4];
    hash_f64(h, timed ? t->a->times.step : 1);
    drape_i_little_u32(count, timed ? (uint32_t)given_times(t) : 1);
    drape_i_spooky_add(h, count, sizeof count);
    if (!timed) hash_f64(h, 0);
    for (int64_t f = 0; timed && f < given_times(t); f++) hash_f64(h, frame_time(t, f));
}

static bool is_left_out(const drape_i_abc_property *p) {
    return p->goes_with && p->goes_with->samples.last_change == 0;
}

/* The most samples of a property that changes, 1 where none does; 0 where there are none. */
static uint32_t most_samples(const drape_i_abc_archive *a, bool timed) {
    uint32_t most = 0;
    for (const drape_i_abc_property *p = a->sampled; p; p = p->later)
        if (p->timed == timed && !is_left_out(p)) {
            uint32_t samples = p->samples.last_change > 0 ? (uint32_t)a->frames : 1;
            if (samples > most) most = samples;
        }
    return most;
}

static void write_times(tables *t, const void *what) {
    (void)what;
    put_number(t->a, most_samples(t->a, false), 4);
    put_f64(t->a, 1);
    put_number(t->a, 1, 4);
    put_f64(t->a, 0);
    put_number(t->a, most_samples(t->a, true), 4);
    put_f64(t->a, t->a->times.step);
    put_number(t->a, (uint32_t)given_times(t), 4);
    for (int64_t f = 0; f < given_times(t); f++) put_f64(t->a, frame_time(t, f));
}

/* ---- properties ---- */

static uint32_t sample_count(const drape_i_abc_archive *a, const drape_i_abc_property *p) {
    return p->kind == DRAPE_I_ABC_COMPOUND ? 0 : p->timed ? (uint32_t)a->frames : 1;
}

/* How wide the numbers of a header are: 0, 1 and 2 for one, two and four bytes. */
static uint32_t width_of(const drape_i_abc_archive *a, const drape_i_abc_property *p) {
    size_t most = strlen(p->metadata);
    if (strlen(p->name) > most) most = strlen(p->name);
    if (sample_count(a, p) > most) most = sample_count(a, p);
    return most < 256 ? 0 : most < 65536 ? 1 : 2;
}

/* Bits 0-1: kind, bit 0 also for arrays of one element; 2-3: width; 4-7: number; 8: not list 0 of the times; 9:
 * changes not in all frames. Bits 10: all samples have one size; 11: all are equal; 12-19: extent; 20-27: metadata.
 */
static uint32_t describe(const drape_i_abc_archive *a, const drape_i_abc_property *p, uint32_t listed) {
    const drape_i_abc_samples *s = &p->samples;
    uint32_t word = (uint32_t)p->kind | width_of(a, p) << 2 | listed << 20;
    if (p->kind == DRAPE_I_ABC_COMPOUND) return word;
    if (p->points == 1) word |= 1;
    word |= (uint32_t)p->number << 4 | 0x400 | (uint32_t)p->extent << 12;
    if (p->timed) word |= 0x100;
    if (s->last_change == 0) word |= 0x800;
    else if (s->first_change != 1 || s->last_change != (uint32_t)a->frames - 1) word |= 0x200;
    return word;
}

static void write_header(tables *t, const drape_i_abc_property *p) {
    uint32_t listed = list_metadata(&t->a->words, p->metadata), word = describe(t->a, p, listed);
    int64_t width = INT64_C(1) << width_of(t->a, p);
    put_number(t->a, word, 4);
    if (p->kind != DRAPE_I_ABC_COMPOUND) put_number(t->a, sample_count(t->a, p), width);
    if (word & 0x200) {
        put_number(t->a, p->samples.first_change, width);
        put_number(t->a, p->samples.last_change, width);
    }
    if (word & 0x100) put_number(t->a, 1, width);
    put_number(t->a, (uint32_t)strlen(p->name), width);
    put_text(t->a, p->name);
    if (listed != NOT_LISTED) return;
    put_number(t->a, (uint32_t)strlen(p->metadata), width);
    put_text(t->a, p->metadata);
}

static void write_headers(tables *t, const void *what) {
    const drape_i_abc_property *compound = what;
    for (const drape_i_abc_property *p = compound->child; p; p = p->next)
        if (!is_left_out(p)) write_header(t, p);
}

static void hash_header(tables *t, const drape_i_abc_property *p, drape_i_spooky *h) {
    const unsigned char type[3] = {(unsigned char)p->number, (unsigned char)p->extent, 0};
    hash_text(h, p->name);
    hash_text(h, p->metadata);
    if (p->kind == DRAPE_I_ABC_COMPOUND) return;
    drape_i_spooky_add(h, type, p->kind == DRAPE_I_ABC_SCALAR ? 3 : 2);
    hash_times(t, p->timed, h);
}

/* An array's sample is two places: its bytes, and its dimensions, which follow from their number. */
static void put_sample_place(tables *t, const drape_i_abc_property *p, int64_t frame) {
    drape_i_abc_samples samples = {0};
    if (!t->status) t->status = drape_i_abc_read_samples(t->ctx, t->a, frame, p, &samples);
    drape_i_abc_put_u64(t->a, (uint64_t)samples.position | DATA);
    if (p->kind == DRAPE_I_ABC_ARRAY) drape_i_abc_put_u64(t->a, DATA);
}

/* The first sample, then those from the first change to the last. */
static void write_samples(tables *t, drape_i_abc_property *p) {
    int64_t first = p->samples.first_change, last = p->samples.last_change, count = last > 0 ? last - first + 2 : 1;
    drape_i_spooky h = {0};
    p->group = t->a->end;
    drape_i_abc_put_u64(t->a, (uint64_t)(p->kind == DRAPE_I_ABC_ARRAY ? 2 * count : count));
    put_sample_place(t, p, 0);
    for (int64_t f = first; last > 0 && f <= last; f++) put_sample_place(t, p, f);
    hash_header(t, p, &h);
    hash_digest(&h, p->samples.sum);
    p->hash = drape_i_spooky_end(&h);
}

/* Starts `h` with the hashes of the properties. */
static void write_compound(tables *t, drape_i_abc_property *compound, drape_i_spooky *h) {
    uint64_t count = 0;
    for (drape_i_abc_property *p = compound->child; p; p = p->next) {
        if (is_left_out(p)) continue;
        if (p->kind == DRAPE_I_ABC_COMPOUND) {
            drape_i_spooky own = {0};
            write_compound(t, p, &own);
            hash_header(t, p, &own);
            p->hash = drape_i_spooky_end(&own);
        } else {
            write_samples(t, p);
        }
        hash_digest(h, p->hash);
        count++;
    }
    compound->group = 0;
    if (count == 0) return;
    int64_t headers = put_data(t, write_headers, compound);
    compound->group = t->a->end;
    drape_i_abc_put_u64(t->a, count + 1);
    for (const drape_i_abc_property *p = compound->child; p; p = p->next)
        if (!is_left_out(p)) drape_i_abc_put_u64(t->a, (uint64_t)p->group);
    drape_i_abc_put_u64(t->a, (uint64_t)headers | DATA);
}

/* ---- objects ---- */

typedef struct object_data {
    const drape_i_abc_object *object;
    drape_i_digest properties, children; /* hashes */
} object_data;

static void write_children(tables *t, const void *what) {
    const object_data *data = what;
    for (const drape_i_abc_object *o = data->object->child; o; o = o->next) {
        uint32_t listed = list_metadata(&t->a->words, o->metadata);
        put_number(t->a, (uint32_t)strlen(o->name), 4);
        put_text(t->a, o->name);
        put_number(t->a, listed, 1);
        if (listed != NOT_LISTED) continue;
        put_number(t->a, (uint32_t)strlen(o->metadata), 4);
        put_text(t->a, o->metadata);
    }
    for (int k = 0; k < 2; k++) drape_i_abc_put_u64(t->a, data->properties.word[k]);
    for (int k = 0; k < 2; k++) drape_i_abc_put_u64(t->a, data->children.word[k]);
}

static void write_object(tables *t, drape_i_abc_object *object) {
    uint64_t count = 0;
    object_data data = {.object = object};
    drape_i_spooky properties = {0}, all = {0};
    for (drape_i_abc_object *o = object->child; o; o = o->next, count++) {
        write_object(t, o);
        hash_digest(&all, o->hash);
    }
    write_compound(t, &object->properties, &properties);
    data.properties = drape_i_spooky_end(&properties);
    if (count > 0) data.children = drape_i_spooky_end(&all);
    int64_t headers = put_data(t, write_children, &data);
    object->group = t->a->end;
    drape_i_abc_put_u64(t->a, count + 2);
    drape_i_abc_put_u64(t->a, (uint64_t)object->properties.group);
    for (const drape_i_abc_object *o = object->child; o; o = o->next) drape_i_abc_put_u64(t->a, (uint64_t)o->group);
    drape_i_abc_put_u64(t->a, (uint64_t)headers | DATA);
    hash_digest(&all, data.properties);
    hash_text(&all, object->metadata);
    hash_text(&all, object->name);
    object->hash = drape_i_spooky_end(&all);
}

/* ---- the archive ---- */

static void write_version(tables *t, const void *what) { put_number(t->a, *(const uint32_t *)what, 4); }
static void write_text(tables *t, const void *what) { put_text(t->a, what); }

drape_status drape_i_abc_write_tables(drape_context *ctx, drape_i_abc_archive *a, const char *metadata,
                                      int64_t *root) {
    tables t = {.ctx = ctx, .a = a};
    DRAPE_ASSERT(a->frames > 0 && *metadata);
    a->words.count = 0;
    find_times(&t);
    write_object(&t, &a->top);
    int64_t version = put_data(&t, write_version, &FILE_VERSION);
    int64_t library = put_data(&t, write_version, &LIBRARY_VERSION);
    int64_t words = put_data(&t, write_text, metadata);
    int64_t times = put_data(&t, write_times, NULL);
    int64_t listed = put_data(&t, write_words, &a->words);
    *root = a->end;
    drape_i_abc_put_u64(a, 6);
    drape_i_abc_put_u64(a, (uint64_t)version | DATA);
    drape_i_abc_put_u64(a, (uint64_t)library | DATA);
    drape_i_abc_put_u64(a, (uint64_t)a->top.group);
    drape_i_abc_put_u64(a, (uint64_t)words | DATA);
    drape_i_abc_put_u64(a, (uint64_t)times | DATA);
    drape_i_abc_put_u64(a, (uint64_t)listed | DATA);
    return t.status;
}
