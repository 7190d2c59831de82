#!/usr/bin/env bash
# The same scenes give the same bytes: gcc and clang, every vector width, every number of threads.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2
scenes=(pinned drooping reentrant four-corners chen)
unset DRAPE_SIMD

# run_scenes DIRECTORY PROGRAM [OPTION...]: every scene into a directory of its own, with one exported system.
# Returns the program's exit code where that is not 0.
run_scenes() {
    local directory=$1 executable=$2 scene
    shift 2
    for scene in "${scenes[@]}"; do
        mkdir -p "$directory/$scene"
        "$executable" run "$scene" --resolution 21 --frames 3 --quiet "$@" \
            --export-system "2:$directory/$scene/x.sys" -o "$directory/$scene/x.obj" || return
    done
    for scene in bdf2 dormand-prince; do # by other integrators, under control of the error
        mkdir -p "$directory/$scene"
        "$executable" run drooping --resolution 21 --frames 2 --quiet "$@" \
            --set "integrator={method: $scene, control: error}" -o "$directory/$scene/x.obj" || return
    done
}

# same_files A B: the same names with the same bytes, and something at all.
same_files() {
    diff -rq "$1" "$2" || return
    [ -n "$(find "$1" -type f -size +0)" ] || { echo "$1 holds nothing to compare"; return 1; }
}

# The reference: as the program runs when nothing is asked for.
reference_is_complete() {
    local scene
    run_scenes "$scratch/reference" "$program"
    for scene in "${scenes[@]}"; do
        [ -s "$scratch/reference/$scene/x.sys" ] || fail "$scene: no system file"
        [ -n "$(find "$scratch/reference/$scene" -name '*.obj' -size +0)" ] || fail "$scene: no OBJ file"
    done
}

comparison_sees_one_changed_bit() {
    mkdir -p "$scratch/a" "$scratch/b" "$scratch/none"
    printf 'v 0 0 1\n' >"$scratch/a/x.obj"
    printf 'v 0 0 1\n' >"$scratch/b/x.obj"
    same_files "$scratch/a" "$scratch/b"
    printf 'v 0 0 0\n' >"$scratch/b/x.obj"
    expect_failure differ same_files "$scratch/a" "$scratch/b"
    rm "$scratch/b/x.obj"
    expect_failure "Only in" same_files "$scratch/a" "$scratch/b"
    expect_failure "nothing to compare" same_files "$scratch/b" "$scratch/none"
}

clang_gives_the_same_bits() {
    local other=$source_dir/build-clang/drape
    [ -x "$other" ] || skip "build-clang/drape is not there (cmake --preset clang)"
    run_scenes "$scratch/clang" "$other"
    same_files "$scratch/reference" "$scratch/clang"
}

# processor_has FLAG...: what the kernel says, where it says it.
processor_has() {
    local flag
    for flag in "$@"; do grep -qw "$flag" /proc/cpuinfo || return; done
}

# simd_gives_the_same_bits LEVEL PROCESSOR_FLAG...
simd_gives_the_same_bits() {
    local level=$1 status=0
    shift
    [ "$(uname -m)" = x86_64 ] || skip "no x86-64"
    export DRAPE_SIMD=$level
    run_scenes "$scratch/$level" "$program" || status=$?
    if [ "$status" -eq 2 ] && ! processor_has "$@"; then skip "this processor has no $level"; fi
    [ "$status" -eq 0 ] || fail "exit code $status"
    same_files "$scratch/reference" "$scratch/$level"
}

# threads_give_the_same_bits COUNT
threads_give_the_same_bits() {
    run_scenes "$scratch/threads$1" "$program" --threads "$1"
    same_files "$scratch/reference" "$scratch/threads$1"
}

run_test comparison_sees_one_changed_bit comparison_sees_one_changed_bit
run_test reference_is_complete reference_is_complete
run_test clang_gives_the_same_bits clang_gives_the_same_bits
run_test sse2_gives_the_same_bits simd_gives_the_same_bits sse2 sse2
run_test avx2_gives_the_same_bits simd_gives_the_same_bits avx2 avx2
run_test avx512_gives_the_same_bits simd_gives_the_same_bits avx512 avx512f avx512vl avx512dq
run_test one_thread_gives_the_same_bits threads_give_the_same_bits 1
run_test two_threads_give_the_same_bits threads_give_the_same_bits 2
run_test seven_threads_give_the_same_bits threads_give_the_same_bits 7
finish_tests
