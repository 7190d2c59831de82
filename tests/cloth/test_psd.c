/* The positive semidefinite Jacobians. Every element matrix is the full one with the negative eigenvalues clamped, in
 * the reduced coordinates that the kernels' heads name (K = J' H J, J of full row rank). Under sanitizers in a
 * quarter of the states. */
#include "cloth/crumpled.h"

enum { STATES = TEST_CASES(400), MOST = 12 };

/* ---- one element as a cloth of its own ---- */

typedef struct element {
    int32_t n; /* numbers in x: 9 or 12 */
    double full[MOST * MOST], psd[MOST * MOST];
} element;

static void assemble_one(drape_context *ctx, const drape_piece *piece, drape_jacobian jacobian, const double *x,
                         const double *v, double *K) {
    drape_cloth *cloth;
    drape_matrix *A;
    drape_cloth_settings settings = drape_cloth_defaults();
    settings.jacobian = jacobian;
    ASSERT_OK(ctx, drape_cloth_create(ctx, piece, 1, &settings, &cloth));
    test_assemble(ctx, cloth, &(drape_forces){0}, &(drape_assembly){.x = x, .v = v, .stiffness = 1}, &A);
    drape_bsr3 view = drape_matrix_view(A);
    dense_from_bsr3(&view, K);
    drape_matrix_destroy(A);
    drape_cloth_destroy(cloth);
}

static element assemble_both(drape_context *ctx, const drape_piece *piece, const double *x, const double *v) {
    element e = {.n = 3 * piece->vertices};
    assemble_one(ctx, piece, DRAPE_JACOBIAN_FULL, x, v, e.full);
    assemble_one(ctx, piece, DRAPE_JACOBIAN_PSD, x, v, e.psd);
    return e;
}

/* ---- clamping in reduced coordinates ---- */

/* H (m x m) with K = J' H J: H = P K P', P = (J J')^-1 J. */
static void reduce(int32_t m, int32_t n, const double *J, const double *K, double *H) {
    double JJ[MOST * MOST], Jt[MOST * MOST] = {0}, P[MOST * MOST], PK[MOST * MOST], Pt[MOST * MOST];
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) Jt[j * m + i] = J[i * n + j], P[i * n + j] = J[i * n + j];
    dense_multiply(m, n, m, J, Jt, JJ);
    assert_true(dense_solve(m, JJ, n, P));
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) Pt[j * m + i] = P[i * n + j];
    dense_multiply(m, n, n, P, K, PK);
    dense_multiply(m, n, m, PK, Pt, H);
}

static void clamp(int32_t m, double *H) {
    double values[MOST], V[MOST * MOST];
    dense_eigen(m, H, values, V);
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < m; j++) {
            H[i * m + j] = 0;
            for (int32_t k = 0; k < m; k++) H[i * m + j] += V[i * m + k] * fmax(values[k], 0) * V[j * m + k];
        }
}

static void expand(int32_t m, int32_t n, const double *J, const double *H, double *K) {
    double HJ[MOST * MOST];
    dense_multiply(m, m, n, H, J, HJ);
    dense_multiply_transposed(n, m, n, J, HJ, K);
}

