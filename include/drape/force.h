/* drape/force.h: the forces on a cloth, as a list, and the linear system that results from them.
 *
 *   drape_assembler *forces;
 *   drape_matrix *A;
 *   drape_assembler_create(cloth, NULL, &forces);       // the cloth's model, gravity, air
 *   drape_assembler_add(forces, &my_force);             // and a force of your own
 *   drape_assembler_matrix(forces, &A);
 *   drape_assembler_run(forces, &(drape_assembly){.x = x, .v = v, .mass = 1, .damping = h, .stiffness = h * h,
 *                                                 .force = f}, A);
 *
 * A simulation (drape/sim.h) has such a list itself; add to it by drape_sim_add_force. A vector over all vertices has
 * 3 doubles per vertex, and a block is 3x3 numbers, row by row. */
#ifndef DRAPE_FORCE_H
#define DRAPE_FORCE_H

#include "drape/cloth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- External forces on every cloth ---- */

/* A velocity of the air at a time. */
typedef struct drape_wind_key {
    double time;        /* s */
    double velocity[3]; /* m/s */
} drape_wind_key;

/* Wind that changes in time and from place to place. The air's velocity at x and t is
 *
 *     W(x, t) = U(t) (1 + gust g(x, t)) + turbulence u(x, t),
 *
 * with U the mean wind and g and the components of u random, of mean 0 and standard deviation 1. Both are sums of
 * waves whose velocity is at right angles to the direction in which they change, so W has no divergence. They depend
 * only on place, time and seed, so nothing is kept between steps, and the bits are the same everywhere.
 *
 * At a point, gusts have the spectrum (gust |U|)^2 4 T / (1 + (2 pi f T)^2) in (m/s)^2/Hz, f > 0, T = gust_time. This
 * is the spectrum of a correlation exp(-t/T). Across the wind gusts are correlated by exp(-r/gust_length); along it
 * they are equal. Turbulence is isotropic and travels with U: its longitudinal correlation is
 * exp(-r/turbulence_length) (Dryden's spectrum), and it changes on its way by exp(-t/turbulence_time).
 *
 * Zero means zero, except where a default is given. */
typedef struct drape_wind_variation {
    int32_t key_count;         /* of the mean wind; 0: it is drape_forces.wind at all times */
    const drape_wind_key *key; /* at increasing times, added to drape_forces.wind: linear from one to the next,
                                  constant before the first and after the last */
    double gust;               /* >= 0: standard deviation of the speed over the mean speed, 0.3 for 30 % */
    double gust_time;          /* s, > 0 if gust is: how long a gust lasts */
    double gust_length;        /* m, > 0 if gust is: how wide it is */
    double turbulence;         /* m/s, >= 0: standard deviation of each component */
    double turbulence_length;  /* m, > 0 if turbulence is: size of the eddies */
    double turbulence_time;    /* s, >= 0: how long they last; 0: turbulence_length / turbulence */
    uint64_t seed;             /* another number gives another wind with the same statistics */
    uint64_t reserved[8];      /* zero: reserved for later fields */
} drape_wind_variation;

/* Zero means zero. */
typedef struct drape_forces {
    double gravity[3];    /* m/s^2; default 0, 0, -9.81 */
    double wind[3];       /* velocity of the air, m/s; default 0 */
    double drag;          /* kg/m^3, >= 0: density of the air times drag coefficient; default 1.2. Where there is
                             wind (see still_air), each triangle has the pressure drag/2 vn |vn|, vn the air's
                             velocity along its normal */
    double air_drag;      /* N s/m^3, >= 0: force per area and relative velocity, in all directions; default 0 */
    const double *vertex; /* a load on each vertex, N, 3 doubles per vertex; NULL: none */
    const drape_wind_variation *variation; /* how the wind changes; copied, with its keys; NULL: it does not */
    bool still_air;                        /* drag also acts in air that does not move; default false: only if wind is
                                              not zero, or there is a variation */
    uint64_t reserved[6];                  /* zero: reserved for later fields */
} drape_forces;

/* Every field at its documented default. */
DRAPE_API drape_forces drape_forces_defaults(void);

/* The velocity of the air at `count` points (m, 3 doubles each) and a time (s), m/s: 3 doubles per point. */
DRAPE_API drape_status drape_forces_wind_at(drape_context *ctx, const drape_forces *forces, double time,
                                            int64_t count, const double *points, double *velocities);

