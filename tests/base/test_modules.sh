#!/usr/bin/env bash
# The house rules that a compiler does not check. Modules include only those they may, and compiler extensions are only
# in their own headers. Libraries neither print nor exit, and have no mutable global data. Every checker takes the root of a
# tree, prints what is wrong as FILE:LINE: and returns 1 then; below each is also tried on a tree that is wrong.
# shellcheck disable=SC2016,SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2

# What a module may include besides itself.
allowed_modules() {
    case $1 in
    base) echo ;;
    sparse | ode | crossings) echo base ;;
    linear | cloth) echo base sparse ;;
    contact) echo base sparse linear cloth ;;
    sim) echo base sparse linear ode crossings cloth contact ;;
    io) echo base sparse linear ode crossings cloth contact sim ;;
    mpi) echo base sparse linear ode crossings cloth contact sim io ;;
    *) return 1 ;;
    esac
}

# sources ROOT FOLDER...: the C files of those folders that exist, relative to the root.
sources() {
    local root=$1 folder
    shift
    for folder in "$@"; do
        if [ -d "$root/$folder" ]; then (cd "$root" && find "$folder" -name '*.[ch]' | sort); fi
    done
}

# code ROOT FOLDER...: lines FILE:LINE:TEXT without comments; strings are emptied except in #include lines.
code() {
    local root=$1
    sources "$@" | (cd "$root" && xargs -r awk '
        FNR == 1 { in_comment = 0 }
        {
            rest = $0; out = ""
            while (rest != "") {
                if (in_comment) {
                    end = index(rest, "*/")
                    if (!end) break
                    in_comment = 0; rest = substr(rest, end + 2)
                } else if (out ~ /^[ \t]*$/ && rest ~ /^[ \t]*#[ \t]*include/) {
                    sub(/\/[\/*].*/, "", rest); out = rest; rest = ""
                } else if (rest ~ /^\/\//) {
                    break
                } else if (rest ~ /^\/\*/) {
                    in_comment = 1; rest = substr(rest, 3); out = out " "
                } else if (match(rest, /^"([^"\\]|\\.)*"/)) {
                    out = out "\"\""; rest = substr(rest, RLENGTH + 1)
                } else if (match(rest, /^\047([^\047\\]|\\.)+\047/)) {
                    out = out "\047\047"; rest = substr(rest, RLENGTH + 1)
                } else {
                    out = out substr(rest, 1, 1); rest = substr(rest, 2)
                }
            }
            if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
        }')
}

# includes ROOT FOLDER...: lines FILE:LINE HEADER, the header with its quotes or brackets.
includes() {
    code "$@" | sed -n 's/^\([^:]*:[0-9]*\):[ \t]*#[ \t]*include[ \t]*\(["<][^">]*[">]\).*/\1 \2/p'
}

# The module that a header's name stands for: drape/solve.h and linear/precond/x.h both mean linear.
module_of_header() {
    local target
    case $1 in
    drape/solve.h | drape/cholmod.h) echo linear ;;
    drape/petsc.h) echo mpi ;;
    drape/ode_plugin.h) echo ode ;;
    drape/force.h) echo cloth ;;
    drape/collider.h) echo contact ;;
    drape/*.h) target=${1#drape/} && echo "${target%.h}" ;;
    */*) echo "${1%%/*}" ;;
    esac
}

