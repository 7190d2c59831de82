#!/usr/bin/env bash
# A small part of scripts/crossings: no frame has a crossing; and the script can be resumed, and reports bad runs.
# And of scripts/soak, which runs for longer and looks at memory.
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

# Cloth that is sewn onto cloth lies on it, and is buttoned to it.
garments_do_not_cross() {
    crossings 0 --scenes apron --sizes small --starts 2 --resolution 9 --frames 12
    says '^4 good, 0 bad, 0 not run$'
    rm "$scratch/results/results.jsonl"
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
    says 'there is no stak; known: flag, curtain, '
    program=$scratch/nothing
    crossings 2
    says "there is no $scratch/nothing"
}

# soak CODE ARGUMENT...
soak() {
    local wanted=$1 code=0
    shift
    "$source_dir/scripts/soak" --program "$program" --folder "$scratch/soak" "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $*: $(cat "$scratch/out")"
}

# The first seconds of a long twist are those of a slow one: at ten times the length the ends have turned by a tenth.
soaks_and_looks_at_memory() {
    soak 0 --resolution 7 --frames 12 --early 0.5
    says '^stack +490 vertices +13 frames  good .* crossings 0 \+ 0 \+ 0  memory [1-9][0-9.]* MiB early, [1-9][0-9.]* MiB at the end$'
    says '^twist +42 vertices +13 frames  good '
    [ "$(ls "$scratch/soak")" = soak.jsonl ] || fail "left: $(ls "$scratch/soak")"
}

# A program that holds more memory with each frame that it tells of. What it says in between is more than a pipe can hold,
# so the script has looked at its memory by then.
finds_growing_memory() {
    cat >"$scratch/leaky" <<LEAKY
#!/usr/bin/env python3
import subprocess, sys
words = sys.argv[1:]
if words[0] == "run":
    words, kept = words + ["--quiet"], []
    for frame in range(1, 11):
        kept.append(b"x" * 2000000)
        print("frame %d/10" % frame)
        print(("." * 999 + "\\n") * 2000, flush=True)
sys.exit(subprocess.run(["$program"] + words).returncode)
LEAKY
    chmod +x "$scratch/leaky"
    program=$scratch/leaky
    soak 1 --scenes stack --resolution 5 --frames 10
    says '^stack +250 vertices +11 frames  BAD '
}

soak_refuses_what_is_not_there() {
    soak 2 --scenes stack,stak
    says 'there is no stak; known: stack, twist'
    soak 2 --times 0
    says '--times 0'
    soak 2 --early 1
    says '--early 1'
}

run_test garments_do_not_cross garments_do_not_cross
run_test no_frame_has_a_crossing no_frame_has_a_crossing
run_test goes_on_where_it_was goes_on_where_it_was
run_test finds_crossings finds_crossings
run_test refuses_what_is_not_there refuses_what_is_not_there
run_test soaks_and_looks_at_memory soaks_and_looks_at_memory
run_test finds_growing_memory finds_growing_memory
run_test soak_refuses_what_is_not_there soak_refuses_what_is_not_there
finish_tests
