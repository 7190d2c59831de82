#!/usr/bin/env bash
# A small part of scripts/crossings: no frame has a crossing; and the script goes on where it was, and tells what is bad.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2
command -v python3 >/dev/null || { echo "python3 is not there"; exit 77; }

# crossings CODE ARGUMENT...: that exit code, what it says in $scratch/out.
crossings() {
    local wanted=$1 code=0
    shift
    "$source_dir/scripts/crossings" --program "$program" --folder "$scratch/results" "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $*: $(cat "$scratch/out")"
}

says() { grep -qE -- "$1" "$scratch/out" || fail "should have said '$1': $(cat "$scratch/out")"; }

small=(--scenes "drop-horizontal,rollers,stack" --sizes small --starts 2 --resolution 7 --frames 8)

no_frame_has_a_crossing() {
    crossings 0 "${small[@]}"
    says '^12 good, 0 bad, 0 not run$'
    says '^stack +irregular small +1  good .* crossings 0 \+ 0 \+ 0'
    [ "$(wc -l <"$scratch/results/results.jsonl")" -eq 12 ] || fail "$(cat "$scratch/results/results.jsonl")"
    [ "$(ls "$scratch/results")" = results.jsonl ] || fail "left: $(ls "$scratch/results")"
    # Starts differ: the check did not look at one run twice.
    for seed in 1 2; do
        "$program" run drop-horizontal --resolution 9 --frames 1 --jitter 1e-4 --seed $seed --quiet -o "$scratch/$seed.pc2"
    done
    ! cmp -s "$scratch/1.pc2" "$scratch/2.pc2" || fail "two seeds, one start"
}

goes_on_where_it_was() {
    head -n 7 "$scratch/results/results.jsonl" >"$scratch/some"
    { cat "$scratch/some" && printf '{"scene": "sta'; } >"$scratch/results/results.jsonl" # cut off in the eighth line
    echo >>"$scratch/results/results.jsonl"
    crossings 0 "${small[@]}" --summary
    says '^7 good, 0 bad, 5 not run$'
    crossings 0 "${small[@]}"
    says '^12 good, 0 bad, 0 not run$'
    head -n 7 "$scratch/results/results.jsonl" | cmp - "$scratch/some" || fail "runs were done again"
    [ "$(wc -l <"$scratch/results/results.jsonl")" -eq 13 ] || fail "$(cat "$scratch/results/results.jsonl")"
}

# A program that runs the scene without contact of cloth with cloth is found out, and its frames are kept.
finds_crossings() {
    cat >"$scratch/careless" <<CARELESS
#!/usr/bin/env bash
words=()
for word in "\$@"; do words+=("\${word/contact.self=true/contact.self=false}"); done
exec "$program" "\${words[@]}"
CARELESS
    chmod +x "$scratch/careless"
    program=$scratch/careless
    crossings 1 --scenes stack --meshes regular --sizes small --starts 1 --resolution 7 --frames 10
    says '^stack +regular +small +0  BAD .* crossings [1-9]'
    [ -s "$scratch/results/stack-regular-small-0.pc2" ] || fail "the frames are gone"
}

refuses_what_is_not_there() {
    crossings 2 --scenes stack,stak
    says 'there is no stak; known: drop-horizontal, '
    program=$scratch/nothing
    crossings 2
    says "there is no $scratch/nothing"
}

run_test no_frame_has_a_crossing no_frame_has_a_crossing
run_test goes_on_where_it_was goes_on_where_it_was
run_test finds_crossings finds_crossings
run_test refuses_what_is_not_there refuses_what_is_not_there
finish_tests
