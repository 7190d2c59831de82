#!/usr/bin/env bash
# drape bench and drape-bench: how one finds the other, what is refused, and that the tables of amg, auto, newton, ccd,
# peers, contact and blender come out whole.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
bench=$(dirname "$program")/bench/drape-bench
tests=$1/tests/cli

needs_bench() { [ -x "$bench" ] || skip "built without benchmarks"; }

# measure BENCHMARK... OPTION...: prints to $scratch/out; the files of --json and --csv must hold the same.
measure() {
    local names=() word
    for word in "$@"; do
        case $word in -*) break ;; *) names+=("$word") ;; esac
    done
    "$bench" "$@" --json "$scratch/json" --csv "$scratch/csv" >"$scratch/out"
    command -v python3 >/dev/null || return 0
    python3 -m json.tool "$scratch/json" >/dev/null
    python3 "$tests/bench_results.py" "$scratch/out" "$scratch/json" "$scratch/csv" "${names[@]}" || fail "$(cat "$scratch/out")"
}

# refuses TEXT COMMAND...: exit code 2, nothing printed, one line on the error stream that holds the text.
refuses() {
    local text=$1 code=0
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code, not 2: $*"
    [ ! -s "$scratch/out" ] || fail "$* printed: $(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "should have said '$text': $(cat "$scratch/err")"
}

without_benchmarks_it_says_so() {
    mkdir "$scratch/alone"
    cp "$program" "$scratch/alone/drape"
    refuses "there is no drape-bench in" "$scratch/alone/drape" bench amg
    "$scratch/alone/drape" bench --help | grep -q '^usage: drape bench'
}

# A program of that name that prints its arguments, in each place in turn.
each_place_is_looked_at() {
    local place
    mkdir -p "$scratch/tree/bin/bench" "$scratch/tree/libexec/drape"
    cp "$program" "$scratch/tree/bin/drape"
    for place in libexec/drape bin/bench bin; do
        printf '#!/bin/sh\necho "%s: $*"\nexit 7\n' "$place" >"$scratch/tree/$place/drape-bench"
        chmod +x "$scratch/tree/$place/drape-bench"
        local code=0
        "$scratch/tree/bin/drape" bench amg --sizes 5,6 >"$scratch/out" || code=$?
        [ "$code" -eq 7 ] || fail "$place: exit code $code"
        grep -qx "$place: amg --sizes 5,6" "$scratch/out" || fail "$place: $(cat "$scratch/out")"
    done
}

# In a build folder the benchmarks are built before they run: a cmake that tells what it was asked for.
a_build_folder_builds_them_first() {
    local tree=$scratch/build code=0
    mkdir -p "$tree/bench" "$scratch/bin"
    cp "$program" "$tree/drape"
    touch "$tree/CMakeCache.txt" "$tree/bench/cmake_install.cmake"
    printf '#!/bin/sh\necho "cmake $*"\nprintf "#!/bin/sh\\necho new\\n" >"$2/bench/drape-bench"\nchmod +x "$2/bench/drape-bench"\n' \
        >"$scratch/bin/cmake"
    chmod +x "$scratch/bin/cmake"
    PATH=$scratch/bin:$PATH "$tree/drape" bench amg >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = new ] || fail "$(cat "$scratch/out")"
    grep -qF "cmake --build $tree/ --target drape-bench" "$scratch/err"
    printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/cmake"
    PATH=$scratch/bin:$PATH refuses "--target drape-bench\` failed" "$tree/drape" bench amg
}

help_lists_benchmarks_and_options() {
    needs_bench
    "$program" bench amg --help >"$scratch/help"
    local word
    for word in kernels sheets solvers amg auto peers ascher-boxerman newton ccd contact character blender --sizes --tables --without --amgcl --scenes-side --threads --csv --json --quick --help; do
        grep -qE -- "^ +(-h, )?$word( |\$)" "$scratch/help" || fail "--help does not name $word"
    done
}

# Alone it measures nothing: it says what there is, how long each takes, and what it takes.
alone_it_lists_them() {
    needs_bench
    local name
    "$bench" >"$scratch/out"
    for name in notes chen hauth tamstorf kernels sheets solvers amg auto peers ascher-boxerman step newton ccd contact character blender all; do
        grep -qE "^  $name +[0-9]+ (min|h)  " "$scratch/out" || fail "no $name, or not how long it takes: $(cat "$scratch/out")"
    done
    [ "$(grep -c '\[--quick\]' "$scratch/out")" -eq 17 ] || fail "not all take --quick: $(cat "$scratch/out")"
    refuses "no benchmark given" "$bench" --quick
}

