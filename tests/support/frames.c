#include "support/frames.h"

#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 4 x 2 cells; the triangles right of the middle get uv vertices of their own, all moved by a metre. */
static void make_seam(test_frames *t) {
    drape_piece *p = &t->piece[1];
    int32_t copies = p->vertices;
    memcpy(t->seam_uv, p->uv, 2 * (size_t)p->vertices * sizeof(double));
    for (int32_t i = 0; i < p->vertices; i++) {
        t->seam_uv[2 * (copies + i)] = p->uv[2 * i] + 1;
        t->seam_uv[2 * (copies + i) + 1] = p->uv[2 * i + 1];
    }
    for (int32_t i = 0; i < p->triangles; i++) {
        double right = 0;
        for (int32_t k = 0; k < 3; k++) right += p->uv[2 * p->triangle[3 * i + k]] / 3;
        for (int32_t k = 0; k < 3; k++)
            t->seam_triangle[3 * i + k] = p->triangle[3 * i + k] + (right > 0.5 ? copies : 0);
    }
    p->uv = t->seam_uv;
    p->uv_triangle = t->seam_triangle;
    p->uv_vertices = 2 * copies;
}

int test_frames_begin(void **state) {
    static test_frames t;
    t = (test_frames){.folder = "/tmp/drape-test-frames-XXXXXX"};
    assert_non_null(mkdtemp(t.folder));
    t.ctx = test_context(1);
    t.mesh[0] = test_mesh_grid(5, 3, 1, 0.5);
    t.mesh[1] = test_mesh_grid(4, 2, 1, 1);
    t.mesh[2] = test_mesh_grid(1, 1, 1, 1);
    for (int i = 0; i < 3; i++) t.piece[i] = test_mesh_piece(&t.mesh[i]);
    t.piece[0].name = "left \"one\"";
    t.piece[1].name = "left  one ";
    t.piece[2].name = "3\n";
    t.piece[2].uv = NULL;
    make_seam(&t);
    *state = &t;
    return 0;
}

const char *test_frames_path(const test_frames *t, const char *name) { return test_path_in(t->folder, name); }
int test_frames_entries(const test_frames *t) { return test_folder_entries(t->folder, false); }

int test_frames_end(void **state) {
    test_frames *t = *state;
    test_folder_entries(t->folder, true);
    rmdir(t->folder);
    drape_cloth_destroy(t->cloth);
    for (int i = 0; i < 3; i++) test_mesh_clear(&t->mesh[i]);
    free(t->x);
    int64_t left = drape_context_bytes(t->ctx);
    drape_context_destroy(t->ctx);
    return left == 0 ? 0 : -1;
}

void test_frames_fill(test_frames *t, int32_t frame) {
    test_random r = {(uint64_t)frame + 1};
    for (int64_t i = 0; i < t->numbers; i++) t->x[i] = test_random_between(&r, -3, 3);
}

drape_animation test_frames_animation(test_frames *t, int32_t from, int32_t count) {
    drape_cloth_destroy(t->cloth);
    ASSERT_OK(t->ctx, drape_cloth_create(t->ctx, t->piece + from, count, NULL, &t->cloth));
    t->numbers = 3 * (int64_t)drape_cloth_vertices(t->cloth);
    t->x = realloc(t->x, (size_t)t->numbers * sizeof *t->x);
    assert_non_null(t->x);
    return (drape_animation){.cloth = t->cloth, .fps = 24, .title = "a \"b\\\" <c>\n&", .pieces = t->piece + from};
}

int64_t test_frames_write(test_frames *t, const char *name, const drape_animation *what, int32_t frames) {
    drape_writer *writer;
    int64_t before = 0;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, name), what, &writer));
    for (int32_t i = 0; i < frames; i++) {
        test_frames_fill(t, i);
        ASSERT_OK(t->ctx, drape_writer_frame(writer, &(drape_frame){.positions = t->x}));
        if (i == 0) before = drape_context_bytes(t->ctx);
    }
    int64_t grown = drape_context_bytes(t->ctx) - before;
    ASSERT_OK(t->ctx, drape_writer_close(writer));
    return grown;
}

unsigned char *test_frames_read(const test_frames *t, const char *name, int64_t *size) {
    FILE *file = fopen(test_frames_path(t, name), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = ftell(file);
    unsigned char *data = malloc((size_t)*size + 1);
    assert_non_null(data);
    rewind(file);
    assert_int_equal(fread(data, 1, (size_t)*size, file), *size);
    data[*size] = 0;
    fclose(file);
    return data;
}
