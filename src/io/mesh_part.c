/* mesh_part.c: which vertices and faces of a file belong to a part, and the smaller file that it is read from.
 * Cost: up to five bits per vertex of the file for sets, a block of the file, and twice the bytes of the part. */
#include "io/mesh_part.h"
#include "base/file.h"
#include "base/text.h"

#include <string.h>

enum { BLOCK = 1 << 18 }; /* bytes; a line of a face with the most corners is less */

/* ---- Sets ---- */

static int64_t words(int64_t count) { return count / 64 + 1; }

static bool make(drape_context *ctx, int64_t count, drape_i_bits *b) {
    b->count = count;
    return DRAPE_NEW(ctx, b->word, words(count)) && DRAPE_NEW(ctx, b->below, words(count));
}

static void clear(drape_context *ctx, drape_i_bits *b) {
    DRAPE_FREE(ctx, b->word, words(b->count));
    DRAPE_FREE(ctx, b->below, words(b->count));
    *b = (drape_i_bits){0};
}

static void add(drape_i_bits *b, int64_t i) { b->word[i / 64] |= UINT64_C(1) << (i % 64); }

static int32_t ones(uint64_t word) {
    int32_t n = 0;
    for (; word; word &= word - 1) n++;
    return n;
}

static int32_t count_below(drape_i_bits *b) {
    int32_t n = 0;
    for (int64_t i = 0; i < words(b->count); i++) {
        b->below[i] = n;
        n += ones(b->word[i]);
    }
    return n;
}

int32_t drape_i_scan_rank(const drape_i_bits *b, int64_t i) {
    return b->below[i / 64] + ones(b->word[i / 64] & ((UINT64_C(1) << (i % 64)) - 1));
}

static bool has_all(const drape_i_bits *b) {
    for (int64_t i = 0; i < b->count; i++)
        if (!drape_i_bits_has(b, i)) return false;
    return true;
}

/* ---- Blocks ---- */

drape_status drape_i_scan_more(drape_i_mesh_scan *s, const char *unread) {
    if (!unread) rewind(s->file);
    if (unread == s->block && s->held == BLOCK) s->unfit = true;
    s->held = unread ? s->block + s->held - unread : 0;
    if (unread) memmove(s->block, unread, (size_t)s->held);
    const int64_t wanted = BLOCK - s->held, got = (int64_t)fread(s->block + s->held, 1, (size_t)wanted, s->file);
    s->held += got;
    s->last = got < wanted;
    return ferror(s->file) ? drape_i_fail(s->ctx, DRAPE_ERROR_IO, "%s: cannot read", s->path) : DRAPE_OK;
}

/* ---- Faces ---- */

static bool has_twice(const drape_i_mesh_face *face) {
    for (int32_t i = 0; i < face->corners; i++)
        for (int32_t k = 0; k < i; k++)
            if (face->vertex[i] == face->vertex[k]) return true;
    return false;
}

static void check_face(drape_i_mesh_scan *s) {
    const drape_i_mesh_face *face = s->face;
    if (face->no_uv || !drape_i_mesh_may_cut(s->face, s->size) || has_twice(face)) s->unfit = true;
    for (int32_t i = 0; i < face->corners; i++) add(&s->used, face->vertex[i]);
    s->faces++;
}

/* Numbers that count back may lead beyond what was counted, if the file grows meanwhile. */
static bool is_in_range(const drape_i_mesh_scan *s, bool uv) {
    for (int32_t i = 0; i < s->face->corners; i++)
        if (s->face->vertex[i] >= s->vertices || (uv && s->face->uv[i] >= s->uv_vertices)) return false;
    return true;
}

bool drape_i_scan_face(drape_i_mesh_scan *s, bool uv) {
    const drape_i_mesh_face *face = s->face;
    bool keep = false;
    if (!is_in_range(s, uv)) s->unfit = true;
    if (s->unfit) return false;
    if (s->pass == DRAPE_I_SCAN_CHECK) check_face(s);
    if (s->pass < DRAPE_I_SCAN_MARK) return false;
    for (int32_t i = 0; i < face->corners; i++) keep = keep || drape_i_bits_has(&s->around, face->vertex[i]);
    for (int32_t i = 0; keep && i < face->corners && s->pass == DRAPE_I_SCAN_MARK; i++) {
        add(&s->kept, face->vertex[i]);
        if (uv) add(&s->kept_uv, face->uv[i]);
    }
    return keep && s->pass == DRAPE_I_SCAN_KEEP;
}

