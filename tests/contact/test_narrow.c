/* The narrow phase: contacts made to order, degenerate pairs, numbers at the ends of the range, bits, bad input. */
#include "drape/contact.h"
#include "support/moving_pairs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double time_of(const moving_pair *p) { return drape_ccd_time(p->kind, p->start, p->end, NULL); }

/* ---- Contacts made to order, without rounding ---- */

typedef enum degeneracy { GENERAL, COPLANAR, PARALLEL, NO_AREA, POINT, AT_REST, DEGENERACIES } degeneracy;

static void copy3(double *to, const double *from) { memcpy(to, from, 3 * sizeof *to); }

/* Integers of 10 bits; the parts are made degenerate at one end of the step or at both. */
static void make_degenerate(test_random *r, moving_pair *p, degeneracy how) {
    for (int e = 0; e < 2; e++) {
        double *x = e ? p->end : p->start;
        if (e == 1 && how != AT_REST && how != COPLANAR && test_random_below(r, 3) == 0) break;
        for (int i = 0; i < 12; i++) {
            if (how == COPLANAR && i % 3 == 2) x[i] = 3 * x[i - 2] - x[i - 1] + 7;
            if (how == PARALLEL && i >= 9) x[i] = x[i - 3] + 2 * (x[i - 6] - x[i - 9]); /* or corners on a line */
        }
        if (how == NO_AREA)
            for (int k = 0; k < 3; k++) x[6 + k] = x[3 + k] / 2 + x[9 + k] / 2;
        if (how == POINT) copy3(x + 6, x + 3), copy3(x + 9, x + 3);
    }
    if (how == AT_REST) memcpy(p->end, p->start, sizeof p->end);
}

/* Vertex 0 is moved at both ends of the step so that the parts touch at time 2^-m (or 1 - 2^-m): all numbers have
 * few bits, so nothing is rounded. Returns that time. */
static double make_contact(test_random *r, moving_pair *p, bool at_rest) {
    double weight[3] = {0.5, 0.125, 0.375}, t = 1 / (double)(1 << test_random_below(r, 5)), mean[2][3];
    int triangle = test_random_below(r, moving_pair_triangles(p->kind)), swap = test_random_below(r, 3);
    if (p->kind == DRAPE_CCD_EDGE_EDGE && triangle == 0)
        weight[0] = 0.375, weight[2] = 0.5;                                     /* share: a power of two */
    if (test_random_below(r, 4) == 0) weight[0] = 1, weight[1] = weight[2] = 0; /* corner on corner */
    if (test_random_below(r, 4) == 0) weight[0] = 0.5, weight[1] = 0.5, weight[2] = 0;
    if (p->kind == DRAPE_CCD_VERTEX_FACE && swap < 2) {
        double w = weight[swap];
        weight[swap] = weight[swap + 1], weight[swap + 1] = w;
    }
    double share = 0;
    for (int c = 0; c < 3; c++) {
        int v[2];
        moving_pair_corner(p->kind, triangle, c, v);
        if (v[0] == 0) share += weight[c];
    }
    for (int e = 0; e < 2; e++)
        for (int k = 0; k < 3; k++) {
            const double *x = e ? p->end : p->start;
            mean[e][k] = 0; /* of all differences, without vertex 0 */
            for (int c = 0; c < 3; c++) {
                int v[2];
                moving_pair_corner(p->kind, triangle, c, v);
                mean[e][k] += weight[c] * ((v[0] == 0 ? 0 : x[3 * v[0] + k]) - x[3 * v[1] + k]);
            }
        }
    for (int k = 0; k < 3; k++) { /* share x0(t) = -mean(t) */
        double wanted = -((1 - t) * mean[0][k] + t * mean[1][k]) / share;
        if (at_rest) p->start[k] = p->end[k] = wanted;
        else p->end[k] = (wanted - (1 - t) * p->start[k]) / t;
    }
    return at_rest ? 0 : t;
}

