#!/usr/bin/env bash
# drape ode with systems from shared libraries: the project in examples/, every field of the table, and every bad library
# with one clear line and exit code 2.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2
unset DRAPE_SIMD CFLAGS

# ode CODE ARGUMENT...: runs the program in the scratch folder, its streams into files.
ode() {
    local wanted=$1 code=0
    shift
    (cd "$scratch" && "$program" ode "$@" >out 2>err) || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape ode $*: $(cat "$scratch/out" "$scratch/err")"
}

# refuses TEXT ARGUMENT...: exit code 2, one line that holds the text, no other output.
refuses() {
    local text=$1
    shift
    ode 2 "$@"
    [ ! -s "$scratch/out" ] || fail "drape ode $* printed: $(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "drape ode $* did not say one line: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "drape ode $* should have said '$text': $(cat "$scratch/err")"
}

# holds EXPRESSION: of Python, over the keys of the JSON.
holds() {
    python3 -c 'import json, sys
keys = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2], {"__builtins__": {"abs": abs, "max": max, "len": len, "all": all}}, keys) else 1)' "$scratch/out" "$1" ||
        fail "not $1: $(cat "$scratch/out")"
}

# library NAME: compiles standard input.
library() {
    cat >"$scratch/$1.c"
    cc -std=c17 -Wall -Wextra -Werror -I "$source_dir/include" -shared -fPIC "$scratch/$1.c" -o "$scratch/$1.so"
}

# with FIELDS: y' = -2 y and y'' = -y by a table whose fields are the defaults here except for those given.
with() {
    library bad <<END
#include <drape/ode_plugin.h>
#include <math.h>
static drape_status f(void *u, double t, const double *x, const double *v, double *out) {
    (void)u, (void)t;
    out[0] = v ? -x[0] : -2 * x[0];
    return DRAPE_OK;
}
static drape_status J(void *u, double t, const double *x, const double *v, double *K, double *D) {
    (void)u, (void)t, (void)x, (void)v, (void)D;
    K[0] = -2;
    return DRAPE_OK;
}
static const double one[] = {1}, bad[] = {NAN};
static const drape_ode_events nothing = {0};
const drape_ode_plugin *drape_ode_plugin_get(void) {
    static drape_ode_plugin t = {DRAPE_ODE_PLUGIN_HEAD, .name = "t", .end = 1, .x = one, .system = {.order = 1, .size = 1, .f = f}};
    (void)J, (void)bad, (void)nothing;
    $1;
    return &t;
}
END
}

the_examples_compile_and_run() {
    cp -r "$source_dir/examples/ode-plugin" "$scratch/project"
    make -C "$scratch/project" DRAPE="-I$source_dir/include" CFLAGS="-O2 -std=c17 -Wall -Wextra -Werror"
    ode 0 ./project/van_der_pol.so --adaptive --rtol 1e-6 --events --json
    holds 'example == "van-der-pol" and t == 500 and error is None and jacobians > 0 and len(x) == 2'
    # The period for mu = 100 is 162.8371 s: so dormand-prince and bdf5 with tight tolerances agree.
    holds 'len(events) == 3 and all(e["name"] == "rise" and e["rising"] for e in events)'
    holds 'abs(events[2]["t"] - events[1]["t"] - 162.84) < 0.1'
    ode 0 ./project/lorenz.so --method dormand-prince --adaptive --rtol 1e-9 --atol 1e-9 --dense 50 --json
    holds 'len(samples) == 51 and samples[0] == [0, 1, 1, 1] and samples[50] == [20] + x and newton == "matrix-free"'
    ode 0 ./project/lorenz.so --until 1 --step 0.001 --json
    holds 'method == "bdf2" and jacobians == 0 and linear_iterations > 0'
    ode 0 ./project/lorenz.so --until 1 --method dormand-prince
    grep -q '^x = .*, y = .*, z = ' "$scratch/out"
    [ "$(wc -l <"$scratch/out")" -eq 4 ]
}

