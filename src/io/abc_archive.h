/* abc_archive.h: an Alembic archive on its way to a file: objects, properties, samples. What they mean is abc.c's
 * business; how they lie in the file is told in docs/notes/alembic.md.
 *
 *   drape_i_abc_create(ctx, path, fps, &archive);
 *   object = drape_i_abc_add_object(...); property = drape_i_abc_add_property(...);     // before the first frame
 * ends drape_i_abc_sample(&archive, property, bytes, size);                                // of a frame
 *   drape_i_abc_end_frame(ctx, &archive, stamp);
 *   drape_i_abc_finish(ctx, &archive, metadata);
 *   drape_i_abc_destroy(ctx, &archive);
 *
 * Samples are written as they come. To end the file after any frame, a record of that frame is needed, 32
 * bytes per property, which waits on the disk. So memory does not grow with the number of frames, and a file that
 * cannot continue ends after the last complete frame. */
#ifndef DRAPE_IO_ABC_ARCHIVE_H
#define DRAPE_IO_ABC_ARCHIVE_H

#include "base/arena.h"
#include "io/abc_hash.h"
#include "io/format_tools.h"

/* Numbers of the format. */
typedef enum drape_i_abc_kind { DRAPE_I_ABC_COMPOUND, DRAPE_I_ABC_SCALAR, DRAPE_I_ABC_ARRAY } drape_i_abc_kind;
typedef enum drape_i_abc_number {
    DRAPE_I_ABC_BOOL = 0,
    DRAPE_I_ABC_UINT8 = 1,
    DRAPE_I_ABC_UINT32 = 5,
    DRAPE_I_ABC_INT32 = 6,
    DRAPE_I_ABC_FLOAT32 = 10,
    DRAPE_I_ABC_FLOAT64 = 11
} drape_i_abc_number;

/* The samples of a property up to some frame: what a record holds of it. */
typedef struct drape_i_abc_samples {
    int64_t position;                   /* of the last one's bytes; 0: it is empty */
    drape_i_digest sum;                 /* of all */
    uint32_t first_change, last_change; /* frames; 0: all are like the first one */
} drape_i_abc_samples;

typedef struct drape_i_abc_property {
    /* Set by the caller that adds it; text lives as long as the archive. */
    const char *name;
    const char *metadata; /* "key=value;key=value", keys ascending; "" for none */
    drape_i_abc_kind kind;
    drape_i_abc_number number;
    int32_t extent;                               /* numbers that belong together: 3 of a vector, 6 of a box */
    bool timed;                                   /* a sample in every frame; else one, in the first */
    const struct drape_i_abc_property *goes_with; /* left out where that one never changes; NULL: stays */

    /* The archive's own. */
    struct drape_i_abc_property *child, *last_child, *next; /* of a compound: in the order in which they were added */
    struct drape_i_abc_property *later;                     /* the next one that has samples */
    int64_t column;                                         /* of its samples in a record */
    drape_i_abc_samples samples;
    drape_i_digest digest;   /* of the last one's bytes */
    drape_i_digest shaped;   /* the same with their number */
    int64_t sampled, points; /* frames that it has samples of; elements of a sample */
    int64_t group;           /* its place in the file */
    drape_i_digest hash;
} drape_i_abc_property;

typedef struct drape_i_abc_object {
    const char *name, *metadata;
    drape_i_abc_property properties; /* a compound without a name */
    struct drape_i_abc_object *child, *last_child, *next;
    int64_t group;
    drape_i_digest hash;
} drape_i_abc_object;

enum { DRAPE_I_ABC_MOST_METADATA = 254 };

/* Metadata of headers, kept once; a header has the place in this list, counted from 1. */
typedef struct drape_i_abc_words {
    const char *text[DRAPE_I_ABC_MOST_METADATA];
    int32_t count;
} drape_i_abc_words;

typedef struct drape_i_abc_times {
    bool uniform;
    double start, step; /* s; where uniform */
} drape_i_abc_times;

typedef struct drape_i_abc_archive {
    drape_i_file file;
    drape_i_spill records;
    drape_i_arena arena;
    drape_i_abc_object top;
    drape_i_abc_property *sampled, *last_sampled; /* those that have samples */
    int64_t columns;
    double fps;
    int64_t frames;      /* that are whole */
    int64_t end;         /* bytes of the file so far */
    bool measuring;      /* bytes are counted, not written */
    drape_status status; /* of the first frame that failed */
    drape_i_abc_words words;
    drape_i_abc_times times;
} drape_i_abc_archive;

drape_status drape_i_abc_create(drape_context *ctx, const char *path, double fps, drape_i_abc_archive *out);
void drape_i_abc_destroy(drape_context *ctx, drape_i_abc_archive *a);

/* Below `parent`; NULL where there is no memory. */
drape_i_abc_object *drape_i_abc_add_object(drape_context *ctx, drape_i_abc_archive *a, drape_i_abc_object *parent,
                                           const char *name, const char *metadata);
drape_i_abc_property *drape_i_abc_add_property(drape_context *ctx, drape_i_abc_archive *a,
                                               drape_i_abc_property *parent, const drape_i_abc_property *what);

/* The property's sample of the present frame, its bytes as they are in the file. One that is like the one before is
 * not written again. Those that get none repeat the one before. */
void drape_i_abc_sample(drape_i_abc_archive *a, drape_i_abc_property *p, const unsigned char *bytes, int64_t size);

/* Everything of the frame is with the system when this succeeds, and what fails later cannot take it away. */
drape_status drape_i_abc_end_frame(drape_context *ctx, drape_i_abc_archive *a, drape_i_stamp stamp);

/* Writes what follows the samples and gives the file its name; metadata: of the archive. Where there is no room
 * for that, frames are dropped until there is; then the status is DRAPE_ERROR_IO, and the message says how many were
 * kept. */
drape_status drape_i_abc_finish(drape_context *ctx, drape_i_abc_archive *a, const char *metadata);

#endif