static moving_pair whole_numbers(test_random *r, drape_ccd_kind kind) {
    moving_pair p = {.kind = kind};
    for (int i = 0; i < 12; i++) {
        p.start[i] = 4 * (test_random_below(r, 512) - 256);
        p.end[i] = p.start[i] + 4 * (test_random_below(r, 128) - 64);
    }
    return p;
}

static void reverse(moving_pair *p) {
    double start[12];
    memcpy(start, p->start, sizeof start);
    memcpy(p->start, p->end, sizeof start);
    memcpy(p->end, start, sizeof start);
}

static void scale_and_shift(moving_pair *p, double scale, double shift) {
    for (int i = 0; i < 12; i++) p->start[i] = p->start[i] * scale + shift, p->end[i] = p->end[i] * scale + shift;
}

static void test_contacts_to_order(void **state) {
    (void)state;
    static const double scales[] = {1, 0x1p-20, 0x1p20, 0x1p-300, 0x1p300}, shifts[] = {0, 1048576, -999424};
    test_random r = {5};
    for (int how = 0; how < DEGENERACIES; how++)
        for (int i = 0; i < 3000; i++) {
            moving_pair p = whole_numbers(&r, (drape_ccd_kind)(i % 2));
            make_degenerate(&r, &p, (degeneracy)how);
            /* Only what is coplanar or at rest as a whole must stay so when vertex 0 moves: it then goes where the
             * rest is. */
            double t = make_contact(&r, &p, how == AT_REST);
            int32_t scale = test_random_below(&r, 5), shift = test_random_below(&r, 3);
            if (test_random_below(&r, 2) && how != AT_REST) reverse(&p), t = 1 - t;
            scale_and_shift(&p, scales[scale], scale == 0 ? shifts[shift] : 0);
            double got = time_of(&p);
            if (!(got <= t))
                fail_msg("%s pair %d of degeneracy %d touches at %g, but was told %.17g", drape_ccd_kind_name(p.kind),
                         i, how, t, got);
        }
}

/* ---- Degenerate pairs that are apart are told so ---- */

static void test_degenerate_pairs_apart(void **state) {
    (void)state;
    test_random r = {6};
    for (int how = 0; how < DEGENERACIES; how++) {
        int apart = 0, told = 0;
        for (int i = 0; i < 600; i++) {
            moving_pair p = whole_numbers(&r, (drape_ccd_kind)(i % 2));
            make_degenerate(&r, &p, (degeneracy)how);
            if (!(moving_pair_least_distance(&p, 0, 0) > 1e-5 * moving_pair_size(&p))) continue;
            apart++;
            told += time_of(&p) > 1;
        }
        print_message("degeneracy %d: %d of %d pairs apart were told so\n", how, told, apart);
        assert_true(apart >= 200);
        assert_int_equal(told, apart);
    }
}

/* ---- Times ---- */

static void test_times_are_close(void **state) {
    (void)state;
    const moving_pair falls = {
        DRAPE_CCD_VERTEX_FACE, {0.3, 0.3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}, {0.3, 0.3, -2, 0, 0, 0, 1, 0, 0, 0, 1, 0}};
    for (int32_t depth = 1; depth <= 30; depth++) {
        drape_ccd_settings s = {.depth = depth};
        double t = drape_ccd_time(falls.kind, falls.start, falls.end, &s), h = ldexp(1, -depth);
        assert_true(t <= 1.0 / 3 && t >= 1.0 / 3 - 2 * h);
        s.separation = 0.25; /* touches at a distance, a twelfth of the step earlier */
        t = drape_ccd_time(falls.kind, falls.start, falls.end, &s);
        assert_true(t <= 0.25 && t >= 0.25 - 2 * h);
    }
    assert_true(time_of(&falls) ==
                drape_ccd_time(falls.kind, falls.start, falls.end, &(drape_ccd_settings){.depth = 16}));
}

