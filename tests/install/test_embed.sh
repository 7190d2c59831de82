#!/usr/bin/env bash
# Projects of others that take drape by FetchContent, by add_subdirectory, by find_package and by pkg-config. Each solves a
# linear system to the same bits; what they have set up for themselves stays as it was. Drape is compiled twice here, with
# kernels for the baseline alone and little optimisation, which is quick and changes no bit; the others take what is installed.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
build=$(dirname "$2")
unset DESTDIR DRAPE_SIMD CFLAGS CMAKE_BUILD_TYPE

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi

# The system of examples/solver-pkgconfig, printed to the last bit.
write_program() {
    sed -e 's|^int main(void) {|static int example(void) {|' "$source_dir/examples/solver-pkgconfig/solve.c" >"$1/solve.c"
    cat >>"$1/solve.c" <<END
int main(void) {
    if (example()) return 1;
    for (int i = 0; i < 3 * PARTICLES; i++) printf("%a\n", x[i]);
    return 0;
}
END
}

# A project with flags of its own, of which drape must neither take the arithmetic nor change anything.
#   project FOLDER LINE...   the lines bring the target drape::solve
project() {
    local folder=$1
    shift
    mkdir -p "$folder"
    write_program "$folder"
    {
        cat <<'END'
cmake_minimum_required(VERSION 3.25)
project(host C)
add_compile_options(-ffast-math)
set(watched CMAKE_BUILD_TYPE CMAKE_C_FLAGS CMAKE_C_FLAGS_RELEASE CMAKE_C_FLAGS_DEBUG CMAKE_C_STANDARD CMAKE_C_EXTENSIONS
  CMAKE_C_VISIBILITY_PRESET CMAKE_POSITION_INDEPENDENT_CODE CMAKE_RUNTIME_OUTPUT_DIRECTORY BUILD_SHARED_LIBS BUILD_TESTING)
function(watch result)
  set(all)
  foreach(variable ${watched})
    string(APPEND all "${variable}=${${variable}}|$CACHE{${variable}}\n")
  endforeach()
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS)
    get_property(value DIRECTORY PROPERTY ${property})
    string(APPEND all "${property}=${value}\n")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()
watch(before)
END
        printf '%s\n' "$@"
        cat <<'END'
watch(after)
if(NOT before STREQUAL after)
  message(FATAL_ERROR "drape changed the project around it\n${before}\n${after}")
endif()
add_executable(host solve.c)
target_link_libraries(host PRIVATE drape::solve)
END
    } >"$folder/CMakeLists.txt"
}

# built FOLDER OPTION...: configures, builds and runs it; what it prints goes to FOLDER/out.
built() {
    local folder=$1
    shift
    cmake -S "$folder" -B "$folder/build" -G Ninja -DDRAPE_BASELINE_ONLY=ON "${launcher[@]}" "$@"
    cmake --build "$folder/build" -- --quiet
    "$folder/build/host" >"$folder/out"
    grep '^converged' "$folder/out"
}

# drape's own objects keep its arithmetic: of the flags about it, the last one wins.
keeps_the_contract() {
    ninja -C "$1/build" -t compdb >"$scratch/commands"
    grep '"command".* -c [^ ]*/src/linear/' "$scratch/commands" >"$scratch/own"
    [ "$(wc -l <"$scratch/own")" -gt 20 ]
    grep -q -- '-ffast-math' "$scratch/own" || fail "the project's own flag is not there: this proves nothing"
    ! grep -vqE -- '-ffast-math.* -fno-fast-math .*-ffp-contract=off' "$scratch/own" || fail "flags of drape's are missing"
    ! grep -qE -- '-fno-fast-math.* -ffast-math' "$scratch/own" || fail "-ffast-math comes last"
}

# No test, benchmark or rule of installation of drape's.
brings_libraries_only() {
    [ -z "$(ctest --test-dir "$1/build" -N | grep 'Test *#')" ]
    ninja -C "$1/build" -t targets all >"$scratch/targets"
    grep -q 'libdrape-solve\.a' "$scratch/targets"
    ! grep -E '^(test\.|drape-bench|libdrape[^:]*\.so)|/drape-bench:' "$scratch/targets" || fail "more than the libraries"
    cmake --install "$1/build" --prefix "$1/prefix"
    [ ! -e "$1/prefix/include" ] || fail "installs drape's headers"
}

