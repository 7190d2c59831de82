/* systems.c: see bench.h.
 *
 * A regular sheet is simulated for 0.2 s, and A and b are those of the next step. At more than 101 x 101 vertices
 * that would take minutes. So a sheet of 101 x 101 does it, and its positions and velocities are interpolated
 * bilinearly. A few steps at the full resolution smooth the creases that this leaves along the coarse cells.
 * Irregular meshes get their state from a regular one in the same way. The ends of runs are kept, to have
 * the same scene at another size or with other triangles. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 0.002, RUN_SECONDS = 0.2;
enum { FINE_STEPS = 3, MOST_KEPT = 64 };
static const double RUN_TOLERANCE = 1e-4, FINE_TOLERANCE = 1e-3;

/* Of the scene "oblique", m, about the middle of the sheet: a disc of a third of its area, a sphere beneath it. */
static const double DISC_RADIUS = 0.32573500793527993; /* sqrt(1 / (3 pi)) */
static const double SPHERE_RADIUS = 0.5;

/* What stands behind a system. */
typedef struct bench_parts {
    drape_loaded_scene *loaded; /* as the library made it */
    drape_scene scene;          /* the same with the piece and the pins below */
    drape_piece piece;
    drape_pin *pins; /* the first holds in all directions, each of the others a vertex of the disc */
    double *rest, *uv;
    int32_t *triangle, *pinned; /* pinned: the vertices of all pins, one after the other */
    drape_matrix *matrix;
} bench_parts;

static void *memory(int64_t count, size_t size) {
    void *p = calloc((size_t)count + 1, size);
    if (!p) abort();
    return p;
}

double *bench_vector(int64_t length) {
    size_t bytes = ((size_t)length * sizeof(double) + 63) / 64 * 64;
    double *v = aligned_alloc(64, bytes + 64);
    if (!v) abort();
    memset(v, 0, bytes);
    return v;
}

/* ---- The scene ---- */

/* Bending by hinges of weight 3 e^2/(A1+A2) with 5e-5, which is a rigidity of 2.4 times that. */
static drape_material sheet_material(void) {
    drape_material m = drape_material_defaults();
    m.density = 0.2;
    m.stretch[0] = m.stretch[1] = 5000;
    m.shear = 500;
    m.bend = 2.4 * 5e-5;
    m.bend_hinge = 0;
    m.damping_stretch = m.damping_shear = m.damping_bend = 2e-4;
    return m;
}

/* Where each vertex goes: to its own place, or shuffled after Fisher and Yates, the same way every time. */
static int32_t *numbering(int32_t n, bool shuffled) {
    int32_t *to = memory(n, sizeof *to);
    uint64_t state = 12345;
    for (int32_t i = 0; i < n; i++) to[i] = i;
    for (int32_t i = n - 1; shuffled && i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int32_t k = (int32_t)((state >> 33) % (uint64_t)(i + 1)), other = to[k];
        to[k] = to[i];
        to[i] = other;
    }
    return to;
}

static void copy_mesh(bench_parts *p, const drape_piece *from, const int32_t *to) {
    p->rest = memory(3 * (int64_t)from->vertices, sizeof *p->rest);
    p->uv = memory(2 * (int64_t)from->vertices, sizeof *p->uv);
    p->triangle = memory(3 * (int64_t)from->triangles, sizeof *p->triangle);
    for (int64_t i = 0; i < from->vertices; i++) {
        memcpy(p->rest + 3 * (int64_t)to[i], from->rest + 3 * i, 3 * sizeof *p->rest);
        memcpy(p->uv + 2 * (int64_t)to[i], from->uv + 2 * i, 2 * sizeof *p->uv);
    }
    for (int64_t i = 0; i < 3 * (int64_t)from->triangles; i++) p->triangle[i] = to[from->triangle[i]];
    p->piece = *from;
    p->piece.rest = p->rest;
    p->piece.uv = p->uv;
    p->piece.triangle = p->triangle;
    p->piece.uv_triangle = NULL;
}

/* All pins of the scene in one: none of them moves. */
static void copy_pins(bench_parts *p, const drape_scene *from, const int32_t *to) {
    p->pinned = memory(p->piece.vertices, sizeof *p->pinned);
    p->pins = memory(1 + (int64_t)p->piece.vertices, sizeof *p->pins);
    p->pins[0] = from->pins[0];
    p->pins[0].vertices = p->pinned;
    p->pins[0].count = 0;
    for (int32_t k = 0; k < from->pin_count; k++)
        for (int32_t i = 0; i < from->pins[k].count; i++)
            p->pinned[p->pins[0].count++] = to[from->pins[k].vertices[i]];
    p->scene.pin_count = 1;
}

