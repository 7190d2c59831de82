#!/usr/bin/env bash
# drape equilibrium: finds the rest, tells what forces are left, and writes what another scene starts from.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2

# drape CODE ARGUMENT...: must exit with that code
drape() {
    local want=$1 code=0
    shift
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code, not $want: drape $*: $(cat "$scratch/out" "$scratch/err")"
}

fresh_folder() {
    rm -rf "$scratch/here"
    mkdir "$scratch/here"
    cd "$scratch/here"
}

rest_is_found_and_called_rest() {
    fresh_folder
    drape 0 equilibrium drooping --resolution 21
    grep -qE '^at rest after [0-9]+ corrections' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ -s drooping_equilibrium_0000.obj ] || fail "$(ls)"
    [ "$(ls)" = drooping_equilibrium_0000.obj ] || fail "more was written: $(ls)"
    { "$program" scenes --show drooping; echo 'start: {file: drooping_equilibrium.obj}'; } >again.yaml
    drape 0 check again.yaml --resolution 21
    grep -qE '^the cloth starts at rest: forces of [0-9.]+e-[0-9]+ of its weight' "$scratch/out" || fail "$(cat "$scratch/out")"
    drape 0 check again.yaml --resolution 21 --json
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1]))["residual"]; assert 0 <= r < 1e-6, r' "$scratch/out"
    drape 0 check drooping --json
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["residual"] is None' "$scratch/out"
}

# What starts at rest stays there; what starts somewhere else does not, and is not called at rest.
cloth_at_rest_does_not_move() {
    fresh_folder
    drape 0 equilibrium drooping --resolution 11 -o rest.obj
    { "$program" scenes --show drooping; echo 'start: {file: rest.obj}'; } >again.yaml
    drape 0 run again.yaml --resolution 11 --frames 2 --quiet -o run.obj
    python3 - <<'EOF'
def vertices(name):
    return [tuple(map(float, line.split()[1:])) for line in open(name) if line.startswith("v ")]
first, last = vertices("rest_0000.obj"), vertices("run_0002.obj")
off = max(abs(a - b) for v, w in zip(first, last) for a, b in zip(v, w))
assert off < 1e-6, off
EOF
    drape 0 run drooping --resolution 11 --frames 1 --quiet -o swing.obj
    { "$program" scenes --show drooping; echo 'start: {file: swing.obj, frame: 1}'; } >moving.yaml
    drape 0 check moving.yaml --resolution 11
    grep -q '^the cloth starts not at rest: forces of ' "$scratch/out" || fail "$(cat "$scratch/out")"
}

failures_are_told() {
    fresh_folder
    drape 1 equilibrium drooping --resolution 11 --corrections 2
    grep -q '^drape: no equilibrium after 2 corrections' "$scratch/err" || fail "$(cat "$scratch/err")"
    drape 2 equilibrium sphere --resolution 11
    grep -q '^drape: equilibrium: the scene has contact' "$scratch/err" || fail "$(cat "$scratch/err")"
    printf 'drape: 1\ncloth: [{name: loose, grid: {resolution: 5}}]\n' >loose.yaml
    drape 2 equilibrium loose.yaml
    grep -q "^drape: equilibrium: nothing holds 'loose' at the start" "$scratch/err" || fail "$(cat "$scratch/err")"
    drape 2 equilibrium
    drape 2 equilibrium nosuch
    drape 2 equilibrium drooping -o rest.txt
    drape 2 equilibrium drooping --tolerance 3 --resolution 5
    drape 2 equilibrium drooping --resolution 5 -o nowhere/rest.obj
    [ "$(ls)" = loose.yaml ] || fail "something was written: $(ls)"
}

for test in rest_is_found_and_called_rest cloth_at_rest_does_not_move failures_are_told; do run_test "$test" "$test"; done
finish_tests
