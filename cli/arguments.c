/* arguments.c: command lines from a table of options, so that the parser and --help always agree; and the options for
 * reading a scene, with the context to read it in. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words of tables ---- */

/* The words that an option takes; kind WORDS_NONE: it is not about words. */
static word_choice words_of(const option *o) {
    if (o->kind == OPTION_WORD) return *(const word_choice *)o->value;
    if (o->kind == OPTION_LIST) return (word_choice){.kind = ((const word_list *)o->value)->hint};
    return (word_choice){0};
}

/* The word at this place, with `also` at the front. */
static const char *choice_at(const word_choice *c, int32_t index) {
    if (!c->also) return word_at(c->kind, index);
    return index == 0 ? c->also : word_at(c->kind, index - 1);
}

/* "a, b or c"; lines except the first are indented by `indent`, and end before column `width`. */
static void print_words(FILE *to, const word_choice *c, int indent, int width) {
    int column = indent;
    for (int32_t i = 0; choice_at(c, i); i++) {
        const char *word = choice_at(c, i), *next = choice_at(c, i + 1);
        const char *behind = !next ? "" : choice_at(c, i + 2) ? "," : " or";
        int length = (int)(strlen(word) + strlen(behind));
        if (i > 0 && column + 1 + length > width) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (i > 0) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%s%s", word, behind);
        column += length;
    }
}

/* ---- Help ---- */

enum { HELP_INDENT = 33, HELP_WIDTH = 110 };

static void print_help(const command_line *line) {
    printf("usage: %s\n\n%s\n", line->usage, line->about);
    if (line->names) {
        printf("Names: ");
        print_words(stdout, &(word_choice){.kind = line->names}, 7, HELP_WIDTH);
        printf(".\n");
    }
    if (!line->options) return;
    printf("\noptions:\n");
    for (const option *o = line->options; o->name; o++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s%s%s%s", o->shorter ? o->shorter : "", o->shorter ? ", " : "", o->name,
                 o->argument ? " " : "", o->argument ? o->argument : "");
        printf("  %-30s %s\n", head, o->help);
        word_choice words = words_of(o);
        if (words.kind) {
            printf("%*s", HELP_INDENT, "");
            print_words(stdout, &words, HELP_INDENT, HELP_WIDTH);
            putchar('\n');
        }
    }
    printf("  %-30s %s\n", "-h, --help", "this text");
}

static const option *find_option(const command_line *line, const char *word) {
    for (const option *o = line->options; o && o->name; o++)
        if (strcmp(o->name, word) == 0 || (o->shorter && strcmp(o->shorter, word) == 0)) return o;
    return NULL;
}

static bool take_number(const option *o, const char *text) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < o->low || number > o->high) {
        complain("%s %s: expected a whole number from %d to %d", o->name, text, o->low, o->high);
        return false;
    }
    *(int32_t *)o->value = (int32_t)number;
    return true;
}

/* Ranges are checked where the number is used. */
static bool take_real(const option *o, const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number)) {
        complain("%s %s: expected a number, such as 1e-6", o->name, text);
        return false;
    }
    *(double *)o->value = number;
    return true;
}

static bool take_word(const option *o, const char *text) {
    const word_choice *c = o->value;
    bool known = c->checked_later || (c->also && strcmp(c->also, text) == 0) || word_index(c->kind, text) >= 0;
    if (known) {
        *c->value = text;
        return true;
    }
    fprintf(stderr, "drape: %s ", o->name);
    print_text(stderr, text);
    fputs(": expected ", stderr);
    print_words(stderr, c, 0, INT_MAX);
    fputc('\n', stderr);
    return false;
}

static bool take_value(const option *o, const char *text) {
    if (!text) {
        complain("%s needs %s after it", o->name, o->argument);
        return false;
    }
    if (o->kind == OPTION_NUMBER) return take_number(o, text);
    if (o->kind == OPTION_REAL) return take_real(o, text);
    if (!*text) {
        complain("%s: the name is empty", o->name);
        return false;
    }
    if (o->kind == OPTION_WORD) return take_word(o, text);
    if (o->kind == OPTION_LIST) {
        word_list *list = o->value;
        if (list->count == MOST_WORDS) {
            complain("%s is given more than %d times", o->name, MOST_WORDS);
            return false;
        }
        list->words[list->count++] = text;
        return true;
    }
    *(const char **)o->value = text;
    return true;
}

/* After `--words`: one per line, for completions. */
static void list_words(const command_line *line, const char *name) {
    const option *o = name ? find_option(line, name) : NULL;
    word_choice words = o ? words_of(o) : (word_choice){.kind = name ? WORDS_NONE : line->names};
    if (o && o->kind == OPTION_LIST) return; /* a hint, which is no whole value */
    for (int32_t i = 0; choice_at(&words, i); i++) puts(choice_at(&words, i));
}

