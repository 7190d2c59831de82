#!/usr/bin/env bash
# kill_runs.sh PROGRAM RUNS [SEED [SCENE RESOLUTION FRAMES]]: kills so many runs with SIGKILL, each at another random
# moment, every third also while it is resumed. It resumes them with other numbers of threads, and compares every file
# with that of a run that was left alone. Runs that were done before the moment came are compared too, but do
# not count. Prints a line of counts; fails with the first run that differs or does not resume. The scene is drooping,
# of 11 vertices along its width and 20 frames, unless another one is named: stack 14 100 is cloth that piles up.
set -eu
program=$(realpath "$1")
runs=$2
RANDOM=${3:-1}
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
frames=${6:-20}
scene=(run "${4:-drooping}" --resolution "${5:-11}" --frames "$frames" --quiet)
outputs=(-o a.html -o a.glb -o a.usda -o a.abc -o a.pc2 -o b.mdd -o a.obj -o a.ply)

die() {
    echo "kill_runs.sh: run $run: $*" >&2
    ls -la >&2
    exit 1
}

now() { date +%s%N; }

# drape ARGUMENT...: in the present folder
drape() { "$program" "${scene[@]}" "${outputs[@]}" "$@"; }

# kill_within NANOSECONDS ARGUMENT...: starts it, and kills it at a random moment of that time. Its exit code.
kill_within() {
    local span=$1 code=0 pid delay
    shift
    delay=$(((RANDOM * 32768 + RANDOM) * (span / 1000) / (32768 * 32768)))
    "$program" "${scene[@]}" "${outputs[@]}" "$@" 2>>"$base/err" &
    pid=$!
    sleep "$(printf '%d.%06d' $((delay / 1000000)) $((delay % 1000000)))"
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || code=$?
    return $code
}

# Frames in the log.
logged_frames() { echo $((($(stat -c %s a.html.ckpt.frames) - 48) / record)); }

# Every frame that has its mesh file is in the log, except for the one that was being written.
no_frame_is_lost() {
    local meshes logged
    [ -e a.html.ckpt ] || return 0
    meshes=$(find . -name 'a_*.obj' ! -name '*part*' ! -name a_rest.obj | wc -l)
    logged=$(logged_frames)
    [ "$logged" -ge $((meshes - 1)) ] || die "$meshes meshes, and $logged frames in the log"
}

# Goes on until all is written; where there is nothing to go on from, the run was killed before there was anything to
# lose, or after the end.
resume_it() {
    if [ ! -e a.html.ckpt ]; then
        early=$((early + 1))
        drape --checkpoint 3 || die "does not run again"
        return
    fi
    resumed=$((resumed + 1))
    if [ $((run % 3)) -eq 0 ]; then
        if kill_within "$span" --resume; then return; fi
        no_frame_is_lost
        if [ ! -e a.html.ckpt ]; then # it was removing its files
            rm -f a.html.ckpt.frames
            return
        fi
        twice=$((twice + 1))
    fi
    drape --resume --threads $((1 + (run + 1) % 3)) || die "does not resume"
}

run=reference
mkdir "$base/reference"
cd "$base/reference"
begin=$(now)
drape --checkpoint 3
span=$((($(now) - begin) / 2))
[ "$(find . -name '*ckpt*' | wc -l)" -eq 0 ] || die "a finished run leaves its checkpoint"
vertices=$(od -An -td4 -j 16 -N 4 a.pc2)
record=$((96 + 24 * vertices)) # bytes of a frame in the log

killed=0 finished=0 early=0 resumed=0 twice=0
quarter=(0 0 0 0) # of the frames, in which runs were killed
for ((run = 1; killed < runs; run++)); do
    mkdir "$base/run"
    cd "$base/run"
    if kill_within "$span" --checkpoint 3 --threads $((1 + run % 3)); then
        finished=$((finished + 1))
        span=$((span * 8 / 10)) # it comes to where most are reached, whatever else the machine does
    else
        killed=$((killed + 1))
        span=$((span * 108 / 100))
        no_frame_is_lost
        if [ -e a.html.ckpt ]; then
            q=$(((($(logged_frames) - 1) * 4) / (frames + 1)))
            quarter[q]=$((quarter[q] + 1))
        fi
        resume_it
    fi
    rm -f ./*.part-* ./*.spill-*
    diff -r . "$base/reference" || die "other files"
    cd "$base"
    rm -r "$base/run"
done
echo "$killed runs killed: $resumed resumed, $twice of them twice, $early at their very beginning or end; $finished more were not reached.
By quarters of the run: ${quarter[*]}"
