/* Models of springs: which springs there are, whether they have the material's moduli, arcs, the limit of strain. */
#include "cloth/arc.h"
#include "cloth/crumpled.h"

static const char *const models[] = {"provot", "choi_ko"};
enum { MODELS = 2, PROVOT = 0, CHOI_KO = 1 };

static drape_cloth *make(drape_context *ctx, const char *model, drape_jacobian jacobian, const test_mesh *m,
                         drape_material material) {
    drape_cloth *cloth;
    drape_piece piece = test_mesh_piece(m);
    drape_cloth_settings settings = drape_cloth_defaults();
    settings.model = model, settings.jacobian = jacobian;
    piece.material = material;
    if (!(piece.material.density > 0)) piece.material.density = 1;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, &settings, &cloth));
    return cloth;
}

static const drape_i_springs *springs_of(const drape_cloth *cloth) {
    return cloth->model->springs(cloth->model_state);
}

/* ---- which ---- */

/* Every second cell gets the other diagonal. */
static void alternate(test_mesh *m, int32_t nx) {
    for (int32_t t = 0; t < m->triangles; t += 2) {
        int32_t cell = t / 2, i = cell % nx, j = cell / nx, a = j * (nx + 1) + i;
        const int32_t other[6] = {a, a + 1, a + nx + 1, a + 1, a + nx + 2, a + nx + 1};
        if ((i + j) % 2) memcpy(m->triangle + 3 * t, other, sizeof other);
    }
}

static void count_kinds(const drape_i_springs *s, int32_t count[3]) {
    memset(count, 0, 3 * sizeof *count);
    for (int32_t i = 0; i < s->count; i++) {
        count[s->spring[i].kind]++;
        assert_int_equal(i >= s->in_plane, s->spring[i].kind == DRAPE_I_SPRING_BEND);
        assert_true(s->node[i][0] != s->node[i][1] && s->spring[i].length > 0);
    }
}

