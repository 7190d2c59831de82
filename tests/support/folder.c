#include "support/folder.h"

#include "support/testing.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

const char *test_path_in(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

int test_folder_entries(const char *folder, bool and_remove) {
    int count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (struct dirent *e; (e = readdir(open));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        count++;
        if (and_remove) remove(test_path_in(folder, e->d_name));
    }
    closedir(open);
    return count;
}
