/* checkpoint.c: the state of a simulation in a file, from which another one continues with the same bits.
 *
 * Little-endian, without gaps:
 *
 *   header                            of which scene the rest is, and how large
 *   for each section:
 *     char   name[8]                  filled up with zeros
 *     int64  bytes
 *     double values[bytes / 8]        section "ode": what drape_ode_save gives
 *   uint64 checksum                   of everything before it (base/file.h)
 *
 * It does not contain what solvers have learnt from earlier solves, nor the eigenvalue that limits explicit steps.
 * These are dropped both by saving and by restoring, so that both simulations continue without them.
 *
 * A reader knows the size from the scene before it reads, so memory does not depend on what the file claims. */
#include "base/file.h"
#include "sim/contact.h"

#include <math.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "checkpoints are copied to and from memory, which needs a little-endian host"
#endif

static const char MAGIC[8] = {'D', 'R', 'A', 'P', 'E', 'C', 'K', 'P'};
enum { VERSION = 6, BYTE_ORDER_MARK = 0x01020304, MOST_SECTIONS = 10 };

typedef struct header {
    char magic[8];
    uint32_t version, byte_order;
    int64_t size;   /* of the file */
    uint64_t scene; /* drape_i_scene_hash */
    int64_t steps, sections;
    uint64_t checksum; /* of what comes before it */
} header;
_Static_assert(sizeof(header) == 56, "the header has no gaps");

typedef struct section_head {
    char name[8];
    int64_t bytes;
} section_head;

/* An array of the simulation that is part of its state, or the integrator with its own memory. */
typedef struct section {
    const char *name; /* up to 8 letters */
    double *values;
    int64_t count;
    drape_ode *ode; /* or NULL */
} section;

/* Everything that a step finds and that does not come from the scene. To add something: a line here, and another
 * VERSION. Which pins held in the last step follows from its time. `rubs`: how many pairs with friction there are,
 * which is the one number that does not follow from the scene. */
static int32_t list_sections(drape_sim *sim, int64_t rubs, section out[MOST_SECTIONS]) {
    int64_t n = 3 * (int64_t)sim->vertices;
    int32_t count = 0;
    out[count++] = (section){"x", sim->x, n, NULL};
    out[count++] = (section){"v", sim->v, n, NULL};
    out[count++] = (section){"dv", sim->dv, n, NULL};
    out[count++] = (section){"anchor", sim->anchor, 3 * (int64_t)sim->held_count, NULL};
    out[count++] = (section){"energy", &sim->balance.begun, (int64_t)(sizeof sim->balance / sizeof(double)), NULL};
    if (sim->contact)
        out[count++] = (section){"contact", &sim->contact->standing->mode, n / 3 * DRAPE_I_STANDING_NUMBERS, NULL};
    if (sim->contact) out[count++] = (section){"rubs", (double *)sim->contact->rub, rubs * DRAPE_I_RUB_NUMBERS, NULL};
    if (sim->contact && drape_i_pinch_state(sim))
        out[count++] =
            (section){"aside", drape_i_pinch_state(sim)->collider, n / 3 * (int64_t)DRAPE_I_MOST_ASIDE, NULL};
    if (sim->integrator) out[count++] = (section){"ode", NULL, 0, sim->integrator->ode};
    return count;
}

static section_head head_of(const section *s) {
    section_head head = {.bytes = s->ode ? drape_ode_save_size(s->ode) : s->count * (int64_t)sizeof *s->values};
    memcpy(head.name, s->name, strlen(s->name));
    return head;
}

static int64_t rubs_of(const drape_sim *sim) { return sim->contact ? sim->contact->rubs : 0; }

static int64_t size_with(drape_sim *sim, int64_t rubs) {
    section list[MOST_SECTIONS];
    int32_t count = list_sections(sim, rubs, list);
    int64_t size = (int64_t)(sizeof(header) + sizeof(uint64_t));
    for (int32_t i = 0; i < count; i++) size += (int64_t)sizeof(section_head) + head_of(&list[i]).bytes;
    return size;
}

int64_t drape_i_checkpoint_size(drape_sim *sim) { return size_with(sim, rubs_of(sim)); }

/* ---- Writing ---- */

static uint64_t header_checksum(const void *data) {
    return drape_i_hash(DRAPE_I_HASH_SEED, data, offsetof(header, checksum));
}

static uint64_t file_checksum(const void *data, int64_t size) {
    return drape_i_hash(DRAPE_I_HASH_SEED, data, (size_t)size - sizeof(uint64_t));
}

void drape_i_checkpoint_seal(char *data, int64_t size) {
    uint64_t sum = header_checksum(data);
    memcpy(data + offsetof(header, checksum), &sum, sizeof sum);
    sum = file_checksum(data, size);
    memcpy(data + size - sizeof sum, &sum, sizeof sum);
}

static char *put(char *to, const void *from, int64_t bytes) {
    memcpy(to, from, (size_t)bytes);
    return to + bytes;
}

