/* cache.c: PC2 files (io/point_cache.c has the format) written by all processes at once: each puts its own vertices
 * at their offsets, the first the head. */
#include "mpi/spread_sim.h"

#include <math.h>
#include <string.h>

enum { HEAD = 32, STRIP = 4096 };

struct drape_petsc_cache {
    drape_petsc_sim *sim;
    drape_i_shared_file file;
    int32_t frames, written;
};

static void write_head(drape_petsc_cache *c) {
    char head[HEAD] = "POINTCACHE2";
    const int32_t version = 1, vertices = (int32_t)c->sim->part.all;
    const float rate = 1;
    memcpy(head + 12, &version, 4);
    memcpy(head + 16, &vertices, 4);
    memcpy(head + 24, &rate, 4);
    memcpy(head + 28, &c->frames, 4);
    drape_i_shared_write(&c->file, 0, head, HEAD);
}

drape_status drape_petsc_cache_open(drape_petsc_sim *sim, const char *path, int32_t frames, bool resumable,
                                    bool again, drape_petsc_cache **out) {
    drape_petsc_cache *c;
    int rank;
    if (out) *out = NULL;
    if (!sim || !path || !out) return DRAPE_ERROR_ARGUMENT;
    MPI_Comm_rank(sim->comm, &rank);
    drape_status status = DRAPE_NEW(sim->ctx, c, 1) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(sim->ctx, sim->comm, status);
    if (status) return status;
    c->sim = sim;
    c->frames = frames;
    status = resumable ? drape_i_shared_continue(sim->ctx, sim->comm, path, again, &c->file)
                       : drape_i_shared_create(sim->ctx, sim->comm, path, &c->file);
    if (status) {
        DRAPE_FREE(sim->ctx, c, 1);
        return status;
    }
    if (rank == 0) write_head(c);
    *out = c;
    return DRAPE_OK;
}

static void write_run(drape_petsc_cache *c, int64_t at, const double *x, int64_t count) {
    float strip[STRIP];
    while (count > 0) {
        const int64_t now = count < STRIP ? count : STRIP;
        for (int64_t i = 0; i < now; i++) strip[i] = (float)x[i];
        drape_i_shared_write(&c->file, at, strip, 4 * now);
        x += now;
        at += 4 * now;
        count -= now;
    }
}

drape_status drape_petsc_cache_frame(drape_petsc_cache *c, int32_t index) {
    const drape_i_part *p = &c->sim->part;
    const double *x = drape_sim_positions(c->sim->sim);
    const int64_t start = HEAD + 12 * p->all * index;
    for (int32_t i = 0, next; i < p->vertices.own_count; i = next) {
        const int64_t first = p->vertices.own[i];
        next = drape_i_own_run_end(p, i);
        write_run(c, start + 12 * (int64_t)p->row[first], x + 3 * first, 3 * (int64_t)(next - i));
    }
    drape_status status = DRAPE_OK;
    if (c->file.error)
        status = drape_i_fail(c->sim->ctx, DRAPE_ERROR_IO, "%s: cannot write frame %d: %s", c->file.path, index,
                              strerror(c->file.error));
    return drape_petsc_agree(c->sim->ctx, c->sim->comm, status);
}

drape_status drape_petsc_cache_close(drape_petsc_cache *c) {
    if (!c) return DRAPE_OK;
    drape_context *ctx = c->sim->ctx;
    drape_status status = drape_i_shared_commit(&c->file);
    DRAPE_FREE(ctx, c, 1);
    return status;
}

void drape_petsc_cache_abandon(drape_petsc_cache *c) {
    if (!c) return;
    drape_context *ctx = c->sim->ctx;
    drape_i_shared_close(&c->file);
    DRAPE_FREE(ctx, c, 1);
}

const char *drape_petsc_cache_temporary(const drape_petsc_cache *c) {
    return c && !c->file.stays ? c->file.temporary : NULL;
}
