/* checkpoint.c: the state of all parts in one file, in the order of the whole scene, so that it can be divided
 * otherwise when it is restored.
 *
 * Little-endian, without gaps:
 *
 *   header
 *   char   head[head_bytes]           of the integrator (drape_ode_save_head); the same on all processes
 *   double vector[vectors][3 n]       x, v, the guess for the next solve, then what the integrator remembers
 *   double anchor[3 pinned]           where each motion of each pinned vertex begins; by vertices, then by pins
 *
 * The checksum is a sum of hashes of single vertices, so that every process can add up its own ones. */
#include "base/file.h"
#include "mpi/spread_sim.h"

#include <math.h>
#include <string.h>

static const char MAGIC[8] = {'D', 'R', 'A', 'P', 'E', 'M', 'P', 'I'};
enum { VERSION = 2, BASIC = 3 /* vectors without an integrator */ };

typedef struct header {
    char magic[8];
    uint64_t version, scene, checksum;
    int64_t vertices, pinned, steps, vectors, head_bytes;
} header;
_Static_assert(sizeof(header) == 72, "the header has no gaps");

/* The state of this part: x, v, dv and the bytes of the integrator. */
typedef struct state {
    drape_petsc_sim *s;
    header head;
    char *saved;
    int64_t saved_bytes;
} state;

static double *vector_at(const state *t, int64_t index) {
    drape_sim *sim = t->s->sim;
    double *const basic[BASIC] = {sim->x, sim->v, sim->dv};
    if (index < BASIC) return basic[index];
    return (double *)(void *)(t->saved + t->head.head_bytes) + (index - BASIC) * 3 * (int64_t)sim->vertices;
}

static int64_t vector_offset(const state *t, int64_t index, int64_t row) {
    return (int64_t)sizeof(header) + t->head.head_bytes + 24 * (index * t->head.vertices + row);
}

static drape_status begin(drape_petsc_sim *s, state *t) {
    drape_ode *ode = s->sim->integrator ? s->sim->integrator->ode : NULL;
    *t = (state){.s = s, .saved_bytes = ode ? drape_ode_save_size(ode) : 0};
    memcpy(t->head.magic, MAGIC, sizeof MAGIC);
    t->head.version = VERSION;
    t->head.scene = s->part.hash;
    t->head.vertices = s->part.all;
    t->head.pinned = s->part.all_pinned;
    t->head.steps = s->sim->steps;
    t->head.head_bytes = ode ? drape_ode_save_head(ode) : 0;
    t->head.vectors = BASIC;
    if (ode) t->head.vectors += (t->saved_bytes - t->head.head_bytes) / (24 * (int64_t)s->sim->vertices);
    return DRAPE_NEW(s->ctx, t->saved, t->saved_bytes + 8) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static void end(state *t) { DRAPE_FREE(t->s->ctx, t->saved, t->saved_bytes + 8); }

static void forget(drape_petsc_sim *s) {
    drape_petsc_solver_forget(s->solver);
    if (s->sim->integrator) drape_i_integrator_forget(s->sim->integrator);
}

/* The head, which the first process adds; own vertices and their anchors. */
static uint64_t checksum(const state *t, int rank) {
    const drape_petsc_sim *s = t->s;
    uint64_t sum = rank == 0 ? drape_i_hash(DRAPE_I_HASH_SEED, t->saved, (size_t)t->head.head_bytes) : 0, all;
    for (int64_t k = 0; k < t->head.vectors; k++)
        for (int32_t i = 0; i < s->part.vertices.own_count; i++) {
            const int64_t at = s->part.vertices.own[i];
            const uint64_t where = (uint64_t)(k * t->head.vertices + s->part.row[at]);
            sum += drape_i_hash(DRAPE_I_HASH_SEED + where, vector_at(t, k) + 3 * at, 24);
        }
    for (int64_t i = 0; i < s->part.pinned_count; i++)
        if (drape_i_is_own(&s->part.vertices, s->sim->pinned[i].vertex))
            sum += drape_i_hash(DRAPE_I_HASH_SEED - (uint64_t)s->part.pinned[i] - 1, s->sim->anchor + 3 * i, 24);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, s->comm);
    return all;
}

static void write_all(const state *t, drape_i_shared_file *file, int rank) {
    const drape_petsc_sim *s = t->s;
    if (rank == 0) {
        drape_i_shared_write(file, 0, &t->head, sizeof t->head);
        drape_i_shared_write(file, sizeof t->head, t->saved, t->head.head_bytes);
    }
    for (int64_t k = 0; k < t->head.vectors; k++)
        for (int32_t i = 0, next; i < s->part.vertices.own_count; i = next) {
            const int64_t first = s->part.vertices.own[i];
            next = drape_i_own_run_end(&s->part, i);
            drape_i_shared_write(file, vector_offset(t, k, s->part.row[first]), vector_at(t, k) + 3 * first,
                                 24 * (int64_t)(next - i));
        }
    for (int64_t i = 0; i < s->part.pinned_count; i++)
        if (drape_i_is_own(&s->part.vertices, s->sim->pinned[i].vertex))
            drape_i_shared_write(file, vector_offset(t, t->head.vectors, s->part.pinned[i]), s->sim->anchor + 3 * i,
                                 24);
}

