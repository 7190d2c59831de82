/* drape/cloth.h: pieces, materials, models and masses of a cloth. It has no time and no solver.
 *
 *   drape_piece piece = {.vertices = n, .rest = xyz, .triangles = m, .triangle = corners,
 *                        .material = drape_material_defaults()};
 *   drape_cloth *cloth;
 *   drape_cloth_create(ctx, &piece, 1, NULL, &cloth);
 *   double energy = drape_cloth_energy(cloth, x);
 *
 * What acts on a cloth, and the linear system that results, is in drape/force.h. Everything is SI. In-plane and
 * bending energies scale with area, so that refining a mesh converges.
 *
 * A NULL handle or output is an error (DRAPE_ERROR_ARGUMENT), or gives 0 or NULL where a function returns a value. */
#ifndef DRAPE_CLOTH_H
#define DRAPE_CLOTH_H

#include "drape/sparse.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a cloth is made of. Zero means zero. */
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
    /* For models of springs only (docs/models.md). If one of the first three is above 0, every spring of its kind has
     * this constant instead of one derived from stretch, shear or bend. Papers state constants in this way; they make
     * the result depend on the mesh. */
    double spring_stretch; /* N/m, >= 0; default 0 */
    double spring_shear;   /* N/m, >= 0; default 0 */
    double spring_bend;    /* choi_ko: rigidity of an arc, N m^2; provot: of a flexion spring, N/m; >= 0; default 0 */
    double strain_limit;   /* >= 0: no spring of stretch or shear stays longer than 1 + this times its length at rest
                              after a step (drape_cloth_limit_strain); default 0: no limit */
    /* Bending of the sheet per area is 1/2 (bend k_u^2 + bend_weft k_v^2 + 2 bend_twist k_uv^2), with the curvatures
     * along warp and weft and the twist. Hinges and springs take the mean of bend and bend_weft, and no twist. */
    double bend_weft;  /* N m, >= 0; default 0: the same as `bend`, which then is that of the warp alone */
    double bend_twist; /* N m, >= 0; default 0: the same as `bend` */
    /* Fabrics stiffen with strain: threads are crimped until they are straight, and turn against each other in shear
     * until they jam. stretch and shear are the stiffness of small strains; around a knee it rises to these. The
     * force follows two straight lines that meet at the knee, rounded from half of it to one and a half times it.
     * Along a thread this is so in tension only. For the model baraff_witkin alone (docs/models.md). */
    double
        stretch_stiff[2]; /* N/m along warp and weft, 0 or at least stretch; default 0, 0: as `stretch` throughout */
    double stretch_knee[2]; /* elongation, such as 0.03 for 3 %; > 0 where stretch_stiff is; default 0, 0 */
    double shear_stiff;     /* N/m, 0 or at least shear; default 0: as `shear` throughout */
    double shear_knee;      /* sine of the angle of shear, in 0..1; > 0 where shear_stiff is; default 0 */
    uint64_t reserved[6];   /* zero: reserved for later fields */
} drape_material;

DRAPE_API drape_material drape_material_defaults(void); /* cotton, see below */

/* ---- Fabrics: materials by name; docs/fabrics.md says where the numbers come from ---- */

/* In alphabetical order; NULL past the end. The source is one line of text. */
DRAPE_API const char *drape_fabric_name(int32_t index);
DRAPE_API const char *drape_fabric_source(int32_t index);
/* Writes the material of a fabric to *out. Returns false if there is no such fabric; *out then stays as it was. */
DRAPE_API bool drape_fabric_find(const char *name, drape_material *out);

/* ---- Damping as ratio: what the damping times of a material do to a vibration ----
 *
 * The slowest vibration of each kind of a strip along the warp, length L, without gravity; angular frequency w. Its
 * amplitude falls as exp(-ratio w t), so to 1/e in 1 / (ratio w) seconds. Damping is proportional to stiffness: the
 * ratio is w/2 times the material's damping time. It is the same on every mesh, and in proportion to w in faster
 * vibrations of the same kind. With a ratio of 1 or more, nothing oscillates.
 *
 *   m.damping_bend = drape_damping_time(&m, DRAPE_VIBRATION_BEND, 0.1, 0.05);   5 % in a strip of 10 cm */
