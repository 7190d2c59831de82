/* mesh_refine.c: a finer mesh of the same surface: every edge in `parts` equal ones, every triangle in parts^2.
 *
 * Vertices of the mesh come first and keep their numbers. Then come parts - 1 for each edge, from its lower to its
 * higher end, edges in the order of their ends; then the (parts - 1)(parts - 2)/2 inside each triangle. A lattice
 * point (i, j) of a triangle with corners a, b, c lies at a + i/parts (b - a) + j/parts (c - a). A point of an edge
 * is computed from its lower end whichever triangle asks, so that neighbours share it to the last bit.
 *
 * The pattern has edges of its own, as seams are borders there; it is divided in the same way. */
#include "io/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct edge {
    int32_t low, high;
} edge;

/* A mesh of triangles, in space or in the pattern. */
typedef struct surface {
    int32_t vertices, edges;
    const int32_t (*triangle)[3];
    edge *edge;            /* in order */
    int32_t (*edge_of)[3]; /* of each triangle: the edge opposite to each corner */
    int32_t (*refined)[3]; /* the new triangles */
    int32_t total;         /* vertices afterwards */
} surface;

static int compare_edges(const void *a, const void *b) {
    const edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

static edge edge_between(int32_t a, int32_t b) { return a < b ? (edge){a, b} : (edge){b, a}; }

static int32_t find_edge(const surface *c, edge wanted) {
    const edge *found = bsearch(&wanted, c->edge, (size_t)c->edges, sizeof wanted, compare_edges);
    DRAPE_ASSERT(found);
    return (int32_t)(found - c->edge);
}

static drape_status find_edges(drape_context *ctx, drape_i_arena *scratch, int32_t triangles, surface *c) {
    c->edge = drape_i_arena_get(ctx, scratch, 3 * (int64_t)triangles, sizeof *c->edge);
    c->edge_of = drape_i_arena_get(ctx, scratch, triangles, sizeof *c->edge_of);
    if (!c->edge || !c->edge_of) return DRAPE_ERROR_MEMORY;
    for (int32_t t = 0; t < triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            c->edge[3 * (int64_t)t + k] = edge_between(c->triangle[t][(k + 1) % 3], c->triangle[t][(k + 2) % 3]);
    qsort(c->edge, 3 * (size_t)triangles, sizeof *c->edge, compare_edges);
    for (int64_t i = 0; i < 3 * (int64_t)triangles; i++)
        if (i == 0 || compare_edges(&c->edge[i - 1], &c->edge[i]) != 0) c->edge[c->edges++] = c->edge[i];
    for (int32_t t = 0; t < triangles; t++)
        for (int32_t k = 0; k < 3; k++)
            c->edge_of[t][k] = find_edge(c, edge_between(c->triangle[t][(k + 1) % 3], c->triangle[t][(k + 2) % 3]));
    return DRAPE_OK;
}

static int64_t inside_of(int32_t parts) { return (int64_t)(parts - 1) * (parts - 2) / 2; }

static int64_t count_vertices(const surface *c, int32_t triangles, int32_t parts) {
    return c->vertices + (int64_t)c->edges * (parts - 1) + triangles * inside_of(parts);
}

/* The vertex at distance `step` from corner `from` on the edge to corner `to`, opposite to corner `k`. */
static int32_t on_edge(const surface *c, int32_t parts, int32_t t, int32_t k, int32_t from, int32_t step) {
    int32_t e = c->edge_of[t][k];
    int32_t place = c->triangle[t][from] == c->edge[e].low ? step : parts - step;
    return (int32_t)(c->vertices + (int64_t)e * (parts - 1) + place - 1);
}

static int32_t lattice_vertex(const surface *c, int32_t parts, int32_t t, int32_t i, int32_t j) {
    if (i == 0 && j == 0) return c->triangle[t][0];
    if (i == parts) return c->triangle[t][1];
    if (j == parts) return c->triangle[t][2];
    if (j == 0) return on_edge(c, parts, t, 2, 0, i);
    if (i == 0) return on_edge(c, parts, t, 1, 0, j);
    if (i + j == parts) return on_edge(c, parts, t, 0, 1, j);
    /* Row j holds parts - 1 - j points inside, from i = 1 on. */
    int64_t before = (int64_t)(j - 1) * (parts - 1) - (int64_t)j * (j - 1) / 2;
    return (int32_t)(c->vertices + (int64_t)c->edges * (parts - 1) + t * inside_of(parts) + before + i - 1);
}

static drape_status divide_triangles(drape_context *ctx, drape_i_arena *arena, int32_t triangles, int32_t parts,
                                     surface *c) {
    c->refined = drape_i_arena_get(ctx, arena, (int64_t)triangles * parts * parts, sizeof *c->refined);
    if (!c->refined) return DRAPE_ERROR_MEMORY;
    int64_t next = 0;
    for (int32_t t = 0; t < triangles; t++)
        for (int32_t j = 0; j < parts; j++)
            for (int32_t i = 0; i + j < parts; i++) {
                int32_t a = lattice_vertex(c, parts, t, i, j);
                int32_t b = lattice_vertex(c, parts, t, i + 1, j);
                int32_t d = lattice_vertex(c, parts, t, i, j + 1);
                int32_t *out = c->refined[next++];
                out[0] = a, out[1] = b, out[2] = d;
                if (i + j + 1 == parts) continue;
                out = c->refined[next++];
                out[0] = b, out[1] = lattice_vertex(c, parts, t, i + 1, j + 1), out[2] = d;
            }
    DRAPE_ASSERT(next == (int64_t)triangles * parts * parts);
    return DRAPE_OK;
}

/* Origins of all vertices of the surface after it is divided. */
static void find_origins(const surface *c, int32_t triangles, int32_t parts, drape_i_mesh_origin *origin) {
    for (int32_t v = 0; v < c->vertices; v++) origin[v] = (drape_i_mesh_origin){{v, -1, -1}, {1, 0, 0}};
    for (int32_t e = 0; e < c->edges; e++)
        for (int32_t k = 1; k < parts; k++)
            origin[c->vertices + (int64_t)e * (parts - 1) + k - 1] = (drape_i_mesh_origin){
                {c->edge[e].low, c->edge[e].high, -1}, {(double)(parts - k) / parts, (double)k / parts, 0}};
    for (int32_t t = 0; t < triangles; t++)
        for (int32_t j = 1; j < parts; j++)
            for (int32_t i = 1; i + j < parts; i++)
                origin[lattice_vertex(c, parts, t, i, j)] =
                    (drape_i_mesh_origin){{c->triangle[t][0], c->triangle[t][1], c->triangle[t][2]},
                                          {(double)(parts - i - j) / parts, (double)i / parts, (double)j / parts}};
}

static double *interpolate(drape_context *ctx, drape_i_arena *arena, const drape_i_mesh_origin *origin, int32_t count,
                           int32_t dimension, const double *x) {
    double *out = drape_i_arena_get(ctx, arena, (int64_t)count * dimension, sizeof *out);
    for (int64_t v = 0; out && v < count; v++)
        for (int32_t d = 0; d < dimension; d++) {
            const double *first = x + (int64_t)dimension * origin[v].vertex[0];
            double sum = origin[v].weight[0] * first[d];
            for (int32_t k = 1; k < 3 && origin[v].vertex[k] >= 0; k++)
                sum += origin[v].weight[k] * x[(int64_t)dimension * origin[v].vertex[k] + d];
            out[dimension * v + d] = sum;
        }
    return out;
}

/* The triangles of a group are divided; its vertices are all vertices of those. */
static drape_status refine_groups(drape_context *ctx, drape_i_arena *arena, drape_i_arena *scratch, int32_t parts,
                                  drape_i_mesh *mesh) {
    int64_t pieces = (int64_t)parts * parts;
    int32_t *mark = drape_i_arena_get(ctx, scratch, mesh->vertices, sizeof *mark);
    if (!mark) return DRAPE_ERROR_MEMORY;
    for (int32_t g = 0; g < mesh->groups; g++) {
        drape_i_mesh_group *group = &mesh->group[g];
        int32_t *triangle = drape_i_arena_get(ctx, arena, pieces * group->triangles, sizeof *triangle);
        if (!triangle) return DRAPE_ERROR_MEMORY;
        int32_t count = 0, next = 0;
        for (int32_t i = 0; i < group->triangles; i++)
            for (int64_t k = 0; k < pieces; k++) {
                int32_t t = triangle[next++] = (int32_t)(group->triangle[i] * pieces + k);
                for (int32_t c = 0; c < 3; c++) {
                    int32_t *m = &mark[mesh->triangle[t][c]];
                    count += *m != g + 1;
                    *m = g + 1;
                }
            }
        int32_t *vertex = drape_i_arena_get(ctx, arena, count, sizeof *vertex);
        if (!vertex) return DRAPE_ERROR_MEMORY;
        group->vertices = 0;
        for (int32_t v = 0; v < mesh->vertices; v++)
            if (mark[v] == g + 1) vertex[group->vertices++] = v;
        group->vertex = vertex, group->triangle = triangle, group->triangles = next;
    }
    return DRAPE_OK;
}

static drape_status refine(drape_context *ctx, drape_i_arena *arena, drape_i_arena *scratch, int32_t parts,
                           int64_t most, drape_i_mesh *m) {
    surface space = {.vertices = m->vertices, .triangle = (const int32_t(*)[3])m->triangle};
    surface flat = {.vertices = m->uv_vertices, .triangle = (const int32_t(*)[3])m->uv_triangle};
    drape_status status = find_edges(ctx, scratch, m->triangles, &space);
    if (!status && m->uv) status = find_edges(ctx, scratch, m->triangles, &flat);
    if (status) return status;
    int64_t vertices = count_vertices(&space, m->triangles, parts),
            points = count_vertices(&flat, m->triangles, parts);
    if (vertices > most || (m->uv && points > 2 * most))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "divided into %d parts each, its edges would give %lld vertices, and the scene more than "
                            "it may have; use a larger resolution",
                            parts, (long long)vertices);
    status = divide_triangles(ctx, arena, m->triangles, parts, &space);
    if (!status && m->uv) status = divide_triangles(ctx, arena, m->triangles, parts, &flat);
    m->origin = drape_i_arena_get(ctx, arena, vertices, sizeof *m->origin);
    drape_i_mesh_origin *pattern = drape_i_arena_get(ctx, scratch, m->uv ? points : 0, sizeof *pattern);
    if (status || !m->origin || !pattern) return DRAPE_ERROR_MEMORY;
    find_origins(&space, m->triangles, parts, m->origin);
    if (m->uv) find_origins(&flat, m->triangles, parts, pattern);
    m->position = interpolate(ctx, arena, m->origin, (int32_t)vertices, 3, m->position);
    if (m->uv) m->uv = interpolate(ctx, arena, pattern, (int32_t)points, 2, m->uv);
    if (!m->position || (m->uv_vertices > 0 && !m->uv)) return DRAPE_ERROR_MEMORY;
    m->unrefined = m->vertices;
    m->parts = parts;
    if (!m->file_vertices) m->file_vertices = m->vertices;
    m->vertices = (int32_t)vertices;
    m->triangle = space.refined;
    m->triangles = (int32_t)((int64_t)m->triangles * parts * parts);
    if (m->uv) m->uv_vertices = (int32_t)points, m->uv_triangle = flat.refined;
    return refine_groups(ctx, arena, scratch, parts, m);
}

drape_status drape_i_mesh_refine(drape_context *ctx, drape_i_arena *arena, int32_t parts, int64_t most,
                                 drape_i_mesh *mesh) {
    drape_i_arena scratch = {0};
    DRAPE_ASSERT(parts >= 1 && mesh->unreferenced == 0);
    if (parts <= 1) return DRAPE_OK;
    if ((int64_t)mesh->triangles * parts * parts > INT32_MAX / 4)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "divided into %d by %d each, its %d triangles would be too many; use a larger resolution",
                            parts, parts, mesh->triangles);
    drape_status status = refine(ctx, arena, &scratch, parts, most, mesh);
    drape_i_arena_free(ctx, &scratch);
    return status;
}

