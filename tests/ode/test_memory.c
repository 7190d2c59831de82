/* Memory: creating allocates, and survives being refused any of it; stepping allocates nothing, whatever happens. */
#include "ode/chain.h"
#include "sparse/counting_allocator.h"

/* Events that come often. */
static drape_status passes(void *user, double t, const double *x, const double *v, double *g) {
    (void)user, (void)x;
    g[0] = v[1] + 0.02;
    g[1] = t - 0.011;
    return DRAPE_OK;
}

/* Everything that is created for a run; DRAPE_OK or what went wrong, with nothing left over. */
static drape_status create_all(drape_context *ctx, chain *c, const drape_ode_settings *s, drape_ode_dense **dense,
                               drape_ode **ode) {
    double mass[CHAIN_SIZE * CHAIN_SIZE] = {0};
    drape_ode_system system = chain_system(c);
    for (int32_t i = 0; i < CHAIN_SIZE; i++) mass[i * (CHAIN_SIZE + 1)] = c->mass[i / 2];
    drape_ode_dense_settings d = {
        .order = 2, .size = CHAIN_SIZE, .user = c, .jacobian = chain_jacobian, .mass = mass};
    *ode = NULL;
    drape_status status = drape_ode_dense_create(ctx, &d, dense);
    if (status) return status;
    system.linear = drape_ode_dense_linear(*dense);
    status = drape_ode_create(ctx, &system, s, ode);
    if (!status && s->dense_output) status = drape_ode_watch(*ode, &(drape_ode_events){.count = 2, .g = passes});
    if (!status) return DRAPE_OK;
    drape_ode_destroy(*ode);
    *ode = NULL;
    drape_ode_dense_destroy(*dense);
    return status;
}

static drape_ode_settings settings_of(int32_t method, drape_ode_control control) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = drape_ode_method_name(method);
    s.control = control;
    s.step = 0.001;
    return s;
}

static void every_refused_allocation_is_survived(void **state) {
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++) {
        drape_ode_settings s = settings_of(m, DRAPE_ODE_FIXED);
        chain c = chain_make(100, 0.1);
        int64_t n = 0;
        s.dense_output = true;
        for (bool refused = true; refused; n++) {
            counting_allocator memory = {.left = n};
            drape_context *ctx = counting_context(&memory);
            drape_ode_dense *dense;
            drape_ode *ode;
            drape_status status = create_all(ctx, &c, &s, &dense, &ode);
            refused = memory.failed;
            assert_int_equal(status, refused ? DRAPE_ERROR_MEMORY : DRAPE_OK);
            assert_true(refused == (ode == NULL));
            if (!refused) {
                drape_ode_destroy(ode);
                drape_ode_dense_destroy(dense);
            }
            assert_int_equal(drape_context_bytes(ctx), 0);
            drape_context_destroy(ctx);
            assert_int_equal(memory.live, 0);
        }
        assert_true(n > 5); /* it was refused somewhere */
    }
}

static void refused_stability_is_survived(void **state) {
    drape_ode_settings s = drape_ode_defaults();
    int64_t n = 0;
    (void)state;
    s.method = "bdf3";
    for (bool refused = true; refused; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_ode_stability out;
        drape_status status = drape_ode_stability_at(ctx, &s, -1, 1, &out);
        refused = memory.failed;
        assert_int_equal(status, refused ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(n > 3);
}

/* After creation every request is refused, and none is made: also not in starts, rejections, failures, restarts. */
static void stepping_allocates_nothing(void **state) {
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = 0; control < 3; control++)
            for (int32_t kind = DRAPE_ODE_NEWTON; drape_ode_newton_kind_name((drape_ode_newton_kind)kind); kind++) {
                drape_ode_settings s = settings_of(m, (drape_ode_control)control);
                chain c = chain_make(100, 0.1);
                counting_allocator memory = {.left = -1};
                drape_context *ctx = counting_context(&memory);
                drape_ode_dense *dense;
                drape_ode *ode;
                drape_ode_result result;
                double x[CHAIN_SIZE], v[CHAIN_SIZE];
                if (control == DRAPE_ODE_NEWTONS && !drape_ode_method_implicit(s.method)) s.control = DRAPE_ODE_FIXED;
                s.newton.kind = (drape_ode_newton_kind)kind;
                s.newton.max_iterations = 8;
                s.dense_output = true;
                ASSERT_OK(ctx, create_all(ctx, &c, &s, &dense, &ode));
                memory.left = 0;
                chain_start(&c, x, v);
                for (int32_t round = 0; round < 2; round++) {
                    ASSERT_OK(ctx, drape_ode_start(ode, 0, x, v));
                    ASSERT_OK(ctx, drape_ode_advance(ode, 0.02, &result));
                    if (!result.reason) ASSERT_OK(ctx, drape_ode_interpolate(ode, 0.02, x, v));
                    chain_start(&c, x, v);
                    ASSERT_OK(ctx, drape_ode_step(ode, 10, &result)); /* may well fail */
                }
                assert_false(memory.failed);
                drape_ode_destroy(ode);
                drape_ode_dense_destroy(dense);
                drape_context_destroy(ctx);
                assert_int_equal(memory.live, 0);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refused_allocation_is_survived),
        cmocka_unit_test(refused_stability_is_survived),
        cmocka_unit_test(stepping_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
