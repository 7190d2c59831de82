#!/usr/bin/env bash
# Files, names and moments chosen to do harm: what is not ours is neither read from nor written to, and no
# message promises what is not there.
source "$(dirname "$0")/../support/shell.sh"
program=$2

# folder NAME: an empty folder to work in
folder() {
    mkdir -p "$scratch/$1"
    cd "$scratch/$1"
}

# exit_code COMMAND...: its exit code in $code, its messages in $scratch/said
exit_code() {
    code=0
    "$@" >"$scratch/out" 2>"$scratch/said" || code=$?
}

# ends_with CODE COMMAND...
ends_with() {
    local wanted=$1
    shift
    exit_code "$@"
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $* said: $(cat "$scratch/said")"
}

says() { grep -qF -- "$1" "$scratch/said" || fail "it does not say '$1', but: $(cat "$scratch/said")"; }

tiny() { "$program" run pinned --resolution 4 --frames 3 --quiet "$@"; }

head_of_scene() { printf 'drape: 1\ntime: {step: 10 ms, fps: 100, duration: 10 ms}\ncloth:\n  - material: cotton\n    grid: {width: 1 m, resolution: %s}\n' "$1"; }
head_of_scene 20 >"$scratch/sheet.yaml" # one step per frame

# ---- The log of the frames ----

frame_log_follows_no_link() {
    folder links
    echo precious >mine
    ln -s mine s.html.ckpt.frames
    ends_with 2 tiny -o s.html --checkpoint 5
    says 's.html.ckpt.frames: is a link'
    [ "$(cat mine)" = precious ]
    rm s.html.ckpt.frames
    ln mine s.html.ckpt.frames
    ends_with 2 tiny -o s.html --checkpoint 5
    [ "$(cat mine)" = precious ]
    rm s.html.ckpt.frames
    ln -s nowhere s.html.ckpt.frames
    ends_with 2 tiny -o s.html --checkpoint 5
    [ ! -e nowhere ]
    [ "$(ls)" = "$(printf '%s\n' mine s.html.ckpt.frames)" ]
}

frame_log_spares_other_files() {
    folder spares
    echo mine >notes.frames
    ends_with 2 tiny -o s.pc2 --checkpoint 5 --checkpoint-file notes
    says 'notes.frames: is not a file of frames'
    [ "$(cat notes.frames)" = mine ]
    [ "$(ls)" = notes.frames ]
    : >notes.frames # of a run that was cut off at once
    ends_with 0 tiny -o s.pc2 --checkpoint 5 --checkpoint-file notes
    mkfifo pipe.frames
    ends_with 2 timeout 10 "$program" run pinned --resolution 4 --frames 1 -o s.pc2 --checkpoint 5 --checkpoint-file pipe
}

# A link to nothing under the name of a checkpoint is somebody's, too.
checkpoints_spare_links() {
    folder dangling
    ln -s nowhere c.1
    ends_with 2 tiny -o s.pc2 --checkpoint 1 --checkpoint-file c
    [ -L c.1 ]
}

# ---- Full disks ----

# with_room KILOBYTES COMMAND...: files may not grow beyond that, which stands in for a full disk
with_room() {
    local kilobytes=$1
    shift
    bash -c 'trap "" XFSZ; ulimit -f "$1"; shift; exec "$@"' - "$kilobytes" "$@"
}

long_run() { "$program" run "$scratch/sheet.yaml" --quiet "$@"; }

# A cache is cut after its last whole frame: 400 vertices of 12 bytes, 80 kB.
pc2_keeps_the_frames_before_a_full_disk() {
    folder pc2
    ends_with 1 with_room 80 "$program" run "$scratch/sheet.yaml" --frames 60 --quiet -o a.pc2
    says 'a.pc2: cannot write: File too large; 17 frames are kept'
    [ "$(stat -c %s a.pc2)" -eq $((32 + 17 * 12 * 400)) ]
    long_run --frames 16 -o b.pc2
    cmp a.pc2 b.pc2
}

