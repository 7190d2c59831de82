/* assembly.c: see assembly.h for the idea.
 *
 * An element of k nodes has a slot for each pair a <= b: which block of its row it adds to, counted from the row's
 * first. The row is the lower of both nodes, the column the higher; where nodes[a] is the higher, the block is added
 * transposed and the slot is ~slot. Block k of the matrix, right of the diagonal in row i and column j, has in
 * mirror[k] the place of (j, i), counted from the first of row j. Memory: 2 k (k + 1) bytes per element, 4 bytes per
 * element and part, and 4 per block.
 *
 * Elements go window by window: a window is WINDOW rows, and an element belongs to that of its lowest node. Within a
 * window they go set by set, and within a set in ascending order. Rows are cleared just before the first window that
 * reaches them. So the blocks that a window adds to stay in the cache from clearing to the last set. Each row sums
 * its elements in an order that depends only on the mesh. */
#include "sparse/assembly.h"

#include "base/parallel.h"
#include "sparse/matrix.h"

#include <string.h>

enum { PARTS_PER_THREAD = 4, LEAST_ROWS = 256, WINDOW = 64 };

typedef struct set_plan {
    drape_elements elements;
    int32_t *slot;
    int64_t *first; /* parts + 1: where a part's elements start in list */
    int64_t listed;
    int32_t *list;
} set_plan;

typedef struct window_plan {
    int32_t number;
    int32_t reach; /* behind the highest row that its elements add to */
} window_plan;

struct drape_i_assembly {
    drape_context *ctx;
    int32_t rows, parts, set_count;
    set_plan *sets;
    int64_t blocks;
    int32_t *mirror;
    bool repeats; /* an element has the same node twice */

    int64_t windows;       /* of all parts, one part after the other */
    int64_t *first_window; /* parts + 1 */
    window_plan *window;
    int64_t *window_end; /* set_count per window: where each set's elements of that window end in its list */
};

static int32_t pairs_of(const set_plan *set) {
    const int32_t k = set->elements.nodes_per_element;
    return k * (k + 1) / 2;
}

static int32_t part_begin(const drape_i_assembly *as, int32_t part) {
    return (int32_t)((int64_t)as->rows * part / as->parts);
}

static int32_t part_of(const drape_i_assembly *as, int32_t row) {
    int32_t part = (int32_t)((int64_t)row * as->parts / as->rows);
    while (part + 1 < as->parts && part_begin(as, part + 1) <= row) part++;
    while (part_begin(as, part) > row) part--;
    return part;
}

/* The window of an element: that of its lowest node. */
static int32_t window_of(const set_plan *set, int32_t element) {
    const int32_t k = set->elements.nodes_per_element;
    const int32_t *nodes = set->elements.nodes + (int64_t)k * element;
    int32_t low = nodes[0];
    for (int32_t a = 1; a < k; a++) low = nodes[a] < low ? nodes[a] : low;
    return low / WINDOW;
}

static drape_status find_slot(drape_context *ctx, const drape_bsr3 *A, int32_t from, int32_t to, int32_t *slot) {
    const int32_t row = from < to ? from : to, column = from < to ? to : from;
    int64_t block = drape_i_matrix_find(A, row, column);
    if (block < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "assembly: no block (%d, %d) in the pattern", from, to);
    *slot = (int32_t)(block - A->rowptr[row]);
    DRAPE_ASSERT(block < A->rowptr[row + 1]);
    if (from > to) *slot = ~*slot;
    return DRAPE_OK;
}

static drape_status find_slots(drape_i_assembly *as, const drape_bsr3 *A, set_plan *set) {
    const int32_t k = set->elements.nodes_per_element;
    DRAPE_ASSERT(k >= 1 && k <= DRAPE_I_ELEMENT_NODES);
    if (!DRAPE_NEW(as->ctx, set->slot, pairs_of(set) * (int64_t)set->elements.count)) return DRAPE_ERROR_MEMORY;
    int32_t *slot = set->slot;
    for (int64_t e = 0; e < set->elements.count; e++) {
        const int32_t *nodes = set->elements.nodes + k * e;
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = a; b < k; b++) {
                drape_status status = find_slot(as->ctx, A, nodes[a], nodes[b], slot++);
                if (status) return status;
                as->repeats |= a != b && nodes[a] == nodes[b];
            }
    }
    return DRAPE_OK;
}

