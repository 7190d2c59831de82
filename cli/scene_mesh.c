/* scene_mesh.c: the mesh that a scene and the frames of its run have in common. */
#include "cli.h"

#include <stdlib.h>

bool join_pieces(const drape_scene *scene, cloth_mesh *out) {
    int64_t vertices = 0, triangles = 0, at = 0;
    for (int32_t p = 0; p < scene->piece_count; p++) {
        vertices += scene->pieces[p].vertices;
        triangles += scene->pieces[p].triangles;
    }
    out->owned = malloc((size_t)(3 * triangles + 1) * sizeof *out->owned);
    if (!out->owned) {
        complain("out of memory");
        return false;
    }
    int32_t first = 0;
    for (int32_t p = 0; p < scene->piece_count; p++) {
        const drape_piece *piece = scene->pieces + p;
        for (int64_t i = 0; i < 3 * (int64_t)piece->triangles; i++) out->owned[at++] = first + piece->triangle[i];
        first += piece->vertices;
    }
    out->vertices = (int32_t)vertices;
    out->triangles = (int32_t)triangles;
    out->triangle = out->owned;
    return true;
}

bool frames_fit_scene(const char *file, const drape_reader_info *frames, const char *scene, const cloth_mesh *cloth) {
    bool fits = frames->triangles > 0 ? frames->vertices >= cloth->vertices && frames->triangles >= cloth->triangles
                                      : frames->vertices == cloth->vertices;
    if (!fits) {
        complain(
            "%s has %d vertices, but the cloth of %s has %d; give the scene of its run, with the same --resolution, "
            "--irregular and --set",
            file, frames->vertices, scene, cloth->vertices);
        return false;
    }
    if (frames->triangles == 0) return true;
    for (int64_t i = 0; i < 3 * (int64_t)cloth->triangles; i++)
        if (frames->triangle[i] != cloth->triangle[i]) {
            complain("%s: triangle %lld differs from that of the cloth of %s; give the scene of its run", file,
                     (long long)(i / 3), scene);
            return false;
        }
    return true;
}