/* ---- A force of your own ---- */

/* Where a force is evaluated. */
typedef struct drape_force_point {
    double time;             /* s */
    int32_t vertices;        /* of the cloth */
    const double *x;         /* positions of all vertices, m */
    const double *v;         /* velocities of all vertices, m/s; NULL where an energy is asked for */
    const double *lagged_x;  /* m: where the built-in forces take the geometry of damping and wind (drape_assembly);
                                a damping of your own may do the same; NULL: at x */
    bool jacobians;          /* stiffness and damping are needed in addition to the force */
    drape_jacobian jacobian; /* what the cloth is set to. With DRAPE_JACOBIAN_PSD leave out the parts that make your
                                stiffness indefinite, so that a linearised step has a positive definite system. An
                                assembly with exactness 1 makes it DRAPE_JACOBIAN_FULL */
} drape_force_point;

/* Force and Jacobians of one element of k nodes. Only nodes below k are used. */
typedef struct drape_element_force {
    double force[4][3];        /* N on each node */
    double stiffness[4][4][9]; /* N/m: [a][b] is -d force[a] / d x of node b */
    double damping[4][4][9];   /* N s/m: [a][b] is -d force[a] / d v of node b */
} drape_element_force;

/* Force and block-diagonal Jacobians over all vertices. Add to these arrays, which may already hold other forces. */
typedef struct drape_vertex_force {
    double *force;     /* N, 3 doubles per vertex */
    double *stiffness; /* N/m, a block per vertex: -d force / d x of the same vertex; NULL: not wanted */
    double *damping;   /* N s/m, a block per vertex: -d force / d v of the same vertex; NULL: not wanted */
} drape_vertex_force;

/* A force is a table of functions: either `element` or `all`, and the energy that belongs to it.
 *
 * Functions get `user` and must not change what it points to in a way that other calls see. Element functions run on
 * several threads at once. An element at the border between two threads is evaluated by both. A function's result
 * must depend only on its arguments; otherwise results depend on the number of threads. A result that is not finite
 * makes the evaluation fail with DRAPE_ERROR_NUMBER and a message that names the force and the element or vertex. A
 * line search of Newton's method then tries a shorter correction, so a force may say "not here" in this way; but
 * where an iteration starts, it must be finite. */
typedef struct drape_force {
    const char *name; /* for messages and reports: 1 to 63 characters, unlike those of the other forces; copied */
    void *user;       /* passed to the functions; must stay valid as long as the list that the force is in */

    /* Elements of 1 to 4 vertices: springs, triangles, hinges. The nodes are copied. `node` are the element's own. */
    drape_elements elements;
    /* out->force is zero at first. So is out->stiffness where at->jacobians is set, and out->damping where
     * velocity_dependent is set as well; where they are not, do not write to them. */
    void (*element)(void *user, const drape_force_point *at, int32_t element, const int32_t *node,
                    drape_element_force *out);
    /* J: force = -d energy / d x, except for the part that depends on v. NULL: the force has no energy. */
    double (*element_energy)(void *user, const drape_force_point *at, int32_t element, const int32_t *node);

    /* A function over all positions, called by one thread, once per evaluation. */
    void (*all)(void *user, const drape_force_point *at, drape_vertex_force *out);
    double (*all_energy)(void *user, const drape_force_point *at); /* J; NULL: the force has no energy */

    bool velocity_dependent; /* the force depends on v: damping is asked for. A line search then goes by slope, and
                                not by energy, as it does for a force without an energy */
    bool unsymmetric;     /* of elements: stiffness or damping is not symmetric, and all blocks are taken; else only
                             those with a <= b are, and [b][a] is the transpose of [a][b]. The system is then for
                             methods such as bicgstab */
    uint64_t reserved[8]; /* zero: reserved for later fields */
} drape_force;

enum { DRAPE_MOST_FORCES = 32 }; /* of your own in one list */

/* ---- The list, and what it assembles ---- */

/* A list of the forces on a cloth, in this order: its model (under the name of the model), "gravity", "air_drag",
 * "load" and "wind" (drape_forces: gravity, air_drag, vertex, drag). Your own follow in the order in which they were
 * added. It owns the pattern of the matrix. One thread at a time may use it; the cloth is only read. */
typedef struct drape_assembler drape_assembler;

/* The cloth must outlive the list. forces may be NULL for the defaults. */
DRAPE_API drape_status drape_assembler_create(const drape_cloth *cloth, const drape_forces *forces,
                                              drape_assembler **out);
