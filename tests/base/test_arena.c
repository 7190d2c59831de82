/* The arena: alignment, zeroes, no overlap, nothing left behind. */
#include "support/testing.h"

#include "base/arena.h"

#include <string.h>

static void test_memory_is_aligned_zeroed_and_apart(void **state) {
    (void)state;
    enum { COUNT = 200 };
    drape_context *ctx = test_context(1);
    drape_i_arena arena = {0};
    test_random r = {1};
    for (int round = 0; round < 3; round++) {
        unsigned char *memory[COUNT];
        int32_t length[COUNT];
        for (int i = 0; i < COUNT; i++) {
            length[i] = test_random_below(&r, 5000);
            memory[i] = drape_i_arena_get(ctx, &arena, length[i], 3);
            assert_non_null(memory[i]);
            assert_int_equal((uintptr_t)memory[i] % 64, 0);
            for (int32_t k = 0; k < 3 * length[i]; k++) assert_true(memory[i][k] == 0);
            memset(memory[i], i + 1, 3 * (size_t)length[i]);
        }
        for (int i = 0; i < COUNT; i++)
            for (int32_t k = 0; k < 3 * length[i]; k++) assert_true(memory[i][k] == (unsigned char)(i + 1));
        drape_i_arena_free(ctx, &arena); /* and may be used again */
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_nothing_asked_is_a_pointer_of_its_own(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_i_arena arena = {0};
    void *a = drape_i_arena_get(ctx, &arena, 0, 8), *b = drape_i_arena_get(ctx, &arena, 5, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    drape_i_arena_free(ctx, &arena);
    drape_i_arena_free(ctx, &arena);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_overflow_is_refused(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        size_t size;
    } bad[] = {{INT64_MAX, 1}, {INT64_MAX, SIZE_MAX}, {INT64_MAX / 2, 2}, {1, SIZE_MAX}, {-1, 1}, {INT64_MIN, 8}};
    drape_context *ctx = test_context(1);
    drape_i_arena arena = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(drape_i_arena_get(ctx, &arena, bad[i].count, bad[i].size));
        assert_non_null(strstr(drape_message(ctx), "out of memory"));
    }
    assert_non_null(drape_i_arena_get(ctx, &arena, 1, 1));
    drape_i_arena_free(ctx, &arena);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_aligned_zeroed_and_apart),
        cmocka_unit_test(test_nothing_asked_is_a_pointer_of_its_own),
        cmocka_unit_test(test_overflow_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
