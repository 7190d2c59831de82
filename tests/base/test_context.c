/* The context: settings, memory, messages. */
#include "support/testing.h"

#include "base/context.h"
#include "base/simd_level.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that counts, and that fails from the given call on. */
typedef struct counter {
    int64_t live_blocks, live_bytes, calls;
    int64_t first_failure; /* 0: never */
} counter;

static void *counted_alloc(void *user, size_t bytes) {
    counter *c = user;
    if (++c->calls == c->first_failure) return NULL;
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) return NULL;
    memset(memory, 0xa5, bytes);
    c->live_blocks++;
    c->live_bytes += (int64_t)bytes;
    return memory;
}

static void counted_free(void *user, void *memory, size_t bytes) {
    counter *c = user;
    c->live_blocks--;
    c->live_bytes -= (int64_t)bytes;
    free(memory);
}

static drape_context_settings counted_settings(counter *c, int32_t threads) {
    drape_context_settings settings = drape_context_defaults();
    settings.allocator = (drape_allocator){counted_alloc, counted_free, c};
    settings.threads = threads;
    return settings;
}

static void test_defaults(void **state) {
    (void)state;
    drape_context_settings settings = drape_context_defaults();
    assert_int_equal(settings.threads, 0);
    assert_int_equal(settings.simd, DRAPE_SIMD_BEST);
    assert_null(settings.allocator.alloc);
    assert_null(settings.log);
    assert_null(settings.scheduler.run);
    drape_context *ctx;
    assert_int_equal(drape_context_create(NULL, &ctx), DRAPE_OK);
    assert_true(drape_context_threads(ctx) >= 1 && drape_context_threads(ctx) <= 256);
    assert_int_equal(drape_context_simd(ctx), drape_i_simd_best());
    assert_string_equal(drape_message(ctx), "");
    drape_context_destroy(ctx);
    drape_context_destroy(NULL);
}

/* A struct of zeros is one of defaults: it selects the widest vectors, not the narrowest. */
static void test_zeros_are_the_defaults(void **state) {
    (void)state;
    drape_context_settings zeros = {0}, defaults = drape_context_defaults();
    drape_context *ctx;
    assert_int_equal(zeros.threads, defaults.threads);
    assert_int_equal(zeros.simd, defaults.simd);
    assert_int_equal(drape_context_create(&zeros, &ctx), DRAPE_OK);
    assert_int_equal(drape_context_simd(ctx), drape_i_simd_best());
    assert_int_not_equal(drape_context_simd(ctx), DRAPE_SIMD_BEST);
    drape_context_destroy(ctx);
}

static void test_null_is_refused_or_answered(void **state) {
    (void)state;
    assert_int_equal(drape_context_create(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_context_threads(NULL), 0);
    assert_int_equal(drape_context_simd(NULL), DRAPE_SIMD_BEST);
    assert_int_equal(drape_context_bytes(NULL), 0);
    assert_true(drape_read_bandwidth(NULL, 1 << 20) == 0);
    assert_non_null(drape_message(NULL));
}

static void assert_refused(drape_context_settings settings) {
    drape_context *ctx = (drape_context *)&settings;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_ERROR_ARGUMENT);
    assert_null(ctx);
    assert_non_null(drape_message(ctx));
}

static void test_bad_settings_are_refused(void **state) {
    (void)state;
    counter c = {0};
    drape_context_settings good = counted_settings(&c, 1), bad = good;
    bad.threads = -1;
    assert_refused(bad);
    bad.threads = 257;
    assert_refused(bad);
    bad = good;
    bad.allocator.free = NULL;
    assert_refused(bad);
    bad = good;
    bad.allocator.alloc = NULL;
    assert_refused(bad);
    bad = good;
    bad.simd = (drape_simd)(DRAPE_SIMD_AVX512 + 1);
    assert_refused(bad);
    bad = good;
    bad.reserved[7] = 1;
    assert_refused(bad);
    assert_int_equal(c.calls, 0);
}

