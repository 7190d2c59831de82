/* scene_fields.c: reading the values of keys: numbers with units, vectors, words, names of files; and saying what is
 * wrong with them. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "io/scene_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *drape_i_scene_get(reader_t *r, int64_t count, size_t size) {
    void *memory = drape_i_arena_get(r->ctx, &r->out->arena, count, size);
    if (!memory) r->problems.status = DRAPE_ERROR_MEMORY;
    return memory;
}

bool drape_i_scene_failed(reader_t *r, const drape_i_node *node, drape_status status) {
    if (status == DRAPE_ERROR_MEMORY) r->problems.status = status;
    else drape_i_problem_at(&r->problems, node, false, "%s", drape_message(r->ctx));
    return false;
}

bool drape_i_scene_file_failed(reader_t *r, const drape_i_node *node, drape_status status) {
    bool says_what_to_do = strstr(drape_message(r->ctx), "; ");
    if (status == DRAPE_ERROR_MEMORY || says_what_to_do) return drape_i_scene_failed(r, node, status);
    drape_i_problem_at(&r->problems, node, false, "%s; %s", drape_message(r->ctx),
                       status == DRAPE_ERROR_FORMAT ? "correct the file, or export it again"
                                                    : "check the name, which is relative to the scene file");
    return false;
}

/* ---- what was probably meant ---- */

enum { LONGEST_WORD = 32 };