# The others wait in a temporary file, and then take more room than they had there; .abc has tables after its frames.
recordings_keep_what_fits() {
    folder recordings
    for format in mdd usda glb abc; do
        ends_with 1 with_room 250 "$program" run "$scratch/sheet.yaml" --frames 100 --quiet -o "a.$format"
        # What is said of the file; where all that were taken had room, of the run.
        kept=$(sed -n 's/.*the first \([0-9]*\) of [0-9]* frames are kept$/\1/p; s/.*; \([0-9]*\) frames are kept$/\1/p' \
            "$scratch/said" | head -1)
        [ "$kept" -gt 2 ]
        long_run --frames $((kept - 1)) -o "b.$format"
        cmp "a.$format" "b.$format"
        rm -f a* b*
    done
}

# Nothing is promised that is not there, and the report comes whatever becomes of the rest.
no_promise_without_a_file() {
    folder promises
    ends_with 1 with_room 60 "$program" run "$scratch/sheet.yaml" --frames 2 --quiet -o a.html --report r.json
    if grep -q 'frames are kept' "$scratch/said"; then fail "$(cat "$scratch/said")"; fi
    says 'a.html: cannot write: File too large; none of its frames is kept'
    [ ! -e a.html ]
    grep -q '"outcome": "a.html: cannot write' r.json
    ends_with 1 with_room 65 "$program" run "$scratch/sheet.yaml" --frames 60 --quiet -o a.html -o a.pc2
    says 'a.html: cannot write: File too large; none of its frames is kept'
    says 'a.pc2: cannot write: File too large; 13 frames are kept in the other files'
    [ -z "$(find . -name '*.part-*')" ]
}

