#!/usr/bin/env bash
# drape run --watch: what makes it run again, what does not, and how it ends. Nothing here depends on how fast anything is: each
# step waits for a line of the program, for minutes if need be.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
PATIENCE=1200 # tenths of a second

# scene FRAMES: a small scene of so many frames.
scene() {
    printf 'drape: 1\ncloth: [{grid: {width: 1 m, resolution: 3}, pins: [{where: left-edge}]}]\ntime: {frames: %d}\noutput: s.ply\n' "$1"
}

# save FILE: standard input as that file, all at once, so that nobody sees half of it however slow the machine is.
save() {
    cat >"$1.new"
    mv "$1.new" "$1"
}

# begin ARGUMENT...: starts it in a folder of its own, its streams in the files out and err.
begin() {
    : >out
    : >err
    "$program" run --watch "$@" >out 2>err &
    watcher=$!
    trap 'kill -KILL "$watcher" 2>/dev/null || true' EXIT # of a test that fails
}

# until_said COUNT WORDS FILE: waits until the file has the words in so many lines.
until_said() {
    local i
    for ((i = 0; i < PATIENCE; i++)); do
        [ "$(grep -c -- "$2" "$3")" -lt "$1" ] || return 0
        kill -0 "$watcher" 2>/dev/null || fail "it ended: $(cat out err)"
        sleep 0.1
    done
    fail "waited in vain for \"$2\" in $1 lines of $3: $(cat out err)"
}

# until_there FILE
until_there() {
    local i
    for ((i = 0; i < PATIENCE; i++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.1
    done
    fail "waited in vain for $1: $(cat out err)"
}

# end SIGNAL: what it exits with after that.
end() {
    local i code=0
    kill -s "$1" "$watcher"
    for ((i = 0; i < PATIENCE; i++)); do
        kill -0 "$watcher" 2>/dev/null || break
        sleep 0.1
    done
    wait "$watcher" || code=$?
    [ "$code" -eq 130 ] || fail "exit code $code: $(cat out err)"
}

enter() {
    mkdir "$scratch/$1"
    cd "$scratch/$1"
}

every_save_runs_again() {
    enter saves
    scene 1 >s.yaml
    begin s.yaml
    until_said 1 '^watching s.yaml; Ctrl-C ends it' out
    [ -e s_0001.ply ]
    [ ! -e s_0002.ply ]
    scene 2 | save s.yaml
    until_said 2 '^watching' out
    [ -e s_0002.ply ]
    [ ! -s err ] || fail "$(cat err)"
    scene 3 >s.yaml # in place, as other editors save
    until_there s_0003.ply
    end INT
}

# What does not parse gets its message, and the files of the run before stay.
half_a_scene_waits_for_the_rest() {
    enter halves
    scene 1 >s.yaml
    begin s.yaml
    until_said 1 '^watching' out
    cp s_0001.ply kept.ply
    printf 'drape: 1\ncloth: [{grid: {wid' | save s.yaml
    until_said 2 '^watching' out
    grep -q '^drape: s.yaml:[23]:' err || fail "$(cat err)"
    cmp s_0001.ply kept.ply
    mv s.yaml away.yaml # nothing to read is nothing to run
    scene 2 | save s.yaml
    until_said 3 '^watching' out
    [ -e s_0002.ply ]
    end TERM
}

a_save_ends_the_run() {
    enter during
    scene 900000 >s.yaml
    begin s.yaml
    until_said 1 'frame *2' out
    scene 1 | save s.yaml
    until_said 1 '^watching' out
    grep -q '^drape: a file of the scene was saved after frame [0-9]* of 900000; [0-9]* frames are kept$' err || fail "$(cat err)"
    end INT
}

# The mesh and the image that a scene names belong to it.
files_of_the_scene_count() {
    enter files
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n' >m.obj
    cp "$source_dir/tests/fuzz/corpus/image/quarters.png" i.png
    printf 'drape: 1\ncloth: [{mesh: m.obj, texture: i.png}]\ntime: {frames: 1}\noutput: s.glb\n' >s.yaml
    begin s.yaml
    until_said 1 '^watching s.yaml and the files that it names; Ctrl-C ends it' out
    printf 'v 0 0 0\nv 2 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n' | save m.obj
    until_said 2 '^watching' out
    save i.png <"$source_dir/tests/fuzz/corpus/image/gray.png"
    until_said 3 '^watching' out
    end INT
}

# Ctrl-C during a run is what it is without --watch.
ends_in_the_middle_of_a_run() {
    enter middle
    scene 900000 >s.yaml
    begin s.yaml
    until_said 1 'frame *2' out
    end INT
    grep -q 'interrupted after frame' err || fail "$(cat err)"
}

# refuses WORDS ARGUMENT...
refuses() {
    local code=0 words=$1
    shift
    "$program" run --watch "$@" >out 2>err </dev/null || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code: $*"
    grep -q -- "$words" err || fail "$(cat err)"
}

what_cannot_be_watched() {
    enter refused
    scene 1 >s.yaml
    refuses 'needs a scene file, and flag is not one' flag
    refuses 'needs a scene file, and standard input is not one' -
    refuses 'cannot be used with checkpoints' s.yaml --checkpoint 2
    refuses 'cannot be used with checkpoints' s.yaml --resume
    refuses 'no scene given'
    [ -z "$(ls ./*.ply 2>/dev/null)" ]
}

source_dir=$1
run_test every_save_runs_again every_save_runs_again
run_test half_a_scene_waits_for_the_rest half_a_scene_waits_for_the_rest
run_test a_save_ends_the_run a_save_ends_the_run
run_test files_of_the_scene_count files_of_the_scene_count
run_test ends_in_the_middle_of_a_run ends_in_the_middle_of_a_run
run_test what_cannot_be_watched what_cannot_be_watched
finish_tests