static drape_status find_mirror(drape_i_assembly *as, const drape_bsr3 *A) {
    const int64_t blocks = A->rowptr[A->rows];
    if (!DRAPE_NEW(as->ctx, as->mirror, blocks)) return DRAPE_ERROR_MEMORY;
    as->blocks = blocks;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            if (A->col[k] <= i) continue;
            int64_t block = drape_i_matrix_find(A, A->col[k], i);
            if (block < 0)
                return drape_i_fail(as->ctx, DRAPE_ERROR_ARGUMENT, "assembly: no block (%d, %d) in the pattern",
                                    A->col[k], i);
            as->mirror[k] = (int32_t)(block - A->rowptr[A->col[k]]);
        }
    return DRAPE_OK;
}

/* All elements, ascending within ascending windows: a counting sort. */
static drape_status sort_by_window(const drape_i_assembly *as, const set_plan *set, int32_t *order) {
    int64_t windows = as->rows / WINDOW + 1, *next;
    if (!DRAPE_NEW(as->ctx, next, windows + 1)) return DRAPE_ERROR_MEMORY;
    for (int32_t e = 0; e < set->elements.count; e++) next[window_of(set, e) + 1]++;
    for (int64_t w = 0; w < windows; w++) next[w + 1] += next[w];
    for (int32_t e = 0; e < set->elements.count; e++) order[next[window_of(set, e)]++] = e;
    DRAPE_FREE(as->ctx, next, windows + 1);
    return DRAPE_OK;
}

/* Counts (list NULL) or lists each element, in their order, once in every part that owns one of its nodes. */
static void file_elements(const drape_i_assembly *as, const set_plan *set, const int32_t *order, int64_t *next,
                          int32_t *list) {
    int32_t k = set->elements.nodes_per_element;
    for (int32_t i = 0; i < set->elements.count; i++) {
        int32_t parts[DRAPE_I_ELEMENT_NODES];
        for (int32_t a = 0; a < k; a++) {
            bool again = false;
            parts[a] = part_of(as, set->elements.nodes[(int64_t)k * order[i] + a]);
            for (int32_t b = 0; b < a; b++) again |= parts[b] == parts[a];
            if (again) continue;
            if (list) list[next[parts[a]]] = order[i];
            next[parts[a]]++;
        }
    }
}

static drape_status list_in_order(drape_i_assembly *as, set_plan *set, const int32_t *order) {
    drape_context *ctx = as->ctx;
    if (!DRAPE_NEW(ctx, set->first, (int64_t)as->parts + 2)) return DRAPE_ERROR_MEMORY;
    int64_t *next = set->first + 1; /* next[p]: where part p's next element goes; ends as first[p + 1] */
    file_elements(as, set, order, next + 1, NULL);
    for (int32_t p = 0; p < as->parts; p++) next[p + 1] += next[p];
    set->listed = next[as->parts];
    if (!DRAPE_NEW(ctx, set->list, set->listed)) {
        set->listed = 0;
        return DRAPE_ERROR_MEMORY;
    }
    file_elements(as, set, order, next, set->list);
    DRAPE_ASSERT(set->first[0] == 0 && set->first[as->parts] == set->listed);
    return DRAPE_OK;
}

static drape_status list_elements(drape_i_assembly *as, set_plan *set) {
    int32_t *order;
    if (!DRAPE_NEW(as->ctx, order, set->elements.count)) return DRAPE_ERROR_MEMORY;
    drape_status status = sort_by_window(as, set, order);
    if (!status) status = list_in_order(as, set, order);
    DRAPE_FREE(as->ctx, order, set->elements.count);
    return status;
}

/* ---- Windows ---- */

/* The next window that has an element of a part, INT32_MAX at the end. */
static int32_t next_window(const drape_i_assembly *as, int32_t part, const int64_t *at) {
    int32_t next = INT32_MAX;
    for (int32_t s = 0; s < as->set_count; s++) {
        const set_plan *set = &as->sets[s];
        if (at[s] == set->first[part + 1]) continue;
        int32_t window = window_of(set, set->list[at[s]]);
        if (window < next) next = window;
    }
    return next;
}

/* Behind the last element of the window in a set's list; *reach is raised above the highest node on the way. */
static int64_t find_window_end(const set_plan *set, int32_t part, int64_t at, window_plan *w) {
    const int32_t k = set->elements.nodes_per_element;
    for (; at < set->first[part + 1] && window_of(set, set->list[at]) == w->number; at++)
        for (int32_t a = 0; a < k; a++) {
            int32_t node = set->elements.nodes[(int64_t)k * set->list[at] + a];
            if (node >= w->reach) w->reach = node + 1;
        }
    return at;
}