void drape_i_checkpoint_make(drape_sim *sim, char *out) {
    section list[MOST_SECTIONS];
    header head = {.version = VERSION,
                   .byte_order = BYTE_ORDER_MARK,
                   .size = drape_i_checkpoint_size(sim),
                   .scene = sim->scene,
                   .steps = sim->steps,
                   .sections = list_sections(sim, rubs_of(sim), list)};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    char *to = put(out, &head, sizeof head);
    for (int32_t i = 0; i < head.sections; i++) {
        section_head own = head_of(&list[i]);
        to = put(to, &own, sizeof own);
        if (list[i].ode) drape_ode_save(list[i].ode, to);
        else if (own.bytes > 0) memcpy(to, list[i].values, (size_t)own.bytes);
        to += own.bytes;
    }
    drape_i_checkpoint_seal(out, head.size);
}

void drape_i_sim_forget(drape_sim *sim) {
    drape_solver_forget(sim->solver);
    if (sim->contact) drape_i_contact_forget(sim->contact);
    if (sim->integrator) drape_i_integrator_forget(sim->integrator);
}

drape_status drape_sim_save(drape_sim *sim, const char *path) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    if (!path) return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "checkpoint: a file name is needed, not NULL");
    drape_context *ctx = sim->ctx;
    int64_t size = drape_i_checkpoint_size(sim);
    drape_i_file file;
    char *data;
    drape_i_sim_forget(sim);
    if (!DRAPE_NEW_RAW(ctx, data, size)) return DRAPE_ERROR_MEMORY;
    drape_i_checkpoint_make(sim, data);
    drape_status status = drape_i_file_create(ctx, path, &file);
    if (!status) {
        drape_i_file_write(&file, data, (size_t)size);
        status = drape_i_file_commit(ctx, &file);
    }
    DRAPE_FREE(ctx, data, size);
    return status;
}

/* ---- Reading ---- */

/* A checkpoint on its way in. */
typedef struct source {
    drape_context *ctx;
    const char *name, *data;
    int64_t have, size;
} source;

static drape_status damaged(const source *from, const char *what) {
    return drape_i_fail(from->ctx, DRAPE_ERROR_FORMAT, "%s: the checkpoint is damaged: %s", from->name, what);
}

/* Checks that are possible before the header's checksum is known to be right. */
static drape_status check_kind(const source *from, const header *head) {
    drape_context *ctx = from->ctx;
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: not a checkpoint: it does not begin with DRAPECKP",
                            from->name);
    if (head->byte_order != BYTE_ORDER_MARK)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: a checkpoint in another byte order, or damaged",
                            from->name);
    if (head->version != VERSION)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: a checkpoint of version %u, but this program reads only %d",
                            from->name, head->version, VERSION);
    return DRAPE_OK;
}

static drape_status check_size(const source *from, int64_t promised, int64_t wanted) {
    if (from->size < promised)
        return drape_i_fail(from->ctx, DRAPE_ERROR_FORMAT,
                            "%s: the checkpoint is truncated: %lld of %lld bytes are there", from->name,
                            (long long)from->size, (long long)promised);
    if (from->size > promised) return damaged(from, "there is more after its end");
    return promised == wanted ? DRAPE_OK : damaged(from, "its size is not that of this scene");
}

static drape_status check_header(const source *from, const drape_sim *sim, const header *head) {
    drape_status status = check_kind(from, head);
    if (status) return status;
    if (head->checksum != header_checksum(head)) return damaged(from, "the checksum of its header is wrong");
    if (head->scene != sim->scene)
        return drape_i_fail(
            from->ctx, DRAPE_ERROR_FORMAT,
            "%s: a checkpoint of another scene: its mesh, material, pins, forces, solver or time step differs",
            from->name);
    return head->steps >= 0 && head->steps <= DRAPE_I_MOST_STEPS
               ? DRAPE_OK
               : damaged(from, "the number of steps is out of range");
}

static bool all_finite(const char *values, int64_t count) {
    double value;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&value, values + i * (int64_t)sizeof value, sizeof value);
        if (!isfinite(value)) return false;
    }
    return true;
}

/* The sections must be just those that are expected: their sizes add up to that of the file, which was checked. */
static drape_status check_sections(const source *from, const drape_sim *sim, const section *list, int32_t count) {
    const char *at = from->data + sizeof(header);
    for (int32_t i = 0; i < count; i++) {
        section_head want = head_of(&list[i]);
        if (memcmp(at, &want, sizeof want) != 0) return damaged(from, "a section is not the expected one");
        at += sizeof want;
        if (!all_finite(at, list[i].count)) return damaged(from, "it holds a number that is not finite");
        if (sim->contact && list[i].values == &sim->contact->standing->mode &&
            !drape_i_contact_are_standings(at, sim->vertices))
            return damaged(from, "a contact is neither sliding nor sticking");
        if (sim->contact && strcmp(list[i].name, "rubs") == 0 &&
            !drape_i_contact_are_rubs(sim->contact, at, list[i].count / DRAPE_I_RUB_NUMBERS))
            return damaged(from, "friction acts on something that is not a pair");
        if (strcmp(list[i].name, "aside") == 0 && !drape_i_pinch_is_state(sim, at))
            return damaged(from, "a vertex is pinched by colliders that do not exist");
        at += want.bytes;
    }
    return DRAPE_OK;
}