drape_status drape_petsc_sim_save(drape_petsc_sim *s, const char *path) {
    drape_i_shared_file file;
    state t;
    int rank;
    if (!s || !path) return DRAPE_ERROR_ARGUMENT;
    MPI_Comm_rank(s->comm, &rank);
    forget(s);
    drape_status status = drape_petsc_agree(s->ctx, s->comm, begin(s, &t));
    if (!status && s->sim->integrator) drape_ode_save(s->sim->integrator->ode, t.saved);
    if (!status) t.head.checksum = checksum(&t, rank);
    if (!status) status = drape_i_shared_create(s->ctx, s->comm, path, &file);
    if (!status) {
        write_all(&t, &file, rank);
        status = drape_i_shared_commit(&file);
    }
    end(&t);
    return status;
}

/* ---- Restoring ---- */

static drape_status damaged(const drape_i_shared_file *file, const char *what) {
    return drape_i_fail(file->ctx, DRAPE_ERROR_FORMAT, "%s: %s", file->path, what);
}

static drape_status check_header(const drape_i_shared_file *file, const header *found, const header *want) {
    if (memcmp(found->magic, MAGIC, sizeof MAGIC) != 0) return damaged(file, "this is no checkpoint of drape-mpi");
    if (found->version != VERSION) return damaged(file, "a checkpoint of another version of drape-mpi");
    if (found->scene != want->scene || found->vertices != want->vertices || found->pinned != want->pinned ||
        found->vectors != want->vectors || found->head_bytes != want->head_bytes)
        return damaged(file,
                       "a checkpoint of another scene: its mesh, material, pins, forces, solver or time step is "
                       "not this one's");
    const int64_t size =
        (int64_t)sizeof *found + found->head_bytes + 24 * (found->vectors * found->vertices + found->pinned);
    if (file->size != size || found->steps < 0) return damaged(file, "the checkpoint is damaged or cut short");
    return DRAPE_OK;
}

/* Runs of vertices that are consecutive here and in the file; own ones and copies alike. */
static drape_status read_vector(state *t, drape_i_shared_file *file, int64_t index, double *to) {
    const int32_t *row = t->s->part.row, count = t->s->part.vertices.vertices;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0, next; i < count && !status; i = next) {
        next = drape_i_run_end(row, count, i);
        status =
            drape_i_shared_read(file, vector_offset(t, index, row[i]), to + 3 * (int64_t)i, 24 * (int64_t)(next - i));
    }
    for (int64_t i = 0; i < 3 * (int64_t)count && !status; i++)
        if (!isfinite(to[i])) status = damaged(file, "the checkpoint holds a number that is not finite");
    return status;
}

static drape_status read_all(state *t, drape_i_shared_file *file) {
    drape_petsc_sim *s = t->s;
    header found;
    drape_status status = file->size < (int64_t)sizeof found ? damaged(file, "too short for a checkpoint")
                                                             : drape_i_shared_read(file, 0, &found, sizeof found);
    if (!status) status = check_header(file, &found, &t->head);
    if (status) return status;
    t->head.steps = found.steps;
    t->head.checksum = found.checksum;
    status = drape_i_shared_read(file, sizeof found, t->saved, t->head.head_bytes);
    for (int64_t k = 0; k < t->head.vectors && !status; k++) status = read_vector(t, file, k, vector_at(t, k));
    for (int64_t i = 0; i < s->part.pinned_count && !status; i++)
        status = drape_i_shared_read(file, vector_offset(t, t->head.vectors, s->part.pinned[i]),
                                     s->sim->anchor + 3 * i, 24);
    return status;
}

static drape_status take_integrator(state *t, const drape_i_shared_file *file) {
    drape_i_integrator *it = t->s->sim->integrator;
    if (!it || !drape_ode_restore(it->ode, t->saved, t->saved_bytes)) return DRAPE_OK;
    return damaged(file, "the memory of its integrator is not sound");
}

drape_status drape_petsc_sim_restore(drape_petsc_sim *s, const char *path) {
    drape_i_shared_file file;
    state t;
    int rank;
    if (!s || !path) return DRAPE_ERROR_ARGUMENT;
    MPI_Comm_rank(s->comm, &rank);
    drape_status status = drape_i_shared_open(s->ctx, s->comm, path, &file);
    if (status) return status;
    status = drape_petsc_agree(s->ctx, s->comm, begin(s, &t));
    if (!status) status = drape_petsc_agree(s->ctx, s->comm, read_all(&t, &file));
    if (!status && checksum(&t, rank) != t.head.checksum) status = damaged(&file, "the checkpoint is damaged");
    if (!status) status = drape_petsc_agree(s->ctx, s->comm, take_integrator(&t, &file));
    if (!status) {
        s->sim->steps = s->sim->steps_before = t.head.steps;
        drape_i_sim_restore_active_pins(s->sim);
        forget(s);
    }
    end(&t);
    drape_i_shared_close(&file);
    return status;
}
