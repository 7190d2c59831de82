/* The narrow phase against exact arithmetic: nothing is missed, nothing is late, whatever the rounding.
 *
 *   test.contact.narrow_exact [PAIRS]     pairs of each kind and recipe; default 1000, under sanitizers 250
 *
 * The exact answer comes from another method than the one under test. A triangle of difference vectors r1, r2, r3
 * (linear in time) contains the origin where f = det(r1, r2, r3) is zero and c1, c2, c3 are not negative. Here c1 =
 * N.(r2 x r3), c2 = N.(r3 x r1), c3 = N.(r1 x r2), with N their sum. These are polynomials of degree 3 and 4 in
 * Bernstein form, whose coefficients are integers. Halving the step decides. Coefficients of f of one sign, or those
 * of one c below zero, exclude an interval. A change of sign of f where all coefficients of the c are above zero
 * proves a contact in it. */
#include "support/moving_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef DRAPE_HAS_GMP
#include <gmp.h>

enum {
    MOST_LEVEL = 90,  /* intervals down to 2^-MOST_LEVEL */
    MOST_NODES = 600, /* looked at for one triangle, before it is left undecided */
    PROOF_LEVEL = 20, /* a contact is placed in an interval of at most 2^-PROOF_LEVEL */
    POLYNOMIALS = 4,  /* f, c1, c2, c3 */
    COEFFICIENTS = 5
};

static const int degree[POLYNOMIALS] = {3, 4, 4, 4};
static int64_t pairs_per_recipe = TEST_CASES(1000);

/* ---- Exact polynomials ---- */

typedef struct zvec {
    mpz_t x[3];
} zvec;

static void zvec_init(zvec *v) {
    for (int k = 0; k < 3; k++) mpz_init(v->x[k]);
}
static void zvec_clear(zvec *v) {
    for (int k = 0; k < 3; k++) mpz_clear(v->x[k]);
}

/* out += a x b */
static void add_cross(zvec *out, const zvec *a, const zvec *b) {
    for (int k = 0; k < 3; k++) {
        mpz_addmul(out->x[k], a->x[(k + 1) % 3], b->x[(k + 2) % 3]);
        mpz_submul(out->x[k], a->x[(k + 2) % 3], b->x[(k + 1) % 3]);
    }
}

/* out += factor a.b */
static void add_dot(mpz_t out, const zvec *a, const zvec *b, unsigned long factor) {
    mpz_t product;
    mpz_init(product);
    for (int k = 0; k < 3; k++) {
        mpz_mul(product, a->x[k], b->x[k]);
        mpz_addmul_ui(out, product, factor);
    }
    mpz_clear(product);
}

/* The power of two that makes integers of all coordinates. */
static int common_exponent(const moving_pair *p) {
    int most = 0;
    for (int i = 0; i < 24; i++) {
        double x = i < 12 ? p->start[i] : p->end[i - 12];
        int e;
        if (x == 0) continue;
        frexp(x, &e);
        if (53 - e > most) most = 53 - e;
    }
    return most;
}

/* a - b as an integer, in units of 2^-exponent. */
static void set_difference(mpz_t out, double a, double b, int exponent) {
    mpz_t y;
    mpz_init(y);
    mpz_set_d(out, ldexp(a, exponent));
    mpz_set_d(y, ldexp(b, exponent));
    mpz_sub(out, out, y);
    mpz_clear(y);
}

/* Twice the Bernstein coefficients of degree 2 of a(t) x b(t). */
static void cross_polynomial(zvec out[3], zvec a[2], zvec b[2]) {
    for (int twice = 0; twice < 2; twice++) {
        add_cross(&out[0], &a[0], &b[0]);
        add_cross(&out[2], &a[1], &b[1]);
    }
    add_cross(&out[1], &a[0], &b[1]);
    add_cross(&out[1], &a[1], &b[0]);
}