/* Counts the windows of all parts; files them where there is room. */
static int64_t file_windows(drape_i_assembly *as) {
    int64_t next = 0, at[DRAPE_I_ASSEMBLY_SETS];
    for (int32_t part = 0; part < as->parts; part++) {
        window_plan w;
        as->first_window[part] = next;
        for (int32_t s = 0; s < as->set_count; s++) at[s] = as->sets[s].first[part];
        while ((w.number = next_window(as, part, at)) != INT32_MAX) {
            w.reach = 0;
            for (int32_t s = 0; s < as->set_count; s++) at[s] = find_window_end(&as->sets[s], part, at[s], &w);
            DRAPE_ASSERT(w.reach <= as->rows);
            if (as->window) {
                as->window[next] = w;
                memcpy(as->window_end + next * as->set_count, at, (size_t)as->set_count * sizeof *at);
            }
            next++;
        }
    }
    as->first_window[as->parts] = next;
    return next;
}

static drape_status plan_windows(drape_i_assembly *as) {
    if (!DRAPE_NEW(as->ctx, as->first_window, (int64_t)as->parts + 1)) return DRAPE_ERROR_MEMORY;
    as->windows = file_windows(as);
    if (!DRAPE_NEW(as->ctx, as->window, as->windows) ||
        !DRAPE_NEW(as->ctx, as->window_end, as->windows * as->set_count))
        return DRAPE_ERROR_MEMORY;
    file_windows(as);
    return DRAPE_OK;
}

drape_status drape_i_assembly_create(drape_context *ctx, const drape_bsr3 *A, const drape_elements *sets,
                                     int32_t set_count, drape_i_assembly **out) {
    drape_i_assembly *as;
    *out = NULL;
    DRAPE_ASSERT(A->rows >= 0 && set_count >= 0);
    if (set_count > DRAPE_I_ASSEMBLY_SETS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "assembly: %d sets of elements are too many", set_count);
    if (!DRAPE_NEW(ctx, as, 1)) return DRAPE_ERROR_MEMORY;
    as->ctx = ctx;
    as->rows = A->rows;
    as->parts = ctx->threads == 1 ? 1 : PARTS_PER_THREAD * ctx->threads;
    if (as->parts > A->rows / LEAST_ROWS) as->parts = A->rows / LEAST_ROWS;
    if (as->parts < 1) as->parts = 1;
    drape_status status = DRAPE_NEW(ctx, as->sets, set_count) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) as->set_count = set_count;
    if (!status) status = find_mirror(as, A);
    for (int32_t s = 0; s < set_count && !status; s++) {
        as->sets[s].elements = sets[s];
        status = find_slots(as, A, &as->sets[s]);
        if (!status) status = list_elements(as, &as->sets[s]);
    }
    if (!status) status = plan_windows(as);
    if (status) drape_i_assembly_destroy(as);
    else *out = as;
    return status;
}

void drape_i_assembly_destroy(drape_i_assembly *as) {
    if (!as) return;
    drape_context *ctx = as->ctx;
    for (int32_t s = 0; s < as->set_count; s++) {
        set_plan *set = &as->sets[s];
        DRAPE_FREE(ctx, set->slot, pairs_of(set) * (int64_t)set->elements.count);
        DRAPE_FREE(ctx, set->first, (int64_t)as->parts + 2);
        DRAPE_FREE(ctx, set->list, set->listed);
    }
    DRAPE_FREE(ctx, as->sets, as->set_count);
    DRAPE_FREE(ctx, as->mirror, as->blocks);
    DRAPE_FREE(ctx, as->first_window, (int64_t)as->parts + 1);
    DRAPE_FREE(ctx, as->window, as->windows);
    DRAPE_FREE(ctx, as->window_end, as->windows * as->set_count);
    DRAPE_FREE(ctx, as, 1);
}

/* ---- running ---- */

typedef struct run {
    drape_i_assembly *as;
    const drape_i_assembly_job *job;
    bool upper;
} run;

/* A part at work: its rows, those that are cleared and those that are mirrored so far, and how far it came in each
 * set's list. */
typedef struct progress {
    const run *r;
    int32_t begin, end, cleared, mirrored;
    int64_t at[DRAPE_I_ASSEMBLY_SETS];
} progress;

static void clear_blocks(const drape_i_assembly_job *job, int64_t first, int64_t last) {
    memset(job->A.val + 9 * first, 0, 9 * (size_t)(last - first) * sizeof *job->A.val);
}

/* The first block of a row that is not left of the diagonal. */
static int64_t first_upper(const drape_bsr3 *A, int32_t i) {
    int64_t k = A->rowptr[i];
    while (k < A->rowptr[i + 1] && A->col[k] < i) k++;
    return k;
}

