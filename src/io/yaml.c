/* yaml.c: from libfyaml's events to our own tree, so that nothing else of the program knows libfyaml. Events, because
 * they carry the place where a map or list begins. */
#include "io/yaml.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_DEPTH = 32,
    MOST_KEYS = 1000,
    SOURCE_WIDTH = 160,
    PROBLEM_SIZE = 1000,
    MOST_PROBLEMS = 100,
    MOST_DOUBLED = 4,
    MOST_BRACKETS = 1000,
    MOST_SEPARATORS = 200000, /* commas and colons in a line: libfyaml keeps all words of a line before the first */
    MOST_NODES = 1500000      /* of which each takes some 250 bytes: 100,000 pins of 15 */
};

typedef struct reader {
    drape_i_problems *problems;
    const char *file, *text;
    int64_t size;
    struct fy_parser *parser;
    bool failed, ended; /* ended: libfyaml came to the end of the text; it may stop before without a word */
    int error;          /* errno then: where it gets no memory that is all it tells */
    int32_t nodes;
    int32_t line; /* the line last asked for, where it begins, and its copy: events come in order */
    const char *line_start, *line_copy;
    int32_t last_line, last_column; /* of the last mark */
} reader;

/* ---- problems ---- */

static char *copy_text(drape_i_problems *list, const char *text, size_t length) {
    char *copy = drape_i_arena_get(list->ctx, list->arena, (int64_t)length + 1, 1);
    if (copy) memcpy(copy, text, length);
    else list->status = DRAPE_ERROR_MEMORY;
    return copy;
}

/* Inserts a problem by its place, after those of the same place. */
static void add_problem(drape_i_problems *list, const drape_i_problem *problem) {
    if (list->count++ >= MOST_PROBLEMS) return;
    drape_i_problem *p = drape_i_arena_get(list->ctx, list->arena, 1, sizeof *p), **link = &list->first;
    const char *text = copy_text(list, problem->text, strlen(problem->text));
    const char *what = copy_text(list, problem->what, strlen(problem->what));
    int32_t line = problem->line, column = problem->column;
    if (!p || !text || !what) {
        list->status = DRAPE_ERROR_MEMORY;
        return;
    }
    if (!list->status) list->status = DRAPE_ERROR_FORMAT;
    *p = *problem;
    p->text = text, p->what = what;
    p->code = list->code ? list->code : "bad-scene";
    while (*link && ((*link)->line < line || ((*link)->line == line && (*link)->column <= column)))
        link = &(*link)->next;
    p->next = *link;
    *link = p;
}

/* "file:3:7: what" and the source line below; "file: what" with line 0. */
static void add_placed(drape_i_problems *list, const char *file, int32_t line, int32_t column, const char *source,
                       const char *what) {
    char text[PROBLEM_SIZE];
    bool shown = line > 0 && source && *source;
    if (line > 0)
        snprintf(text, sizeof text, "%s:%d:%d: %s%s%s", file, line, column, what, shown ? "\n    " : "",
                 shown ? source : "");
    else snprintf(text, sizeof text, "%s: %s", file, what);
    add_problem(list, &(drape_i_problem){.text = text,
                                         .what = what,
                                         .file = file,
                                         .source = shown ? source : NULL,
                                         .line = line,
                                         .column = column});
}

