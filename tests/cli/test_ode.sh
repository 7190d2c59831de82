#!/usr/bin/env bash
# drape ode from outside: every method on every example; what it prints; what it refuses, in one line.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
unset DRAPE_SIMD

# ode CODE ARGUMENT...: runs the program, its streams into files.
ode() {
    local wanted=$1 code=0
    shift
    "$program" ode "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape ode $*: $(cat "$scratch/out" "$scratch/err")"
    [ "$code" -ne 0 ] || [ ! -s "$scratch/err" ] || fail "drape ode $* said: $(cat "$scratch/err")"
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

# key NAME: that number of the JSON that was printed last.
key() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$scratch/out" "$1"; }
# holds EXPRESSION: of Python, over the keys of the JSON.
holds() {
    python3 -c 'import json, math, sys
keys = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2], {"__builtins__": {"abs": abs, "max": max, "len": len, "all": all, "sin": math.sin, "cos": math.cos}}, keys) else 1)' "$scratch/out" "$1" ||
        fail "not $1: $(cat "$scratch/out")"
}

methods() { "$program" ode --list | awk '/^methods/ {on = 1; next} on {print $1}'; }
examples() { "$program" ode --list | awk '/^methods/ {exit} /^  / {print $1}'; }

every_method_runs_every_example() {
    local method example count=0
    for method in $(methods); do
        for example in $(examples); do
            case $method:$example in verlet:1?) continue ;; esac
            ode 0 "$example" --method "$method" --step 0.002 --json
            holds 'reason == "done" and t == until and largest_error >= error >= 0 and error < 0.1 and steps >= 500'
            count=$((count + 1))
        done
    done
    [ "$count" -ge 60 ]
}

errors_are_those_of_the_state() {
    ode 0 2 --method rk4 --step 0.1 --json
    holds 'error == max(abs(x - exact_x), abs(v - exact_v))'
    ode 0 1a --step 0.25 --until 0.5 --method explicit-euler --json
    holds 'x == 2.25 and steps == 2 and f_evaluations == 2' # (1 + 2/4)^2
}

adaptive_steps_meet_their_tolerance() {
    local loose
    ode 0 1b --method bdf2 --adaptive --rtol 1e-3 --json
    holds 'control == "error" and largest_error < 1e-2'
    loose=$(key largest_error)
    ode 0 1b --method bdf2 --adaptive --rtol 1e-6 --atol 1e-9 --json
    holds "largest_error < $loose / 20"
    ode 0 3 --method implicit-euler --adaptive-newton --step 0.001 --json
    holds 'control == "newton" and newton_iterations > 0 and last_step > 0.002'
}

newton_kinds_are_used() {
    ode 0 3 --method bdf2 --newton simplified --step 0.01 --json
    holds 'newton == "simplified" and jacobians == 3 and steps == 200' # two for the beginning: h and h/2
    ode 0 3 --method bdf2 --newton matrix-free --step 0.01 --json
    holds 'newton == "matrix-free" and jacobians == 0 and linear_iterations >= steps and error < 0.1'
    ode 0 3 --method implicit-midpoint --newton linearised --step 0.01 --json
    holds 'newton_iterations == steps'
}

samples_are_inside_of_steps() {
    ode 0 oscillator --method rk4 --step 0.01 --dense 7 --json
    holds 'len(samples) == 8 and samples[0] == [0, 0, 1] and samples[7] == [10, x, v]'
    # sqrt(5) t, of which none but the ends is a multiple of the step
    holds 'all(abs(s[1] - sin(5 ** 0.5 * s[0]) / 5 ** 0.5) < 1e-6 and abs(s[2] - cos(5 ** 0.5 * s[0])) < 1e-6 for s in samples)'
    ode 0 1b --method bdf3 --adaptive --rtol 1e-6 --dense 3
    [ "$(wc -l <"$scratch/out")" -eq 9 ]
    [ "$(sed -n 5p "$scratch/out")" = "t  x" ]
}

