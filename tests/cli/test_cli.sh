#!/usr/bin/env bash
# The program from outside: help, options, exit codes, and which files are there afterwards.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2
manual=$(dirname "$program")/drape.1
unset DRAPE_SIMD

# Each test works in a folder of its own, so that what is written can be listed.
in_folder() {
    local folder
    folder=$(mktemp -d "$scratch/folder-XXXXXX")
    chmod 755 "$scratch" "$folder"
    cd "$folder" || return
    "$@"
}
check() { run_test "$1" in_folder "$@"; }

# drape CODE ARGUMENT...: runs the program; its streams go to files outside the folder.
drape() {
    local wanted=$1 code=0
    shift
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape $*: $(cat "$scratch/err")"
}

# lists NAME...: the folder holds these files, in the order of ls, and nothing else.
lists() {
    local wanted
    wanted=$(if [ $# -gt 0 ]; then printf '%s\n' "$@"; fi)
    [ "$(ls -A)" = "$wanted" ] || fail "there is: $(ls -A)"
}

# refuses TEXT ARGUMENT...: exit code 2, one line on the error stream that holds the text, no other output, no file.
refuses() { refuses_in_lines 1 "$@"; }
# With a place in a scene file the offending line stands below the message.
refuses_placed() { refuses_in_lines 2 "$@"; }
refuses_in_lines() {
    local lines=$1 text=$2 before
    shift 2
    before=$(ls -AR)
    drape 2 "$@"
    [ ! -s "$scratch/out" ] || fail "drape $* printed: $(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq "$lines" ] || fail "drape $* did not say $lines lines: $(cat "$scratch/err")"
    grep -q '^drape: ' "$scratch/err" || fail "drape $* said: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "drape $* should have named '$text': $(cat "$scratch/err")"
    [ "$(ls -AR)" = "$before" ] || fail "drape $* wrote something: $(ls -AR)"
}

commands() { "$program" --help | sed -n '/^commands:/,/^$/p' | awk 'NR > 1 && NF {print $1}'; }
scenes() { "$program" scenes | awk '{print $1}'; }

# Words of standard input that look like options, once each.
options() { grep -oE -- '(^|[^[:alnum:]_-])--?[a-z][a-z-]*' | grep -oE -- '--?[a-z].*' | sort -u; }

# ---- Help ----

version_is_printed() {
    drape 0 --version
    grep -qxE 'drape [0-9]+\.[0-9]+\.[0-9]+' "$scratch/out"
    [ ! -s "$scratch/err" ]
}

help_names_the_commands() {
    local command
    drape 0 --help
    [ ! -s "$scratch/err" ]
    for command in run scenes; do grep -qE "^  $command " "$scratch/out" || fail "no $command"; done
    cp "$scratch/out" "$scratch/help"
    drape 0 -h
    cmp "$scratch/out" "$scratch/help"
}

help_of_run_names_every_option() {
    local name
    drape 0 run --help
    [ ! -s "$scratch/err" ]
    for name in -o --output --frames --resolution --threads --report --export-system --quiet -h --help; do
        options <"$scratch/out" | grep -qx -- "$name" || fail "--help does not name $name"
    done
    cp "$scratch/out" "$scratch/help"
    drape 0 run pinned --frames 3 -h
    cmp "$scratch/out" "$scratch/help"
    lists
}

help_command() {
    drape 0 run --help
    cp "$scratch/out" "$scratch/help"
    drape 0 help run
    cmp "$scratch/out" "$scratch/help"
    drape 0 --help
    cp "$scratch/out" "$scratch/help"
    drape 0 help
    cmp "$scratch/out" "$scratch/help"
    refuses frobnicate help frobnicate
}

help_of_scenes() {
    drape 0 scenes --help
    grep -q '^usage: drape scenes' "$scratch/out"
    [ ! -s "$scratch/err" ]
}

scenes_are_listed() {
    local scene
    drape 0 scenes
    for scene in pinned drooping reentrant four-corners chen; do scenes | grep -qx "$scene" || fail "no $scene"; done
    [ "$(awk 'NF <= 3' "$scratch/out" | wc -l)" -eq 0 ] || fail "a scene without a description"
}

# The page is made of docs/man/drape.1.in by a build that can be installed.
needs_manual() { [ -e "$manual" ] || skip "built without what is installed (-DDRAPE_INSTALL=ON)"; }

manual_and_help_name_the_same_options() {
    needs_manual
    local command
    {
        "$program" --help
        for command in $(commands); do "$program" "$command" --help; done
    } | options >helped
    sed 's/\\-/-/g' "$manual" | options >described
    diff helped described
}

manual_names_commands_codes_and_environment() {
    needs_manual
    local command
    sed 's/\\-/-/g' "$manual" >plain
    for command in $(commands); do grep -qE "^\.BI? $command( |\$)" plain || fail "no command $command"; done
    for command in 0 1 2 DRAPE_SIMD; do grep -qx "\.B $command" "$manual" || fail "no $command"; done
    grep -q "drape $("$program" --version | cut -d' ' -f2)" "$manual" || fail "another version"
}

manual_is_well_formed() {
    needs_manual
    command -v groff >/dev/null || skip "no groff"
    [ -z "$(groff -man -Tascii -ww -z "$manual" 2>&1)" ] || fail "$(groff -man -Tascii -ww -z "$manual" 2>&1)"
}

# ---- Bad input ----

nothing_at_all() {
    drape 2
    grep -q '^usage:' "$scratch/err"
    [ ! -s "$scratch/out" ]
}

unknown_words() {
    refuses frobnicate frobnicate
    refuses --frobnicate --frobnicate
    refuses --frobnicate run pinned --frobnicate
    refuses --frames=3 run pinned --frames=3
    refuses -x run pinned -x
    refuses --frobnicate scenes --frobnicate
    refuses frobnicate scenes frobnicate
    refuses frobnicate run frobnicate
    refuses frobnicate run frobnicate -o x.obj --report r.json
}

missing_and_superfluous_words() {
    refuses scene run
    refuses scene run --quiet
    refuses drooping run pinned drooping
    local name
    for name in --output --frames --resolution --threads --report --export-system; do
        refuses "$name" run pinned "$name"
    done
    refuses --output run pinned -o
    refuses --output run pinned -o ''
    refuses --report run pinned --report ''
}

bad_numbers() {
    local text
    for text in x '' -1 1e9 1000001 99999999999999999999 3.5 3x 0x10; do
        refuses "--frames $text" run pinned -o x.obj --frames "$text"
    done
    for text in 1 0 -5 8193 x; do refuses "--resolution $text" run pinned -o x.obj --resolution "$text"; done
    for text in 0 -1 257 999 x; do refuses "--threads $text" run pinned -o x.obj --threads "$text"; done
    refuses_placed "nothing is left of the grid" run reentrant -o x.obj --resolution 2
}

unknown_ending() {
    refuses x.stl run pinned -o x.stl --report r.json
    refuses ./x run pinned -o ./x
    refuses .obj run pinned -o .obj
}

missing_folders() {
    refuses none/x.obj run pinned -o none/x.obj --report r.json
    refuses none/r.json run pinned -o x.obj --report none/r.json
    refuses none/s.sys run pinned -o x.obj --report r.json --export-system 1:none/s.sys
    : >file
    refuses file/x.obj run pinned -o file/x.obj
    refuses file/r.json run pinned -o x.obj --report file/r.json
    refuses file/s.sys run pinned -o x.obj --export-system 1:file/s.sys
}

folders_in_the_place_of_files() {
    mkdir folder
    refuses folder run pinned -o x.obj --report folder
    refuses folder/ run pinned -o x.obj --report folder/
    refuses folder run pinned -o x.obj --export-system 1:folder
}

# Root may write everywhere, so there the program runs as nobody.
unwritable_folder() {
    mkdir locked
    if [ "$(id -u)" -eq 0 ]; then
        cp "$program" "$scratch/as-nobody.bin"
        printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups "%s" "$@"\n' \
            "$scratch/as-nobody.bin" >"$scratch/as-nobody"
        chmod 755 "$scratch/as-nobody" "$scratch/as-nobody.bin"
        program=$scratch/as-nobody
        chmod 777 .
        "$program" --version >/dev/null || skip "cannot run as somebody else than root"
    fi
    chmod 555 locked
    refuses locked/x.obj run pinned -o locked/x.obj --report r.json
    refuses locked/r.json run pinned -o x.obj --report locked/r.json
    refuses locked/s.sys run pinned -o x.obj --report r.json --export-system 1:locked/s.sys
    drape 0 run pinned --resolution 3 --frames 1 -o x.obj # the folder itself can be written
    lists locked x_0000.obj x_0001.obj
}

bad_exports() {
    local text
    for text in s.sys 3 3: :s.sys x:s.sys 0:s.sys -1:s.sys 3x:s.sys 3.5:s.sys 41:s.sys 99999999999999999999:s.sys; do
        refuses "--export-system $text" run pinned --frames 2 -o x.obj --report r.json --export-system "$text"
    done
    refuses 1:s.sys run pinned --frames 0 -o x.obj --export-system 1:s.sys
}

bad_vector_instructions() {
    export DRAPE_SIMD=nonsense
    refuses nonsense run pinned -o x.obj
    drape 0 scenes
    export DRAPE_SIMD=
    drape 0 run pinned --resolution 3 --frames 1 --quiet --no-output
}

# ---- Runs ----

frames_are_printed() {
    local number='[-+]?[0-9]+\.[0-9]+(e[-+][0-9]+)?'
    drape 0 run drooping --resolution 5 --frames 3 --no-output
    [ "$(grep -cE "^frame +[123]/3 +t +$number s +iterations +[0-9]+ +energy +$number J +stretch +$number +$number s\$" \
        "$scratch/out")" -eq 3 ] || fail "$(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/out")" -eq 4 ] || fail "$(cat "$scratch/out")"
    [ ! -s "$scratch/err" ]
    lists
}

# The last line of a run says how it went.
a_run_ends_with_a_verdict() {
    drape 0 run drooping --resolution 5 --frames 3 --no-output --report r.json
    grep -qE '^largest stretch 1\.[0-9]+ at 0\.[0-9]+ s; time steps (took|added) [0-9.e-]+ % of the energy; all steps converged; [0-9.e-]+ s per frame$' \
        "$scratch/out" || fail "$(cat "$scratch/out")"
    grep -q '"verdict": {' r.json
    drape 0 run drooping --resolution 5 --frames 1 --no-output --integrator preview --set 'solver={max_iterations: 1}'
    grep -qE '; [1-9][0-9]* of 20 steps did not converge;' "$scratch/out" || fail "$(cat "$scratch/out")"
    drape 0 run slope --resolution 5 --frames 1 --no-output
    ! grep -q '; time steps took' "$scratch/out" || fail "$(cat "$scratch/out")"
}

# A run that cannot be believed stops: what happened, when, where and what to try; its frames are kept.
blown_up_runs_fail() {
    drape 1 run flag --resolution 41 --frames 25 --set jacobian=full --set cloth.flag.material=cotton --integrator preview --quiet -o x.ply --report r.json
    grep -qE 'step [0-9]+ \(t = 0\.[0-9]+ s\): .* vertex [0-9]+ of flag .*use jacobian: psd.*; [0-9]+ frames are kept$' \
        "$scratch/err" || fail "$(cat "$scratch/err")"
    [ -s x_0010.ply ]
    grep -q '"outcome": "step ' r.json
    printf 'drape: 1\ncloth:\n  - name: sheet\n    grid: {width: 1 m, resolution: 9}\n    pins: [{where: left-edge}, {where: right-edge, move: {linear: {velocity: [4 m/s, 0, 0]}}}]\n' >wide.yaml
    drape 1 run wide.yaml --quiet --no-output
    grep -q 'warning: .*pins hold vertices .* of sheet 5 m apart, but the cloth between them is 1 m long' "$scratch/err" || fail "$(cat "$scratch/err")"
    grep -qE 'stretched to 2(\.[0-9]*)? times .* of sheet, and max_stretch is 2; pins hold sheet' "$scratch/err" || fail "$(cat "$scratch/err")"
    drape 0 run wide.yaml --quiet --no-output --set max_stretch=6
    drape 1 run flag --resolution 21 --frames 3 --quiet --no-output --set time.step=1 --set time.fps=1 --set contact.self=false
    grep -q 'use a shorter step' "$scratch/err" || fail "$(cat "$scratch/err")"
    drape 0 run flag --resolution 9 --frames 1 --quiet --no-output --set time.step=1
    grep -q 'warning: .*a step of 1 s is longer than a frame' "$scratch/err" || fail "$(cat "$scratch/err")"
    drape 0 run flag --resolution 9 --frames 1 --quiet --no-output --set 'forces.wind.velocity=[300, 0, 0]'
    grep -q 'warning: the wind has 300 m/s' "$scratch/err" || fail "$(cat "$scratch/err")"
    refuses max_stretch run wide.yaml --set max_stretch=0.5
}

quiet_prints_nothing() {
    drape 0 run drooping --resolution 5 --frames 3 --quiet --no-output
    [ ! -s "$scratch/out" ]
    [ ! -s "$scratch/err" ]
}

# If no file is named, there is a page, and this is said first.
a_run_leaves_something_to_look_at() {
    drape 0 run drooping --resolution 5 --frames 1
    head -n 1 "$scratch/out" | grep -q '^will write drooping\.html' || fail "$(cat "$scratch/out")"
    [ "$(tail -n 1 "$scratch/out")" = "wrote drooping.html" ]
    lists drooping.html
    rm drooping.html
    mkdir scenes
    "$program" scenes --show drooping >scenes/my.sheet.yaml
    drape 0 run scenes/my.sheet.yaml --resolution 5 --frames 1 --quiet
    lists my.sheet.html scenes
    rm my.sheet.html
    "$program" run - --resolution 5 --frames 1 --quiet <scenes/my.sheet.yaml
    lists scene.html scenes
    rm scene.html
    cp scenes/my.sheet.yaml big.yaml
    refuses 'big.yaml; did you mean that?' run big
    refuses --no-output run drooping --no-output -o x.html
}

wrote_names_files_that_exist() {
    local name
    drape 0 run drooping --resolution 5 --frames 2 -o line.ply -o b.pc2 -o c.html
    grep -q '^wrote line_0000.ply to line_0002.ply$' "$scratch/out" || fail "$(cat "$scratch/out")"
    for name in $(sed -n 's/^wrote //p' "$scratch/out" | sed 's/ to / /; s/ and / /'); do [ -s "$name" ] || fail "no $name"; done
}

# What a run that was killed left of the same names goes; what a run at work holds stays, and so does what is no such file.
leftovers_of_a_killed_run_go() {
    : >x_0007.ply.part-12345-0
    : >x.html.part-99-1
    : >x.html.part-99
    : >x.html.part-99-1.txt
    : >other.html.part-99-1
    : >held.html.part-7-0
    flock held.html.part-7-0 sleep 20 &
    local holder=$!
    while flock -n held.html.part-7-0 true; do sleep 0.05; done
    drape 0 run drooping --resolution 5 --frames 1 -o x.ply -o x.html -o held.html
    kill "$holder"
    grep -q '^removed 2 unfinished files' "$scratch/out" || fail "$(cat "$scratch/out")"
    lists held.html held.html.part-7-0 other.html.part-99-1 x.html x.html.part-99 x.html.part-99-1.txt x_0000.ply x_0001.ply
}

every_scene_runs() {
    local scene
    for scene in $(scenes); do drape 0 run "$scene" --frames 1 --quiet -o "$scene.obj"; done
    [ "$(find . -name '*_0001.obj' -size +0 | wc -l)" -eq "$(scenes | wc -l)" ]
}

no_frames_give_one_mesh() {
    drape 0 run pinned --resolution 5 --frames 0 -o x.obj --report r.json
    lists r.json x_0000.obj
    [ "$(cat "$scratch/out")" = "wrote x_0000.obj
wrote r.json" ]
    [ "$(grep -c '^v ' x_0000.obj)" -eq 25 ]
    [ "$(grep -c '^f ' x_0000.obj)" -eq 32 ]
    grep -q '"outcome": "finished"' r.json
}

all_files_of_a_run() {
    mkdir out
    drape 0 run pinned --resolution 9 --frames 2 --threads 2 -o out/x.obj --report out/r.json --export-system 40:out/s.sys
    [ "$(grep -c '^frame ' "$scratch/out")" -eq 2 ]
    [ "$(grep -c '^wrote ' "$scratch/out")" -eq 2 ]
    cd out
    lists r.json s.sys x_0000.obj x_0001.obj x_0002.obj
    [ "$(grep -c '"true_residual"' r.json)" -eq 40 ] || fail "not a record a step"
    grep -q '"outcome": "finished"' r.json
    ! cmp -s x_0001.obj x_0002.obj || fail "nothing moved"
}

# A sheet on a slope touches from the first frame on; one that hangs in the air never does.
contact_is_told() {
    drape 0 run slope --resolution 5 --frames 2 --report r.json
    [ "$(grep -cE '^frame .* contacts 25$' "$scratch/out")" -eq 2 ] || fail "it says: $(cat "$scratch/out")"
    [ "$(grep -c '"contact": {' r.json)" -eq "$(grep -c '"integrator": {' r.json)" ]
    grep -q '"count": 25,' r.json
    drape 0 run pinned --resolution 5 --frames 2 --report r.json
    ! grep -q contact "$scratch/out" r.json || fail "there is contact: $(cat "$scratch/out")"
}

# A folder stands where the second mesh should go: what was good before stays, and the report says what happened.
failing_run_keeps_what_it_has() {
    mkdir x_0001.obj
    drape 1 run pinned --resolution 5 --frames 2 -o x.obj --report r.json
    lists r.json x_0000.obj x_0001.obj
    ! grep -q '^wrote ' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ]
    grep -q '^drape: x_0001.obj: ' "$scratch/err"
    grep -q '"outcome": "x_0001.obj: ' r.json
    [ "$(grep -c '"true_residual"' r.json)" -eq 20 ]
}

# Ctrl-C: the step is finished, the files hold the frames before, the exit code tells. (A shell starts background jobs
# with SIGINT ignored, so SIGTERM, which the program treats alike, stands in.)
interrupted_run_keeps_its_frames() {
    local code=0 job
    "$program" run chen --frames 1000000 -o x.html -o x.obj --report r.json >"$scratch/out" 2>"$scratch/err" &
    job=$!
    for _ in $(seq 100); do
        [ ! -e x_0003.obj ] || break
        sleep 0.1
    done
    kill -TERM $job
    wait $job || code=$?
    [ $code -eq 130 ] || fail "exit code $code: $(cat "$scratch/err")"
    grep -qE '^drape: interrupted after frame [0-9]+ of 1000000; [0-9]+ frames are kept$' "$scratch/err"
    [ -s x.html ] && [ -s x_0000.obj ]
    grep -q '"outcome": "interrupted after frame ' r.json
    [ -z "$(find . -name '*.part-*')" ] || fail "left: $(ls)"
}

# Number I, from 0, of so many bytes from OFFSET on: field FILE TYPE OFFSET BYTES I
field() { od -An -v -t "$2" -j "$3" -N "$4" "$1" | tr -s ' ' '\n' | sed '/^$/d' | sed -n "$(($5 + 1))p"; }

# 81 vertices, 32 of them on the edge; a block for each, and two for each of the 208 edges and 176 hinges, whose
# opposite vertices are coupled by bending.
exported_system_has_its_size() {
    local n nnzb
    drape 0 run pinned --resolution 9 --frames 1 --quiet --no-output --export-system 3:s.sys
    lists s.sys
    [ "$(head -c 8 s.sys)" = DRAPESY1 ]
    n=$(field s.sys d8 8 24 0)
    nnzb=$(field s.sys d8 8 24 1)
    [ "$n" -eq 81 ] || fail "n is $n"
    [ "$nnzb" -eq $((81 + 2 * 208 + 2 * 176)) ] || fail "nnzb is $nnzb"
    [ "$(field s.sys d8 8 24 2)" -eq 32 ] || fail "nconstrained is $(field s.sys d8 8 24 2)"
    [ "$(field s.sys f8 32 8 0)" = 0.002 ] || fail "h is $(field s.sys f8 32 8 0)"
    [ "$(field s.sys d8 40 8 0)" -eq 0 ]
    [ "$(field s.sys d8 $((40 + 8 * n)) 8 0)" -eq "$nnzb" ]
    [ "$(wc -c <s.sys)" -eq $((48 + 176 * n + 76 * nnzb + 4 * (nnzb % 2))) ] || fail "$(wc -c <s.sys) bytes"
}

# The reader in the documentation is run as it is there.
documented_reader_reads_a_system() {
    local python=
    for python in /usr/bin/python3 python3 ''; do
        if [ -n "$python" ] && "$python" -c 'import numpy' 2>/dev/null; then break; fi
    done
    [ -n "$python" ] || skip "no python3 with numpy"
    # shellcheck disable=SC2016
    sed -n '/^```python$/,/^```$/p' "$source_dir/docs/system-files.md" | sed '/^```/d' >reader.py
    [ "$(grep -c 'def read_system' reader.py)" -eq 1 ]
    cat >>reader.py <<'PYTHON'

s = read_system("s.sys")
n, I = s["n"], np.eye(3)
assert (n, s["nconstrained"], s["h"]) == (25, 16, 0.002)
assert s["rowptr"][-1] == len(s["col"]) == len(s["val"])
assert sum(np.any(S != I) for S in s["S"]) == 16
A = np.zeros((n, 3, n, 3))
for i in range(n):
    for k in range(s["rowptr"][i], s["rowptr"][i + 1]):
        A[i, :, s["col"][k], :] = s["val"][k]
A = A.reshape(3 * n, 3 * n)
assert np.allclose(A, A.T, rtol=1e-12, atol=1e-15) and np.linalg.eigvalsh((A + A.T) / 2)[0] > 0
assert np.abs(s["rest"]).max() == 0.5 and s["cur"][12, 2] < 0
assert s["b"].shape == s["z"].shape == (n, 3)
free = np.repeat(np.array([np.all(S == I) for S in s["S"]]), 3)
x = np.where(free, 0, s["z"].ravel())
x[free] = np.linalg.solve(A[np.ix_(free, free)], (s["b"].ravel() - A @ x)[free])
assert 0 < np.abs(x).max() < 1
PYTHON
    drape 0 run pinned --resolution 5 --frames 1 --quiet --export-system 7:s.sys
    "$python" reader.py
    printf 'DRAPESY2' | dd of=s.sys conv=notrunc status=none
    expect_failure "no system file" "$python" reader.py
}

check version_is_printed
check help_names_the_commands
check help_of_run_names_every_option
check help_command
check help_of_scenes
check scenes_are_listed
check manual_and_help_name_the_same_options
check manual_names_commands_codes_and_environment
check manual_is_well_formed
check nothing_at_all
check unknown_words
check missing_and_superfluous_words
check bad_numbers
check unknown_ending
check missing_folders
check folders_in_the_place_of_files
check unwritable_folder
check bad_exports
check bad_vector_instructions
check frames_are_printed
check a_run_ends_with_a_verdict
check blown_up_runs_fail
check quiet_prints_nothing
check a_run_leaves_something_to_look_at
check wrote_names_files_that_exist
check leftovers_of_a_killed_run_go
check every_scene_runs
check no_frames_give_one_mesh
check all_files_of_a_run
check contact_is_told
check failing_run_keeps_what_it_has
check interrupted_run_keeps_its_frames
check exported_system_has_its_size
check documented_reader_reads_a_system
finish_tests
