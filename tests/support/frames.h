/* frames.h: a cloth of three pieces and frames of it, for the writers of files, in a folder of their own.
 *
 * The pieces: a grid whose uv is numbered as its vertices are; one with a seam down its middle, where the vertices
 * have two pairs; one without uv. */
#ifndef DRAPE_TESTS_FRAMES_H
#define DRAPE_TESTS_FRAMES_H

#include "drape/io.h"
#include "support/meshes.h"

typedef struct test_frames {
    char folder[64];
    drape_context *ctx;
    test_mesh mesh[3];
    drape_piece piece[3];
    double seam_uv[64];
    int32_t seam_triangle[96];
    drape_cloth *cloth;
    int64_t numbers; /* 3 per vertex */
    double *x;       /* scratch, so many */
} test_frames;

/* cmocka's set-up and tear-down; the state is a test_frames. The tear-down fails where memory is left. */
int test_frames_begin(void **state);
int test_frames_end(void **state);

const char *test_frames_path(const test_frames *t, const char *name);
int test_frames_entries(const test_frames *t);

/* Fills x with frame `frame`: any floats of ordinary size, different for each. */
void test_frames_fill(test_frames *t, int32_t frame);
/* An animation of the pieces from..from+count-1 of a new cloth in t->cloth. */
drape_animation test_frames_animation(test_frames *t, int32_t from, int32_t count);
/* Writes so many frames; returns by how much the memory in use grew after the first. */
int64_t test_frames_write(test_frames *t, const char *name, const drape_animation *what, int32_t frames);
/* A whole file, with a zero after it; the caller frees it. */
unsigned char *test_frames_read(const test_frames *t, const char *name, int64_t *size);

#endif
