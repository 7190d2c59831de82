/* triangular_order.c: chunks, their colors, and the order of rows that follows.
 *
 * The chunks of a sheet whose vertices are numbered line by line are strips that touch the one before and the one
 * after, so two colors do. Where the caller's numbers say nothing about neighbours, most chunks are coupled with most
 * others. The rows are then put into the order of a breadth-first search from a vertex at the rim (as Cuthill and
 * McKee 1969 do). Its levels are such strips again. The number of chunks is the one that takes the fewest colors:
 * every color is a meeting of all threads, and breaks the order once more. */
#include "linear/precond/triangular.h"

#include "sparse/breadth_first.h"
#include "sparse/by_column.h"

#include <string.h>

enum {
    EVEN = 8,       /* chunks; fewer are not tried */
    FEW_COLOURS = 4 /* with which the caller's order is good enough */
};

/* ---- Columns ---- */

void drape_i_columns_destroy(drape_context *ctx, drape_i_columns *c) {
    DRAPE_FREE(ctx, c->first, c->count + (int64_t)1);
    DRAPE_FREE(ctx, c->row, c->blocks);
    DRAPE_FREE(ctx, c->slot, c->blocks);
    memset(c, 0, sizeof *c);
}

drape_status drape_i_columns_create(drape_context *ctx, const drape_bsr3 *A, drape_i_columns *c) {
    const drape_i_entries blocks = {.rows = A->rows, .cols = A->rows, .start = A->rowptr, .col = A->col};
    drape_i_by_column by;
    *c = (drape_i_columns){.count = A->rows, .blocks = A->rowptr[A->rows]};
    bool good = DRAPE_NEW_RAW(ctx, c->first, c->count + (int64_t)1) && DRAPE_NEW_RAW(ctx, c->row, c->blocks) &&
                DRAPE_NEW_RAW(ctx, c->slot, c->blocks) &&
                drape_i_by_column_count(ctx, &blocks, c->first, &by) == DRAPE_OK;
    if (good) drape_i_by_column_sort(ctx, &by, true, c->row, c->slot);
    else drape_i_columns_destroy(ctx, c);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* ---- Chunks and colors of rows in a line ---- */

typedef struct colouring {
    int32_t length, chunks, colours;
    int32_t of[DRAPE_I_MOST_CHUNKS]; /* the color of each chunk */
} colouring;

/* What is needed to try several. */
typedef struct trial {
    const drape_bsr3 *A;
    const int32_t *place; /* of each row in the line */
    bool *coupled;        /* chunks x chunks */
} trial;

static int32_t count_of(int32_t rows, int32_t length) { return (int32_t)(((int64_t)rows + length - 1) / length); }

/* A block in one direction is a coupling: the other row must not be swept at the same time. */
static void find_couplings(const trial *t, const colouring *c) {
    memset(t->coupled, 0, (size_t)c->chunks * (size_t)c->chunks);
    for (int32_t i = 0; i < t->A->rows; i++) {
        int32_t a = t->place[i] / c->length;
        for (int64_t k = t->A->rowptr[i]; k < t->A->rowptr[i + 1]; k++) {
            int32_t b = t->place[t->A->col[k]] / c->length;
            t->coupled[a * c->chunks + b] = t->coupled[b * c->chunks + a] = true;
        }
    }
}

/* The first color that no coupled chunk before it has. */
static void colour_chunks(const trial *t, colouring *c) {
    c->colours = 0;
    for (int32_t a = 0; a < c->chunks; a++) {
        bool taken[DRAPE_I_MOST_CHUNKS] = {false};
        int32_t colour = 0;
        for (int32_t b = 0; b < a; b++)
            if (t->coupled[a * c->chunks + b]) taken[c->of[b]] = true;
        while (taken[colour]) colour++;
        c->of[a] = colour;
        if (colour >= c->colours) c->colours = colour + 1;
    }
}

/* As many chunks as there may be; of more than EVEN a multiple of that, so that threads get equal shares. */
static int32_t most_chunks(int32_t rows, int32_t least) {
    int32_t chunks = rows / least < DRAPE_I_MOST_CHUNKS ? rows / least : DRAPE_I_MOST_CHUNKS;
    if (chunks > EVEN) chunks -= chunks % EVEN;
    return chunks < 1 ? 1 : chunks;
}

/* The number of chunks that takes the fewest colors, the largest of those. */
static colouring best_colouring(const trial *t, int32_t least) {
    int32_t rows = t->A->rows, wanted = most_chunks(rows, least);
    colouring best = {.colours = INT32_MAX}, c;
    do {
        c.length = rows > 0 ? count_of(rows, wanted) : 1;
        c.chunks = count_of(rows, c.length);
        find_couplings(t, &c);
        colour_chunks(t, &c);
        if (c.colours < best.colours) best = c;
        wanted /= 2;
    } while (best.colours > 2 && wanted >= EVEN);
    return best;
}

/* ---- The order ---- */

void drape_i_sweep_order_destroy(drape_context *ctx, drape_i_sweep_order *o) {
    DRAPE_FREE(ctx, o->row, o->rows);
    DRAPE_FREE(ctx, o->place, o->rows);
    DRAPE_FREE(ctx, o->chunk, o->chunks + (int64_t)1);
    DRAPE_FREE(ctx, o->colour, o->colours + (int64_t)1);
    memset(o, 0, sizeof *o);
}

static void invert(int32_t count, const int32_t *line, int32_t *place) {
    for (int32_t k = 0; k < count; k++) place[line[k]] = k;
}

/* The chunks of the line, color by color. */
static void arrange(drape_i_sweep_order *o, const colouring *c, const int32_t *line) {
    int32_t chunk = 0, at = 0;
    for (int32_t colour = 0; colour < c->colours; colour++) {
        o->colour[colour] = chunk;
        for (int32_t k = 0; k < c->chunks; k++) {
            if (c->of[k] != colour) continue;
            o->chunk[chunk++] = at;
            int32_t begin = k * c->length, end = c->length < o->rows - begin ? begin + c->length : o->rows;
            for (int32_t i = begin; i < end; i++) o->row[at++] = line[i];
        }
    }
    o->colour[c->colours] = chunk;
    o->chunk[chunk] = at;
    invert(o->rows, o->row, o->place);
}

typedef struct scratch {
    int32_t *line, *other, *place; /* rows */
    bool *coupled;
    int64_t couplings;
} scratch;

static void free_scratch(drape_context *ctx, scratch *s, int32_t rows) {
    DRAPE_FREE(ctx, s->line, rows);
    DRAPE_FREE(ctx, s->other, rows);
    DRAPE_FREE(ctx, s->place, rows);
    DRAPE_FREE(ctx, s->coupled, s->couplings);
}

/* Decides between the two lines; leaves the better one in s->line. */
static drape_status choose(drape_context *ctx, const drape_bsr3 *A, const drape_i_columns *columns, int32_t least,
                           scratch *s, colouring *best, bool *reordered) {
    trial t = {A, s->place, s->coupled};
    for (int32_t i = 0; i < A->rows; i++) s->line[i] = s->place[i] = i;
    *best = best_colouring(&t, least);
    if (best->colours <= FEW_COLOURS) return DRAPE_OK;
    drape_status status = drape_i_breadth_first(ctx, A, columns->first, columns->row, s->other);
    if (status) return status;
    invert(A->rows, s->other, s->place);
    colouring c = best_colouring(&t, least);
    if (c.colours >= best->colours) return DRAPE_OK;
    *best = c;
    *reordered = true;
    int32_t *line = s->line;
    s->line = s->other;
    s->other = line;
    return DRAPE_OK;
}

static drape_status allocate(drape_context *ctx, drape_i_sweep_order *o) {
    bool good = DRAPE_NEW(ctx, o->row, o->rows) && DRAPE_NEW(ctx, o->place, o->rows) &&
                DRAPE_NEW(ctx, o->chunk, o->chunks + (int64_t)1) &&
                DRAPE_NEW(ctx, o->colour, o->colours + (int64_t)1);
    if (!good) drape_i_sweep_order_destroy(ctx, o);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_sweep_order_create(drape_context *ctx, const drape_bsr3 *A, const drape_i_columns *columns,
                                        int32_t least_chunk, drape_i_sweep_order *o) {
    scratch s = {.couplings = (int64_t)DRAPE_I_MOST_CHUNKS * DRAPE_I_MOST_CHUNKS};
    colouring best = {0};
    drape_status status = DRAPE_ERROR_MEMORY;
    *o = (drape_i_sweep_order){.rows = A->rows};
    if (DRAPE_NEW(ctx, s.line, A->rows) && DRAPE_NEW(ctx, s.other, A->rows) && DRAPE_NEW(ctx, s.place, A->rows) &&
        DRAPE_NEW(ctx, s.coupled, s.couplings))
        status = choose(ctx, A, columns, least_chunk, &s, &best, &o->breadth_first);
    if (!status) {
        o->chunks = best.chunks;
        o->colours = best.colours;
        status = allocate(ctx, o);
    }
    if (!status) arrange(o, &best, s.line);
    free_scratch(ctx, &s, A->rows);
    return status;
}
