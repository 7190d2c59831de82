/* force.h: a force of the list, and the list itself.
 *
 * Every force, built in or defined by a program, is a drape_i_force. It has an energy and either terms of elements,
 * which the assembly evaluates eight at a time, or a part that belongs to each vertex alone. The rest of the
 * library does not know which forces there are.
 *
 * To add one that ships: a drape_i_force in forces.c, and its place in drape_i_forces_fill. */
#ifndef DRAPE_CLOTH_FORCE_H
#define DRAPE_CLOTH_FORCE_H

#include "cloth/cloth.h"
#include "cloth/wind_field.h"
#include "drape/force.h"

#include <stdatomic.h>

/* Rows [begin, end) of what is being assembled. */
typedef struct drape_i_rows {
    int32_t begin, end;
    double *force, *stiff_v; /* or NULL */
    drape_bsr3 A;            /* val NULL: no matrix */
    const int32_t *diagonal; /* of each row, which of its blocks is the diagonal one */
    const int32_t *slot;     /* of each coupling of the cloth's quadratic bending, which block of its row it is */
    bool upper;              /* blocks left of the diagonal follow from the others, and must be left alone */
    const int32_t *membrane_slot;        /* of each coupling of the nodal membrane's, which block of its row it is */
    const drape_i_nodal_state *membrane; /* evaluated */
} drape_i_rows;

typedef struct drape_i_force drape_i_force;
struct drape_i_force {
    const char *name;
    const void *data; /* for the functions here; terms have their own */
    int32_t term_count;
    const drape_i_term *terms;
    bool (*is_active)(const drape_i_force *force); /* NULL: always */
    /* Adds what belongs to each vertex alone; NULL: nothing. */
    void (*add_rows)(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows);
    /* The energy of what add_rows adds, J, for a force that has terms as well; NULL: 0. */
    double (*rows_potential)(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at);
    /* J; NULL: it has none. */
    double (*energy)(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at);
    /* W: its derivative by v is minus the part of the force that depends on v. Where that is linear in v, half the
     * power that it takes out. NULL: none. */
    double (*dissipation)(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at);
    /* W: the power that this part takes out, -force.v. NULL: not known. */
    double (*power)(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at);
    /* force = -d energy/dx - d dissipation/dv, exactly: with its geometry at x, and at lagged_x. */
    bool has_potential, has_lagged_potential;
    bool constant_jacobian; /* K and D are the same at every state */
};

/* ---- built in: forces.c, wind_simd.c ---- */

typedef struct drape_i_wind_data {
    const int32_t *nodes;
    const drape_forces *forces; /* drag */
    const double *mean;         /* m/s: velocity of the air */
    const double *air;          /* 3 doubles per vertex: where it is not the same everywhere; else NULL */
} drape_i_wind_data;

DRAPE_I_KERNEL(void, drape_i_wind, (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_wind_dissipation,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *dissipation));
DRAPE_I_KERNEL(void, drape_i_wind_power,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *power));

/* What the built-in forces look at; it stays where it is. */
typedef struct drape_i_outside {
    const drape_cloth *cloth;
    drape_forces forces; /* `variation` is that of `field` */
    drape_i_wind_data wind;
    drape_i_term wind_term;
    drape_i_wind_field *field; /* NULL: the wind does not change */
    double mean[3];            /* m/s: the wind at air_time, without gusts and turbulence */
    /* 3 doubles per vertex, where there are waves: the air at the positions air_x and the time air_time. The same
     * positions come again and again while a stage is solved for. */
    double *air, *air_x;
    double air_time; /* s; NaN: none yet */
} drape_i_outside;

/* Everything that can be wrong with them. */
drape_status drape_i_forces_check(drape_context *ctx, const drape_forces *forces);
/* Whether there is air that presses on triangles: it moves, or is said to be there. */
bool drape_i_forces_have_drag(const drape_forces *forces);
/* Takes over forces that were checked; on failure they are as before. */
drape_status drape_i_outside_set(drape_i_outside *outside, const drape_forces *forces);
void drape_i_outside_clear(drape_i_outside *outside);
/* Finds the air where forces are about to be evaluated. One thread at a time. */
void drape_i_outside_find_air(drape_i_outside *outside, const drape_i_evaluation *at);

/* Their places in the list. */
enum {
    DRAPE_I_FORCE_MODEL,
    DRAPE_I_FORCE_GRAVITY,
    DRAPE_I_FORCE_AIR_DRAG,
    DRAPE_I_FORCE_LOAD,
    DRAPE_I_FORCE_WIND,
    DRAPE_I_BUILT_IN_FORCES /* how many */
};

void drape_i_forces_fill(drape_i_outside *outside, const drape_cloth *cloth,
                         drape_i_force out[DRAPE_I_BUILT_IN_FORCES]);

