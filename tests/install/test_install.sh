#!/usr/bin/env bash
# What `cmake --install` puts in place is complete, shows public names only, and serves programs of others: examples/ is
# built against it, with pkg-config and CMake, static and shared. Nothing of drape is compiled here.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
build=$(dirname "$2")
prefix=$scratch/prefix
unset DESTDIR DRAPE_SIMD

installed() { [ -x "$prefix/bin/drape" ] || skip "built without what is installed (-DDRAPE_INSTALL=ON)"; }
needs() { command -v "$1" >/dev/null || skip "there is no $1"; }

# Where the libraries lie, which depends on the system: lib, lib64 or lib/x86_64-linux-gnu.
library_folder() { dirname "$(dirname "$(find "$prefix" -name drape.pc)")"; }

# ---- What is there ----

installs() {
    [ -e "$build/libdrape.so" ] || skip "built without what is installed (-DDRAPE_INSTALL=ON)"
    cmake --install "$build" --prefix "$prefix"
}

everything_is_in_place() {
    installed
    local file lib
    lib=$(library_folder)
    for file in "$lib"/{libdrape,libdrape-solve}.{a,so} "$lib"/pkgconfig/{drape,drape-solve}.pc \
        "$lib"/cmake/drape/drapeConfig{,Version}.cmake "$prefix"/include/drape/{base,sparse,solve,ode,cloth,sim,io}.h \
        "$prefix"/share/{man/man1/drape.1,bash-completion/completions/drape,zsh/site-functions/_drape} \
        "$prefix"/share/doc/drape/{LICENSE,README.md,CHANGELOG.md,docs/embedding.md,examples/simulate-cmake/simulate.c}; do
        [ -s "$file" ] || fail "there is no $file"
    done
    # Nothing says where it was built.
    ! grep -rlF -e "$source_dir" -e "$build" "$lib/pkgconfig" "$lib/cmake" "$prefix/include" || fail "names the build"
}

# library_is_versioned NAME
library_is_versioned() {
    installed
    needs readelf
    local lib version major
    lib=$(library_folder)
    version=$("$prefix/bin/drape" --version | awk '{ print $2 }')
    major=${version%%.*}
    [ "$(readlink "$lib/lib$1.so")" = "lib$1.so.$major" ]
    [ "$(readlink "$lib/lib$1.so.$major")" = "lib$1.so.$version" ]
    readelf -d "$lib/lib$1.so" | grep -qF "soname: [lib$1.so.$major]"
}