/* ---- Numbers at the ends of the range ---- */

static const double triangle_below[9] = {-1, -1, 0, 1, -1, 0, 0, 1, 0};

static moving_pair above_triangle(double from, double to) {
    moving_pair p = {.kind = DRAPE_CCD_VERTEX_FACE};
    memcpy(p.start + 3, triangle_below, sizeof triangle_below);
    memcpy(p.end + 3, triangle_below, sizeof triangle_below);
    p.start[2] = from, p.end[2] = to;
    return p;
}

/* Parts that lie on each other, hardly farther apart than they must be, and turn together by 0.02. No single
 * direction proves that for a thirtieth of the step. */
static void test_piles_that_turn_are_apart(void **state) {
    static const double crossed[12] = {-0.5, 0, 0, 0.5, 0, 0, 0, -0.5, -1e-3, 0, 0.5, -1e-3};
    static const double lying[12] = {0, 0, 0, -0.5, -0.5, -1e-3, 0.5, -0.5, -1e-3, 0, 0.5, -1e-3};
    const drape_ccd_settings settings = {.depth = 4, .separation = 0.9e-3};
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        const double *start = kind == DRAPE_CCD_EDGE_EDGE ? crossed : lying;
        for (int axis = 0; axis < 2; axis++) {
            double end[12], c = cos(0.02), s = sin(0.02);
            memcpy(end, start, sizeof end);
            for (int i = 0; i < 4; i++) {
                double y = start[3 * i + axis], z = start[3 * i + 2];
                end[3 * i + axis] = c * y - s * z, end[3 * i + 2] = s * y + c * z;
            }
            assert_true(drape_ccd_time((drape_ccd_kind)kind, start, end, &settings) == DRAPE_CCD_APART);
            for (int i = kind == DRAPE_CCD_EDGE_EDGE ? 2 : 1; i < 4; i++) end[3 * i + 2] += 0.2e-3;
            assert_true(drape_ccd_time((drape_ccd_kind)kind, start, end, &settings) <= 1);
        }
    }
}

static void test_what_is_not_finite_touches(void **state) {
    (void)state;
    static const double bad[] = {NAN, -NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 1e300};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
        for (int i = 0; i < 24; i++)
            for (int kind = 0; kind < 2; kind++) {
                moving_pair p = above_triangle(5, 6);
                p.kind = (drape_ccd_kind)kind;
                assert_true(i > 0 || b > 0 || kind > 0 || time_of(&p) == DRAPE_CCD_APART);
                (i < 12 ? p.start : p.end)[i % 12] = bad[b];
                if (!isfinite(bad[b])) assert_true(time_of(&p) == 0);
                else assert_true(time_of(&p) >= 0); /* whatever it is, it is an answer */
            }
    /* Differences that overflow, in start, end and in between. */
    moving_pair far;
    far = above_triangle(DBL_MAX, DBL_MAX);
    far.start[5] = -DBL_MAX;
    assert_true(time_of(&far) == 0);
    far = above_triangle(1e140, -1e140);
    assert_true(time_of(&far) <= 0.5);
}

static void test_the_smallest_numbers(void **state) {
    (void)state;
    test_random r = {8};
    for (int i = 0; i < 2000; i++) { /* contacts among denormal numbers: whole numbers of 2^-1074 */
        moving_pair p = whole_numbers(&r, (drape_ccd_kind)(i % 2));
        double t = make_contact(&r, &p, false);
        scale_and_shift(&p, 0x1p-1050, 0);
        assert_true(time_of(&p) <= t);
    }
    moving_pair p = above_triangle(1, 2); /* plainly apart, at sizes where products do not underflow */
    scale_and_shift(&p, 0x1p-300, 0);
    assert_true(time_of(&p) > 1);
    p = above_triangle(DBL_MIN, DBL_TRUE_MIN); /* touches except for a denormal number */
    assert_true(time_of(&p) <= 1);
}

