#!/usr/bin/env bash
# Runs that are cut off and resumed: the files at the end are those of a run that was left alone.
# In memory where that can be had: every frame waits for the disk.
if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2
scene=(run drooping --resolution 9 --frames 9)
unset DRAPE_SIMD

in_folder() {
    cd "$(mktemp -d "$scratch/folder-XXXXXX")" || return
    "$@"
}
check() { run_test "$1" in_folder "$@"; }

# drape CODE ARGUMENT...: its streams go to files outside the folder.
drape() {
    local wanted=$1 code=0
    shift
    "$program" "${scene[@]}" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape $*: $(cat "$scratch/err")"
}

# refuses TEXT ARGUMENT...: exit code 2, one line with that text, and the folder stays as it was.
refuses() {
    local text=$1 before
    shift
    before=$(ls -lA --time-style=full-iso)
    drape 2 "$@"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "should have said '$text': $(cat "$scratch/err")"
    [ "$(ls -lA --time-style=full-iso)" = "$before" ] || fail "drape $* wrote something: $(ls -la)"
}

# stop_at FRAME ARGUMENT...: interrupts the run when that frame's line is out. It says how to go on. $reached is the
# last whole frame: some more may have been done by then.
stop_at() {
    local frame=$1 pid code=0
    shift
    mkfifo "$scratch/pipe"
    "$program" "${scene[@]}" --frames 20000 "$@" >"$scratch/pipe" 2>"$scratch/err" &
    pid=$!
    exec 9<"$scratch/pipe"
    grep -qm 1 "^frame *$frame/" <&9
    kill -INT $pid
    cat <&9 >/dev/null
    exec 9<&-
    rm "$scratch/pipe"
    wait $pid || code=$?
    [ $code -eq 130 ] || fail "exit code $code: $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line: $(cat "$scratch/err")"
    grep -q 'resume with: drape run .*--resume$' "$scratch/err" || fail "it says: $(cat "$scratch/err")"
    reached=$(sed -n 's/.*interrupted after frame \([0-9]*\) of.*/\1/p' "$scratch/err")
}

# ---- Going on ----

interrupted_runs_go_on_with_the_same_files() {
    mkdir whole cut
    cd cut || return
    stop_at 5 -o a.html -o a.glb -o a.obj --checkpoint 2
    [ -s a.html ] || fail "the frames that there are were not written"
    rm a_*.obj
    drape 0 -o a.html -o a.glb -o a.obj --resume --threads 1 --frames $((reached + 5))
    grep -q "^resuming after frame $((reached / 2 * 2)) of" "$scratch/out" || fail "it says: $(cat "$scratch/out")"
    cd ../whole || return
    drape 0 -o a.html -o a.glb -o a.obj --checkpoint 2 --threads 2 --frames $((reached + 5))
    diff -r . ../cut
}

# Options that come later win, so the command is understood to its end where it refuses the one that is added.
what_it_says_can_be_typed() {
    local command
    stop_at 3 -o "it's a \$page.html" --checkpoint 2
    command=$(sed 's/.*resume with: drape //' "$scratch/err")
    expect_failure "it's a \$page.html.ckpt: is already at frame" bash -c "'$program' $command --frames 1"
    bash -c "'$program' $command --quiet --frames $((reached + 1))"
    [ "$(ls)" = "it's a \$page.html" ] || fail "there is: $(ls)"
}

reports_say_where_they_begin() {
    drape 0 -o b.html --report whole.json --checkpoint 2
    grep -q '"resumed_after": 0,' whole.json
    stop_at 4 -o a.html --checkpoint 2
    drape 0 -o a.html --resume --report rest.json --frames $((reached + 1))
    grep -qE '"resumed_after": [1-9]' rest.json
    [ "$(grep -c '"step": [0-9]*,$' rest.json)" -lt "$(grep -c '"step": [0-9]*,$' whole.json)" ] || [ "$reached" -gt 9 ]
}

