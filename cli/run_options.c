/* run_options.c: the command line of drape run. */
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 1000000, OWN_OPTIONS = 13 };

static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

parse_result run_parse(run_options *o, int argc, char **argv) {
    option options[SCENE_OPTIONS + OWN_OPTIONS + 1] = {
        {"--output", "-o", "OUT", "a file in the format of its extension (`drape list formats`); may be repeated",
         OPTION_LIST, &o->output, 0, 0},
        {"--no-output", NULL, NULL, "write no file; the default, without an OUT here or in the scene, is NAME.html",
         OPTION_FLAG, &o->no_output, 0, 0},
        {"--frames", NULL, "N", "frames after the first; default: the scene's", OPTION_NUMBER, &o->frames, 0,
         MOST_FRAMES},
        {"--no-colliders", NULL, NULL, "leave the scene's colliders out of the files", OPTION_FLAG, &o->no_colliders,
         0, 0},
        {"--report", NULL, "FILE.json", "write machine, settings and a record of every step", OPTION_TEXT, &o->report,
         0, 0},
        {"--check-energy", NULL, NULL, "record in the report how well each step balances the energy", OPTION_FLAG,
         &o->check_energy, 0, 0},
        {"--export-system", NULL, "STEP:FILE", "write the linear system of that step (the first is 1)", OPTION_TEXT,
         &o->export_system, 0, 0},
        {"--tune", NULL, NULL,
         "choose the preconditioner by timing in the first step; bits then differ between machines", OPTION_FLAG,
         &o->tune, 0, 0},
        {"--checkpoint", NULL, "N", "every N frames write a checkpoint, from which an interrupted run can be resumed",
         OPTION_NUMBER, &o->checkpoint, 1, MOST_FRAMES},
        {"--checkpoint-file", NULL, "FILE", "file of the checkpoint; default: the first OUT with .ckpt appended",
         OPTION_TEXT, &o->checkpoint_file, 0, 0},
        {"--resume", NULL, NULL, "resume from the last checkpoint; the files will be those of an uninterrupted run",
         OPTION_FLAG, &o->resume, 0, 0},
        {"--watch", NULL, NULL, "run again whenever the scene file or a file that it names is saved; Ctrl-C ends it",
         OPTION_FLAG, &o->watch, 0, 0},
        {"--quiet", NULL, NULL, "print no line per frame", OPTION_FLAG, &o->quiet, 0, 0}};
    o->output.hint = WORDS_FORMATS;
    scene_option_table(&o->scene, options + OWN_OPTIONS);
    command_line line = {.usage = "drape run SCENE.yaml|NAME [options]",
                         .about =
                             "Simulates a scene file, `-` for standard input, or a built-in scene (`drape scenes` "
                             "lists them). Prints time,\niterations of the linear solver, energy (kinetic, elastic "
                             "and gravitational together), largest stretch and seconds\nfor each frame.",
                         .options = options,
                         .positional = &o->scene.name,
                         .positional_count = 1,
                         .names = WORDS_SCENES};
    o->argc = argc;
    o->argv = argv;
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed == PARSE_GOOD && o->no_output && o->output.count > 0) {
        complain("--no-output and --output: give only one of them");
        return PARSE_BAD;
    }
    if (parsed == PARSE_GOOD && !o->scene.name) {
        complain("no scene given (usage: %s; `drape scenes` lists them)", line.usage);
        return PARSE_BAD;
    }
    return parsed;
}

static bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

bool run_can_watch(const run_options *o) {
    const char *name = o->scene.name;
    if (o->checkpoint > 0 || o->resume || o->checkpoint_file) {
        complain("--watch cannot be used with checkpoints, which belong to one version of a scene");
        return false;
    }
    if (!strchr(name, '/') && !ends_in(name, ".yaml") && !ends_in(name, ".yml")) {
        complain(
            "--watch needs a scene file, and %s is not one (`drape scenes --show NAME` prints one to start from)",
            strcmp(name, "-") == 0 ? "standard input" : name);
        return false;
    }
    return true;
}

bool run_parse_export(run_options *o, int64_t steps) {
    char *end;
    if (!o->export_system) return true;
    errno = 0;
    long long step = strtoll(o->export_system, &end, 10);
    if (end == o->export_system || *end != ':' || !end[1] || errno || step < 1 || step > steps) {
        complain("--export-system %s: expected STEP:FILE, with a step from 1 to %lld", o->export_system,
                 (long long)steps);
        return false;
    }
    o->export_step = step;
    o->export_path = end + 1;
    return true;
}

/* ---- Checkpoints ---- */

/* A contradiction between options; NULL: none. */
static const char *nonsense(const run *r) {
    const run_options *o = &r->options;
    bool wanted = o->checkpoint > 0 || o->resume;
    if (!wanted) return o->checkpoint_file ? "--checkpoint-file needs --checkpoint or --resume" : NULL;
    if (r->scene->solve.tune)
        return "--tune cannot be used with checkpoints: it chooses by timing, so a resumed run would not be the same";
    if (!o->checkpoint_file && r->output_count == 0)
        return "there is no output to put checkpoints beside; name a file with --checkpoint-file";
    return NULL;
}

bool run_name_checkpoint(run *r) {
    const run_options *o = &r->options;
    const char *why = nonsense(r);
    if (why) {
        complain("%s", why);
        return false;
    }
    if (o->checkpoint == 0 && !o->resume) return true;
    const char *stem = o->checkpoint_file ? o->checkpoint_file : r->outputs[0];
    const char *ending = o->checkpoint_file ? "" : ".ckpt";
    size_t room = strlen(stem) + strlen(ending) + 1;
    r->checkpoint_path = malloc(room);
    if (r->checkpoint_path) snprintf(r->checkpoint_path, room, "%s%s", stem, ending);
    else complain("out of memory");
    return r->checkpoint_path != NULL;
}

/* Quoted for a shell, if necessary. */
static void print_word(FILE *out, const char *word) {
    if (*word && strspn(word, PLAIN) == strlen(word)) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word; word++)
        if (*word == '\'') fputs("'\\''", out);
        else fputc(*word, out);
    fputc('\'', out);
}

char *run_resume_command(const run_options *o) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs("drape run", out);
    for (int i = 0; i < o->argc; i++) print_word(out, o->argv[i]);
    if (!o->resume) fputs(" --resume", out);
    fclose(out);
    return text;
}
