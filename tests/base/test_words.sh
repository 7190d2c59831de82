#!/usr/bin/env bash
# Words that the project does not use: private metaphors, turns that only sound like English, and a bare article in
# place of "per".
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1

# A letter in brackets, so that this file does not contain the words.
metaphors='[s]eat|[j]ourney|[s]ight|[g]rip|[h]earing|[a]ilment|[s]ettle|[s]ettling|[a]new'
turns='[w]hoever|behind [e]ach other|[w]ho wants|[W]anted is'
each='(^|[^a-z])([0-9]+|one|two|three|once|twice|bytes|numbers?|doubles|flops|iterations|blocks?|object|cost) an? (vertex|row|block|entry|element|solve|iteration|hinge|pair|spring|frame|piece|lane|triangle|half edge|step|part|file)([^a-z]|$)'
folders=(bench cli cmake completions docs examples include python scenes scripts src tests web README.md CHANGELOG.md CONTRIBUTING.md Makefile)

# lines ROOT PATTERN: FILE:LINE: of text files that match.
lines() {
    local folder found=()
    for folder in "${folders[@]}"; do [ ! -e "$1/$folder" ] || found+=("$folder"); done
    (cd "$1" && grep -rnIE --exclude-dir=node_modules --exclude-dir=dist --exclude-dir=results --exclude-dir=__pycache__ \
        --exclude='*.csv' --exclude='*.json' --exclude='*.svg' -e "$2" "${found[@]}") || true
}

no_metaphors() {
    local found
    found=$(lines "$1" "(^|[^A-Za-z])($metaphors)([sd]|ing)?([^A-Za-z]|\$)")
    [ -z "$found" ] || fail "$found"
}
no_turns() {
    local found
    found=$(lines "$1" "(^|[^A-Za-z])($turns)([^A-Za-z]|\$)")
    [ -z "$found" ] || fail "$found"
}
no_bytes_a_vertex() {
    local found
    found=$(lines "$1" "$each")
    [ -z "$found" ] || fail "$found"
}

wrong_words_are_caught() {
    mkdir -p "$scratch/tree/docs"
    printf 'It takes 24 bytes a ver%s.\n' tex >"$scratch/tree/docs/a.md"
    printf 'static int %sat;\n' se >"$scratch/tree/docs/b.c"
    expect_failure 'docs/a.md:1' no_bytes_a_vertex "$scratch/tree"
    expect_failure 'docs/b.c:1' no_metaphors "$scratch/tree"
    printf '/* %sever calls it. */\n' who >"$scratch/tree/docs/c.c"
    expect_failure 'docs/c.c:1' no_turns "$scratch/tree"
}

run_test no_metaphors no_metaphors "$source_dir"
run_test no_turns no_turns "$source_dir"
run_test no_bytes_a_vertex no_bytes_a_vertex "$source_dir"
run_test wrong_words_are_caught wrong_words_are_caught
finish_tests
