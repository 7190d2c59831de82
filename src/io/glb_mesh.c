/* glb_mesh.c: the doubles of a vertex hang on it in a list. */
#include "io/glb_mesh.h"

/* Vertices made so far; next: the next double of the same vertex, or -1. */
typedef struct splitting {
    int32_t count;
    int32_t *source, *uv_source, *next;
} splitting;

/* The double of `vertex` (of the piece) with these texture coordinates; made where there is none yet. */
static int32_t find_double(splitting *s, const drape_piece_range *range, int32_t vertex, int32_t uv) {
    int32_t at = vertex;
    if (s->uv_source[vertex] < 0) s->uv_source[vertex] = uv;
    while (s->uv_source[at] != uv && s->next[at] >= 0) at = s->next[at];
    if (s->uv_source[at] == uv) return at;
    s->next[at] = s->count;
    s->source[s->count] = range->first_vertex + vertex;
    s->uv_source[s->count] = uv;
    s->next[s->count] = -1;
    return s->count++;
}

static void split_corners(splitting *s, const drape_cloth *cloth, drape_i_glb_piece *p, int32_t *corner) {
    const int32_t *triangle = drape_cloth_triangle(cloth) + 3 * (int64_t)p->range->first_triangle;
    s->count = p->range->vertices;
    for (int32_t i = 0; i < s->count; i++) {
        s->source[i] = p->range->first_vertex + i;
        s->uv_source[i] = p->textured ? -1 : 0;
        s->next[i] = -1;
    }
    for (int64_t i = 0; i < 3 * (int64_t)p->range->triangles; i++) {
        int32_t vertex = triangle[i] - p->range->first_vertex;
        corner[i] = p->textured ? find_double(s, p->range, vertex, p->texture.corner[i]) : vertex;
    }
    for (int32_t i = 0; i < s->count; i++)
        if (s->uv_source[i] < 0) s->uv_source[i] = 0; /* of no triangle */
}

static drape_status make_piece(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                               drape_i_glb_piece *p) {
    int64_t corners = 3 * (int64_t)p->range->triangles, most = p->range->vertices + (p->textured ? corners : 0);
    splitting s;
    s.source = drape_i_arena_get(ctx, arena, most, sizeof *s.source);
    s.uv_source = drape_i_arena_get(ctx, arena, most, sizeof *s.uv_source);
    s.next = drape_i_arena_get(ctx, arena, most, sizeof *s.next);
    int32_t *corner = drape_i_arena_get(ctx, arena, corners, sizeof *corner);
    if (!s.source || !s.uv_source || !s.next || !corner) return DRAPE_ERROR_MEMORY;
    split_corners(&s, cloth, p, corner);
    p->vertices = s.count;
    p->source = s.source;
    p->corner = corner;
    p->uv_source = p->textured ? s.uv_source : NULL;
    return DRAPE_OK;
}

drape_status drape_i_glb_pieces(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                                const drape_piece *pieces, drape_i_glb_piece **out) {
    int32_t count = drape_cloth_pieces(cloth);
    drape_status status = DRAPE_OK;
    *out = drape_i_arena_get(ctx, arena, count, sizeof **out);
    if (!*out) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < count && !status; i++) {
        drape_i_glb_piece *p = &(*out)[i];
        p->range = drape_cloth_piece(cloth, i);
        p->texture = drape_i_texture_of(pieces, i);
        p->textured = p->texture.uv != NULL;
        status = make_piece(ctx, arena, cloth, p);
    }
    return status;
}
