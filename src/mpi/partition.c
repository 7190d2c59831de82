/* partition.c: who owns which rows, by recursive coordinate bisection (Berger and Bokhari 1987).
 *
 * A group of rows for several processes is cut across the longest side of its bounding box, so that both sides have
 * rows in proportion to their processes. Then both are cut in the same way. All groups are cut together, and each
 * process looks at its own chunk of rows only. The coordinate of a cut is the exact quantile: its 64 bits are found
 * by eight histograms of eight bits each. Rows with that very coordinate are cut by their numbers. Everything is
 * decided from minima, maxima and counts of integers, so the same input is always divided in the same way. Rows whose
 * positions are all alike fall into consecutive blocks.
 *
 * Rows have the numbers of their file until they are divided. Then each process numbers its own ones in the same
 * order, behind those of the processes before it: PETSc's matrices want consecutive rows. */
#include "mpi/mpi.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 8, BINS = 1 << DIGITS };

/* A group is known by the first of its processes. Arrays have an entry per process unless they say otherwise. */
typedef struct division {
    MPI_Comm comm;
    int rank, size;
    int64_t rows;           /* of this process' chunk */
    const double *position; /* 3 per row */
    int32_t *to;            /* of each row: its group, in the end its process */
    int32_t *end;           /* of a group: the process after its last; 0: there is no such group */
    int32_t *axis;
    int64_t *count; /* rows of the group, on all processes */
    int64_t *left;  /* rows that are still to be found for the left side */
    uint64_t *cut;  /* key of the coordinate of the cut */
    int64_t *bin;   /* BINS per process */
    double *box;    /* 6 per process: -minima, maxima */
} division;

static bool is_cut(const division *d, int32_t group) { return d->end[group] - group > 1; }
static int32_t middle(const division *d, int32_t group) { return group + (d->end[group] - group) / 2; }

