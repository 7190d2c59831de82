/* Constraints from several sources. The merged directions span those of the sources, z is the least-squares solution,
 * and the order does not matter. Contradictions are reported with their size, and a single source passes unchanged.
 */
#include "drape/solve.h"
#include "sparse/counting_allocator.h"
#include "support/dense.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { VERTICES = 12, MOST = 6 };

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void random_vector(test_random *r, double size, double v[3]) {
    do
        for (int k = 0; k < 3; k++) v[k] = test_random_between(r, -size, size);
    while (!(dot(v, v) > 0.01 * size * size));
}

static drape_constraint_builder *new_builder(drape_context *ctx) {
    drape_constraint_builder *b;
    ASSERT_OK(ctx, drape_constraint_builder_create(ctx, VERTICES, &b));
    ASSERT_OK(ctx, drape_constraint_builder_begin(b, 0));
    return b;
}

/* The one merged constraint of a list of sources on vertex 5, as S and z. */
static void merge(drape_context *ctx, const drape_constraint *list, int32_t count, double S[9], double z[3],
                  drape_contradiction *contradiction) {
    drape_constraint_builder *b = new_builder(ctx);
    drape_constraints *set;
    double all_S[9 * VERTICES], all_z[3 * VERTICES];
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &set));
    for (int32_t i = 0; i < count; i++) ASSERT_OK(ctx, drape_constraint_builder_add(b, 10 + i, &list[i]));
    ASSERT_OK(ctx, drape_constraint_builder_finish(b, set));
    drape_constraints_filter(set, all_S, all_z);
    memcpy(S, all_S + 9 * 5, 9 * sizeof *S);
    memcpy(z, all_z + 3 * 5, 3 * sizeof *z);
    *contradiction = (drape_contradiction){.vertex = -1, .source = -1, .other_source = -1};
    assert_true(drape_constraint_builder_contradictions(b) <= 1);
    if (drape_constraint_builder_contradictions(b))
        ASSERT_OK(ctx, drape_constraint_builder_contradiction(b, 0, contradiction));
    drape_constraints_destroy(set);
    drape_constraint_builder_destroy(b);
}

static void random_basis(test_random *r, double basis[3][3]) {
    double length, along;
    random_vector(r, 1, basis[0]);
    do {
        random_vector(r, 1, basis[1]);
        along = dot(basis[0], basis[1]) / dot(basis[0], basis[0]);
        for (int k = 0; k < 3; k++) basis[1][k] -= along * basis[0][k];
    } while (!(dot(basis[1], basis[1]) > 0.01));
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        basis[2][k] = basis[0][i] * basis[1][j] - basis[0][j] * basis[1][i];
    }
    for (int n = 0; n < 3; n++) {
        length = sqrt(dot(basis[n], basis[n]));
        for (int k = 0; k < 3; k++) basis[n][k] /= length;
    }
}

/* Directions in a random subspace of the given dimension, each of any length; in the last of its axes all of them are
 * flattened. */
static int32_t random_sources(test_random *r, int32_t rank, double flatness, drape_constraint *list) {
    double basis[3][3];
    int32_t count = 2 + test_random_below(r, MOST - 1);
    random_basis(r, basis);
    for (int32_t i = 0; i < count; i++) {
        list[i] = (drape_constraint){.vertex = 5, .directions = 1};
        for (int k = 0; k < rank; k++) {
            double share = i == k ? 1 : test_random_between(r, -1, 1);
            if (k == rank - 1 && rank > 1) share *= flatness;
            for (int c = 0; c < 3; c++) list[i].direction[0][c] += share * basis[k][c];
        }
        double length = test_random_between(r, 0.1, 10);
        for (int c = 0; c < 3; c++) list[i].direction[0][c] *= length;
        random_vector(r, 2, list[i].z);
    }
    return count < rank ? 0 : count;
}

static void normalised(const drape_constraint *c, double d[3]) {
    double length = sqrt(dot(c->direction[0], c->direction[0]));
    for (int k = 0; k < 3; k++) d[k] = c->direction[0][k] / length;
}

/* S = I - the projection on the eigenvectors of sum d d' that belong to nonzero eigenvalues, found by other code. */
static void reference_filter(const drape_constraint *list, int32_t count, int32_t rank, double S[9]) {
    double N[9] = {0}, values[3], vectors[9], d[3];
    for (int32_t i = 0; i < count; i++) {
        normalised(&list[i], d);
        for (int k = 0; k < 9; k++) N[k] += d[k / 3] * d[k % 3];
    }
    dense_eigen(3, N, values, vectors);
    for (int k = 0; k < 9; k++) {
        S[k] = 0;
        for (int j = 0; j < 3 - rank; j++) S[k] += vectors[3 * (k / 3) + j] * vectors[3 * (k % 3) + j];
    }
}

