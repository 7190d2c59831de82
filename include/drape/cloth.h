/* drape/cloth.h: cloth as energies, forces and Jacobians; no time, no solver.
 *
 *   drape_piece piece = {.vertices = n, .rest = xyz, .triangles = m, .triangle = corners,
 *                        .material = drape_material_defaults()};
 *   drape_cloth *cloth;
 *   drape_cloth_create(ctx, &piece, 1, NULL, &cloth);
 *   drape_cloth_assemble(cloth, &(drape_assembly){.x = x, .v = v, .mass = 1, .damping = h, .stiffness = h * h,
 *                                                 .force = f}, A);
 *
 * Everything is SI. The in-plane and bending energies scale with area, so that refining a mesh converges. */
#ifndef DRAPE_CLOTH_H
#define DRAPE_CLOTH_H

#include "drape/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a cloth is made of. */
typedef struct drape_material {
    double density;         /* kg/m^2, > 0; default 0.15 */
    double stretch[2];      /* N/m along warp (material u) and weft (material v), >= 0; default 5000, 5000 */
    double shear;           /* N/m, >= 0; default 100 */
    double bend;            /* bending rigidity B of the sheet, N m, >= 0; default 1e-5 */
    double bend_hinge;      /* N m, >= 0: energy bend_hinge/2 (theta - theta0)^2 on every hinge, in place of what
                               `bend` gives; it makes the result depend on the mesh; default 0: use `bend` */
    double damping_stretch; /* s, >= 0: damping of the stretch conditions is this times their stiffness */
    double damping_shear;   /* s, >= 0 */
    double damping_bend;    /* s, >= 0; defaults 2e-4 each */
    /* For models of springs only (docs/models.md). The first three, where above 0, are those of every spring, in
     * place of what stretch, shear and bend give, as papers state them; they make the result depend on the mesh. */
    double spring_stretch; /* N/m, >= 0; default 0 */
    double spring_shear;   /* N/m, >= 0; default 0 */
    double spring_bend;    /* choi_ko: rigidity of an arc, N m^2; provot: of a flexion spring, N/m; >= 0; default 0 */
    double strain_limit;   /* >= 0: no spring of stretch or shear stays longer than 1 + this times its length at rest
                              after a step (drape_cloth_limit_strain); default 0: no limit */
} drape_material;

DRAPE_API drape_material drape_material_defaults(void); /* cotton, see below */

/* ---- Fabrics: materials by name; docs/fabrics.md says where the numbers come from ---- */

/* In the order of their table, which is the alphabet's; NULL past the end. The source is one line of text. */
DRAPE_API const char *drape_fabric_name(int32_t index);
DRAPE_API const char *drape_fabric_source(int32_t index);
/* 1 where there is such a fabric, else 0 and *out is left as it was. */
DRAPE_API int drape_fabric_find(const char *name, drape_material *out);

/* One connected or unconnected sheet. Arrays belong to the caller and are copied where needed. */
typedef struct drape_piece {
    const char *name; /* for messages and files; NULL: "cloth" */
    int32_t vertices;
    const double *rest; /* 3 a vertex, m: the rest angles come from here, and without uv the rest lengths too */
    int32_t triangles;
    const int32_t *triangle;    /* 3 a triangle, each below `vertices` */
    const double *uv;           /* 2 a material-space vertex, m; NULL: every triangle lies flat as in `rest`, its u
                                   direction along the first of x, y, z that is not normal to it */
    const int32_t *uv_triangle; /* 3 a triangle, into uv; NULL: the same as `triangle` */
    int32_t uv_vertices;        /* how many there are in uv; ignored with uv_triangle NULL */
    const double *mass;         /* kg, one a vertex, > 0; NULL: a third of density times area from each triangle */
    drape_material material;
} drape_piece;

typedef enum drape_jacobian {
    DRAPE_JACOBIAN_PSD,   /* every element matrix positive semidefinite: what an implicit step wants */
    DRAPE_JACOBIAN_FULL,  /* exact, may be indefinite under compression */
    DRAPE_JACOBIAN_LINEAR /* constant: a multiple of the identity a spring, in K and in D (Hauth's linear
                             approximation); models of springs only */
} drape_jacobian;

/* A condition C damped by the force -kd dC/dt dC/dx gives K the parts kd dC/dt d2C/dx2, which counts as elastic
 * tension does, and kd dC/dx (d(dC/dt)/dx)', which is not symmetric. */
typedef enum drape_damping_jacobian {
    DRAPE_DAMPING_SYMMETRIC, /* without the second part, as Baraff and Witkin do */
    DRAPE_DAMPING_FULL       /* with it, as it is: K is not symmetric, and conjugate gradients do not solve it */
} drape_damping_jacobian;

typedef struct drape_cloth_settings {
    const char *model;       /* "baraff_witkin", "choi_ko" or "provot"; docs/models.md says which is for what; see
                                drape_model_name; default "baraff_witkin" */
    drape_jacobian jacobian; /* default DRAPE_JACOBIAN_PSD */
    drape_damping_jacobian damping_jacobian; /* default DRAPE_DAMPING_SYMMETRIC */
} drape_cloth_settings;

/* Every field at the default that stands beside it. */
DRAPE_API drape_cloth_settings drape_cloth_defaults(void);