quick_ones_are_quick() {
    needs_bench
    measure kernels sheets ascher-boxerman --quick
    [ "$(grep -c '^== ' "$scratch/out")" -eq 3 ]
    [ "$(grep -cE '^ +10201 +[12] ' "$scratch/out")" -eq 2 ] || fail "$(cat "$scratch/out")"
    grep -qE '^drooping +regular +sheet +441 ' "$scratch/out" || fail "$(cat "$scratch/out")"
    grep -qE '^stiffness / 10 ' "$scratch/out" || fail "$(cat "$scratch/out")"
}

bad_command_lines_are_refused() {
    needs_bench
    refuses frobnicate "$bench" frobnicate
    refuses frobnicate "$program" bench amg frobnicate
    refuses --frobnicate "$bench" amg --frobnicate
    local sizes
    for sizes in "" "61," ",61" 61,,101 4 61,5000 61x 1e3 61,101,foo 5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5; do
        refuses --sizes "$bench" amg --sizes "$sizes"
    done
    refuses --sizes "$bench" amg --sizes
    refuses --threads "$bench" amg --threads 0
    refuses --threads "$bench" amg --threads 2x
    refuses --tables "$bench" amg --tables sheet,nonsense
    refuses --tables "$bench" amg --tables ""
    refuses --scenes-side "$bench" amg --scenes-side 3
    refuses --without "$bench" peers --without petsc,nobody
    refuses --without "$bench" amg --without petsc
    refuses "amgcl/amg.hpp" "$bench" peers --amgcl "$scratch"
    refuses --amgcl "$bench" amg --amgcl "$scratch"
    refuses "kernels has no such option" "$bench" kernels --sizes 61
    refuses "auto has no such option" "$bench" auto --tables sheet
    refuses "peers does not have all of these" "$bench" peers --tables sheet,cotton
    refuses "amg does not have all of these" "$bench" amg --tables sheet,running
}

tables_of_solvers_are_whole() {
    needs_bench
    measure solvers --quick
    [ "$(grep -cE '^  (ppcg|mpcg|pcg) +[0-9.]+ +-?[0-9.]+ +-?[0-9.]+$' "$scratch/out")" -eq 3 ] || fail "$(cat "$scratch/out")"
}

# `all --quick` ends well, and its page has every benchmark with its tables and every plot with its curves. A plot without a
# point has no curve that begins (d="M...").
pages_have_tables_and_plots() {
    needs_bench
    local name page=$scratch/page/index.html
    "$bench" all --quick -o "$scratch/page" >"$scratch/out" 2>&1 || fail "$(tail -n 5 "$scratch/out")"
    for name in notes chen hauth tamstorf kernels sheets solvers amg auto peers ascher-boxerman step newton ccd contact character blender; do
        grep -q "<h2[^>]*>$name" "$page" || fail "no section about $name"
    done
    [ "$(grep -c '<table' "$page")" -ge 30 ] || fail "$(grep -c '<table' "$page") tables"
    ! grep -qE '(src|href)="?https?:' "$page" || fail "the page asks other hosts"
    python3 - "$page" <<'PYTHON'
import re, sys
page = open(sys.argv[1]).read()
plots = re.findall(r'<svg .*?data-plot="([^"]*)".*?</svg>', page, flags=re.S)
empty = [m.group(1) for m in re.finditer(r'<svg [^>]*data-plot="([^"]*)">(.*?)</svg>', page, flags=re.S)
         if not re.search(r'class="curve[^"]*" d="M[^"]*L|<circle class="(?:dot|ring)[^"]*" cx=[0-9.]+ cy=[0-9.]+ r=3.2><title>|<rect class="dot', m.group(2))]
assert len(plots) >= 43, len(plots)
assert {"once", "broad", "stages"} <= set(plots), plots
assert not empty, empty
PYTHON
}

# Iterations are the same to the last digit from run to run, whatever the threads.
iterations_repeat() {
    needs_bench
    local threads
    for threads in 1 2; do
        "$bench" tamstorf hauth --quick --sizes 11 --threads "$threads" --csv "$scratch/$threads.csv" >/dev/null 2>&1
        grep -E ',(iterations|evaluations|operations|slope),' "$scratch/$threads.csv" >"$scratch/$threads"
    done
    [ "$(wc -l <"$scratch/1")" -ge 100 ] || fail "$(wc -l <"$scratch/1") numbers"
    cmp "$scratch/1" "$scratch/2" || fail "$(diff "$scratch/1" "$scratch/2" | head)"
}