# may_include MODULE HEADER: prints why not, and returns 1 then.
may_include() {
    local module=$1 target allowed
    target=$(module_of_header "$2")
    if ! allowed=$(allowed_modules "$module"); then
        echo "unknown module $module"
        return 1
    fi
    case " $module $allowed " in
    *" $target "*) ;;
    *)
        echo "$module may include ${allowed:-nothing} and itself, not $2"
        return 1
        ;;
    esac
    case $module:$2 in
    ode:*) ;;
    *:ode/*)
        echo "ode is sealed: $module may include drape/ode.h only, not $2"
        return 1
        ;;
    esac
}

# why_not ROOT FILE HEADER: the reason why this file must not include this header; nothing when it may.
why_not() {
    local root=$1 file=$2 quoted=$3 header=${3:1:-1} module=${2#*/}
    module=${module%%/*}
    case $file:$quoted in
    *:*../*) echo "no .. in an include" ;;
    src/*:'<drape/'* | include/*:'<drape/'*) echo "headers of the project stand in quotes" ;;
    src/base/*:'<jansson.h>' | src/sparse/*:'<jansson.h>' | src/linear/*:'<jansson.h>')
        echo "libdrape-solve stands on libc alone" ;;
    src/linear/direct/*:'<cholmod.h>') ;;
    src/mpi/*:'<petsc'* | src/mpi/*:'<mpi.h>' | cli/mpi/session.c:'<petsc'* | bench/petsc/*:'<petsc'*) ;;
    include/drape/petsc.h:'<mpi.h>') ;;
    *:'<petsc'* | *:'<mpi.h>') echo "only libdrape-petsc and drape-mpi know PETSc" ;;
    cli/mpi/*:'"cli.h"') ;; # what both programs share
    *:'<cholmod.h>') echo "only libdrape-cholmod knows CHOLMOD" ;;
    cli/*:?jansson.h?) echo "the faces know the public headers only" ;;
    *:'<'*) ;;
    src/*:*/*) may_include "$module" "$header" ;;
    include/drape/*:'"drape/'*) may_include "$(module_of_header "${file#include/}")" "$header" ;;
    include/*) echo "a public header includes public headers only" ;;
    cli/*:'"drape/'* | bench/*:'"drape/'*) ;;
    bench/hauth.h:'"ode_examples.h"') ;; # those of `drape ode`, in cli
    bench/results.c:'"bench_commit.h"') ;; # made by the build
    *) [ -e "$root/$(dirname "$file")/$header" ] || echo "$header: neither a public header nor one of this folder" ;;
    esac
}

check_includes() {
    local where quoted why wrong=0
    while read -r where quoted; do
        why=$(why_not "$1" "${where%%:*}" "$quoted")
        if [ -n "$why" ]; then
            echo "$where: $quoted: $why"
            wrong=1
        fi
    done < <(includes "$1" include src cli bench)
    return "$wrong"
}

# none LINES WHY: prints both and returns 1 when there are any lines.
none() {
    [ -n "$1" ] || return 0
    printf '%s\n    -> %s\n' "$1" "$2"
    return 1
}

check_extensions() {
    local found
    found=$(code "$1" include src cli bench |
        grep -E '__attribute__|__builtin_|__asm__|immintrin\.h|arm_neon\.h' |
        grep -vE '^src/base/(simd|attributes|simd_math|simd_float|simd_u32)\.h:' |
        grep -vE '^include/drape/base\.h:[0-9]+:#define DRAPE_API ' |
        sed '/^src\/base\/machine\.c:/{s/__builtin_cpu_supports//g;/__attribute__\|__builtin_\|__asm__\|_neon\|immintrin/!d}')
    none "$found" "compiler extensions belong in src/base/attributes.h and simd.h"
}

check_calls() {
    local found before='(^|[^A-Za-z0-9_])'
    found=$(code "$1" src | sed 's/:/: /2' |
        grep -E "$before(exit|_exit|_Exit|quick_exit|abort|printf|vprintf|puts|putchar|perror)[ ]*\(|${before}(stdout|stderr)([^A-Za-z0-9_]|\$)" || true)
    none "$found" "the library never prints and never exits"
}

# mutable_data ARCHIVE...: symbols in writable sections. .data.rel.ro is for constants that hold addresses.
mutable_data() {
    objdump -t "$@" | awk -F '\t' '
        / file format / { object = $0; sub(/:? +file format .*/, "", object) }
        NF == 2 {
            n = split($1, before, " "); section = before[n]; split($2, after, " ")
            if (before[n - 1] ~ /d/ || after[2] == section) next   # the section itself
            if (section ~ /^\.data\.rel\.ro/) next
            if (section ~ /^(\.data|\.bss|\.tdata|\.tbss|\.ldata|\.lbss|\*COM\*)/) print object ": " after[2] " in " section
        }'
}