/* A pin of one direction for each vertex of the disc. */
static void lay_on_sphere(bench_parts *p) {
    int32_t *next = p->pinned + p->pins[0].count;
    for (int32_t i = 0; i < p->piece.vertices; i++) {
        double u = p->uv[2 * (int64_t)i], v = p->uv[2 * (int64_t)i + 1], rr = u * u + v * v;
        if (rr > DISC_RADIUS * DISC_RADIUS) continue;
        *next = i;
        p->pins[p->scene.pin_count++] =
            (drape_pin){.count = 1,
                        .vertices = next++,
                        .directions = 1,
                        .direction = {{u / SPHERE_RADIUS, v / SPHERE_RADIUS,
                                       sqrt(SPHERE_RADIUS * SPHERE_RADIUS - rr) / SPHERE_RADIUS}}};
    }
}

static void choose_solver(bench_system *s) {
    drape_solve_settings *solve = &s->parts->scene.solve;
    solve->tol = s->interpolated ? FINE_TOLERANCE : RUN_TOLERANCE;
    if (!s->interpolated) return;
    solve->precond = "amg"; /* the block diagonal would take minutes */
    solve->amg.modes = 6;
}

static void make_scene(bench_system *s, const bench_request *want) {
    bench_parts *p = s->parts;
    drape_scene_options options = {.resolution = want->resolution, .irregular = want->mesh == BENCH_IRREGULAR};
    bool oblique = strcmp(want->scene, "oblique") == 0;
    bench_check(s->ctx, drape_scene_load(s->ctx, oblique ? "drooping" : want->scene, &options, &p->loaded));
    const drape_scene *from = drape_loaded_scene_data(p->loaded);
    int32_t *to = numbering(from->pieces[0].vertices, want->mesh == BENCH_SHUFFLED);
    p->scene = *from;
    copy_mesh(p, &from->pieces[0], to);
    copy_pins(p, from, to);
    if (oblique) lay_on_sphere(p);
    free(to);
    p->piece.material = sheet_material();
    if (want->fabric && !drape_fabric_find(want->fabric, &p->piece.material)) abort();
    p->scene.pieces = &p->piece;
    p->scene.piece_count = 1;
    p->scene.pins = p->pins;
    p->scene.step = s->step;
    choose_solver(s);
}

/* ---- The state ---- */

static double *copy_vector(const double *from, int64_t length) {
    double *to = bench_vector(length);
    memcpy(to, from, (size_t)length * sizeof *to);
    return to;
}

static bench_lattice make_lattice(const bench_system *s, int32_t n) {
    return bench_lattice_make(&s->parts->piece, drape_sim_positions(s->sim), drape_sim_velocities(s->sim), n);
}

static void run(bench_system *s, int32_t steps) {
    for (int32_t i = 0; i < steps; i++) bench_check(s->ctx, drape_sim_step(s->sim, NULL));
}

static double step_of(const bench_request *want) { return want->step > 0 ? want->step : STEP; }

static bench_system *create_at_rest(const bench_request *want) {
    bench_system *s = memory(1, sizeof *s);
    s->parts = memory(1, sizeof *s->parts);
    s->ctx = bench_context(want->threads);
    s->step = step_of(want);
    s->interpolated = want->resolution > BENCH_LARGEST_RUN || want->mesh == BENCH_IRREGULAR;
    make_scene(s, want);
    s->parts->scene.integration.ode.method = DRAPE_LINEARISED_EULER; /* the papers' systems */
    bench_check(s->ctx, drape_sim_create(s->ctx, &s->parts->scene, &s->sim));
    return s;
}

/* The end of a run of a regular sheet, and what it was of. */
typedef struct kept_run {
    bench_request of;
    bench_lattice end;
} kept_run;