# On a real file system, where the process may make one.
full_file_system() {
    folder mounted
    mkdir disk
    mount -t tmpfs -o size=512k tmpfs disk 2>/dev/null || skip "no file system may be mounted"
    trap 'umount disk' EXIT
    for format in pc2 mdd usda glb abc; do
        ends_with 1 "$program" run "$scratch/sheet.yaml" --frames 150 --quiet -o "disk/a.$format" --report r.json
        says 'No space left on device'
        says 'kept'
        [ -s "disk/a.$format" ] || fail "$format: nothing is there; it said: $(cat "$scratch/said")"
        [ -s r.json ]
        [ -z "$(find disk -name '*.part-*')" ]
        rm -f disk/* r.json
    done
    for format in obj ply; do # each frame a file of its own
        ends_with 1 "$program" run "$scratch/sheet.yaml" --frames 150 --quiet -o "disk/a.$format"
        says 'No space left on device'
        rm -f disk/*
    done
}

# ---- More than a format can hold ----

glb_refuses_too_many_frames_at_the_start() {
    folder frames
    ends_with 2 "$program" run pinned --resolution 4 --frames 40000 --quiet -o a.glb
    says 'a.glb: with 40001 frames it is larger than 4 GiB'
    [ -z "$(ls)" ]
}

# ---- Names of one run ----

# refuses_names COMMAND...: exit code 2 for the names alone, and nothing is written
refuses_names() {
    local before after
    before=$(ls -l --time-style=full-iso)
    ends_with 2 "$@"
    says 'choose another name'
    after=$(ls -l --time-style=full-iso)
    [ "$before" = "$after" ] || fail "files changed: $after"
}

outputs_do_not_eat_each_other() {
    folder names
    mkdir real
    ln -s real link
    refuses_names tiny -o c.html --checkpoint 2 --checkpoint-file c.html
    refuses_names tiny -o c.html --report c.html
    refuses_names tiny -o c.html --report ./c.html
    refuses_names tiny -o real/c.html --report link/c.html
    refuses_names tiny -o c.html -o c.html
    refuses_names tiny -o c.pc2 --report c_rest.obj
    refuses_names tiny -o c.obj --report c_0002.obj
    refuses_names tiny -o c.html --export-system 1:c.html
    refuses_names tiny -o c.html --checkpoint 2 --report c.html.ckpt.frames
    tiny -o c.obj -o c.ply -o c.pc2 -o c.mdd -o c.html --report c_x.obj --checkpoint 2
    [ -s c_0000.obj ]
}

outputs_do_not_eat_inputs() {
    folder inputs
    tiny -o m.obj
    mv m_0000.obj m_0001.obj
    cp m_0001.obj m.html
    ln -s m_0001.obj alias.obj
    printf 'drape: 1\ncloth:\n  - mesh: alias.obj\n    material: cotton\ntime: {step: 10 ms, frames: 2}\noutput: m.obj\n' >s.yaml
    refuses_names "$program" run s.yaml --quiet
    refuses_names "$program" run s.yaml --quiet -o n.html --report alias.obj
    refuses_names "$program" run s.yaml --quiet -o n.html --report s.yaml
    refuses_names "$program" run ./s.yaml --quiet -o n.html --report "$PWD/s.yaml"
    "$program" run s.yaml --quiet -o n.html
}

# ---- Memory and time in proportion to the file ----

sanitized() { nm "$program" 2>/dev/null | grep -q '__asan_\|__tsan_'; }

# repeat COUNT TEXT
repeat() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }

# refuses_cheaply FILE MESSAGE: exit code 2 with that message, in 300 MB and 20 s of processor time
refuses_cheaply() {
    if sanitized; then
        ends_with 2 "$program" check "$1"
    else
        ends_with 2 bash -c 'ulimit -v 300000; ulimit -t 20; exec "$@"' - "$program" check "$1"
    fi
    grep -qF -- "$2" "$scratch/out" "$scratch/said" || fail "it does not say '$2', but: $(head -c 500 "$scratch/out" "$scratch/said")"
}

yaml_takes_little() {
    folder yaml
    { printf '['; repeat 1000000 ':,'; } >empty.yaml
    refuses_cheaply empty.yaml 'more than 200000 commas and colons in a line'
    { printf '['; repeat 1000 "$(repeat 1000 ':,')"$'\n'; } >keys.yaml
    refuses_cheaply keys.yaml 'a key is missing before the colon'
    { printf 'a:\n'; repeat 1600000 $'- b\n'; } >values.yaml
    ends_with 2 "$program" check values.yaml
    grep -q 'more than 1500000 keys and values' "$scratch/out"
}

# libfyaml gets no memory, and says nothing about it.
lack_of_memory_is_named() {
    if sanitized; then skip "sanitizers take all addresses"; fi
    folder memory
    { printf '['; repeat 90000 'a:,'; printf ']\n'; } >line.yaml
    for kilobytes in 45000 60000 70000; do
        ends_with 2 bash -c 'ulimit -v "$1"; shift; exec "$@"' - $kilobytes "$program" check line.yaml
        grep -q 'out of memory' "$scratch/out" "$scratch/said" || fail "$kilobytes kB: $(cat "$scratch/out" "$scratch/said")"
    done
}

pins_cost_what_they_hold() {
    folder pins
    { head_of_scene 150; printf '    pins:\n      - where: ['; repeat 4000 'all, '; printf 'all]\n'; } >names.yaml
    ends_with 0 "$program" check names.yaml
    { head_of_scene 150; printf '    pins:\n'; repeat 60000 $'      - {where: corners}\n'; } >visits.yaml
    refuses_cheaply visits.yaml 'pins and loads search more than 1000000000 vertices in total'
    { head_of_scene 150; printf '    pins:\n'; repeat 60 $'      - {where: all}\n'; } >entries.yaml
    refuses_cheaply entries.yaml 'pins and loads hold more than 1090000 vertices in total'
}

# 260 faces of 999 corners, which are cut in the square of that each.
polygons_cost_what_they_hold() {
    folder polygons
    awk 'BEGIN { for (i = 0; i < 999; i++) printf "v %.9f %.9f 0\n", cos(i / 159), sin(i / 159)
                 for (k = 0; k < 260; k++) { printf "f"; for (i = 1; i < 1000; i++) printf " %d", i; printf "\n" } }' >p.obj
    refuses_cheaply p.obj 'too many faces with very many corners'
    awk 'BEGIN { printf "ply\nformat ascii 1.0\nelement vertex 999\nproperty float x\nproperty float y\nproperty float z\n"
                 printf "element face 260\nproperty list int int vertex_indices\nend_header\n"
                 for (i = 0; i < 999; i++) printf "%.9f %.9f 0\n", cos(i / 159), sin(i / 159)
                 for (k = 0; k < 260; k++) { printf "999"; for (i = 0; i < 999; i++) printf " %d", i; printf "\n" } }' >p.ply
    refuses_cheaply p.ply 'too many faces with very many corners'
}

# ---- FIFOs and devices ----

# refuses_at_once COMMAND...: does not wait for the other end
refuses_at_once() {
    ends_with 2 timeout 20 "$@"
    says 'not a regular file'
}

readers_do_not_wait() {
    folder fifos
    for name in s.yaml m.obj m.ply m.pc2 m.mdd a.sys a.mtx b.mtx q.csv c c.frames d.ckpt.frames; do mkfifo "$name"; done
    refuses_at_once "$program" run s.yaml
    refuses_at_once "$program" run /dev/zero
    refuses_at_once "$program" check-frames d.ckpt.frames
    refuses_at_once "$program" check-frames m.pc2 --mesh m.obj
    refuses_at_once "$program" render m.pc2 m.png
    refuses_at_once "$program" solve a.sys
    refuses_at_once "$program" solve a.mtx
    refuses_at_once "$program" ccd q.csv
    ends_with 2 timeout 20 "$program" run pinned --resolution 4 --frames 1 -o a.pc2 --checkpoint-file c --resume
    for name in s.yaml m.obj m.ply; do
        ends_with 2 timeout 20 "$program" check "$name"
        grep -q 'not a regular file' "$scratch/out" "$scratch/said"
    done
    head_of_scene 4 >t.yaml
    sed 's/grid: .*/mesh: m.obj/' t.yaml >u.yaml
    refuses_at_once "$program" run u.yaml
    printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n' >i.mtx
    refuses_at_once "$program" solve i.mtx --rhs b.mtx
}

