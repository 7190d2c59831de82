#!/usr/bin/env bash
# A block of README.md or docs/ that stands below `<!-- from FILE -->` is a part of that file, line by line.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1

# block FILE NUMBER: the text of the block below the nth such comment.
block() {
    awk -v wanted="$2" '/^<!-- from / { n++; next }
        /^```/ { if (inside) exit; inside = n == wanted; next }
        inside' "$1"
}

# is_a_part TEXT FILE
is_a_part() {
    [ -n "$1" ] || fail "an empty block"
    [[ $'\n'$(cat "$2")$'\n' == *$'\n'"$1"$'\n'* ]] || fail "is no part of $2:"$'\n'"$1"
}

# is_up_to_date DOCUMENT NUMBER FILE
is_up_to_date() { is_a_part "$(block "$1" "$2")" "$source_dir/$3"; }

another_text_is_found() {
    printf 'one\ntwo\nthree\n' >"$scratch/file"
    is_a_part $'one\ntwo' "$scratch/file"
    expect_failure "is no part" is_a_part $'one\nthree' "$scratch/file"
    expect_failure "is no part" is_a_part wo "$scratch/file"
    expect_failure "empty" is_a_part "" "$scratch/file"
}

run_test another_text_is_found another_text_is_found
total=0
for document in "$source_dir"/README.md "$source_dir"/docs/*.md; do
    number=0
    while IFS= read -r file; do
        number=$((number + 1))
        total=$((total + 1))
        run_test "$(basename "$document")_${number}_is_$file" is_up_to_date "$document" $number "$file"
    done < <(sed -n 's/^<!-- from \(.*\) -->$/\1/p' "$document")
done
there_are_some() { [ "$total" -ge 4 ] || fail "only $total snippets"; }
run_test there_are_some there_are_some
finish_tests
