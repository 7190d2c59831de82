/* assembly.c: see assembly.h for the idea.
 *
 * For element e of k nodes, slot[(e k + a) k + b] says which block of row nodes[a] stands in column nodes[b],
 * counted from the row's first. Memory: 4 k^2 bytes an element, and 4 bytes an element and part. */
#include "sparse/assembly.h"

#include "base/parallel.h"
#include "sparse/matrix.h"

#include <string.h>

enum { PARTS_PER_THREAD = 4, LEAST_ROWS = 256 };

typedef struct set_plan {
    drape_elements elements;
    int32_t *slot;
    int64_t *first; /* parts + 1: where a part's elements start in list */
    int64_t listed;
    int32_t *list;
} set_plan;

struct drape_i_assembly {
    drape_context *ctx;
    int32_t rows, parts, set_count;
    set_plan *sets;
};

static int32_t part_begin(const drape_i_assembly *as, int32_t part) {
    return (int32_t)((int64_t)as->rows * part / as->parts);
}

static int32_t part_of(const drape_i_assembly *as, int32_t row) {
    int32_t part = (int32_t)((int64_t)row * as->parts / as->rows);
    while (part + 1 < as->parts && part_begin(as, part + 1) <= row) part++;
    while (part_begin(as, part) > row) part--;
    return part;
}

static drape_status find_slots(drape_context *ctx, const drape_bsr3 *A, set_plan *set) {
    int32_t k = set->elements.nodes_per_element;
    if (!DRAPE_NEW(ctx, set->slot, (int64_t)k * k * set->elements.count)) return DRAPE_ERROR_MEMORY;
    for (int64_t e = 0; e < set->elements.count; e++) {
        const int32_t *nodes = set->elements.nodes + k * e;
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = 0; b < k; b++) {
                int64_t block = drape_i_matrix_find(A, nodes[a], nodes[b]);
                if (block < 0)
                    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "assembly: no block (%d, %d) in the pattern",
                                        nodes[a], nodes[b]);
                set->slot[(k * e + a) * k + b] = (int32_t)(block - A->rowptr[nodes[a]]);
            }
    }
    return DRAPE_OK;
}

/* Counts (list NULL) or files each element under every part that owns one of its nodes, once a part. */
static void file_elements(const drape_i_assembly *as, const set_plan *set, int64_t *next, int32_t *list) {
    int32_t k = set->elements.nodes_per_element;
    for (int32_t e = 0; e < set->elements.count; e++) {
        int32_t parts[DRAPE_I_ELEMENT_NODES];
        for (int32_t a = 0; a < k; a++) {
            bool again = false;
            parts[a] = part_of(as, set->elements.nodes[(int64_t)k * e + a]);
            for (int32_t b = 0; b < a; b++) again |= parts[b] == parts[a];
            if (again) continue;
            if (list) list[next[parts[a]]] = e;
            next[parts[a]]++;
        }
    }
}

static drape_status list_elements(drape_i_assembly *as, set_plan *set) {
    drape_context *ctx = as->ctx;
    if (!DRAPE_NEW(ctx, set->first, (int64_t)as->parts + 2)) return DRAPE_ERROR_MEMORY;
    int64_t *next = set->first + 1; /* next[p]: where part p's next element goes; ends as first[p + 1] */
    file_elements(as, set, next + 1, NULL);
    for (int32_t p = 0; p < as->parts; p++) next[p + 1] += next[p];
    set->listed = next[as->parts];
    if (!DRAPE_NEW(ctx, set->list, set->listed)) {
        set->listed = 0;
        return DRAPE_ERROR_MEMORY;
    }
    file_elements(as, set, next, set->list);
    return DRAPE_OK;
}

drape_status drape_i_assembly_create(drape_context *ctx, const drape_bsr3 *A, const drape_elements *sets,
                                     int32_t set_count, drape_i_assembly **out) {
    drape_i_assembly *as;
    *out = NULL;
    if (!DRAPE_NEW(ctx, as, 1)) return DRAPE_ERROR_MEMORY;
    as->ctx = ctx;
    as->rows = A->rows;
    as->parts = ctx->threads == 1 ? 1 : PARTS_PER_THREAD * ctx->threads;
    if (as->parts > A->rows / LEAST_ROWS) as->parts = A->rows / LEAST_ROWS;
    if (as->parts < 1) as->parts = 1;
    drape_status status = DRAPE_NEW(ctx, as->sets, set_count) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) as->set_count = set_count;
    for (int32_t s = 0; s < set_count && !status; s++) {
        as->sets[s].elements = sets[s];
        status = find_slots(ctx, A, &as->sets[s]);
        if (!status) status = list_elements(as, &as->sets[s]);
    }
    if (status) drape_i_assembly_destroy(as);
    else *out = as;
    return status;
}

