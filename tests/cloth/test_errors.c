/* Every way in which a cloth can be refused, and what happens when memory ends. */
#include "cloth/force.h"
#include "sparse/counting_allocator.h"
#include "support/dense.h"
#include "support/meshes.h"

#include <math.h>
#include <string.h>

/* Two triangles on a square, which each test spoils in one place. */
typedef struct square {
    double rest[12], uv[8], mass[4];
    int32_t triangle[9], uv_triangle[9];
    drape_piece piece;
    drape_cloth_settings settings;
} square;

static void square_init(square *s) {
    *s = (square){.rest = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0},
                  .uv = {0, 0, 1, 0, 0, 1, 1, 1},
                  .mass = {1, 1, 1, 1},
                  .triangle = {0, 1, 2, 2, 1, 3, 1, 2, 0},
                  .uv_triangle = {0, 1, 2, 2, 1, 3, 1, 2, 0},
                  .settings = drape_cloth_defaults()};
    s->piece = (drape_piece){.vertices = 4,
                             .rest = s->rest,
                             .triangles = 2,
                             .triangle = s->triangle,
                             .uv = s->uv,
                             .uv_triangle = s->uv_triangle,
                             .uv_vertices = 4,
                             .mass = s->mass,
                             .material = drape_material_defaults()};
}

/* The second of two pieces is the spoilt one: DRAPE_ERROR_ARGUMENT, with this in the message, and nothing is left. */
static void assert_refused(const square *spoilt, const char *fragment) {
    drape_context *ctx = test_context(1);
    square good;
    square_init(&good);
    int64_t before = drape_context_bytes(ctx);
    drape_cloth *cloth = (drape_cloth *)&good;
    const drape_piece pieces[2] = {good.piece, spoilt->piece};
    assert_int_equal(drape_cloth_create(ctx, pieces, 2, &spoilt->settings, &cloth), DRAPE_ERROR_ARGUMENT);
    assert_null(cloth);
    if (!strstr(drape_message(ctx), fragment))
        fail_msg("\"%s\" is not in the message \"%s\"", fragment, drape_message(ctx));
    assert_int_equal(drape_context_bytes(ctx), before);
    drape_context_destroy(ctx);
}

/* Spoils a fresh square by `change` and expects the message. */
#define REFUSED(change, fragment)                                                                                    \
    do {                                                                                                             \
        square s;                                                                                                    \
        square_init(&s);                                                                                             \
        change;                                                                                                      \
        assert_refused(&s, fragment);                                                                                \
    } while (0)

static void test_the_square_itself_is_fine(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    square s;
    square_init(&s);
    drape_cloth *cloth;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, NULL, &cloth));
    assert_int_equal(drape_cloth_vertices(cloth), 4);
    assert_int_equal(drape_cloth_triangles(cloth), 2);
    assert_int_equal(drape_cloth_hinges(cloth), 1);
    const int32_t hinge[4] = {1, 2, 0, 3};
    assert_memory_equal(drape_cloth_hinge(cloth), hinge, sizeof hinge);
    assert_memory_equal(drape_cloth_triangle(cloth), s.triangle, 6 * sizeof *s.triangle);
    drape_cloth_destroy(cloth);
    drape_cloth_destroy(NULL);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_counts_and_arrays(void **state) {
    (void)state;
    REFUSED(s.piece.vertices = 0, "piece 1: 0 vertices");
    REFUSED(s.piece.vertices = -3, "piece 1: -3 vertices");
    REFUSED(s.piece.triangles = -1, "piece 1: 4 vertices and -1 triangles");
    REFUSED(s.piece.rest = NULL, "array missing");
    REFUSED(s.piece.triangle = NULL, "array missing");
    drape_context *ctx = test_context(1);
    drape_cloth *cloth;
    assert_int_equal(drape_cloth_create(ctx, NULL, 0, NULL, &cloth), DRAPE_ERROR_ARGUMENT);
    assert_null(cloth);
    assert_non_null(strstr(drape_message(ctx), "at least one piece"));
    drape_context_destroy(ctx);
}