static double largest_entry(int32_t count, const double *a) {
    double largest = 0;
    for (int32_t i = 0; i < count; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

/* |a - b| / |scale|, largest entries */
static double off_by(int32_t count, const double *a, const double *b, const double *scale) {
    double largest = 0;
    for (int32_t i = 0; i < count; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest / largest_entry(count, scale);
}

/* What is worst over all states. */
typedef struct worst {
    double reduced;  /* J' H J against the full matrix: J is right */
    double clamped;  /* J' clamp(H) J against psd */
    double least;    /* eigenvalue of psd and of psd - full, over the largest entry of full */
    int32_t changed; /* states in which something was clamped */
} worst;

static double least_eigenvalue(int32_t n, const double *A) {
    double values[MOST];
    dense_eigen(n, A, values, NULL);
    return values[0];
}

static void check_element(const element *e, int32_t m, const double *J, worst *w) {
    double H[MOST * MOST], K[MOST * MOST], gap[MOST * MOST];
    int32_t n = e->n, n2 = n * n;
    reduce(m, n, J, e->full, H);
    expand(m, n, J, H, K);
    w->reduced = fmax(w->reduced, off_by(n2, K, e->full, e->full));
    clamp(m, H);
    expand(m, n, J, H, K);
    w->clamped = fmax(w->clamped, off_by(n2, K, e->psd, e->full));
    for (int32_t i = 0; i < n2; i++) gap[i] = e->psd[i] - e->full[i];
    double scale = largest_entry(n2, e->full), least = least_eigenvalue(n, e->psd);
    w->least = fmin(w->least, fmin(least, least_eigenvalue(n, gap)) / scale);
    w->changed += largest_entry(n2, gap) > 1e-6 * scale;
}

/* indefinite: whether a good part of all states must have been clamped; else none may have been */
static void check_worst(const char *what, const worst *w, bool indefinite) {
    print_message("%s: reduced to %.1e, clamped to %.1e, least eigenvalue %.1e, %d of %d states clamped\n", what,
                  w->reduced, w->clamped, w->least, w->changed, STATES);
    ASSERT_NEAR(w->reduced, 0, 1e-10);
    ASSERT_NEAR(w->clamped, 0, 1e-10);
    assert_true(w->least > -1e-13);
    assert_true(indefinite ? w->changed > STATES / 10 : w->changed == 0);
}

/* ---- triangles ---- */

/* The 6 x 9 matrix of w_u = sum du_i x_i, w_v = sum dv_i x_i. */
static void triangle_map(const double uv[6], double J[6 * 9]) {
    double u1 = uv[2] - uv[0], v1 = uv[3] - uv[1], u2 = uv[4] - uv[0], v2 = uv[5] - uv[1];
    double det = u1 * v2 - u2 * v1, d[2][3];
    d[0][1] = v2 / det, d[0][2] = -v1 / det, d[0][0] = -(d[0][1] + d[0][2]);
    d[1][1] = -u2 / det, d[1][2] = u1 / det, d[1][0] = -(d[1][1] + d[1][2]);
    memset(J, 0, 6 * 9 * sizeof *J);
    for (int32_t w = 0; w < 2; w++)
        for (int32_t i = 0; i < 3; i++)
            for (int32_t k = 0; k < 3; k++) J[(3 * w + k) * 9 + 3 * i + k] = d[w][i];
}

/* A triangle of either winding with no angle near 0. */
static void random_uv(test_random *r, double uv[6]) {
    double area;
    do {
        for (int32_t i = 0; i < 6; i++) uv[i] = test_random_between(r, -0.5, 0.5);
        area = (uv[2] - uv[0]) * (uv[5] - uv[1]) - (uv[4] - uv[0]) * (uv[3] - uv[1]);
    } while (fabs(area) < 0.1);
}

/* x = F uv turned in space: stretched, compressed and sheared, every fourth one nearly at rest. */
static void random_triangle(test_random *r, int32_t state, const double uv[6], double x[9]) {
    const double origin[3] = {0, 0, 0};
    double R[9], flat[9] = {0}, size = state % 4 ? 1.5 : 1e-3;
    double F[4] = {1, 0, 0, 1};
    for (int32_t i = 0; i < 4; i++) F[i] += test_random_between(r, -size, size);
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 2; k++) flat[3 * i + k] = F[2 * k] * uv[2 * i] + F[2 * k + 1] * uv[2 * i + 1];
    test_random_rotation(r, R);
    test_move(3, flat, R, origin, x);
}

static void check_condition(const char *what, const drape_material *material, bool indefinite) {
    static const int32_t corners[3] = {0, 1, 2};
    drape_context *ctx = test_context(1);
    test_random r = {11};
    worst w = {0};
    for (int32_t state = 0; state < STATES; state++) {
        double uv[6], J[6 * 9], x[9], v[9], rest[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
        random_uv(&r, uv);
        triangle_map(uv, J);
        random_triangle(&r, state, uv, x);
        double speed = state % 3 ? 1 : 0;
        for (int32_t i = 0; i < 9; i++) v[i] = speed * test_random_between(&r, -1, 1);
        drape_piece piece = {.vertices = 3, .rest = rest, .triangles = 1, .triangle = corners, .uv = uv};
        piece.material = *material;
        element e = assemble_both(ctx, &piece, x, v);
        check_element(&e, 6, J, &w);
    }
    check_worst(what, &w, indefinite);
    drape_context_destroy(ctx);
}

static void test_stretch_is_clamped(void **state) {
    (void)state;
    check_condition("stretch u", &(drape_material){.density = 1, .stretch = {70, 0}, .damping_stretch = 0.2}, true);
    check_condition("stretch v", &(drape_material){.density = 1, .stretch = {0, 30}, .damping_stretch = 0.2}, true);
}

static void test_shear_is_clamped(void **state) {
    (void)state;
    check_condition("shear", &(drape_material){.density = 1, .shear = 20, .damping_shear = 0.3}, true);
}

/* What is added beyond small strains, alone: half the knee is passed by most states. */
static void test_stiffening_is_clamped(void **state) {
    (void)state;
    check_condition("stiffening stretch u",
                    &(drape_material){.density = 1, .stretch_stiff = {70, 0}, .stretch_knee = {0.2, 0}}, false);
    check_condition("stiffening stretch v",
                    &(drape_material){.density = 1, .stretch_stiff = {0, 30}, .stretch_knee = {0, 0.1}}, false);
    check_condition("stiffening shear", &(drape_material){.density = 1, .shear_stiff = 20, .shear_knee = 0.2}, true);
}

/* ---- hinges ---- */

/* Adds scale times the 3 x 3 identity at row block a, column block b of the 8 x 12 matrix. */
static void add_identity(double *J, int32_t row, int32_t corner, double scale) {
    for (int32_t k = 0; k < 3; k++) J[(row + k) * 12 + 3 * corner + k] += scale;
}

/* The rows of u = D_3/h_3 (node 3) or w = D_2/h_2 (node 2): the corner's displacement less its foot's. */
static void corner_rows(const double *x, const int32_t *h, int32_t node, int32_t row, double *J) {
    vec3 x0 = vec3_at(x + 3 * h[0]), a = vec3_sub(vec3_at(x + 3 * h[1]), x0);
    vec3 b = vec3_sub(vec3_at(x + 3 * h[node]), x0);
    double t = vec3_dot(a, b) / vec3_dot(a, a);
    double height = vec3_length(vec3_sub(b, vec3_scale(t, a)));
    add_identity(J, row, h[node], 1 / height);
    add_identity(J, row, h[0], -(1 - t) / height);
    add_identity(J, row, h[1], -t / height);
}

/* The rows of r: (displacement of x1 - x0)/L along two directions across the edge. */
static void edge_rows(const double *x, const int32_t *h, double *J) {
    vec3 a = vec3_sub(vec3_at(x + 3 * h[1]), vec3_at(x + 3 * h[0]));
    double length = vec3_length(a);
    vec3 axis = fabs(a.x) < 0.6 * length ? (vec3){1, 0, 0} : (vec3){0, 1, 0};
    vec3 p = vec3_cross(a, axis);
    p = vec3_scale(1 / vec3_length(p), p);
    vec3 q = vec3_scale(1 / length, vec3_cross(a, p));
    const double across[2][3] = {{p.x, p.y, p.z}, {q.x, q.y, q.z}};
    for (int32_t i = 0; i < 2; i++)
        for (int32_t k = 0; k < 3; k++) {
            J[(6 + i) * 12 + 3 * h[1] + k] += across[i][k] / length;
            J[(6 + i) * 12 + 3 * h[0] + k] -= across[i][k] / length;
        }
}

/* Two triangles on the edge 0 1, folded by theta, turned in space. */
static void random_hinge(test_random *r, double theta, double x[12]) {
    const double origin[3] = {1, 2, 3};
    double R[9], at[12] = {0}, h2 = test_random_between(r, 0.3, 1.5), h3 = test_random_between(r, 0.3, 1.5);
    at[3] = test_random_between(r, 0.5, 1.5);
    at[6] = test_random_between(r, -0.5, 1.5), at[7] = -h2;
    at[9] = test_random_between(r, -0.5, 1.5), at[10] = h3 * cos(theta), at[11] = h3 * sin(theta);
    test_random_rotation(r, R);
    test_move(4, at, R, origin, x);
}

static double random_angle(test_random *r, int32_t state) {
    double sign = test_random_below(r, 2) ? 1 : -1;
    switch (state % 4) {
    case 0: return sign * pow(10, test_random_between(r, -12, -1)); /* nearly flat */
    case 1: return sign * test_random_between(r, 2.6, 3.1);         /* nearly folded onto itself */
    default: return test_random_between(r, -2.6, 2.6);
    }
}

static void test_bending_is_clamped(void **state) {
    (void)state;
    static const int32_t corners[6] = {0, 1, 2, 1, 0, 3}, nodes[4] = {0, 1, 2, 3};
    drape_context *ctx = test_context(1);
    test_random r = {12};
    worst w = {0};
    for (int32_t s = 0; s < STATES; s++) {
        double rest[12], x[12], v[12], J[8 * 12] = {0};
        random_hinge(&r, s % 5 ? test_random_between(&r, -1, 1) : 0, rest);
        random_hinge(&r, random_angle(&r, s), x);
        for (int32_t i = 0; i < 12; i++) v[i] = s % 3 ? test_random_between(&r, -1, 1) : 0;
        corner_rows(x, nodes, 3, 0, J);
        corner_rows(x, nodes, 2, 3, J);
        edge_rows(x, nodes, J);
        drape_piece piece = {.vertices = 4, .rest = rest, .triangles = 2, .triangle = corners};
        piece.material = (drape_material){.density = 1, .bend = 2, .damping_bend = 0.5};
        element e = assemble_both(ctx, &piece, x, v);
        check_element(&e, 8, J, &w);
    }
    check_worst("bend", &w, true);
    drape_context_destroy(ctx);
}

/* ---- the matrix of a step ---- */

static double asymmetry(int32_t n, const double *A, bool within_blocks) {
    double largest = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++)
            if ((i / 3 == j / 3) == within_blocks) largest = fmax(largest, fabs(A[i * n + j] - A[j * n + i]));
    return largest / largest_entry(n * n, A);
}

/* Blocks of opposite corners are each other's transposes to the bit, diagonal blocks symmetric to rounding. */
static void test_a_is_symmetric_positive_definite(void **state) {
    (void)state;
    double diagonal = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_PSD);
        double *A = dense_new((int64_t)c.n * c.n);
        ASSERT_OK(c.ctx, drape_assembler_set_forces(c.forces, &(drape_forces){.wind = {9, 5, 7}, .drag = 3}));
        for (double h = 1e-3; h < 1.5; h *= sqrt(10)) {
            crumpled_matrix(&c, c.x, c.v, 1, h, h * h, A);
            assert_true(asymmetry(c.n, A, false) == 0);
            diagonal = fmax(diagonal, asymmetry(c.n, A, true));
            assert_true(dense_cholesky(c.n, A));
        }
        free(A);
        crumpled_destroy(&c);
    }
    print_message("diagonal blocks symmetric to %.1e of the largest entry\n", diagonal);
    ASSERT_NEAR(diagonal, 0, 1e-15);
}