scenes_come_through_pipes() {
    folder pipes
    head_of_scene 4 | "$program" run - --quiet -o a.pc2
    head_of_scene 4 >s.yaml
    "$program" run s.yaml --quiet -o b.pc2
    cmp a.pc2 b.pc2
    expect_failure 'standard input:1:1: the file is empty; `drape scenes --show NAME` prints a scene to start from' "$program" run - --quiet </dev/null
}

# ---- Signals at bad moments ----

# signalled_when PATTERN COMMAND...: starts it, sends SIGTERM as soon as a file of that name is there; exit code in $code
signalled_when() {
    local pattern=$1 run
    shift
    "$@" >"$scratch/out" 2>"$scratch/said" &
    run=$!
    until compgen -G "$pattern" >/dev/null; do
        kill -0 "$run" 2>/dev/null || fail "it ended before $pattern was there: $(cat "$scratch/said")"
    done
    kill -TERM "$run"
    code=0
    wait "$run" || code=$?
}

leaves_no_temporary_file() { [ -z "$(find . -name '*.part-*')" ] || fail "left behind: $(ls)"; }

# Frame 0 as text takes a while, and the temporary file of the cache is there before it.
signal_before_the_first_step() {
    folder early
    signalled_when 'a.pc2.part-*' "$program" run pinned --resolution 200 --frames 5 -o a.pc2 -o b.obj -o c.ply
    [ "$code" -eq 130 ] || fail "exit code $code: $(cat "$scratch/said")"
    leaves_no_temporary_file
}

# The cache of the new run is begun before the frames of the old one are written again.
signal_while_resuming() {
    folder resuming
    run=("$program" run pinned --resolution 40 --frames 30 -o a.pc2 -o b.obj --checkpoint 5)
    signalled_when b_0020.obj "${run[@]}"
    [ "$code" -eq 130 ] || fail "exit code $code: $(cat "$scratch/said")"
    rm -f a.pc2 b_*.obj
    signalled_when 'a.pc2.part-*' "${run[@]}" --resume
    [ "$code" -eq 130 ] || fail "exit code $code: $(cat "$scratch/said")"
    leaves_no_temporary_file
    [ ! -e b_0020.obj ] || fail "all frames were written before it ended"
    "${run[@]}" --resume --quiet
    "$program" run pinned --resolution 40 --frames 30 --quiet -o whole.pc2 --checkpoint 5
    cmp a.pc2 whole.pc2
}

signal_while_the_last_file_is_written() {
    folder late
    signalled_when 'a.usda.part-*' "$program" run pinned --resolution 40 --frames 20 -o a.usda --checkpoint 50
    [ "$code" -eq 0 ] || fail "exit code $code: $(cat "$scratch/said")"
    [ "$(ls)" = a.usda ] || fail "left behind: $(ls)"
}