# The integrators come without jansson.
by_fetch_content() {
    local folder=$scratch/fetch
    project "$folder" 'include(FetchContent)' 'set(DRAPE_PROGRAM OFF)' \
        "FetchContent_Declare(drape SOURCE_DIR $source_dir)" 'FetchContent_MakeAvailable(drape)' \
        "add_executable(integrate $source_dir/examples/integrate-fetchcontent/integrate.c)" \
        'target_link_libraries(integrate PRIVATE drape::solve m)'
    built "$folder" -DCMAKE_C_FLAGS='-ffast-math -O1'
    keeps_the_contract "$folder"
    brings_libraries_only "$folder"
    ! grep -q jansson "$folder/build/build.ninja" || fail "asks for jansson"
    "$folder/build/integrate" | grep -q '^done at 10 s after 1000 steps'
}

# Without a build type, and without an -O in the flags, drape's own objects are optimised, and there are kernels for all
# instruction sets. This needs no build.
defaults_are_fast() {
    local folder=$scratch/defaults
    project "$folder" 'set(DRAPE_PROGRAM OFF)' "add_subdirectory($source_dir drape)"
    cmake -S "$folder" -B "$folder/build" -G Ninja
    ninja -C "$folder/build" -t compdb >"$scratch/commands"
    grep '"command".* -c [^ ]*/src/linear/' "$scratch/commands" >"$scratch/own"
    [ "$(wc -l <"$scratch/own")" -gt 20 ]
    ! grep -vq -- ' -O3 ' "$scratch/own" || fail "not optimised: $(grep -v -- ' -O3 ' "$scratch/own" | head -n 1)"
    if [ "$(uname -m)" = x86_64 ]; then grep -q -- '-DDRAPE_VARIANT=avx512' "$scratch/own"; fi
}

# With warnings of its own as errors, and the whole of drape.
by_add_subdirectory() {
    local folder=$scratch/sub
    project "$folder" "add_subdirectory($source_dir drape)" \
        "add_executable(simulate $source_dir/examples/simulate-cmake/simulate.c)" \
        'target_link_libraries(simulate PRIVATE drape::drape)'
    built "$folder" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS='-Werror -Wconversion -Wno-unused-parameter'
    keeps_the_contract "$folder"
    brings_libraries_only "$folder"
    [ ! -e "$folder/build/drape/drape" ] || fail "builds the program, which nobody asked for"
    (cd "$folder" && build/simulate | grep -q 'the middle of the sheet')
}

# ---- Installed ----

installed() { [ -e "$build/libdrape.so" ] || skip "built without what is installed (-DDRAPE_INSTALL=ON)"; }

by_find_package() {
    installed
    local folder=$scratch/find
    cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
    project "$folder" 'find_package(drape 0.1 REQUIRED)'
    built "$folder" -DCMAKE_PREFIX_PATH="$scratch/prefix"
    "$folder/build/host" | grep -q '^converged'
}

by_pkg_config() {
    [ -d "$scratch/prefix" ] || skip "nothing is installed"
    command -v pkg-config >/dev/null || skip "there is no pkg-config"
    local folder=$scratch/pkg
    mkdir "$folder"
    write_program "$folder"
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name drape-solve.pc)")
    # shellcheck disable=SC2046
    cc "$folder/solve.c" -o "$folder/host" $(pkg-config --cflags drape-solve) -static $(pkg-config --static --libs drape-solve)
    "$folder/host" >"$folder/out"
    # The integrators are in the same library.
    # shellcheck disable=SC2046
    cc "$source_dir/examples/integrate-fetchcontent/integrate.c" -o "$folder/integrate" $(pkg-config --cflags drape-solve) \
        -static $(pkg-config --static --libs drape-solve) -lm
    "$folder/integrate" | grep -q '^done at 10 s after 1000 steps'
}

all_have_the_same_bits() {
    local outputs=("$scratch"/*/out) output
    [ ${#outputs[@]} -ge 2 ] || skip "fewer than two were built"
    [ "$(grep -c 0x "${outputs[0]}")" -eq 300 ]
    for output in "${outputs[@]}"; do cmp "${outputs[0]}" "$output"; done
}

for test in defaults_are_fast by_fetch_content by_add_subdirectory by_find_package by_pkg_config all_have_the_same_bits; do
    run_test $test $test
done
finish_tests
