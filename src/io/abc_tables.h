/* abc_tables.h: what follows the samples of an Alembic archive: groups, headers and hashes. */
#ifndef DRAPE_IO_ABC_TABLES_H
#define DRAPE_IO_ABC_TABLES_H

#include "io/abc_archive.h"

/* What is kept of a frame, before the samples of its properties. */
typedef struct drape_i_abc_record {
    int64_t end; /* size of the file after the frame */
    drape_i_stamp stamp;
} drape_i_abc_record;

drape_status drape_i_abc_read_record(drape_context *ctx, drape_i_abc_archive *a, int64_t frame,
                                     drape_i_abc_record *out);
drape_status drape_i_abc_read_samples(drape_context *ctx, drape_i_abc_archive *a, int64_t frame,
                                      const drape_i_abc_property *p, drape_i_abc_samples *out);

/* Bytes at the end of the file, or counted only. Write errors are the file's. */
void drape_i_abc_put(drape_i_abc_archive *a, const void *data, int64_t bytes);
void drape_i_abc_put_u64(drape_i_abc_archive *a, uint64_t value);

/* Writes everything after the samples of a->frames frames, at least 1; *root: where the archive's group is. */
drape_status drape_i_abc_write_tables(drape_context *ctx, drape_i_abc_archive *a, const char *metadata,
                                      int64_t *root);

#endif
