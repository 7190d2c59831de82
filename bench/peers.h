/* peers.h: what a solver of another library has to offer to be compared with. A library is one table, in
 * peers_linked.c or in a file of its own, and one line in the list of peers.c. It is in the list also where it was
 * not there at build time: its table then has no functions, and the benchmark says so. */
#ifndef DRAPE_BENCH_PEERS_H
#define DRAPE_BENCH_PEERS_H

#include "bench.h"

#include <stdbool.h>

/* The system: as drape takes it, and prefiltered, S A S + C (I-S) and b^, as all others do. */
typedef struct peer_problem {
    bench_system *system;
    drape_bsr3 A;
    double *rhs;
    double tol;      /* of the relative preconditioned residual, or what is nearest to it */
    int32_t threads; /* that anybody may use */
} peer_problem;

typedef struct peer_result {
    double setup, solve; /* s */
    int32_t iterations;  /* 0: a direct solver */
    bool converged;
} peer_result;

typedef struct peer_library {
    const char *name;
    uint32_t bit;               /* of bench_library, bench.h; 0: it cannot be left out */
    const char *const *members; /* ways to solve, up to a NULL */
    /* What it uses processors by, one and several of them: each member runs with all and with one. NULL: a member
     * runs once, by whatever it has. */
    const char *worker, *workers;
    /* Copies the system into a form of its own; that is no part of any time. NULL: not there, and so are the others.
     */
    void *(*create)(const peer_problem *problem);
    /* Sets up and solves from nothing, and starts from zero. workers: at most the problem's threads. false: it
     * failed.
     */
    bool (*run)(void *state, int32_t member, int32_t workers, double *x, peer_result *result);
    void (*destroy)(void *state);
    /* What it can keep from step to step of an animation, up to a NULL; NULL: it takes no part in that. step solves
     * the system as it is in the step of that number, from 0 on, with what it kept from those before. */
    const char *const *steppers;
    bool (*step)(void *state, int32_t member, int32_t workers, int32_t number, double *x, peer_result *result);
} peer_library;

extern const peer_library bench_peers_drape, bench_peers_petsc, bench_peers_cholmod, bench_peers_eigen,
    bench_peers_amgcl;

/* peers_amgcl.c: compiles against the header files in this folder; false: that failed. */
bool bench_amgcl_prepare(const char *path);

#endif