/* That the states above are hard ones: the full Jacobian is not positive definite there. */
static void test_full_jacobian_is_indefinite_there(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_FULL);
        double *A = dense_new((int64_t)c.n * c.n);
        crumpled_matrix(&c, c.x, c.v, 1, 1, 1, A);
        assert_true(asymmetry(c.n, A, false) == 0);
        assert_false(dense_cholesky(c.n, A));
        free(A);
        crumpled_destroy(&c);
    }
}

/* ---- between the two ---- */

/* n x n: K and K v of the cloth at its wild state, with lagged positions or without; free both. */
static double *matrix_between(const crumpled *c, double exactness, bool lagged, double **stiff_v) {
    double *K = dense_new((int64_t)c->n * c->n);
    *stiff_v = dense_new(c->n);
    drape_assembly what = {.x = c->x, .v = c->v, .stiffness = 1, .stiff_v = *stiff_v, .exactness = exactness};
    what.lagged_x = lagged ? c->rest : NULL;
    ASSERT_OK(c->ctx, drape_assembler_run(c->forces, &what, c->A));
    drape_bsr3 view = drape_matrix_view(c->A);
    dense_from_bsr3(&view, K);
    return K;
}

/* The least eigenvalue of A - B, over the norm of B */
static double least_of_difference(int32_t n, const double *A, const double *B) {
    double *gap = dense_new((int64_t)n * n), *values = dense_new(n);
    for (int32_t i = 0; i < n * n; i++) gap[i] = A[i] - B[i];
    dense_eigen(n, gap, values, NULL);
    double least = values[0] / dense_norm((int64_t)n * n, B);
    free(gap), free(values);
    return least;
}