/* r[corner][end] -> three times the coefficients of f, and 24 times those of the c. Only signs matter. */
static void make_polynomials(zvec r[3][2], mpz_t poly[POLYNOMIALS][COEFFICIENTS]) {
    zvec m[3][3], N[3]; /* m[i] = r[i+1] x r[i+2] */
    for (int i = 0; i < 3; i++) {
        zvec_init(&N[i]);
        for (int j = 0; j < 3; j++) zvec_init(&m[i][j]);
    }
    for (int i = 0; i < 3; i++) cross_polynomial(m[i], r[(i + 1) % 3], r[(i + 2) % 3]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) mpz_add(N[j].x[k], N[j].x[k], m[i][j].x[k]);
    /* f = r[0].m[0]: degree 1 times degree 2; coefficients a0 b0, (a1 b0 + 2 a0 b1) / 3, (2 a1 b1 + a0 b2) / 3, a1 b2
     */
    add_dot(poly[0][0], &r[0][0], &m[0][0], 3);
    add_dot(poly[0][1], &r[0][1], &m[0][0], 1);
    add_dot(poly[0][1], &r[0][0], &m[0][1], 2);
    add_dot(poly[0][2], &r[0][1], &m[0][1], 2);
    add_dot(poly[0][2], &r[0][0], &m[0][2], 1);
    add_dot(poly[0][3], &r[0][1], &m[0][2], 3);
    for (int i = 0; i < 3; i++) { /* degree 2 times degree 2 */
        mpz_t *c = poly[1 + i];
        add_dot(c[0], &N[0], &m[i][0], 6);
        add_dot(c[1], &N[0], &m[i][1], 3);
        add_dot(c[1], &N[1], &m[i][0], 3);
        add_dot(c[2], &N[0], &m[i][2], 1);
        add_dot(c[2], &N[1], &m[i][1], 4);
        add_dot(c[2], &N[2], &m[i][0], 1);
        add_dot(c[3], &N[1], &m[i][2], 3);
        add_dot(c[3], &N[2], &m[i][1], 3);
        add_dot(c[4], &N[2], &m[i][2], 6);
    }
    for (int i = 0; i < 3; i++) {
        zvec_clear(&N[i]);
        for (int j = 0; j < 3; j++) zvec_clear(&m[i][j]);
    }
}

/* ---- Deciding ---- */

typedef enum answer { APART, TOUCH, UNDECIDED } answer;

typedef struct decision {
    int nodes;
    double by; /* a contact happens at this time or before; multiples of 2^-level, rounded up */
    mpz_t stack[MOST_LEVEL + 2][POLYNOMIALS][COEFFICIENTS];
} decision;

static void each_signs(mpz_t c[COEFFICIENTS], int n, bool *above, bool *below) {
    *above = *below = true;
    for (int i = 0; i <= n; i++) {
        int sign = mpz_sgn(c[i]);
        if (sign <= 0) *above = false;
        if (sign >= 0) *below = false;
    }
}

/* De Casteljau at the middle, scaled by 2^n: `from` becomes the right half, `to` the left one. */
static void halve(mpz_t from[COEFFICIENTS], mpz_t to[COEFFICIENTS], int n) {
    for (int i = 0; i <= n; i++) mpz_mul_2exp(from[i], from[i], (mp_bitcnt_t)n);
    mpz_set(to[0], from[0]);
    for (int k = 1; k <= n; k++) {
        for (int i = 0; i <= n - k; i++) {
            mpz_add(from[i], from[i], from[i + 1]);
            mpz_fdiv_q_2exp(from[i], from[i], 1); /* exact */
        }
        mpz_set(to[k], from[0]);
    }
}

/* Of the polynomials in d->stack[slot] on [begin, begin + 2^-level]. */
static answer decide(decision *d, int slot, double begin, int level) {
    bool above[POLYNOMIALS], below[POLYNOMIALS];
    mpz_t(*poly)[COEFFICIENTS] = d->stack[slot];
    for (int i = 0; i < POLYNOMIALS; i++) each_signs(poly[i], degree[i], &above[i], &below[i]);
    if (above[0] || below[0] || below[1] || below[2] || below[3]) return APART;
    bool changes = mpz_sgn(poly[0][0]) * mpz_sgn(poly[0][3]) <= 0;
    if (changes && above[1] && above[2] && above[3] && level >= PROOF_LEVEL) {
        d->by = nextafter(begin + ldexp(1, -level), 2);
        return TOUCH;
    }
    if (level == MOST_LEVEL || ++d->nodes > MOST_NODES) return UNDECIDED;
    for (int i = 0; i < POLYNOMIALS; i++) halve(poly[i], d->stack[slot + 1][i], degree[i]);
    answer left = decide(d, slot + 1, begin, level + 1);
    if (left != APART) return left;
    for (int i = 0; i < POLYNOMIALS; i++)
        for (int c = 0; c <= degree[i]; c++) mpz_set(d->stack[slot + 1][i][c], poly[i][c]);
    return decide(d, slot + 1, begin + ldexp(1, -level - 1), level + 1);
}

static answer decide_triangle(decision *d, const moving_pair *p, int triangle) {
    zvec r[3][2];
    int exponent = common_exponent(p);
    for (int c = 0; c < 3; c++)
        for (int e = 0; e < 2; e++) {
            const double *x = e ? p->end : p->start;
            int v[2];
            moving_pair_corner(p->kind, triangle, c, v);
            zvec_init(&r[c][e]);
            for (int k = 0; k < 3; k++) set_difference(r[c][e].x[k], x[3 * v[0] + k], x[3 * v[1] + k], exponent);
        }
    for (int i = 0; i < POLYNOMIALS; i++)
        for (int c = 0; c < COEFFICIENTS; c++) mpz_set_ui(d->stack[0][i][c], 0);
    make_polynomials(r, d->stack[0]);
    for (int c = 0; c < 3; c++)
        for (int e = 0; e < 2; e++) zvec_clear(&r[c][e]);
    d->nodes = 0;
    return decide(d, 0, 0, 0);
}

