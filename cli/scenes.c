/* scenes.c: drape scenes. */
#include "cli.h"

#include "drape/sim.h"

#include <stdio.h>

int command_scenes(int argc, char **argv) {
    command_line line = {.usage = "drape scenes", .about = "Lists the scenes that `drape run NAME` knows."};
    parse_result parsed = parse_arguments(&line, argc, argv);
    if (parsed != PARSE_GOOD) return parsed == PARSE_HELP ? EXIT_GOOD : EXIT_BAD_INPUT;
    for (int32_t i = 0; drape_scene_name(i); i++)
        printf("%-14s %s\n", drape_scene_name(i), drape_scene_description(i));
    return EXIT_GOOD;
}