void drape_i_problem_at(drape_i_problems *list, const drape_i_node *node, bool at_key, const char *format, ...) {
    char what[PROBLEM_SIZE - SOURCE_WIDTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (char *c = what; *c; c++) /* texts of the file may hold line ends */
        if ((unsigned char)*c < ' ') *c = ' ';
    if (!node) add_problem(list, &(drape_i_problem){.text = what, .what = what});
    else if (at_key) add_placed(list, node->file, node->key_line, node->key_column, node->key_line_text, what);
    else add_placed(list, node->file, node->line, node->column, node->line_text, what);
}

/* ---- from libfyaml ---- */

/* Line number `line` (from 1) of the text without leading spaces, cut to a readable width. */
static const char *source_line(reader *r, int32_t line) {
    const char *end = r->text + r->size;
    if (line == r->line && r->line_copy) return r->line_copy;
    if (line < r->line || !r->line_start) r->line = 1, r->line_start = r->text;
    for (; r->line < line && r->line_start < end; r->line++) {
        const char *newline = memchr(r->line_start, '\n', (size_t)(end - r->line_start));
        r->line_start = newline ? newline + 1 : end;
    }
    const char *at = r->line_start;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    size_t length = 0;
    while (at + length < end && length < SOURCE_WIDTH && (unsigned char)at[length] >= ' ') length++;
    r->line_copy = copy_text(r->problems, at, length);
    return r->line_copy;
}

/* Where a mark points; an empty value has none, and is where the last thing before it stood. */
static void place(reader *r, const struct fy_mark *mark, int32_t *line, int32_t *column, const char **source) {
    if (mark) r->last_line = mark->line + 1, r->last_column = mark->column + 1;
    *line = r->last_line;
    *column = r->last_column;
    *source = source_line(r, *line);
}

static void fail(reader *r, const struct fy_mark *mark, const char *what) {
    int32_t line, column;
    const char *source;
    if (!r->failed) {
        place(r, mark, &line, &column, &source);
        add_placed(r->problems, r->file, line, column, source, what);
    }
    r->failed = true;
}

static drape_i_node *new_node(reader *r, drape_i_node_kind kind, const struct fy_mark *mark) {
    if (++r->nodes > MOST_NODES) {
        char what[80];
        snprintf(what, sizeof what, "more than %d keys and values", MOST_NODES);
        fail(r, mark, what);
        return NULL;
    }
    drape_i_node *n = drape_i_arena_get(r->problems->ctx, r->problems->arena, 1, sizeof *n);
    if (!n) {
        r->problems->status = DRAPE_ERROR_MEMORY;
        r->failed = true;
        return NULL;
    }
    n->kind = kind;
    n->file = r->file;
    place(r, mark, &n->line, &n->column, &n->line_text);
    n->key_line = n->line, n->key_column = n->column, n->key_line_text = n->line_text;
    return n;
}

/* Anchors and tags: a scene has no use for them, and they can make a small file stand for a large one. */
static void refuse_extras(reader *r, struct fy_token *anchor, struct fy_token *tag) {
    if (anchor) fail(r, fy_token_start_mark(anchor), "anchors (&name) are not supported; leave them out");
    if (tag) fail(r, fy_token_start_mark(tag), "tags (!name) are not supported; leave them out");
}

/* The text of a scalar, NULL after a failure. */
static const char *scalar_text(reader *r, struct fy_event *event) {
    struct fy_token *token = event->scalar.value;
    size_t length = 0;
    const char *text = token ? fy_token_get_text(token, &length) : "";
    refuse_extras(r, event->scalar.anchor, event->scalar.tag);
    if (text && memchr(text, 0, length)) fail(r, fy_event_start_mark(event), "a zero byte in a text; remove it");
    return r->failed ? NULL : copy_text(r->problems, text ? text : "", text ? length : 0);
}

static drape_i_node *read_scalar(reader *r, struct fy_event *event) {
    const char *text = scalar_text(r, event);
    drape_i_node *n = text ? new_node(r, DRAPE_I_SCALAR, fy_event_start_mark(event)) : NULL;
    if (!n) return NULL;
    struct fy_token *token = event->scalar.value;
    enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    n->text = text;
    n->quoted = style != FYSS_PLAIN;
    return n;
}

static struct fy_event *next_event(reader *r) { return r->failed ? NULL : fy_parser_parse(r->parser); }

static drape_i_node *read_node(reader *r, struct fy_event *event, int32_t depth);

/* Reads the key of a map's next entry into the node that follows it. */
static drape_i_node *read_entry(reader *r, struct fy_event *key_event, int32_t depth) {
    if (key_event->type != FYET_SCALAR) {
        fail(r, fy_event_start_mark(key_event), "a key must be a plain word");
        return NULL;
    }
    int32_t line, column;
    const char *source, *key = scalar_text(r, key_event);
    place(r, fy_event_start_mark(key_event), &line, &column, &source);
    if (key && !*key) {
        fail(r, fy_event_start_mark(key_event), "a key is missing before the colon");
        return NULL;
    }
    struct fy_event *value_event = key ? next_event(r) : NULL;
    drape_i_node *value = value_event ? read_node(r, value_event, depth) : NULL;
    if (value_event) fy_parser_event_free(r->parser, value_event);
    if (!value) {
        r->failed = true;
        return NULL;
    }
    value->key = key;
    value->key_line = line, value->key_column = column, value->key_line_text = source;
    return value;
}

static void append(drape_i_node *parent, drape_i_node *child, drape_i_node **last) {
    child->parent = parent;
    if (*last) (*last)->next = child;
    else parent->first = child;
    *last = child;
}

static drape_i_node *read_children(reader *r, drape_i_node *n, int32_t depth) {
    enum fy_event_type end = n->kind == DRAPE_I_MAP ? FYET_MAPPING_END : FYET_SEQUENCE_END;
    drape_i_node *last = NULL;
    int32_t keys = 0; /* each new key is compared with all before it: a limit keeps that cheap */
    for (struct fy_event *event; (event = next_event(r));) {
        bool done = event->type == end;
        if (n->kind == DRAPE_I_MAP && ++keys > MOST_KEYS)
            fail(r, fy_event_start_mark(event), "too many keys in one map");
        drape_i_node *child = NULL;
        if (!done && !r->failed)
            child = n->kind == DRAPE_I_MAP ? read_entry(r, event, depth) : read_node(r, event, depth);
        if (child && child->key && n->kind == DRAPE_I_MAP && drape_i_node_find(n, child->key)) {
            drape_i_problem_at(r->problems, child, true, "the key \"%s\" appears twice; remove one of them",
                               child->key);
            r->failed = true;
        }
        fy_parser_event_free(r->parser, event);
        if (done) return n;
        if (!child || r->failed) break;
        append(n, child, &last);
    }
    r->failed = true;
    return NULL;
}

static drape_i_node *read_node(reader *r, struct fy_event *event, int32_t depth) {
    const struct fy_mark *mark = fy_event_start_mark(event);
    drape_i_node *n = NULL;
    if (depth > MOST_DEPTH) {
        fail(r, mark, "nested too deeply");
        return NULL;
    }
    switch (event->type) {
    case FYET_SCALAR: return read_scalar(r, event);
    case FYET_MAPPING_START:
        refuse_extras(r, event->mapping_start.anchor, event->mapping_start.tag);
        n = new_node(r, DRAPE_I_MAP, mark);
        return n && !r->failed ? read_children(r, n, depth + 1) : NULL;
    case FYET_SEQUENCE_START:
        refuse_extras(r, event->sequence_start.anchor, event->sequence_start.tag);
        n = new_node(r, DRAPE_I_LIST, mark);
        return n && !r->failed ? read_children(r, n, depth + 1) : NULL;
    case FYET_ALIAS: fail(r, mark, "aliases (*name) are not supported; write the value out"); return NULL;
    default: return NULL;
    }
}

/* Some messages of libfyaml assume knowledge of YAML's grammar. */
static const char *plain_words(const char *message) {
    static const struct {
        const char *theirs, *ours;
    } words[] = {
        {"invalid multiline plain key", "this line has no `key: value`, or the next line is indented too far"},
        {"did not find expected '-' indicator",
         "this line is not aligned with the ones above it; check its indentation"},
        {"did not find expected key", "this line is not aligned with the ones above it; check its indentation"},
        {"tab character may not be used as indentation", "found a tab; indent lines with spaces"},
        {"missing comma in flow mapping", "a comma or a closing } is missing before this"},
        {"missing comma in flow sequence", "a comma or a closing ] is missing before this"},
        {"flow mapping without a closing brace", "a closing } is missing"},
        {"flow sequence without a closing bracket", "a closing ] is missing"},
        {"flow mapping with invalid extra closing brace", "this } closes nothing; remove it"},
        {"flow sequence with invalid extra closing bracket", "this ] closes nothing; remove it"},
        {"did not find expected node content", "a value is missing before this"},
        {"wrongly indented double-quoted scalar", "the quoted text does not end; add the closing quote"},
        {"wrongly indented single-quoted scalar", "the quoted text does not end; add the closing quote"},
        {"double-quoted scalar without closing quote", "the quoted text does not end; add the closing quote"},
        {"single-quoted scalar without closing quote", "the quoted text does not end; add the closing quote"},
        {"block sequence on the same line as a mapping key",
         "a list with dashes must begin on the line below its key"},
        {"invalid nested block mapping on the same line", "two colons in one line; put text with a colon in quotes"},
        {"invalid indentation in mapping", "this line is not aligned with the ones above it; check its indentation"},
        {"mismatched flow mapping end", "found } where ] is expected; check which bracket is open"},
        {"mismatched flow sequence end", "found ] where } is expected; check which bracket is open"},
    };
    for (size_t i = 0; message && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].theirs, message) == 0) return words[i].ours;
    return message && *message ? message : "not YAML";
}