check_data() {
    none "$(mutable_data "$@")" "no global mutable variables"
}

# ---- The tree as it is ----

modules_include_only_lower_modules() {
    local count
    count=$(includes "$source_dir" include src | wc -l)
    [ "$count" -gt 10 ] || fail "only $count includes found: the test looks at the wrong place"
    check_includes "$source_dir"
}
extensions_stay_in_their_headers() { check_extensions "$source_dir"; }
libraries_neither_print_nor_exit() { check_calls "$source_dir"; }

libraries_have_no_mutable_globals() {
    local folder library
    folder=$(dirname "$program")
    local libraries=("$folder/libdrape.a" "$folder/libdrape-solve.a")
    if [ -e "$folder/libdrape-cholmod.a" ]; then libraries+=("$folder/libdrape-cholmod.a"); fi
    if [ -e "$folder/libdrape-petsc.a" ]; then libraries+=("$folder/libdrape-petsc.a"); fi
    for library in "${libraries[@]}"; do
        [ -e "$library" ] || fail "$library is not there"
        # (grep reads to the end: a closed pipe would count as a failure of objdump.)
        if objdump -t "$library" | grep -E '__asan_|__tsan_|__gcov_|__sancov_' >/dev/null; then
            skip "instrumented objects hold data of their own"
        fi
    done
    check_data "${libraries[@]}"
}

# ---- The checkers on small trees that are right, and wrong in one place ----

# file PATH: standard input into a file of the tree under test.
file() {
    mkdir -p "$(dirname "$tree/$1")"
    cat >"$tree/$1"
}

right_tree() {
    tree=$scratch/tree
    rm -rf "$tree"
    file include/drape/base.h <<<'#define DRAPE_API __attribute__((visibility("default")))'
    file include/drape/sparse.h <<<'#include "drape/base.h"'
    file include/drape/solve.h <<<'#include "drape/sparse.h"'
    file include/drape/cholmod.h <<<'#include "drape/solve.h"'
    file src/linear/direct/cholmod.c <<'END'
#include "drape/cholmod.h"
#include <cholmod.h>
END
    file src/base/attributes.h <<<'#define UNUSED __attribute__((unused))'
    file src/base/machine.c <<<'int f(void) { return __builtin_cpu_supports("avx2"); }'
    file src/linear/krylov/cg.c <<'END'
/* Prints nothing: no printf("...") and no exit(1) here,
 * #include "sim/step.h" neither, nor __builtin_expect. */
#include "linear/krylov/cg.h" // #include "io/obj.h"
#include "drape/solve.h"
#include "local.h"
#include <stdio.h>
void g(FILE *f, char *s) { fprintf(f, "exit(abort(stderr"); snprintf(s, 2, "%c", '"'); at_exit(s); }
END
    file src/linear/krylov/local.h <<<'#include "sparse/matrix.h"'
    file src/ode/step.c <<<'#include "ode/ode.h"'
    file src/sim/integrate.c <<<'#include "drape/ode.h"'
    file cli/main.c <<'END'
#include "drape/io.h"
#include "options.h"
#include <stdio.h>
int main(void) { printf("hello\n"); }
END
    file cli/options.h <<<'#include <stdint.h>'
}

check_all() {
    local wrong=0
    check_includes "$tree" || wrong=1
    check_extensions "$tree" || wrong=1
    check_calls "$tree" || wrong=1
    return "$wrong"
}

right_tree_passes() {
    right_tree
    check_all
}

# rejects PATH LINE: with this line added to this file the tree is wrong, and the checker says where.
rejects() {
    right_tree
    { cat "$tree/$1" 2>/dev/null || true; } >"$scratch/old"
    { cat "$scratch/old"; printf '%s\n' "$2"; } | file "$1"
    expect_failure "$1:$(wc -l <"$tree/$1"):" check_all
}

