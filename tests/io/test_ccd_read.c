/* Reading queries of continuous collision detection: what is exact, what is rounded, and what is refused, with its
 * line. */
#include "drape/io.h"
#include "support/folder.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Eight lines of one query, the coordinates of the first vertex and the column after them given. */
static const char *query_text(const char *first, const char *truth) {
    static char text[8192];
    int length = snprintf(text, sizeof text, "%s%s\n", first, truth);
    for (int i = 1; i < 8; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%d,2,-%d,4, 3 , 8%s\r\n", i, i, truth);
    return text;
}

static drape_status parse(drape_context *ctx, const char *name, const char *text, drape_ccd_queries **out) {
    return drape_ccd_parse(ctx, name, text, (int64_t)strlen(text), NULL, out);
}

static void test_coordinates(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_ccd_queries *q;
    ASSERT_OK(ctx, parse(ctx, "edge-edge/a.csv", query_text("-8388609,8388608,+5,1,0,7", ",1"), &q));
    assert_int_equal(q->pairs.kind, DRAPE_CCD_EDGE_EDGE);
    assert_int_equal(q->pairs.pairs, 1);
    assert_int_equal(q->truth[0], 1);
    assert_true(isnan(q->time[0]));
    assert_int_equal(q->rounded, 0);
    assert_true(q->pairs.start[0] == -8388609.0 / 8388608 && q->pairs.start[1] == 5 && q->pairs.start[2] == 0);
    for (int i = 1; i < 8; i++) {
        const double *x = (i < 4 ? q->pairs.start : q->pairs.end) + 3 * (i % 4);
        assert_true(x[0] == i / 2.0 && x[1] == -i / 4.0 && x[2] == 0.375);
    }
    drape_ccd_queries_destroy(q);
    ASSERT_OK(ctx, parse(ctx, "12vf.csv", query_text("1,1,1,1,1,1", ""), &q));
    assert_int_equal(q->pairs.kind, DRAPE_CCD_VERTEX_FACE);
    assert_int_equal(q->truth[0], -1);
    drape_ccd_queries_destroy(q);
    drape_context_destroy(ctx);
}

/* 2^112 / 2^111 and the like are exact, whatever their length; a third is not; nor is 2^53 + 1. */
static void test_rounding(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double x, y, z;
        int64_t rounded;
    } cases[] = {
        {"5192296858534827628530496329220096,2596148429267413814265248164610048,1,2,1,4", 2, 0.5, 0.25, 0},
        {"1,3,2,3,3,3", 1.0 / 3, 2.0 / 3, 1, 2},
        {"9007199254740993,1,9007199254740992,1,9007199254740994,1", 0x1p53, 0x1p53, 0x1p53 + 2, 1},
        {"18014398509481985,18014398509481985,3,9007199254740991,6,2", 1, 3.0 / 9007199254740991.0, 3, 2},
        {"1000000000000000000000,1000000000000000000000,1,1,1,1", 1, 1, 1, 0}, /* 10^21 = 2^21 5^21 */
    };
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        drape_ccd_queries *q;
        ASSERT_OK(ctx, parse(ctx, "ee.csv", query_text(cases[i].text, ",0"), &q));
        assert_true(q->pairs.start[0] == cases[i].x && q->pairs.start[1] == cases[i].y &&
                    q->pairs.start[2] == cases[i].z);
        assert_int_equal(q->rounded, cases[i].rounded);
        drape_ccd_queries_destroy(q);
    }
    drape_context_destroy(ctx);
}

static void write_mesh(const char *path, const char *last) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 %s\nf 1 2 3\nf 1 2 4\n", last);
    assert_int_equal(fclose(f), 0);
}

