#!/usr/bin/env bash
# The Python module: it builds against this tree, and its own tests (python/tests) pass; with the library of the address
# sanitizer under that sanitizer.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
build=$(cd "$(dirname "$2")" && pwd)
export PYTHONDONTWRITEBYTECODE=1 DRAPE_BUILD=$build
unset PYTHONPATH

modules="import cffi, numpy, pytest, scipy.sparse, setuptools, sysconfig, os
assert os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')), 'Python.h'"
python=
why="no python3"
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    if why=$("$candidate" -c "$modules" 2>&1); then
        python=$candidate
        break
    fi
    why=${why##*$'\n'}
done

has_symbols() { nm "$build/libdrape.a" 2>/dev/null | grep -E "$1" >/dev/null; }

# A library built with sanitizers needs their runtime in the interpreter, before anything else. What the interpreter keeps until
# it ends would count as leaked.
sanitizers=() flags=-O0
if has_symbols __asan_; then
    sanitizers=(LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1)
    flags="-O0 -fsanitize=address,undefined"
fi

can_run() {
    [ -n "$python" ] || skip "$why (Debian: python3-dev python3-cffi python3-setuptools python3-numpy python3-scipy python3-pytest)"
    if has_symbols '__tsan_|__gcov_'; then skip "the library is instrumented"; fi
}

builds() {
    can_run
    cd "$source_dir/python" || exit
    # What is compiled is not what takes the time.
    CFLAGS=$flags LDFLAGS=$flags "$python" setup.py -q build --build-base "$scratch/temp" --build-lib "$scratch/lib"
    [ -e "$scratch/lib/drape/_drape.abi3.so" ] || fail "no extension of the limited interface: $(ls "$scratch/lib/drape")"
}

uses_public_headers_only() {
    can_run
    local found
    found=$(grep -nE '#include *"' "$source_dir"/python/native/* | grep -v '"drape/' || true)
    [ -z "$found" ] || fail "not a public header: $found"
    # The symbols of the library stay inside: another libdrape in the same process does no harm.
    found=$(nm -D --defined-only "$scratch/lib/drape/_drape.abi3.so" | grep -vE ' PyInit__drape$|_cffi_pypyinit_' || true)
    [ -z "$found" ] || fail "exported: $found"
}

passes() {
    can_run
    [ -e "$scratch/lib/drape/_drape.abi3.so" ] || fail "it was not built"
    cd "$scratch" || exit
    env "${sanitizers[@]}" PYTHONPATH="$scratch/lib" "$python" -m pytest -q -p no:cacheprovider --tb=short "$1"
}

run_test builds builds
run_test uses_public_headers_only uses_public_headers_only
for file in "$source_dir"/python/tests/test_*.py; do
    run_test "$(basename "$file" .py)" passes "$file"
done
finish_tests