static void test_triangles(void **state) {
    (void)state;
    REFUSED(s.triangle[4] = 4, "piece 1: triangle 1 names vertex 4 of 4");
    REFUSED(s.triangle[2] = -1, "piece 1: triangle 0 names vertex -1");
    REFUSED(s.triangle[0] = 1, "piece 1: triangle 0 has vertex 1 twice");
    REFUSED(s.triangle[4] = 3, "piece 1: triangle 1 has vertex 3 twice");
    REFUSED(s.triangle[5] = 2, "piece 1: triangle 1 has vertex 2 twice");
    REFUSED(s.uv_triangle[5] = 4, "piece 1: triangle 1 names material-space vertex 4 of 4");
    REFUSED(s.uv_triangle[0] = -7, "piece 1: triangle 0 names material-space vertex -7");
    REFUSED(s.piece.uv_vertices = 3, "piece 1: triangle 1 names material-space vertex 3 of 3");
    REFUSED((s.piece.triangles = 3), "belongs to three triangles");
}

static void test_material_space(void **state) {
    (void)state;
    REFUSED(s.uv_triangle[1] = 0, "piece 1: triangle 0 has no area in material space");
    REFUSED((s.uv[6] = 0.5, s.uv[7] = 0.5), "piece 1: triangle 1 has no area in material space");
    REFUSED((s.uv[6] = 0.5, s.uv[7] = 0.5 + 1e-14), "piece 1: triangle 1 has no area in material space");
    REFUSED((s.piece.uv = NULL, s.rest[3] = s.rest[6] = 0.5, s.rest[7] = 0), "triangle 0 has no area");
    REFUSED((s.piece.uv = NULL, s.rest[3] = s.rest[7] = 1e200), "triangle 0 has no area");
}

static void test_numbers(void **state) {
    (void)state;
    REFUSED(s.rest[11] = NAN, "piece 1: vertex 3 is not a finite point");
    REFUSED(s.rest[4] = INFINITY, "piece 1: vertex 1 is not a finite point");
    REFUSED(s.uv[5] = -INFINITY, "piece 1: material-space vertex 2 is not a finite point");
    REFUSED((s.piece.uv_triangle = NULL, s.piece.uv_vertices = 0, s.uv[7] = NAN), "material-space vertex 3");
    REFUSED(s.mass[2] = 0, "piece 1: vertex 2 has mass 0");
    REFUSED(s.mass[1] = -1, "piece 1: vertex 1 has mass -1");
    REFUSED(s.mass[0] = NAN, "piece 1: vertex 0 has mass");
}

static void test_materials(void **state) {
    (void)state;
    REFUSED(s.piece.material.density = 0, "density is 0; it must be above 0");
    REFUSED(s.piece.material.density = -0.1, "density is -0.1");
    REFUSED(s.piece.material.density = NAN, "density");
    REFUSED(s.piece.material.stretch[0] = -1, "stretch along warp is -1; it must be 0 or more");
    REFUSED(s.piece.material.stretch[1] = -1, "stretch along weft is -1");
    REFUSED(s.piece.material.shear = INFINITY, "shear is inf");
    REFUSED(s.piece.material.bend = -1, "piece 1: material: bend is -1");
    REFUSED(s.piece.material.bend_hinge = -2, "bend_hinge is -2");
    REFUSED(s.piece.material.spring_stretch = -1, "spring_stretch is -1");
    REFUSED(s.piece.material.spring_shear = -1, "spring_shear is -1");
    REFUSED(s.piece.material.spring_bend = NAN, "spring_bend is");
    REFUSED(s.piece.material.strain_limit = -0.5, "strain_limit is -0.5");
    REFUSED(s.piece.material.stretch_stiff[1] = NAN, "stretch_stiff along weft is");
    REFUSED(s.piece.material.shear_knee = -1, "shear_knee is -1");
    REFUSED((s.piece.material.stretch_stiff[0] = 10, s.piece.material.stretch_knee[0] = 0.02),
            "piece 1: material: stretch along warp falls from 5000 to 10 N/m at the knee; it can only rise");
    REFUSED(s.piece.material.shear_stiff = 1e5, "shear stiffens to 100000 N/m, but its knee is 0");
    REFUSED(s.piece.material.damping_stretch = -1, "damping_stretch is -1");
    REFUSED(s.piece.material.damping_shear = -1, "damping_shear is -1");
    REFUSED(s.piece.material.damping_bend = NAN, "damping_bend");
}