static void test_simd_level_is_there_or_refused(void **state) {
    (void)state;
    for (int level = DRAPE_SIMD_BASELINE; level <= DRAPE_SIMD_AVX512; level++) {
        drape_context_settings settings = drape_context_defaults();
        settings.threads = 1;
        settings.simd = (drape_simd)level;
        assert_true(strlen(drape_simd_name(settings.simd)) > 0);
        if (!drape_i_simd_available(settings.simd)) {
            assert_refused(settings);
            continue;
        }
        drape_context *ctx;
        assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
        assert_int_equal(drape_context_simd(ctx), level);
        drape_context_destroy(ctx);
    }
    assert_true(drape_i_simd_available(DRAPE_SIMD_BASELINE));
    assert_false(drape_i_simd_available(DRAPE_SIMD_BEST));
}

static void test_memory_is_counted_to_the_byte(void **state) {
    (void)state;
    counter c = {0};
    drape_context_settings settings = counted_settings(&c, 1);
    drape_context *ctx;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    int64_t own = c.live_bytes; /* the context itself, which it does not count */
    assert_int_equal(drape_context_bytes(ctx), 0);
    void *memory[100];
    for (int i = 0; i < 100; i++) {
        assert_non_null(memory[i] = drape_i_alloc(ctx, 7 * i, 12));
        assert_int_equal(drape_context_bytes(ctx), c.live_bytes - own);
    }
    assert_true(drape_context_bytes(ctx) >= 99 * 100 / 2 * 7 * 12);
    for (int i = 0; i < 100; i++) drape_i_free(ctx, memory[i], 7 * i, 12);
    drape_i_free(ctx, NULL, 3, 8);
    assert_int_equal(drape_context_bytes(ctx), 0);
    assert_int_equal(c.live_bytes, own);
    drape_context_destroy(ctx);
    assert_int_equal(c.live_bytes, 0);
    assert_int_equal(c.live_blocks, 0);
}

static void test_memory_is_aligned_and_zeroed(void **state) {
    (void)state;
    counter c = {0};
    drape_context_settings counted = counted_settings(&c, 1), usual = drape_context_defaults();
    const drape_context_settings *both[] = {&counted, &usual};
    for (int k = 0; k < 2; k++) {
        drape_context *ctx;
        assert_int_equal(drape_context_create(both[k], &ctx), DRAPE_OK);
        for (int64_t n = 0; n < 300; n += 7) {
            unsigned char *memory;
            assert_true(DRAPE_NEW(ctx, memory, n));
            assert_int_equal((uintptr_t)memory % 64, 0);
            for (int64_t i = 0; i < n; i++) assert_int_equal(memory[i], 0);
            if (n) memset(memory, 1, (size_t)n);
            DRAPE_FREE(ctx, memory, n);
        }
        drape_context_destroy(ctx);
    }
    assert_int_equal(c.live_blocks, 0);
}

static void test_overflow_is_refused(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        size_t size;
    } bad[] = {{INT64_MAX, 8},         {INT64_MAX, SIZE_MAX},
               {INT64_C(1) << 61, 16}, {1, SIZE_MAX},
               {1, SIZE_MAX - 64},     {-1, 1},
               {INT64_MIN, 1},         {INT64_C(1) << 33, (size_t)1 << 31}};
    counter c = {0};
    drape_context_settings settings = counted_settings(&c, 1);
    drape_context *ctx;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ctx->message[0] = 0;
        assert_null(drape_i_alloc(ctx, bad[i].count, bad[i].size));
        assert_non_null(strstr(drape_message(ctx), "out of memory"));
    }
    assert_int_equal(c.calls, 1); /* not one came as far as the allocator */
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
    assert_int_equal(c.live_blocks, 0);
}

static void test_creation_survives_any_failing_allocation(void **state) {
    (void)state;
    drape_status status = DRAPE_ERROR_MEMORY;
    int64_t n = 0;
    while (status != DRAPE_OK) {
        counter c = {.first_failure = ++n};
        drape_context_settings settings = counted_settings(&c, 4);
        drape_context *ctx;
        status = drape_context_create(&settings, &ctx);
        assert_true(status == DRAPE_OK || (status == DRAPE_ERROR_MEMORY && !ctx));
        drape_context_destroy(ctx);
        assert_int_equal(c.live_blocks, 0);
        assert_int_equal(c.live_bytes, 0);
    }
    assert_true(n > 2); /* the context and its pool both took memory */
}

