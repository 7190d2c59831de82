#!/usr/bin/env bash
# What is installed is hardened (the CMake option DRAPE_HARDEN): readelf tells.
source "$(dirname "$0")/../support/shell.sh"
build=$(dirname "$2")

hardened_build() { grep -q '^DRAPE_HARDEN:BOOL=ON' "$build/CMakeCache.txt" || skip "this build is not hardened"; }

# Programs and shared libraries of the build, those that are installed among them.
binaries() { find "$build" -maxdepth 2 -type f \( -name drape -o -name 'libdrape*.so*' \); }

there_are_binaries() {
    hardened_build
    [ "$(binaries | wc -l)" -ge 2 ] || fail "found: $(binaries)"
}

# The table of addresses of functions is filled before the program starts, and read-only then.
full_relro() {
    hardened_build
    for file in $(binaries); do
        readelf -lW "$file" | grep -q GNU_RELRO || fail "$file has no RELRO"
        readelf -dW "$file" | grep -qE 'BIND_NOW|FLAGS.* NOW' || fail "$file binds lazily"
    done
}

no_executable_stack() {
    hardened_build
    for file in $(binaries); do
        readelf -lW "$file" | grep GNU_STACK | grep -q ' RW ' || fail "$file: $(readelf -lW "$file" | grep GNU_STACK)"
    done
}

position_independent() {
    hardened_build
    for file in $(binaries); do readelf -hW "$file" | grep -q 'Type: *DYN' || fail "$file is not position-independent"; done
}

stack_protector_and_fortify() {
    hardened_build
    for file in $(binaries); do
        symbols=$(readelf -W --dyn-syms "$file")
        grep -q '__stack_chk_fail' <<<"$symbols" || fail "$file has no stack protector"
        grep -qE '__[a-z]+_chk@' <<<"${symbols//__stack_chk_fail/}" || fail "$file has no checked copies"
    done
}

# Of the objects: the property of a program is that of all it is made of, and the C library's own start may lack it.
control_flow() {
    hardened_build
    [ "$(uname -m)" = x86_64 ] || skip "for x86-64 alone"
    missing=$(readelf -nW "$build/libdrape.a" 2>/dev/null | awk '/^File:/ { if (file && !good) print file; file = $2; good = 0 }
        /IBT, SHSTK/ { good = 1 } END { if (file && !good) print file }')
    [ -z "$missing" ] || fail "without control-flow protection: $(head -n 3 <<<"$missing")"
}

for name in there_are_binaries full_relro no_executable_stack position_independent stack_protector_and_fortify control_flow; do
    run_test $name $name
done
finish_tests
