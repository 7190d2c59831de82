/* yaml.h: YAML as a tree of our own, every node with its place in the text; and a list of problems found in it. */
#ifndef DRAPE_IO_YAML_H
#define DRAPE_IO_YAML_H

#include "base/arena.h"

typedef enum drape_i_node_kind { DRAPE_I_SCALAR, DRAPE_I_MAP, DRAPE_I_LIST } drape_i_node_kind;

typedef struct drape_i_node {
    drape_i_node_kind kind;
    const char *key;  /* in a map; else NULL */
    const char *text; /* of a scalar; else NULL */
    bool quoted;      /* the scalar stood in quotes, so it is text whatever it looks like */
    const char *file; /* where it is: for messages */
    const char *line_text;
    int32_t line, column;         /* from 1; line 0: no line of a file, `file` says it all */
    int32_t key_line, key_column; /* of its key; as above without one */
    const char *key_line_text;
    struct drape_i_node *parent, *first, *next; /* first child, next sibling */
} drape_i_node;

/* What is wrong with a file. */
typedef struct drape_i_problem {
    const char *text;                 /* "scene.yaml:3:7: what", then a line with the source line */
    const char *what, *file, *source; /* the parts of it; file and source may be NULL */
    const char *code;                 /* the part of the scene: "bad-time"; see docs/doctor.md */
    int32_t line, column;
    struct drape_i_problem *next;
} drape_i_problem;

typedef struct drape_i_problems {
    drape_context *ctx;
    drape_i_arena *arena;
    int32_t count;          /* of all; only so many are kept */
    drape_i_problem *first; /* in the order of the file; those without a line come first */
    drape_status status;    /* of the first problem; DRAPE_ERROR_MEMORY overrides */
    const char *code;       /* of problems to come; NULL: "bad-scene" */
} drape_i_problems;

/* Adds a problem at a node (at_key: at its key), or without a place where node is NULL. */
void drape_i_problem_at(drape_i_problems *list, const drape_i_node *node, bool at_key, const char *format, ...)
    DRAPE_PRINTF(4, 5);

/* Parses text (size bytes); the tree lives in the arena. Syntax errors go to the problems and give NULL. name is
 * in messages. Aliases, anchors and tags are refused, and so is what is no UTF-8 text. */
drape_i_node *drape_i_yaml_parse(drape_i_problems *problems, const char *name, const char *text, int64_t size);

/* The child of that name of a map, or NULL. */
drape_i_node *drape_i_node_find(const drape_i_node *map, const char *key);
int32_t drape_i_node_count(const drape_i_node *node); /* children */

/* Replaces or adds what `path` names: keys and list positions joined by dots, a list element also by the value of its
 * `name`: "cloth.flag.grid.resolution=51". */
void drape_i_yaml_override(drape_i_problems *problems, drape_i_node *root, const char *assignment);

#endif
