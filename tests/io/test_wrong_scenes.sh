#!/usr/bin/env bash
# Scenes that are wrong in one way each: what the program says, where, and that it writes nothing.
#
# A file says in its first lines what is wrong with it: "# expect: LINE:COLUMN: text", the text being a part of the
# message. Where a place in the scene cannot be told, since only building the cloth shows it, that is "# expect: text".
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

expected() { sed -n 's/^# expect: //p' "$1"; }

# The line of the scene that an expectation points at, without its indentation; nothing where it points nowhere, at
# the first line of a file with nothing in it, or at what is no text.
offending_line() {
    local file=$1 expectation=$2
    case $expectation in
    *"there is nothing in it"* | *"is no UTF-8 text"*) ;;
    [0-9]*) sed -n "${expectation%%:*}s/^[[:blank:]]*//p" "$file" ;;
    esac
}

# says FILE EXPECTATION OUTPUT [PREFIX]: a line that names the place and holds the text, the offending line below it.
says() {
    local file=$1 expectation=$2 output=$3 prefix=${4-} place text message source
    case $expectation in
    [0-9]*:*:\ *)
        text=${expectation#*: }
        place="$prefix$file:${expectation%%: *}: "
        ;;
    *)
        text=$expectation
        place=$prefix
        ;;
    esac
    message=$(awk -v place="$place" 'index($0, place) == 1' "$output")
    [ -n "$message" ] || fail "should have begun with '$place': $(cat "$output")"
    case $message in *"$text"*) ;; *) fail "should have said '$text': $message" ;; esac
    source=$(offending_line "$file" "$expectation")
    if [ -n "$source" ]; then
        awk -v place="$place" 'shown {print; exit} index($0, place) == 1 {shown = 1}' "$output" >"$scratch/below"
        [ "$(cat "$scratch/below")" = "    $source" ] || fail "should have shown '$source': $(cat "$output")"
    fi
}

# wrong FILE: refused by `run` with its first problem and by `check` with all of them, and nothing is written.
wrong() {
    local file=$1 before expectation
    cd "$scenes"
    before=$(ls -AR)
    drape run "$file" -o "$scratch/out.obj" --report "$scratch/out.json"
    [ ! -s "$scratch/out" ] || fail "printed: $(cat "$scratch/out")"
    if [ -e "$scratch/out_0000.obj" ] || [ -e "$scratch/out.json" ]; then fail "wrote something"; fi
    [ "$(grep -c '^drape: ' "$scratch/err")" -eq 1 ] || fail "not one message: $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -le 2 ] || fail "more than two lines: $(cat "$scratch/err")"
    if [ "$(expected "$file" | wc -l)" -eq 1 ]; then says "$file" "$(expected "$file")" "$scratch/err" "drape: "; fi
    drape check "$file"
    cp "$scratch/out" "$scratch/checked"
    expected "$file" | while IFS= read -r expectation; do says "$file" "$expectation" "$scratch/checked"; done
    [ "$(ls -AR)" = "$before" ] || fail "wrote something"
}

# No problem but those that are expected: one mistake gives one message.
only_the_expected() {
    local file count
    cd "$scenes"
    for file in *.yaml; do
        count=$(expected "$file" | wc -l)
        drape check "$file"
        if [ "$count" -gt 1 ]; then
            grep -qx "$count problems" "$scratch/out" || fail "$file: not $count problems: $(cat "$scratch/out")"
        else
            ! grep -q ' problems$' "$scratch/out" || fail "$file: more than one problem: $(cat "$scratch/out")"
        fi
    done
}

every_file_expects_something() {
    local file
    [ "$(find "$scenes" -name '*.yaml' | wc -l)" -ge 36 ]
    for file in "$scenes"/*.yaml; do head -n 1 "$file" | grep -q '^# expect: .' || fail "$file"; done
}

empty_file() {
    cd "$scratch"
    : >empty.yaml
    drape run empty.yaml -o out.obj
    grep -qx 'drape: empty.yaml:1:1: there is nothing in it' "$scratch/err" || fail "$(cat "$scratch/err")"
}

missing_file() {
    cd "$scratch"
    drape run none.yaml -o out.obj
    grep -qx 'drape: none.yaml: cannot open: No such file or directory' "$scratch/err" || fail "$(cat "$scratch/err")"
    drape check none.yaml
    grep -q 'none.yaml: cannot open' "$scratch/err" || fail "$(cat "$scratch/err")"
}

# Lines of the file are not the place of what --set brings in.
wrong_overrides() {
    cd "$scratch"
    printf 'drape: 1\ncloth:\n  - {name: flag, grid: {width: 1 m, resolution: 5}}\n' >good.yaml
    local wanted
    while IFS='|' read -r assignment wanted; do
        drape run good.yaml -o out.obj --set "$assignment"
        [ "$(cat "$scratch/err")" = "drape: --set $assignment: $wanted" ] || fail "$(cat "$scratch/err")"
        drape check good.yaml --set "$assignment"
        [ "$(cat "$scratch/out")" = "--set $assignment: $wanted" ] || fail "$(cat "$scratch/out")"
    done <<'CASES'
time|path=value is wanted, as in time.step=1ms
=3|path=value is wanted, as in time.step=1ms
time.step=|path=value is wanted, as in time.step=1ms
time.step=fast|step: "fast" is no number such as 1.5 or 1.5 s
time.step=1 kg|step: the unit "kg" does not fit; s is wanted
tim.step=1|there is no key "tim" here; do you mean "time"?
drape.x=1|there is no "drape" to change anything in
cloth.sail.grid.width=1|there is no "sail" to change anything in
cloth.1=x|there is no "1" to change
cloth.-1=x|there is no "-1" to change
cloth.99999999999999999999.grid.width=1|there is no "99999999999999999999" to change anything in
cloth.flag.grid.resolution=1|resolution is 1; a whole number from 2 to 8192 is wanted
cloth.flag.grid={widht: 2}|there is no key "widht" here; do you mean "width"?
cloth.flag.pins=[{where: top}]|there is no place "top" on a grid; known: left-edge, right-edge, bottom-edge, top-edge, all-edges, corners, bottom-left, bottom-right, top-left, top-right, center, cut-edges, all
time..step=1|there is no key "" here; known: step, fps, duration, frames
CASES
}

for file in "$scenes"/*.yaml; do
    name=$(basename "$file" .yaml)
    run_test "$name" wrong "$name.yaml"
done
run_test only_the_expected only_the_expected
run_test every_file_expects_something every_file_expects_something
run_test empty_file empty_file
run_test missing_file missing_file
run_test wrong_overrides wrong_overrides
finish_tests