static void check_between(const crumpled *psd, const crumpled *full, double t, bool lagged) {
    const int32_t n = psd->n, n2 = n * n;
    double *v[3], *want = dense_new(n2), *product = dense_new(n);
    double *low = matrix_between(full, 0, lagged, &v[0]), *high = matrix_between(psd, 0, lagged, &v[1]);
    double *K = matrix_between(psd, t, lagged, &v[2]);
    for (int32_t i = 0; i < n2; i++) want[i] = (1 - t) * high[i] + t * low[i];
    dense_multiply(n, n, 1, K, psd->v, product);
    print_message("exactness %g%s: off by %.1e\n", t, lagged ? ", lagged" : "", dense_difference(n2, K, want));
    ASSERT_NEAR(dense_difference(n2, K, want), 0, 1e-13);
    ASSERT_NEAR(dense_difference(n, v[2], product), 0, 1e-13);
    assert_true(least_of_difference(n, K, low) > -1e-13 && least_of_difference(n, high, K) > -1e-13);
    assert_true(dense_difference(n2, high, low) > 0.01);
    free(want), free(product), free(low), free(high), free(K);
    for (int i = 0; i < 3; i++) free(v[i]);
}

static void test_exactness_mixes_both_jacobians(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        crumpled psd = crumpled_create(seed, 1, DRAPE_JACOBIAN_PSD);
        crumpled full = crumpled_create(seed, 1, DRAPE_JACOBIAN_FULL);
        for (int i = 0; i < 6; i++) check_between(&psd, &full, (double[]){0.25, 0.7, 1}[i / 2], i % 2);
        crumpled_destroy(&psd), crumpled_destroy(&full);
    }
}

