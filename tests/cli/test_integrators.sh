#!/usr/bin/env bash
# drape run with other integrators than the default: names, refusals, what the report says.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
cd "$scratch" || exit 1

# drape CODE ARGUMENT...
drape() {
    local wanted=$1 code=0
    shift
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape $*: $(cat "$scratch/out" "$scratch/err")"
}

# value KEY: of the last step in r.json
value() { grep "\"$1\":" r.json | tail -n 1 | sed -E 's/.*: "?([^",]*)"?,?$/\1/'; }

unknown_name_is_refused() {
    drape 2 run pinned --integrator leap-dog -o x.obj --report r.json
    [ "$(wc -l <err)" -eq 1 ]
    grep -q '^drape: unknown integrator "leap-dog"; known: linearised-euler, ' err
    [ ! -e r.json ] && [ ! -e x_0000.obj ]
}

default_is_bdf2_and_preview_the_linearised_step() {
    drape 0 run flag --resolution 9 --frames 2 --quiet -o a.pc2
    drape 0 run flag --resolution 9 --frames 2 --quiet -o b.pc2 --integrator bdf2
    cmp a.pc2 b.pc2
    drape 0 run flag --resolution 9 --frames 2 --quiet -o c.pc2 --integrator preview
    drape 0 run flag --resolution 9 --frames 2 --quiet -o d.pc2 --integrator linearised-euler
    cmp c.pc2 d.pc2
    if cmp -s a.pc2 c.pc2; then fail "the default is the linearised step"; fi
}

option_wins_over_the_scene() {
    drape 0 run drooping --resolution 9 --frames 1 --quiet --set integrator=bdf3 --integrator implicit-euler --report r.json
    if grep -q bdf3 r.json; then fail "the scene won"; fi
    grep -q '"integrator": "implicit-euler"' r.json
    [ "$(value newton)" -ge 1 ] && [ "$(value substeps)" -eq 1 ] && [ "$(value unconverged)" -eq 0 ]
}

# The step that is named can be taken.
explicit_names_its_longest_step() {
    drape 1 run drooping --resolution 9 --frames 1 --integrator rk4 --quiet --report r.json
    [ "$(wc -l <err)" -eq 1 ]
    grep -q 'the step of 0.002 s is unstable: rk4 takes at most 0.000[0-9]* s' err
    grep -q '"outcome": "step 1 ' r.json
    local longest
    longest=$(sed -E 's/.*takes at most ([0-9.e-]+) s.*/\1/' err)
    drape 0 run drooping --resolution 9 --frames 1 --integrator rk4 --quiet --set "time.step=$longest"
    drape 0 run drooping --resolution 9 --frames 1 --quiet --report r.json \
        --set 'integrator={method: rk4, control: error}'
    [ "$(value substeps)" -gt 1 ] && [ "$(value method)" = none ]
}

failure_stops_goes_on_or_divides() {
    local few='{method: implicit-euler, newton: {max_iterations: 1, tolerance: 4 mm}'
    drape 1 run drooping --resolution 9 --set time.step=40ms --quiet --set "integrator=$few, on_failure: stop}"
    grep -q "Newton's iteration has not converged after 1 corrections" err
    drape 0 run drooping --resolution 9 --frames 1 --set time.step=40ms --quiet --report r.json \
        --set "integrator=$few, on_failure: continue}"
    [ "$(value unconverged)" -eq 1 ]
    grep -q '"reason": "Newton iteration limit"' r.json
    drape 0 run drooping --resolution 9 --frames 1 --set time.step=40ms --quiet --report r.json --set "integrator=$few}"
    [ "$(value unconverged)" -eq 0 ] && [ "$(value substeps)" -gt 1 ]
}

explicit_has_no_system_to_export() {
    drape 1 run drooping --resolution 5 --frames 1 --set time.step=0.1ms --integrator verlet --quiet --export-system 2:x.sys
    grep -q 'an explicit integrator solves no linear system' err
    [ ! -e x.sys ]
    drape 0 run drooping --resolution 5 --frames 1 --integrator bdf2 --quiet --export-system 2:x.sys
    drape 0 solve x.sys
}

# A coarse garment in long steps, much of which contact moves in each of them. That must not come back as energy in the
# next step, and a step that adds much energy is done again with a method that damps.
impacts_add_no_energy() {
    local garment=(apron --resolution 19 --set time.step=10ms --quiet --report r.json)
    drape 0 run "${garment[@]}" --irregular --integrator tr-bdf2 --frames 20
    [ "$(python3 -c 'import json; print(max(s["kinetic"] for s in json.load(open("r.json"))["steps"][30:]) < 0.03)')" = True ]
    drape 0 run "${garment[@]}" --integrator implicit-midpoint --frames 2
    [ "$(python3 -c 'import json; print(max(s["stretch"] for s in json.load(open("r.json"))["steps"]) < 1.2)')" = True ]
}

# The full Jacobian is indefinite where cloth is compressed. A linear solve that fails there gets the clamped one.
full_jacobians_are_clamped_where_they_must() {
    drape 0 run chen --integrator bdf6 --irregular --resolution 32 --set time.step=2ms --frames 53 --quiet
}

for test in unknown_name_is_refused default_is_bdf2_and_preview_the_linearised_step option_wins_over_the_scene \
    explicit_names_its_longest_step failure_stops_goes_on_or_divides explicit_has_no_system_to_export \
    impacts_add_no_energy full_jacobians_are_clamped_where_they_must; do
    run_test "$test" "$test"
done
finish_tests
