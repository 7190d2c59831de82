#!/usr/bin/env bash
# The C programs in README.md and docs/ compile without a warning and run; so does the README's scene.
source "$(dirname "$0")/../support/shell.sh"
source_dir=$1
program=$2
libraries=$(dirname "$2")

# A library built with sanitizers must be linked with them.
sanitizers() {
    local symbols
    symbols=$(nm "$1" 2>/dev/null)
    case $symbols in
    *__asan_*) echo "-fsanitize=address,undefined" ;;
    *__tsan_*) echo "-fsanitize=thread" ;;
    *__gcov_*) echo "--coverage" ;;
    esac
}

# extract FILE NUMBER: the nth ```c block of a Markdown file
extract() {
    awk -v wanted="$2" '/^```c$/ { n++; inside = n == wanted; next } /^```$/ { inside = 0 } inside' "$1"
}

# Those that need more than a linear solver get libdrape, the others must do with libdrape-solve alone.
compile_and_run() {
    local file=$1 number=$2 code=$scratch/example.c library=drape-solve extra=()
    extract "$file" "$number" >"$code"
    if grep -qE 'drape/(cloth|contact|sim|io)\.h' "$code"; then
        library=drape
        extra=(-ljansson -lfyaml -lz)
    fi
    # shellcheck disable=SC2046
    cc -std=c17 -Wall -Wextra -Werror $(sanitizers "$libraries/lib$library.a") -I "$source_dir/include" "$code" \
        "$libraries/lib$library.a" -pthread -lm "${extra[@]}" -o "$scratch/example"
    (cd "$scratch" && ./example) # some write files
}

for file in "$source_dir"/README.md "$source_dir"/docs/*.md; do
    count=$(grep -c '^```c$' "$file")
    for ((i = 1; i <= count; i++)); do
        run_test "$(basename "$file")_example_$i" compile_and_run "$file" "$i"
    done
done
scene_of_the_readme() {
    awk '/^```yaml$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source_dir/README.md" >"$scratch/towel.yaml"
    (cd "$scratch" && "$program" check towel.yaml && "$program" run towel.yaml --resolution 9 --frames 1 --quiet)
    [ -s "$scratch/towel.html" ]
}
run_test scene_of_the_readme scene_of_the_readme
finish_tests
