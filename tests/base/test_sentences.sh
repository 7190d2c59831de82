#!/usr/bin/env bash
# Sentences have at most 30 words in all that a user reads, and in the comments of all code.
# tests/base/long_sentences.txt holds the exceptions.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
checker=$source_dir/tests/support/sentences.py
exceptions=$source_dir/tests/base/long_sentences.txt

sentences_are_short() {
    cd "$source_dir"
    local files
    mapfile -t files < <(ls ./*.md docs/*.md docs/notes/*.md docs/man/* examples/*/*.md include/drape/* docs/site/collect &&
        find src cli bench tests python web examples scripts cmake CMakeLists.txt Makefile -type f -not -path '*/node_modules/*' -not -path '*/dist/*' \
            '(' -name '*.[ch]' -o -name '*.cpp' -o -name '*.py' -o -name '*.js' -o -name '*.mjs' -o -name '*.css' -o -name '*.sh' -o -name '*.cmake' \
            -o -name CMakeLists.txt -o -name Makefile -o -path 'scripts/*' -o -regex 'web/[a-z]*' -o -path tests/golden/renew ')')
    python3 "$checker" "$exceptions" "${files[@]}" || fail "split these, or add them to tests/base/long_sentences.txt with a reason"
}

# numbers N: "one two three ..." of N words
numbers() { for ((i = 0; i < $1; i++)); do printf 'word '; done; }

long_sentences_are_caught() {
    cd "$scratch"
    : >none
    printf 'Good. %s.\n\n| %s. %s; %s |\n' "$(numbers 30)" "$(numbers 20)" "$(numbers 20)" "$(numbers 20)" >good.md
    python3 "$checker" none good.md
    printf 'Good.\n%s.\n' "$(numbers 31)" >bad.md
    expect_failure 'bad.md:2: 31 words' python3 "$checker" none bad.md
    printf '/* Good. */\nint a; /* %s\n * %s. */\n' "$(numbers 20)" "$(numbers 20)" >bad.c
    expect_failure 'bad.c:2: 40 words' python3 "$checker" none bad.c
    printf '.SH NAME\n.TP\n.B %s\n%s\n.B %s.\n' "$(numbers 40)" "$(numbers 20)" "$(numbers 11)" >bad.1
    expect_failure 'bad.1:4: 31 words' python3 "$checker" none bad.1
    printf '# %s\n#   a table  %s\nx = 1  # %s.\n# %s\n# %s.\n' "$(numbers 10)" "$(numbers 29)" "$(numbers 30)" "$(numbers 20)" "$(numbers 11)" >bad.sh
    expect_failure 'bad.sh:4: 31 words' python3 "$checker" none bad.sh
    printf '"""Good.\n\n    %s\n"""\ndef f():\n    """%s\n    %s."""\n' "$(numbers 40)" "$(numbers 20)" "$(numbers 11)" >bad.py
    expect_failure 'bad.py:6: 31 words' python3 "$checker" none bad.py
    printf 'a(); // %s\n// %s\n// %s.\n' "$(numbers 20)" "$(numbers 20)" "$(numbers 11)" >bad.js
    expect_failure 'bad.js:2: 31 words' python3 "$checker" none bad.js
    echo 'bad.md: word word' >allowed
    python3 "$checker" allowed bad.md
    echo 'good.md: word' >stale
    expect_failure 'no such long sentence any more' python3 "$checker" stale good.md
}

run_test sentences_are_short sentences_are_short
run_test long_sentences_are_caught long_sentences_are_caught
finish_tests