size_limit_is_a_message() {
    folder limit
    ends_with 1 bash -c 'ulimit -f 80; exec "$@"' - "$program" run "$scratch/sheet.yaml" --frames 60 --quiet -o a.pc2
    says 'a.pc2: cannot write: File too large'
}

# ---- Outputs through links ----

output_of_a_scene_stays_in_the_folder() {
    folder outside
    folder inside
    mkdir below
    ln -s ../outside link
    ln -s below alias
    { head_of_scene 4; echo 'output: link/a.html'; } >s.yaml
    ends_with 2 "$program" run s.yaml --quiet
    says 'output: link/a.html is outside the current folder'
    [ -z "$(ls ../outside)" ]
    "$program" run s.yaml --quiet --trust-paths
    { head_of_scene 4; echo 'output: alias/a.html'; } >t.yaml
    "$program" run t.yaml --quiet
    [ -s below/a.html ]
}

# ---- What a terminal would obey ----

# shows_no_command COMMAND...: neither ESC, BEL, DEL nor a C1 control, as a byte or as a character, nor a turn of direction
shows_no_command() {
    exit_code "$@"
    cat "$scratch/out" "$scratch/said" >"$scratch/both"
    [ -s "$scratch/both" ] || fail "it says nothing: $*"
    if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\x80-\xff])[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$scratch/both"; then
        fail "$*: $(cat -v "$scratch/both")"
    fi
}

terminal_gets_no_commands() {
    folder terminal
    local bad=$'\e]0;x\a\x7f\xc2\x9b31m\xe2\x80\xae\x9b2J'
    shows_no_command "$program" run "$bad"
    shows_no_command "$program" run "$bad.yaml"
    shows_no_command "$program" check "$bad.obj"
    shows_no_command "$program" check "$bad.yaml" --json
    shows_no_command "$program" run pinned --set "$bad=1"
    shows_no_command "$program" run pinned --integrator "$bad"
    shows_no_command "$program" run pinned --resolution 4 --frames 0 -o "$bad.pc2"
    shows_no_command "$program" solve "$bad"
    shows_no_command "$program" check-frames "$bad.pc2" --mesh "$bad.obj"
    shows_no_command "$program" render "$bad.pc2" "$bad.png"
    shows_no_command "$program" render pinned "$bad.png" --resolution 4 --frame 0 --size 8x8
    shows_no_command "$program" "$bad"
    shows_no_command "$program" run pinned "--$bad"
    for key in name material mesh; do
        { head_of_scene 4; printf '  - %s: "\\e[2J\\x7f\\u009b31m\\u202e"\n' $key; } >s.yaml
        shows_no_command "$program" run s.yaml
        shows_no_command "$program" check s.yaml
        shows_no_command "$program" check s.yaml --json
    done
    printf 'v 0 0 0\nf 1 \e[2J\x7f\xc2\x9b 2\n\e]0;\a 1\n' >m.obj
    shows_no_command "$program" check m.obj
    # A piece with such a name, in what is said of its vibrations.
    head_of_scene 5 | sed 's/- material/- name: "\\u009b31m\\x7f"\n    material/' >t.yaml
    shows_no_command "$program" check t.yaml
}

# ---- Numbers, names and bytes that formats do not know ----

json_has_no_infinity() {
    ends_with 0 "$program" ode 1a --method implicit-euler --step 1 --until 400 --json
    if grep -qE ': -?(inf|nan)' "$scratch/out"; then fail "$(cat "$scratch/out")"; fi
    python3 -m json.tool <"$scratch/out" >/dev/null
}

# A name that ends in a backslash would take the next line, a vertex, into its own.
object_names_end_their_line() {
    folder backslash
    head_of_scene 4 | sed 's/- material/- name: "sheet\\\\"\n    material/' >s.yaml
    grep -qF '"sheet\\"' s.yaml
    "$program" run s.yaml --quiet -o a.obj
    "$program" check a_0000.obj >checked || true
    grep -q '16 vertices' checked || fail "$(cat checked)"
}

