/* folder.h: a folder of its own for the files of a test. */
#ifndef DRAPE_TESTS_FOLDER_H
#define DRAPE_TESTS_FOLDER_H

#include <stdbool.h>

/* Path of a file in it; valid until the next call. */
const char *test_path_in(const char *folder, const char *name);

/* How many entries it has, and away with them where asked. */
int test_folder_entries(const char *folder, bool and_remove);

#endif