parse_result parse_arguments(const command_line *line, int argc, char **argv) {
    int32_t taken = 0;
    if (argc > 0 && strcmp(argv[0], "--words") == 0) {
        list_words(line, argc > 1 ? argv[1] : NULL);
        return PARSE_HELP;
    }
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(line);
            return PARSE_HELP;
        }
        const option *o = find_option(line, argv[i]);
        if (o && o->kind == OPTION_FLAG) {
            *(bool *)o->value = true;
        } else if (o) {
            i++;
            if (!take_value(o, i < argc ? argv[i] : NULL)) return PARSE_BAD;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            complain("unknown option %s (usage: %s)", argv[i], line->usage);
            return PARSE_BAD;
        } else if (taken == line->positional_count) {
            complain("unexpected argument %s (usage: %s)", argv[i], line->usage);
            return PARSE_BAD;
        } else {
            line->positional[taken++] = argv[i];
        }
    }
    return PARSE_GOOD;
}

/* ---- Options of commands that read a scene ---- */

enum { MOST_RESOLUTION = 8192, MOST_THREADS = 256 };

void scene_option_table(scene_arguments *a, option *table) {
    a->integrator_choice = (word_choice){.value = &a->integrator, .kind = WORDS_INTEGRATORS, .checked_later = true};
    const option options[SCENE_OPTIONS] = {
        {"--set", NULL, "PATH=VALUE", "override a key, such as --set time.step=1ms; may be repeated", OPTION_LIST,
         &a->set, 0, 0},
        {"--irregular", NULL, NULL, "turn every grid into an irregular mesh", OPTION_FLAG, &a->irregular, 0, 0},
        {"--resolution", NULL, "N", "vertices along the width of every grid; default: the scene's", OPTION_NUMBER,
         &a->resolution, 2, MOST_RESOLUTION},
        {"--jitter", NULL, "D", "move every vertex at the start by up to D metres in each coordinate", OPTION_REAL,
         &a->jitter, 0, 0},
        {"--seed", NULL, "N", "seed of the random numbers of --jitter; default: 0", OPTION_NUMBER, &a->seed, 0,
         INT32_MAX},
        {"--trust-paths", NULL, NULL,
         "allow meshes and outputs that the scene names outside its folder and the current one", OPTION_FLAG,
         &a->trust_paths, 0, 0},
        {"--data", NULL, "FOLDER",
         "folder of the files that the scene names; default: the scene's, or $DRAPE_DATA for a built-in scene",
         OPTION_TEXT, &a->data, 0, 0},
        {"--integrator", NULL, "NAME", "default: the scene's", OPTION_WORD, &a->integrator_choice, 0, 0},
        {"--threads", NULL, "T", "number of threads; default: one per processor; results do not depend on it",
         OPTION_NUMBER, &a->threads, 1, MOST_THREADS},
    };
    memcpy(table, options, sizeof options);
}

/* Scenes that ship have no folder of their own. */
static const char *data_folder(const scene_arguments *a) {
    size_t length = a->name ? strlen(a->name) : 0;
    bool file = length == 0 || strchr(a->name, '/') || strcmp(a->name, "-") == 0 ||
                (length > 5 && strcmp(a->name + length - 5, ".yaml") == 0) ||
                (length > 4 && strcmp(a->name + length - 4, ".yml") == 0);
    const char *usual = getenv("DRAPE_DATA");
    if (a->data) return a->data;
    return !file && usual && *usual ? usual : NULL;
}

drape_scene_options scene_options(const scene_arguments *a) {
    return (drape_scene_options){.resolution = a->resolution,
                                 .irregular = a->irregular,
                                 .set = a->set.words,
                                 .set_count = a->set.count,
                                 .trust_paths = a->trust_paths,
                                 .folder = data_folder(a),
                                 .jitter = a->jitter,
                                 .seed = (uint64_t)a->seed,
                                 .integrator = a->integrator};
}

static bool choose_simd(drape_simd *simd) {
    const char *wanted = getenv("DRAPE_SIMD");
    if (!wanted || !*wanted) return true;
    for (int level = DRAPE_SIMD_BASELINE; drape_simd_name((drape_simd)level); level++)
        if (strcmp(wanted, drape_simd_name((drape_simd)level)) == 0) {
            *simd = (drape_simd)level;
            return true;
        }
    complain("DRAPE_SIMD=%s: expected sse2 (neon on arm64), avx2 or avx512", wanted);
    return false;
}

/* Failures come back as a status, and the caller prints them. */
static void print_log(void *user, drape_log_level level, const char *message) {
    (void)user;
    if (level == DRAPE_LOG_WARNING) complain("warning: %s", message);
}

drape_context *make_context(int32_t threads, bool warns) {
    drape_context_settings settings = drape_context_defaults();
    if (warns) settings.log = print_log;
    drape_context *ctx = NULL;
    settings.threads = threads;
    if (!choose_simd(&settings.simd)) return NULL;
    drape_status status = drape_context_create(&settings, &ctx);
    if (status == DRAPE_ERROR_ARGUMENT) complain("this processor has no %s", drape_simd_name(settings.simd));
    else if (status) complain("cannot start %d threads: %s", threads, drape_status_name(status));
    return ctx;
}