static void test_loose_vertices(void **state) {
    (void)state;
    REFUSED((s.piece.triangles = 1, s.piece.mass = NULL), "piece 1: vertex 3 belongs to no triangle and has no mass");
    drape_context *ctx = test_context(1);
    square s;
    square_init(&s);
    s.piece.triangles = 1;
    drape_cloth *cloth;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, NULL, &cloth)); /* with a mass of its own it is fine */
    assert_int_equal(drape_cloth_hinges(cloth), 0);
    drape_cloth_destroy(cloth);
    s.piece.triangles = 0;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, NULL, &cloth)); /* points alone: only their weight */
    double f[12];
    test_assemble(ctx, cloth, NULL, &(drape_assembly){.x = s.rest, .v = s.rest, .force = f}, NULL);
    for (int32_t i = 0; i < 12; i++) assert_true(f[i] == (i % 3 == 2 ? -9.81 : 0));
    assert_true(drape_cloth_energy(cloth, s.rest) == 0 && drape_cloth_stretch(cloth, s.rest) == 0);
    drape_cloth_destroy(cloth);
    drape_context_destroy(ctx);
}

static void test_models(void **state) {
    (void)state;
    REFUSED(s.settings.model = "jelly", "unknown model \"jelly\"; known: baraff_witkin, choi_ko, provot");
    REFUSED(s.settings.model = "", "unknown model \"\"");
    REFUSED(s.settings.reserved[6] = 1, "drape_cloth_settings.reserved is not zero");
    REFUSED(s.settings.jacobian = (drape_jacobian)3, "jacobian is 3");
    REFUSED(s.settings.damping_jacobian = (drape_damping_jacobian)2, "damping_jacobian is 2");
    for (int32_t i = 0; drape_model_name(i); i++) {
        drape_context *ctx = test_context(1);
        square s;
        square_init(&s);
        s.settings.model = drape_model_name(i);
        drape_cloth *cloth;
        ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, &s.settings, &cloth));
        drape_cloth_destroy(cloth);
        drape_context_destroy(ctx);
    }
    REFUSED(s.settings.jacobian = DRAPE_JACOBIAN_LINEAR,
            "baraff_witkin has no linear jacobian; these have one: choi_ko, provot");
    REFUSED(s.piece.material.strain_limit = 0.1,
            "baraff_witkin has no strain_limit; these have one: choi_ko, provot");
    assert_null(drape_jacobian_name((drape_jacobian)-1));
    assert_null(drape_jacobian_name((drape_jacobian)3));
    assert_null(drape_damping_jacobian_name((drape_damping_jacobian)2));
    assert_string_equal(drape_damping_jacobian_name(DRAPE_DAMPING_FULL), "full");
    assert_null(drape_model_name(-1));
    assert_string_equal(drape_model_name(0), "baraff_witkin");
}

/* ---- what a finished cloth refuses ---- */

static drape_cloth *square_cloth(drape_context *ctx) {
    square s;
    square_init(&s);
    drape_cloth *cloth;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, NULL, &cloth));
    return cloth;
}

static void assert_forces_refused(drape_context *ctx, drape_assembler *assembler, drape_forces forces,
                                  const char *fragment) {
    drape_assembler *another;
    assert_int_equal(drape_assembler_create(assembler->cloth, &forces, &another), DRAPE_ERROR_ARGUMENT);
    assert_null(another);
    assert_int_equal(drape_assembler_set_forces(assembler, &forces), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment))
        fail_msg("\"%s\" is not in the message \"%s\"", fragment, drape_message(ctx));
}