/* ---- Batches ---- */

enum { BATCH = 1003 }; /* no multiple of the lanes */

typedef struct batch {
    drape_ccd_pairs pairs;
    double *start, *end, *separation;
    int32_t *vertex;
} batch;

/* Pairs of all sorts over shared vertices; some of them touch. */
static batch make_batch(drape_ccd_kind kind) {
    enum { VERTICES = 200 };
    test_random r = {42};
    batch b = {.start = malloc(3 * VERTICES * sizeof(double)),
               .end = malloc(3 * VERTICES * sizeof(double)),
               .separation = malloc(BATCH * sizeof(double)),
               .vertex = malloc(4 * BATCH * sizeof(int32_t))};
    assert_true(b.start && b.end && b.separation && b.vertex);
    for (int i = 0; i < 3 * VERTICES; i++) {
        b.start[i] = test_random_between(&r, -1, 1);
        b.end[i] = b.start[i] + test_random_between(&r, -0.3, 0.3);
    }
    b.end[17] = NAN;
    for (int i = 0; i < 4 * BATCH; i++) b.vertex[i] = test_random_below(&r, VERTICES);
    for (int i = 0; i < BATCH; i++) b.separation[i] = i % 3 ? test_random_between(&r, 0, 0.2) : 0;
    b.separation[5] = -1, b.separation[6] = NAN, b.separation[7] = INFINITY;
    b.pairs = (drape_ccd_pairs){
        .kind = kind, .vertices = VERTICES, .start = b.start, .end = b.end, .pairs = BATCH, .vertex = b.vertex};
    return b;
}

static void free_batch(batch *b) { free(b->start), free(b->end), free(b->separation), free(b->vertex); }

static void check_against_single(const batch *b, const drape_ccd_settings *settings, const double *time) {
    int touching = 0;
    for (int64_t i = 0; i < b->pairs.pairs; i++) {
        drape_ccd_settings s = *settings;
        moving_pair p;
        for (int k = 0; k < 4; k++) {
            copy3(p.start + 3 * k, b->start + 3 * b->vertex[4 * i + k]);
            copy3(p.end + 3 * k, b->end + 3 * b->vertex[4 * i + k]);
        }
        if (b->pairs.separation) s.separation = b->separation[i];
        assert_true(time[i] == drape_ccd_time(b->pairs.kind, p.start, p.end, &s));
        assert_true((time[i] >= 0 && time[i] <= 1) || time[i] == DRAPE_CCD_APART);
        touching += time[i] <= 1;
    }
    assert_true(touching > BATCH / 50 && touching < BATCH * 9 / 10);
}

/* Whatever threads and vectors: the bits of pair by pair. */
static void test_batches(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int way = 0; way < 3; way++) {
            batch b = make_batch((drape_ccd_kind)kind);
            drape_ccd_settings settings = {.separation = way == 1 ? 0.05 : 0};
            if (way == 2) b.pairs.separation = b.separation;
            for (int32_t threads = 1; threads <= 3; threads++)
                for (int simd = DRAPE_SIMD_BASELINE; drape_simd_name((drape_simd)simd); simd++) {
                    drape_context_settings how = drape_context_defaults();
                    drape_context *ctx;
                    double time[BATCH];
                    how.threads = threads, how.simd = (drape_simd)simd;
                    if (drape_context_create(&how, &ctx)) continue; /* this processor has no such vectors */
                    int64_t bytes = drape_context_bytes(ctx);
                    ASSERT_OK(ctx, drape_ccd_times(ctx, &b.pairs, &settings, time));
                    assert_int_equal(drape_context_bytes(ctx), bytes);
                    check_against_single(&b, &settings, time);
                    drape_context_destroy(ctx);
                }
            free_batch(&b);
        }
}

/* ---- Bad input ---- */

