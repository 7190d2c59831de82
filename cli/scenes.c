/* scenes.c: drape scenes. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static int show(const char *name) {
    for (int32_t i = 0; drape_scene_name(i); i++)
        if (strcmp(drape_scene_name(i), name) == 0) {
            fputs(drape_scene_text(i), stdout);
            return EXIT_GOOD;
        }
    complain("there is no scene %s; drape scenes lists them", name);
    return EXIT_BAD_INPUT;
}

int command_scenes(int argc, char **argv) {
    const char *shown = NULL;
    word_choice scenes = {.value = &shown, .kind = WORDS_SCENES, .checked_later = true};
    const option options[] = {
        {"--show", NULL, "NAME", "print a scene file to start from", OPTION_WORD, &scenes, 0, 0}, {0}};
    command_line line = {.usage = "drape scenes [--show NAME]",
                         .about = "Lists the scenes that `drape run NAME` knows, or prints one of them.",
                         .options = options};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    if (shown) return show(shown);
    for (int32_t i = 0; drape_scene_name(i); i++)
        printf("%-14s %s\n", drape_scene_name(i), drape_scene_description(i));
    return EXIT_GOOD;
}
