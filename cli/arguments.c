/* arguments.c: command lines from a table of options, so that what is accepted and what --help says are one. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("drape: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void print_help(const command_line *line) {
    printf("usage: %s\n\n%s\n", line->usage, line->about);
    if (!line->options) return;
    printf("\noptions:\n");
    for (const option *o = line->options; o->name; o++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s%s%s%s", o->shorter ? o->shorter : "", o->shorter ? ", " : "", o->name,
                 o->argument ? " " : "", o->argument ? o->argument : "");
        printf("  %-30s %s\n", head, o->help);
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
        complain("%s %s: a whole number from %d to %d is wanted", o->name, text, o->low, o->high);
        return false;
    }
    *(int32_t *)o->value = (int32_t)number;
    return true;
}

/* Ranges are left to whom the number is for. */
static bool take_real(const option *o, const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number)) {
        complain("%s %s: a number is wanted, as in 1e-6", o->name, text);
        return false;
    }
    *(double *)o->value = number;
    return true;
}

static bool take_value(const option *o, const char *text) {
    if (!text) {
        complain("%s needs %s behind it", o->name, o->argument);
        return false;
    }
    if (o->kind == OPTION_NUMBER) return take_number(o, text);
    if (o->kind == OPTION_REAL) return take_real(o, text);
    if (!*text) {
        complain("%s: an empty name", o->name);
        return false;
    }
    if (o->kind == OPTION_LIST) {
        word_list *list = o->value;
        if (list->count == MOST_WORDS) {
            complain("%s more than %d times", o->name, MOST_WORDS);
            return false;
        }
        list->words[list->count++] = text;
        return true;
    }
    *(const char **)o->value = text;
    return true;
}

parse_result parse_arguments(const command_line *line, int argc, char **argv) {
    int32_t taken = 0;
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
            complain("there is no option %s (usage: %s)", argv[i], line->usage);
            return PARSE_BAD;
        } else if (taken == line->positional_count) {
            complain("%s is one word too many (usage: %s)", argv[i], line->usage);
            return PARSE_BAD;
        } else {
            line->positional[taken++] = argv[i];
        }
    }
    return PARSE_GOOD;
}