static void check_ignored(drape_jacobian jacobian) {
    crumpled c = crumpled_create(3, 1, jacobian);
    for (int lagged = 0; lagged < 2; lagged++) {
        double *v[2], *a = matrix_between(&c, 0, lagged, &v[0]), *b = matrix_between(&c, 0.5, lagged, &v[1]);
        assert_memory_equal(a, b, (size_t)c.n * (size_t)c.n * sizeof *a);
        assert_memory_equal(v[0], v[1], (size_t)c.n * sizeof *v[0]);
        free(a), free(b), free(v[0]), free(v[1]);
    }
    crumpled_destroy(&c);
}

static void test_exactness_is_for_psd_alone(void **state) {
    (void)state;
    check_ignored(DRAPE_JACOBIAN_FULL);
    for (int32_t i = 0; drape_model_name(i); i++)
        if (strcmp(crumpled_model, drape_model_name(i)) == 0 && drape_model_linear_jacobian(i))
            check_ignored(DRAPE_JACOBIAN_LINEAR);
}

static void note_jacobian(void *user, const drape_force_point *at, drape_vertex_force *out) {
    (void)out;
    *(drape_jacobian *)user = at->jacobian;
}

/* A force of one's own is asked for the full Jacobian where nothing is to be left out. */
static void test_exactness_1_asks_own_forces_for_all(void **state) {
    (void)state;
    drape_jacobian asked = DRAPE_JACOBIAN_LINEAR;
    crumpled c = crumpled_create(3, 1, DRAPE_JACOBIAN_PSD);
    ASSERT_OK(c.ctx,
              drape_assembler_add(c.forces, &(drape_force){.name = "own", .user = &asked, .all = note_jacobian}));
    for (int i = 0; i < 3; i++) {
        drape_assembly what = {.x = c.x, .v = c.v, .stiffness = 1, .exactness = 0.5 * i};
        ASSERT_OK(c.ctx, drape_assembler_run(c.forces, &what, c.A));
        assert_int_equal(asked, i == 2 ? DRAPE_JACOBIAN_FULL : DRAPE_JACOBIAN_PSD);
    }
    crumpled_destroy(&c);
}

