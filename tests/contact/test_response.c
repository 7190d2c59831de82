/* The response to contacts: what it keeps is free of contacts, by brute force; and it keeps what it should. */
#include "contact/response_parts.h"
#include "support/soups.h"

#include <stdlib.h>
#include <string.h>

/* ---- Soups ---- */

typedef struct tally {
    int32_t runs, kept, hit, passes, rounds, truncated, refused_by_trouble;
    int64_t hits;
} tally;

static void run_soup(soup *s, const drape_i_response_request *how, tally *t) {
    drape_i_response_request q = *how;
    drape_i_response_counts counts;
    bool kept;
    q.world = s->world;
    q.inverse_mass = s->inverse_mass;
    ASSERT_OK(s->ctx, drape_i_response_run(s->response, &q, &counts, &kept));
    t->runs++, t->kept += kept, t->hit += counts.hits > 0, t->hits += counts.hits;
    t->passes += counts.passes, t->rounds += counts.zone_rounds, t->truncated += counts.truncated > 0;
    const drape_i_trouble *trouble = drape_i_response_trouble_of(s->response);
    assert_true(kept == (trouble->kind == DRAPE_I_TROUBLE_NONE));
    for (int32_t i = 0; i < s->world->vertices; i++) {
        double given[3];
        if (i < s->vertices) memcpy(given, s->x1 + 3 * i, sizeof given);
        else memcpy(given, s->world->end + 3 * i, sizeof given);
        bool moved = memcmp(given, s->world->end + 3 * i, sizeof given) != 0;
        assert_int_equal(moved, drape_i_response_moved(s->response)[i] != 0);
        assert_true(!moved || s->inverse_mass[i] > 0);
    }
    if (!kept) return;
    assert_int_equal(soup_violations(s, s->world->start, s->world->end, 1), 0);
    assert_int_equal(soup_crossings(s, s->world->end), 0);
}

static void throw_soups(const char *what, int32_t runs, const soup_recipe *recipe,
                        const drape_i_response_request *how, tally *t) {
    test_random r = {11};
    drape_context *ctx = test_context(1);
    *t = (tally){0};
    for (int32_t i = 0; i < runs; i++) {
        soup s = make_soup(ctx, &r, recipe);
        run_soup(&s, how, t);
        free_soup(&s);
    }
    print_message("%s: %d runs, %d with hits (%lld), %d kept; %d passes, %d rounds, truncated in %d\n", what, t->runs,
                  t->hit, (long long)t->hits, t->kept, t->passes, t->rounds, t->truncated);
    assert_true(2 * t->hit > runs);
    drape_context_destroy(ctx);
}

enum { RUNS = 300 };

/* Nothing but cloth moves: every step is possible. */
static void test_static_soups(void **state) {
    (void)state;
    static const double thickness[] = {0, 1e-3, 0.03};
    for (int k = 0; k < 3; k++)
        for (uint32_t objects = 0; objects <= SOUP_ALL; objects += objects ? 14 : 1) {
            soup_recipe recipe = {
                .patches = 4, .objects = objects, .thickness = thickness[k], .speed = 0.5, .friction = 0.3};
            tally t;
            throw_soups("static", RUNS, &recipe, &(drape_i_response_request){0}, &t);
            assert_int_equal(t.kept, t.runs);
        }
}

static void test_truncation_alone(void **state) {
    (void)state;
    const drape_i_response_request how = {.no_impulses = true, .no_zones = true};
    for (uint32_t objects = 0; objects <= SOUP_ALL; objects += objects ? 14 : 1) {
        soup_recipe recipe = {.patches = 4, .objects = objects, .thickness = 1e-3, .speed = 0.5};
        tally t;
        throw_soups("truncation alone", RUNS, &recipe, &how, &t);
        assert_int_equal(t.kept, t.runs);
        assert_int_equal(t.truncated, t.hit);
    }
}

static void test_zones_alone(void **state) {
    (void)state;
    const drape_i_response_request how = {.no_impulses = true, .paper = true};
    soup_recipe recipe = {.patches = 4, .objects = SOUP_ALL, .thickness = 1e-3, .speed = 0.5};
    tally t;
    throw_soups("zones alone", RUNS, &recipe, &how, &t);
    assert_true(10 * t.kept > 9 * t.runs);
    assert_int_equal(t.truncated, 0);
}

static void test_moving_soups(void **state) {
    (void)state;
    soup_recipe recipe = {
        .patches = 4, .objects = SOUP_ALL, .thickness = 1e-3, .speed = 0.5, .moving = true, .pinned = 0.1};
    tally t;
    throw_soups("moving", RUNS, &recipe, &(drape_i_response_request){0}, &t);
    assert_true(t.kept < t.runs && t.kept > t.runs / 10);
    recipe.pinned = 0;
    throw_soups("moving, no pins", RUNS, &recipe, &(drape_i_response_request){0}, &t);
    assert_true(t.kept > t.runs / 2);
    throw_soups("moving, no pins, paper", RUNS, &recipe, &(drape_i_response_request){.paper = true}, &t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_soups),
        cmocka_unit_test(test_truncation_alone),
        cmocka_unit_test(test_zones_alone),
        cmocka_unit_test(test_moving_soups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
