/* scene_paths.c: names of files in a scene, which somebody else may have written. A scene may read meshes in its own
 * folder and below, and name outputs in the present folder and below. The words of a name are looked at first; then,
 * of a mesh that is there, where it really lies, since a link in the folder may lead anywhere. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "io/scene_reader.h"

#include <stdlib.h>
#include <string.h>

bool drape_i_path_climbs(const char *path) {
    if (path[0] == '/') return true;
    for (const char *word = path; word; word = strchr(word, '/')) {
        if (*word == '/') word++;
        if (strncmp(word, "..", 2) == 0 && (word[2] == '/' || !word[2])) return true;
    }
    return false;
}

/* "" is the present folder. */
static char *real_folder(reader_t *r, const char *file) {
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) + 1 : 0;
    char *folder = drape_i_scene_get(r, (int64_t)length + 2, 1);
    if (!folder) return NULL;
    memcpy(folder, file, length);
    folder[length] = '.';
    return realpath(folder, NULL);
}

bool drape_i_path_leads_out(reader_t *r, const char *path) {
    char *folder = real_folder(r, r->path), *real = realpath(path, NULL);
    size_t length = folder ? strlen(folder) : 0;
    bool root = length == 1; /* "/": everything is below it */
    bool inside = folder && real && strncmp(real, folder, length) == 0 && (root || real[length] == '/');
    bool there = real != NULL;
    free(folder);
    free(real);
    return there && !inside;
}