no_checkpoint_no_files() {
    drape 0 -o a.html
    [ "$(ls)" = a.html ] || fail "there is: $(ls)"
    drape 0 -o b.html --checkpoint 4
    [ "$(ls)" = "a.html
b.html" ] || fail "there is: $(ls)"
}

files_can_lie_elsewhere() {
    mkdir state
    stop_at 3 -o a.html --checkpoint 2 --checkpoint-file state/s
    [ "$(ls state)" = "s
s.1
s.frames" ] || fail "there is: $(ls state)"
    refuses "state/s: there is already a checkpoint" -o a.html --checkpoint 2 --checkpoint-file state/s
    refuses "is already at frame" -o a.html --resume --checkpoint-file state/s --frames 1
    refuses "was written with --checkpoint 2" -o a.html --resume --checkpoint 3 --checkpoint-file state/s
}

# ---- What is refused ----

nothing_to_resume() {
    refuses "a.html.ckpt: there is no checkpoint to resume from" -o a.html --resume
    drape 0 -o a.html --checkpoint 3
    refuses "there is no checkpoint" -o a.html --resume # a finished run has none
}

what_cannot_be_meant() {
    refuses "--checkpoint-file" --no-output --checkpoint 3
    refuses "--checkpoint-file needs" -o a.html --checkpoint-file b
    refuses "--tune" -o a.html --checkpoint 3 --tune
    refuses "--checkpoint" -o a.html --checkpoint 0
    refuses "cannot write" -o a.html --checkpoint 3 --checkpoint-file no/such/folder
}

unfinished_runs_are_kept() {
    stop_at 3 -o a.html --checkpoint 2
    refuses "of a run that did not finish" -o a.html --checkpoint 2
}

another_scene() {
    stop_at 3 -o a.html --checkpoint 2
    refuses "another scene" -o a.html --resume --set time.step=1ms --frames 100000
    refuses "another scene" -o a.html --resume --resolution 5 --frames 100000
}

# spoil FILE: another byte in its middle
spoil() {
    local byte
    byte=$(od -An -tu1 -j 400 -N 1 "$1")
    printf '%b' "\\x$(printf %02x $((255 - byte)))" | dd of="$1" bs=1 seek=400 conv=notrunc status=none
}

the_one_before_serves() {
    stop_at 5 -o a.html --checkpoint 2
    spoil a.html.ckpt
    drape 0 -o a.html --resume --frames $((reached + 1))
    grep -q 'a.html.ckpt: the checkpoint is damaged.*resuming from the checkpoint before it' "$scratch/err"
    cp a.html resumed.html
    drape 0 -o a.html --checkpoint 2 --frames $((reached + 1))
    cmp a.html resumed.html
}

damaged_files() {
    stop_at 5 -o a.html --checkpoint 2
    spoil a.html.ckpt
    spoil a.html.ckpt.1
    refuses "a.html.ckpt.1: the checkpoint is damaged" -o a.html --resume --frames 100000
    printf 'no checkpoint, this is some other text that somebody wrote' >a.html.ckpt
    cp a.html.ckpt a.html.ckpt.1
    refuses "a.html.ckpt: not a checkpoint" -o a.html --resume --frames 100000
    rm a.html.ckpt.frames
    refuses "a.html.ckpt.frames: cannot open" -o a.html --resume --frames 100000
}

killed_runs_resume() { bash "$source_dir/tests/cli/kill_runs.sh" "$program" 10 "$((RANDOM + 1))"; }

# Ten sheets fall on each other: contacts, and the friction that pairs remember, are in the checkpoint.
killed_runs_of_a_pile_resume() { bash "$source_dir/tests/cli/kill_runs.sh" "$program" 3 "$((RANDOM + 1))" stack 7 20; }

# Seams, buttons that close, and pins that move: a garment resumes too.
killed_runs_of_a_garment_resume() { bash "$source_dir/tests/cli/kill_runs.sh" "$program" 3 "$((RANDOM + 1))" apron 9 16; }

check interrupted_runs_go_on_with_the_same_files
check what_it_says_can_be_typed
check no_checkpoint_no_files
check files_can_lie_elsewhere
check nothing_to_resume
check what_cannot_be_meant
check unfinished_runs_are_kept
check another_scene
check the_one_before_serves
check damaged_files
check reports_say_where_they_begin
check killed_runs_resume
check killed_runs_of_a_pile_resume
check killed_runs_of_a_garment_resume
finish_tests
