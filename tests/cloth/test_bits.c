/* Results have the same bits with any number of threads and any vector instructions. */
#include "support/dense.h"
#include "support/meshes.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS = 40 };

/* A crumpled 40 x 40 cloth: the mesh and a state. */
typedef struct scene {
    test_mesh mesh;
    double *x, *v;
    double *lagged; /* positions for damping and wind; NULL: x */
    double exactness;
} scene;

static scene scene_create(void) {
    test_random r = {1};
    const double edge = 1.0 / CELLS;
    scene s = {.mesh = test_mesh_irregular(CELLS, CELLS, 1, 1, &r)};
    int32_t n = 3 * s.mesh.vertices;
    s.x = dense_new(n), s.v = dense_new(n);
    for (int32_t i = 0; i < n; i++) {
        s.x[i] = s.mesh.rest[i] + test_random_between(&r, -0.3 * edge, 0.3 * edge);
        s.v[i] = test_random_between(&r, -1, 1);
    }
    return s;
}

static void scene_destroy(scene *s) {
    free(s->x), free(s->v), free(s->lagged);
    test_mesh_clear(&s->mesh);
}

typedef struct answer {
    double measures[5]; /* energy, stretch, power of the model's damping, of air_drag, of wind */
    int64_t n, values;
    double *f, *stiff_v, *A;
} answer;

static void answer_clear(answer *a) { free(a->f), free(a->stiff_v), free(a->A); }

static void answer_allocate(answer *a, const drape_bsr3 *A) {
    a->n = 3 * (int64_t)A->rows, a->values = 9 * A->rowptr[A->rows];
    a->f = dense_new(a->n), a->stiff_v = dense_new(a->n), a->A = dense_new(a->values);
}

static answer evaluate(drape_context *ctx, const scene *s, drape_cloth_settings settings) {
    drape_cloth *cloth;
    drape_assembler *assembler;
    drape_matrix *A;
    answer a;
    drape_piece piece = test_mesh_piece(&s->mesh);
    drape_forces forces = {.gravity = {0, 0, -9.81}, .wind = {3, 4, 5}, .drag = 1.2, .air_drag = 0.3};
    ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, &settings, &cloth));
    ASSERT_OK(ctx, drape_assembler_create(cloth, &forces, &assembler));
    ASSERT_OK(ctx, drape_assembler_matrix(assembler, &A));
    drape_bsr3 view = drape_matrix_view(A);
    answer_allocate(&a, &view);
    drape_assembly what = {.x = s->x, .v = s->v, .mass = 1, .damping = 0.02, .stiffness = 4e-4};
    what.force = a.f, what.stiff_v = a.stiff_v, what.lagged_x = s->lagged, what.exactness = s->exactness;
    ASSERT_OK(ctx, drape_assembler_run(assembler, &what, A));
    memcpy(a.A, view.val, (size_t)a.values * sizeof *a.A);
    a.measures[0] = drape_cloth_energy(cloth, s->x);
    a.measures[1] = drape_cloth_stretch(cloth, s->x);
    const int32_t lossy[3] = {0, 2, 4};
    for (int i = 0; i < 3; i++)
        ASSERT_OK(ctx,
                  drape_assembler_dissipation(assembler, lossy[i], 0, s->x, s->v, s->lagged, &a.measures[2 + i]));
    drape_matrix_destroy(A);
    drape_assembler_destroy(assembler);
    drape_cloth_destroy(cloth);
    return a;
}

static void assert_same_bits(const answer *a, const answer *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->values, b->values);
    assert_memory_equal(a->measures, b->measures, sizeof a->measures);
    assert_memory_equal(a->f, b->f, (size_t)a->n * sizeof *a->f);
    assert_memory_equal(a->stiff_v, b->stiff_v, (size_t)a->n * sizeof *a->f);
    assert_memory_equal(a->A, b->A, (size_t)a->values * sizeof *a->A);
}

/* NULL: the processor has no such instructions. */
static drape_context *make_context(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    settings.simd = simd;
    drape_status status = drape_context_create(&settings, &ctx);
    if (status != DRAPE_OK) assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    return ctx;
}

static void check_level(const scene *s, drape_cloth_settings settings, const answer *want, drape_simd simd) {
    static const int32_t threads[] = {1, 2, 3, 7};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        drape_context *ctx = make_context(threads[i], simd);
        if (!ctx) {
            print_message("no %s on this processor: skipped\n", drape_simd_name(simd));
            return;
        }
        answer got = evaluate(ctx, s, settings);
        assert_same_bits(&got, want);
        answer_clear(&got);
        drape_context_destroy(ctx);
    }
}

static const char *model; /* of all cloths here */

static void check_scene(scene s, drape_jacobian jacobian, drape_damping_jacobian damping) {
    drape_cloth_settings settings = {.model = model, .jacobian = jacobian, .damping_jacobian = damping};
    drape_context *ctx = make_context(1, DRAPE_SIMD_BASELINE);
    assert_non_null(ctx);
    answer want = evaluate(ctx, &s, settings);
    assert_true(want.measures[0] > 0 && want.measures[1] > 1);
    for (int level = DRAPE_SIMD_BEST; level <= DRAPE_SIMD_AVX512; level++)
        check_level(&s, settings, &want, (drape_simd)level);
    answer_clear(&want);
    drape_context_destroy(ctx);
    scene_destroy(&s);
}

static void check_jacobian(drape_jacobian jacobian, drape_damping_jacobian damping) {
    check_scene(scene_create(), jacobian, damping);
}

static void test_psd_jacobian(void **state) {
    (void)state;
    check_jacobian(DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
}

static void test_full_jacobian(void **state) {
    (void)state;
    check_jacobian(DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
}

static void test_full_damping(void **state) {
    (void)state;
    check_jacobian(DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_FULL);
    check_jacobian(DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_FULL);
}

static void test_lagged(void **state) {
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        scene s = scene_create();
        s.exactness = psd ? 0.4 : 0;
        s.lagged = dense_new(3 * s.mesh.vertices);
        for (int32_t i = 0; i < 3 * s.mesh.vertices; i++) s.lagged[i] = s.x[i] + 0.002 * s.v[i];
        check_scene(s, psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
    }
}

/* The whole damping is of no account there: nothing but identities is left. */
static void test_linear_jacobian(void **state) {
    (void)state;
    for (int32_t i = 0; drape_model_name(i); i++)
        if (strcmp(model, drape_model_name(i)) == 0 && !drape_model_linear_jacobian(i)) skip();
    check_jacobian(DRAPE_JACOBIAN_LINEAR, DRAPE_DAMPING_SYMMETRIC);
    check_jacobian(DRAPE_JACOBIAN_LINEAR, DRAPE_DAMPING_FULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_psd_jacobian),    cmocka_unit_test(test_full_jacobian),
        cmocka_unit_test(test_full_damping),    cmocka_unit_test(test_lagged),
        cmocka_unit_test(test_linear_jacobian),
    };
    int failed = 0;
    for (int32_t i = 0; drape_model_name(i); i++) {
        model = drape_model_name(i);
        print_message("model %s\n", model);
        failed += cmocka_run_group_tests_name("cloth.bits", tests, NULL, NULL);
    }
    return failed;
}
