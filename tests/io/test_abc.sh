#!/usr/bin/env bash
# .abc of whole runs: every frame against the .obj of the same run, by a reader that shares nothing with the writer.
# They are also read by the Alembic library, where the build found one.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2

folder() {
    mkdir -p "$scratch/$1"
    cd "$scratch/$1"
}

# agrees FPS SCENE ARGUMENT...: runs it, and compares.
agrees() {
    local fps=$1
    shift
    "$program" run "$@" --quiet -o a.abc -o a.obj
    python3 -B "$source_dir/tests/support/abc_check.py" a.abc a "$fps" | tee said
}

cloth_alone() {
    folder alone
    agrees 25 flag --resolution 7 --frames 12
    grep -q '^13 frames of flag$' said
}

# Three pieces, colliders that rest and that move as a whole.
pieces_and_colliders() {
    folder many
    agrees 25 walk --resolution 8 --frames 5
    grep -q 'skirt right_leg left_leg head chest .* left_arm$' said
}

no_colliders() {
    folder none
    agrees 25 sphere --resolution 7 --frames 2 --no-colliders
    grep -q '^3 frames of sheet$' said
}

only_the_start() {
    folder start
    agrees 25 pinned --resolution 5 --frames 0
    grep -q '^1 frames' said
}

another_frame_rate() {
    folder rate
    agrees 62.5 pinned --resolution 5 --frames 6 --set time.fps=62.5 --set time.step=8ms
}

# No clock, no threads in it.
the_same_bytes_again() {
    folder again
    "$program" run sphere --resolution 9 --frames 5 --quiet --threads 1 -o a.abc
    sleep 1.1
    "$program" run sphere --resolution 9 --frames 5 --quiet --threads 2 -o b.abc
    cmp a.abc b.abc
}

by_the_library() {
    [ -n "${DRAPE_ALEMBIC_CHECK:-}" ] || skip "the build found no Alembic library (Debian has none)"
    folder library
    for scene in flag walk rollers; do
        "$program" run $scene --resolution 8 --frames 6 --quiet -o $scene.abc -o $scene.obj
        "$DRAPE_ALEMBIC_CHECK" $scene.abc $scene
    done
}

for test in cloth_alone pieces_and_colliders no_colliders only_the_start another_frame_rate the_same_bytes_again \
    by_the_library; do
    run_test $test $test
done
finish_tests