# Every number of docs/papers.md is in the results that are kept.
papers_have_no_numbers_of_their_own() {
    command -v python3 >/dev/null || skip "without python3"
    python3 "$tests/papers_numbers.py" "$tests/../../docs/papers.md" "$tests/../../bench/results" >"$scratch/out" 2>&1 || fail "$(tail -n 1 "$scratch/out")"
}

# Cells of another commit are taken only where that is asked for, and the report says so.
other_commits_are_not_mixed() {
    needs_bench
    "$bench" notes --quick -o "$scratch/mixed" >/dev/null 2>&1
    sed -i '1s/commit [^,]*/commit 0123/' "$scratch/mixed/cells.jsonl"
    "$bench" notes --quick -o "$scratch/mixed" >/dev/null 2>"$scratch/err" && fail "took them"
    grep -q 'another commit' "$scratch/err" || fail "$(cat "$scratch/err")"
    "$bench" notes --quick -o "$scratch/mixed" --mixed >/dev/null 2>&1
    grep -q 'commit 0123' "$scratch/mixed/index.html" || fail "the report does not name the commit"
}

# What is in DIR already is not measured again: times would differ.
runs_go_on_where_they_were() {
    needs_bench
    "$bench" notes --quick -o "$scratch/kept" >/dev/null 2>&1
    cp "$scratch/kept/results.csv" "$scratch/first.csv"
    "$bench" notes --quick -o "$scratch/kept" >/dev/null 2>&1
    cmp "$scratch/first.csv" "$scratch/kept/results.csv"
}

# Before anything is measured; what stands there stays.
files_that_cannot_be_written_are_refused() {
    needs_bench
    local option
    mkdir "$scratch/closed"
    echo old >"$scratch/old"
    for option in --csv --json; do
        refuses "needs a value" "$bench" ccd $option
        refuses "expected the name of a file" "$bench" ccd $option ""
        refuses "is a folder" "$bench" ccd $option "$scratch/closed"
        refuses "No such file or directory" "$bench" ccd $option "$scratch/nowhere/results"
        refuses "is not a regular file" "$bench" ccd $option /dev/null
        refuses "Not a directory" "$bench" ccd $option "$scratch/old/results"
        refuses "unknown benchmark" "$bench" frobnicate $option "$scratch/old"
    done
    refuses "the same file" "$bench" ccd --csv "$scratch/both" --json "$scratch/both"
    [ "$(cat "$scratch/old")" = old ] || fail "was changed"
    [ ! -e "$scratch/both" ]
    [ -z "$(find "$scratch" -name '*.part-*')" ] || fail "left $(find "$scratch" -name '*.part-*')"
}

# An interrupted run leaves what was there; a whole one replaces it.
files_are_whole_or_absent() {
    needs_bench
    local code=0
    echo old >"$scratch/results"
    timeout -s INT 1 "$bench" kernels auto --csv "$scratch/absent" --json "$scratch/results" >"$scratch/out" || code=$?
    [ "$code" -ne 0 ] || fail "ended within a second: this shows nothing"
    [ "$(cat "$scratch/results")" = old ] || fail "$(cat "$scratch/results")"
    [ ! -e "$scratch/absent" ]
    "$bench" ccd --quick --json "$scratch/results" >"$scratch/out"
    grep -q '"narrow phase"' "$scratch/results"
    [ -z "$(find "$scratch" -name '*.part-*')" ] || fail "left $(find "$scratch" -name '*.part-*')"
}