/* Any right-hand sides: z lies in the span and leaves a residual that is normal to it. */
static void merged_is_the_least_squares_answer(void **state) {
    test_random r = {17};
    int32_t contradictions = 0;
    for (int32_t trial = 0; trial < 3000; trial++) {
        drape_constraint list[MOST];
        drape_contradiction c;
        int32_t rank = 1 + trial % 3, count = random_sources(&r, rank, 1, list);
        double S[9], z[3], want[9], sum[3] = {0}, worst = 0, d[3], scale = 0;
        if (!count) continue;
        merge(*state, list, count, S, z, &c);
        reference_filter(list, count, rank, want);
        for (int k = 0; k < 9; k++) ASSERT_NEAR(S[k], want[k], 1e-9);
        for (int k = 0; k < 3; k++) ASSERT_NEAR(dot(S + 3 * k, z), 0, 1e-9 * (1 + sqrt(dot(z, z))));
        for (int32_t i = 0; i < count; i++) {
            normalised(&list[i], d);
            double missed = dot(d, list[i].z) - dot(d, z);
            worst = fmax(worst, fabs(missed));
            scale = fmax(scale, fabs(dot(d, z)) + fabs(dot(d, list[i].z)));
            for (int k = 0; k < 3; k++) sum[k] += missed * d[k];
        }
        for (int k = 0; k < 3; k++) ASSERT_NEAR(sum[k], 0, 1e-12 * scale);
        contradictions += c.vertex == 5;
        if (c.vertex == 5) ASSERT_NEAR(c.size, worst, 1e-9 * scale);
        else assert_true(worst < 1e-9 * scale);
    }
    assert_true(contradictions > 1000);
}

/* Right-hand sides that fit, with directions down to 3e-5 of the others' plane: every source gets what it asks for.
 */
static void what_fits_is_fulfilled(void **state) {
    test_random r = {23};
    static const double flatness[] = {1, 1e-2, 1e-4, 3e-5};
    for (int32_t trial = 0; trial < 3000; trial++) {
        drape_constraint list[MOST];
        drape_contradiction c;
        int32_t rank = 1 + trial % 3, count = random_sources(&r, rank, flatness[trial % 4], list);
        double S[9], z[3], common[3], d[3];
        if (!count) continue;
        random_vector(&r, 1, common);
        for (int32_t i = 0; i < count; i++) memcpy(list[i].z, common, sizeof common);
        merge(*state, list, count, S, z, &c);
        for (int32_t i = 0; i < count; i++) {
            normalised(&list[i], d);
            ASSERT_NEAR(dot(d, z), dot(d, common), 1e-12);
            for (int k = 0; k < 3; k++) ASSERT_NEAR(dot(S + 3 * k, d), 0, 1e-9);
        }
        assert_int_equal(c.vertex, -1);
    }
}

