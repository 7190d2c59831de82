/* builder.c: a matrix entry by entry: a list of rows, each a list of (column, value) pairs.
 *
 * A row holds its pairs in one array: a long part sorted by column, followed by a short tail, also sorted:
 *
 *   pairs:  | columns increase ........ | columns increase | free |
 *           0                        sorted              count  capacity
 *
 * A column is looked up in both by bisection, so a repeated entry is summed at once, in the order of the calls.
 * A new entry goes to the end of the sorted part if it belongs there (rows filled from left to right never have a
 * tail), else into the tail. A tail longer than the square root of the sorted part is merged into it. So an entry in
 * a row of k costs O(sqrt k) moves in the worst order. A dense row of a million entries in random order takes a
 * second or two instead of many minutes. Everything depends on the order of the calls alone.
 *
 * Memory: 32 bytes per row and at least 16 per entry; the first pair takes room for three. */
#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

typedef struct pair {
    int64_t column;
    double value;
} pair;

typedef struct row {
    pair *pairs;
    int64_t count, sorted, capacity;
} row;

struct drape_builder {
    drape_context *ctx;
    int64_t rows, entries;
    row *list;
};

static const int64_t MAX_ROWS = INT64_C(3) * INT32_MAX;

/* Capacities are 4 2^k - 1 pairs: with the byte that drape_i_alloc appends, whole cache lines. */
enum { FIRST_CAPACITY = 3, MIN_TAIL = 32 };

drape_status drape_builder_create(drape_context *ctx, int64_t rows, drape_builder **out) {
    drape_builder *b;
    if (out) *out = NULL;
    if (!ctx || !out) return drape_i_missing(ctx, "builder", "out");
    if (rows < 0 || rows > MAX_ROWS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "builder: %lld rows are not in 0 .. %lld", (long long)rows,
                            (long long)MAX_ROWS);
    if (!DRAPE_NEW(ctx, b, 1)) return DRAPE_ERROR_MEMORY;
    b->ctx = ctx;
    b->rows = rows;
    if (!DRAPE_NEW(ctx, b->list, rows)) {
        DRAPE_FREE(ctx, b, 1);
        return DRAPE_ERROR_MEMORY;
    }
    *out = b;
    return DRAPE_OK;
}

void drape_builder_destroy(drape_builder *b) {
    if (!b) return;
    for (int64_t i = 0; i < b->rows; i++) DRAPE_FREE(b->ctx, b->list[i].pairs, b->list[i].capacity);
    DRAPE_FREE(b->ctx, b->list, b->rows);
    DRAPE_FREE(b->ctx, b, 1);
}

int64_t drape_builder_rows(const drape_builder *b) { return b ? b->rows : 0; }
int64_t drape_builder_entries(const drape_builder *b) { return b ? b->entries : 0; }

/* ---- Adding ---- */

/* The first index in [low, high) with a column not below, or high. */
static int64_t bisect(const pair *pairs, int64_t low, int64_t high, int64_t column) {
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pairs[middle].column < column) low = middle + 1;
        else high = middle;
    }
    return low;
}

static drape_status reserve(drape_context *ctx, row *r, int64_t needed) {
    if (needed <= r->capacity) return DRAPE_OK;
    int64_t capacity = r->capacity ? r->capacity : FIRST_CAPACITY;
    while (capacity < needed) capacity = 2 * capacity + 1;
    pair *pairs;
    if (!DRAPE_NEW(ctx, pairs, capacity)) return DRAPE_ERROR_MEMORY;
    if (r->count) memcpy(pairs, r->pairs, (size_t)r->count * sizeof *pairs);
    DRAPE_FREE(ctx, r->pairs, r->capacity);
    r->pairs = pairs;
    r->capacity = capacity;
    return DRAPE_OK;
}

static bool tail_is_long(const row *r) {
    int64_t tail = r->count - r->sorted;
    return tail >= MIN_TAIL && tail * tail > r->sorted;
}

/* Merges from the back; the tail is first copied to the end. */
static drape_status merge_tail(drape_context *ctx, row *r) {
    int64_t tail = r->count - r->sorted;
    drape_status status = reserve(ctx, r, r->count + tail);
    if (status) return status;
    pair *p = r->pairs, *copy = p + r->count;
    memcpy(copy, p + r->sorted, (size_t)tail * sizeof *p);
    int64_t from = r->sorted, to = r->count;
    while (tail > 0) {
        bool old = from > 0 && p[from - 1].column > copy[tail - 1].column;
        p[--to] = old ? p[--from] : copy[--tail];
    }
    DRAPE_ASSERT(to == from); /* nothing was lost between the two */
    r->sorted = r->count;
    return DRAPE_OK;
}

static drape_status refuse(drape_context *ctx, int64_t i, int64_t j, const char *why) {
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "builder: row %lld, column %lld: %s", (long long)i, (long long)j,
                        why);
}

