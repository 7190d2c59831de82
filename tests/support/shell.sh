# shellcheck shell=bash
# shell.sh: tests in bash whose output has the shape of cmocka's.
#
#   source "$1/tests/support/shell.sh"
#   adds_up() { [ $((1 + 1)) -eq 2 ]; }
#   run_test adds_up adds_up
#   finish_tests
#
# A test is a function; it runs in a subshell under `set -eu` and fails with its first failing command.
# `skip WHY` leaves it out. Its output is shown unless it passes.

set -u
shell_tests_run=0
shell_tests_failed=0
# A directory for files of this test program, removed at the end.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run_test NAME FUNCTION [ARGUMENT...]
run_test() {
    local name=$1 status
    shift
    printf '[ RUN      ] %s\n' "$name"
    # Not as a condition (`if`, `||`): bash ignores set -e there.
    (
        trap - EXIT
        set -eu
        "$@"
    ) >"$scratch/.output" 2>&1 </dev/null
    status=$?
    shell_tests_run=$((shell_tests_run + 1))
    if [ $status -eq 0 ]; then
        printf '[       OK ] %s\n' "$name"
        return
    fi
    cat "$scratch/.output"
    if [ $status -eq 77 ]; then
        printf '[  SKIPPED ] %s\n' "$name"
    else
        shell_tests_failed=$((shell_tests_failed + 1))
        printf '[  FAILED  ] %s\n' "$name"
    fi
}

skip() {
    echo "skipped: $*"
    exit 77
}

fail() {
    echo "$*"
    exit 1
}

# expect_failure TEXT COMMAND...: the command must fail, and its output must hold the text.
expect_failure() {
    local text=$1 output
    shift
    if output=$("$@" 2>&1); then fail "should have failed: $*"; fi
    grep -qF -- "$text" <<<"$output" || fail "should have said '$text': $* said: $output"
}

finish_tests() {
    [ "$shell_tests_run" -gt 0 ] && [ "$shell_tests_failed" -eq 0 ]
    exit
}
