/* doctor_topology.c: how the triangles of a piece hang together.
 *
 * Everything is read off the half edges, sorted so that those of an edge are side by side (cost: sorting 3 per
 * triangle). Two forests of the union-find kind grow along them:
 *
 *   windings  triangles, joined across edges of two; each knows whether it is wound as its root is. In every tree the
 *             smaller of the two camps is flipped. Where a join contradicts the tree the surface has one side only.
 *   fans      corners of triangles, joined where two triangles at a vertex share an edge there. So a vertex has as
 *             many fans as its corners have roots: none makes it unreferenced, two or more a bow tie. */
#include "io/doctor.h"

#include <stdlib.h>

typedef struct half_edge {
    int32_t low, high, triangle;
    bool forward; /* the triangle goes from low to high */
} half_edge;

typedef struct winding {
    int32_t parent;
    bool flipped;     /* against the parent */
    int32_t camps[2]; /* of a root: triangles wound as it is, and the other way */
} winding;

typedef struct topology {
    drape_i_doctor *d;
    int32_t vertices, triangles;
    const int32_t *triangle;
    half_edge *halves;
    winding *windings;
    int32_t *fans;      /* the parent of each corner */
    int32_t *fan_count; /* of each vertex */
} topology;

/* ---- half edges ---- */

static int compare_halves(const void *a, const void *b) {
    const half_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static void list_halves(topology *s) {
    int64_t n = 3 * (int64_t)s->triangles;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i / 3 * 3;
        int32_t a = s->triangle[i], b = s->triangle[first + (i + 1) % 3];
        s->halves[i] = (half_edge){a < b ? a : b, a < b ? b : a, (int32_t)(i / 3), a < b};
    }
    qsort(s->halves, (size_t)n, sizeof *s->halves, compare_halves);
}

/* How many halves from h on belong to its edge. */
static int64_t edge_size(const half_edge *h, const half_edge *end) {
    int64_t n = 1;
    while (h + n < end && h[n].low == h->low && h[n].high == h->high) n++;
    return n;
}

/* ---- windings ---- */

/* The root, and whether t is wound against it. Paths are halved on the way. */
static int32_t find_winding(winding *w, int32_t t, bool *flipped) {
    *flipped = false;
    while (w[t].parent != t) {
        int32_t up = w[t].parent;
        w[t].flipped ^= w[up].flipped; /* a root is not flipped against itself */
        w[t].parent = w[up].parent;
        *flipped ^= w[t].flipped;
        t = w[t].parent;
    }
    return t;
}

/* False where both are wound against what is known already. */
static bool join_windings(winding *w, int32_t a, int32_t b, bool against) {
    bool fa, fb;
    int32_t ra = find_winding(w, a, &fa), rb = find_winding(w, b, &fb);
    bool turned = fa ^ fb ^ against;
    if (ra == rb) return !turned;
    if (w[ra].camps[0] + w[ra].camps[1] < w[rb].camps[0] + w[rb].camps[1]) {
        int32_t swap = ra;
        ra = rb, rb = swap;
    }
    w[rb].parent = ra;
    w[rb].flipped = turned;
    for (int32_t k = 0; k < 2; k++) w[ra].camps[k] += w[rb].camps[turned ? 1 - k : k];
    return true;
}

static void report_flipped(topology *s) {
    drape_i_defect kind = {.severity = DRAPE_SEVERITY_WARNING,
                           .code = "flipped-triangle",
                           .advice = "make the normals of the mesh consistent (Blender: Mesh > Normals > Recalculate "
                                     "Outside)"};
    for (int32_t t = 0; t < s->triangles; t++) {
        bool flipped;
        const winding *root = &s->windings[find_winding(s->windings, t, &flipped)];
        bool minority = root->camps[flipped] < root->camps[!flipped];
        bool tie = root->camps[0] == root->camps[1] && flipped;
        if (minority || tie)
            drape_i_found(s->d, &kind, &(drape_i_about){.triangles = 1, .triangle = &t},
                          "triangle %d has the opposite orientation of most triangles it is connected with", t);
    }
    drape_i_found_all(s->d, &kind);
}

/* ---- fans ---- */

static int32_t find_fan(int32_t *parent, int32_t corner) {
    while (parent[corner] != corner) {
        parent[corner] = parent[parent[corner]];
        corner = parent[corner];
    }
    return corner;
}

static int32_t corner_at(const topology *s, int32_t triangle, int32_t vertex) {
    int32_t first = 3 * triangle;
    return s->triangle[first] == vertex ? first : s->triangle[first + 1] == vertex ? first + 1 : first + 2;
}

