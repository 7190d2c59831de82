/* drape/contact.h: contact between triangle meshes: which parts may touch, and when.
 *
 * Everything is SI. Positions are 3 doubles per vertex. A NULL handle or output is an error (DRAPE_ERROR_ARGUMENT),
 * or gives 0 or NULL where a function returns a value. */
#ifndef DRAPE_CONTACT_H
#define DRAPE_CONTACT_H

#include "drape/base.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Narrow phase ----
 *
 * Do two parts meet while their vertices move along straight lines, from `start` at time 0 to `end` at time 1?
 *
 *   double t = drape_ccd_time(DRAPE_CCD_EDGE_EDGE, start, end, NULL);
 *   if (t <= 1) ...   // they may touch, and not before t
 *
 * "Apart" is proved, including all rounding (src/contact/narrow.c), so no contact is ever missed and no time is ever
 * late. This includes coplanar motion, parallel edges, triangles without area and parts that do not move. A pair that
 * cannot be proved apart counts as a contact. These are parts that miss each other by less than about 2^-depth of
 * their motion and by a few roundings of their distances. docs/contact.md gives figures. */

/* What the four vertices of a pair are. */
typedef enum drape_ccd_kind {
    DRAPE_CCD_VERTEX_FACE, /* a vertex, then the three corners of a triangle */
    DRAPE_CCD_EDGE_EDGE,   /* the two ends of an edge, then those of another */
} drape_ccd_kind;

/* "vertex-face", "edge-edge"; NULL if there is no such kind. */
DRAPE_API const char *drape_ccd_kind_name(drape_ccd_kind kind);

/* The time of a pair that never touches. Times of contact are in [0, 1]. */
#define DRAPE_CCD_APART 2.0

/* How to look. Zero means the default in every field. */
typedef struct drape_ccd_settings {
    double separation;    /* m, finite, >= 0: parts at this distance or less touch; default 0 */
    int32_t depth;        /* 1..30: times are resolved to 2^-depth of the step; default 16 */
    uint64_t reserved[8]; /* zero: reserved for later fields */
} drape_ccd_settings;

DRAPE_API drape_ccd_settings drape_ccd_defaults(void);

/* A lower bound of the time at which a pair first touches, in [0, 1], or DRAPE_CCD_APART. start and end hold the four
 * vertices, 12 doubles each. settings may be NULL. Invalid input counts as touching at time 0: NULL,
 * coordinates that are not finite or have differences that overflow, an unknown kind, settings out of range. If
 * differences exceed 2^500, a pair is apart only if the first directions prove it for the whole step. */
DRAPE_API double drape_ccd_time(drape_ccd_kind kind, const double *start, const double *end,
                                const drape_ccd_settings *settings);

/* Many pairs of one kind. Zero means zero. To test two meshes against each other, put all vertices into one array. */
typedef struct drape_ccd_pairs {
    drape_ccd_kind kind;
    int32_t vertices;
    const double *start; /* m, 3 doubles per vertex, at time 0 */
    const double *end;   /* m, 3 doubles per vertex, at time 1 */
    int64_t pairs;
    const int32_t *vertex;    /* 4 per pair, each in [0, vertices) */
    const double *separation; /* m, one per pair, as in the settings; NULL: that of the settings for all */
    uint64_t reserved[8];     /* zero: reserved for later fields */
} drape_ccd_pairs;

/* time[i] of every pair i as drape_ccd_time gives it. Runs on the threads of the context; allocates nothing. The same
 * bits for any number of threads and any vector width. settings may be NULL. A pair whose own separation is negative
 * or not finite touches at time 0. DRAPE_ERROR_ARGUMENT for vertices out of range or settings out of range. */
DRAPE_API drape_status drape_ccd_times(drape_context *ctx, const drape_ccd_pairs *pairs,
                                       const drape_ccd_settings *settings, double *time);

/* ---- Broad phase: which pairs of a moving mesh, or of two, come near each other ----
 *
 *   drape_contact_tree *tree;
 *   drape_contact_pairs *pairs;
 *   drape_contact_tree_create(ctx, vertices, triangles, triangle, &tree);
 *   drape_contact_pairs_create(ctx, &pairs);
 *   every step:
 *     drape_contact_motion motion = {.start = x0, .end = x1, .margin = thickness / 2};
 *     drape_contact_tree_update(tree, &motion);
 *     drape_contact_tree_self(tree, 0, pairs);
 *     drape_contact_list near = drape_contact_pairs_list(pairs, DRAPE_CONTACT_EDGE_EDGE);
 *
 * Every vertex moves along the straight segment from start to end. A pair is a vertex and a triangle, or two edges,
 * that have no vertex in common. Every pair that comes within the sum of both margins is found exactly once. This
 * holds for any combination of positions on the segments: a vertex may also stop after a part of its path. Other
 * pairs may be listed too. For pairs that are near each other at one moment, pass start = end. */

/* A tree of boxes around the triangles of a mesh. */
typedef struct drape_contact_tree drape_contact_tree;

/* A mesh of `triangles` triangles, 3 vertex numbers each in 0..vertices-1; they are copied. Several pieces of cloth
 * are one mesh. Triangles may form an open or non-manifold mesh, and may be degenerate. Vertices of no triangle are
 * in no pair. Edges get numbers of their own, see below. */
