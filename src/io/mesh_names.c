/* mesh_names.c: names of meshes as identifiers that all differ. */
#include "io/format_tools.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_ROOM = 16 }; /* "_", "_123" and the end */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *identifier(drape_context *ctx, drape_i_arena *arena, const char *name) {
    size_t length = strlen(name), at = 0;
    char *out = drape_i_arena_get(ctx, arena, (int64_t)length + NUMBER_ROOM, 1);
    if (!out) return NULL;
    if (is_digit(name[0]) || !*name) out[at++] = '_';
    for (size_t i = 0; i < length; i++) out[at++] = is_letter(name[i]) || is_digit(name[i]) ? name[i] : '_';
    return out;
}

/* Names that end in their number all differ: the numbers do. */
static drape_status number_equal_names(drape_context *ctx, drape_i_arena *arena, char **name, int32_t count,
                                       const char *taken) {
    int32_t all = count + (taken != NULL);
    const char **sorted = drape_i_arena_get(ctx, arena, all, sizeof *sorted);
    bool equal = false;
    if (!sorted) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < all; i++) sorted[i] = i < count ? name[i] : taken;
    qsort(sorted, (size_t)all, sizeof *sorted, compare_names);
    for (int32_t i = 1; i < all; i++) equal |= strcmp(sorted[i - 1], sorted[i]) == 0;
    for (int32_t i = 0; i < count && equal; i++) snprintf(name[i] + strlen(name[i]), NUMBER_ROOM - 2, "_%d", i);
    return DRAPE_OK;
}

const char *const *drape_i_mesh_names(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                                      const drape_frame *shape, const char *taken) {
    int32_t pieces = drape_cloth_pieces(cloth), count = pieces + shape->mesh_count;
    char **name = drape_i_arena_get(ctx, arena, count, sizeof *name);
    if (!name) return NULL;
    for (int32_t i = 0; i < count; i++) {
        const char *given = i < pieces ? drape_cloth_piece(cloth, i)->name : shape->meshes[i - pieces].name;
        name[i] = identifier(ctx, arena, given);
        if (!name[i]) return NULL;
    }
    if (number_equal_names(ctx, arena, name, count, taken)) return NULL;
    return (const char *const *)name;
}