static void join_fans(topology *s, const half_edge *a, const half_edge *b) {
    const int32_t ends[2] = {a->low, a->high};
    for (int32_t k = 0; k < 2; k++) {
        int32_t p = find_fan(s->fans, corner_at(s, a->triangle, ends[k]));
        int32_t q = find_fan(s->fans, corner_at(s, b->triangle, ends[k]));
        s->fans[p < q ? q : p] = p < q ? p : q;
    }
}

static void report_fans(topology *s) {
    drape_i_defect loose = {.severity = DRAPE_SEVERITY_ERROR,
                            .code = "unreferenced-vertex",
                            .advice = "delete the loose vertices (Blender: Mesh > Clean Up > Delete Loose)"};
    drape_i_defect tie = {
        .severity = DRAPE_SEVERITY_WARNING,
        .code = "bow-tie-vertex",
        .advice = "split the vertex, or join the triangles along an edge; now the cloth hangs by a point"};
    for (int32_t i = 0; i < 3 * s->triangles; i++)
        if (s->fans[i] == i) s->fan_count[s->triangle[i]]++;
    for (int32_t v = 0; v < s->vertices; v++) {
        drape_i_about about = {.vertices = 1, .vertex = &v};
        if (s->fan_count[v] == 0 && !s->d->incomplete)
            drape_i_found(s->d, &loose, &about, "vertex %d belongs to no triangle", v);
        if (s->fan_count[v] > 1)
            drape_i_found(s->d, &tie, &about, "%d fans of triangles meet in vertex %d and share nothing else",
                          s->fan_count[v], v);
    }
    drape_i_found_all(s->d, &loose);
    drape_i_found_all(s->d, &tie);
}

/* ---- edges ---- */

static void report_crowded(topology *s, drape_i_defect *kind, const half_edge *h, int64_t size) {
    enum { MOST_NAMED = 8 };
    int32_t named = 0, triangles[MOST_NAMED], ends[2] = {h->low, h->high};
    for (; named < size && named < MOST_NAMED; named++) triangles[named] = h[named].triangle;
    drape_i_found(s->d, kind, &(drape_i_about){2, ends, named, triangles},
                  "the edge from vertex %d to %d belongs to %lld triangles (%d, %d, %d%s)", h->low, h->high,
                  (long long)size, triangles[0], triangles[1], triangles[2], size > 3 ? ", ..." : "");
}

static void walk_edges(topology *s) {
    const half_edge *end = s->halves + 3 * (int64_t)s->triangles;
    drape_i_defect crowded = {
        .severity = DRAPE_SEVERITY_ERROR,
        .code = "non-manifold-edge",
        .advice = "an edge of cloth has one or two triangles; delete inner faces, or cut the mesh there"};
    drape_i_defect one_sided = {.severity = DRAPE_SEVERITY_WARNING,
                                .code = "not-orientable",
                                .advice = "if it is a Moebius strip, cut it where front and back meet"};
    int64_t size;
    for (const half_edge *h = s->halves; h < end; h += size) {
        size = edge_size(h, end);
        for (int64_t i = 1; i < size; i++) join_fans(s, h, h + i);
        if (size > 2) report_crowded(s, &crowded, h, size);
        if (size == 2 && !join_windings(s->windings, h[0].triangle, h[1].triangle, h[0].forward == h[1].forward))
            drape_i_found(
                s->d, &one_sided,
                &(drape_i_about){2, (int32_t[]){h->low, h->high}, 2, (int32_t[]){h[0].triangle, h[1].triangle}},
                "front and back meet at the edge from vertex %d to %d: the surface has one side only", h->low,
                h->high);
    }
    drape_i_found_all(s->d, &crowded);
    drape_i_found_all(s->d, &one_sided);
}

/* ---- triangles twice ---- */

typedef struct sorted_triangle {
    int32_t vertex[3], triangle; /* vertices ascending */
} sorted_triangle;

