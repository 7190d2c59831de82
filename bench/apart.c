/* apart.c: see apart.h. */
#include "apart.h"

#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static bool send_all(int end, const char *from, size_t bytes) {
    for (size_t sent = 0; sent < bytes;) {
        ssize_t part = write(end, from + sent, bytes - sent);
        if (part <= 0) return false;
        sent += (size_t)part;
    }
    return true;
}

static bool receive_all(int end, char *to, size_t bytes) {
    for (size_t got = 0; got < bytes;) {
        ssize_t part = read(end, to + got, bytes - got);
        if (part <= 0) return false;
        got += (size_t)part;
    }
    return true;
}

bool bench_apart(void (*work)(void *data), void *data, size_t bytes) {
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work(data);
        _exit(send_all(ends[1], data, bytes) ? 0 : 1);
    }
    close(ends[1]);
    bool there = child > 0 && receive_all(ends[0], data, bytes);
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return there;
}
