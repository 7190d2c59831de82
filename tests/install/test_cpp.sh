#!/usr/bin/env bash
# drape/drape.hpp compiles as C++11 and later without a warning, with gcc and clang, and does what drape/solve.h does.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
library=$(dirname "$2")/libdrape-solve.a

# A library built with sanitizers must be linked with them.
sanitizers() {
    local symbols
    symbols=$(nm "$library" 2>/dev/null)
    case $symbols in
    *__asan_*) echo "-fsanitize=address,undefined" ;;
    *__tsan_*) echo "-fsanitize=thread" ;;
    *__gcov_*) echo "--coverage" ;;
    esac
}

# compiles_and_runs COMPILER STANDARD FILE
compiles_and_runs() {
    command -v "$1" >/dev/null || skip "there is no $1"
    # shellcheck disable=SC2046
    "$1" "-std=$2" -Wall -Wextra -Wshadow -pedantic -Werror $(sanitizers) -I "$source_dir/include" "$source_dir/$3" \
        "$library" -pthread -lm -o "$scratch/program"
    "$scratch/program"
}

# Each header by itself, as C++.
headers_are_cpp() {
    command -v c++ >/dev/null || skip "there is no c++"
    local header
    for header in "$source_dir"/include/drape/{base,sparse,solve}.h "$source_dir"/include/drape/drape.hpp; do
        echo "#include \"$header\"" |
            c++ -std=c++11 -x c++ -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$source_dir/include" -
    done
}

run_test headers_are_cpp headers_are_cpp
for standard in c++11 c++17; do
    run_test "all_of_it_$standard" compiles_and_runs c++ $standard tests/install/hpp.cpp
done
run_test example compiles_and_runs c++ c++11 examples/solver-cpp/solve.cpp
run_test own_simulator compiles_and_runs c++ c++17 examples/own-simulator/simulator.cpp
with_eigen() {
    [ -d /usr/include/eigen3 ] || skip "there is no Eigen"
    CPLUS_INCLUDE_PATH=/usr/include/eigen3 compiles_and_runs c++ c++17 examples/own-simulator/eigen.cpp
}
run_test with_eigen with_eigen
[[ -n $(sanitizers) ]] || run_test all_of_it_with_clang compiles_and_runs clang++ c++11 tests/install/hpp.cpp
finish_tests