static bool same_name(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_run(const bench_request *a, const bench_request *b) {
    return same_name(a->scene, b->scene) && same_name(a->fabric, b->fabric) && a->resolution == b->resolution &&
           step_of(a) == step_of(b);
}

static bench_lattice run_regular(const bench_request *want) {
    bench_system *s = create_at_rest(want);
    run(s, (int32_t)lround(RUN_SECONDS / s->step));
    bench_lattice l = make_lattice(s, want->resolution);
    bench_system_destroy(s);
    return l;
}

/* Run now, or kept from the last time; the oldest go first. */
static const bench_lattice *find_run(const bench_request *want) {
    static kept_run kept[MOST_KEPT];
    static int64_t count;
    bench_request regular = *want;
    regular.mesh = BENCH_REGULAR;
    if (regular.resolution > BENCH_LARGEST_RUN) regular.resolution = BENCH_LARGEST_RUN;
    for (int32_t i = 0; i < MOST_KEPT && i < count; i++)
        if (same_run(&kept[i].of, &regular)) return &kept[i].end;
    kept_run *slot = &kept[count++ % MOST_KEPT];
    bench_lattice_free(&slot->end);
    *slot = (kept_run){regular, run_regular(&regular)};
    return &slot->end;
}

/* Takes out of a vector what goes in the directions of a pin. */
static void take_out(const drape_pin *pin, double v[3]) {
    if (pin->directions == 3) {
        v[0] = v[1] = v[2] = 0;
        return;
    }
    const double *n = pin->direction[0]; /* of length 1 */
    double along = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
    for (int32_t k = 0; k < 3; k++) v[k] -= along * n[k];
}

/* Interpolation leaves what is held not quite where it is held. */
static void hold(const bench_system *s, const drape_pin *pin, double *x, double *v) {
    const double *rest = s->parts->rest;
    for (int32_t i = 0; i < pin->count; i++) {
        int64_t at = 3 * (int64_t)pin->vertices[i];
        double moved[3];
        for (int32_t k = 0; k < 3; k++) moved[k] = x[at + k] - rest[at + k];
        take_out(pin, moved);
        for (int32_t k = 0; k < 3; k++) x[at + k] = rest[at + k] + moved[k];
        take_out(pin, v + at);
    }
}

/* Hands over copies of the state that were changed, and frees them. */
static void set_state(bench_system *s, double *x, double *v) {
    bench_check(s->ctx, drape_sim_set_state(s->sim, x, v));
    free(x), free(v);
}

static void deform_by_interpolation(bench_system *s, const bench_lattice *from) {
    double *x = bench_vector(bench_system_length(s)), *v = bench_vector(bench_system_length(s));
    const bench_parts *p = s->parts;
    for (int64_t i = 0; i < p->piece.vertices; i++)
        bench_lattice_interpolate(from, p->uv + 2 * i, x + 3 * i, v + 3 * i);
    for (int32_t i = 0; i < p->scene.pin_count; i++) hold(s, &p->pins[i], x, v);
    set_state(s, x, v);
    run(s, FINE_STEPS);
}

/* From the same sheet, whose vertices may have other numbers. */
static void deform_alike(bench_system *s, const bench_lattice *from) {
    double *x = copy_vector(drape_sim_positions(s->sim), bench_system_length(s));
    double *v = copy_vector(drape_sim_velocities(s->sim), bench_system_length(s));
    bench_lattice own = make_lattice(s, from->n);
    for (int64_t k = 0; k < (int64_t)from->n * from->n; k++) {
        if (own.number[k] < 0) continue;
        memcpy(x + 3 * (int64_t)own.number[k], from->x + 3 * (int64_t)from->number[k], 3 * sizeof *x);
        memcpy(v + 3 * (int64_t)own.number[k], from->v + 3 * (int64_t)from->number[k], 3 * sizeof *v);
    }
    bench_lattice_free(&own);
    set_state(s, x, v);
}

/* ---- The system ---- */

static void allocate(bench_system *s) {
    bench_check(s->ctx, drape_assembler_matrix(drape_sim_assembler(s->sim), &s->parts->matrix));
    s->A = drape_matrix_view(s->parts->matrix);
    s->b = bench_vector(bench_system_length(s));
}

/* A = M + h D + h^2 K, b = h (f - h K v), as src/sim/step.c has it. */
void bench_system_assemble(bench_system *s) {
    int64_t n = bench_system_length(s);
    double h = s->step, *Kv = bench_vector(n);
    drape_assembly what = {.x = drape_sim_positions(s->sim),
                           .v = drape_sim_velocities(s->sim),
                           .mass = 1,
                           .damping = h,
                           .stiffness = h * h,
                           .force = s->b,
                           .stiff_v = Kv};
    bench_check(s->ctx, drape_assembler_run(drape_sim_assembler(s->sim), &what, s->parts->matrix));
    for (int64_t i = 0; i < n; i++) s->b[i] = h * (s->b[i] - h * Kv[i]);
    free(Kv);
}

/* Not by a step of the sim's own, so that a solver can be timed, and starts from zero. */
void bench_system_advance(bench_system *s, const double *dv) {
    double *x = copy_vector(drape_sim_positions(s->sim), bench_system_length(s));
    double *v = copy_vector(drape_sim_velocities(s->sim), bench_system_length(s));
    for (int64_t i = 0; i < bench_system_length(s); i++) {
        v[i] += dv[i];
        x[i] += s->step * v[i];
    }
    set_state(s, x, v);
    bench_system_assemble(s);
}

/* The pins rest where they are: the unknown, a change of velocity, is zero in their directions. */
static void constrain(bench_system *s) {
    const bench_parts *p = s->parts;
    drape_constraint *list = memory(p->piece.vertices, sizeof *list);
    int32_t count = 0;
    for (int32_t k = 0; k < p->scene.pin_count; k++)
        for (int32_t i = 0; i < p->pins[k].count; i++) {
            list[count] = (drape_constraint){.vertex = p->pins[k].vertices[i], .directions = p->pins[k].directions};
            memcpy(list[count++].direction, p->pins[k].direction, sizeof list->direction);
        }
    bench_check(s->ctx, drape_constraints_create(s->ctx, s->A.rows, &s->constraints));
    bench_check(s->ctx, drape_constraints_set(s->constraints, list, count));
    free(list);
}

bench_system *bench_system_create(const bench_request *want) {
    bench_system *s = create_at_rest(want);
    const bench_lattice *from = find_run(want);
    if (s->interpolated) deform_by_interpolation(s, from);
    else deform_alike(s, from);
    allocate(s);
    bench_system_assemble(s);
    constrain(s);
    s->problem = (drape_problem){
        .A = &s->A, .b = s->b, .constraints = s->constraints, .positions = drape_sim_positions(s->sim)};
    return s;
}

void bench_system_destroy(bench_system *s) {
    bench_parts *p = s->parts;
    drape_constraints_destroy(s->constraints);
    drape_matrix_destroy(p->matrix);
    drape_sim_destroy(s->sim);
    drape_loaded_scene_destroy(p->loaded);
    drape_context_destroy(s->ctx);
    free(p->rest), free(p->uv), free(p->triangle), free(p->pinned), free(p->pins);
    free(s->b);
    free(p);
    free(s);
}

/* Of the cloth, not of A: the state is set before there is a matrix. */
int64_t bench_system_length(const bench_system *s) {
    return 3 * (int64_t)drape_cloth_vertices(drape_sim_cloth(s->sim));
}

const char *bench_system_about(const bench_system *s) {
    return s->interpolated
               ? "deformed by 0.2 s of gravity on a regular sheet of at most 101 x 101, then 3 steps of its own"
               : "deformed by 0.2 s of gravity";
}

const char *bench_mesh_name(bench_mesh mesh) {
    static const char *const names[] = {"regular", "irregular", "shuffled"};
    return names[mesh];
}

void bench_system_print(const bench_request *request, const bench_system *s) {
    bench_keys();
    bench_text("fabric", "\n%s", request->fabric ? request->fabric : "the sheet");
    bench_text("scene", ", %s", request->scene);
    bench_text("mesh", ", %s", bench_mesh_name(request->mesh));
    bench_count("vertices", ", %d vertices", s->A.rows);
    bench_number("step", "ms", ", steps of %g ms", 1e3 * s->step);
    bench_text("state", "; %s", bench_system_about(s));
    bench_count("threads", "; %d thread", request->threads);
    bench_end(request->threads == 1 ? "\n" : "s\n");
}

/* ---- The error of a solution ---- */

void bench_solve_exactly(bench_system *s, double *exact) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    settings.precond = s->A.rows > BENCH_LARGE ? "amg" : "block_diagonal";
    settings.amg.modes = 6;
    settings.tol = 1e-11;
    settings.max_iterations = 100000;
    bench_check(s->ctx, drape_solve(s->ctx, &s->problem, &settings, exact, &result));
    if (result.reason != DRAPE_CONVERGED)
        printf("  the solution to compare with: %s, true residual %.1e\n", drape_reason_name(result.reason),
               result.true_residual);
}

/* sqrt(v'A v) */
static double energy_norm(bench_system *s, const double *v, double *w) {
    double sum = 0;
    bench_check(s->ctx, drape_multiply(s->ctx, &s->A, v, w));
    for (int64_t i = 0; i < bench_system_length(s); i++) sum += v[i] * w[i];
    return sqrt(sum);
}

double bench_energy_error(bench_system *s, const double *exact, double *x, double *w) {
    for (int64_t i = 0; i < bench_system_length(s); i++) x[i] -= exact[i];
    return energy_norm(s, x, w) / energy_norm(s, exact, w);
}
