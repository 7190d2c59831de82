#!/usr/bin/env bash
# What goes wrong around the program: folders, disks, memory, signals, pipes. No file under a final name is ever partial,
# and the exit code and one message tell.
source "$(dirname "$0")/../support/shell.sh"
program=$2
formats=(html glb usda abc pc2 mdd obj ply)

sanitized() { nm "$program" 2>/dev/null | grep -q '__asan_\|__tsan_'; }

# is_whole FILE: frames and sizes of a cache agree. Its size is 32 + 12 bytes per vertex and frame.
is_whole() {
    local vertices samples
    vertices=$(od -An -tu4 -j16 -N4 "$1")
    samples=$(od -An -tu4 -j28 -N4 "$1")
    [ "$(stat -c %s "$1")" -eq $((32 + 12 * vertices * samples)) ]
}

# exit_code COMMAND...: its exit code in $code, its messages in $scratch/said
exit_code() {
    code=0
    "$@" >"$scratch/out" 2>"$scratch/said" || code=$?
}

folder() {
    mkdir -p "$scratch/$1"
    cd "$scratch/$1"
}

no_such_folder() {
    folder missing
    for format in "${formats[@]}"; do
        exit_code "$program" run pinned --resolution 4 --frames 1 -o "nowhere/a.$format"
        [ $code -eq 2 ]
        [ "$(wc -l <"$scratch/said")" -eq 1 ]
    done
    [ -z "$(ls)" ]
}

unwritable_folder() {
    [ "$(id -u)" -ne 0 ] || skip "root may write anywhere"
    folder locked
    mkdir inner
    chmod 555 inner
    exit_code "$program" run pinned --resolution 4 --frames 1 -o inner/a.pc2
    chmod 755 inner
    [ $code -eq 2 ]
    [ -z "$(ls inner)" ]
}

# begins COMMAND...: starts a long run, its process in $run, and waits until it has begun to write to its log.
begins() {
    "$@" >log 2>said &
    run=$!
    for _ in $(seq 600); do
        if [ -s log ]; then return; fi
        sleep 0.05
    done
    fail "it does not begin"
}

ends_with_code() {
    local wanted=$1 code=0
    wait "$run" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted; it said: $(cat said)"
}

folder_removed_meanwhile() {
    folder removed
    mkdir gone
    begins "$program" run pinned --resolution 6 --frames 20000 -o gone/a.mdd
    rm -rf gone
    kill -INT "$run"
    ends_with_code 1
    grep -q 'gone/a.mdd: cannot create' said
    [ ! -e gone ]
}

signal_keeps_whole_files() {
    folder "signal$1"
    begins "$program" run pinned --resolution 6 --frames 20000 -o a.pc2 -o a.html --report r.json
    kill "-$1" "$run"
    ends_with_code 130
    is_whole a.pc2
    tail -c 20 a.html | grep -q '</html>'
    grep -q '"outcome": "interrupted' r.json
    [ "$(ls)" = "$(printf '%s\n' a.html a.pc2 a_rest.obj log r.json said)" ]
}

nohup_goes_on() {
    folder nohup
    begins env --ignore-signal=HUP "$program" run pinned --resolution 6 --frames 20000 -o a.pc2
    kill -HUP "$run"
    sleep 0.3
    kill -0 "$run"
    kill -TERM "$run"
    ends_with_code 130
}

killed_leaves_old_files() {
    folder killed
    for format in "${formats[@]}"; do echo old >"a.$format"; done
    begins "$program" run pinned --resolution 6 --frames 20000 -o a.pc2 -o a.html -o a.glb -o a.usda -o a.abc -o a.mdd
    kill -KILL "$run"
    ends_with_code 137
    for format in "${formats[@]}"; do [ "$(cat "a.$format")" = old ]; done
}

nobody_reads_on() {
    folder pipe
    set +o pipefail
    "$program" run pinned --resolution 4 --frames 50 -o a.pc2 2>said | head -1 >first
    grep -q '^frame' first
    is_whole a.pc2
    [ "$(od -An -tu4 -j28 -N4 a.pc2)" -eq 51 ]
    [ -z "$(find . -name '*.part-*')" ]
}

full_standard_output() {
    [ -e /dev/full ] || skip "no /dev/full"
    for words in --help --version scenes "scenes --show flag" "run --help" fabrics; do
        # shellcheck disable=SC2086
        if "$program" $words >/dev/full 2>"$scratch/said"; then fail "drape $words: good, and nothing arrived"; fi
        grep -q 'cannot write to standard output' "$scratch/said"
    done
}

# A limit on the size of files stands in for a full disk: bash ignores its signal for the program.
full_disk() {
    folder full
    for format in "${formats[@]}"; do
        echo old >"a.$format"
        (
            trap '' XFSZ
            ulimit -f 2
            exit_code "$program" run pinned --resolution 30 --frames 3 --quiet -o "a.$format"
            [ $code -eq 1 ] || fail "$format: exit code $code"
        )
        grep -q "a.*\.$format: cannot write\|a.$format: cannot .* its temporary file\|a_rest.obj: cannot write" "$scratch/said" || fail "$format: $(cat "$scratch/said")"
        [ "$(cat "a.$format")" = old ]
    done
    [ "$(ls | wc -l)" -eq ${#formats[@]} ]
}

little_memory() {
    if sanitized; then skip "sanitizers take all addresses"; fi
    if ldd "$program" | grep -q openblas; then skip "OpenBLAS never ends where memory is short, before the program begins"; fi
    folder memory
    for kilobytes in 40000 80000 160000 320000; do
        exit_code bash -c "ulimit -v $kilobytes; exec \"\$0\" \"\$@\"" "$program" run pinned --resolution 150 --frames 0 \
            --threads 1 -o a.pc2
        if [ $code -eq 0 ]; then
            is_whole a.pc2
            continue
        fi
        [ $code -eq 1 ] || [ $code -eq 2 ] || fail "$kilobytes kB: exit code $code: $(cat "$scratch/said")"
        grep -q 'memory' "$scratch/said"
        [ -z "$(ls)" ]
    done
    [ $code -eq 0 ] || fail "320 MB are not enough"
}

run_test no_such_folder no_such_folder
run_test unwritable_folder unwritable_folder
run_test folder_removed_meanwhile folder_removed_meanwhile
run_test interrupted signal_keeps_whole_files INT
run_test terminated signal_keeps_whole_files TERM
run_test hung_up signal_keeps_whole_files HUP
run_test nohup_goes_on nohup_goes_on
run_test killed_leaves_old_files killed_leaves_old_files
run_test nobody_reads_on nobody_reads_on
run_test full_standard_output full_standard_output
run_test full_disk full_disk
run_test little_memory little_memory
finish_tests