/* Whether the pair touches; then *by bounds the first time from above. */
static answer decide_pair(decision *d, const moving_pair *p, double *by) {
    answer all = APART;
    *by = INFINITY;
    for (int i = 0; i < moving_pair_triangles(p->kind); i++) {
        answer one = decide_triangle(d, p, i);
        if (one == TOUCH && d->by < *by) *by = d->by;
        if (one == TOUCH || all == TOUCH) all = TOUCH;
        else if (one == UNDECIDED) all = UNDECIDED;
    }
    return all;
}

static int begin_decisions(void **state) {
    decision *d = malloc(sizeof *d);
    if (!d) return -1;
    for (int s = 0; s < MOST_LEVEL + 2; s++)
        for (int i = 0; i < POLYNOMIALS; i++)
            for (int c = 0; c < COEFFICIENTS; c++) mpz_init(d->stack[s][i][c]);
    *state = d;
    return 0;
}

static int end_decisions(void **state) {
    decision *d = *state;
    for (int s = 0; s < MOST_LEVEL + 2; s++)
        for (int i = 0; i < POLYNOMIALS; i++)
            for (int c = 0; c < COEFFICIENTS; c++) mpz_clear(d->stack[s][i][c]);
    free(d);
    return 0;
}

/* ---- Tests ---- */

static const pair_recipe recipes[] = {{1, 0, true},   {1, 0, false},     {1e-6, 0, true}, {1e6, 0, true},
                                      {1, 1e6, true}, {1e-6, 1e6, true}, {1e6, 1e6, true}};

enum { RECIPES = sizeof recipes / sizeof *recipes };

/* The method that judges is itself judged: on pairs whose answer is plain. */
static void test_the_exact_answers(void **state) {
    decision *d = *state;
    double by;
    moving_pair falls = {
        DRAPE_CCD_VERTEX_FACE, {.25, .25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}, {.25, .25, -3, 0, 0, 0, 1, 0, 0, 0, 1, 0}};
    assert_int_equal(decide_pair(d, &falls, &by), TOUCH);
    assert_true(by >= 0.25 && by < 0.25 + 1e-5);
    falls.start[0] = falls.end[0] = 0.7499999; /* just inside, */
    assert_int_equal(decide_pair(d, &falls, &by), TOUCH);
    falls.start[0] = falls.end[0] = 0.7500001; /* and beside it */
    assert_int_equal(decide_pair(d, &falls, &by), APART);
    moving_pair cross = {
        DRAPE_CCD_EDGE_EDGE, {-1, 0, 1, 1, 0, 1, 0, -1, 0, 0, 1, 0}, {-1, 0, -1, 1, 0, -1, 0, -1, 0, 0, 1, 0}};
    cross.start[6] = cross.end[6] = 0.125, cross.start[10] = cross.end[10] = 2;
    assert_int_equal(decide_pair(d, &cross, &by), TOUCH);
    assert_true(by >= 0.5 && by < 0.5 + 1e-5);
    cross.start[6] = cross.end[6] = cross.start[9] = cross.end[9] = 1.5;
    assert_int_equal(decide_pair(d, &cross, &by), APART);
}

static void test_none_is_missed(void **state) {
    decision *d = *state;
    test_random r = {2026};
    for (int recipe = 0; recipe < RECIPES; recipe++)
        for (int kind = 0; kind < 2; kind++) {
            int64_t count[3] = {0}, in_vain = 0;
            for (int64_t i = 0; i < pairs_per_recipe; i++) {
                moving_pair p = random_moving_pair(&r, (drape_ccd_kind)kind, &recipes[recipe]);
                double by, t = drape_ccd_time(p.kind, p.start, p.end, NULL);
                answer truth = decide_pair(d, &p, &by);
                count[truth]++;
                in_vain += truth == APART && t <= 1;
                if (truth == TOUCH && !(t <= by))
                    fail_msg("pair %lld of recipe %d: %s touches by %.17g, but was told %.17g", (long long)i, recipe,
                             drape_ccd_kind_name(p.kind), by, t);
            }
            printf("recipe %d, %s: %lld touch, %lld apart, %lld undecided; %lld reported in vain\n", recipe,
                   drape_ccd_kind_name((drape_ccd_kind)kind), (long long)count[TOUCH], (long long)count[APART],
                   (long long)count[UNDECIDED], (long long)in_vain);
            assert_true(count[UNDECIDED] * 10 <= pairs_per_recipe);
            if (recipes[recipe].touching)
                assert_true(count[TOUCH] * 5 >= pairs_per_recipe && count[APART] * 20 >= pairs_per_recipe);
            else
                assert_true(count[TOUCH] > 0 && count[APART] * 2 >= pairs_per_recipe &&
                            in_vain * 100 <= pairs_per_recipe);
        }
}