# A ball with an exact solution, names, a mass and a terminal event; the library lies where the program is run.
every_field_is_used() {
    library ball <<'END'
#include <drape/ode_plugin.h>
#include <string.h>
static const double mass = 2;
static drape_status f(void *user, double t, const double *x, const double *v, double *out) {
    (void)t, (void)x, (void)v;
    out[0] = *(const double *)user * mass;
    return DRAPE_OK;
}
static drape_status times(void *user, const double *in, double *out) { (void)user; out[0] = mass * in[0]; return DRAPE_OK; }
static drape_status solve(void *user, double *r) { (void)user; r[0] /= mass; return DRAPE_OK; }
static void exact(void *user, double t, double *x, double *v) {
    double g = *(const double *)user, s = t - 3;
    x[0] = 5 + s + g * s * s / 2, v[0] = 1 + g * s;
}
static drape_status ground(void *user, double t, const double *x, const double *v, double *g) {
    (void)t;
    g[0] = x[0], g[1] = v[0];
    return strcmp(user, "mine") == 0 ? DRAPE_OK : DRAPE_ERROR_ARGUMENT;
}
const drape_ode_plugin *drape_ode_plugin_get(void) {
    static double gravity = -10;
    static const double x[] = {5}, v[] = {1};
    static const char *const names[] = {"height"}, *const event_names[] = {"ground", "top"};
    static const bool terminal[] = {true, false};
    static char mine[] = "mine";
    static const drape_ode_events events = {.count = 2, .user = mine, .g = ground, .terminal = terminal};
    static const drape_ode_plugin ball = {DRAPE_ODE_PLUGIN_HEAD, .name = "ball", .names = names, .begin = 3, .end = 10, .x = x, .v = v,
        .system = {.order = 2, .size = 1, .user = &gravity, .f = f, .mass_times = times, .mass_solve = solve}, .exact = exact,
        .events = &events, .event_names = event_names};
    return &ball;
}
END
    # 5 + s - 5 s^2 = 0 at s = (1 + sqrt(101)) / 10
    for method in verlet implicit-midpoint dormand-prince; do
        ode 0 ball.so --method "$method" --events --json
        holds 'reason == "event" and abs(t - 3 - (1 + 101 ** 0.5) / 10) < 1e-9 and error < 1e-9 and v < -10'
        holds '[e["name"] for e in events] == ["top", "ground"] and abs(events[0]["t"] - 3.1) < 1e-9'
    done
    ode 0 ball.so --method verlet --dense 7 --json
    holds 'reason == "done" and t == 10 and len(samples) == 8 and samples[3][0] == 6 and abs(samples[3][1] + 37) < 1e-9'
    ode 0 ball.so --method bdf2 --events
    grep -q '^event ground at t = ' "$scratch/out"
    grep -q '^error ' "$scratch/out"
    refuses '--until 3: expected a time above 3' ball.so --until 3
}

bad_libraries_are_refused() {
    refuses 'cannot load ./absent.so' absent.so
    echo 'no library' >"$scratch/text.so"
    refuses 'cannot load ./text.so' text.so
    refuses 'cannot load ./' ./
    library empty <<<'int nothing;'
    refuses 'has no function drape_ode_plugin_get' empty.so
    library null <<<'const void *drape_ode_plugin_get(void); const void *drape_ode_plugin_get(void) { return 0; }'
    refuses 'returned NULL' null.so
    local field wrong
    while IFS='|' read -r field wrong; do
        with "$field"
        refuses "$wrong" bad.so
    done <<'END'
t.version = 7|version 7 of
t.bytes = 8|of 8 bytes
t.name = 0|name is NULL
t.system.f = 0|system.f is NULL
t.system.order = 3|system.order
t.system.size = 0|system.size
t.system.size = -4|system.size
t.system.size = 1LL << 60|system.size
t.system.size = 4000, t.jacobian = J|up to 2048
t.system.linear.solve = (drape_status (*)(void *, const drape_ode_request *, double *, drape_ode_answer *))1|both prepare and solve
t.x = 0|x, the start, is NULL
t.x = bad|x[0] of the start is
t.v = one|no v
t.system.order = 2|v, the start
t.system.order = 2, t.v = bad|v[0] of the start
t.end = 0|end must be after begin
t.end = INFINITY|finite times
t.begin = NAN|finite times
t.events = &nothing|events need a count
t.reserved[7] = 1|reserved
t.system.reserved[0] = 1|reserved
END
    with '(void)t'
    refuses 'no Jacobian' bad.so --newton newton
    refuses '--events' bad.so --events
    refuses '--dense' bad.so --dense 0
    ode 0 bad.so --newton matrix-free
    with 't.jacobian = J'
    ode 0 bad.so --newton newton
}

# Where nothing was integrated there is no error to speak of.
a_refused_step_speaks_of_no_error() {
    library stuck <<'END'
#include <drape/ode_plugin.h>
static drape_status f(void *u, double t, const double *x, const double *v, double *out) {
    (void)u, (void)t, (void)x, (void)v, (void)out;
    return DRAPE_ERROR_NUMBER;
}
static void exact(void *u, double t, double *x, double *v) { (void)u, (void)v, x[0] = 1 + 0 * t; }
static const double one[] = {1};
const drape_ode_plugin *drape_ode_plugin_get(void) {
    static const drape_ode_plugin t = {DRAPE_ODE_PLUGIN_HEAD, .name = "stuck", .end = 1, .x = one, .exact = exact,
                                       .system = {.order = 1, .size = 1, .f = f}};
    return &t;
}
END
    local method
    for method in $("$program" ode --words --method); do
        [ "$method" != verlet ] || continue
        for how in "" --adaptive; do
            # shellcheck disable=SC2086
            ode 1 stuck.so --method "$method" $how
            [ ! -s "$scratch/out" ] || fail "it speaks of a run: $(cat "$scratch/out")"
            grep -q '^drape: stopped at t = 0 s: ' "$scratch/err"
            # shellcheck disable=SC2086
            ode 1 stuck.so --method "$method" --json $how
            holds 'error is None and largest_error is None and steps == 0'
        done
    done
}

for test in the_examples_compile_and_run every_field_is_used bad_libraries_are_refused \
    a_refused_step_speaks_of_no_error; do
    run_test "$test" "$test"
done
finish_tests
