/* yaml_override.c: "path=value" on a tree: drape run --set time.step=1ms. */
#include "io/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The child of a map by key, of a list by position or by the value of its `name`. */
static drape_i_node *child_named(const drape_i_node *node, const char *word) {
    if (node->kind == DRAPE_I_MAP) return drape_i_node_find(node, word);
    char *end;
    bool number = *word >= '0' && *word <= '9';
    long position = number ? strtol(word, &end, 10) : 0;
    number = number && !*end;
    for (drape_i_node *n = node->first; n; n = n->next, position--) {
        const drape_i_node *name = drape_i_node_find(n, "name");
        if ((number && position == 0) || (name && name->text && strcmp(name->text, word) == 0)) return n;
    }
    return NULL;
}

/* Puts the value where the old one stood (old NULL: at the end of the map). */
static void put(drape_i_node *parent, drape_i_node *old, drape_i_node *value, const char *key) {
    value->parent = parent;
    value->key = parent->kind == DRAPE_I_MAP ? key : NULL;
    drape_i_node **link = &parent->first;
    while (*link && *link != old) link = &(*link)->next;
    value->next = old ? old->next : NULL;
    *link = value;
}

/* Values of an assignment have no line in a file. */
static drape_i_node *parse_value(drape_i_problems *problems, const char *label, const char *text) {
    drape_i_node *root = drape_i_yaml_parse(problems, label, text, (int64_t)strlen(text)), *n = root;
    while (n) {
        n->line = n->key_line = 0;
        drape_i_node *next = n->first;
        for (; !next && n != root; n = n->parent) next = n->next;
        n = next;
    }
    return root;
}

static char *duplicate(drape_i_problems *problems, const char *text) {
    char *copy = drape_i_arena_get(problems->ctx, problems->arena, (int64_t)strlen(text) + 1, 1);
    if (copy) memcpy(copy, text, strlen(text) + 1);
    else problems->status = DRAPE_ERROR_MEMORY;
    return copy;
}

/* "; known: flag, pole": the names in a list, or the keys of a map; empty where there are none. */
static const char *list_known(const drape_i_node *at, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (const drape_i_node *n = at->first; n && used < size; n = n->next) {
        const drape_i_node *name = n->kind == DRAPE_I_MAP ? drape_i_node_find(n, "name") : NULL;
        const char *word = n->key ? n->key : name && name->kind == DRAPE_I_SCALAR ? name->text : NULL;
        if (word) used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "; known: ", word);
    }
    return out;
}

void drape_i_yaml_override(drape_i_problems *problems, drape_i_node *root, const char *assignment) {
    char label[128], known[200];
    snprintf(label, sizeof label, "--set %.100s", assignment);
    char *path = duplicate(problems, assignment);
    if (!path) return;
    char *value_text = strchr(path, '=');
    if (!value_text || value_text == path || !value_text[1]) {
        drape_i_problem_at(problems, NULL, false, "%s: expected path=value, such as time.step=1ms", label);
        return;
    }
    *value_text++ = 0;
    drape_i_node *at = root, *value;
    char *word = path;
    for (char *dot; (dot = strchr(word, '.')); word = dot + 1) {
        *dot = 0;
        drape_i_node *next = child_named(at, word);
        if (!next && at->kind == DRAPE_I_MAP) { /* an absent map is made, so that time.step works without `time:` */
            next = parse_value(problems, label, "{}");
            if (next) put(at, NULL, next, word);
        }
        if (!next || next->kind == DRAPE_I_SCALAR) {
            drape_i_problem_at(problems, NULL, false, "%s: there is no \"%s\"%s", label, word,
                               next ? "" : list_known(at, known, sizeof known));
            return;
        }
        at = next;
    }
    drape_i_node *old = child_named(at, word);
    if (!*word || (!old && at->kind != DRAPE_I_MAP)) {
        drape_i_problem_at(problems, NULL, false, "%s: there is no \"%s\"%s", label, word,
                           list_known(at, known, sizeof known));
        return;
    }
    value = parse_value(problems, label, value_text);
    if (value) put(at, old, value, word);
}