/* What libfyaml itself found wrong. */
static void report_syntax(reader *r, struct fy_diag *diag) {
    void *iterator = NULL;
    struct fy_diag_error *error = fy_diag_errors_iterate(diag, &iterator);
    if (error) {
        int32_t line = error->line > 0 ? error->line : 1;
        add_placed(r->problems, r->file, line, error->column > 0 ? error->column : 1, source_line(r, line),
                   plain_words(error->msg));
    } else if (!r->ended && r->error == ENOMEM) {
        r->problems->status = DRAPE_ERROR_MEMORY;
    } else if (!r->ended) { /* as with a %YAML line that it does not know */
        add_placed(r->problems, r->file, r->last_line, r->last_column, source_line(r, r->last_line), "not YAML");
    } else if (!r->problems->count) {
        add_placed(r->problems, r->file, 1, 1, NULL,
                   "the file is empty; `drape scenes --show NAME` prints a scene to start from");
    }
}

/* The length of the UTF-8 character at text, 0 if there is none: a control character, a stray or missing byte, an
 * encoding that is too long, a surrogate. */
static int32_t character_length(const unsigned char *text, int64_t left) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (*text < 0x80) return (*text >= ' ' && *text < 0x7f) || *text == '\t' || *text == '\n' || *text == '\r';
    int32_t length = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
    uint32_t code = *text & (0x7fu >> length);
    if (*text < 0xc0 || *text >= 0xf8 || length > left) return 0;
    for (int32_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

/* How many brackets are open after this character; quotes are ignored, so it is a guess, good for a limit far
 * beyond what any scene has. */
static int32_t open_brackets(int32_t before, char c) {
    if (c == '[' || c == '{') return before + 1;
    return before > 0 && (c == ']' || c == '}') ? before - 1 : before;
}

/* What libfyaml should not see. Bytes that are not text, which it takes for an end or for nothing. Many doubled
 * quotes in a line, whose memory its version 0.7.12 does not free. Very many open brackets, each of which takes some
 * 350 bytes before the first one is reported. And very many words in a line, some 400 bytes each. */
static bool is_text(reader *r) {
    int32_t line = 1, column = 1, length, doubled = 0, brackets = 0, separators = 0;
    char what[100] = "";
    for (int64_t i = 0; i < r->size && !*what; i += length, column++) {
        const char *at = r->text + i;
        length = character_length((const unsigned char *)at, r->size - i);
        doubled += *at == '\'' && i > 0 && at[-1] == '\'';
        brackets = open_brackets(brackets, *at);
        separators += *at == ',' || *at == ':';
        if (!length)
            snprintf(what, sizeof what,
                     "the byte 0x%02x is not UTF-8 text; if this is a scene file, save it as UTF-8",
                     (unsigned char)*at);
        else if (doubled > MOST_DOUBLED)
            snprintf(what, sizeof what, "more than %d doubled quotes in a line", MOST_DOUBLED);
        else if (brackets > MOST_BRACKETS) snprintf(what, sizeof what, "nested too deeply");
        else if (separators > MOST_SEPARATORS)
            snprintf(what, sizeof what, "more than %d commas and colons in a line; break the line", MOST_SEPARATORS);
        else if (*at == '\n') line++, column = 0, doubled = 0, separators = 0;
        if (*what) add_placed(r->problems, r->file, line, column, NULL, what);
    }
    return !*what;
}

/* The root of the first document; anything after it is refused. */
static drape_i_node *read_stream(reader *r) {
    drape_i_node *root = NULL;
    for (struct fy_event *event; (event = next_event(r));) {
        if (event->type == FYET_DOCUMENT_START && root)
            fail(r, fy_event_start_mark(event),
                 "a second document begins here; put every scene in a file of its own");
        if (event->type == FYET_SCALAR || event->type == FYET_MAPPING_START || event->type == FYET_SEQUENCE_START ||
            event->type == FYET_ALIAS)
            root = read_node(r, event, 0);
        r->ended = event->type == FYET_STREAM_END;
        fy_parser_event_free(r->parser, event);
    }
    return r->failed ? NULL : root;
}

drape_i_node *drape_i_yaml_parse(drape_i_problems *problems, const char *name, const char *text, int64_t size) {
    reader r = {.problems = problems, .text = text, .size = size, .last_line = 1, .last_column = 1};
    drape_i_node *root = NULL;
    int32_t before = problems->count;
    r.file = copy_text(problems, name, strlen(name));
    if (r.file && !is_text(&r)) return NULL;
    struct fy_diag_cfg diag_settings = {.level = FYET_ERROR, .module_mask = ~0u};
    struct fy_diag *diag = r.file ? fy_diag_create(&diag_settings) : NULL;
    if (diag) fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg settings = {.flags = FYPCF_QUIET | FYPCF_DISABLE_RECYCLING, .diag = diag};
    r.parser = diag ? fy_parser_create(&settings) : NULL;
    if (r.parser && fy_parser_set_string(r.parser, text, (size_t)size) == 0) {
        errno = 0;
        root = read_stream(&r);
        r.error = errno;
        if (!root || fy_parser_get_stream_error(r.parser)) {
            if (problems->count == before && !problems->status) report_syntax(&r, diag);
            root = NULL;
        }
    } else {
        problems->status = DRAPE_ERROR_MEMORY;
    }
    if (r.parser) fy_parser_destroy(r.parser);
    if (diag) fy_diag_destroy(diag);
    return root;
}

/* ---- walking the tree ---- */

drape_i_node *drape_i_node_find(const drape_i_node *map, const char *key) {
    if (!map || map->kind != DRAPE_I_MAP) return NULL;
    for (drape_i_node *n = map->first; n; n = n->next)
        if (strcmp(n->key, key) == 0) return n;
    return NULL;
}

int32_t drape_i_node_count(const drape_i_node *node) {
    int32_t count = 0;
    for (const drape_i_node *n = node->first; n; n = n->next) count++;
    return count;
}
