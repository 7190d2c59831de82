/* mesh.c: what the readers of meshes share, and which of them a file is for. */
#include "io/mesh.h"
#include "base/file.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- faces ---- */

static void put_triangle(drape_i_mesh *mesh, const drape_i_mesh_face *face, const int32_t corner[3], int64_t at) {
    for (int32_t k = 0; k < 3; k++) {
        mesh->triangle[at][k] = face->vertex[corner[k]];
        if (mesh->uv_triangle) mesh->uv_triangle[at][k] = face->uv[corner[k]];
    }
}

static int32_t find_twice(const int32_t t[3]) {
    if (t[0] == t[1]) return t[0];
    return t[1] == t[2] || t[2] == t[0] ? t[2] : -1;
}

int32_t drape_i_mesh_add_face(drape_i_mesh *mesh, drape_i_mesh_face *face, int64_t *triangles) {
    drape_i_polygon *p = &face->polygon;
    int32_t twice = -1;
    p->corners = face->corners;
    for (int32_t i = 0; i < p->corners; i++)
        memcpy(p->x[i], mesh->position + 3 * (int64_t)face->vertex[i], sizeof p->x[i]);
    drape_i_polygon_cut(p);
    if (face->no_uv) mesh->uv_missing += p->corners - 2;
    for (int32_t t = 0; t < p->corners - 2; t++) {
        put_triangle(mesh, face, p->triangle[t], *triangles);
        int32_t wrong = find_twice(mesh->triangle[*triangles]);
        if (wrong < 0) ++*triangles;
        else if (twice < 0) twice = wrong;
    }
    return twice;
}

/* ---- the end ---- */

static drape_status find_unreferenced(drape_context *ctx, drape_i_arena *scratch, drape_i_mesh *m) {
    uint8_t *used = drape_i_arena_get(ctx, scratch, m->vertices, sizeof *used);
    if (!used) return DRAPE_ERROR_MEMORY;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) used[m->triangle[t][k]] = 1;
    m->first_unreferenced = -1;
    for (int32_t v = m->vertices - 1; v >= 0; v--)
        if (!used[v]) {
            m->unreferenced++;
            m->first_unreferenced = v;
        }
    return DRAPE_OK;
}

drape_status drape_i_mesh_finish(drape_context *ctx, drape_i_arena *scratch, const char *name, drape_i_mesh *m) {
    drape_status status = find_unreferenced(ctx, scratch, m);
    if (status || !m->uv_missing) return status;
    drape_i_log(ctx, DRAPE_LOG_WARNING,
                "%s: %d of %d triangles have no material-space corners (vt, texcoord): they are not used at all",
                name, m->uv_missing, m->triangles);
    m->uv = NULL;
    m->uv_triangle = NULL;
    m->uv_vertices = 0;
    return DRAPE_OK;
}

/* ---- problems ---- */

const char *drape_i_mesh_what(drape_context *ctx, const char *name, int64_t line) {
    char number[32] = "";
    const char *message = drape_message(ctx);
    if (line > 0) snprintf(number, sizeof number, "%lld:", (long long)line);
    size_t head = strlen(name) + 1 + strlen(number) + 1; /* "name:12: " */
    return strlen(message) > head ? message + head : message;
}

/* ---- files ---- */

static bool is_ply(const char *path, const char *data, int64_t size) {
    if (size >= 4 && memcmp(data, "ply", 3) == 0 && (data[3] == '\n' || data[3] == '\r')) return true;
    return drape_i_ends_in(path, ".ply");
}

drape_status drape_i_mesh_read(drape_context *ctx, drape_i_arena *arena, const char *path,
                               const drape_i_mesh_listener *listener, drape_i_mesh *out) {
    char *data;
    int64_t size;
    *out = (drape_i_mesh){0};
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    bool ply = is_ply(path, data, size);
    status = ply ? drape_i_ply_parse(ctx, arena, path, data, size, listener, out)
                 : drape_i_obj_parse(ctx, arena, path, data, size, listener, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}
