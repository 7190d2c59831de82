/* output_file.c: files that are complete or absent: written under a temporary name beside their own, then renamed. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX = 48 }; /* ".part-", a number, and the end */

/* Why a file of this name cannot be made, or NULL. Renaming over a device would take it away. */
static const char *obstacle(const char *path, const char *folder) {
    struct stat info;
    if (access(folder, W_OK | X_OK) != 0) return strerror(errno);
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) return NULL;
    return S_ISDIR(info.st_mode) ? strerror(EISDIR) : "there is something that is no regular file";
}

bool can_write(const char *path) {
    if (!path) return true;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
    const char *why = folder ? obstacle(path, folder) : strerror(errno);
    if (why) complain("%s: cannot write: %s", path, why);
    free(folder);
    return !why;
}

/* Not mkstemp: its files have mode 600, whatever the umask. */
static FILE *open_temporary(char *temporary, const char *path) {
    snprintf(temporary, strlen(path) + SUFFIX, "%s.part-%ld", path, (long)getpid());
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (descriptor >= 0 && !stream) {
        close(descriptor);
        unlink(temporary);
    }
    return stream;
}

bool output_begin(output_file *file, const char *path) {
    *file = (output_file){.path = path, .temporary = malloc(strlen(path) + SUFFIX)};
    if (file->temporary) file->stream = open_temporary(file->temporary, path);
    if (file->stream) return true;
    complain("%s: cannot write: %s", path, strerror(errno));
    free(file->temporary);
    return false;
}

bool output_end(output_file *file) {
    bool good = !ferror(file->stream) && fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    int why = errno;
    if (fclose(file->stream) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && rename(file->temporary, file->path) != 0) {
        good = false;
        why = errno;
    }
    if (!good) {
        complain("%s: cannot write: %s", file->path, strerror(why));
        unlink(file->temporary);
    }
    free(file->temporary);
    return good;
}