# Small sheets: the figures mean nothing, the shape does.
tables_of_amg_are_whole() {
    needs_bench
    measure amg --quick --threads 1 --sizes 9,12 --tables sheet,scenes,scaling --scenes-side 9
    grep -qE '^ +81 .*\|' "$scratch/out" || fail "no line of 81 vertices: $(cat "$scratch/out")"
    grep -qE '^ +144 .*\|' "$scratch/out" || fail "no line of 144 vertices"
    ! grep -q '^cotton,' "$scratch/out" || fail "cotton was not asked for"
    [ "$(grep -cE '^ +(drooping|pinned|reentrant|oblique) +(regular|irregular|shuffled) +(2|10) ' "$scratch/out")" -eq 24 ] ||
        fail "not 24 scenes: $(cat "$scratch/out")"
    [ "$(grep -cE '^ +(drooping|pinned|reentrant|oblique) +[36] modes(, W-cycle)?( +[0-9]+ 0\.[0-9]+){2}$' "$scratch/out")" -eq 12 ] ||
        fail "not 12 lines of rates: $(cat "$scratch/out")"
    ! grep -q 'did not converge' "$scratch/out" || fail "$(grep 'did not converge' "$scratch/out")"
    # The block diagonal's error is no larger than the one it was to reach.
    grep 'to the energy error of' "$scratch/out" |
        awk -F '[()]' '{ n++; split($4, a, ")"); if ($4 + 0 > $2 + 0) wrong = 1 } END { exit n != 2 || wrong }' ||
        fail "$(grep 'to the energy error of' "$scratch/out")"
}

# What is counted holds on any machine: auto moves at most 1.2 times the bytes of the best.
table_of_auto_is_whole() {
    needs_bench
    measure auto --quick --threads 1 --sizes 11,23
    [ "$(grep -cE '^  (drooping|reentrant) +(2|10) +[0-9]+( \| [a-z_]+(, [36])?( \(fell back\))? +[0-9.]+ +[0-9.]+ +[a-z_]+(, [36] modes)? +[0-9.]+){2} \|' "$scratch/out")" -eq 6 ] ||
        fail "not 6 rows: $(cat "$scratch/out")"
    [ "$(grep -cE '^ +(121|529) (block_diagonal|ichol|amg, [36] modes) +[0-9]+( +[0-9.]+){4}$' "$scratch/out")" -eq 8 ] ||
        fail "not 8 rows of parts: $(cat "$scratch/out")"
    grep -qE '^  bytes of auto / of the best.* reached$' "$scratch/out" || fail "$(cat "$scratch/out")"
    ! grep -q 'did not converge' "$scratch/out" || fail "$(grep 'did not converge' "$scratch/out")"
}

# Racers that converge end where the first one does.
table_of_newton_is_whole() {
    needs_bench
    measure newton --quick --threads 1 --sizes 9
    [ "$(grep -cE '^  (drooping|flag), 9 vertices a side, [a-z0-9-]+, [0-9.]+ ms.*: sigma [0-9.e+]+, which leaves [0-9.]+$' "$scratch/out")" -eq 13 ] ||
        fail "not 13 courses: $(cat "$scratch/out")"
    [ "$(grep -cE '^    (psd|linear), (inexact|simplified) ' "$scratch/out")" -eq 39 ] || fail "not 39 racers: $(cat "$scratch/out")"
    awk '/^    (psd|linear), .*\|/ { n++; if ($NF > 1e-5) wrong = 1 } END { exit n < 13 || wrong }' "$scratch/out" ||
        fail "some are far apart: $(cat "$scratch/out")"
}

table_of_ccd_is_whole() {
    needs_bench
    measure ccd --quick --threads 2
    [ "$(grep -cE '^  (near itself|above a box|through a box) +(vertex-face|edge-edge) +[1-9][0-9]* +[0-9]+( +[0-9.]+){6}$' "$scratch/out")" -eq 6 ] ||
        fail "not 6 rows: $(cat "$scratch/out")"
    # Only what falls through touches.
    awk '/-face|-edge/ { touches = $(NF - 6) > 0; if (touches != ($1 == "through")) wrong = 1 } END { exit wrong }' "$scratch/out" ||
        fail "wrong hits: $(cat "$scratch/out")"
}

# library NAME ROWS: of ROWS rows that begin with it in the table, or a line that it is not there.
library() {
    local rows
    grep -qE "^  $1.*: not there\$" "$scratch/out" && return
    rows=$(grep -cE "^  $1.* [0-9.]+ +[0-9.]+ +[0-9]+ +[0-9.]+e[-+][0-9]+ +[0-9.]+e-[0-9]+ +[0-9.]+\$" "$scratch/out") || true
    [ "$rows" -eq "$2" ] || fail "$rows rows of $1, not $2: $(cat "$scratch/out")"
}

