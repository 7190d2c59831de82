#!/usr/bin/env bash
# Scenes that are wrong in one way each: what the program says, where, and that it writes nothing.
#
# Beside NAME.yaml stands NAME.expected: all that `drape check` and `drape run` say to it. `tests/io/wrong_scenes/renew` writes
# these files again, after a message was reworded or a scene was added. Read the difference as somebody who does not know the
# program: what is wrong, where, and what to write instead? {TABLE} stands for the names that `drape list TABLE` prints.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
scenes=$1/tests/io/wrong_scenes

# drape ARGUMENT...: must exit with 2; the streams go to files outside the working folder.
drape() {
    local code=0
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code, not 2: drape $*: $(cat "$scratch/out" "$scratch/err")"
}

# transcript FILE: what the two commands say.
transcript() {
    drape check "$1"
    [ ! -s "$scratch/err" ] || fail "on the error stream: $(cat "$scratch/err")"
    echo "\$ drape check $1"
    cat "$scratch/out"
    drape run "$1" -o "$scratch/out.obj" --report "$scratch/out.json"
    [ ! -s "$scratch/out" ] || fail "printed: $(cat "$scratch/out")"
    echo "\$ drape run $1"
    cat "$scratch/err"
}

tables=$("$program" list --words)

# names TABLE: "one, two, three"
names() { "$program" list "$1" | awk '{ printf "%s%s", before, $1; before = ", " }'; }

# expected FILE: its text, with the names of tables filled in.
expected() {
    local text table
    text=$(cat "$1")
    for table in $tables; do
        [[ $text != *"{$table}"* ]] || text=${text//"{$table}"/$(names "$table")}
    done
    echo "$text"
}

# wrong FILE: refused by `run` with its first problem and by `check` with all of them, and nothing is written.
wrong() {
    local file=$1 before
    cd "$scenes"
    before=$(ls -AR)
    transcript "$file" >"$scratch/said"
    diff <(expected "${file%.yaml}.expected") "$scratch/said"
    if [ -e "$scratch/out_0000.obj" ] || [ -e "$scratch/out.json" ]; then fail "wrote something"; fi
    [ "$(grep -c '^drape: ' "$scratch/err")" -eq 1 ] || fail "not one message: $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -le 2 ] || fail "more than two lines: $(cat "$scratch/err")"
    [ "$(ls -AR)" = "$before" ] || fail "wrote something"
}

# Every message of `run` has a place, and `check` has an error at the same place. The texts tell: they are what the commands say.
same_place() {
    local file place
    cd "$scenes"
    for file in *.yaml; do
        place=$(sed -n "s/^drape: \($file:[0-9]*:[0-9]*:\) .*/\1/p" "${file%.yaml}.expected" | head -n 1)
        [ -n "$place" ] || fail "$file: the message of \`run\` has no line and column"
        grep -qF "$place error: " "${file%.yaml}.expected" || fail "$file: \`check\` has no error at $place"
    done
}

every_file_has_its_text() {
    local file
    [ "$(find "$scenes" -name '*.yaml' | wc -l)" -ge 100 ]
    for file in "$scenes"/*.yaml; do [ -s "${file%.yaml}.expected" ] || fail "$file"; done
    for file in "$scenes"/*.expected; do [ -s "${file%.expected}.yaml" ] || fail "$file"; done
}

empty_file() {
    cd "$scratch"
    : >empty.yaml
    drape run empty.yaml -o out.obj
    grep -q '^drape: empty.yaml:1:1: .*empty' "$scratch/err" || fail "$(cat "$scratch/err")"
}

missing_file() {
    cd "$scratch"
    drape run none.yaml -o out.obj
    grep -q '^drape: none.yaml: cannot open' "$scratch/err" || fail "$(cat "$scratch/err")"
    drape check none.yaml
    grep -q 'none.yaml: cannot open' "$scratch/err" || fail "$(cat "$scratch/err")"
}

# The place of a value from --set is the assignment, not a line of the file. `check` says the same as `run`. Each case has words of
# the message; the rest may be reworded.
wrong_overrides() {
    cd "$scratch"
    printf 'drape: 1\ncloth:\n  - {name: flag, grid: {width: 1 m, resolution: 5}}\n' >good.yaml
    local said words
    while IFS='|' read -r assignment words; do
        drape run good.yaml -o out.obj --set "$assignment"
        said=$(cat "$scratch/err")
        [[ $said == "drape: --set $assignment: "*"$words"* ]] || fail "$said"
        drape check good.yaml --set "$assignment"
        grep -F -- "${said#drape: --set "$assignment: "} [" "$scratch/out" | grep -qF -- "--set $assignment: " || fail "$(cat "$scratch/out")"
        grep -q '^1 error; ' "$scratch/out" || fail "$(cat "$scratch/out")"
    done <<'CASES'
time|path=value
=3|path=value
time.step=|path=value
time.step=fast|"fast"
time.step=1 kg|expected s
tim.step=1|"time"
drape.x=1|"drape"
cloth.sail.grid.width=1|known: flag
cloth.1=x|known: flag
cloth.-1=x|known: flag
cloth.99999999999999999999.grid.width=1|known: flag
cloth.flag.grid.resolution=1|from 2 to 8192
cloth.flag.grid={widht: 2}|"width"
cloth.flag.pins=[{where: top}]|top-edge
time..step=1|known keys: step
CASES
}

for file in "$scenes"/*.yaml; do
    name=$(basename "$file" .yaml)
    run_test "$name" wrong "$name.yaml"
done
run_test same_place same_place
run_test every_file_has_its_text every_file_has_its_text
run_test empty_file empty_file
run_test missing_file missing_file
run_test wrong_overrides wrong_overrides
finish_tests
