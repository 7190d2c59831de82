/* fabrics.c: drape fabrics. */
#include "cli.h"

#include <stdio.h>

int command_fabrics(int argc, char **argv) {
    command_line line = {
        .usage = "drape fabrics",
        .about = "Lists the fabrics that `material: NAME` knows: density in kg/m^2, stretch along warp and "
                 "weft and shear\nin N/m, bending rigidity in N m. docs/fabrics.md says where they come from."};
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