static void refuses(drape_context *ctx, const drape_ccd_pairs *pairs, const drape_ccd_settings *settings,
                    const char *why) {
    double time[BATCH] = {-7};
    assert_int_equal(drape_ccd_times(ctx, pairs, settings, time), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), why)) fail_msg("should have said '%s': %s", why, drape_message(ctx));
    assert_true(time[0] == -7);
}

static void test_bad_input(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    batch b = make_batch(DRAPE_CCD_EDGE_EDGE);
    drape_ccd_pairs p = b.pairs;
    refuses(ctx, &p, &(drape_ccd_settings){.separation = -1e-9}, "separation is -1e-09 m");
    refuses(ctx, &p, &(drape_ccd_settings){.separation = NAN}, "separation");
    refuses(ctx, &p, &(drape_ccd_settings){.separation = INFINITY}, "separation");
    refuses(ctx, &p, &(drape_ccd_settings){.depth = 31}, "depth is 31; it must be in 1..30");
    refuses(ctx, &p, &(drape_ccd_settings){.depth = -1}, "depth");
    refuses(ctx, &p, &(drape_ccd_settings){.reserved = {1}}, "reserved");
    p.kind = (drape_ccd_kind)2;
    refuses(ctx, &p, NULL, "no kind of pair");
    p = b.pairs, p.start = NULL;
    refuses(ctx, &p, NULL, "start is NULL");
    p = b.pairs, p.pairs = -1;
    refuses(ctx, &p, NULL, "negative");
    p = b.pairs, p.reserved[1] = 1;
    refuses(ctx, &p, NULL, "reserved");
    p = b.pairs, b.vertex[4 * 9 + 2] = p.vertices;
    refuses(ctx, &p, NULL, "pair 9 names vertex 200, but there are 200 vertices");
    b.vertex[4 * 9 + 2] = -1;
    refuses(ctx, &p, NULL, "pair 9 names vertex -1");
    refuses(ctx, NULL, NULL, "NULL");
    assert_int_equal(drape_ccd_times(NULL, &p, NULL, b.start), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ccd_times(ctx, &b.pairs, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    p = (drape_ccd_pairs){0}; /* no pairs: nothing to do */
    ASSERT_OK(ctx, drape_ccd_times(ctx, &p, NULL, NULL));
    drape_context_destroy(ctx);
    free_batch(&b);
}

static void test_bad_single_pairs_touch(void **state) {
    (void)state;
    const moving_pair p = above_triangle(5, 6);
    static const drape_ccd_settings bad[] = {
        {.separation = -1}, {.separation = NAN}, {.separation = INFINITY}, {.depth = -1}, {.depth = 31}};
    assert_true(drape_ccd_time(p.kind, p.start, p.end, NULL) == DRAPE_CCD_APART);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(drape_ccd_time(p.kind, p.start, p.end, &bad[i]) == 0);
    assert_true(drape_ccd_time((drape_ccd_kind)2, p.start, p.end, NULL) == 0);
    assert_true(drape_ccd_time(p.kind, NULL, p.end, NULL) == 0);
    assert_true(drape_ccd_time(p.kind, p.start, NULL, NULL) == 0);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(drape_ccd_kind_name(DRAPE_CCD_VERTEX_FACE), "vertex-face");
    assert_string_equal(drape_ccd_kind_name(DRAPE_CCD_EDGE_EDGE), "edge-edge");
    assert_null(drape_ccd_kind_name((drape_ccd_kind)2));
    assert_int_equal(drape_ccd_defaults().depth, 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contacts_to_order),
        cmocka_unit_test(test_degenerate_pairs_apart),
        cmocka_unit_test(test_times_are_close),
        cmocka_unit_test(test_piles_that_turn_are_apart),
        cmocka_unit_test(test_what_is_not_finite_touches),
        cmocka_unit_test(test_the_smallest_numbers),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_bad_single_pairs_touch),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
