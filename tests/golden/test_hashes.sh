#!/usr/bin/env bash
# What every scene, solver, model and integrator computes has the bits that are kept in hashes.txt: for 1 to 3 threads, every vector
# width, gcc and clang. That builds agree among themselves is tests/cli/test_builds.sh; this holds the bits over time.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
hashes=$(dirname "$2")/tests/golden-hashes
kept=$source_dir/tests/golden/hashes.txt

# only_in A B: lines of A that B has not.
only_in() { grep -vxF -f "$2" "$1" | grep -v '^#' || true; }

# compare KEPT FOUND: says of every kept line that is not found what it is about, and what to do. A line that is found but not
# kept belongs to a changed one, or to a new row of a table, for which no bits are kept yet.
compare() {
    local missing
    missing=$(only_in "$1" "$2")
    [ -n "$missing" ] || return 0
    echo "other bits than those in tests/golden/hashes.txt:"
    { sed 's/^/  kept:  /' <<<"$missing"; only_in "$2" "$1" | sed 's/^/  found: /'; } | sort -k 2
    echo "If the change is intended: tests/golden/renew writes them again; say in the commit why they changed."
    return 1
}

# hashes_are_kept PROGRAM THREADS SIMD
hashes_are_kept() {
    local status=0
    [ "$(uname -m)" = x86_64 ] || skip "the hashes are those of x86-64"
    "$1" "$scratch/system" "$2" "$3" >"$scratch/found" || status=$?
    if [ "$status" -eq 77 ]; then skip "this processor has no $3"; fi
    [ "$status" -eq 0 ] || fail "exit code $status"
    compare "$kept" "$scratch/found"
}

sanitized() { nm "$hashes" 2>/dev/null | grep -q '__asan_\|__tsan_'; }

# Every line once, a third of them with each of three settings: sanitizers look for other mistakes than those of bits.
hashes_are_kept_in_parts() {
    local part=0 status setting
    [ "$(uname -m)" = x86_64 ] || skip "the hashes are those of x86-64"
    : >"$scratch/found"
    for setting in "1 sse2" "2 avx2" "3 best"; do
        status=0
        # shellcheck disable=SC2086
        "$hashes" "$scratch/system" $setting "$part" 3 >>"$scratch/found" || status=$?
        if [ "$status" -eq 77 ]; then skip "this processor has no ${setting#* }"; fi
        [ "$status" -eq 0 ] || fail "exit code $status: $setting"
        part=$((part + 1))
    done
    compare "$kept" "$scratch/found"
}

# A comparison that finds nothing would be of no use.
one_changed_digit_is_found() {
    local scene
    grep -v '^#' "$kept" >"$scratch/changed"
    compare "$kept" "$scratch/changed"
    scene=$(awk '/^scene/ { print $2; exit }' "$scratch/changed")
    sed -i '/^scene/ { s/.$/x/; :rest; n; b rest }' "$scratch/changed"
    expect_failure "found: scene $scene" compare "$kept" "$scratch/changed"
    expect_failure "tests/golden/renew" compare "$kept" "$scratch/changed"
    sed -i 1d "$scratch/changed"
    expect_failure "kept:  scene $scene" compare "$kept" "$scratch/changed"
}

a_new_row_is_no_failure() {
    grep -v '^#' "$kept" >"$scratch/more"
    echo "scene drooping model=jelly 5 steps: 0123456789abcdef" >>"$scratch/more"
    compare "$kept" "$scratch/more"
    [ "$(only_in "$scratch/more" "$kept")" = "scene drooping model=jelly 5 steps: 0123456789abcdef" ]
}

# Rows whose bits nobody holds yet, where there are some.
every_row_is_kept() {
    local new
    [ -s "$scratch/found" ] || skip "nothing was computed"
    new=$(only_in "$scratch/found" "$kept")
    [ -z "$new" ] || skip "tests/golden/hashes.txt does not keep these; tests/golden/renew adds them:"$'\n'"$new"
}

hashes_differ_from_each_other() {
    local scenes different
    scenes=$(grep -c '^scene' "$kept")
    different=$(awk '/^scene/ { print $NF }' "$kept" | sort -u | wc -l)
    [ "$scenes" -gt 5 ] && [ "$scenes" -eq "$different" ]
}

# The same source, linked with the library that clang made.
clang_keeps_the_hashes() {
    local library=$source_dir/build-clang/libdrape.a
    [ -f "$library" ] || skip "build-clang/libdrape.a is not there (cmake --preset clang)"
    cc -std=c17 -I "$source_dir/include" "$source_dir/tests/golden/hashes.c" "$library" \
        -ljansson -lfyaml -lz -pthread -lm -o "$scratch/hashes"
    hashes_are_kept "$scratch/hashes" 2 best
}

run_test one_changed_digit_is_found one_changed_digit_is_found
run_test a_new_row_is_no_failure a_new_row_is_no_failure
run_test hashes_differ_from_each_other hashes_differ_from_each_other
if sanitized; then
    run_test all_settings_keep_the_hashes hashes_are_kept_in_parts
else
    for threads in 1 2 3; do
        for simd in sse2 avx2 avx512; do
            run_test "${threads}_threads_${simd}_keep_the_hashes" hashes_are_kept "$hashes" "$threads" "$simd"
        done
    done
fi
run_test every_row_is_kept every_row_is_kept
run_test clang_keeps_the_hashes clang_keeps_the_hashes
finish_tests