static int compare_triangles(const void *a, const void *b) {
    const sorted_triangle *p = a, *q = b;
    for (int32_t k = 0; k < 3; k++)
        if (p->vertex[k] != q->vertex[k]) return p->vertex[k] < q->vertex[k] ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static void order(int32_t *a, int32_t *b) {
    int32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low, *b = high;
}

static void report_doubled(const topology *s, sorted_triangle *all) {
    drape_i_defect kind = {.severity = DRAPE_SEVERITY_WARNING,
                           .code = "duplicate-triangle",
                           .advice = "delete one of the two; the cloth is twice as thick there"};
    for (int32_t t = 0; t < s->triangles; t++) {
        int32_t *v = all[t].vertex;
        for (int32_t k = 0; k < 3; k++) v[k] = s->triangle[3 * (int64_t)t + k];
        order(&v[0], &v[1]), order(&v[1], &v[2]), order(&v[0], &v[1]);
        all[t].triangle = t;
    }
    qsort(all, (size_t)s->triangles, sizeof *all, compare_triangles);
    for (int32_t i = 1, first = 0; i < s->triangles; i++) {
        const int32_t *a = all[first].vertex, *b = all[i].vertex;
        if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2]) first = i;
        else
            drape_i_found(s->d, &kind, &(drape_i_about){3, b, 2, (int32_t[]){all[first].triangle, all[i].triangle}},
                          "triangle %d has the vertices of triangle %d (%d, %d, %d)", all[i].triangle,
                          all[first].triangle, b[0], b[1], b[2]);
    }
    drape_i_found_all(s->d, &kind);
}

/* ---- vertices twice ---- */

typedef struct sorted_vertex {
    double x[3];
    int32_t vertex;
} sorted_vertex;

static int compare_places(const sorted_vertex *p, const sorted_vertex *q) {
    for (int32_t k = 0; k < 3; k++)
        if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return 0;
}

static int compare_vertices(const void *a, const void *b) {
    const sorted_vertex *p = a, *q = b;
    int places = compare_places(p, q);
    return places ? places : (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* Those in triangles and with finite places only: the others are findings of their own. */
static int32_t list_vertices(const topology *s, const double *x, sorted_vertex *all) {
    int32_t n = 0;
    for (int32_t v = 0; v < s->vertices; v++) {
        const double *at = x + 3 * (int64_t)v;
        if (!s->fan_count[v] || !(at[0] - at[0] == 0 && at[1] - at[1] == 0 && at[2] - at[2] == 0)) continue;
        all[n++] = (sorted_vertex){{at[0], at[1], at[2]}, v};
    }
    return n;
}

static void report_unwelded(const topology *s, const double *x, sorted_vertex *all) {
    drape_i_defect kind = {.severity = DRAPE_SEVERITY_WARNING,
                           .code = "duplicate-vertex",
                           .advice = "if this is a seam, merge the vertices (Blender: Mesh > Merge > By Distance); "
                                     "otherwise the cloth comes apart there"};
    int32_t n = list_vertices(s, x, all);
    qsort(all, (size_t)n, sizeof *all, compare_vertices);
    for (int32_t i = 1, first = 0; i < n; i++) {
        if (compare_places(&all[first], &all[i]) != 0) first = i;
        else
            drape_i_found(s->d, &kind, &(drape_i_about){2, (int32_t[]){all[first].vertex, all[i].vertex}, 0, NULL},
                          "vertex %d is at the same place as vertex %d", all[i].vertex, all[first].vertex);
    }
    drape_i_found_all(s->d, &kind);
}

/* ---- all of it ---- */

static void examine(topology *s, const drape_piece *p, sorted_triangle *triangles, sorted_vertex *vertices) {
    for (int32_t t = 0; t < s->triangles; t++) s->windings[t] = (winding){.parent = t, .camps = {1, 0}};
    for (int32_t i = 0; i < 3 * s->triangles; i++) s->fans[i] = i;
    list_halves(s);
    walk_edges(s);
    report_flipped(s);
    report_fans(s);
    report_doubled(s, triangles);
    report_unwelded(s, p->rest, vertices);
}

drape_status drape_i_examine_topology(drape_i_doctor *d, const drape_piece *p) {
    drape_i_arena scratch = {0};
    int64_t corners = 3 * (int64_t)p->triangles;
    topology s = {.d = d, .vertices = p->vertices, .triangles = p->triangles, .triangle = p->triangle};
    s.halves = drape_i_arena_get(d->ctx, &scratch, corners, sizeof *s.halves);
    s.windings = drape_i_arena_get(d->ctx, &scratch, p->triangles, sizeof *s.windings);
    s.fans = drape_i_arena_get(d->ctx, &scratch, corners, sizeof *s.fans);
    s.fan_count = drape_i_arena_get(d->ctx, &scratch, p->vertices, sizeof *s.fan_count);
    sorted_triangle *triangles = drape_i_arena_get(d->ctx, &scratch, p->triangles, sizeof *triangles);
    sorted_vertex *vertices = drape_i_arena_get(d->ctx, &scratch, p->vertices, sizeof *vertices);
    bool good = s.halves && s.windings && s.fans && s.fan_count && triangles && vertices;
    if (good) examine(&s, p, triangles, vertices);
    drape_i_arena_free(d->ctx, &scratch);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}