/* Names of the models, in the order of their table; NULL past the end. */
DRAPE_API const char *drape_model_name(int32_t index);
/* "psd", "full", "linear", in the order of drape_jacobian; NULL past the end. */
DRAPE_API const char *drape_jacobian_name(int32_t index);

typedef struct drape_cloth drape_cloth;

/* Vertices of the pieces are numbered one piece after the other. settings may be NULL. */
DRAPE_API drape_status drape_cloth_create(drape_context *ctx, const drape_piece *pieces, int32_t piece_count,
                                          const drape_cloth_settings *settings, drape_cloth **out);
DRAPE_API void drape_cloth_destroy(drape_cloth *cloth); /* NULL is fine */

/* Of all pieces together; arrays live as long as the cloth. */
DRAPE_API int32_t drape_cloth_vertices(const drape_cloth *cloth);
DRAPE_API int32_t drape_cloth_triangles(const drape_cloth *cloth);
DRAPE_API int32_t drape_cloth_hinges(const drape_cloth *cloth);          /* interior edges */
DRAPE_API const int32_t *drape_cloth_triangle(const drape_cloth *cloth); /* 3 each */
DRAPE_API const int32_t *drape_cloth_hinge(const drape_cloth *cloth); /* 4 each: edge ends, then the two opposite */
DRAPE_API const double *drape_cloth_mass(const drape_cloth *cloth);   /* kg, one a vertex */
DRAPE_API const double *drape_cloth_area(const drape_cloth *cloth);   /* m^2 of material space, one a vertex */

/* Where a piece's vertices and triangles stand among all. */
typedef struct drape_piece_range {
    const char *name; /* never NULL; lives as long as the cloth */
    int32_t first_vertex, vertices;
    int32_t first_triangle, triangles;
} drape_piece_range;

/* How many there are, and each, from 0; the range lives as long as the cloth. */
DRAPE_API int32_t drape_cloth_pieces(const drape_cloth *cloth);
DRAPE_API const drape_piece_range *drape_cloth_piece(const drape_cloth *cloth, int32_t index);

/* A matrix with the pattern that this cloth's Jacobians need; the caller destroys it. */
DRAPE_API drape_status drape_cloth_matrix(const drape_cloth *cloth, drape_matrix **out);

/* What acts from outside. */
typedef struct drape_forces {
    double gravity[3];    /* m/s^2; default 0, 0, -9.81 */
    double wind[3];       /* velocity of the air, m/s; default 0 */
    double drag;          /* kg/m^3, >= 0: density of the air times drag coefficient; pressure drag/2 vn |vn| on
                             each triangle, vn the air's velocity along its normal; default 0 */
    double air_drag;      /* N s/m^3, >= 0: force per area and relative velocity, in all directions; default 0 */
    const double *vertex; /* N, 3 a vertex, or NULL */
} drape_forces;

/* Every field at the default that stands beside it. */
DRAPE_API drape_forces drape_forces_defaults(void);
/* Copies *forces (not the array behind `vertex`, which must live on while it is set). */
DRAPE_API drape_status drape_cloth_set_forces(drape_cloth *cloth, const drape_forces *forces);

/* What to assemble, with K = -df/dx and D = -df/dv. */
typedef struct drape_assembly {
    const double *x;                 /* positions, m; 3 a vertex */
    const double *v;                 /* velocities, m/s; 3 a vertex */
    double mass, damping, stiffness; /* A = mass M + damping D + stiffness K */
    double *force;                   /* f(x, v), N, or NULL */
    double *stiff_v;                 /* K v, N/s, or NULL */
} drape_assembly;

/* A may be NULL: vectors only. A must come from drape_cloth_matrix of the same cloth. Allocates nothing.
 * D is symmetric, and so is K but with DRAPE_DAMPING_FULL. The wind's dependence on x is left out of K. With
 * DRAPE_JACOBIAN_FULL and DRAPE_DAMPING_FULL the rest of K is exact. */
DRAPE_API drape_status drape_cloth_assemble(drape_cloth *cloth, const drape_assembly *what, drape_matrix *A);

/* Elastic energy, J; without gravity and other outside forces. */
DRAPE_API double drape_cloth_energy(const drape_cloth *cloth, const double *x);
/* Largest of |w_u| and |w_v| over all triangles: 1 at rest, 1.05 where a thread is 5 % longer. */
DRAPE_API double drape_cloth_stretch(const drape_cloth *cloth, const double *x);

/* Whether a piece has a strain_limit. */
DRAPE_API int drape_cloth_limits_strain(const drape_cloth *cloth);
/* Moves the ends of springs that are longer than their strain_limit allows together, after Provot (1995), and changes
 * v by what was moved over h (s, > 0, the step that led to x). x and v are 3 numbers a vertex. inverse_mass, one a
 * vertex, 1/kg: 0 for vertices that are held and stay where they are; NULL: all are free. Does nothing without a
 * limit. Where held vertices are too far apart, or a hundred sweeps are not enough, springs stay too long. */
DRAPE_API drape_status drape_cloth_limit_strain(drape_cloth *cloth, const double *inverse_mass, double h, double *x,
                                                double *v);

#ifdef __cplusplus
}
#endif

#endif