void drape_i_assembly_destroy(drape_i_assembly *as) {
    if (!as) return;
    drape_context *ctx = as->ctx;
    for (int32_t s = 0; s < as->set_count; s++) {
        set_plan *set = &as->sets[s];
        int64_t k = set->elements.nodes_per_element;
        DRAPE_FREE(ctx, set->slot, k * k * set->elements.count);
        DRAPE_FREE(ctx, set->first, (int64_t)as->parts + 2);
        DRAPE_FREE(ctx, set->list, set->listed);
    }
    DRAPE_FREE(ctx, as->sets, as->set_count);
    DRAPE_FREE(ctx, as, 1);
}

/* ---- running ---- */

typedef struct run {
    drape_i_assembly *as;
    const drape_i_assembly_job *job;
} run;

static inline void add_block(double *restrict to, const double (*from)[DRAPE_I_LANES], int32_t lane) {
    for (int32_t i = 0; i < 9; i++) to[i] += from[i][lane];
}

static inline void add_transposed(double *restrict to, const double (*from)[DRAPE_I_LANES], int32_t lane) {
    for (int32_t r = 0; r < 3; r++)
        for (int32_t c = 0; c < 3; c++) to[3 * r + c] += from[3 * c + r][lane];
}

/* Adds one lane of the batch to the rows [begin, end). */
static void scatter(const drape_i_assembly_job *job, const set_plan *set, int32_t element, int32_t lane,
                    const drape_i_batch *batch, int32_t begin, int32_t end) {
    const int32_t k = set->elements.nodes_per_element;
    const int32_t *nodes = set->elements.nodes + (int64_t)k * element;
    const int32_t *slot = set->slot + (int64_t)k * k * element;
    const int64_t *rowptr = job->A.rowptr;
    double *val = job->A.val;
    bool mine[DRAPE_I_ELEMENT_NODES];
    for (int32_t a = 0; a < k; a++) mine[a] = nodes[a] >= begin && nodes[a] < end;
    for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
        for (int32_t a = 0; a < k && job->vectors[w]; a++)
            for (int32_t c = 0; c < 3 && mine[a]; c++)
                job->vectors[w][3 * (int64_t)nodes[a] + c] += batch->vectors[w][3 * a + c][lane];
    if (!val) return;
    const double(*block)[DRAPE_I_LANES] = batch->blocks;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = a; b < k; b++, block += 9) {
            if (mine[a]) add_block(val + 9 * (rowptr[nodes[a]] + slot[a * k + b]), block, lane);
            if (mine[b] && b != a) add_transposed(val + 9 * (rowptr[nodes[b]] + slot[b * k + a]), block, lane);
        }
}

static void run_set(const drape_i_assembly_job *job, const set_plan *set, int32_t part, drape_i_batch_fn kernel,
                    const void *data, int32_t begin, int32_t end) {
    drape_i_batch batch;
    int32_t elements[DRAPE_I_LANES];
    for (int64_t i = set->first[part]; i < set->first[part + 1]; i += DRAPE_I_LANES) {
        int64_t left = set->first[part + 1] - i;
        int32_t count = left < DRAPE_I_LANES ? (int32_t)left : DRAPE_I_LANES;
        for (int32_t l = 0; l < DRAPE_I_LANES; l++) elements[l] = set->list[i + (l < count ? l : count - 1)];
        kernel(data, elements, &batch);
        for (int32_t l = 0; l < count; l++) scatter(job, set, elements[l], l, &batch, begin, end);
    }
}

static void run_part(void *data, int32_t part) {
    const run *r = data;
    const drape_i_assembly_job *job = r->job;
    int32_t begin = part_begin(r->as, part), end = part_begin(r->as, part + 1);
    if (job->A.val) {
        int64_t first = job->A.rowptr[begin], last = job->A.rowptr[end];
        memset(job->A.val + 9 * first, 0, 9 * (size_t)(last - first) * sizeof *job->A.val);
    }
    job->start(job->start_data, begin, end);
    for (int32_t s = 0; s < r->as->set_count; s++)
        if (job->kernels[s]) run_set(job, &r->as->sets[s], part, job->kernels[s], job->kernel_data[s], begin, end);
}

void drape_i_assembly_run(drape_i_assembly *as, const drape_i_assembly_job *job) {
    run r = {as, job};
    if (as->rows > 0) drape_i_tasks(as->ctx, as->parts, run_part, &r);
}