typedef enum drape_vibration {
    DRAPE_VIBRATION_STRETCH, /* along the strip, one end held: w = pi/2 sqrt(stretch[0] / density) / L */
    DRAPE_VIBRATION_SHEAR, /* across it in its plane, by shear alone, one end held: pi/2 sqrt(shear / density) / L */
    DRAPE_VIBRATION_BEND   /* out of its plane, one end clamped: 3.516 sqrt(bend / density) / L^2 */
} drape_vibration;

/* "stretch", "shear", "bend"; NULL for a value that is none of them. */
DRAPE_API const char *drape_vibration_name(drape_vibration vibration);
/* w in rad/s. length: m, > 0. 0 if there is none: no stiffness, or one that depends on the mesh (bend_hinge,
 * spring_stretch, ...); an argument out of range. */
DRAPE_API double drape_vibration_frequency(const drape_material *material, drape_vibration vibration, double length);
/* The damping ratio that the material gives the vibration, and the damping time (s, for the material's
 * damping_stretch, _shear or _bend) that gives it this ratio, > 0. For a decay time T the ratio is 1 / (T w). Both
 * are 0 where the frequency is. */
DRAPE_API double drape_damping_ratio(const drape_material *material, drape_vibration vibration, double length);
DRAPE_API double drape_damping_time(const drape_material *material, drape_vibration vibration, double length,
                                    double ratio);

/* How a piece or a collider looks in files (drape/io.h). The simulation does not depend on it. If all fields are
 * zero, the format chooses. */