DRAPE_API void drape_assembler_destroy(drape_assembler *assembler); /* NULL is fine */

/* Copies *forces and what `variation` points to (not the array behind `vertex`, which must live on while it is set).
 * It may be called at any time, and allocates if there is a variation. On failure the forces stay as they were. */
DRAPE_API drape_status drape_assembler_set_forces(drape_assembler *assembler, const drape_forces *forces);
/* Adds a copy of *force to the list. If it has elements, the matrix gets a new pattern, and matrices made before are
 * refused. On failure the list stays as it was. */
DRAPE_API drape_status drape_assembler_add(drape_assembler *assembler, const drape_force *force);

/* How many forces there are, and their names, from 0; NULL past the end. */
DRAPE_API int32_t drape_assembler_count(const drape_assembler *assembler);
DRAPE_API const char *drape_assembler_name(const drape_assembler *assembler, int32_t index);
/* Energy of one force, J: elastic energy of the model; of gravity and loads 0 at the positions of
 * drape_cloth_rest. NaN if it has none, or does not act. DRAPE_ERROR_NUMBER: an energy of your own is not finite. */
DRAPE_API drape_status drape_assembler_energy(drape_assembler *assembler, int32_t index, double time, const double *x,
                                              double *out);
/* Power that one force takes out of the cloth, W, for a balance of energy. For the model it is the power of its
 * damping alone, >= 0. For air_drag and wind it is -force.v, negative where they drive the cloth. lagged_x is that of
 * drape_assembly: where the geometry is taken; NULL: at x. NaN: the force has an energy in its place, is your own, or
 * does not act. */
DRAPE_API drape_status drape_assembler_dissipation(drape_assembler *assembler, int32_t index, double time,
                                                   const double *x, const double *v, const double *lagged_x,
                                                   double *power);

/* Makes a matrix with the pattern that the Jacobians of the forces need. The caller destroys it, before or after the
 * list. */
DRAPE_API drape_status drape_assembler_matrix(const drape_assembler *assembler, drape_matrix **out);

/* What to assemble, with K = -df/dx and D = -df/dv. */
typedef struct drape_assembly {
    const double *x;                 /* positions, m */
    const double *v;                 /* velocities, m/s */
    double mass, damping, stiffness; /* A = mass M + damping D + stiffness K, M the lumped masses */
    double *force;                   /* f(time, x, v), N; NULL: not wanted */
    double *stiff_v;                 /* K v, N/s; NULL: not wanted */
    double time;                     /* s; matters to wind that changes, and to forces of your own that use it */
    const double *lagged_x;          /* positions at which the geometry of damping and wind is taken, m; NULL: at x */
    double exactness;                /* in [0, 1], with DRAPE_JACOBIAN_PSD: how much of what makes K indefinite is in
                                        it; K = (1 - exactness) K_psd + exactness K_full; default 0 */
    bool clamped;                    /* with DRAPE_JACOBIAN_FULL: K as with DRAPE_JACOBIAN_PSD */
    uint64_t reserved[1];            /* zero: reserved for later fields */
} drape_assembly;

/* A may be NULL: vectors only. A must come from drape_assembler_matrix of the same assembler. Allocates nothing.
 * D and K are symmetric, except with DRAPE_DAMPING_FULL or unsymmetric forces of your own. The wind's dependence
 * on x is left out of K. With DRAPE_JACOBIAN_FULL and DRAPE_DAMPING_FULL the rest of K is exact. The bits depend
 * neither on the number of threads nor on the vector instructions.
 *
 * The damping of a condition C(x) is the force -c (g.v) g with g = dC/dx. The wind presses along a triangle's normal
 * in proportion to its area. lagged_x gives these vectors and areas, and the places at which variable wind is
 * evaluated. The built-in forces then have a potential: with V their energy and R a function of v alone, f = -dV/dx -
 * dR/dv. K is d2V/dx2, D is d2R/dv2, both are symmetric and DRAPE_DAMPING_FULL changes nothing. An integrator that
 * passes positions extrapolated from earlier steps keeps its order where the extrapolation has it. Forces of your own
 * get lagged_x, and may do the same. */
DRAPE_API drape_status drape_assembler_run(drape_assembler *assembler, const drape_assembly *what, drape_matrix *A);

#ifdef __cplusplus
}
#endif

#endif
