/* exchange.h: how drape-bench passes a system to drape-bench-petsc, which is a separate program because MPI starts
 * its processes. Both map one file, and every process reads its rows from it.
 *
 *   exchange_head | rowptr (rows + 1) | val (9 per block) | rhs | positions | x (3 per vertex each) | col (a block
 * each)
 */
#ifndef DRAPE_BENCH_EXCHANGE_H
#define DRAPE_BENCH_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct exchange_head {
    int64_t rows, blocks;
} exchange_head;

/* The same arrays as pointers into the mapped file. */
typedef struct exchange {
    int64_t *rowptr;
    double *val, *rhs, *positions, *x;
    int32_t *col;
} exchange;

static inline size_t exchange_bytes(exchange_head h) {
    return sizeof h + 8 * (size_t)(h.rows + 1) + 72 * (size_t)h.blocks + 3 * 24 * (size_t)h.rows +
           4 * (size_t)h.blocks;
}

static inline exchange exchange_at(void *mapped) {
    const exchange_head *h = mapped;
    exchange e;
    e.rowptr = (int64_t *)(void *)((char *)mapped + sizeof *h);
    e.val = (double *)(void *)(e.rowptr + h->rows + 1);
    e.rhs = e.val + 9 * h->blocks;
    e.positions = e.rhs + 3 * h->rows;
    e.x = e.positions + 3 * h->rows;
    e.col = (int32_t *)(void *)(e.x + 3 * h->rows);
    return e;
}

#endif