/* An integer that is ordered as the coordinate is; -0 is 0. */
static uint64_t key_of(double x) {
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static uint64_t row_key(const division *d, int64_t row) { return key_of(d->position[3 * row + d->axis[d->to[row]]]); }

/* The longest side of each group's box, the first of those that are alike. Coordinates that are no numbers are for
 * others to complain about. */
static void choose_axes(division *d) {
    double *box = d->box;
    for (int64_t k = 0; k < 6 * (int64_t)d->size; k++) box[k] = -INFINITY;
    for (int64_t i = 0; i < d->rows; i++)
        for (int32_t k = 0; k < 3; k++) {
            const double x = d->position[3 * i + k];
            double *side = box + 6 * (int64_t)d->to[i] + k;
            if (-x > side[0]) side[0] = -x;
            if (x > side[3]) side[3] = x;
        }
    MPI_Allreduce(MPI_IN_PLACE, box, 6 * d->size, MPI_DOUBLE, MPI_MAX, d->comm);
    for (int32_t g = 0; g < d->size; g++, box += 6) {
        d->axis[g] = 0;
        for (int32_t k = 1; k < 3; k++)
            if (box[k] + box[k + 3] > box[d->axis[g]] + box[d->axis[g] + 3]) d->axis[g] = k;
    }
}

/* The next eight bits of the cut of each group. */
static void find_digit(division *d, int32_t shift) {
    memset(d->bin, 0, (size_t)d->size * BINS * sizeof *d->bin);
    for (int64_t i = 0; i < d->rows; i++) {
        const int32_t g = d->to[i];
        const uint64_t key = row_key(d, i);
        if (key >> shift >> DIGITS == d->cut[g] >> shift >> DIGITS)
            d->bin[(int64_t)g * BINS + (int64_t)(key >> shift & (BINS - 1))]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, d->bin, d->size * BINS, MPI_INT64_T, MPI_SUM, d->comm);
    for (int32_t g = 0; g < d->size; g++) {
        const int64_t *bin = d->bin + (int64_t)g * BINS;
        uint64_t digit = 0;
        if (!is_cut(d, g)) continue;
        while (d->left[g] >= bin[digit]) d->left[g] -= bin[digit++];
        d->cut[g] |= digit << shift;
    }
}

/* What lies on the cut goes to the left in the order of its numbers, until that side is full. */
static void move_right(division *d) {
    int64_t *seen = d->bin;
    memset(seen, 0, 2 * (size_t)d->size * sizeof *seen);
    for (int64_t i = 0; i < d->rows; i++) seen[d->size + d->to[i]] += row_key(d, i) == d->cut[d->to[i]];
    MPI_Exscan(seen + d->size, seen, d->size, MPI_INT64_T, MPI_SUM, d->comm);
    if (d->rank == 0) memset(seen, 0, (size_t)d->size * sizeof *seen); /* which Exscan says nothing about */
    for (int64_t i = 0; i < d->rows; i++) {
        const int32_t g = d->to[i];
        const uint64_t key = row_key(d, i);
        if (!is_cut(d, g) || key < d->cut[g]) continue;
        if (key > d->cut[g] || seen[g]++ >= d->left[g]) d->to[i] = middle(d, g);
    }
}

static void bisect(division *d) {
    for (int32_t most = d->size; most > 1; most -= most / 2) {
        choose_axes(d);
        for (int32_t g = 0; g < d->size; g++) {
            d->cut[g] = 0;
            if (is_cut(d, g)) d->left[g] = d->count[g] * (middle(d, g) - g) / (d->end[g] - g);
        }
        for (int32_t shift = 64 - DIGITS; shift >= 0; shift -= DIGITS) find_digit(d, shift);
        move_right(d);
        for (int32_t g = d->size - 1; g >= 0; g--) { /* from the end: new groups are not cut again */
            const int32_t half = is_cut(d, g) ? middle(d, g) : 0;
            if (half == 0) continue;
            const int64_t left = d->count[g] * (half - g) / (d->end[g] - g);
            d->count[half] = d->count[g] - left;
            d->end[half] = d->end[g];
            d->count[g] = left;
            d->end[g] = half;
        }
    }
}

/* ---- What each process owns ---- */

/* New numbers of the chunk's rows: behind those that processes before this one give to the same owner. */
static void number_rows(division *d, drape_i_owners *out) {
    int64_t *given = d->bin, *next = d->left, first = 0;
    memset(given, 0, (size_t)d->size * sizeof *given);
    for (int64_t i = 0; i < d->rows; i++) given[d->to[i]]++;
    MPI_Exscan(given, next, d->size, MPI_INT64_T, MPI_SUM, d->comm);
    for (int32_t p = 0; p < d->size; p++) {
        if (d->rank == 0) next[p] = 0; /* which Exscan says nothing about */
        if (p == d->rank) out->first = (int32_t)first;
        next[p] += first;
        first += d->count[p];
    }
    for (int64_t i = 0; i < d->rows; i++) out->fresh[i] = (int32_t)next[d->to[i]]++;
}

/* Rows go to their owners. Processes with lower numbers come first, so own rows ascend. */
static void hand_over(division *d, int64_t from, int32_t *sorted, int32_t *four, drape_i_owners *out) {
    int32_t *give = four, *take = four + d->size, *give_at = take + d->size, *take_at = give_at + d->size;
    for (int64_t i = 0; i < d->rows; i++) give[d->to[i]]++;
    MPI_Alltoall(give, 1, MPI_INT32_T, take, 1, MPI_INT32_T, d->comm);
    for (int32_t p = 1; p < d->size; p++) {
        give_at[p] = give_at[p - 1] + give[p - 1];
        take_at[p] = take_at[p - 1] + take[p - 1];
    }
    for (int64_t i = 0; i < d->rows; i++) sorted[give_at[d->to[i]]++] = (int32_t)(from + i);
    for (int32_t p = 0; p < d->size; p++) give_at[p] -= give[p];
    MPI_Alltoallv(sorted, give, give_at, MPI_INT32_T, out->row, take, take_at, MPI_INT32_T, d->comm);
}

static drape_status divide(drape_context *ctx, division *d, int64_t from, drape_i_owners *out) {
    int32_t *sorted = NULL, *four = NULL;
    bisect(d);
    out->count = (int32_t)d->count[d->rank];
    bool good = DRAPE_NEW(ctx, out->row, out->count) && DRAPE_NEW(ctx, out->fresh, out->chunk + 1) &&
                DRAPE_NEW(ctx, sorted, d->rows) && DRAPE_NEW(ctx, four, 4 * (int64_t)d->size);
    drape_status status = drape_petsc_agree(ctx, d->comm, good ? DRAPE_OK : DRAPE_ERROR_MEMORY);
    if (!status) {
        number_rows(d, out);
        hand_over(d, from, sorted, four, out);
    }
    DRAPE_FREE(ctx, sorted, d->rows);
    DRAPE_FREE(ctx, four, 4 * (int64_t)d->size);
    return status;
}

drape_status drape_i_partition(drape_context *ctx, MPI_Comm comm, int64_t count, const double *position,
                               drape_i_owners *out) {
    division d = {.comm = comm, .position = position};
    *out = (drape_i_owners){0};
    MPI_Comm_rank(comm, &d.rank);
    MPI_Comm_size(comm, &d.size);
    if (count < d.size)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%d processes for %lld vertices; take fewer processes", d.size,
                            (long long)count);
    const int64_t from = drape_i_chunk(count, d.size, d.rank), n = d.size;
    out->chunk = d.rows = drape_i_chunk(count, d.size, d.rank + 1) - from;
    bool good = DRAPE_NEW(ctx, d.to, d.rows) && DRAPE_NEW(ctx, d.end, n) && DRAPE_NEW(ctx, d.axis, n) &&
                DRAPE_NEW(ctx, d.count, n) && DRAPE_NEW(ctx, d.left, n) && DRAPE_NEW(ctx, d.cut, n) &&
                DRAPE_NEW(ctx, d.bin, BINS * n) && DRAPE_NEW(ctx, d.box, 6 * n);
    drape_status status = drape_petsc_agree(ctx, comm, good ? DRAPE_OK : DRAPE_ERROR_MEMORY);
    if (!status) {
        d.end[0] = d.size;
        d.count[0] = count;
        status = divide(ctx, &d, from, out);
    }
    DRAPE_FREE(ctx, d.to, d.rows);
    DRAPE_FREE(ctx, d.end, n);
    DRAPE_FREE(ctx, d.axis, n);
    DRAPE_FREE(ctx, d.count, n);
    DRAPE_FREE(ctx, d.left, n);
    DRAPE_FREE(ctx, d.cut, n);
    DRAPE_FREE(ctx, d.bin, BINS * n);
    DRAPE_FREE(ctx, d.box, 6 * n);
    if (status) drape_i_owners_free(ctx, out);
    return status;
}

void drape_i_owners_free(drape_context *ctx, drape_i_owners *o) {
    DRAPE_FREE(ctx, o->row, o->count);
    DRAPE_FREE(ctx, o->fresh, o->chunk + 1);
    *o = (drape_i_owners){0};
}