static void test_forces(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_cloth *cloth = square_cloth(ctx);
    double before[12], after[12], v[12] = {0}, x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.3};
    drape_assembler *assembler;
    ASSERT_OK(ctx, drape_assembler_create(cloth, &(drape_forces){.wind = {0, 0, 3}, .drag = 1}, &assembler));
    ASSERT_OK(ctx, drape_assembler_run(assembler, &(drape_assembly){.x = x, .v = v, .force = before}, NULL));
    assert_forces_refused(ctx, assembler, (drape_forces){.gravity = {0, NAN, 0}}, "gravity and wind must be finite");
    assert_forces_refused(ctx, assembler, (drape_forces){.wind = {0, 0, INFINITY}},
                          "gravity and wind must be finite");
    assert_forces_refused(ctx, assembler, (drape_forces){.drag = -1},
                          "drag is -1 and air_drag 0; both must be 0 or more");
    assert_forces_refused(ctx, assembler, (drape_forces){.drag = NAN}, "drag is");
    assert_forces_refused(ctx, assembler, (drape_forces){.air_drag = -2}, "air_drag -2");
    assert_forces_refused(ctx, assembler, (drape_forces){.air_drag = INFINITY}, "air_drag inf");
    ASSERT_OK(ctx, drape_assembler_run(assembler, &(drape_assembly){.x = x, .v = v, .force = after}, NULL));
    assert_memory_equal(before, after, sizeof before); /* what was refused changed nothing */
    drape_assembler_destroy(assembler);
    drape_cloth_destroy(cloth);
    drape_context_destroy(ctx);
}