# Names of files are bytes; JSON and USDA are UTF-8.
names_that_are_no_text() {
    folder bytes
    local bad=$'a\xff\xfeb'
    head_of_scene 4 >"$bad.yaml"
    "$program" run "$bad.yaml" --quiet -o "$bad.usda" -o "$bad.html" -o "$bad.glb" -o "$bad.abc" --report r.json
    for file in r.json "$bad.usda" "$bad.html"; do
        python3 -c 'import sys; open(sys.argv[1], "rb").read().decode("utf-8")' "$file" || fail "$file is no UTF-8"
    done
    python3 -m json.tool <r.json >/dev/null
    "$program" run "$bad.yaml" --quiet -o "$bad.obj"
    exit_code "$program" check "$(ls "$bad"_0000.obj)" --json
    python3 -m json.tool <"$scratch/out" >/dev/null
    exit_code "$program" check "$bad.yaml" --json
    python3 -m json.tool <"$scratch/out" >/dev/null
}

# The report of a long run does not wait in memory: 4 kB per step were 12 MB more here.
report_takes_no_memory() {
    if sanitized; then skip "sanitizers keep what was freed"; fi
    folder report
    head_of_scene 3 >s.yaml
    resident() { /usr/bin/env python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"; }
    without=$(resident "$program" run s.yaml --frames 3000 --quiet)
    with=$(resident "$program" run s.yaml --frames 3000 --quiet --report r.json)
    [ $((with - without)) -lt 4000 ] || fail "$with kB with a report, $without kB without"
    python3 -c '
import json
steps = json.load(open("r.json"))["steps"]
assert [s["step"] for s in steps] == list(range(1, 3001)), len(steps)'
}

# ---- Libraries that are not asked for ----

# CHOLMOD and its BLAS come with the method direct alone: OpenBLAS does not let a program end that has little memory.
cholmod_comes_when_asked_for() {
    if ldd "$program" | grep -iE 'cholmod|blas'; then fail "every command loads these"; fi
    if ! sanitized; then
        ends_with 0 timeout 20 bash -c 'ulimit -v 100000; exec "$@"' - "$program" --version
    fi
    folder direct
    printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n' >a.mtx
    exit_code "$program" solve a.mtx --method direct
    if grep -q 'built without CHOLMOD' "$scratch/said"; then skip "there is no CHOLMOD"; fi
    [ "$code" -eq 0 ] || fail "$(cat "$scratch/said")"
}

run_test frame_log_follows_no_link frame_log_follows_no_link
run_test frame_log_spares_other_files frame_log_spares_other_files
run_test checkpoints_spare_links checkpoints_spare_links
run_test pc2_keeps_the_frames_before_a_full_disk pc2_keeps_the_frames_before_a_full_disk
run_test recordings_keep_what_fits recordings_keep_what_fits
run_test no_promise_without_a_file no_promise_without_a_file
run_test full_file_system full_file_system
run_test glb_refuses_too_many_frames_at_the_start glb_refuses_too_many_frames_at_the_start
run_test outputs_do_not_eat_each_other outputs_do_not_eat_each_other
run_test outputs_do_not_eat_inputs outputs_do_not_eat_inputs
run_test yaml_takes_little yaml_takes_little
run_test lack_of_memory_is_named lack_of_memory_is_named
run_test pins_cost_what_they_hold pins_cost_what_they_hold
run_test polygons_cost_what_they_hold polygons_cost_what_they_hold
run_test readers_do_not_wait readers_do_not_wait
run_test scenes_come_through_pipes scenes_come_through_pipes
run_test signal_before_the_first_step signal_before_the_first_step
run_test signal_while_resuming signal_while_resuming
run_test signal_while_the_last_file_is_written signal_while_the_last_file_is_written
run_test size_limit_is_a_message size_limit_is_a_message
run_test output_of_a_scene_stays_in_the_folder output_of_a_scene_stays_in_the_folder
run_test terminal_gets_no_commands terminal_gets_no_commands
run_test json_has_no_infinity json_has_no_infinity
run_test object_names_end_their_line object_names_end_their_line
run_test names_that_are_no_text names_that_are_no_text
run_test report_takes_no_memory report_takes_no_memory
run_test cholmod_comes_when_asked_for cholmod_comes_when_asked_for
finish_tests
