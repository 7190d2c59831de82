/* Point caches byte by byte: what is read of files that other programs may have written, and what is refused. */
#include "sparse/counting_allocator.h"

#include "drape/io.h"

#include <string.h>

/* Two frames of one vertex, from frame 10 on, every half frame. */
static const unsigned char PC2[] = {'P',
                                    'O',
                                    'I',
                                    'N',
                                    'T',
                                    'C',
                                    'A',
                                    'C',
                                    'H',
                                    'E',
                                    '2',
                                    0, /* and its version: */
                                    1,
                                    0,
                                    0,
                                    0,
                                    /* vertices: */ 1,
                                    0,
                                    0,
                                    0,
                                    /* start: */ 0,
                                    0,
                                    0x20,
                                    0x41,
                                    /* rate: */ 0,
                                    0,
                                    0,
                                    0x3f,
                                    /* samples: */ 2,
                                    0,
                                    0,
                                    0,
                                    /* 1, 2, 3 */ 0,
                                    0,
                                    0x80,
                                    0x3f,
                                    0,
                                    0,
                                    0,
                                    0x40,
                                    0,
                                    0,
                                    0x40,
                                    0x40,
                                    /* -1, 0, 0.5 */ 0,
                                    0,
                                    0x80,
                                    0xbf,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0x3f};
/* The same two frames at 0 s and 0.5 s. */
static const unsigned char MDD[] = {0,
                                    0,
                                    0,
                                    2,
                                    /* vertices: */ 0,
                                    0,
                                    0,
                                    1,
                                    /* times: */ 0,
                                    0,
                                    0,
                                    0,
                                    0x3f,
                                    0,
                                    0,
                                    0,
                                    0x3f,
                                    0x80,
                                    0,
                                    0,
                                    0x40,
                                    0,
                                    0,
                                    0,
                                    0x40,
                                    0x40,
                                    0,
                                    0,
                                    0xbf,
                                    0x80,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0x3f,
                                    0,
                                    0,
                                    0};

static drape_cache *parse(drape_context *ctx, const char *name, const unsigned char *data, int64_t size) {
    drape_cache *cache;
    ASSERT_OK(ctx, drape_cache_parse(ctx, name, data, size, &cache));
    return cache;
}

static void check_frames(const drape_cache *cache, double first_time) {
    static const double want[2][3] = {{1, 2, 3}, {-1, 0, 0.5}};
    double x[3];
    assert_int_equal(drape_cache_describe(cache)->frames, 2);
    assert_int_equal(drape_cache_describe(cache)->vertices, 1);
    for (int32_t f = 0; f < 2; f++) {
        assert_int_equal(drape_cache_frame(cache, f, x), DRAPE_OK);
        assert_memory_equal(x, want[f], sizeof x);
        assert_true(drape_cache_time(cache, f) == first_time + 0.5 * f);
    }
    assert_int_equal(drape_cache_frame(cache, -1, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_cache_frame(cache, 2, x), DRAPE_ERROR_ARGUMENT);
    assert_true(drape_cache_time(cache, 2) != drape_cache_time(cache, 2));
}

static void test_every_number_is_found(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    drape_cache *pc2 = parse(ctx, "a.pc2", PC2, sizeof PC2), *mdd = parse(ctx, "a.mdd", MDD, sizeof MDD);
    check_frames(pc2, 10);
    check_frames(mdd, 0);
    assert_false(drape_cache_describe(pc2)->has_times);
    assert_true(drape_cache_describe(mdd)->has_times);
    drape_cache_close(pc2);
    drape_cache_close(mdd);
    drape_cache_close(NULL);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* One byte of a good file changed, or its end cut off. */
static void refuse(const char *name, const unsigned char *good, int64_t size, int64_t at, unsigned char byte,
                   const char *part) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    unsigned char data[sizeof PC2];
    drape_cache *cache;
    int64_t before = memory.live;
    memcpy(data, good, (size_t)size);
    if (at >= 0) data[at] = byte;
    assert_int_equal(drape_cache_parse(ctx, name, data, size, &cache), DRAPE_ERROR_FORMAT);
    assert_null(cache);
    if (!strstr(drape_message(ctx), part)) fail_msg("\"%s\" does not say \"%s\"", drape_message(ctx), part);
    assert_true(memory.peak - before <= 1024); /* whatever the head claims */
    assert_int_equal(memory.live, before);
    drape_context_destroy(ctx);
}

static void test_what_does_not_fit_is_refused(void **state) {
    (void)state;
    for (int64_t size = 0; size < (int64_t)sizeof PC2; size++) refuse("a.pc2", PC2, size, -1, 0, "a.pc2: ");
    for (int64_t size = 0; size < (int64_t)sizeof MDD; size++) refuse("a.mdd", MDD, size, -1, 0, "a.mdd: ");
    refuse("a.pc2", PC2, sizeof PC2, 0, 'p', "does not begin");
    refuse("a.pc2", PC2, sizeof PC2, 12, 2, "only version 1 of PC2 can be read, not 2");
    refuse("a.pc2", PC2, sizeof PC2, 19, 0x7f, "do not make 56 bytes");
    refuse("a.pc2", PC2, sizeof PC2, 31, 0xff, "do not make 56 bytes");
    refuse("a.pc2", PC2, sizeof PC2, 28, 0, "do not make 56 bytes");
    refuse("a.pc2", PC2, sizeof PC2, 27, 0xbf, "every -0.5 frames");
    refuse("a.mdd", MDD, sizeof MDD, 0, 0x7f, "do not make 40 bytes");
    refuse("a.mdd", MDD, sizeof MDD, 4, 0xff, "do not make 40 bytes");
    refuse("a.mdd", MDD, sizeof MDD, 12, 0xbf, "frame 1 is at -0.5 s");
    refuse("a.mdd", MDD, sizeof MDD, 7, 0, "do not make 40 bytes");
}

static void test_not_finite(void **state) {
    unsigned char data[sizeof MDD];
    (void)state;
    memcpy(data, MDD, sizeof data);
    data[28] = 0x7f;
    refuse("a.mdd", data, sizeof data, 29, 0x80, "frame 1: vertex 0 is not finite");
}

static void test_other_endings(void **state) {
    drape_context *ctx = test_context(1);
    drape_cache *cache;
    (void)state;
    assert_int_equal(drape_cache_parse(ctx, "a.abc", PC2, sizeof PC2, &cache), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_cache_parse(ctx, "a.pc2", NULL, 1, &cache), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_cache_open(ctx, "/nowhere/a.pc2", &cache), DRAPE_ERROR_IO);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_memory_that_runs_out(void **state) {
    drape_cache *cache = NULL;
    (void)state;
    for (int64_t n = 0; !cache; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_status status = drape_cache_parse(ctx, "a.mdd", MDD, sizeof MDD, &cache);
        assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_true(!memory.failed == (n >= 2));
        drape_cache_close(cache);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number_is_found),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_other_endings),
        cmocka_unit_test(test_memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
