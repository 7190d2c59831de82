/* cli.h: what the commands of the program share. */
#ifndef DRAPE_CLI_H
#define DRAPE_CLI_H

#include "drape/io.h"

#include <stdbool.h>
#include <stdio.h>

enum {
    EXIT_GOOD = 0,
    EXIT_RUN_FAILED = 1,   /* the simulation went wrong on the way, or the solve did not converge */
    EXIT_BAD_INPUT = 2,    /* a wrong option, scene or file; nothing was written */
    EXIT_INTERRUPTED = 130 /* Ctrl-C: what was finished is kept */
};

/* ---- list.c: tables of names ---- */

typedef enum word_kind {
    WORDS_NONE,
    WORDS_METHODS,
    WORDS_PRECONDS,
    WORDS_MODELS,
    WORDS_INTEGRATORS,
    WORDS_FORMATS,
    WORDS_COLORS,
    WORDS_FABRICS,
    WORDS_SCENES,
    WORDS_EXAMPLES,
    WORDS_ODE_METHODS,
    WORDS_STOPS,
    WORDS_REUSES,
    WORDS_SMOOTHERS,
    WORDS_CYCLES,
    WORDS_RECIPES,
    WORDS_NEWTONS,
    WORDS_CCD_KINDS
} word_kind;

const char *word_at(word_kind kind, int32_t index);   /* NULL past the end */
int32_t word_index(word_kind kind, const char *word); /* -1: it is not in the table */

/* ---- arguments.c: command lines ---- */

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_NUMBER,
    OPTION_REAL,
    OPTION_LIST,
    OPTION_WORD /* one word of a table; others are refused */
} option_kind;

enum { MOST_WORDS = 64 };

/* The values of an option that may be given again and again. */
typedef struct word_list {
    const char *words[MOST_WORDS];
    int32_t count;
    word_kind hint; /* what the help names below the option */
} word_list;

/* The value of an OPTION_WORD. */
typedef struct word_choice {
    const char **value;
    word_kind kind;
    const char *also;   /* a word beside those of the table; NULL: none */
    bool checked_later; /* by the library, whose message says more */
} word_choice;

/* One option of a command; a table of them ends with name NULL. */
typedef struct option {
    const char *name;     /* "--frames" */
    const char *shorter;  /* "-o" or NULL */
    const char *argument; /* "N" for the help; NULL for a flag */
    const char *help;
    option_kind kind;
    void *value;       /* bool *, const char **, int32_t *, double *, word_list * or word_choice * */
    int32_t low, high; /* range of a whole number */
} option;

/* What a command line has after the command's name. */
typedef struct command_line {
    const char *usage; /* "drape run NAME [options]" */
    const char *about;
    const option *options;
    const char **positional; /* where the words that are no options go */
    int32_t positional_count;
    word_kind names; /* what the first of these words may be, among other things */
} command_line;

typedef enum parse_result { PARSE_GOOD, PARSE_HELP, PARSE_BAD } parse_result;

/* Prints the help, or for `--words [OPTION]`, which completions use, the words that the option or the command
 * accepts, one per line (PARSE_HELP). Or prints one line that says what is wrong (PARSE_BAD). */
parse_result parse_arguments(const command_line *line, int argc, char **argv);

/* Options that `run` and `check` share. */

/* How a scene is read, from the command line. */
typedef struct scene_arguments {
    const char *name; /* a scene file or the name of a scene that ships */
    word_list set;
    int32_t resolution, threads; /* 0: not given */
    int32_t seed;
    double jitter; /* m */
    bool irregular, trust_paths;
    const char *data;       /* folder of the files that the scene names; NULL: not given */
    const char *integrator; /* NULL: the scene's */
    word_choice integrator_choice;
} scene_arguments;

enum { SCENE_OPTIONS = 9 };
/* Fills the first SCENE_OPTIONS entries of a table. */
void scene_option_table(scene_arguments *a, option *table);
drape_scene_options scene_options(const scene_arguments *a);
/* A context with this number of threads under DRAPE_SIMD; NULL after a complaint. warns: warnings of the library are
 * shown as they come. */