/* A direction next to another adds none of its own; at a larger angle it does. */
static void nearly_the_same_is_the_same(void **state) {
    static const struct {
        double angle;
        int32_t free;
    } cases[] = {{0, 2}, {1e-12, 2}, {1e-7, 2}, {1e-5, 1}, {0.1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        drape_constraint list[2] = {{.vertex = 5, .directions = 1, .direction = {{0, 0, 1}}, .z = {0, 0, 1}},
                                    {.vertex = 5, .directions = 1, .direction = {{0, 0, 1}}, .z = {0, 0, 1}}};
        drape_contradiction c;
        double S[9], z[3];
        list[1].direction[0][0] = tan(cases[i].angle);
        merge(*state, list, 2, S, z, &c);
        ASSERT_NEAR(S[0] + S[4] + S[8], cases[i].free, 1e-12);
        ASSERT_NEAR(z[2], 1, 1e-6);
        assert_int_equal(c.vertex, -1);
    }
}

static void the_order_does_not_matter(void **state) {
    test_random r = {29};
    for (int32_t trial = 0; trial < 1000; trial++) {
        drape_constraint list[MOST], swapped[MOST];
        drape_contradiction c, other;
        int32_t rank = 1 + trial % 3, count = random_sources(&r, rank, 1, list);
        double S[9], z[3], S_other[9], z_other[3];
        if (!count) continue;
        for (int32_t i = 0; i < count; i++) swapped[i] = list[(i + 1 + trial % (count - 1)) % count];
        merge(*state, list, count, S, z, &c);
        merge(*state, swapped, count, S_other, z_other, &other);
        double scale = 1 + sqrt(dot(z, z));
        for (int k = 0; k < 9; k++) ASSERT_NEAR(S[k], S_other[k], 1e-9);
        for (int k = 0; k < 3; k++) ASSERT_NEAR(z[k], z_other[k], 1e-9 * scale);
        ASSERT_NEAR(c.size, other.size, 1e-9 * scale);
        merge(*state, list, count, S_other, z_other, &other); /* and the same order gives the same bits */
        assert_memory_equal(S, S_other, sizeof S);
        assert_memory_equal(z, z_other, sizeof z);
    }
}

/* Two sources that hold in all directions meet in the middle; three directions of different sources hold in all. */
static void whole_vertices(void **state) {
    const drape_constraint both[2] = {{.vertex = 5, .directions = 3, .z = {1, 2, 3}},
                                      {.vertex = 5, .directions = 3, .z = {3, 2, -1}}};
    const drape_constraint axes[2] = {
        {.vertex = 5, .directions = 2, .direction = {{1, 0, 0}, {1, 1, 0}}, .z = {4, 5, 6}},
        {.vertex = 5, .directions = 1, .direction = {{0, 1, 2}}, .z = {0, 5, 7}}};
    drape_contradiction c;
    double S[9], z[3];
    merge(*state, both, 2, S, z, &c);
    for (int k = 0; k < 9; k++) assert_true(S[k] == 0);
    assert_true(z[0] == 2 && z[1] == 2 && z[2] == 1);
    assert_int_equal(c.vertex, 5);
    assert_int_equal(c.source + c.other_source, 10 + 11);
    assert_true(c.size == 2);
    merge(*state, axes, 2, S, z, &c);
    for (int k = 0; k < 9; k++) assert_true(S[k] == 0);
    ASSERT_NEAR(z[0], 4, 1e-14);
    ASSERT_NEAR(z[1], 5, 1e-14);
    ASSERT_NEAR(z[2], 7, 1e-14);
    assert_int_equal(c.vertex, -1);
}

/* Without company a constraint is what drape_constraints_set makes of it, to the bit. */
static void one_source_passes_through(void **state) {
    drape_context *ctx = *state;
    test_random r = {31};
    for (int32_t trial = 0; trial < 200; trial++) {
        drape_constraint list[VERTICES];
        drape_constraints *a, *b;
        drape_constraint_builder *builder = new_builder(ctx);
        double S[2][9 * VERTICES], z[2][3 * VERTICES];
        for (int32_t i = 0; i < VERTICES; i++) {
            list[i] = (drape_constraint){.vertex = VERTICES - 1 - i, .directions = test_random_below(&r, 4)};
            for (int k = 0; k < 3; k++) random_vector(&r, 5, list[i].direction[k]);
            random_vector(&r, 3, list[i].z);
            ASSERT_OK(ctx, drape_constraint_builder_add(builder, i % 3, &list[i]));
        }
        ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &a));
        ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &b));
        ASSERT_OK(ctx, drape_constraints_set(a, list, VERTICES));
        ASSERT_OK(ctx, drape_constraint_builder_finish(builder, b));
        drape_constraints_filter(a, S[0], z[0]);
        drape_constraints_filter(b, S[1], z[1]);
        assert_memory_equal(S[0], S[1], sizeof S[0]);
        assert_memory_equal(z[0], z[1], sizeof z[0]);
        int32_t count;
        assert_memory_equal(drape_constraint_builder_list(builder, &count), list, sizeof list);
        assert_int_equal(count, VERTICES);
        drape_constraints_destroy(a), drape_constraints_destroy(b);
        drape_constraint_builder_destroy(builder);
    }
}

static void tolerance_hides_small_contradictions(void **state) {
    drape_constraint list[2] = {{.vertex = 5, .directions = 3, .z = {1, 0, 0}},
                                {.vertex = 5, .directions = 3, .z = {1.5, 0, 0}}};
    drape_constraint_builder *b = new_builder(*state);
    for (int strict = 0; strict < 2; strict++) {
        ASSERT_OK(*state, drape_constraint_builder_begin(b, strict ? 0.2 : 0.3));
        for (int i = 0; i < 2; i++) ASSERT_OK(*state, drape_constraint_builder_add(b, i, &list[i]));
        ASSERT_OK(*state, drape_constraint_builder_finish(b, NULL));
        assert_int_equal(drape_constraint_builder_contradictions(b), strict);
    }
    drape_contradiction c;
    assert_int_equal(drape_constraint_builder_contradiction(b, 1, &c), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_begin(b, -1), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_begin(b, NAN), DRAPE_ERROR_ARGUMENT);
    drape_constraint_builder_destroy(b);
}