/* Edits (change, insert, leave out) from a to b. */
static int32_t edits(const char *a, const char *b) {
    int32_t row[LONGEST_WORD + 1], m = (int32_t)strlen(a), n = (int32_t)strlen(b);
    if (m > LONGEST_WORD || n > LONGEST_WORD) return INT32_MAX;
    for (int32_t j = 0; j <= n; j++) row[j] = j;
    for (int32_t i = 1; i <= m; i++) {
        int32_t diagonal = row[0];
        row[0] = i;
        for (int32_t j = 1; j <= n; j++) {
            int32_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *drape_i_nearest(const char *word, const char *const *list) {
    const char *best = NULL;
    int32_t least = (int32_t)strlen(word) / 2 + 1;
    for (; *list; list++) {
        int32_t count = edits(word, *list);
        if (count < least) least = count, best = *list;
    }
    return best;
}

/* ---- maps ---- */

static const char *kind_name(const drape_i_node *node) {
    if (node->kind == DRAPE_I_MAP) return "a map";
    if (node->kind == DRAPE_I_LIST) return "a list";
    return *node->text ? "a single value" : "nothing";
}

void drape_i_join(const char *const *list, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int32_t i = 0; list[i] && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", list[i]);
}

bool drape_i_read_map(reader_t *r, const drape_i_node *node, const char *const *keys) {
    char known[400];
    drape_i_join(keys, known, sizeof known);
    if (node->kind != DRAPE_I_MAP) {
        drape_i_problem_at(&r->problems, node, false, "%s%sfound %s; expected keys with values (known keys: %s)",
                           node->key ? node->key : "", node->key ? ": " : "", kind_name(node), known);
        return false;
    }
    for (const drape_i_node *n = node->first; n; n = n->next) {
        bool good = false;
        for (int32_t i = 0; keys[i]; i++) good |= strcmp(n->key, keys[i]) == 0;
        if (good) continue;
        const char *nearest = drape_i_nearest(n->key, keys);
        if (nearest)
            drape_i_problem_at(&r->problems, n, true, "unknown key \"%s\"; did you mean \"%s\"?", n->key, nearest);
        else drape_i_problem_at(&r->problems, n, true, "unknown key \"%s\"; known keys: %s", n->key, known);
    }
    return true;
}

/* ---- values ---- */

static const char *name_of(const drape_i_node *node) {
    while (node && !node->key) node = node->parent;
    return node ? node->key : "this";
}

static bool is_scalar(reader_t *r, const drape_i_node *node, const char *wanted) {
    if (node->kind == DRAPE_I_SCALAR && *node->text) return true;
    drape_i_problem_at(&r->problems, node, false, "%s: found %s; expected %s", name_of(node), kind_name(node),
                       wanted);
    return false;
}

static void out_of_range(reader_t *r, const drape_i_node *node, double value, const char *unit, drape_i_range range) {
    char wanted[100];
    if (range.high < DRAPE_I_ANY.high)
        snprintf(wanted, sizeof wanted, range.above ? "be above %g and at most %g" : "lie between %g and %g",
                 range.low, range.high);
    else if (value > range.high || range.low < 0) snprintf(wanted, sizeof wanted, "be smaller than %g", range.high);
    else snprintf(wanted, sizeof wanted, "be %s", range.above ? "above 0" : "0 or more");
    drape_i_problem_at(&r->problems, node, false, "%s is %g%s%s; it must %s", name_of(node), value, *unit ? " " : "",
                       unit, wanted);
}

bool drape_i_node_number(reader_t *r, const drape_i_node *node, drape_i_dimension dimension, drape_i_range range,
                         double *out) {
    char why[200];
    double value;
    if (!is_scalar(r, node, "a number")) return false;
    if (!drape_i_quantity_parse(node->text, dimension, &value, why, sizeof why)) {
        drape_i_problem_at(&r->problems, node, false, "%s: %s", name_of(node), why);
        return false;
    }
    if (!(value >= range.low && value <= range.high) || (range.above && value == range.low)) {
        out_of_range(r, node, value, drape_i_dimension_unit(dimension), range);
        return false;
    }
    *out = value;
    return true;
}

bool drape_i_node_whole(reader_t *r, const drape_i_node *node, int32_t low, int32_t high, int32_t *out) {
    double value;
    if (!drape_i_node_number(r, node, DRAPE_I_PLAIN, DRAPE_I_ANY, &value)) return false;
    if (value != floor(value) || value < low || value > high) {
        drape_i_problem_at(&r->problems, node, false, "%s is %s; it must be a whole number from %d to %d",
                           name_of(node), node->text, low, high);
        return false;
    }
    *out = (int32_t)value;
    return true;
}

bool drape_i_node_vector(reader_t *r, const drape_i_node *node, drape_i_dimension dimension, drape_i_range range,
                         double out[3]) {
    double v[3];
    int32_t k = 0;
    if (node->kind != DRAPE_I_LIST || drape_i_node_count(node) != 3) {
        drape_i_problem_at(&r->problems, node, false, "%s: expected three numbers in brackets, such as [0, 0, 1]",
                           name_of(node));
        return false;
    }
    for (const drape_i_node *n = node->first; n; n = n->next)
        if (!drape_i_node_number(r, n, dimension, range, &v[k++])) return false;
    memcpy(out, v, sizeof v);
    return true;
}

bool drape_i_read_number(reader_t *r, const drape_i_node *map, const char *key, drape_i_dimension dimension,
                         drape_i_range range, double *out) {
    const drape_i_node *node = drape_i_node_find(map, key);
    return node && drape_i_node_number(r, node, dimension, range, out);
}

bool drape_i_read_whole(reader_t *r, const drape_i_node *map, const char *key, int32_t low, int32_t high,
                        int32_t *out) {
    const drape_i_node *node = drape_i_node_find(map, key);
    return node && drape_i_node_whole(r, node, low, high, out);
}

bool drape_i_read_vector(reader_t *r, const drape_i_node *map, const char *key, drape_i_dimension dimension,
                         drape_i_range range, double out[3]) {
    const drape_i_node *node = drape_i_node_find(map, key);
    return node && drape_i_node_vector(r, node, dimension, range, out);
}

bool drape_i_read_text(reader_t *r, const drape_i_node *map, const char *key, const char **out) {
    const drape_i_node *node = drape_i_node_find(map, key);
    if (!node || !is_scalar(r, node, "a word")) return false;
    *out = node->text;
    return true;
}

/* The first of the entries with this name; -1: none. */
static int32_t find_name(const char *const *names, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

const char *drape_i_read_unique_name(reader_t *r, const drape_i_node *entry, const char *usual,
                                     const char *const *before, int32_t count) {
    const char *name = NULL;
    if (drape_i_read_text(r, entry, "name", &name)) {
        int32_t same = find_name(before, count, name);
        if (same >= 0)
            drape_i_problem_at(&r->problems, drape_i_node_find(entry, "name"), false,
                               "entry %d of the list already has the name \"%s\"; use different names", same + 1,
                               name);
        return name;
    }
    if (find_name(before, count, usual) < 0) return usual;
    size_t room = strlen(usual) + 16;
    char *made = drape_i_scene_get(r, (int64_t)room, 1);
    for (int32_t number = count + 1; made; number++) {
        snprintf(made, room, "%s-%d", usual, number);
        if (find_name(before, count, made) < 0) break;
    }
    return made ? made : usual;
}

void drape_i_warn_at(const reader_t *r, const drape_i_node *node, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (node->line > 0) drape_i_log(r->ctx, DRAPE_LOG_WARNING, "%s:%d: %s", node->file, node->line, text);
    else drape_i_log(r->ctx, DRAPE_LOG_WARNING, "%s: %s", node->file, text);
}

bool drape_i_read_truth(reader_t *r, const drape_i_node *map, const char *key, bool *out) {
    const drape_i_node *node = drape_i_node_find(map, key);
    if (!node || !is_scalar(r, node, "true or false")) return false;
    bool yes = strcmp(node->text, "true") == 0, no = strcmp(node->text, "false") == 0;
    if (!yes && !no) {
        drape_i_problem_at(&r->problems, node, false, "%s is %s; it must be true or false", name_of(node),
                           node->text);
        return false;
    }
    *out = yes;
    return true;
}

/* (x, y, z) with y up becomes (x, -z, y) with z up. */
void drape_i_read_up(reader_t *r, const drape_i_node *map, bool *y_up) {
    const char *word;
    if (!drape_i_read_text(r, map, "up", &word)) return;
    *y_up = strcmp(word, "y") == 0;
    if (!*y_up && strcmp(word, "z") != 0)
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "up"), false, "up is %s; it must be z or y", word);
}

void drape_i_turn_up(const reader_t *r, double v[3]) {
    if (!r->y_up) return;
    double y = v[1];
    v[1] = -v[2];
    v[2] = y;
}

/* ---- names of files ----
 *
 * Somebody else may have written the scene. It may read meshes in its own folder and below, and name outputs in the
 * present folder and below. The name itself is checked first. Then, for a mesh that exists, where it really lies,
 * since a link in the folder may lead anywhere; for an output, where its folder lies. */

bool drape_i_path_climbs(const char *path) {
    if (path[0] == '/') return true;
    for (const char *word = path; word; word = strchr(word, '/')) {
        if (*word == '/') word++;
        if (strncmp(word, "..", 2) == 0 && (word[2] == '/' || !word[2])) return true;
    }
    return false;
}

/* "" is the present folder. */
static char *real_folder(reader_t *r, const char *file) {
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) + 1 : 0;
    char *folder = drape_i_scene_get(r, (int64_t)length + 2, 1);
    if (!folder) return NULL;
    memcpy(folder, file, length);
    folder[length] = '.';
    return realpath(folder, NULL);
}

/* Whether a path without links is the folder's or lies below it. */
static bool lies_in(const char *real, const char *folder) {
    size_t length = strlen(folder);
    bool root = length == 1; /* "/": everything is below it */
    return strncmp(real, folder, length) == 0 && (root || real[length] == '/' || !real[length]);
}

bool drape_i_path_leads_out(reader_t *r, const char *path) {
    char *folder = real_folder(r, r->path), *real = realpath(path, NULL);
    bool out = real && !(folder && lies_in(real, folder));
    free(folder);
    free(real);
    return out;
}

bool drape_i_output_leads_out(reader_t *r, const char *path) {
    char *present = realpath(".", NULL), *real = real_folder(r, path);
    bool out = real && !(present && lies_in(real, present));
    free(present);
    free(real);
    return out;
}

void drape_i_note_file(reader_t *r, const char *path) {
    size_t length = strlen(path) + 1;
    struct drape_i_file_read *file = drape_i_scene_get(r, 1, sizeof *file);
    char *copy = drape_i_scene_get(r, (int64_t)length, 1);
    if (!file || !copy) return;
    memcpy(copy, path, length);
    file->path = copy;
    file->before = r->last_file;
    r->last_file = file;
    r->files++;
}