int32_t drape_i_mesh_on_edge(const drape_i_mesh *m, int32_t a, int32_t b, int32_t step) {
    edge wanted = edge_between(a, b);
    int64_t before = m->triangles / ((int64_t)m->parts * m->parts);
    int64_t low = 0, high = (m->vertices - m->unrefined - before * inside_of(m->parts)) / (m->parts - 1);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const int32_t *ends = m->origin[m->unrefined + middle * (m->parts - 1)].vertex;
        if (compare_edges(&(edge){ends[0], ends[1]}, &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    int32_t place = a == wanted.low ? step : m->parts - step;
    return (int32_t)(m->unrefined + low * (m->parts - 1) + place - 1);
}

double drape_i_mesh_mean_edge(const drape_i_mesh *m) {
    double sum = 0;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t *corner = m->uv ? m->uv_triangle[t] : m->triangle[t];
            int32_t dimension = m->uv ? 2 : 3, a = corner[k], b = corner[(k + 1) % 3];
            const double *x = m->uv ? m->uv : m->position;
            double square = 0;
            for (int32_t d = 0; d < dimension; d++) {
                double difference = x[(int64_t)dimension * b + d] - x[(int64_t)dimension * a + d];
                square += difference * difference;
            }
            sum += sqrt(square);
        }
    return m->triangles > 0 ? sum / (3 * (double)m->triangles) : 0;
}
