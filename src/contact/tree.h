/* tree.h: the internals of the tree of boxes of the broad phase; tree.c says how it works. */
#ifndef DRAPE_CONTACT_TREE_H
#define DRAPE_CONTACT_TREE_H

#include "base/context.h"
#include "base/simd_level.h"
#include "drape/contact.h"

enum {
    DRAPE_I_TREE_WIDTH = 8,  /* triangles of a leaf, children of a node: as many as there are lanes */
    DRAPE_I_TREE_LEVELS = 12 /* enough for 2^31 triangles */
};

/* Eight boxes in lanes. Where there are fewer, the rest is not a number, so that no comparison with it holds. */
typedef struct drape_i_box8 {
    _Alignas(64) float lo[3][8];
    float hi[3][8];
} drape_i_box8;

/* Eight nodes or leaves in lanes: boxes around all their vertices in the middle of the motion, and around their m. */
typedef struct drape_i_node8 {
    drape_i_box8 at, way;
} drape_i_node8;

/* All that is known of a vertex in motion, relative to the origin. At the time (1 + s)/2, -1 <= s <= 1, it is within
 * e of c + s m in each coordinate, in real numbers; lo <= c - e - margin and hi >= c + e + margin. */
typedef struct drape_i_vertex_box {
    _Alignas(64) float c[3];
    float e, m[4], lo[4], hi[4]; /* the last of m, lo and hi are zero */
} drape_i_vertex_box;

_Static_assert(sizeof(drape_i_box8) == 192 && sizeof(drape_i_vertex_box) == 64,
               "c, e and m are loaded together, and nothing is padded");

/* The elements of one kind, leaf by leaf, in blocks of eight lanes: those of leaf i are in the blocks begin[i] ..
 * begin[i+1]-1. */
typedef struct drape_i_elements {
    int32_t corners;      /* of an element: 1, 2 or 3 vertices */
    drape_i_box8 *box;    /* in the middle of the motion */
    int32_t (*id)[8];     /* -1: none */
    int32_t (*vertex)[8]; /* those of block b are vertex[corners b] and what follows; of points it is id */
    int32_t *begin;       /* leaves + 1 */
    int32_t most;         /* blocks there is room for */
} drape_i_elements;

/* A triangle while the tree is built: the sum of its corners' c, and its key in Morton order. */
typedef struct drape_i_place {
    uint64_t key;
    float sum[3];
    int32_t triangle;
} drape_i_place;

_Static_assert(8 * sizeof(drape_i_place) <= sizeof(drape_i_box8), "a build works in the memory of boxes");

struct drape_contact_tree {
    drape_context *ctx;
    int32_t vertices, triangles, edges, leaves;
    int32_t first_vertex; /* added to vertices in lists */
    int32_t (*triangle)[3], (*edge)[2];
    int32_t (*triangle_edge)[3]; /* -1: both ends are the same vertex */
    drape_i_vertex_box *vertex;

    drape_i_elements points, lines, faces; /* faces: one block per leaf */
    /* Node g of level l holds the boxes of the nodes (l = 0: leaves) 8g .. 8g+7 of the level below; the last level is
     * one node. */
    drape_i_node8 *level[DRAPE_I_TREE_LEVELS];
    int32_t nodes[DRAPE_I_TREE_LEVELS];
    int32_t levels;

    double margin, origin[3], drift[3];
    float margin_up;                /* rounded up */
    bool updated, forgotten, grown; /* grown: the last query met too many leaves, so the tree needs a rebuild */
    int64_t reference[2]; /* overlaps to compare with, of queries without and with DRAPE_CONTACT_TOGETHER; -1: not
                             counted since the tree was built */
    drape_contact_tree_counts counts;

    uint8_t lanes[256][8], lane_count[256]; /* of 8 bits: which are set, in ascending order, and how many */

    uint8_t *owned; /* scratch of a build: of vertices, then of edges */
};

/* Where a part of a query puts its pairs of one kind; count goes on where room ends. */
typedef struct drape_i_sink {
    int32_t (*vertex)[4], (*element)[2];
    int64_t room, count;
} drape_i_sink;

typedef struct drape_i_tree_query {
    const drape_contact_tree *first, *second; /* the same tree: a mesh and itself */
    float distance;                           /* the sum of both margins, rounded up */
    bool boxes_only, together;
} drape_i_tree_query;

/* ---- Kernels: tree_simd.c ---- */

/* The boxes of all elements of the leaves [begin, end), and those of the leaves. */
DRAPE_I_KERNEL(void, drape_i_tree_refit, (drape_contact_tree * tree, int64_t begin, int64_t end));
/* The boxes of the nodes [begin, end) of a level, written into the level above. */
DRAPE_I_KERNEL(void, drape_i_tree_refit_level,
               (drape_contact_tree * tree, int32_t level, int64_t begin, int64_t end));
/* The pairs of the leaves [begin, end) of the first tree. */
DRAPE_I_KERNEL(void, drape_i_tree_pairs,
               (const drape_i_tree_query *query, int64_t begin, int64_t end, drape_i_sink sink[DRAPE_CONTACT_KINDS],
                int64_t *overlaps, int64_t *candidates));

#endif