/* Clears the rows up to `reach` that are not yet, and gives them what they start from. */
static void clear_to(progress *p, int32_t reach) {
    const drape_i_assembly_job *job = p->r->job;
    if (reach > p->end) reach = p->end;
    if (reach <= p->cleared) return;
    if (job->A.val && !p->r->upper) clear_blocks(job, job->A.rowptr[p->cleared], job->A.rowptr[reach]);
    for (int32_t i = p->cleared; i < reach && job->A.val && p->r->upper; i++)
        clear_blocks(job, first_upper(&job->A, i), job->A.rowptr[i + 1]);
    job->start(job->start_data, p->cleared, reach);
    p->cleared = reach;
}

/* The part that owns an element's first node keeps its scalar. */
static void keep_scalars(const progress *p, const set_plan *set, const int32_t *elements, int32_t count,
                         const drape_i_batch *batch, double *to) {
    for (int32_t l = 0; l < count; l++) {
        int32_t node = set->elements.nodes[(int64_t)set->elements.nodes_per_element * elements[l]];
        if (node >= p->begin && node < p->end) to[elements[l]] = batch->scalar[l];
    }
}

static void run_elements(progress *p, int32_t s, int64_t last) {
    const drape_i_assembly_job *job = p->r->job;
    const set_plan *set = &p->r->as->sets[s];
    const drape_i_scatter to = {.nodes = set->elements.nodes,
                                .slot = set->slot,
                                .mirror = p->r->as->mirror,
                                .k = set->elements.nodes_per_element,
                                .begin = p->begin,
                                .end = p->end,
                                .rowptr = job->A.rowptr,
                                .val = job->A.val,
                                .upper = p->r->upper,
                                .unsymmetric = job->unsymmetric && job->unsymmetric[s]};
    const int32_t simd = p->r->as->ctx->simd;
    drape_i_batch batch;
    int32_t elements[DRAPE_I_LANES];
    for (int64_t i = p->at[s]; i < last && job->kernels[s]; i += DRAPE_I_LANES) {
        DRAPE_ASSERT(set->list[i] >= 0 && set->list[i] < set->elements.count);
        int32_t count = last - i < DRAPE_I_LANES ? (int32_t)(last - i) : DRAPE_I_LANES;
        for (int32_t l = 0; l < DRAPE_I_LANES; l++) elements[l] = set->list[i + (l < count ? l : count - 1)];
        job->kernels[s](job->kernel_data[s], job->at, elements, &batch);
        for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
            if (job->vectors[w])
                drape_i_scatter_vector_at[simd](&to, elements, count, batch.vectors[w], job->vectors[w]);
        if (to.val) drape_i_scatter_blocks_at[simd](&to, elements, count, &batch);
        if (job->scalars && job->scalars[s]) keep_scalars(p, set, elements, count, &batch, job->scalars[s]);
    }
    p->at[s] = last;
}

/* The rows below `reach` are complete. */
static void mirror_to(progress *p, int32_t reach) {
    const drape_bsr3 *A = &p->r->job->A;
    if (reach > p->cleared) reach = p->cleared;
    if (!A->val || !p->r->upper || reach <= p->mirrored) return;
    drape_i_scatter_mirror_at[p->r->as->ctx->simd](A, p->r->as->mirror, p->mirrored, reach);
    p->mirrored = reach;
}

static void run_part(void *data, int32_t part) {
    const run *r = data;
    const drape_i_assembly *as = r->as;
    progress p = {.r = r, .begin = part_begin(as, part), .end = part_begin(as, part + 1)};
    p.cleared = p.mirrored = p.begin;
    DRAPE_ASSERT(p.begin >= 0 && p.begin <= p.end && p.end <= as->rows);
    for (int32_t s = 0; s < as->set_count; s++) p.at[s] = as->sets[s].first[part];
    for (int64_t w = as->first_window[part]; w < as->first_window[part + 1]; w++) {
        clear_to(&p, as->window[w].reach);
        mirror_to(&p, WINDOW * as->window[w].number); /* what no element of this window or a later one adds to */
        for (int32_t s = 0; s < as->set_count; s++) run_elements(&p, s, as->window_end[w * as->set_count + s]);
    }
    clear_to(&p, p.end);
    DRAPE_ASSERT(p.cleared == p.end);
    mirror_to(&p, p.end);
}

bool drape_i_assembly_mirrors(const drape_i_assembly *as, const drape_i_assembly_job *job) {
    bool all = !as->repeats;
    for (int32_t s = 0; s < as->set_count && job->unsymmetric; s++) all &= !job->kernels[s] || !job->unsymmetric[s];
    return all;
}

void drape_i_assembly_run(drape_i_assembly *as, const drape_i_assembly_job *job) {
    run r = {as, job, drape_i_assembly_mirrors(as, job)};
    DRAPE_ASSERT(job->A.rows == as->rows && job->start);
    if (as->rows > 0) drape_i_tasks(as->ctx, as->parts, run_part, &r);
}