/* Sum over the elements of a term of what the kernel gives, 0 where that is NULL. */
double drape_i_term_sum(drape_context *ctx, const drape_i_term *term, const drape_i_energy_fn *kernel,
                        const drape_i_evaluation *at);
/* Sum of the energies of elements, term after term. */
double drape_i_terms_energy(drape_context *ctx, const drape_i_term *terms, int32_t count,
                            const drape_i_evaluation *at);

/* ---- of a program's own: custom_force.c ---- */

/* A drape_force in the list. It stays where it is. */
typedef struct drape_i_custom {
    drape_force force; /* with copies of name and nodes */
    char name[64];
    int32_t vertices;
    struct drape_i_custom *self; /* what the term's kernels get: they note a culprit */
    drape_i_term term;           /* of elements */
    atomic_int culprit; /* the lowest element or vertex that gave a number that is not finite; INT_MAX: none */
} drape_i_custom;

/* Checks the table, copies it, and fills the row of the list. */
drape_status drape_i_custom_create(drape_context *ctx, const drape_force *force, int32_t vertices,
                                   drape_i_custom **custom, drape_i_force *out);
void drape_i_custom_destroy(drape_context *ctx, drape_i_custom *custom);
/* Evaluates `all` into the sums over all such forces; notes a culprit. */
void drape_i_custom_evaluate_all(drape_i_custom *custom, const drape_i_evaluation *at,
                                 const drape_vertex_force *sums);

/* ---- the list: assembler.c ---- */

enum { DRAPE_I_FORCES = DRAPE_I_BUILT_IN_FORCES + DRAPE_MOST_FORCES };

struct drape_assembler {
    drape_context *ctx;
    const drape_cloth *cloth;
    drape_i_outside outside;
    int32_t count;
    drape_i_force force[DRAPE_I_FORCES];
    drape_i_custom *custom[DRAPE_MOST_FORCES]; /* those from DRAPE_I_BUILT_IN_FORCES on */
    bool any_all;                              /* a force has a function over all positions */
    drape_vertex_force sums;                   /* of those */
    char explanation[256];                     /* why the last evaluation failed; empty: it did not */

    drape_matrix *pattern; /* shared by all matrices of this list */
    drape_i_assembly *plan;
    int32_t *diagonal, *slot, *membrane_slot;
    drape_i_nodal_state membrane; /* of the last evaluation */
    double *potential; /* of the elements of all terms whose batches give one, term after term; NULL: not kept */
    int64_t potential_count;
};

enum { DRAPE_I_CARRIED = 2 };
/* drape_assembler_add; and the matrices (NULL among them is fine), at most DRAPE_I_CARRIED, are replaced by ones with
 * the same values on the new pattern. On failure everything is as before. */
drape_status drape_i_assembler_add(drape_assembler *assembler, const drape_force *force,
                                   drape_matrix **const matrices[], int32_t count);
/* Whether all forces have a potential (a drape_i_force says what that is), for the line search; `lagged`: where
 * lagged_x is given. */
bool drape_i_assembler_has_potential(const drape_assembler *assembler, bool lagged);
/* *out = sum of the energies + c times the dissipations. Where there is a potential and lagged_x does not change with
 * v, its gradient by v at x = x0 + c v is -c f. lagged_x is that of drape_assembly, and may be NULL as there. */
drape_status drape_i_assembler_potential(drape_assembler *assembler, double time, double c, const double *x,
                                         const double *v, const double *lagged_x, double *out);
/* drape_assembler_run without a message where it gives DRAPE_ERROR_NUMBER, for those who may try elsewhere. */
drape_status drape_i_assembler_run(drape_assembler *assembler, const drape_assembly *what, drape_matrix *A);
/* The same, and the potential of drape_i_assembler_potential at that state, for little more than without it once
 * drape_i_assembler_keep_potentials has been called. Its rounding is another one. NULL: not wanted. */
typedef struct drape_i_potential {
    double c, value;
} drape_i_potential;
drape_status drape_i_assembler_run_potential(drape_assembler *assembler, const drape_assembly *what, drape_matrix *A,
                                             drape_i_potential *potential);
/* Makes room for the potentials of elements. */
drape_status drape_i_assembler_keep_potentials(drape_assembler *assembler);
/* Which force pushes a vertex most at a state (x, v, lagged_x, time). force: 3 doubles per vertex to work in. */
int32_t drape_i_assembler_largest(drape_assembler *assembler, const drape_assembly *where, int32_t vertex,
                                  double *force);
/* What was not finite in the last run or potential; NULL: nothing. */
const char *drape_i_assembler_explain(const drape_assembler *assembler);
/* Whether D and K are the same at every state; air_drag, which is in D, may still be set to another value. */
bool drape_i_assembler_constant_jacobian(const drape_assembler *assembler);

#endif