static void wrong_input_is_refused_and_changes_nothing(void **state) {
    drape_context *ctx = *state;
    const drape_constraint good = {.vertex = 5, .directions = 1, .direction = {{1, 0, 0}}, .z = {1, 0, 0}};
    drape_constraint_builder *b = new_builder(ctx);
    drape_constraints *set, *small;
    drape_constraint bad = good;
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES, &set));
    ASSERT_OK(ctx, drape_constraints_create(ctx, VERTICES - 1, &small));
    ASSERT_OK(ctx, drape_constraints_set(set, &good, 1));
    bad.vertex = VERTICES;
    assert_int_equal(drape_constraint_builder_add(b, 7, &bad), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "source 7: vertex 12"));
    bad.vertex = -1;
    assert_int_equal(drape_constraint_builder_add(b, 7, &bad), DRAPE_ERROR_ARGUMENT);
    bad = good, bad.directions = 4;
    assert_int_equal(drape_constraint_builder_add(b, 7, &bad), DRAPE_ERROR_ARGUMENT);
    for (int which = 0; which < 3; which++) {
        bad = good;
        if (which == 0) bad.direction[0][0] = 0;
        if (which == 1) bad.directions = 2, bad.direction[1][0] = 3;
        if (which == 2) bad.z[1] = NAN;
        ASSERT_OK(ctx, drape_constraint_builder_begin(b, 0));
        ASSERT_OK(ctx, drape_constraint_builder_add(b, 1, &good));
        ASSERT_OK(ctx, drape_constraint_builder_add(b, 8, &bad));
        assert_int_equal(drape_constraint_builder_finish(b, set), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), "source 8: vertex 5"));
        assert_int_equal(drape_constraints_count(set), 1);
    }
    ASSERT_OK(ctx, drape_constraint_builder_begin(b, 0));
    assert_int_equal(drape_constraint_builder_finish(b, small), DRAPE_ERROR_ARGUMENT);
    drape_constraint_builder_destroy(b);
    assert_int_equal(drape_constraint_builder_create(ctx, -1, &b), DRAPE_ERROR_ARGUMENT);
    drape_constraints_destroy(set), drape_constraints_destroy(small);
}

static void null_gets_a_status(void **state) {
    drape_constraint_builder *b = (drape_constraint_builder *)1;
    drape_contradiction c;
    int32_t count = 3;
    assert_int_equal(drape_constraint_builder_create(NULL, 1, &b), DRAPE_ERROR_ARGUMENT);
    assert_null(b);
    assert_int_equal(drape_constraint_builder_create(*state, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_begin(NULL, 0), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_add(NULL, 0, &(drape_constraint){0}), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_finish(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_contradiction(NULL, 0, &c), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_constraint_builder_contradictions(NULL), 0);
    assert_null(drape_constraint_builder_list(NULL, &count));
    assert_int_equal(count, 0);
    drape_constraint_builder_destroy(NULL);
}

/* The nth request fails cleanly; once warm there is none. */
static void memory(void **state) {
    (void)state;
    bool failed = true;
    for (int64_t n = 0; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_constraint_builder *b = NULL;
        drape_status status = drape_constraint_builder_create(ctx, VERTICES, &b);
        for (int round = 0; round < 3 && !status; round++) {
            ASSERT_OK(ctx, drape_constraint_builder_begin(b, 0));
            for (int32_t i = 0; i < 300 && !status; i++)
                status = drape_constraint_builder_add(
                    b, i, &(drape_constraint){.vertex = i % VERTICES, .directions = 3, .z = {i, 1, 2}});
            if (!status) status = drape_constraint_builder_finish(b, NULL);
            if (round == 0) memory.left = memory.left < 0 ? -1 : 0; /* the next request would fail */
        }
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        if (!failed) assert_int_equal(drape_constraint_builder_contradictions(b), VERTICES);
        drape_constraint_builder_destroy(b);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(merged_is_the_least_squares_answer, ctx),
        cmocka_unit_test_prestate(what_fits_is_fulfilled, ctx),
        cmocka_unit_test_prestate(nearly_the_same_is_the_same, ctx),
        cmocka_unit_test_prestate(the_order_does_not_matter, ctx),
        cmocka_unit_test_prestate(whole_vertices, ctx),
        cmocka_unit_test_prestate(one_source_passes_through, ctx),
        cmocka_unit_test_prestate(tolerance_hides_small_contradictions, ctx),
        cmocka_unit_test_prestate(wrong_input_is_refused_and_changes_nothing, ctx),
        cmocka_unit_test_prestate(null_gets_a_status, ctx),
        cmocka_unit_test(memory),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    int64_t left = drape_context_bytes(ctx);
    drape_context_destroy(ctx);
    return failed || left != 0;
}
