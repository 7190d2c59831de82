/* talk.c: what many processes say with one voice. */
#include "program.h"

#include <stdlib.h>
#include <unistd.h>

parse_result parse_together(const command_line *line, int argc, char **argv) {
    int kept[2] = {-1, -1};
    FILE *stream[2] = {stdout, stderr};
    for (int i = 0; i < 2 && !speaks(); i++) {
        fflush(stream[i]);
        kept[i] = dup(fileno(stream[i]));
        if (!freopen("/dev/null", "w", stream[i])) continue;
    }
    parse_result result = parse_arguments(line, argc, argv);
    for (int i = 0; i < 2; i++)
        if (kept[i] >= 0) {
            fflush(stream[i]);
            dup2(kept[i], fileno(stream[i]));
            close(kept[i]);
        }
    setvbuf(stderr, NULL, _IONBF, 0); /* which freopen changes: a message must not wait where the process is ended */
    return result;
}

bool refuse(const char *text) {
    if (speaks()) complain("%s", text);
    return false;
}

void complain_of_process(int rank, int size, const char *what, const char *detail) {
    complain("process %d of %d: %s%s%s", rank, size, what, detail && *detail ? ": " : "", detail ? detail : "");
}