# Every installed library solves the system with a small energy error; the others are named.
tables_of_peers_are_whole() {
    needs_bench
    measure peers --quick --threads 1 --sizes 31 --tables sheet
    grep -q '^the sheet, drooping, regular, 961 vertices, steps of 2 ms' "$scratch/out" || fail "$(cat "$scratch/out")"
    library "drape amg" 2
    library PETSc 4
    grep -q 'PETSc.*not there' "$scratch/out" || library Hypre 2 # as a whole, and by unknowns
    library CHOLMOD 2
    library Eigen 1
    ! grep -qE 'failed|converge' "$scratch/out" || fail "$(cat "$scratch/out")"
    awk '/e-[0-9]+ +[0-9.]+$/ { n++; if ($(NF - 1) > 1e-3) wrong = 1 } END { exit !n || wrong }' "$scratch/out" ||
        fail "an energy error above 1e-3: $(cat "$scratch/out")"
}

# Of each size four sheets with one thread and with two, which find the same pairs; a flat one has none.
table_of_contact_is_whole() {
    needs_bench
    measure contact --quick --sizes 9,14
    [ "$(grep -cE '^ +(81|196) (at rest|turned|falling|crumpled) +[12]( +[0-9]+){3}( +[0-9.]+){5}$' "$scratch/out")" -eq 16 ] ||
        fail "not 16 rows: $(cat "$scratch/out")"
    [ "$(grep -cE ' at rest +[12] +[1-9][0-9]* +[1-9][0-9]* +0 ' "$scratch/out")" -eq 4 ] || fail "a flat sheet has pairs: $(cat "$scratch/out")"
    [ "$(grep -cE '^ +(81|196) (at rest|drop-vertical|drop-horizontal) +[12]( +[0-9]+){4}( +[0-9.]+){7}$' "$scratch/out")" -eq 12 ] ||
        fail "not 12 rows of stages: $(cat "$scratch/out")"
    for scene in drop-vertical drop-horizontal; do # threads find the same
        [ "$(grep -E "^ +81 $scene " "$scratch/out" | awk '{ print $4, $5, $6, $7 }' | sort -u | wc -l)" -eq 1 ] ||
            fail "$scene: threads differ: $(cat "$scratch/out")"
    done
    [ "$(grep -cE '^  .* (<=|>=) .* (reached|MISSED)$' "$scratch/out")" -eq 21 ] || fail "not 21 claims: $(cat "$scratch/out")"
}

# Without Blender one sentence; with it, two cases of four rows each of the falling sheet, and nothing of ours crosses.
table_of_blender_is_whole() {
    needs_bench
    BLENDER=$scratch/nowhere "$bench" blender --quick >"$scratch/out"
    grep -qE '^  Blender is not there .*\.?$' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/out")" -eq 5 ] || fail "more than one sentence: $(cat "$scratch/out")"
    printf '#!/bin/sh\n[ "$1" = --version ] && echo Blender 0 || exit 3\n' >"$scratch/broken"
    chmod +x "$scratch/broken"
    TMPDIR=$scratch BLENDER=$scratch/broken "$bench" blender --quick >"$scratch/out"
    [ "$(grep -c '^  Blender failed with exit code 3' "$scratch/out")" -eq 3 ] || fail "$(cat "$scratch/out")"
    command -v blender >/dev/null || return 0
    TMPDIR=$scratch measure blender --quick --sizes 9 --threads 1
    [ "$(grep -cE '^  (flat|edge-on) +(Blender|drape, preview, 0.003|drape, preview, 0.001|drape, default) +4( +[0-9.]+){4}( +[0-9]+){4}$' "$scratch/out")" -eq 8 ] ||
        fail "not 8 rows: $(cat "$scratch/out")"
    [ "$(grep -cE '^  frames with crossings of ours.* reached$' "$scratch/out")" -eq 6 ] || fail "$(cat "$scratch/out")"
}

for test in without_benchmarks_it_says_so each_place_is_looked_at a_build_folder_builds_them_first help_lists_benchmarks_and_options \
    alone_it_lists_them quick_ones_are_quick bad_command_lines_are_refused files_that_cannot_be_written_are_refused \
    files_are_whole_or_absent pages_have_tables_and_plots iterations_repeat papers_have_no_numbers_of_their_own other_commits_are_not_mixed runs_go_on_where_they_were tables_of_solvers_are_whole tables_of_amg_are_whole table_of_auto_is_whole table_of_newton_is_whole table_of_ccd_is_whole \
    tables_of_peers_are_whole table_of_contact_is_whole table_of_blender_is_whole; do
    run_test $test $test
done
finish_tests