wrong_includes_are_caught() {
    rejects src/base/parallel.c '#include "sparse/matrix.h"'
    rejects src/base/parallel.c '#include "drape/sparse.h"'
    rejects src/base/parallel.c '#include <drape/base.h>'
    rejects src/sparse/a.c '  #  include   "drape/solve.h"'
    rejects src/sparse/a.c '#include "../base/parallel.h"'
    rejects src/sparse/a.c '/* */ #include "missing.h"'
    rejects src/linear/krylov/cg.c '#include "cloth/mesh.h"'
    rejects src/linear/krylov/cg.c '#include <jansson.h>'
    rejects src/linear/krylov/cg.c '#include <cholmod.h>'
    rejects src/sparse/a.c '#include "drape/cholmod.h"'
    rejects cli/main.c '#include <cholmod.h>'
    rejects src/sim/step.c '#include <petscksp.h>'
    rejects src/io/report.c '#include "drape/petsc.h"'
    rejects cli/main.c '#include <mpi.h>'
    rejects src/cloth/model.c '#include "drape/solve.h"'
    rejects src/cloth/model.c '#include "sim/step.h"'
    rejects src/sim/step.c '#include "drape/io.h"'
    rejects src/sim/integrate.c '#include "ode/ode.h"'
    rejects src/sim/sim.h '#include "ode/vector.h"'
    rejects src/io/report.c '#include "ode/vector.h"'
    rejects src/kitchen/stove.c '#include "drape/base.h"'
    rejects include/drape/sparse.h '#include "drape/solve.h"'
    rejects include/drape/sparse.h '#include "base/context.h"'
    rejects cli/main.c '#include "base/context.h"'
    rejects cli/main.c '#include <jansson.h>'
    rejects bench/main.c '#include "linear/krylov/cg.h"'
}

stray_extensions_are_caught() {
    rejects src/base/parallel.c 'static int x __attribute__((unused));'
    rejects src/base/machine.c 'int a = __builtin_clz(1) + __builtin_cpu_supports("avx2");'
    rejects include/drape/base.h '#define OTHER __attribute__((unused))'
    rejects src/sparse/multiply_simd.c '#include <immintrin.h>'
    rejects cli/main.c 'int a = __builtin_clz(1);'
}

prints_and_exits_are_caught() {
    rejects src/base/parallel.c 'void f(void) { exit(1); }'
    rejects src/base/parallel.c 'abort();'
    rejects src/base/parallel.c 'void f(void) { /* why */ printf("%d", 1); }'
    rejects src/base/parallel.c '    fprintf(stderr, "no");'
    rejects src/base/parallel.c '    puts("no");'
}

mutable_globals_are_caught() {
    local name
    command -v gcc >/dev/null || skip "no gcc"
    cd "$scratch" || exit
    cat >right.c <<'END'
static const int one = 1, two = 2;
const int *const table[] = {&one, &two};
const int *get(int i) { static const int *const again[] = {&two, &one}; return i ? table[i] : again[i]; }
END
    echo 'int zeros[3];' >wrong_bss.c
    echo 'int counter = 1;' >wrong_data.c
    echo 'int next(void) { static int calls; return calls++; }' >wrong_local.c
    echo '_Thread_local int mine;' >wrong_thread.c
    echo 'int shared;' >wrong_common.c
    for name in right wrong_bss wrong_data wrong_local wrong_thread wrong_common; do
        gcc -O2 -g -fPIC -fcommon -c "$name.c" -o "$name.o"
        ar rc "$name.a" "$name.o"
    done
    check_data right.a
    for name in wrong_bss wrong_data wrong_local wrong_thread wrong_common; do
        expect_failure "$name.o: " check_data right.a "$name.a"
    done
}

for test in modules_include_only_lower_modules extensions_stay_in_their_headers libraries_neither_print_nor_exit \
    libraries_have_no_mutable_globals right_tree_passes wrong_includes_are_caught stray_extensions_are_caught \
    prints_and_exits_are_caught mutable_globals_are_caught; do
    run_test $test $test
done
finish_tests
