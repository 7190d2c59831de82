/* render_paint.c: which color each triangle of the cloth has, and each mesh beside it. */
#include "io/render.h"

#include <string.h>

bool drape_i_is_color(const double c[3]) {
    for (int k = 0; k < 3; k++)
        if (!(c[k] >= 0 && c[k] <= 1)) return false;
    return true;
}

static const double PALETTE[][3] = {{0.725, 0.290, 0.196}, {0.235, 0.416, 0.584}, {0.847, 0.631, 0.235},
                                    {0.361, 0.561, 0.439}, {0.525, 0.345, 0.522}, {0.231, 0.561, 0.565},
                                    {0.722, 0.404, 0.541}, {0.467, 0.502, 0.247}};
static const double OBJECT[3] = {0.56, 0.57, 0.59};

enum { PALETTE_COLORS = sizeof PALETTE / sizeof *PALETTE };

/* That of piece p, where it has one of its own; else that of the palette. */
static const double *color_of(const drape_render_cloth *cloth, int32_t p) {
    bool own = cloth->piece_color && cloth->piece_color[p][0] >= 0;
    return own ? cloth->piece_color[p] : PALETTE[p % PALETTE_COLORS];
}

/* The other side is paler and a little greyer, as where the dye did not go through. */
static drape_i_paint cloth_paint(const double srgb[3]) {
    vec3 c = drape_i_linear_color(srgb);
    double grey = 0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z;
    vec3 dull = vec3_plus(vec3_scale(0.75, c), 0.25, (vec3){grey, grey, grey});
    return (drape_i_paint){c, vec3_plus((vec3){0.085, 0.085, 0.085}, 0.88, dull), true};
}

drape_i_paint drape_i_object_paint(const drape_appearance *look) {
    double srgb[3];
    for (int k = 0; k < 3; k++) srgb[k] = look && look->colored ? look->color[k] / 255.0 : OBJECT[k];
    vec3 c = drape_i_linear_color(srgb);
    return (drape_i_paint){c, c, false};
}

static drape_status check_cloth(drape_context *ctx, const drape_render_cloth *c) {
    drape_status status = drape_i_check_reserved(ctx, "drape_render_cloth", c->reserved, 6);
    if (status) return status;
    if (c->vertices < 1 || c->triangles < 0 || c->piece_count < 0 || (c->triangles > 0 && !c->triangle))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a cloth of %d vertices, %d triangles and %d pieces",
                            c->vertices, c->triangles, c->piece_count);
    for (int64_t i = 0; i < 3 * (int64_t)c->triangles; i++)
        if (c->triangle[i] < 0 || c->triangle[i] >= c->vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "triangle %lld has vertex %d, and there are %d",
                                (long long)(i / 3), c->triangle[i], c->vertices);
    int64_t sum = 0;
    for (int32_t p = 0; p < c->piece_count && c->piece_triangles; p++) {
        if (c->piece_triangles[p] < 0)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d has %d triangles", p, c->piece_triangles[p]);
        sum += c->piece_triangles[p];
    }
    if (c->piece_triangles && sum != c->triangles)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "the pieces have %lld triangles, and the cloth %d",
                            (long long)sum, c->triangles);
    for (int32_t p = 0; p < c->piece_count && c->piece_color; p++)
        if (!drape_i_is_color(color_of(c, p)))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "the color of piece %d is not in 0..1", p);
    return DRAPE_OK;
}

static int32_t root_of(int32_t *parent, int32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

/* Numbers what hangs together, in the order of the first vertices: the part of every vertex, in `part`. */
static void number_parts(const drape_i_painted_cloth *c, int32_t *part) {
    int32_t parts = 0;
    for (int32_t v = 0; v < c->vertices; v++) part[v] = v;
    for (int64_t t = 0; t < c->triangles; t++)
        for (int k = 1; k < 3; k++) {
            int32_t a = root_of(part, c->triangle[3 * t]), b = root_of(part, c->triangle[3 * t + k]);
            if (a < b) part[b] = a;
            else part[a] = b;
        }
    for (int32_t v = 0; v < c->vertices; v++) part[v] = root_of(part, v);
    for (int32_t v = 0; v < c->vertices; v++) part[v] = part[v] == v ? parts++ : part[part[v]];
}

/* Which color each triangle has: that of its piece, or of the part that it hangs together with. */
static drape_status paint_triangles(drape_context *ctx, const drape_render_cloth *cloth, int32_t colors,
                                    drape_i_painted_cloth *c) {
    int32_t *part;
    if (cloth->piece_triangles) {
        int64_t t = 0;
        for (int32_t p = 0; p < cloth->piece_count; p++)
            for (int64_t end = t + cloth->piece_triangles[p]; t < end; t++) c->paint_of[t] = p % colors;
        return DRAPE_OK;
    }
    if (!DRAPE_NEW(ctx, part, c->vertices)) return DRAPE_ERROR_MEMORY;
    number_parts(c, part);
    for (int64_t t = 0; t < c->triangles; t++) c->paint_of[t] = part[c->triangle[3 * t]] % colors;
    DRAPE_FREE(ctx, part, c->vertices);
    return DRAPE_OK;
}

static drape_status fill(drape_context *ctx, const drape_render_cloth *cloth, drape_i_painted_cloth *c) {
    bool own = cloth->piece_color && cloth->piece_count > 0;
    int32_t colors = own ? cloth->piece_count : PALETTE_COLORS;
    *c = (drape_i_painted_cloth){.vertices = cloth->vertices, .triangles = cloth->triangles, .paints = colors};
    if (!DRAPE_NEW(ctx, c->paint, colors) || !DRAPE_NEW(ctx, c->triangle, 3 * (int64_t)c->triangles) ||
        !DRAPE_NEW(ctx, c->paint_of, c->triangles))
        return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < colors; i++) c->paint[i] = cloth_paint(own ? color_of(cloth, i) : PALETTE[i]);
    if (c->triangles > 0) memcpy(c->triangle, cloth->triangle, 3 * (size_t)c->triangles * sizeof *c->triangle);
    return paint_triangles(ctx, cloth, colors, c);
}

drape_status drape_i_paint_cloth(drape_context *ctx, const drape_render_cloth *cloth, drape_i_painted_cloth *out) {
    drape_status status = check_cloth(ctx, cloth);
    return status ? status : fill(ctx, cloth, out);
}

void drape_i_painted_cloth_free(drape_context *ctx, drape_i_painted_cloth *c) {
    DRAPE_FREE(ctx, c->paint, c->paints);
    DRAPE_FREE(ctx, c->triangle, 3 * (int64_t)c->triangles);
    DRAPE_FREE(ctx, c->paint_of, c->triangles);
}
