/* list.c: what there is to choose from: the tables of names that the libraries have, and the commands `drape list`,
 * `drape scenes` and `drape fabrics`, which print them. The help texts, `drape list`, the manual page
 * (cmake/manual.cmake) and the completions take them from here, so that what is added to a table is in all of them.
 */
#include "cli.h"
#include "ode_examples.h"

#include <string.h>

static const char *example_name(int32_t i) { return ode_example_at(i) ? ode_example_at(i)->name : NULL; }
static const char *example_about(int32_t i) { return ode_example_at(i) ? ode_example_at(i)->about : NULL; }

/* The first is not in the table of drape/ode.h. */
static const char *integrator_about(int32_t i) {
    const char *name = drape_integrator_name(i);
    for (int32_t k = 0; name && drape_ode_method_name(k); k++)
        if (strcmp(name, drape_ode_method_name(k)) == 0) return drape_ode_method_about(k);
    return name ? "order 1; one linear solve per step, Baraff and Witkin's" : NULL;
}

/* Names of enum values, by number. */
static const char *stop_name(int32_t i) { return drape_stop_name((drape_stop)i); }
static const char *reuse_name(int32_t i) { return drape_reuse_name((drape_reuse)i); }
static const char *smoother_name(int32_t i) { return drape_smoother_name((drape_smoother)i); }
static const char *recipe_name(int32_t i) { return drape_recipe_name((drape_recipe)i); }
static const char *cycle_name(int32_t i) { return drape_cycle_name((drape_cycle)i); }
static const char *ccd_kind_name(int32_t i) { return drape_ccd_kind_name((drape_ccd_kind)i); }
static const char *newton_name(int32_t i) { /* without DRAPE_ODE_NEWTON_DEFAULT */
    return drape_ode_newton_kind_name((drape_ode_newton_kind)(DRAPE_ODE_NEWTON + i));
}

static const struct table {
    const char *name; /* NULL: `drape list` does not show it */
    const char *about;
    const char *(*word)(int32_t index);
    const char *(*meaning)(int32_t index); /* NULL: the word says it all */
} tables[] = {
    [WORDS_METHODS] = {"methods", "drape solve --method", drape_method_name, drape_method_about},
    [WORDS_PRECONDS] = {"preconditioners", "drape solve --precond", drape_precond_name, drape_precond_about},
    [WORDS_MODELS] = {"models", "the key model of a scene", drape_model_name, drape_model_about},
    [WORDS_INTEGRATORS] = {"integrators", "drape run --integrator", drape_integrator_name, integrator_about},
    [WORDS_FORMATS] = {"formats", "drape run --output", drape_writer_extension, drape_writer_description},
    [WORDS_COLORS] = {"colors", "the key color of a scene", drape_color_name, NULL},
    [WORDS_FABRICS] = {"fabrics", "the key material of a scene", drape_fabric_name, NULL},
    [WORDS_SCENES] = {"scenes", "drape run", drape_scene_name, drape_scene_description},
    [WORDS_EXAMPLES] = {"examples", "drape ode", example_name, example_about},
    [WORDS_ODE_METHODS] = {NULL, NULL, drape_ode_method_name, drape_ode_method_about},
    [WORDS_STOPS] = {NULL, NULL, stop_name, NULL},
    [WORDS_REUSES] = {NULL, NULL, reuse_name, NULL},
    [WORDS_SMOOTHERS] = {NULL, NULL, smoother_name, NULL},
    [WORDS_CYCLES] = {NULL, NULL, cycle_name, NULL},
    [WORDS_RECIPES] = {NULL, NULL, recipe_name, NULL},
    [WORDS_NEWTONS] = {NULL, NULL, newton_name, NULL},
    [WORDS_CCD_KINDS] = {NULL, NULL, ccd_kind_name, NULL},
};

enum { TABLES = sizeof tables / sizeof *tables };

const char *word_at(word_kind kind, int32_t index) {
    const char *(*word)(int32_t) = tables[kind].word;
    return word ? word(index) : NULL;
}

int32_t word_index(word_kind kind, const char *word) {
    for (int32_t i = 0; word_at(kind, i); i++)
        if (strcmp(word_at(kind, i), word) == 0) return i;
    return -1;
}

/* ---- drape list ---- */

/* The text as lines of a manual page: signs that roff would take for its own are protected. */
static void print_roff(const char *text) {
    if (*text == '.' || *text == '\'') printf("\\&");
    for (; *text; text++)
        if (*text == '-' || *text == '\\') printf(*text == '-' ? "\\-" : "\\e");
        else putchar(*text);
    putchar('\n');
}