/* Puts a new pair at its place: in the tail, or at the end of the sorted part. */
static drape_status insert(drape_builder *b, row *r, int64_t at, bool append, int64_t column, double value) {
    DRAPE_ASSERT(at >= r->sorted && at <= r->count);
    drape_status status = reserve(b->ctx, r, r->count + 1);
    if (status) return status;
    memmove(r->pairs + at + 1, r->pairs + at, (size_t)(r->count - at) * sizeof *r->pairs);
    r->pairs[at] = (pair){column, value};
    r->count++;
    if (append) r->sorted++;
    b->entries++;
    return DRAPE_OK;
}

/* Into a row: summed where the column is there. */
static drape_status add_to_row(drape_builder *b, row *r, int64_t i, int64_t j, double value) {
    int64_t at = bisect(r->pairs, 0, r->sorted, j);
    bool append = at == r->count;
    if (at == r->sorted || r->pairs[at].column != j) at = bisect(r->pairs, r->sorted, r->count, j);
    if (at == r->count || r->pairs[at].column != j) return insert(b, r, at, append, j, value);
    double sum = r->pairs[at].value + value;
    if (!isfinite(sum)) return refuse(b->ctx, i, j, "the sum is not finite");
    r->pairs[at].value = sum;
    return DRAPE_OK;
}

drape_status drape_builder_add(drape_builder *b, int64_t i, int64_t j, double value) {
    if (!b) return DRAPE_ERROR_ARGUMENT;
    if (i < 0 || i >= b->rows || j < 0 || j >= b->rows)
        return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT, "builder: row %lld, column %lld: outside a matrix of %lld",
                            (long long)i, (long long)j, (long long)b->rows);
    if (!isfinite(value)) return refuse(b->ctx, i, j, "the value is not finite");
    row *r = &b->list[i];
    drape_status status = tail_is_long(r) ? merge_tail(b->ctx, r) : DRAPE_OK;
    return status ? status : add_to_row(b, r, i, j, value);
}

/* ---- Turning into block rows ---- */

/* A block row is read through six cursors, on the sorted part and on the tail of each of its three rows. */
typedef struct cursor {
    const pair *at, *end;
} cursor;

enum { CURSORS = 6 };

static void open_cursors(const drape_builder *b, int64_t block_row, cursor c[CURSORS]) {
    memset(c, 0, CURSORS * sizeof *c);
    for (int a = 0; a < 3; a++) {
        int64_t i = 3 * block_row + a;
        if (i >= b->rows || !b->list[i].pairs) continue;
        const row *r = &b->list[i];
        c[2 * a] = (cursor){r->pairs, r->pairs + r->sorted};
        c[2 * a + 1] = (cursor){r->pairs + r->sorted, r->pairs + r->count};
    }
}

static int64_t lowest_block(const cursor c[CURSORS], int64_t lowest) {
    for (int k = 0; k < CURSORS; k++)
        if (c[k].at < c[k].end && c[k].at->column / 3 < lowest) lowest = c[k].at->column / 3;
    return lowest;
}

/* Moves all cursors past a block column; the nine values go to val, unless it is NULL. */
static void take_block(cursor c[CURSORS], int64_t block, double *val) {
    for (int k = 0; k < CURSORS; k++)
        for (; c[k].at < c[k].end && c[k].at->column / 3 == block; c[k].at++)
            if (val) val[3 * (k / 2) + c[k].at->column % 3] = c[k].at->value;
}

/* The number of blocks in a block row, which go to col and val, unless these are NULL. */
static int64_t take_row(const drape_builder *b, int32_t i, int32_t *col, double *val) {
    cursor c[CURSORS];
    open_cursors(b, i, c);
    bool diagonal = false;
    for (int64_t blocks = 0;; blocks++) {
        int64_t block = lowest_block(c, diagonal ? INT64_MAX : i);
        if (block == INT64_MAX) return blocks;
        diagonal |= block == i;
        if (col) col[blocks] = (int32_t)block;
        take_block(c, block, val ? val + 9 * blocks : NULL);
    }
}

static void continue_diagonal(drape_matrix *m, int64_t scalar_rows) {
    drape_bsr3 A = drape_matrix_view(m);
    for (int64_t i = scalar_rows; i < 3 * (int64_t)m->rows; i++)
        m->val[9 * drape_i_matrix_find(&A, m->rows - 1, m->rows - 1) + 4 * (i % 3)] = 1;
}

drape_status drape_builder_finish(const drape_builder *b, drape_matrix **out) {
    if (out) *out = NULL;
    if (!b || !out) return drape_i_missing(b ? b->ctx : NULL, "builder", "out");
    int32_t rows = (int32_t)((b->rows + 2) / 3);
    int64_t blocks = 0;
    for (int32_t i = 0; i < rows; i++) blocks += take_row(b, i, NULL, NULL);
    drape_status status = drape_i_matrix_alloc(b->ctx, rows, blocks, out);
    if (status) return status;
    drape_matrix *m = *out;
    for (int32_t i = 0; i < rows; i++) {
        int64_t first = m->rowptr[i];
        m->rowptr[i + 1] = first + take_row(b, i, m->col + first, m->val + 9 * first);
    }
    DRAPE_ASSERT(m->rowptr[rows] == blocks);
    continue_diagonal(m, b->rows);
    return DRAPE_OK;
}