/* ---- no area, no length ---- */

static void check_below(const crumpled *c, const double *x, const double *v, double bound) {
    double *f = dense_new(c->n), *s = dense_new(c->n);
    drape_assembly what = {.x = x, .v = v, .mass = 1, .damping = 1, .stiffness = 1, .force = f, .stiff_v = s};
    ASSERT_OK(c->ctx, drape_assembler_run(c->forces, &what, c->A));
    drape_bsr3 A = drape_matrix_view(c->A);
    for (int32_t i = 0; i < c->n; i++) assert_true(fabs(f[i]) < bound && fabs(s[i]) < bound);
    for (int64_t i = 0; i < 9 * A.rowptr[A.rows]; i++) assert_true(fabs(A.val[i]) < bound);
    free(f), free(s);
}

/* Some 1e4 at rest and in crumpled states. In motion the tension of damping over |w_u| has no bound but is finite. */
static void check_sensible(const crumpled *c, const double *x) {
    double *still = dense_new(c->n);
    check_below(c, x, still, 1e6);
    check_below(c, x, c->v, INFINITY);
    assert_true(isfinite(drape_cloth_energy(c->cloth, x)));
    free(still);
}

/* Everything in one point, on one line, in one plane, folded flat onto itself. */
static void test_collapsed_states_give_sensible_numbers(void **state) {
    (void)state;
    crumpled c = crumpled_create(3, 1, DRAPE_JACOBIAN_PSD);
    ASSERT_OK(c.ctx, drape_assembler_set_forces(c.forces, &(drape_forces){.wind = {9, 5, 7}, .drag = 3}));
    double *x = dense_new(c.n);
    check_sensible(&c, x);
    for (int32_t i = 0; i < c.n; i += 3) x[i] = c.rest[i];
    check_sensible(&c, x);
    for (int32_t i = 0; i < c.n; i += 3) x[i + 1] = c.rest[i + 1];
    check_sensible(&c, x);
    for (int32_t i = 0; i < c.n; i += 3) x[i] = fabs(x[i] - 0.2);
    check_sensible(&c, x);
    free(x);
    crumpled_destroy(&c);
}

int main(void) {
    const struct CMUnitTest of_baraff_witkin[] = {
        cmocka_unit_test(test_stretch_is_clamped),
        cmocka_unit_test(test_shear_is_clamped),
        cmocka_unit_test(test_stiffening_is_clamped),
        cmocka_unit_test(test_bending_is_clamped),
    };
    const struct CMUnitTest of_all[] = {
        cmocka_unit_test(test_a_is_symmetric_positive_definite),
        cmocka_unit_test(test_full_jacobian_is_indefinite_there),
        cmocka_unit_test(test_exactness_mixes_both_jacobians),
        cmocka_unit_test(test_exactness_is_for_psd_alone),
        cmocka_unit_test(test_exactness_1_asks_own_forces_for_all),
        cmocka_unit_test(test_collapsed_states_give_sensible_numbers),
    };
    int of_one = cmocka_run_group_tests_name("cloth.psd", of_baraff_witkin, NULL, NULL);
    if (of_one) return of_one;
    CRUMPLED_RUN("cloth.psd", of_all);
}
