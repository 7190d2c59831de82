#!/usr/bin/env bash
# Files, names and moments that somebody chose to do harm: what is not ours is neither read from nor written to, and no
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

run_test frame_log_follows_no_link frame_log_follows_no_link
run_test frame_log_spares_other_files frame_log_spares_other_files
run_test checkpoints_spare_links checkpoints_spare_links
finish_tests