/* ---- With a separation ---- */

/* The least double whose square is not below the squared distance of two points of the parts at time t. The distance
 * is exact for these weights of a triangle of differences. */
static double separation_for(const moving_pair *p, double t, int triangle, const double weight[3]) {
    mpq_t w[3], e, sum, x, y, at[2];
    mpq_inits(w[0], w[1], w[2], e, sum, x, y, at[0], at[1], NULL);
    mpq_set_d(at[1], t);
    mpq_set_d(at[0], 1);
    mpq_sub(at[0], at[0], at[1]);
    mpq_set_d(w[1], weight[1]), mpq_set_d(w[2], weight[2]);
    mpq_set_d(w[0], 1);
    mpq_sub(w[0], w[0], w[1]), mpq_sub(w[0], w[0], w[2]);
    if (mpq_sgn(w[0]) < 0) mpq_set(w[1], x), mpq_set(w[2], x), mpq_set_d(w[0], 1); /* x is 0 */
    for (int k = 0; k < 3; k++) {
        mpq_set_d(e, 0);
        for (int c = 0; c < 3; c++)
            for (int end = 0; end < 2; end++) {
                const double *position = end ? p->end : p->start;
                int v[2];
                moving_pair_corner(p->kind, triangle, c, v);
                mpq_set_d(x, position[3 * v[0] + k]), mpq_set_d(y, position[3 * v[1] + k]);
                mpq_sub(x, x, y), mpq_mul(x, x, at[end]), mpq_mul(x, x, w[c]);
                mpq_add(e, e, x);
            }
        mpq_mul(e, e, e);
        mpq_add(sum, sum, e);
    }
    double d = sqrt(mpq_get_d(sum));
    for (d *= 1 - 1e-15;; d = nextafter(d, INFINITY)) {
        mpq_set_d(x, d);
        mpq_mul(x, x, x);
        if (mpq_cmp(x, sum) >= 0) break;
    }
    mpq_clears(w[0], w[1], w[2], e, sum, x, y, at[0], at[1], NULL);
    return d;
}

/* The distance at some time, or at the start of a motion that only moves apart, exactly: the pair comes as near as
 * that, and must be told so. A little less, where the parts only move apart, must mostly be told apart. */
static void test_none_is_missed_within_a_separation(void **state) {
    (void)state;
    test_random r = {77};
    for (int recipe = 0; recipe < RECIPES; recipe++)
        for (int kind = 0; kind < 2; kind++) {
            int64_t parting = 0, told_apart = 0;
            for (int64_t i = 0; i < pairs_per_recipe; i++) {
                pair_recipe how = {recipes[recipe].scale, recipes[recipe].shift, false};
                moving_pair p = random_moving_pair(&r, (drape_ccd_kind)kind, &how);
                double weight[3], at = test_random_below(&r, 2) ? 0 : test_random_below(&r, 1025) / 1024.0;
                int triangle;
                moving_pair_distance2(&p, at, &triangle, weight);
                drape_ccd_settings settings = {.separation = separation_for(&p, at, triangle, weight)};
                double t = drape_ccd_time(p.kind, p.start, p.end, &settings);
                if (!(t <= at))
                    fail_msg("pair %lld of recipe %d comes as near as %.17g at %.17g, but was told %.17g",
                             (long long)i, recipe, settings.separation, at, t);
                if (at > 0 || moving_pair_least_distance(&p, 0, 1) < settings.separation * 0.9999999) continue;
                settings.separation *= 0.9999;
                parting++;
                told_apart += drape_ccd_time(p.kind, p.start, p.end, &settings) > 1;
            }
            assert_true(parting * 20 > pairs_per_recipe && told_apart * 10 >= parting * 9);
        }
}

#else

static int begin_decisions(void **state) { return (void)state, 0; }
static int end_decisions(void **state) { return (void)state, 0; }
static int64_t pairs_per_recipe;

static void test_the_exact_answers(void **state) {
    (void)state;
    print_message("built without GMP (libgmp-dev): nothing to compare with\n");
    skip();
}
#define test_none_is_missed                     test_the_exact_answers
#define test_none_is_missed_within_a_separation test_the_exact_answers

#endif

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_exact_answers),
        cmocka_unit_test(test_none_is_missed),
        cmocka_unit_test(test_none_is_missed_within_a_separation),
    };
    if (argc > 1) pairs_per_recipe = strtoll(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, begin_decisions, end_decisions);
}