static void test_assembly(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_cloth *cloth = square_cloth(ctx);
    drape_assembler *assembler, *twin;
    drape_matrix *theirs, *own;
    double x[12] = {0};
    ASSERT_OK(ctx, drape_assembler_create(cloth, NULL, &assembler));
    ASSERT_OK(ctx, drape_assembler_create(cloth, NULL, &twin));
    ASSERT_OK(ctx, drape_assembler_matrix(twin, &theirs));
    drape_assembly what = {.x = x, .v = x};
    assert_int_equal(drape_assembler_run(assembler, &what, theirs), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "not made by drape_assembler_matrix of this assembler"));
    drape_bsr3 view = drape_matrix_view(theirs);
    ASSERT_OK(ctx, drape_matrix_copy(ctx, &view, &own)); /* the same pattern, but a matrix of its own */
    assert_int_equal(drape_assembler_run(assembler, &what, own), DRAPE_ERROR_ARGUMENT);
    what.v = NULL;
    assert_int_equal(drape_assembler_run(assembler, &what, NULL), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "positions or velocities are missing"));
    what.v = x, what.x = NULL;
    assert_int_equal(drape_assembler_run(assembler, &what, NULL), DRAPE_ERROR_ARGUMENT);
    what.x = x, what.exactness = 1.5;
    assert_int_equal(drape_assembler_run(assembler, &what, NULL), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "exactness is 1.5"));
    what.exactness = NAN;
    assert_int_equal(drape_assembler_run(assembler, &what, NULL), DRAPE_ERROR_ARGUMENT);
    what.exactness = 0, what.reserved[0] = 1;
    assert_int_equal(drape_assembler_run(assembler, &what, NULL), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_assembly.reserved"));
    drape_matrix_destroy(own);
    drape_assembler_destroy(twin);
    drape_matrix_destroy(theirs); /* outlives what made it */
    drape_assembler_destroy(assembler);
    drape_cloth_destroy(cloth);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_null_arguments(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_cloth *cloth = square_cloth(ctx), *none = NULL;
    drape_assembler *assembler;
    drape_material material;
    double number, x[12] = {0};
    square s;
    square_init(&s);
    assert_int_equal(drape_cloth_create(NULL, &s.piece, 1, NULL, &none), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_cloth_create(ctx, &s.piece, 1, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_cloth_create(ctx, NULL, 1, NULL, &none), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_create(NULL, NULL, &assembler), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_create(cloth, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_matrix(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_run(NULL, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_dissipation(NULL, 0, 0, x, x, NULL, &number), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_set_forces(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_add(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_energy(NULL, 0, 0, x, &number), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_assembler_create(cloth, NULL, &assembler));
    assert_int_equal(drape_assembler_matrix(assembler, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_run(assembler, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_set_forces(assembler, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_energy(assembler, 0, 0, NULL, &number), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_energy(assembler, 0, 0, x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_energy(assembler, 5, 0, x, &number), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_dissipation(assembler, 0, 0, NULL, x, NULL, &number), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_dissipation(assembler, 0, 0, x, NULL, NULL, &number), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_dissipation(assembler, 0, 0, x, x, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_assembler_dissipation(assembler, 5, 0, x, x, NULL, &number), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "dissipation of force 5 of 5"));
    assert_int_equal(drape_cloth_limit_strain(NULL, NULL, 1, x, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_cloth_vertices(NULL) + drape_cloth_triangles(NULL) + drape_cloth_hinges(NULL), 0);
    assert_null(drape_cloth_mass(NULL));
    assert_null(drape_cloth_piece(cloth, 1));
    assert_null(drape_cloth_piece(cloth, -1));
    assert_false(drape_cloth_limits_strain(NULL));
    assert_true(drape_cloth_energy(NULL, x) == 0 && drape_cloth_stretch(cloth, NULL) == 0);
    assert_false(drape_fabric_find(NULL, &material) || drape_fabric_find("denim", NULL));
    drape_assembler_destroy(assembler);
    drape_cloth_destroy(cloth);
    drape_context_destroy(ctx);
}

/* Zeros are the defaults; defaults can be written out. */
static void test_zeroed_settings(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_cloth *zeroed, *written;
    square s;
    square_init(&s);
    drape_cloth_settings defaults = drape_cloth_defaults();
    ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, &(drape_cloth_settings){0}, &zeroed));
    ASSERT_OK(ctx, drape_cloth_create(ctx, &s.piece, 1, &defaults, &written));
    assert_string_equal(zeroed->settings.model, written->settings.model);
    assert_string_equal(zeroed->settings.model, drape_model_name(0));
    assert_int_equal(zeroed->settings.jacobian, written->settings.jacobian);
    assert_int_equal(zeroed->settings.damping_jacobian, written->settings.damping_jacobian);
    drape_cloth_destroy(zeroed);
    drape_cloth_destroy(written);
    drape_context_destroy(ctx);
}

/* ---- what the table of models says of them ---- */

/* Those of a fabric that stiffens count only where all of them are given. */
static drape_material material_to_try(const drape_material_field *field) {
    drape_material m = drape_material_defaults();
    if (!strstr(field->name, "_stiff") && !strstr(field->name, "_knee")) return m;
    m.stretch_stiff[0] = m.stretch_stiff[1] = 9000, m.stretch_knee[0] = m.stretch_knee[1] = 0.02;
    m.shear_stiff = 300, m.shear_knee = 0.02;
    return m;
}

/* Fields of a material that change what a model does, by trying. */
static bool looks_at(drape_context *ctx, const char *model, const drape_material_field *field) {
    test_mesh m = test_mesh_grid(3, 3, 1, 1);
    double *x = dense_new(3 * (int64_t)m.vertices), *v = dense_new(3 * (int64_t)m.vertices);
    double *f[2] = {dense_new(3 * (int64_t)m.vertices), dense_new(3 * (int64_t)m.vertices)};
    test_random r = {4};
    for (int32_t i = 0; i < 3 * m.vertices; i++) {
        x[i] = m.rest[i] + test_random_between(&r, -0.1, 0.1);
        v[i] = test_random_between(&r, -1, 1);
    }
    for (int k = 0; k < 2; k++) {
        drape_cloth *cloth;
        drape_piece piece = test_mesh_piece(&m);
        drape_cloth_settings settings = {.model = model};
        piece.material = material_to_try(field);
        double *number = (double *)((char *)&piece.material + field->offset);
        if (k) *number += 0.01;
        ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, &settings, &cloth));
        test_assemble(ctx, cloth, NULL, &(drape_assembly){.x = x, .v = v, .force = f[k]}, NULL);
        if (drape_cloth_limits_strain(cloth)) f[k][0] += 1; /* it does not show in the forces */
        drape_cloth_destroy(cloth);
    }
    bool differ = memcmp(f[0], f[1], 3 * (size_t)m.vertices * sizeof(double)) != 0;
    free(x), free(v), free(f[0]), free(f[1]);
    test_mesh_clear(&m);
    return differ;
}

static void test_table_of_models(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_material defaults = drape_material_defaults();
    for (int32_t i = 0; drape_model_name(i); i++) {
        const drape_material_field *field;
        bool limit = false;
        assert_true(strlen(drape_model_about(i)) > 10 && !strchr(drape_model_about(i), '\n'));
        for (int32_t k = 0; (field = drape_model_material_field(i, k)); k++) {
            const double *number = (const double *)((const char *)&defaults + field->offset);
            assert_true(field->unit && strlen(field->about) > 0 && field->count >= 1);
            for (int32_t n = 0; n < field->count; n++) assert_true(number[n] == field->default_value);
            if (!looks_at(ctx, drape_model_name(i), field))
                fail_msg("%s says that it looks at %s", drape_model_name(i), field->name);
            limit |= strcmp(field->name, "strain_limit") == 0;
        }
        assert_int_equal(limit, drape_model_strain_limit(i));
        assert_null(drape_model_material_field(i, -1));
        assert_null(drape_model_material_field(i, 1000));
    }
    assert_null(drape_model_about(-1));
    assert_null(drape_model_material_field(-1, 0));
    assert_false(drape_model_linear_jacobian(1000) || drape_model_strain_limit(-1));
    drape_context_destroy(ctx);
}

/* ---- memory ---- */

static drape_status create_all(drape_context *ctx, const char *model, const test_mesh *m, drape_cloth **cloth,
                               drape_assembler **assembler, drape_matrix **A) {
    drape_piece piece[2] = {test_mesh_piece(m), test_mesh_piece(m)};
    drape_cloth_settings settings = drape_cloth_defaults();
    settings.model = model;
    *A = NULL, *assembler = NULL;
    drape_status status = drape_cloth_create(ctx, piece, 2, &settings, cloth);
    if (!status) status = drape_assembler_create(*cloth, NULL, assembler);
    return status ? status : drape_assembler_matrix(*assembler, A);
}

static void check_allocations(const char *model) {
    test_mesh m = test_mesh_grid(4, 3, 1, 1);
    int64_t n = 0;
    for (bool failed = true; failed; n++) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        int64_t before = drape_context_bytes(ctx);
        drape_cloth *cloth;
        drape_assembler *assembler;
        drape_matrix *A;
        memory.left = n;
        drape_status status = create_all(ctx, model, &m, &cloth, &assembler, &A);
        failed = memory.failed;
        memory.left = -1;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        if (failed) assert_true(strlen(drape_message(ctx)) > 0);
        drape_matrix_destroy(A);
        drape_assembler_destroy(assembler);
        drape_cloth_destroy(cloth);
        assert_int_equal(drape_context_bytes(ctx), before);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    print_message("%s: %d allocations\n", model, (int)n - 1);
    assert_true(n > 15);
    test_mesh_clear(&m);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    for (int32_t i = 0; drape_model_name(i); i++) check_allocations(drape_model_name(i));
}

/* Assembly allocates nothing, and a matrix outlives its cloth. */
static void check_assembly_allocates_nothing(const char *model) {
    test_mesh m = test_mesh_grid(4, 3, 1, 1);
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    drape_cloth *cloth;
    drape_assembler *assembler;
    drape_matrix *A;
    ASSERT_OK(ctx, create_all(ctx, model, &m, &cloth, &assembler, &A));
    double x[2 * 3 * 20], f[2 * 3 * 20];
    assert_int_equal(drape_cloth_vertices(cloth), 2 * m.vertices);
    for (int32_t i = 0; i < 6 * m.vertices; i++) x[i] = m.rest[i % (3 * m.vertices)];
    memory.left = 0;
    drape_assembly what = {.x = x, .v = x, .mass = 1, .damping = 1, .stiffness = 1, .force = f, .stiff_v = NULL};
    ASSERT_OK(ctx, drape_assembler_run(assembler, &what, A));
    drape_cloth_energy(cloth, x);
    drape_cloth_stretch(cloth, x);
    assert_false(memory.failed);
    drape_assembler_destroy(assembler);
    drape_cloth_destroy(cloth);
    drape_bsr3 view = drape_matrix_view(A);
    ASSERT_OK(ctx, drape_multiply(ctx, &view, x, f));
    drape_matrix_destroy(A);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
    test_mesh_clear(&m);
}

static void test_assembly_allocates_nothing(void **state) {
    (void)state;
    for (int32_t i = 0; drape_model_name(i); i++) check_assembly_allocates_nothing(drape_model_name(i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_square_itself_is_fine),
        cmocka_unit_test(test_counts_and_arrays),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_material_space),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_loose_vertices),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_table_of_models),
        cmocka_unit_test(test_zeroed_settings),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_assembly),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_assembly_allocates_nothing),
    };
    return cmocka_run_group_tests_name("cloth.errors", tests, NULL, NULL);
}