static void check_grid(int32_t nx, int32_t ny, bool alternating) {
    drape_context *ctx = test_context(1);
    test_mesh m = test_mesh_grid(nx, ny, 0.1 * nx, 0.13 * ny);
    if (alternating) alternate(&m, nx);
    drape_cloth *cloth = make(ctx, "provot", DRAPE_JACOBIAN_PSD, &m, drape_material_defaults());
    int32_t count[3];
    count_kinds(springs_of(cloth), count);
    assert_int_equal(count[DRAPE_I_SPRING_STRETCH], nx * (ny + 1) + ny * (nx + 1));
    assert_int_equal(count[DRAPE_I_SPRING_SHEAR], 2 * nx * ny);
    assert_int_equal(count[DRAPE_I_SPRING_BEND], (nx - 1) * (ny + 1) + (ny - 1) * (nx + 1));
    const drape_i_springs *s = springs_of(cloth);
    for (int32_t i = 0; i < s->count; i++)
        ASSERT_NEAR(crumpled_length(m.rest, s->node[i]), s->spring[i].length, 1e-14);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_a_grid_has_the_springs_of_provot(void **state) {
    (void)state;
    check_grid(1, 1, false);
    check_grid(2, 1, false);
    check_grid(7, 5, false);
    check_grid(7, 5, true);
}

/* Cells that are folded at rest: also the other diagonals and the bend springs are as long as there. */
static void test_a_curved_grid_is_at_rest(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_mesh m = test_mesh_grid(8, 6, 0.8, 0.6);
    for (int32_t i = 0; i < m.vertices; i++) m.rest[3 * i + 2] = 0.03 * sin(20 * m.rest[3 * i]);
    free(m.uv), m.uv = NULL;
    for (int32_t k = 0; k < MODELS; k++) {
        drape_cloth *cloth = make(ctx, models[k], DRAPE_JACOBIAN_PSD, &m, drape_material_defaults());
        int32_t count[3];
        count_kinds(springs_of(cloth), count);
        assert_true(count[DRAPE_I_SPRING_SHEAR] == 2 * 8 * 6 && count[DRAPE_I_SPRING_BEND] > 0);
        ASSERT_NEAR(drape_cloth_energy(cloth, m.rest), 0, 1e-20);
        drape_cloth_destroy(cloth);
    }
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* ---- moduli ---- */

typedef struct strain {
    double u, v, shear;
} strain;

/* Energy per area: |w_u| = 1 + u, |w_v| = 1 + v, w_u.w_v = shear. */
static double density_at(drape_cloth *cloth, const test_mesh *m, strain e, double area) {
    double *x = dense_new(3 * (int64_t)m->vertices), slant = e.shear / ((1 + e.u) * (1 + e.v));
    for (int32_t i = 0; i < m->vertices; i++) {
        double u = m->uv[2 * i], v = m->uv[2 * i + 1];
        x[3 * i] = (1 + e.u) * u + (1 + e.v) * slant * v;
        x[3 * i + 1] = (1 + e.v) * sqrt(1 - slant * slant) * v;
    }
    double energy = drape_cloth_energy(cloth, x);
    free(x);
    return energy / area;
}

/* Of a strip that is stretched by `small` along u (or v) and may narrow: twice the least energy over small^2. */
static double strip_modulus(drape_cloth *cloth, const test_mesh *m, bool weft, double area) {
    const double small = 1e-5;
    double low = -10 * small, high = 0;
    for (int32_t i = 0; i < 100; i++) { /* the energy is convex in how much it narrows: thirds */
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        strain ea = weft ? (strain){a, small, 0} : (strain){small, a, 0};
        strain eb = weft ? (strain){b, small, 0} : (strain){small, b, 0};
        if (density_at(cloth, m, ea, area) < density_at(cloth, m, eb, area)) high = b;
        else low = a;
    }
    strain best = weft ? (strain){low, small, 0} : (strain){small, low, 0};
    return 2 * density_at(cloth, m, best, area) / (small * small);
}

static void check_moduli(const char *model, test_mesh m, double area, double part, double shear_part) {
    drape_context *ctx = test_context(1);
    const drape_material material = {.stretch = {70, 40}, .shear = 3};
    const double small = 1e-5;
    drape_cloth *cloth = make(ctx, model, DRAPE_JACOBIAN_PSD, &m, material);
    double warp = strip_modulus(cloth, &m, false, area), weft = strip_modulus(cloth, &m, true, area);
    double shear = 2 * density_at(cloth, &m, (strain){0, 0, small}, area) / (small * small);
    print_message("%s, %d triangles: warp %.5g of 70, weft %.5g of 40, shear %.5g of 3\n", model, m.triangles, warp,
                  weft, shear);
    ASSERT_NEAR(warp / 70, 1, part);
    ASSERT_NEAR(weft / 40, 1, part);
    ASSERT_NEAR(shear / 3, 1, shear_part);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_a_grid_has_the_moduli_of_its_material(void **state) {
    (void)state;
    for (int32_t i = 0; i < MODELS; i++) {
        check_moduli(models[i], test_mesh_grid(1, 1, 0.3, 0.3), 0.09, 1e-3, 1e-3);
        check_moduli(models[i], test_mesh_grid(6, 4, 0.6, 0.4), 0.24, 1e-3, 1e-3);
        check_moduli(models[i], test_mesh_grid(9, 5, 0.9, 0.9), 0.81, 1e-3, 1e-3); /* cells of 5 to 9 */
        test_mesh alternating = test_mesh_grid(8, 8, 0.8, 0.8);
        alternate(&alternating, 8);
        check_moduli(models[i], alternating, 0.64, 1e-3, 1e-3);
    }
}

/* Stretch within a quarter; shear is too stiff, as docs/models.md says. */
static void test_an_irregular_mesh_nearly_has_them(void **state) {
    (void)state;
    test_random r = {3};
    test_mesh m = test_mesh_irregular(30, 30, 1, 1, &r);
    test_mesh_turn_uv(&m, 0.5);
    check_moduli("provot", m, 1, 0.25, 5);
}

static void test_given_constants_are_taken_as_they_are(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_mesh m = test_mesh_grid(5, 4, 1, 1);
    drape_material material = {.stretch = {70, 40}, .shear = 3, .bend = 1};
    material.spring_stretch = 130, material.spring_shear = 120, material.spring_bend = 2e-5;
    for (int32_t k = 0; k < MODELS; k++) {
        drape_cloth *cloth = make(ctx, models[k], DRAPE_JACOBIAN_PSD, &m, material);
        const drape_i_spring_model *s = cloth->model_state;
        for (int32_t i = 0; i < s->springs.in_plane; i++)
            assert_true(s->straight.records[SPRING_SIZE * i + SPRING_STIFFNESS] ==
                        (s->springs.spring[i].kind == DRAPE_I_SPRING_SHEAR ? 120 : 130));
        for (int32_t i = 0; i < s->arc_count; i++) assert_true(s->arcs.records[ARC_SIZE * i + ARC_RIGIDITY] == 2e-5);
        assert_int_equal(s->arc_count > 0, k == CHOI_KO);
        drape_cloth_destroy(cloth);
    }
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* ---- compression and bending ---- */

static void test_threads_do_not_push(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_mesh m = test_mesh_grid(5, 4, 1, 1);
    int32_t n = 3 * m.vertices;
    double *x = dense_new(n), *v = dense_new(n), *f = dense_new(n);
    for (int32_t i = 0; i < n; i++) x[i] = 0.9 * m.rest[i];
    for (int32_t k = 0; k < MODELS; k++) {
        drape_cloth *cloth =
            make(ctx, models[k], DRAPE_JACOBIAN_PSD, &m, (drape_material){.stretch = {70, 40}, .shear = 3});
        test_assemble(ctx, cloth, &(drape_forces){0}, &(drape_assembly){.x = x, .v = v, .force = f}, NULL);
        if (k == CHOI_KO) assert_true(dense_norm(n, f) == 0 && drape_cloth_energy(cloth, x) == 0);
        else assert_true(dense_norm(n, f) > 1 && drape_cloth_energy(cloth, x) > 0.1);
        drape_cloth_destroy(cloth);
    }
    free(x), free(v), free(f);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* Against long double sines; the closed forms cancel for small angles, where the series ends. */
static void test_arcs_are_circular(void **state) {
    (void)state;
    double worst[3] = {0};
    for (int32_t i = 1; i <= 20000; i++) {
        long double t = 0.1L + (3.14159265358979323846L - 0.1L) * i / 20000, q = t * t;
        long double sinc = sinl(t) / t, p = (sinc - cosl(t)) / (2 * q), r = (3 * p - sinc / 2) / (2 * q);
        arc a = arc_over(vd_set1((double)(1 - sinc)));
        worst[0] = fmax(worst[0], fabs(a.q[0] / (double)q - 1));
        worst[1] = fmax(worst[1], fabs(a.first[0] * (double)p - 1));
        worst[2] = fmax(worst[2], fabs(a.second[0] * (double)(p * p * p / r) - 1));
    }
    print_message("q to %.1e, its derivatives to %.1e and %.1e\n", worst[0], worst[1], worst[2]);
    for (int32_t i = 0; i < 3; i++) ASSERT_NEAR(worst[i], 0, i < 2 ? 1e-14 : 1e-12);
    for (double u = 1e-3; u > 1e-300; u /= 10)
        ASSERT_NEAR(arc_over(vd_set1(u)).q[0] / (6 * u) - 1, 0.3 * u, 0.3 * u * u + 1e-15);
    arc flat = arc_over(vd_set1(0));
    assert_true(flat.q[0] == 0);
    ASSERT_NEAR(flat.first[0], 6, 1e-15);
    ASSERT_NEAR(flat.second[0], 3.6, 1e-15);
}

/* Bent to a prism without stretching: B/2 kappa^2 for the area of the columns with a neighbour on each side. */
static void check_bent(double angle, double part) {
    enum { N = 20 };
    drape_context *ctx = test_context(1);
    const double B = 0.03, a = 0.1, kappa = angle / a, radius = a / (2 * sin(angle / 2));
    test_mesh m = test_mesh_grid(N, 4, N * a, 4 * a);
    drape_cloth *cloth =
        make(ctx, "choi_ko", DRAPE_JACOBIAN_PSD, &m, (drape_material){.stretch = {1e5, 1e5}, .shear = 10, .bend = B});
    double *x = dense_new(3 * (int64_t)m.vertices);
    for (int32_t i = 0; i < m.vertices; i++) {
        double turn = kappa * m.rest[3 * i];
        x[3 * i] = radius * sin(turn), x[3 * i + 1] = m.rest[3 * i + 1], x[3 * i + 2] = radius * (1 - cos(turn));
    }
    double want = B / 2 * kappa * kappa * (N - 1) * 4 * a * a, got = drape_cloth_energy(cloth, x);
    print_message("an angle of %g rad a cell: %.5f of B\n", angle, got / want);
    ASSERT_NEAR(got / want, 1, part);
    free(x);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_a_bent_strip_has_its_rigidity(void **state) {
    (void)state;
    check_bent(0.3, 0.01);
    check_bent(0.8, 0.02);
    check_bent(-1.5, 0.05);
}

/* A fold of 1 rad along the middle: the angle at which a flexion spring has the energy of the rigidity B. */
static void test_provot_folds_as_it_says(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double B = 0.03, a = 0.1;
    test_mesh m = test_mesh_grid(2, 6, 2 * a, 6 * a);
    drape_cloth *cloth = make(ctx, "provot", DRAPE_JACOBIAN_PSD, &m, (drape_material){.bend = B});
    double *x = dense_new(3 * (int64_t)m.vertices);
    for (int32_t i = 0; i < m.vertices; i++) {
        double u = m.rest[3 * i] - a;
        x[3 * i] = u * cos(0.5), x[3 * i + 1] = m.rest[3 * i + 1], x[3 * i + 2] = fabs(u) * sin(0.5);
    }
    ASSERT_NEAR(drape_cloth_energy(cloth, x) / (B / 2 / (a * a) * 6 * a * a), 1, 1e-10);
    free(x);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* ---- Jacobians ---- */

static void stiffness_at(drape_context *ctx, drape_cloth *cloth, const double *x, double *K) {
    drape_matrix *A;
    double *v = dense_new(3 * (int64_t)drape_cloth_vertices(cloth));
    test_assemble(ctx, cloth, &(drape_forces){0}, &(drape_assembly){.x = x, .v = v, .stiffness = 1}, &A);
    drape_bsr3 view = drape_matrix_view(A);
    dense_from_bsr3(&view, K);
    drape_matrix_destroy(A);
    free(v);
}

static void jacobian_of(const char *model, drape_jacobian jacobian, const test_mesh *m, const double *x, double *K) {
    drape_context *ctx = test_context(1);
    drape_material material = {.stretch = {70, 40}, .shear = 30, .bend = 0.1};
    drape_cloth *cloth = make(ctx, model, jacobian, m, material);
    stiffness_at(ctx, cloth, x, K);
    drape_cloth_destroy(cloth);
    drape_context_destroy(ctx);
}

/* Where all springs pull nothing is left out; else what is left out is negative, and what stays is not. */
static void check_clamping(const char *model, double scale) {
    test_random r = {17};
    test_mesh m = test_mesh_grid(3, 2, 0.3, 0.2);
    int32_t n = 3 * m.vertices;
    int64_t n2 = (int64_t)n * n;
    double *x = dense_new(n), *psd = dense_new(n2), *full = dense_new(n2), *values = dense_new(n);
    for (int32_t i = 0; i < n; i++) x[i] = scale * m.rest[i] + test_random_between(&r, -1e-3, 1e-3);
    jacobian_of(model, DRAPE_JACOBIAN_PSD, &m, x, psd);
    jacobian_of(model, DRAPE_JACOBIAN_FULL, &m, x, full);
    double off = dense_difference(n2, psd, full);
    if (scale > 1) ASSERT_NEAR(off, 0, 1e-15);
    else assert_true(off > 1e-3);
    dense_eigen(n, psd, values, NULL);
    double largest = values[n - 1];
    assert_true(values[0] > -1e-13 * largest);
    for (int64_t i = 0; i < n2; i++) psd[i] -= full[i];
    dense_eigen(n, psd, values, NULL);
    assert_true(values[0] > -1e-13 * largest);
    free(x), free(psd), free(full), free(values);
    test_mesh_clear(&m);
}

static void test_psd_leaves_out_what_pushes(void **state) {
    (void)state;
    for (int32_t i = 0; i < MODELS; i++) {
        check_clamping(models[i], 1.2);
        check_clamping(models[i], 0.8);
    }
}

/* A graph Laplacian times the identity, the same in every state. */
static void test_linear_jacobian(void **state) {
    (void)state;
    for (int32_t k = 0; k < MODELS; k++) {
        test_mesh m = test_mesh_grid(3, 2, 0.3, 0.2);
        int32_t n = 3 * m.vertices;
        int64_t n2 = (int64_t)n * n;
        double *x = dense_new(n), *K = dense_new(n2), *other = dense_new(n2);
        jacobian_of(models[k], DRAPE_JACOBIAN_LINEAR, &m, m.rest, K);
        for (int32_t i = 0; i < n; i++) x[i] = m.rest[i] * (i % 3 + 0.5);
        jacobian_of(models[k], DRAPE_JACOBIAN_LINEAR, &m, x, other);
        assert_memory_equal(K, other, (size_t)n2 * sizeof *K);
        for (int32_t i = 0; i < n; i++) {
            double sum = 0;
            for (int32_t j = 0; j < n; j++) {
                sum += K[i * n + j];
                if (i % 3 != j % 3) assert_true(K[i * n + j] == 0);
                else assert_true(K[i * n + j] == K[(i / 3 * 3) * n + j / 3 * 3]);
                if (i / 3 != j / 3) assert_true(K[i * n + j] <= 0);
            }
            ASSERT_NEAR(sum, 0, 1e-12 * K[i * n + i]);
            assert_true(K[i * n + i] > 0);
        }
        free(x), free(K), free(other);
        test_mesh_clear(&m);
    }
}

/* ---- the limit of strain ---- */

typedef struct limited {
    drape_context *ctx;
    test_mesh mesh;
    drape_cloth *cloth;
    int32_t n;
    double *x, *v, *weight; /* a state, and inverse masses */
} limited;

static limited limited_create(const char *model, double limit) {
    test_random r = {5};
    limited s = {.ctx = test_context(1), .mesh = test_mesh_grid(10, 10, 1, 1)};
    s.cloth = make(s.ctx, model, DRAPE_JACOBIAN_PSD, &s.mesh,
                   (drape_material){.stretch = {70, 40}, .shear = 30, .strain_limit = limit});
    s.n = 3 * s.mesh.vertices;
    s.x = dense_new(s.n), s.v = dense_new(s.n), s.weight = dense_new(s.n / 3);
    for (int32_t i = 0; i < s.n; i++) {
        s.x[i] = s.mesh.rest[i] + test_random_between(&r, -0.02, 0.02);
        s.v[i] = test_random_between(&r, -1, 1);
    }
    for (int32_t i = 0; i < s.n / 3; i++) s.weight[i] = 1 / drape_cloth_mass(s.cloth)[i];
    return s;
}

static void limited_destroy(limited *s) {
    free(s->x), free(s->v), free(s->weight);
    drape_cloth_destroy(s->cloth);
    test_mesh_clear(&s->mesh);
    drape_context_destroy(s->ctx);
}

static double longest(const limited *s) {
    const drape_i_springs *p = springs_of(s->cloth);
    double most = 0;
    for (int32_t i = 0; i < p->in_plane; i++)
        most = fmax(most, crumpled_length(s->x, p->node[i]) / p->spring[i].length);
    return most;
}

/* sum m a, one component */
static double moment(const limited *s, const double *a, int32_t k) {
    double sum = 0;
    for (int32_t i = 0; i < s->n / 3; i++) sum += drape_cloth_mass(s->cloth)[i] * a[3 * i + k];
    return sum;
}

static void check_limit(const char *model) {
    limited s = limited_create(model, 0.1);
    double before = longest(&s), momentum[3], centre[3];
    for (int32_t k = 0; k < 3; k++) momentum[k] = moment(&s, s.v, k), centre[k] = moment(&s, s.x, k);
    assert_true(before > 1.2);
    ASSERT_OK(s.ctx, drape_cloth_limit_strain(s.cloth, NULL, 0.01, s.x, s.v));
    print_message("%s: longest %.4f, then %.6f\n", model, before, longest(&s));
    ASSERT_NEAR(longest(&s), 1.1, 2e-3);
    for (int32_t k = 0; k < 3; k++) {
        ASSERT_NEAR(moment(&s, s.v, k), momentum[k], 1e-12);
        ASSERT_NEAR(moment(&s, s.x, k), centre[k], 1e-14);
    }
    limited_destroy(&s);
}

static void test_limit_of_strain(void **state) {
    (void)state;
    for (int32_t i = 0; i < MODELS; i++) check_limit(models[i]);
}

static void test_limit_of_strain_leaves_held_vertices(void **state) {
    (void)state;
    limited s = limited_create("provot", 0.1);
    double *x = dense_new(s.n), *v = dense_new(s.n), h = 0.01;
    for (int32_t i = 0; i < s.n / 3; i += 20) s.weight[i] = 0;
    memcpy(x, s.x, (size_t)s.n * sizeof *x), memcpy(v, s.v, (size_t)s.n * sizeof *v);
    ASSERT_OK(s.ctx, drape_cloth_limit_strain(s.cloth, s.weight, h, s.x, s.v));
    ASSERT_NEAR(longest(&s), 1.1, 2e-3);
    for (int32_t i = 0; i < s.n; i++) {
        if (i / 3 % 20 == 0) assert_true(s.x[i] == x[i] && s.v[i] == v[i]);
        ASSERT_NEAR(s.v[i] - v[i], (s.x[i] - x[i]) / h, 1e-11);
    }
    free(x), free(v);
    limited_destroy(&s);
}

static void test_without_a_limit_nothing_moves(void **state) {
    (void)state;
    limited s = limited_create("provot", 0);
    double *x = dense_new(s.n);
    memcpy(x, s.x, (size_t)s.n * sizeof *x);
    assert_false(drape_cloth_limits_strain(s.cloth));
    ASSERT_OK(s.ctx, drape_cloth_limit_strain(s.cloth, NULL, 0.01, s.x, s.v));
    assert_memory_equal(x, s.x, (size_t)s.n * sizeof *x);
    assert_int_equal(drape_cloth_limit_strain(s.cloth, NULL, 0, s.x, s.v), DRAPE_ERROR_ARGUMENT);
    free(x);
    limited_destroy(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_grid_has_the_springs_of_provot),
        cmocka_unit_test(test_a_curved_grid_is_at_rest),
        cmocka_unit_test(test_a_grid_has_the_moduli_of_its_material),
        cmocka_unit_test(test_an_irregular_mesh_nearly_has_them),
        cmocka_unit_test(test_given_constants_are_taken_as_they_are),
        cmocka_unit_test(test_threads_do_not_push),
        cmocka_unit_test(test_arcs_are_circular),
        cmocka_unit_test(test_a_bent_strip_has_its_rigidity),
        cmocka_unit_test(test_provot_folds_as_it_says),
        cmocka_unit_test(test_psd_leaves_out_what_pushes),
        cmocka_unit_test(test_linear_jacobian),
        cmocka_unit_test(test_limit_of_strain),
        cmocka_unit_test(test_limit_of_strain_leaves_held_vertices),
        cmocka_unit_test(test_without_a_limit_nothing_moves),
    };
    return cmocka_run_group_tests_name("cloth.springs", tests, NULL, NULL);
}