static void print_table(const struct table *t, const char *before, bool roff) {
    for (int32_t i = 0; t->word(i); i++) {
        const char *meaning = t->meaning ? t->meaning(i) : NULL;
        if (roff) {
            printf(".TP\n.B ");
            print_roff(t->word(i));
            if (meaning) print_roff(meaning);
        } else if (meaning) {
            printf("%s%-18s %s\n", before, t->word(i), meaning);
        } else {
            printf("%s%s\n", before, t->word(i));
        }
    }
}

static void print_all(void) {
    bool first = true;
    for (int32_t k = 0; k < TABLES; k++) {
        if (!tables[k].name) continue;
        printf("%s%s (%s):\n", first ? "" : "\n", tables[k].name, tables[k].about);
        print_table(tables + k, "  ", false);
        first = false;
    }
}

/* The names of the tables with something between them. */
static void name_tables(char *to, size_t size, const char *between) {
    size_t length = 0;
    to[0] = 0;
    for (int32_t k = 0; k < TABLES && length < size; k++)
        if (tables[k].name)
            length += (size_t)snprintf(to + length, size - length, "%s%s", length ? between : "", tables[k].name);
}

static const struct table *find_table(const char *name) {
    for (int32_t k = 0; k < TABLES; k++)
        if (tables[k].name && strcmp(tables[k].name, name) == 0) return tables + k;
    return NULL;
}

int command_list(int argc, char **argv) {
    const char *wanted = NULL;
    bool roff = false;
    char names[200], about[400];
    const option options[] = {
        {"--roff", NULL, NULL, "as lines of a manual page", OPTION_FLAG, &roff, 0, 0},
        {0},
    };
    name_tables(names, sizeof names, ", ");
    snprintf(
        about, sizeof about,
        "Lists the names that options and scene files accept, with one line about each: all tables, or one of\n%s.",
        names);
    command_line line = {.usage = "drape list [TABLE] [options]",
                         .about = about,
                         .options = options,
                         .positional = &wanted,
                         .positional_count = 1};
    if (argc == 1 && strcmp(argv[0], "--words") == 0) {
        name_tables(names, sizeof names, "\n");
        puts(names);
        return EXIT_GOOD;
    }
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    const struct table *table = wanted ? find_table(wanted) : NULL;
    if (wanted && !table) {
        complain("unknown table %s; known: %s", wanted, names);
        return EXIT_BAD_INPUT;
    }
    if (table) print_table(table, "", roff);
    else print_all();
    return EXIT_GOOD;
}

/* ---- drape scenes ---- */

static int show_scene(const char *name) {
    for (int32_t i = 0; drape_scene_name(i); i++)
        if (strcmp(drape_scene_name(i), name) == 0) {
            fputs(drape_scene_text(i), stdout);
            return EXIT_GOOD;
        }
    complain("unknown scene %s; `drape scenes` lists them", name);
    return EXIT_BAD_INPUT;
}

int command_scenes(int argc, char **argv) {
    const char *shown = NULL;
    word_choice scenes = {.value = &shown, .kind = WORDS_SCENES, .checked_later = true};
    const option options[] = {
        {"--show", NULL, "NAME", "print a scene file to start from", OPTION_WORD, &scenes, 0, 0}, {0}};
    command_line line = {.usage = "drape scenes [--show NAME]",
                         .about = "Lists the scenes that `drape run NAME` accepts, or prints one of them.",
                         .options = options};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (shown) return show_scene(shown);
    for (int32_t i = 0; drape_scene_name(i); i++)
        printf("%-18s %s\n", drape_scene_name(i), drape_scene_description(i));
    return EXIT_GOOD;
}

/* ---- drape fabrics ---- */

int command_fabrics(int argc, char **argv) {
    command_line line = {
        .usage = "drape fabrics",
        .about = "Lists the fabrics that `material: NAME` accepts: density in kg/m^2, stretch along warp and weft "
                 "and shear\nin N/m, bending rigidity in N m. docs/fabrics.md says where they come from."};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    printf("%-10s %8s %8s %8s %8s %10s\n", "", "density", "warp", "weft", "shear", "bend");
    for (int32_t i = 0; drape_fabric_name(i); i++) {
        drape_material m;
        drape_fabric_find(drape_fabric_name(i), &m);
        printf("%-10s %8g %8g %8g %8g %10g\n", drape_fabric_name(i), m.density, m.stretch[0], m.stretch[1], m.shear,
               m.bend);
    }
    return EXIT_GOOD;
}
