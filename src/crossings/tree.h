/* tree.h: boxes around triangles, and which of them meet a box. Boxes are exact (least and largest coordinates), so
 * that no triangle that meets another is missed. Simple on purpose, and no part of the simulation. */
#ifndef DRAPE_CROSSINGS_TREE_H
#define DRAPE_CROSSINGS_TREE_H

#include "base/context.h"

typedef struct drape_i_box {
    double low[3], high[3];
} drape_i_box;

/* Closed boxes have a point in common. */
static inline bool drape_i_boxes_meet(const drape_i_box *a, const drape_i_box *b) {
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] && b->low[1] <= a->high[1] &&
           a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

typedef struct drape_i_box_node {
    drape_i_box box;
    int32_t first, count; /* of the items below it, in the tree's order; a leaf has at most DRAPE_I_LEAF */
    int32_t right;        /* the second child; the first one is the next node. 0: a leaf */
} drape_i_box_node;

enum { DRAPE_I_LEAF = 4, DRAPE_I_TREE_DEPTH = 64 };

/* What is sorted while a tree is built. */
typedef struct drape_i_box_item {
    double centre[3]; /* twice */
    int32_t index;
} drape_i_box_item;

typedef struct drape_i_tree {
    int32_t count;
    drape_i_box *box;       /* of each item, to be filled in before building */
    drape_i_box_item *item; /* in the order of the leaves */
    drape_i_box_node *node;
} drape_i_tree;

drape_status drape_i_tree_create(drape_context *ctx, int32_t count, drape_i_tree *out);
void drape_i_tree_build(drape_i_tree *tree);
void drape_i_tree_destroy(drape_context *ctx, drape_i_tree *tree); /* also one that is all zero, or half created */

/* Calls found(user, index) for every item whose box meets this one, in an order that the boxes alone decide. */
void drape_i_tree_search(const drape_i_tree *tree, const drape_i_box *box, void (*found)(void *user, int32_t index),
                         void *user);

#endif