static void test_names(void **state) {
    (void)state;
    for (int status = DRAPE_OK; status <= DRAPE_ERROR_NUMBER; status++) {
        const char *name = drape_status_name((drape_status)status);
        assert_true(name && strlen(name) > 0);
        for (int other = DRAPE_OK; other < status; other++)
            assert_string_not_equal(name, drape_status_name((drape_status)other));
    }
    assert_string_equal(drape_status_name(DRAPE_OK), "ok");
    assert_string_equal(drape_status_name(DRAPE_ERROR_ARGUMENT), "bad argument");
    assert_null(drape_status_name((drape_status)(DRAPE_ERROR_NUMBER + 1)));
    assert_string_equal(drape_log_level_name(DRAPE_LOG_WARNING), "warning");
    assert_null(drape_log_level_name((drape_log_level)(DRAPE_LOG_INFO + 1)));
    assert_string_equal(drape_simd_name(DRAPE_SIMD_BEST), "best");
    assert_null(drape_simd_name((drape_simd)(DRAPE_SIMD_AVX512 + 1)));
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", DRAPE_VERSION_MAJOR, DRAPE_VERSION_MINOR, DRAPE_VERSION_PATCH);
    assert_string_equal(drape_version(), version);
}

typedef struct journal {
    int lines;
    drape_log_level level;
    char text[2 * DRAPE_I_MESSAGE_SIZE];
} journal;

static void keep(void *user, drape_log_level level, const char *message) {
    journal *j = user;
    j->lines++;
    j->level = level;
    snprintf(j->text, sizeof j->text, "%s", message);
}

static void test_messages_and_log(void **state) {
    (void)state;
    journal j = {0};
    drape_context_settings settings = drape_context_defaults();
    settings.threads = 1;
    settings.log = keep;
    settings.log_user = &j;
    drape_context *ctx;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    assert_int_equal(j.lines, 0);
    assert_int_equal(drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: line %d", "a.obj", 7), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(ctx), "a.obj: line 7");
    assert_int_equal(j.lines, 1);
    assert_int_equal(j.level, DRAPE_LOG_ERROR);
    assert_string_equal(j.text, "a.obj: line 7");
    drape_i_log(ctx, DRAPE_LOG_WARNING, "%d slivers", 3);
    assert_int_equal(j.lines, 2);
    assert_int_equal(j.level, DRAPE_LOG_WARNING);
    assert_string_equal(j.text, "3 slivers");
    assert_string_equal(drape_message(ctx), "a.obj: line 7"); /* a log line is no failure */
    drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "mesh: %s", drape_message(ctx));
    assert_string_equal(drape_message(ctx), "mesh: a.obj: line 7");
    drape_context_destroy(ctx);
    assert_non_null(drape_message(NULL));
}

static void test_long_messages_are_cut(void **state) {
    (void)state;
    char text[3 * DRAPE_I_MESSAGE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    drape_context *ctx = test_context(1);
    drape_i_fail(ctx, DRAPE_ERROR_IO, "%s", text);
    assert_int_equal(strlen(drape_message(ctx)), DRAPE_I_MESSAGE_SIZE - 1);
    drape_i_log(ctx, DRAPE_LOG_INFO, "%s", text); /* nobody listens */
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_zeros_are_the_defaults),
        cmocka_unit_test(test_null_is_refused_or_answered),
        cmocka_unit_test(test_bad_settings_are_refused),
        cmocka_unit_test(test_simd_level_is_there_or_refused),
        cmocka_unit_test(test_memory_is_counted_to_the_byte),
        cmocka_unit_test(test_memory_is_aligned_and_zeroed),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_creation_survives_any_failing_allocation),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_messages_and_log),
        cmocka_unit_test(test_long_messages_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
