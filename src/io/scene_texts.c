/* scene_texts.c: the scenes that ship with the program. To add one: scenes/NAME.yaml, and two lines here. The files
 * are embedded by CMake as drape_i_scene_NAME_yaml, ending in a zero. */
#include "drape/io.h"

#include <stddef.h>

extern const unsigned char drape_i_scene_pinned_yaml[], drape_i_scene_drooping_yaml[], drape_i_scene_reentrant_yaml[],
    drape_i_scene_four_corners_yaml[], drape_i_scene_chen_yaml[], drape_i_scene_flag_yaml[],
    drape_i_scene_curtain_yaml[], drape_i_scene_hammock_yaml[], drape_i_scene_banner_yaml[];

static const struct entry {
    const char *name, *description;
    const unsigned char *text;
} scenes[] = {
    {"flag", "a flag of silk on its pole, in the wind", drape_i_scene_flag_yaml},
    {"curtain", "a curtain on rings, drawn aside and let back", drape_i_scene_curtain_yaml},
    {"hammock", "a hammock of denim under a canopy of cotton: two pieces", drape_i_scene_hammock_yaml},
    {"banner", "denim against silk, side by side", drape_i_scene_banner_yaml},
    {"pinned", "1 m x 1 m of cotton held at all edges sinks under gravity", drape_i_scene_pinned_yaml},
    {"drooping", "1 m x 1 m of cotton held at two opposite edges sinks under gravity", drape_i_scene_drooping_yaml},
    {"reentrant", "an L-shape of cotton held along its inner corner droops", drape_i_scene_reentrant_yaml},
    {"four-corners", "four corners move up and down, no gravity (Ascher and Boxerman 2003)",
     drape_i_scene_four_corners_yaml},
    {"chen", "a small sheet held at its corners, pushed in the middle (Chen's MPCG report)", drape_i_scene_chen_yaml},
};

enum { COUNT = sizeof scenes / sizeof *scenes };

const char *drape_scene_name(int32_t i) { return i >= 0 && i < COUNT ? scenes[i].name : NULL; }
const char *drape_scene_description(int32_t i) { return i >= 0 && i < COUNT ? scenes[i].description : NULL; }
const char *drape_scene_text(int32_t i) { return i >= 0 && i < COUNT ? (const char *)scenes[i].text : NULL; }