static void test_vertices(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_ccd_queries *q;
    const char *text = "v,f0,f1,f2,truth,toi\n3,0,1,2,1,0.125\n\n0,3,1,2,0,\n";
    char folder[] = "/tmp/drape-ccd-XXXXXX", start[64], end[64];
    assert_non_null(mkdtemp(folder));
    snprintf(start, sizeof start, "%s/a.obj", folder), snprintf(end, sizeof end, "%s/b.obj", folder);
    write_mesh(start, "1");
    write_mesh(end, "-1");
    drape_ccd_read_options options = {.start = start, .end = end};
    ASSERT_OK(ctx, drape_ccd_parse(ctx, "x.csv", text, (int64_t)strlen(text), &options, &q));
    assert_int_equal(q->pairs.kind, DRAPE_CCD_VERTEX_FACE);
    assert_int_equal(q->pairs.vertices, 4);
    assert_int_equal(q->pairs.pairs, 2);
    assert_int_equal(q->pairs.vertex[0], 3);
    assert_int_equal(q->pairs.vertex[7], 2);
    assert_true(q->truth[0] == 1 && q->time[0] == 0.125 && q->truth[1] == 0 && isnan(q->time[1]));
    assert_true(q->pairs.start[11] == 1 && q->pairs.end[11] == -1);
    drape_ccd_queries_destroy(q);

    options.kind = "edge-edge";
    assert_int_equal(drape_ccd_parse(ctx, "x.csv", text, (int64_t)strlen(text), &options, &q), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "x.csv:1: the heading names another kind"));
    options.kind = NULL, text = "ea0,ea1,eb0,eb1,truth\n0,1,2,4,0\n";
    assert_int_equal(drape_ccd_parse(ctx, "x.csv", text, (int64_t)strlen(text), &options, &q), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "x.csv:2: \"4\" is not a vertex: the meshes have 4"));
    options.end = NULL; /* and no frames beside x.csv */
    assert_int_equal(drape_ccd_parse(ctx, "x.csv", text, (int64_t)strlen(text), &options, &q), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "there are no frames beside it"));
    test_folder_entries(folder, true);
    rmdir(folder);
    drape_context_destroy(ctx);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *first, *truth, *why;
    } cases[] = {
        {"ee.csv", "1,0,1,1,1,1", ",1", "ee.csv:1: \"0\" is a denominator, which must be above zero"},
        {"ee.csv", "1,-2,1,1,1,1", ",1", "ee.csv:1: \"-2\" is a denominator"},
        {"ee.csv", "1,1,1,1,1", ",1,1,1", "ee.csv:1: expected 6 or 7 columns"},
        {"ee.csv", "1,1,1,1,1,1", ",2", "ee.csv:1: \"2\" is neither 1"},
        {"ee.csv", "1.5,1,1,1,1,1", ",1", "ee.csv:1: \"1.5\" "},
        {"ee.csv", "1,,1,1,1,1", ",1", "ee.csv:1: \"\" "},
        {"ee.csv", "1,1,1,1,1,nan", ",1", "ee.csv:1: \"nan\" "},
        {"queries.csv", "1,1,1,1,1,1", ",1", "queries.csv: neither the path nor a heading says"},
        {"vertex-face/ee.csv", "1,1,1,1,1,1", ",1", "neither the path nor a heading says"},
        {"ee.csv", "hello", ",1", "ee.csv:1: neither a line of numbers nor a heading"},
    };
    drape_context *ctx = test_context(1);
    drape_ccd_queries *q;
    char digits[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t bytes = drape_context_bytes(ctx);
        assert_int_equal(parse(ctx, cases[i].name, query_text(cases[i].first, cases[i].truth), &q),
                         DRAPE_ERROR_FORMAT);
        if (!strstr(drape_message(ctx), cases[i].why))
            fail_msg("should have said '%s': %s", cases[i].why, drape_message(ctx));
        assert_null(q);
        assert_int_equal(drape_context_bytes(ctx), bytes);
    }
    memset(digits, '7', sizeof digits);
    strcpy(digits + 301, ",1,1,1,1,1");
    assert_int_equal(parse(ctx, "ee.csv", query_text(digits, ""), &q), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "longer than 300 digits"));
    assert_int_equal(parse(ctx, "ee.csv", "1,1,1,1,1,1,0\n1,1,1,1,1,1,0\n", &q), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(ctx), "ee.csv:1: a query has 8 lines, but fewer follow here");
    assert_int_equal(parse(ctx, "ee.csv", "\n \n", &q), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(ctx), "ee.csv: is empty");
    assert_int_equal(drape_ccd_parse(ctx, "ee.csv", "\x1f\x8b\x08\0garbage...", 14, NULL, &q), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "damaged or cut off"));
    assert_int_equal(drape_ccd_read(ctx, "/nowhere/ee.csv", NULL, &q), DRAPE_ERROR_IO);
    assert_int_equal(drape_ccd_parse(ctx, "ee.csv", "1", 1, &(drape_ccd_read_options){.kind = "face"}, &q),
                     DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "vertex-face, edge-edge"));
    assert_int_equal(drape_ccd_read(ctx, NULL, NULL, &q), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ccd_read(ctx, "ee.csv", NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ccd_read(NULL, "ee.csv", NULL, &q), DRAPE_ERROR_ARGUMENT);
    drape_ccd_queries_destroy(NULL);
    drape_context_destroy(ctx);
}

/* Lines of one query that contradict each other. */
static void test_contradiction(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_ccd_queries *q;
    char text[512] = "";
    for (int i = 0; i < 8; i++) strcat(text, i == 5 ? "1,1,1,1,1,1,0\n" : "1,1,1,1,1,1,1\n");
    assert_int_equal(parse(ctx, "ee.csv", text, &q), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "ee.csv:6: the lines of this query disagree"));
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coordinates), cmocka_unit_test(test_rounding),      cmocka_unit_test(test_vertices),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
