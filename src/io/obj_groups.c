/* obj_groups.c: runs sorted by name stand side by side, and are one group. A vertex gets the group's number as its
 * mark when it is first met there, so each is listed once. */
#include "io/obj_groups.h"

#include <stdlib.h>
#include <string.h>

/* Runs [begin, end) of one name. */
typedef struct range {
    int64_t order, begin, end;
} range;

static int compare_names(const drape_i_group_run *p, const drape_i_group_run *q) {
    int64_t shorter = p->length < q->length ? p->length : q->length;
    int order = shorter ? memcmp(p->name, q->name, (size_t)shorter) : 0;
    return order ? order : (p->length > q->length) - (p->length < q->length);
}

static int compare_runs(const void *a, const void *b) {
    const drape_i_group_run *p = a, *q = b;
    int order = compare_names(p, q);
    return order ? order : (p->order > q->order) - (p->order < q->order);
}

static int compare_ranges(const void *a, const void *b) {
    const range *p = a, *q = b;
    return (p->order > q->order) - (p->order < q->order);
}

static int compare_vertices(const void *a, const void *b) {
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Returns how many ranges there are; *characters: in all names, with a zero behind each. */
static int64_t find_ranges(int64_t runs, drape_i_group_run *run, range *out, int64_t *characters) {
    int64_t count = 0;
    *characters = 0;
    qsort(run, (size_t)runs, sizeof *run, compare_runs);
    for (int64_t i = 0, end; i < runs; i = end) {
        for (end = i + 1; end < runs && compare_names(&run[i], &run[end]) == 0;) end++;
        out[count++] = (range){run[i].order, i, end};
        *characters += run[i].length + 1;
    }
    qsort(out, (size_t)count, sizeof *out, compare_ranges);
    return count;
}

/* The vertices under a range, ascending; out NULL: only counts them. mark differs from every mark set before. */
static int32_t list_vertices(const drape_i_mesh *mesh, const drape_i_group_run *run, range r, int32_t mark,
                             int32_t *marks, int32_t *out) {
    int32_t count = 0;
    for (int64_t i = r.begin; i < r.end; i++)
        for (int32_t t = run[i].first; t < run[i].end; t++)
            for (int32_t k = 0; k < 3; k++) {
                int32_t v = mesh->triangle[t][k];
                DRAPE_ASSERT(t >= 0 && t < mesh->triangles && v >= 0 && v < mesh->vertices);
                if (marks[v] == mark) continue;
                marks[v] = mark;
                if (out) out[count] = v;
                count++;
            }
    if (out) qsort(out, (size_t)count, sizeof *out, compare_vertices);
    return count;
}

drape_status drape_i_groups_build(drape_context *ctx, drape_i_arena *arena, drape_i_arena *scratch, int64_t runs,
                                  drape_i_group_run *run, drape_i_mesh *mesh) {
    int64_t characters, vertices = 0;
    range *ranges = drape_i_arena_get(ctx, scratch, runs, sizeof *ranges);
    int32_t *marks = drape_i_arena_get(ctx, scratch, mesh->vertices, sizeof *marks);
    if (!ranges || !marks) return DRAPE_ERROR_MEMORY;
    int32_t count = (int32_t)find_ranges(runs, run, ranges, &characters);
    for (int32_t g = 0; g < count; g++) vertices += list_vertices(mesh, run, ranges[g], g + 1, marks, NULL);

    char *name = drape_i_arena_get(ctx, arena, characters, 1);
    int32_t *vertex = drape_i_arena_get(ctx, arena, vertices, sizeof *vertex);
    mesh->group = drape_i_arena_get(ctx, arena, count, sizeof *mesh->group);
    if (!name || !vertex || !mesh->group) return DRAPE_ERROR_MEMORY;
    mesh->groups = count;
    for (int32_t g = 0; g < count; g++) {
        const drape_i_group_run *first = &run[ranges[g].begin];
        memcpy(name, first->name, (size_t)first->length);
        mesh->group[g].name = name;
        mesh->group[g].vertex = vertex;
        mesh->group[g].vertices = list_vertices(mesh, run, ranges[g], -1 - g, marks, vertex);
        name += first->length + 1;
        vertex += mesh->group[g].vertices;
        vertices -= mesh->group[g].vertices;
    }
    DRAPE_ASSERT(vertices == 0); /* both passes met the same vertices */
    return DRAPE_OK;
}
