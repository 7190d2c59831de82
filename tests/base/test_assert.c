/* DRAPE_ASSERT: if it is on, a false condition aborts; if it is off, the condition is not even evaluated. The library
 * was built with it exactly where the build says so. */
#include "base/file.h"
#include "support/testing.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(DRAPE_ASSERTIONS)
static const bool library_asserts = true;
#else
static const bool library_asserts = false;
#endif

/* The header twice more, on and off, whatever this build has. */
#undef DRAPE_ASSERT
#undef DRAPE_ASSERTIONS
#undef DRAPE_BASE_ASSERT_H
#define DRAPE_ASSERTIONS
#include "base/assert.h"
static void assert_when_on(int *evaluated) { DRAPE_ASSERT(++*evaluated > 1); }

#undef DRAPE_ASSERT
#undef DRAPE_ASSERTIONS
#undef DRAPE_BASE_ASSERT_H
#include "base/assert.h"
static void assert_when_off(int *evaluated) { DRAPE_ASSERT(++*evaluated > 1); }

/* How a child that runs the function ends: the signal, or 0. It says nothing and leaves no core. */
static int signal_of(void (*run)(void)) {
    int how;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        signal(SIGABRT, SIG_DFL);
        run();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFEXITED(how)) assert_int_equal(WEXITSTATUS(how), 0);
    return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

static void break_when_on(void) {
    int evaluated = 0;
    assert_when_on(&evaluated);
}

static void break_when_off(void) {
    int evaluated = 0;
    assert_when_off(&evaluated);
}

static void on_it_aborts_and_off_it_does_nothing(void **state) {
    (void)state;
    int evaluated = 5;
    assert_int_equal(signal_of(break_when_on), SIGABRT);
    assert_int_equal(signal_of(break_when_off), 0);
    assert_when_off(&evaluated);
    assert_int_equal(evaluated, 5);
    assert_when_on(&evaluated); /* a condition that holds */
    assert_int_equal(evaluated, 6);
}

/* A precondition of a private function, broken on purpose: reading after the end. */
static void read_behind_the_end(void) {
    drape_context *ctx = test_context(1);
    drape_i_spill spill;
    char byte;
    if (drape_i_spill_create(ctx, "/tmp/drape-assert", &spill)) _exit(4);
    if (!drape_i_spill_read(ctx, &spill, 100, &byte, 1)) _exit(5);
    drape_i_spill_destroy(&spill);
    drape_context_destroy(ctx);
}

static void the_library_is_built_as_promised(void **state) {
    (void)state;
    print_message("assertions are %s\n", library_asserts ? "on" : "off");
    assert_int_equal(signal_of(read_behind_the_end), library_asserts ? SIGABRT : 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_it_aborts_and_off_it_does_nothing),
        cmocka_unit_test(the_library_is_built_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
