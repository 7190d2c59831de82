/* tree.c: a tree of boxes, rebuilt for each frame: halves of the items, by their centres along the longest side of
 * the box of centres, until few are left. O(n log n), and balanced whatever the triangles look like. */
#include "crossings/tree.h"

drape_status drape_i_tree_create(drape_context *ctx, int32_t count, drape_i_tree *out) {
    *out = (drape_i_tree){.count = count};
    /* Leaves have two items or more, except for a tree of one: less than `count` nodes. */
    bool there = DRAPE_NEW(ctx, out->box, count) && DRAPE_NEW(ctx, out->item, count) &&
                 DRAPE_NEW(ctx, out->node, (int64_t)count + 1);
    if (!there) drape_i_tree_destroy(ctx, out);
    return there ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

void drape_i_tree_destroy(drape_context *ctx, drape_i_tree *tree) {
    if (tree->box) DRAPE_FREE(ctx, tree->box, tree->count);
    if (tree->item) DRAPE_FREE(ctx, tree->item, tree->count);
    if (tree->node) DRAPE_FREE(ctx, tree->node, (int64_t)tree->count + 1);
    *tree = (drape_i_tree){0};
}

/* The indices break ties, so that no two items are equal. */
static bool before(const drape_i_box_item *a, const drape_i_box_item *b, int axis) {
    return a->centre[axis] < b->centre[axis] || (a->centre[axis] == b->centre[axis] && a->index < b->index);
}

static void swap(drape_i_box_item *a, drape_i_box_item *b) {
    drape_i_box_item t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's selection: the items before place `middle` come before those after it. The pivots are random, with
 * the same lots every time, so that no ordinary order of triangles is a bad one. */
static void select_middle(drape_i_box_item *item, int32_t count, int32_t middle, int axis) {
    uint32_t lot = 12345;
    int32_t low = 0, high = count - 1;
    while (low < high) {
        lot = lot * 1664525u + 1013904223u;
        drape_i_box_item pivot = item[low + (int32_t)(lot >> 8) % (high - low + 1)];
        int32_t i = low, j = high;
        while (i <= j) {
            while (before(item + i, &pivot, axis)) i++;
            while (before(&pivot, item + j, axis)) j--;
            if (i <= j) swap(item + i++, item + j--);
        }
        if (middle <= j) high = j;
        else if (middle >= i) low = i;
        else return;
    }
}

static int longest_axis(const drape_i_box_item *item, int32_t count) {
    double low[3], high[3];
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = item[0].centre[k];
        for (int32_t i = 1; i < count; i++) {
            double at = item[i].centre[k];
            if (at < low[k]) low[k] = at;
            if (at > high[k]) high[k] = at;
        }
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    }
    return axis;
}

static void include(drape_i_box *box, const drape_i_box *more) {
    for (int k = 0; k < 3; k++) {
        if (more->low[k] < box->low[k]) box->low[k] = more->low[k];
        if (more->high[k] > box->high[k]) box->high[k] = more->high[k];
    }
}

/* Returns the first free node after this one and all below it. Each call halves the items: no deep recursion. */
static int32_t build(drape_i_tree *t, int32_t at, int32_t first, int32_t count) {
    drape_i_box_node *node = t->node + at;
    int32_t free = at + 1;
    *node = (drape_i_box_node){.first = first, .count = count};
    if (count <= DRAPE_I_LEAF) {
        node->box = t->box[t->item[first].index];
        for (int32_t i = 1; i < count; i++) include(&node->box, t->box + t->item[first + i].index);
        return free;
    }
    int32_t half = count / 2;
    select_middle(t->item + first, count, half, longest_axis(t->item + first, count));
    node->right = build(t, free, first, half);
    free = build(t, node->right, first + half, count - half);
    node->box = t->node[at + 1].box;
    include(&node->box, &t->node[node->right].box);
    return free;
}

void drape_i_tree_build(drape_i_tree *t) {
    for (int32_t i = 0; i < t->count; i++) {
        const drape_i_box *b = t->box + i;
        t->item[i] = (drape_i_box_item){.index = i};
        for (int k = 0; k < 3; k++) t->item[i].centre[k] = b->low[k] + b->high[k];
    }
    int32_t nodes = t->count > 0 ? build(t, 0, 0, t->count) : 0;
    DRAPE_ASSERT(nodes <= t->count + 1);
    (void)nodes;
}

void drape_i_tree_search(const drape_i_tree *t, const drape_i_box *box, void (*found)(void *user, int32_t index),
                         void *user) {
    int32_t waiting[DRAPE_I_TREE_DEPTH], count = 0;
    if (t->count > 0) waiting[count++] = 0;
    while (count > 0) {
        int32_t at = waiting[--count];
        const drape_i_box_node *node = t->node + at;
        if (!drape_i_boxes_meet(&node->box, box)) continue;
        if (node->right) {
            DRAPE_ASSERT(count + 2 <= DRAPE_I_TREE_DEPTH);
            waiting[count++] = node->right;
            waiting[count++] = at + 1;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++)
            if (drape_i_boxes_meet(t->box + t->item[i].index, box)) found(user, t->item[i].index);
    }
}