void drape_i_scan_write(drape_i_mesh_scan *s, const void *data, int64_t bytes) {
    if (s->text && s->room - s->length < bytes) s->unfit = true; /* the file has changed */
    else if (s->text) memcpy(s->text + s->length, data, (size_t)bytes);
    s->length += bytes;
}

/* ---- The part ---- */

typedef drape_status scanner(drape_i_mesh_scan *s);

static drape_status run(drape_i_mesh_scan *s, scanner *scan, drape_i_scan_pass pass) {
    s->pass = pass;
    return s->unfit ? DRAPE_OK : scan(s);
}

/* How many vertices there are, and whether this is a file that is divided. */
static drape_status survey(drape_i_mesh_scan *s, scanner *scan) {
    drape_status status = run(s, scan, DRAPE_I_SCAN_COUNT);
    if (status || s->unfit) return status;
    if (s->vertices > INT32_MAX || s->uv_vertices > INT32_MAX) s->unfit = true;
    else if (!make(s->ctx, s->vertices, &s->used)) status = DRAPE_ERROR_MEMORY;
    if (!status) status = run(s, scan, DRAPE_I_SCAN_CHECK);
    if (!status && !s->unfit) s->unfit = s->faces == 0 || s->faces > INT32_MAX / 3 || !has_all(&s->used);
    clear(s->ctx, &s->used);
    return status;
}

static void choose(drape_i_mesh_scan *s, const drape_i_mesh_choice *choice) {
    for (int64_t v = choice->from; !choice->vertex && v < choice->end && v < s->vertices; v++) add(&s->kept, v);
    for (int32_t i = 0; choice->vertex && i < choice->count; i++) {
        const int64_t v = (int64_t)choice->vertex[i] - choice->first;
        if (v >= 0 && v < s->vertices) add(&s->kept, v);
    }
}

/* Ring by ring: what is kept so far is what the next faces are around. */
static drape_status mark(drape_i_mesh_scan *s, scanner *scan, const drape_i_mesh_choice *choice) {
    drape_status status = DRAPE_OK;
    if (!make(s->ctx, s->vertices, &s->around) || !make(s->ctx, s->vertices, &s->kept) ||
        !make(s->ctx, s->uv_vertices, &s->kept_uv))
        return DRAPE_ERROR_MEMORY;
    choose(s, choice);
    for (int32_t ring = 0; ring < choice->rings && !status; ring++) {
        memcpy(s->around.word, s->kept.word, (size_t)words(s->vertices) * sizeof *s->kept.word);
        status = run(s, scan, DRAPE_I_SCAN_MARK);
    }
    count_below(&s->kept_uv);
    return status;
}

/* Numbers in the file of the vertices that are kept, and whether they were chosen. */
static drape_status list_vertices(drape_i_mesh_scan *s, drape_i_arena *arena, const drape_i_mesh_choice *choice,
                                  drape_i_mesh_part *part) {
    const int32_t count = count_below(&s->kept);
    int32_t *number = drape_i_arena_get(s->ctx, arena, count, sizeof *number), at = 0, next = 0;
    uint8_t *chosen = drape_i_arena_get(s->ctx, arena, count, sizeof *chosen);
    if (!number || !chosen) return DRAPE_ERROR_MEMORY;
    for (int64_t v = 0; v < s->vertices; v++) {
        if (!drape_i_bits_has(&s->kept, v)) continue;
        while (choice->vertex && next < choice->count && choice->vertex[next] - choice->first < v) next++;
        number[at] = (int32_t)v;
        chosen[at++] = choice->vertex ? next < choice->count && choice->vertex[next] - choice->first == v
                                      : v >= choice->from && v < choice->end;
    }
    s->kept_vertices = count;
    part->number = number;
    part->chosen = chosen;
    return DRAPE_OK;
}

