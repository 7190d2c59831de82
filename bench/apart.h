/* apart.h: a measurement in a process of its own, whose memory nothing else has been in. */
#ifndef DRAPE_BENCH_APART_H
#define DRAPE_BENCH_APART_H

#include <stdbool.h>
#include <stddef.h>

/* Calls work(data) in a child process, and copies the `bytes` bytes at data back from there. False if that failed;
 * what data holds then is not defined. */
bool bench_apart(void (*work)(void *data), void *data, size_t bytes);

#endif