drape_context *make_context(int32_t threads, bool warns);

/* ---- refusal.c: scenes that no simulation takes ---- */

/* After drape_sim_create has failed with DRAPE_ERROR_ARGUMENT: says what is wrong, where, and what to do. */
void complain_of_refusal(drape_context *ctx, const scene_arguments *scene);

/* ---- scene_mesh.c: the mesh of frames ---- */

/* The cloth of a scene, or what a file has: triangles over all pieces. */
typedef struct cloth_mesh {
    int32_t vertices, triangles;
    const int32_t *triangle;
    int32_t *owned; /* to be freed; NULL: `triangle` is someone else's */
} cloth_mesh;

/* The pieces of a scene, which holds a mesh for each. Both are false after a complaint. */
bool join_pieces(const drape_scene *scene, cloth_mesh *out);
/* Whether a file of frames and the cloth of a scene are about the same mesh. */
bool frames_fit_scene(const char *file, const drape_reader_info *frames, const char *scene, const cloth_mesh *cloth);

/* ---- direct.c: the solver behind the method "direct" ---- */

/* NULL: the program was built without one. */
const drape_direct *direct_solver(void);
/* False, after a complaint that begins with `what`, where the settings ask for one that is not there. */
bool direct_is_there(const char *what, const drape_solve_settings *settings);

/* ---- solve_output.c: what a solver tried by the clock; nothing where it was not tuned ---- */

void print_tuned(const drape_solver *solver);
void print_tuned_json(const drape_solver *solver); /* a key of an object, with a comma */

/* ---- output.c: files that are complete or absent ---- */

/* Whether a file of this name can be made, as far as one can tell without making it; false after a complaint. No
 * path: nothing to make. */
bool can_write(const char *path);

typedef struct output_file {
    FILE *stream;
    const char *path;
    char *temporary; /* the name it has until it is complete */
} output_file;

/* Both are false after a complaint, and leave no file then. */
bool output_begin(output_file *file, const char *path);
bool output_end(output_file *file);
void output_drop(output_file *file); /* nothing is left of it */

/* Text of others: what a terminal would obey is escaped (ESC becomes \x1b), except for the end of a line. Everything
 * that holds a name from a scene, a file or the command line goes through one of these. */
void print_text(FILE *to, const char *text);
/* "drape: ", the text and the end of the line, on the error stream. */
void complain(const char *format, ...);
void tell(const char *format, ...); /* printf */
/* Text in the quotes of JSON; what is no text becomes question marks. */
void print_json_text(const char *text);
/* JSON has no infinity and no NaN: null stands for them. */
void print_json_number(double number);

/* How a run comes on. */

typedef struct progress {
    bool quiet, terminal;
    int32_t frames;
    int32_t before; /* frames that were there when it began */
    double begin;   /* s */
} progress;

typedef struct frame_summary {
    int32_t frame;
    int64_t iterations;            /* of all its steps, as are the cuts */
    int64_t cuts;                  /* parts of steps that contact divided into two */
    const drape_certificate *last; /* of the frame's last step */
    double seconds;
} frame_summary;

double seconds_now(void);
progress progress_begin(int32_t before, int32_t frames, bool quiet);
void progress_frame(const progress *p, const frame_summary *f); /* a bar on a terminal, a line elsewhere */
void progress_end(const progress *p);

/* A line about a run that is over. frames: those that this took, `seconds` together. */
void print_verdict(const drape_verdict *v, int32_t frames, double seconds);

int command_run(int argc, char **argv);
int command_dress(int argc, char **argv);
int command_equilibrium(int argc, char **argv);
int command_check(int argc, char **argv);
int command_check_frames(int argc, char **argv);
int command_render(int argc, char **argv);
int command_solve(int argc, char **argv);
int command_ode(int argc, char **argv);
int command_ccd(int argc, char **argv);
int command_scenes(int argc, char **argv);
int command_fabric(int argc, char **argv);
int command_fabrics(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_list(int argc, char **argv);
int command_bench(int argc, char **argv); /* does not return where it finds the benchmarks: it becomes them */

#endif
