/* meshes.h: what the fuzzers of mesh readers demand: refused with a message, or a mesh whose every index is in range.
 * No input leaves memory behind, nor takes more than a fixed multiple of its size. */
#ifndef DRAPE_TESTS_FUZZ_MESHES_H
#define DRAPE_TESTS_FUZZ_MESHES_H

#include "fuzz.h"
#include "io/mesh.h"

#include <math.h>
#include <string.h>

static void check_triangles(const drape_i_mesh *m) {
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            demand(m->triangle[t][k] >= 0 && m->triangle[t][k] < m->vertices);
            demand(m->triangle[t][k] != m->triangle[t][(k + 1) % 3]);
            if (m->uv) demand(m->uv_triangle[t][k] >= 0 && m->uv_triangle[t][k] < m->uv_vertices);
        }
}

static void check_groups(const drape_i_mesh *m) {
    for (int32_t g = 0; g < m->groups; g++) {
        demand(m->group[g].name[0] && m->group[g].vertices >= 3);
        for (int32_t i = 0; i < m->group[g].vertices; i++) {
            demand(m->group[g].vertex[i] >= 0 && m->group[g].vertex[i] < m->vertices);
            demand(i == 0 || m->group[g].vertex[i] > m->group[g].vertex[i - 1]);
        }
    }
}

static void check_mesh(const drape_i_mesh *m) {
    demand(m->vertices >= 3 && m->triangles >= 1);
    demand(!m->uv == !m->uv_triangle && !m->uv == !m->uv_vertices);
    demand(!m->unreferenced == (m->first_unreferenced < 0));
    for (int64_t i = 0; i < 3 * (int64_t)m->vertices; i++) demand(isfinite(m->position[i]));
    for (int64_t i = 0; i < 2 * (int64_t)m->uv_vertices; i++) demand(isfinite(m->uv[i]));
    check_triangles(m);
    check_groups(m);
}

typedef drape_status parse_mesh(drape_context *ctx, drape_i_arena *arena, const char *name, const char *data,
                                int64_t size, const drape_i_mesh_listener *listener, drape_i_mesh *out);

static inline void fuzz_mesh(parse_mesh *parse, const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    drape_i_arena arena = {0};
    drape_i_mesh mesh;
    int64_t before = drape_context_bytes(ctx);
    drape_status status = parse(ctx, &arena, "fuzz", (const char *)data, (int64_t)size, NULL, &mesh);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    if (status) demand(strncmp(drape_message(ctx), "fuzz:", 5) == 0 && !strchr(drape_message(ctx), '\n'));
    demand(drape_context_bytes(ctx) - before <= 200 * (int64_t)size + 256 * 1024);
    if (status) demand(!mesh.triangles && !mesh.position);
    else check_mesh(&mesh);
    drape_i_arena_free(ctx, &arena);
    demand(drape_context_bytes(ctx) == before);
}

#endif
