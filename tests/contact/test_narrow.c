/* The narrow phase. */
#include "drape/contact.h"
#include "support/testing.h"

static void test_names(void **state) {
    (void)state;
    assert_string_equal(drape_ccd_kind_name(DRAPE_CCD_VERTEX_FACE), "vertex-face");
    assert_string_equal(drape_ccd_kind_name(DRAPE_CCD_EDGE_EDGE), "edge-edge");
    assert_null(drape_ccd_kind_name((drape_ccd_kind)2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
