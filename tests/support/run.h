/* run.h: a cloth of three pieces and frames of it, for the writers of files, in a folder of their own.
 *
 * The pieces: a grid whose uv is numbered as its vertices are; one with a seam down its middle, where the vertices
 * have two pairs; one without uv. In `plain` none has uv. */
#ifndef DRAPE_TESTS_RUN_H
#define DRAPE_TESTS_RUN_H

#include "drape/io.h"
#include "support/meshes.h"

typedef struct test_run {
    char folder[64];
    drape_context *ctx;
    test_mesh mesh[3];
    drape_piece piece[3];
    double seam_uv[64];
    int32_t seam_triangle[96];
    drape_cloth *cloth;
    int64_t numbers; /* 3 a vertex */
    double *x;       /* scratch, so many */
} test_run;

/* cmocka's set-up and tear-down; the state is a test_run. The tear-down fails where memory is left. */
int test_run_begin(void **state);
int test_run_end(void **state);

const char *test_run_path(const test_run *t, const char *name);
int test_run_entries(const test_run *t);

/* Fills x with frame `frame`: any floats of ordinary size, different for each. */
void test_run_fill(test_run *t, int32_t frame);
/* An animation of the pieces from..from+count-1 of a new cloth in t->cloth. */
drape_animation test_run_animation(test_run *t, int32_t from, int32_t count);
/* Writes so many frames; returns by how much the memory in use grew after the first. */
int64_t test_run_write(test_run *t, const char *name, const drape_animation *what, int32_t frames);
/* A whole file, with a zero behind it; the caller frees it. */
unsigned char *test_run_read(const test_run *t, const char *name, int64_t *size);

#endif