/* Once for its length, once for itself. */
static drape_status write_text(drape_i_mesh_scan *s, scanner *scan) {
    drape_status status = run(s, scan, DRAPE_I_SCAN_KEEP);
    if (status || s->unfit) return status;
    s->room = s->length;
    s->length = 0;
    if (!DRAPE_NEW(s->ctx, s->text, s->room)) return DRAPE_ERROR_MEMORY;
    return run(s, scan, DRAPE_I_SCAN_KEEP);
}

static drape_status read_chosen(drape_i_mesh_scan *s, drape_i_arena *arena, bool ply,
                                const drape_i_mesh_choice *choice, drape_i_mesh_part *part, drape_i_mesh *out) {
    scanner *scan = ply ? drape_i_ply_scan : drape_i_obj_scan;
    drape_status status = mark(s, scan, choice);
    if (!status) status = list_vertices(s, arena, choice, part);
    if (!status) status = write_text(s, scan);
    clear(s->ctx, &s->around);
    clear(s->ctx, &s->kept);
    clear(s->ctx, &s->kept_uv);
    if (!status && !s->unfit)
        status = ply ? drape_i_ply_parse(s->ctx, arena, s->path, s->text, s->length, NULL, out)
                     : drape_i_obj_parse(s->ctx, arena, s->path, s->text, s->length, NULL, out);
    DRAPE_FREE(s->ctx, s->text, s->room);
    return status;
}

/* Arrays of nothing, as if they had been read. */
static drape_status read_nothing(drape_i_mesh_scan *s, drape_i_arena *arena, drape_i_mesh *out) {
    *out = (drape_i_mesh){.first_unreferenced = -1};
    out->position = drape_i_arena_get(s->ctx, arena, 0, sizeof *out->position);
    out->triangle = drape_i_arena_get(s->ctx, arena, 0, sizeof *out->triangle);
    return out->position && out->triangle ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static drape_status read_all(drape_i_mesh_scan *s, drape_i_arena *arena, const drape_i_mesh_choice *choice,
                             drape_i_mesh_part **part, drape_i_mesh *out) {
    const bool empty = choice->vertex ? choice->count == 0 : choice->from >= choice->end;
    drape_status status = drape_i_scan_more(s, NULL);
    if (status) return status;
    const bool ply = drape_i_mesh_is_ply(s->path, s->block, s->held);
    drape_i_mesh_part *p = drape_i_arena_get(s->ctx, arena, 1, sizeof *p);
    s->face = drape_i_arena_get(s->ctx, arena, 1, sizeof *s->face);
    if (!p || !s->face) return DRAPE_ERROR_MEMORY;
    status = survey(s, ply ? drape_i_ply_scan : drape_i_obj_scan);
    if (status || s->unfit) return status;
    p->vertices = (int32_t)s->vertices;
    p->has_uv = s->has_uv;
    status = empty ? read_nothing(s, arena, out) : read_chosen(s, arena, ply, choice, p, out);
    if (!status && !s->unfit) *part = p;
    return status;
}

drape_status drape_i_mesh_read_part(drape_context *ctx, drape_i_arena *arena, const char *path,
                                    const drape_i_mesh_choice *choice, drape_i_mesh_part **part, drape_i_mesh *out) {
    drape_i_mesh_scan s = {.ctx = ctx, .path = path};
    drape_i_c_locale locale;
    *part = NULL;
    *out = (drape_i_mesh){0};
    drape_status status = drape_i_c_locale_enter(ctx, &locale);
    if (status) return status;
    status = drape_i_file_open(ctx, path, &s.file, &s.size);
    if (!status && !DRAPE_NEW(ctx, s.block, BLOCK)) status = DRAPE_ERROR_MEMORY;
    if (!status) status = read_all(&s, arena, choice, part, out);
    if (s.file) fclose(s.file);
    DRAPE_FREE(ctx, s.block, BLOCK);
    drape_i_c_locale_leave(&locale);
    return status;
}