static void take_sections(const source *from, const section *list, int32_t count) {
    const char *at = from->data + sizeof(header);
    for (int32_t i = 0; i < count; i++) {
        size_t bytes = (size_t)head_of(&list[i]).bytes;
        if (!list[i].ode && bytes > 0) memcpy(list[i].values, at + sizeof(section_head), bytes);
        at += sizeof(section_head) + bytes;
    }
}

/* The one section that can still be refused, so it comes before the others are taken. */
static drape_status take_integrator(const source *from, const section *list, int32_t count) {
    const char *at = from->data + sizeof(header);
    for (int32_t i = 0; i < count; i++) {
        int64_t bytes = head_of(&list[i]).bytes;
        if (list[i].ode && drape_ode_restore(list[i].ode, at + sizeof(section_head), bytes))
            return damaged(from, "the saved state of its integrator is invalid");
        at += (int64_t)sizeof(section_head) + bytes;
    }
    return DRAPE_OK;
}

/* Whether integrator and simulation are at the same time. They are in checkpoints of drape, but a file may contain
 * anything. */
static bool stands_here(const drape_sim *sim) {
    const drape_ode *ode = sim->integrator->ode;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof *sim->x;
    return drape_ode_time(ode) == drape_sim_time(sim) && memcmp(drape_ode_x(ode), sim->x, bytes) == 0 &&
           memcmp(drape_ode_v(ode), sim->v, bytes) == 0;
}

/* The number of pairs with friction, from the size; -1: it cannot be. */
static int64_t rubs_in(drape_sim *sim, int64_t size) {
    int64_t more = size - size_with(sim, 0), each = (int64_t)sizeof(drape_i_rub);
    return more >= 0 && more % each == 0 && (sim->contact || more == 0) && more / each <= INT32_MAX / 2 ? more / each
                                                                                                        : -1;
}

drape_status drape_i_checkpoint_take(drape_sim *sim, const char *name, const void *data, int64_t have, int64_t size) {
    source from = {sim->ctx, name, data, have, size};
    section list[MOST_SECTIONS];
    header head;
    uint64_t sum;
    if (have < (int64_t)sizeof head) return check_size(&from, (int64_t)sizeof head, 0);
    memcpy(&head, data, sizeof head);
    drape_status status = check_header(&from, sim, &head);
    if (status) return status;
    int64_t rubs = rubs_in(sim, head.size);
    status = check_size(&from, head.size, size_with(sim, rubs < 0 ? 0 : rubs));
    if (status) return status;
    memcpy(&sum, from.data + size - sizeof sum, sizeof sum);
    if (sum != file_checksum(data, size)) return damaged(&from, "its checksum is wrong");
    if (sim->contact) status = drape_i_contact_grow_rubs(sim->contact, (int32_t)rubs);
    if (status) return status;
    int32_t count = list_sections(sim, rubs, list);
    if (head.sections != count) return damaged(&from, "sections are missing");
    status = check_sections(&from, sim, list, count);
    if (!status) status = take_integrator(&from, list, count);
    if (status) return status;
    take_sections(&from, list, count);
    if (sim->contact) sim->contact->rubs = (int32_t)rubs;
    sim->steps = sim->steps_before = head.steps;
    sim->constraint_force = NULL;
    sim->balance_checked = false;
    drape_i_sim_restore_active_pins(sim);
    drape_i_sim_forget(sim);
    return sim->integrator && !stands_here(sim) ? drape_i_integrator_start(sim) : DRAPE_OK;
}

/* All of a file whose size is that of a checkpoint of this simulation; of another only the header. */
static drape_status read_file(drape_sim *sim, const char *path, char **data, int64_t *have, int64_t *size) {
    drape_context *ctx = sim->ctx;
    FILE *stream;
    drape_status status = drape_i_file_open(ctx, path, &stream, size);
    if (status) return status;
    *have = rubs_in(sim, *size) >= 0 || *size < (int64_t)sizeof(header) ? *size : (int64_t)sizeof(header);
    if (!DRAPE_NEW_RAW(ctx, *data, *have)) status = DRAPE_ERROR_MEMORY;
    if (!status && fread(*data, 1, (size_t)*have, stream) != (size_t)*have)
        status = drape_i_fail(ctx, DRAPE_ERROR_IO, "%s: cannot read: the size changed or the disk failed", path);
    fclose(stream);
    return status;
}

drape_status drape_sim_restore(drape_sim *sim, const char *path) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    if (!path) return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "checkpoint: a file name is needed, not NULL");
    int64_t have = 0, size = 0;
    char *data = NULL;
    drape_status status = read_file(sim, path, &data, &have, &size);
    if (!status) status = drape_i_checkpoint_take(sim, path, data, have, size);
    DRAPE_FREE(sim->ctx, data, have);
    return status;
}
