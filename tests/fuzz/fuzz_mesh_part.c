/* Any bytes as a mesh file of which a part is read. Where that works, all of the file can be read too, nothing about
 * it takes a warning, and vertices and triangles of the part are the same. */
#include "io/mesh_part.h"
#include "meshes.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/drape-fuzz-XXXXXX";

static void remove_file(void) { unlink(path); }

static void write_file(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        file = mkstemp(path);
        demand(atexit(remove_file) == 0);
    }
    demand(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
}

static int is_same(const drape_i_mesh_part *part, const int32_t *a, const int32_t *b) {
    for (int32_t k = 0; k < 3; k++)
        if (part->number[a[k]] != b[k]) return 0;
    return 1;
}

static void check_part(const drape_i_mesh_part *part, const drape_i_mesh *m, const drape_i_mesh *whole,
                       const drape_i_mesh_choice *choice) {
    int32_t at = 0;
    check_mesh(m);
    demand(part->vertices == whole->vertices && !whole->unreferenced && !whole->uv_missing);
    for (int32_t v = 0; v < m->vertices; v++) {
        demand(part->number[v] >= 0 && part->number[v] < whole->vertices);
        demand(v == 0 || part->number[v] > part->number[v - 1]);
        demand(!part->chosen[v] == (part->number[v] >= choice->end));
        demand(memcmp(m->position + 3 * (int64_t)v, whole->position + 3 * (int64_t)part->number[v],
                      3 * sizeof *m->position) == 0);
    }
    for (int32_t t = 0; t < whole->triangles; t++) {
        const int32_t *c = whole->triangle[t];
        if (at < m->triangles && is_same(part, m->triangle[at], c)) at++;
        else demand(c[0] >= choice->end && c[1] >= choice->end && c[2] >= choice->end);
    }
    demand(at == m->triangles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    drape_i_arena arena = {0};
    drape_i_mesh_part *part;
    drape_i_mesh m, whole;
    const drape_i_mesh_choice choice = {.end = 1 + (int64_t)size % 5, .rings = 1 + (int32_t)(size % 3)};
    write_file(data, size);
    int64_t before = drape_context_bytes(ctx);
    drape_status status = drape_i_mesh_read_part(ctx, &arena, path, &choice, &part, &m);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    demand(!status || !part);
    demand(drape_context_bytes(ctx) - before <= 200 * (int64_t)size + 1024 * 1024);
    if (part) {
        demand(drape_i_mesh_read(ctx, &arena, path, NULL, &whole) == DRAPE_OK);
        check_part(part, &m, &whole, &choice);
    }
    drape_i_arena_free(ctx, &arena);
    demand(drape_context_bytes(ctx) == before);
    return 0;
}