events_are_at_their_times() {
    local example method
    for example in $(examples); do
        for method in dormand-prince bdf5 tr-bdf2; do
            ode 0 "$example" --method "$method" --adaptive --rtol 1e-7 --atol 1e-9 --events --json
            holds 'len(events) > 0 and all(abs(e["t"] - e["exact_t"]) < 1e-3 for e in events) and reason == "done"'
        done
    done
    ode 0 oscillator --events
    grep -q '^event y = 0 at t = 1.4.* s, falling; wrong by ' "$scratch/out"
    ode 0 1b --until 0.01 --events
    grep -qx 'no event' "$scratch/out"
}

summary_is_short() {
    ode 0 oscillator --method verlet
    [ "$(wc -l <"$scratch/out")" -eq 4 ]
    grep -q 'evaluations of f' "$scratch/out"
}

unstable_steps_stop_with_the_limit() {
    ode 1 1b --method explicit-euler --step 0.2 --json
    holds 'reason == "unstable step" and t == 0'
    holds 'error is None and largest_error is None'
    grep -q '^drape: stopped at t = 0 s: unstable step: .*at most 0.1333 s' "$scratch/err"
    ode 1 1b --method explicit-euler --step 0.2
    [ ! -s "$scratch/out" ] || fail "it speaks of an error: $(cat "$scratch/out")"
    ode 0 1b --method explicit-euler --step 0.2 --adaptive
}

# The slope of a sweep is the order of the method.
sweeps_show_the_order() {
    local pair
    for pair in rk4:4 bdf2:2 implicit-euler:1; do
        ode 0 2 --sweep 4 --step 0.1 --method "${pair%:*}"
        python3 - "$scratch/out" "${pair#*:}" <<'PYTHON'
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
errors = [float(r["error"]) for r in rows]
assert [float(r["step"]) for r in rows] == [0.1, 0.05, 0.025, 0.0125] and all(r["end"] == "done" for r in rows)
assert int(rows[3]["steps"]) == 800 and int(rows[3]["evaluations"]) >= 800
assert abs(math.log2(errors[2] / errors[3]) - float(sys.argv[2])) < 0.2, errors
PYTHON
    done
    refuses '--sweep uses fixed steps' 1a --sweep 3 --adaptive
    refuses '--sweep' 1a --sweep 0
}

# Explicit Euler: |1 + z|; implicit Euler: 1 / |1 - z|.
stability_is_that_of_the_formula() {
    local method
    for method in explicit-euler implicit-euler; do
        ode 0 --stability 7 --method "$method"
        python3 - "$scratch/out" "$method" <<'PYTHON'
import csv, sys
rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(open(sys.argv[1]))]
assert len(rows) == 49
for r in rows:
    z = complex(r["re"], r["im"])
    want = abs(1 + z) if sys.argv[2] == "explicit-euler" else 1 / abs(1 - z)
    assert abs(r["radius"] - want) <= 1e-6 * want, (r, want)
PYTHON
    done
    refuses '--stability' 1a --stability 5
    refuses 'second order' --stability 5 --method verlet
}

bad_input_is_refused() {
    refuses 'no example given'
    refuses 'unknown example 7' 7
    refuses '--method rk9: expected explicit-euler, ' 1a --method rk9
    refuses '--step 0' 1a --step 0
    refuses '--step -1' 1a --step -1
    refuses 'expected a number' 1a --step nan
    refuses '--until 0' 1a --until 0
    refuses '--newton fast' 1a --newton fast
    refuses 'rtol -1' 1a --adaptive --rtol -1
    refuses 'both 0' 1a --adaptive --rtol 0 --atol 0
    refuses 'second order' 1a --method verlet
    refuses 'no Newton iterations' 1a --method rk4 --adaptive-newton
    refuses 'only one of them' 1a --adaptive --adaptive-newton
    refuses 'unexpected argument' 1a 1b
    refuses '--dense' 1a --dense 0
    refuses '--dense' 1a --dense many
    ode 1 1a --step 1e-9
    grep -q 'step limit' "$scratch/err"
}

for test in every_method_runs_every_example errors_are_those_of_the_state adaptive_steps_meet_their_tolerance \
    newton_kinds_are_used samples_are_inside_of_steps events_are_at_their_times sweeps_show_the_order stability_is_that_of_the_formula summary_is_short unstable_steps_stop_with_the_limit bad_input_is_refused; do
    run_test "$test" "$test"
done
finish_tests