every_header_is_installed_or_cholmod() {
    installed
    local header
    for header in "$source_dir"/include/drape/*.h "$source_dir"/include/drape/*.hpp; do
        [[ "$(basename "$header")" =~ ^(cholmod|petsc)\.h$ ]] || cmp "$header" "$prefix/include/drape/$(basename "$header")"
    done
}

# Without CHOLMOD, whose licence is another, and without the shared libraries, which may be anywhere.
program_stands_alone() {
    installed
    local needed
    needed=$(ldd "$prefix/bin/drape")
    ! grep -qE 'cholmod|libdrape' <<<"$needed" || fail "$needed"
    (cd / && env -i "$prefix/bin/drape" run drooping --resolution 9 --frames 1 --quiet -o "$scratch/alone.html")
    [ -s "$scratch/alone.html" ]
    "$prefix/bin/drape" solve --list >/dev/null
}

without_benchmarks_it_says_so() {
    installed
    local code=0
    "$prefix/bin/drape" bench amg >"$scratch/out" 2>&1 || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code"
    grep -q "there is no drape-bench.*make bench" "$scratch/out" || fail "$(cat "$scratch/out")"
}

# ---- Names ----

# exported LIBRARY: its dynamic symbols.
exported() { nm -D --defined-only "$1" | awk '{ print $NF }' | sort; }

# declared HEADER...: the functions that are DRAPE_API.
declared() {
    cat "$@" | tr '\n' ' ' | grep -oE 'DRAPE_API [^;(]*\(' | grep -oE 'drape_[a-z0-9_]+\($' |
        tr -d '(' | sort
}

# shared_names LIBRARY PATTERN: what headers with such a name declare, all of it and nothing else.
shared_names() {
    installed
    local library=$1 headers
    mapfile -t headers < <(find "$prefix/include/drape" -name '*.h' ! -name cholmod.h ! -name petsc.h | grep -E "/($2)\.h\$")
    declared "${headers[@]}" >"$scratch/declared"
    [ -s "$scratch/declared" ]
    exported "$(library_folder)/$library" >"$scratch/exported"
    diff "$scratch/declared" "$scratch/exported" || fail "left: declared in headers; right: exported"
}

# static_names LIBRARY: nothing that could meet a name of the host program.
static_names() {
    installed
    local strange
    strange=$(nm -g --defined-only "$(library_folder)/$1" 2>/dev/null | awk 'NF == 3 && $3 !~ /^drape_/ { print $3 }')
    [ -z "$strange" ] || fail "global names without prefix: $strange"
}

# ---- Headers ----

# headers_compile_alone COMPILER
headers_compile_alone() {
    installed
    needs "$1"
    local header
    for header in "$source_dir"/include/drape/*.h; do
        [ "$(basename "$header")" != petsc.h ] || continue # it needs the headers of MPI
        echo "#include <drape/$(basename "$header")>" |
            "$1" -x c -std=c17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$source_dir/include" -
    done
}

# headers_are_cxx COMPILER: all of them but petsc.h, which needs MPI, in one C++ file, which calls something.
headers_are_cxx() {
    installed
    needs "$1"
    {
        for header in "$prefix"/include/drape/*.h; do
            [ "$(basename "$header")" = petsc.h ] || echo "#include <drape/$(basename "$header")>"
        done
        echo '#include <cstdio>'
        echo 'int main() { drape_solve_settings s = drape_solve_defaults(); std::puts(s.method); }'
    } >"$scratch/all.cpp"
    "$1" -std=c++17 -Wall -Wextra -pedantic -Werror -I "$prefix/include" "$scratch/all.cpp" -L "$(library_folder)" -ldrape \
        -o "$scratch/all"
    [ "$(LD_LIBRARY_PATH=$(library_folder) "$scratch/all")" = auto ]
}

# ---- Programs of others ----

# with_pkg_config MAKE-ARGUMENT...: examples/solver-pkgconfig, built and run in a folder of its own.
with_pkg_config() {
    installed
    needs pkg-config
    local folder=$scratch/pkg$#
    cp -r "$prefix/share/doc/drape/examples/solver-pkgconfig" "$folder"
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(library_folder)/pkgconfig
    [ "$(pkg-config --modversion drape-solve drape | sort -u)" = "$("$prefix/bin/drape" --version | awk '{ print $2 }')" ]
    make -s -C "$folder" CFLAGS='-std=c17 -Wall -Wextra -Werror' "$@"
    LD_LIBRARY_PATH=$(library_folder) "$folder/solve" >"$folder/out"
    cat "$folder/out"
    grep -q '^converged after [1-9]' "$folder/out"
    grep -q '^first 0.5 0 0, last' "$folder/out"
    awk '$1 == "residual" { good = $2 < 1e-8 } END { exit !good }' "$folder/out"
}

solver_by_pkg_config_shared() {
    with_pkg_config
    LD_LIBRARY_PATH=$(library_folder) ldd "$scratch/pkg0/solve" | grep -q 'libdrape-solve\.so\.0'
}

solver_by_pkg_config_static() {
    with_pkg_config STATIC=1
    ! ldd "$scratch/pkg1/solve" | grep -q drape || fail "needs a shared library"
    diff "$scratch/pkg0/out" "$scratch/pkg1/out"
}

# drape.pc must bring what the static library needs.
whole_library_by_pkg_config_static() {
    installed
    needs pkg-config
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(library_folder)/pkgconfig
    # shellcheck disable=SC2046
    cc -std=c17 $(pkg-config --cflags drape) "$source_dir/examples/simulate-cmake/simulate.c" -o "$scratch/whole" \
        -Wl,-Bstatic $(pkg-config --libs drape) -Wl,-Bdynamic $(pkg-config --static --libs-only-l drape | sed 's/-ldrape//') \
        -pthread
    mkdir "$scratch/whole-out"
    (cd "$scratch/whole-out" && "$scratch/whole" | grep -q 'the middle of the sheet')
}

# with_cmake NAME OPTION...: examples/simulate-cmake
with_cmake() {
    installed
    local folder=$scratch/cmake-$1
    shift
    cp -r "$prefix/share/doc/drape/examples/simulate-cmake" "$folder"
    cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' "$@"
    cmake --build "$folder/build"
    (cd "$folder" && build/simulate >out)
    cat "$folder/out"
    [ "$(grep -c '^v ' "$folder/sheet_0000.obj")" -eq 961 ]
    # It sags, by what stiff cotton gives way.
    awk '{ z = $(NF - 1) } END { exit !(z < -0.001 && z > -0.1) }' "$folder/out"
}

simulation_by_cmake_shared() {
    with_cmake shared
    ldd "$scratch/cmake-shared/build/simulate" | grep -q 'libdrape\.so\.0'
}

simulation_by_cmake_static() {
    with_cmake static -DSTATIC=ON
    ! ldd "$scratch/cmake-static/build/simulate" | grep -q drape || fail "needs a shared library"
    diff "$scratch/cmake-shared/out" "$scratch/cmake-static/out"
    cmp "$scratch/cmake-shared/sheet_0000.obj" "$scratch/cmake-static/sheet_0000.obj"
}

# configure NAME LINE...: a CMake project of these lines.
configure() {
    local folder=$scratch/project-$1
    shift
    mkdir "$folder"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p C)' "$@" >"$folder/CMakeLists.txt"
    cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/solve-only"
}

# As after -DDRAPE_PROGRAM=OFF: the solvers are found, and a request for more gets a message.
solvers_alone_by_cmake() {
    installed
    cp -r "$prefix" "$scratch/solve-only"
    find "$scratch/solve-only" -name 'drape-targets*.cmake' -delete
    find "$scratch/solve-only" -name 'drape-static-targets*.cmake' -delete
    configure solvers 'find_package(drape REQUIRED)' "add_executable(s $source_dir/examples/solver-pkgconfig/solve.c)" \
        'target_link_libraries(s PRIVATE drape::solve-static)'
    cmake --build "$scratch/project-solvers/build"
    "$scratch/project-solvers/build/s" | grep -q '^converged'
    expect_failure "without the component" configure more 'find_package(drape REQUIRED COMPONENTS simulate)'
    expect_failure "version" configure newer 'find_package(drape 77 REQUIRED)'
}

# ---- Elsewhere, and away again ----

destdir_is_honoured_and_uninstall_removes_all() {
    installed
    local destination=$scratch/destination
    DESTDIR=$destination cmake --install "$build" --prefix /opt/cloth
    [ -x "$destination/opt/cloth/bin/drape" ]
    cp "$build/install_manifest.txt" "$scratch/list"
    echo kept >"$destination/opt/cloth/include/drape/other.h"
    DESTDIR=$destination "$source_dir/scripts/uninstall" "$scratch/list"
    [ "$(find "$destination" ! -type d)" = "$destination/opt/cloth/include/drape/other.h" ] || fail "$(find "$destination")"
    [ "$(find "$destination" -type d -name drape)" = "$destination/opt/cloth/include/drape" ] || fail "folders remain"
    expect_failure "there is no" "$source_dir/scripts/uninstall" "$scratch/list"
}

run_test installs installs
run_test everything_is_in_place everything_is_in_place
run_test libdrape_is_versioned library_is_versioned drape
run_test libdrape_solve_is_versioned library_is_versioned drape-solve
run_test every_header_is_installed_or_cholmod every_header_is_installed_or_cholmod
run_test program_stands_alone program_stands_alone
run_test without_benchmarks_it_says_so without_benchmarks_it_says_so
run_test libdrape_shows_public_names_only shared_names libdrape.so '.*'
run_test libdrape_solve_shows_public_names_only shared_names libdrape-solve.so 'base|sparse|solve|ode'
run_test static_libdrape_has_prefixed_names static_names libdrape.a
run_test static_libdrape_solve_has_prefixed_names static_names libdrape-solve.a
for compiler in gcc clang; do run_test "headers_compile_alone_$compiler" headers_compile_alone "$compiler"; done
for compiler in g++ clang++; do run_test "headers_are_cxx_$compiler" headers_are_cxx "$compiler"; done
for test in solver_by_pkg_config_shared solver_by_pkg_config_static whole_library_by_pkg_config_static \
    simulation_by_cmake_shared simulation_by_cmake_static solvers_alone_by_cmake \
    destdir_is_honoured_and_uninstall_removes_all; do
    run_test $test $test
done
finish_tests
