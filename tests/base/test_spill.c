/* Spills: what was appended is read from anywhere, in between too; no name is left at any time. */
#include "base/file.h"
#include "support/folder.h"
#include "support/testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 100000 };

static void everything_is_read_back(void **state) {
    (void)state;
    char folder[] = "/tmp/drape-test-spill-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.glb", folder);
    drape_context *ctx = test_context(1);
    drape_i_spill spill;
    test_random r = {5};
    ASSERT_OK(ctx, drape_i_spill_create(ctx, path, &spill));
    for (int32_t i = 0; i < NUMBERS; i++) {
        ASSERT_OK(ctx, drape_i_spill_append(ctx, &spill, &i, sizeof i));
        if (i % 100 != 99) continue;
        int32_t first = test_random_below(&r, i), got[2];
        ASSERT_OK(ctx, drape_i_spill_read(ctx, &spill, 4 * (int64_t)first, got, sizeof got));
        assert_true(got[0] == first && got[1] == first + 1);
        ASSERT_OK(ctx, drape_i_spill_read(ctx, &spill, 4 * (int64_t)i, got, 4)); /* the last one, and after it */
        assert_int_equal(got[0], i);
    }
    assert_int_equal(spill.size, 4 * NUMBERS);
    assert_int_equal(test_folder_entries(folder, false), 0);
    drape_i_spill_destroy(&spill);
    drape_i_spill_destroy(&spill); /* of nothing */
    rmdir(folder);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void failures_name_the_file(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_i_spill spill;
    char byte;
    assert_int_equal(drape_i_spill_create(ctx, "/nowhere/at/all.glb", &spill), DRAPE_ERROR_IO);
    assert_string_equal(drape_message(ctx),
                        "/nowhere/at/all.glb: cannot create its temporary file: No such file or directory");
    ASSERT_OK(ctx, drape_i_spill_create(ctx, "/tmp/drape-test-spill", &spill));
    ASSERT_OK(ctx, drape_i_spill_append(ctx, &spill, "a", 1));
    assert_int_equal(fflush(spill.stream), 0);
    assert_int_equal(ftruncate(fileno(spill.stream), 0), 0); /* a disk that has lost it */
    assert_int_equal(drape_i_spill_read(ctx, &spill, 0, &byte, 1), DRAPE_ERROR_IO);
    assert_non_null(strstr(drape_message(ctx), "/tmp/drape-test-spill: cannot read its temporary file"));
    drape_i_spill_destroy(&spill);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read_back),
        cmocka_unit_test(failures_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
