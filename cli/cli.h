/* cli.h: what the commands of the program share. */
#ifndef DRAPE_CLI_H
#define DRAPE_CLI_H

#include "drape/base.h"

#include <stdbool.h>

enum {
    EXIT_GOOD = 0,
    EXIT_RUN_FAILED = 1, /* the simulation went wrong on the way */
    EXIT_BAD_INPUT = 2   /* a wrong option, scene or file; nothing was written */
};

typedef enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER } option_kind;

/* One option of a command; a table of them ends with name NULL. */
typedef struct option {
    const char *name;     /* "--frames" */
    const char *shorter;  /* "-o" or NULL */
    const char *argument; /* "N" for the help; NULL for a flag */
    const char *help;
    option_kind kind;
    void *value;       /* bool *, const char ** or int32_t * */
    int32_t low, high; /* range of a number */
} option;

/* What stands on a command line behind the command's name. */
typedef struct command_line {
    const char *usage; /* "drape run NAME [options]" */
    const char *about;
    const option *options;
    const char **positional; /* where the words that are no options go */
    int32_t positional_count;
} command_line;

typedef enum parse_result { PARSE_GOOD, PARSE_HELP, PARSE_BAD } parse_result;

/* Prints the help (PARSE_HELP) or one line that says what is wrong (PARSE_BAD). */
parse_result parse_arguments(const command_line *line, int argc, char **argv);

/* "drape: " and the text, on the error stream. */
void complain(const char *format, ...);

int command_run(int argc, char **argv);
int command_scenes(int argc, char **argv);

#endif