DRAPE_API drape_status drape_contact_tree_create(drape_context *ctx, int32_t vertices, int32_t triangles,
                                                 const int32_t *triangle, drape_contact_tree **out);
DRAPE_API void drape_contact_tree_destroy(drape_contact_tree *tree); /* NULL is fine */

/* The edges of the mesh: 2 vertex numbers each, the smaller one first, in ascending order. *edge may be NULL. */
DRAPE_API int32_t drape_contact_tree_edges(const drape_contact_tree *tree, const int32_t **edge);

/* Offset that is added to the vertex numbers of this mesh in lists, 0 or more, for meshes whose positions share one
 * array. 0 when a tree is created. */
DRAPE_API drape_status drape_contact_tree_set_first_vertex(drape_contact_tree *tree, int32_t first_vertex);

/* Where the vertices of a mesh are at the start and at the end of a step. */
typedef struct drape_contact_motion {
    const double *start, *end; /* 3 doubles per vertex, m; may be the same array */
    double margin;             /* m, >= 0: half the distance at which two elements of this mesh are a pair */
    double origin[3];          /* m: boxes are kept in single precision relative to this point, so one near the mesh
                                  gives tight boxes far from zero; any point gives correct ones. Trees that are
                                  compared need the same one. */
    double drift[3]; /* m: a part of the motion that all vertices have in common, such as the mean of end - start.
                        Boxes leave it out. Use it if the common motion is so large that single precision would lose
                        the rest. If it is not zero, queries need DRAPE_CONTACT_TOGETHER, and the same drift in both
                        trees. */
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_contact_motion;

/* Tells the tree where the mesh is and where it moves. The arrays are not needed afterwards. A coordinate that is not
 * finite is DRAPE_ERROR_NUMBER, with a message that names the vertex. */
DRAPE_API drape_status drape_contact_tree_update(drape_contact_tree *tree, const drape_contact_motion *motion);

/* Makes the next update build the tree from its positions only, without regard to earlier ones. The order of pairs
 * depends on the updates and queries since this call, or since the tree was created; the set of pairs never does. */
DRAPE_API void drape_contact_tree_forget(drape_contact_tree *tree);

/* What a tree has done so far, for reports and tests. */
typedef struct drape_contact_tree_counts {
    int64_t updates, builds; /* builds: the updates that rebuilt the tree */
    /* Of the last query of the tree with itself, or as the second of two: */
    int64_t overlaps;   /* pairs of leaves whose boxes meet */
    int64_t candidates; /* pairs of elements without a common vertex that were compared one by one */
    uint64_t reserved[4];
} drape_contact_tree_counts;
DRAPE_API drape_contact_tree_counts drape_contact_tree_count(const drape_contact_tree *tree);

/* ---- Pairs ---- */

/* What the two elements of a pair are. */
typedef enum drape_contact_kind {
    DRAPE_CONTACT_VERTEX_TRIANGLE, /* a vertex of the first mesh, a triangle of the second */
    DRAPE_CONTACT_TRIANGLE_VERTEX, /* a vertex of the second mesh, a triangle of the first; empty for a mesh and
                                      itself */
    DRAPE_CONTACT_EDGE_EDGE,       /* an edge of the first mesh, an edge of the second */
} drape_contact_kind;
enum { DRAPE_CONTACT_KINDS = 3 };

/* Valid until the next query into the same drape_contact_pairs. */
typedef struct drape_contact_list {
    int64_t count;
    const int32_t *vertex;  /* 4 per pair: the vertex and the triangle's corners; or the ends of one edge, then of the
                               other; each with the first_vertex of its tree added */
    const int32_t *element; /* 2 per pair: vertex and triangle; or the two edges; numbered within their meshes */
} drape_contact_list;

/* Memory for the pairs of a query, which grows as needed and is kept from query to query. */
typedef struct drape_contact_pairs drape_contact_pairs;
DRAPE_API drape_status drape_contact_pairs_create(drape_context *ctx, drape_contact_pairs **out);
DRAPE_API void drape_contact_pairs_destroy(drape_contact_pairs *pairs); /* NULL is fine */
DRAPE_API drape_contact_list drape_contact_pairs_list(const drape_contact_pairs *pairs, drape_contact_kind kind);

/* Options of a query, bits. */
typedef enum drape_contact_query {
    DRAPE_CONTACT_BOXES = 1,   /* every pair whose boxes come near enough to each other on their ways, also those that
                                  a second, tighter test finds apart */
    DRAPE_CONTACT_TOGETHER = 2 /* all vertices move at the same time, each at its own constant velocity: leaves out
                                  pairs that come near each other only if some vertices are ahead of others. A sheet
                                  that flies has no more pairs then than one at rest. */
} drape_contact_query;

/* The pairs of a mesh with itself, and of one mesh with another; the larger one comes first. The same pairs in the
 * same order, whatever the number of threads and the vector width. Allocates only where there are more pairs than
 * ever before. */
DRAPE_API drape_status drape_contact_tree_self(drape_contact_tree *tree, uint32_t options,
                                               drape_contact_pairs *pairs);
DRAPE_API drape_status drape_contact_tree_against(drape_contact_tree *first, drape_contact_tree *second,
                                                  uint32_t options, drape_contact_pairs *pairs);

#ifdef __cplusplus
}
#endif

#endif
