/* talk.c: what many processes say with one voice. */
#include "program.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- Silence, of all processes but the first ---- */

enum { STREAMS = 2 };
typedef struct silence {
    int kept[STREAMS]; /* -1: this process may speak */
} silence;

static FILE *stream(int i) { return i == 0 ? stdout : stderr; }

static silence be_silent(void) {
    silence s = {{-1, -1}};
    for (int i = 0; i < STREAMS && !speaks(); i++) {
        fflush(stream(i));
        s.kept[i] = dup(fileno(stream(i)));
        if (!freopen("/dev/null", "w", stream(i))) continue;
    }
    return s;
}

static void end_silence(silence s) {
    for (int i = 0; i < STREAMS; i++)
        if (s.kept[i] >= 0) {
            fflush(stream(i));
            dup2(s.kept[i], fileno(stream(i)));
            close(s.kept[i]);
        }
    setvbuf(stderr, NULL, _IONBF, 0); /* which freopen changes: a message must not wait where the process is ended */
}

/* ---- What all do ---- */

parse_result parse_together(const command_line *line, int argc, char **argv) {
    silence s = be_silent();
    parse_result result = parse_arguments(line, argc, argv);
    end_silence(s);
    return result;
}

drape_context *make_context_together(int32_t threads, bool warns, int *code) {
    const session now = session_now();
    silence s = be_silent();
    drape_context *ctx = make_context(threads, warns && speaks());
    end_silence(s);
    int mine = ctx ? now.size : now.rank, first; /* without one */
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == now.size) return ctx;
    *code = first == 0 ? EXIT_BAD_INPUT : EXIT_RUN_FAILED;
    if (first > 0 && first == now.rank)
        complain_of_process(now.rank, now.size, "out of memory", "or its processor differs from that of process 0");
    drape_context_destroy(ctx);
    return NULL;
}

bool refuse(const char *text) {
    if (speaks()) complain("%s", text);
    return false;
}

void complain_of_process(int rank, int size, const char *what, const char *detail) {
    complain("process %d of %d: %s%s%s", rank, size, what, detail && *detail ? ": " : "", detail ? detail : "");
}