typedef struct drape_appearance {
    bool colored;           /* `color` is given */
    uint8_t color[3];       /* red, green, blue, sRGB; an image is multiplied by it */
    const char *image_name; /* of the image, for messages; NULL: "image" */
    const void *image;      /* a whole PNG or JPEG file, of pieces only; NULL: none. It is drawn on both sides */
    int64_t image_bytes;    /* its size, 1..16 MiB */
    /* Where the image lies in the pattern: its lower left corner, its width and height. From there it repeats. */
    double image_origin[2]; /* m */
    double image_size[2];   /* m, > 0; 0: the default, 1 m */
    /* The pattern for the image of a piece without uv, as in drape_piece; ignored where the piece has its own. */
    const double *uv;
    const int32_t *uv_triangle;
    int32_t uv_vertices;
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_appearance;

/* One sheet, connected or not. The arrays belong to the caller and are copied where needed. Zero means zero. */
typedef struct drape_piece {
    const char *name; /* for messages and files; NULL: "cloth" */
    int32_t vertices;
    const double *rest; /* m, 3 doubles per vertex: the rest angles, and without uv the rest lengths too */
    int32_t triangles;
    const int32_t *triangle;    /* 3 per triangle, each below `vertices` */
    const double *uv;           /* m, 2 doubles per material-space vertex; NULL: every triangle lies flat as in
                                   `rest`, its u direction along the first of x, y, z that is not normal to it */
    const int32_t *uv_triangle; /* 3 per triangle, into uv; NULL: the same as `triangle` */
    int32_t uv_vertices;        /* how many there are in uv; ignored with uv_triangle NULL */
    const double *mass;         /* kg, one per vertex, > 0; NULL: a third of density times area from each triangle */
    drape_material material;
    double thickness; /* m, >= 0: how far apart contact keeps cloth and cloth, and half of it cloth and objects */
    double friction;  /* coefficient of Coulomb's law, >= 0; that of a contact is the geometric mean of both sides' */
    const drape_appearance *appearance; /* in files; NULL: as the format chooses */
    /* Parts of other materials, such as a waistband: */
    const drape_material *materials; /* material_count of them; NULL: `material` everywhere */
    const int32_t *material_of;      /* one per triangle: its number in `materials`, -1: `material` */
    int32_t material_count;          /* >= 0; ignored with materials or material_of NULL */
    bool flat;            /* the sheet is flat at rest, as its pattern is: all rest angles are zero. false: they are
                             those of `rest` */
    uint64_t reserved[2]; /* zero: reserved for later fields */
} drape_piece;

/* Which derivatives of the forces enter the matrix (docs/models.md). */
typedef enum drape_jacobian {
    DRAPE_JACOBIAN_PSD,   /* every element matrix positive semidefinite: what an implicit step needs; the default */
    DRAPE_JACOBIAN_FULL,  /* exact, may be indefinite under compression */
    DRAPE_JACOBIAN_LINEAR /* constant: a multiple of the identity per spring, in K and in D (Hauth's linear
                             approximation); only for models of which drape_model_linear_jacobian is true */
} drape_jacobian;

/* A condition C damped by the force -kd dC/dt dC/dx adds two parts to K. The first, kd dC/dt d2C/dx2, is treated like
 * elastic tension. The second, kd dC/dx (d(dC/dt)/dx)', is not symmetric. */
typedef enum drape_damping_jacobian {
    DRAPE_DAMPING_SYMMETRIC, /* without the second part, as Baraff and Witkin do; the default */
    DRAPE_DAMPING_FULL       /* with it, as it is: K is not symmetric, and conjugate gradients do not solve it */
} drape_damping_jacobian;

/* "psd", "full", "linear"; "symmetric", "full"; NULL for a value that is none of them. */
DRAPE_API const char *drape_jacobian_name(drape_jacobian jacobian);
DRAPE_API const char *drape_damping_jacobian_name(drape_damping_jacobian jacobian);

/* What resists bending. */
typedef enum drape_bending {
    DRAPE_BENDING_OF_MODEL, /* what the model has; the default */
    DRAPE_BENDING_HINGE, /* angles between triangles, as in Baraff and Witkin (1998): rigidity depends on the mesh */
    DRAPE_BENDING_PATCH  /* second derivatives around each vertex: nearly the same rigidity on all meshes. Pieces
                            that are curved at rest, edges along seams of the pattern and materials with bend_hinge
                            keep hinges */
} drape_bending;

/* What resists stretching. */
typedef enum drape_membrane {
    DRAPE_MEMBRANE_OF_MODEL,      /* what the model has; the default */
    DRAPE_MEMBRANE_BARAFF_WITKIN, /* each triangle separately, as in Baraff and Witkin (1998): where edges do not
                                     follow the threads, folds are too stiff */
    DRAPE_MEMBRANE_PAIRED,        /* two neighbouring triangles together: folds more freely on irregular meshes */
    DRAPE_MEMBRANE_NODAL          /* all triangles around a vertex together: folds on irregular meshes nearly as on
                                     regular ones, at a higher cost per step */
} drape_membrane;

/* "model", "baraff_witkin", "paired", "nodal"; NULL for a value that is none of them. */
DRAPE_API const char *drape_membrane_name(drape_membrane membrane);
/* "model", "hinge", "patch"; NULL for a value that is none of them. */
DRAPE_API const char *drape_bending_name(drape_bending bending);

/* Zero means the default in every field. */
typedef struct drape_cloth_settings {
    const char *model;       /* a drape_model_name; docs/models.md says which is for what; NULL: "baraff_witkin" */
    drape_jacobian jacobian; /* default DRAPE_JACOBIAN_PSD */
    drape_damping_jacobian damping_jacobian; /* default DRAPE_DAMPING_SYMMETRIC */
    drape_bending bending;                   /* of models of triangles; default DRAPE_BENDING_OF_MODEL */
    drape_membrane membrane;                 /* of models of triangles; default DRAPE_MEMBRANE_OF_MODEL */
    uint64_t reserved[7];                    /* zero: reserved for later fields */
} drape_cloth_settings;

/* Every field at its explicit default. */
DRAPE_API drape_cloth_settings drape_cloth_defaults(void);

/* ---- Models: their table ---- */

/* In the order of the table, the default first; NULL past the end. `about` is one line of text. */
DRAPE_API const char *drape_model_name(int32_t index);
DRAPE_API const char *drape_model_about(int32_t index);
/* Whether the model takes DRAPE_JACOBIAN_LINEAR, and a strain_limit; false past the end. */
DRAPE_API bool drape_model_linear_jacobian(int32_t index);
DRAPE_API bool drape_model_strain_limit(int32_t index);

/* A field of drape_material. */
typedef struct drape_material_field {
    const char *name;     /* of the field */
    const char *unit;     /* SI, such as "N/m"; "": a pure number */
    const char *about;    /* what it is, in a few words */
    double default_value; /* that of drape_material_defaults */
    size_t offset;        /* of its first number in drape_material, bytes */
    int32_t count;        /* numbers: 2 for `stretch`, else 1 */
} drape_material_field;

/* The fields of a material that a model uses, from field 0; NULL past the end. */
DRAPE_API const drape_material_field *drape_model_material_field(int32_t index, int32_t field);

/* ---- Cloths ---- */

/* A cloth of one or more pieces, which does not change once it is created. */
typedef struct drape_cloth drape_cloth;

/* Creates a cloth of pieces. Vertices are numbered one piece after the other. settings may be NULL: the defaults. */
DRAPE_API drape_status drape_cloth_create(drape_context *ctx, const drape_piece *pieces, int32_t piece_count,
                                          const drape_cloth_settings *settings, drape_cloth **out);
DRAPE_API void drape_cloth_destroy(drape_cloth *cloth); /* NULL is fine */

/* Numbers and arrays of all pieces together. The arrays belong to the cloth. */
DRAPE_API int32_t drape_cloth_vertices(const drape_cloth *cloth);
DRAPE_API int32_t drape_cloth_triangles(const drape_cloth *cloth);
DRAPE_API int32_t drape_cloth_hinges(const drape_cloth *cloth);          /* interior edges */
DRAPE_API const int32_t *drape_cloth_triangle(const drape_cloth *cloth); /* 3 per triangle */
DRAPE_API const int32_t *drape_cloth_hinge(const drape_cloth *cloth); /* 4 each: edge ends, then the two opposite */
DRAPE_API const double *drape_cloth_rest(const drape_cloth *cloth); /* m, 3 doubles per vertex: the pieces' `rest` */
DRAPE_API const double *drape_cloth_mass(const drape_cloth *cloth); /* kg, one per vertex */
DRAPE_API const double *drape_cloth_area(const drape_cloth *cloth); /* m^2 of material space, one per vertex */

/* Where a piece's vertices and triangles are among all. */
typedef struct drape_piece_range {
    const char *name; /* never NULL; belongs to the cloth */
    int32_t first_vertex, vertices;
    int32_t first_triangle, triangles;
} drape_piece_range;

/* The number of pieces, and the range of each, counted from 0; NULL past the end. It belongs to the cloth. */
DRAPE_API int32_t drape_cloth_pieces(const drape_cloth *cloth);
DRAPE_API const drape_piece_range *drape_cloth_piece(const drape_cloth *cloth, int32_t index);

/* Elastic energy of the model at positions x (m, 3 doubles per vertex), in J; without gravity and other forces. */
DRAPE_API double drape_cloth_energy(const drape_cloth *cloth, const double *x);
/* Largest of |w_u| and |w_v| over all triangles at positions x (m): 1 at rest, 1.05 if a thread is 5 % longer. */
DRAPE_API double drape_cloth_stretch(const drape_cloth *cloth, const double *x);

/* Whether a piece has a strain_limit. */
DRAPE_API bool drape_cloth_limits_strain(const drape_cloth *cloth);
/* Moves the ends of springs that exceed their strain_limit closer together, after Provot (1995). v changes by the
 * displacement over h (s, > 0, the step that led to x). x and v are 3 doubles per vertex. inverse_mass is one double
 * per vertex, 1/kg: 0 for held vertices, which do not move. NULL: all are free. Does nothing without a limit. If held
 * vertices are too far apart, or a hundred sweeps are not enough, springs stay too long. */
DRAPE_API drape_status drape_cloth_limit_strain(const drape_cloth *cloth, const double *inverse_mass, double h,
                                                double *x, double *v);

#ifdef __cplusplus
}
#endif

#endif
