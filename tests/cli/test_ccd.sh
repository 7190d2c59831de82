#!/usr/bin/env bash
# drape ccd from outside: what it counts, its exit codes, and what it refuses, in one line.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
unset DRAPE_SIMD

# ccd CODE ARGUMENT...: runs the program, its streams into files.
ccd() {
    local wanted=$1 code=0
    shift
    "$program" ccd "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape ccd $*: $(cat "$scratch/out" "$scratch/err")"
    [ "$code" -eq 2 ] || [ ! -s "$scratch/err" ] || fail "drape ccd $* said: $(cat "$scratch/err")"
}

# refuses TEXT ARGUMENT...: exit code 2, one line that holds the text, no other output.
refuses() {
    local text=$1
    shift
    ccd 2 "$@"
    [ ! -s "$scratch/out" ] || fail "drape ccd $* printed: $(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "drape ccd $* did not say one line: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "drape ccd $* should have said '$text': $(cat "$scratch/err")"
}

# holds EXPRESSION: of Python, over the keys of the JSON that was printed last.
holds() {
    python3 -c 'import json, sys
sys.exit(0 if eval(sys.argv[2], {"__builtins__": {}}, json.load(open(sys.argv[1]))) else 1)' "$scratch/out" "$1" ||
        fail "not $1: $(cat "$scratch/out")"
}

# query Z TRUTH: a vertex that falls from 1 to Z over a triangle at 0.
query() {
    local end
    for end in 1 "$1"; do
        printf '%s,%s\n' "1,4,1,4,$end,1" "$2" 0,1,0,1,0,1 "$2" 1,1,0,1,0,1 "$2" 0,1,1,1,0,1 "$2"
    done
}

counts() {
    { query -1 1; query 2 0; query -3 1; } >"$scratch/1vf.csv"
    ccd 0 "$scratch/1vf.csv" --json
    holds 'queries == 3 and hits == 2 and false_negatives == 0 and false_positives == 0 and late == 0'
    holds 'unknown == 0 and rounded == 0 and queries_per_second > 0'
    ccd 0 "$scratch/1vf.csv" "$scratch/1vf.csv" --threads 2 --repeat 3 --depth 20
    grep -qx 'queries  *6' "$scratch/out"
    grep -qx 'hits  *4' "$scratch/out"
    ccd 0 "$scratch/1vf.csv" --separation 1 --json
    holds 'hits == 3 and false_positives == 1'
    gzip -n <"$scratch/1vf.csv" >"$scratch/2vf.csv.gz"
    ccd 0 "$scratch/2vf.csv.gz" --json
    holds 'queries == 3 and hits == 2'
}

# Files that say what is not true show that the counters count.
counters_count() {
    { query -1 0; query 2 1; query 2 1; } >"$scratch/1vf.csv"
    ccd 1 "$scratch/1vf.csv" --json
    holds 'hits == 1 and false_negatives == 2 and false_positives == 1'
    mkdir -p "$scratch/frames"
    printf 'v 0.2 0.2 1\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\nf 1 2 3\n' >"$scratch/start.obj"
    printf 'v 0.2 0.2 -1\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\nf 1 2 3\n' >"$scratch/end.obj"
    printf 'v,f0,f1,f2,truth,toi\n0,1,2,3,1,0.5\n0,1,2,3,1,0.25\n' >"$scratch/pairs.csv"
    ccd 1 "$scratch/pairs.csv" --start "$scratch/start.obj" --end "$scratch/end.obj" --json
    holds 'queries == 2 and hits == 2 and false_negatives == 0 and late == 1'
}

kinds() {
    query -1 1 >"$scratch/queries.csv"
    refuses 'neither the path nor a heading says' "$scratch/queries.csv"
    ccd 0 "$scratch/queries.csv" --kind vertex-face --json
    holds 'hits == 1'
    ccd 1 "$scratch/queries.csv" --kind edge-edge --json # the same lines as edges are apart
    holds 'hits == 0'
    refuses '--kind faces: expected vertex-face or edge-edge' "$scratch/queries.csv" --kind faces
}

bad_input() {
    refuses 'no file of queries given'
    refuses "$scratch/nothing.csv" "$scratch/nothing.csv"
    query -1 1 | sed '3s/1,1/1,0/' >"$scratch/3vf.csv"
    refuses "3vf.csv:3: \"0\" is a denominator" "$scratch/3vf.csv"
    query -1 1 >"$scratch/1vf.csv"
    refuses '--separation -1' "$scratch/1vf.csv" --separation -1
    refuses '--depth 31' "$scratch/1vf.csv" --depth 31
    refuses '3vf.csv:3' "$scratch/1vf.csv" "$scratch/3vf.csv" # also after a good one, nothing is printed
}

public_sets() {
    local folder=${DRAPE_SHARED_DATA:-}/ccd
    [ -d "$folder/scalable" ] || skip "no $folder"
    ccd 0 "$folder"/wang2021/*/*/*.csv --json
    holds 'queries == 2824 and false_negatives == 0 and late == 0 and rounded == 0 and hits < 600'
    ccd 0 "$folder"/scalable/*/*_pairs.csv.gz --json
    holds 'queries == 29136 and false_negatives == 0 and late == 0 and false_positives < 10'
}

for test in counts counters_count kinds bad_input public_sets; do run_test $test $test; done
finish_tests
