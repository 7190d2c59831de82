/* run.h: the parts of drape run: its options, and the state of a run. */
#ifndef DRAPE_CLI_RUN_H
#define DRAPE_CLI_RUN_H

#include "cli.h"
#include "watch.h"

enum { MOST_OUTPUTS = 16 };

typedef struct run_options {
    scene_arguments scene;
    word_list output; /* none: the scene's own */
    const char *report, *export_system, *checkpoint_file;
    int32_t frames;     /* -1: the scene's */
    int32_t checkpoint; /* frames from one to the next; 0: none */
    bool quiet, tune, resume, check_energy, no_colliders, no_output, watch;
    int64_t export_step;     /* 0: none */
    const char *export_path; /* part of export_system */
    int argc;                /* the words after `drape run`, to be shown again */
    char **argv;
} run_options;

/* Everything that a run holds. */
typedef struct run {
    run_options options;
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene *scene; /* its data, with what the command line changes */
    drape_sim *sim;
    drape_collider_meshes *colliders; /* for the files; NULL: none, or left out */
    const char *const *outputs;
    const char *page[1]; /* the outputs if none are named */
    char *page_name;     /* owned; NULL: outputs are named, or there are none */
    int32_t output_count;
    drape_writer *writers[MOST_OUTPUTS];
    drape_report *report;
    char *checkpoint_path; /* owned; NULL: no checkpoints */
    drape_journal *journal;
    int32_t frames_done;
    int32_t frames_before; /* of them, those of the run that this one resumed */
    drape_verdict verdict;
    double simulated;  /* s: wall-clock time of the frames */
    int64_t cut_steps; /* in a row that contact divided; -1: that was said */
    bool began;        /* to write: what fails from here on is no bad input */
    file_watch *watch; /* what to look at between steps; NULL: nothing */
} run;

/* ---- run_options.c ---- */

parse_result run_parse(run_options *o, int argc, char **argv);
/* Whether the scene is a file that can be watched, and the options go with that; false after a complaint. */
bool run_can_watch(const run_options *o);
/* Finds step and file in "12:step.sys"; false after a complaint. */
bool run_parse_export(run_options *o, int64_t steps);
/* Checks what is said of checkpoints, and gives them their name; false after a complaint. */
bool run_name_checkpoint(run *r);
/* The command that resumes from the checkpoint, for the user to type; to be freed. */
char *run_resume_command(const run_options *o);

/* ---- run_names.c ---- */

/* "towel.html" for the scene DIR/towel.yaml; to be freed. NULL: no memory. */
char *run_page_name(const char *scene);
/* Says which files a run made, one line for each output. */
void run_list_files(const run *r);

/* Removes unfinished files (NAME.part-PID-N) that a run which was killed left of the names that this one writes:
 * those of the same user that no process has locked. Returns how many. */
int32_t run_remove_leftovers(const run *r);
/* Whether no file that the run writes is another one, or one that it reads; false after a complaint. */
bool run_check_names(const run *r);

#endif
