#!/usr/bin/env bash
# docs/scenes.md and docs/writing-scenes.md: their scenes are good, the list of keys is complete, and the messages that
# they quote are the program's.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
program=$2
page=$source_dir/docs/scenes.md
guide=$source_dir/docs/writing-scenes.md

# extract NUMBER: the nth ```yaml block of both
extract() {
    cat "$page" "$guide" | awk -v wanted="$1" '/^```yaml$/ { n++; inside = n == wanted; next } /^```$/ { inside = 0 } inside'
}

# The meshes and images that the examples name: one triangle with a group of every name that is used.
write_meshes() {
    local mesh image
    sed -n 's/.*mesh: \([^ ,}]*\.obj\).*/\1/p' "$1" | while IFS= read -r mesh; do
        printf 'v 0 0 0\nv 40 0 0\nv 0 60 0\ng collar\nf 1 2 3\n' >"$(dirname "$1")/$mesh"
    done
    grep -oE '[a-z]+\.(png|jpg)' "$1" | while IFS= read -r image; do
        cp "$source_dir/tests/fuzz/corpus/image/quarters.png" "$(dirname "$1")/$image" # the bytes say what it is
    done
    sed -n 's/.*file: \([^ ,}]*\)\.obj.*/\1/p' "$1" | while IFS= read -r mesh; do
        printf 'v 0 0 0\nv 40 0 0\nv 0 60 0\nf 1 2 3\n' >"$(dirname "$1")/${mesh}_0000.obj"
        printf 'v 0 0 0\nv 42 0 0\nv 0 60 0\nf 1 2 3\n' >"$(dirname "$1")/${mesh}_0001.obj"
    done
}

# Good, and it runs: outputs go to where the program is started, here a folder of the test.
is_good() {
    local folder=$scratch/example-$1
    mkdir "$folder"
    cd "$folder"
    extract "$1" >scene.yaml
    write_meshes scene.yaml
    "$program" check scene.yaml
    "$program" run scene.yaml --frames 1 --quiet
}

fragments_are_few() { [ "$(grep -c '^# fragment' "$page")" -le 2 ]; }

# Words in the reader's lists of keys.
keys() {
    awk '/static const char \*const (keys|wind_keys|names|kinds|mesh_only)\[\] = \{/ { inside = 1 }
         inside || /define PICK_KEYS/
         /\};/ { inside = 0 }' "$source_dir"/src/io/scene_*.[ch] | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u
}

every_key_is_described() {
    local key
    [ "$(keys | wc -l)" -ge 50 ] || fail "only $(keys | wc -l) keys were found"
    for key in $(keys); do grep -qF "\`$key\`" "$page" || fail "no word about \`$key\`"; done
}

# Names for `where`, fabrics, methods, preconditioners, models, formats.
every_name_is_described() {
    local name
    for name in $(sed -nE '/\} places\[\] = \{/,/\};/p' "$source_dir/src/io/scene_pins.c" | grep -oE '"[a-z-]+"' | tr -d '"'); do
        grep -qE "(^|[^a-z-])$name([^a-z-]|\$)" "$page" || fail "no word about the place $name"
    done
    for name in $("$program" fabrics | awk 'NR > 1 {print $1}'); do
        grep -qw "$name" "$page" || fail "no word about the fabric $name"
    done
    for name in $("$program" list colors); do
        grep -qF "\`$name\`" "$page" || fail "no word about the color $name"
    done
    printf 'drape: 1\ncloth: [{grid: {}}]\nsolver: {method: x, precond: x, stop: x, amg: {reuse: x, smoother: x, cycle: x}}\nintegrator: {method: x, newton: {kind: x, line_search: x, guess: x}, control: x, unknowns: x, mass: x, on_failure: x}\nmodel: x\noutput: x\n' >"$scratch/names.yaml"
    for name in $("$program" check "$scratch/names.yaml" | sed -nE 's/ \[[a-z-]+\]$//; s/.*known: ([^)]*)\)?$/\1/p' | tr -d ','); do
        grep -qF "\`$name\`" "$page" || fail "no word about $name"
    done
}

every_unit_and_prefix_is_described() {
    local name
    for name in $(sed -nE '/\} units\[\] = \{/,/\};/p' "$source_dir/src/io/quantity.c" | grep -oE '\{"[A-Za-z]+"' | tr -d '{"') \
        $(sed -nE "/\} prefixes\[\] = /,/;/p" "$source_dir/src/io/quantity.c" | grep -oE "'[A-Za-z]'" | tr -d "'"); do
        grep -qF "\`$name\`" "$page" || fail "no word about the unit or prefix $name"
    done
}

# The table of messages: each is what the program says to a file in wrong_scenes, except for the names in it.
messages_are_the_programs() {
    local said message
    said=$(cd "$source_dir/tests/io/wrong_scenes" && for file in *.yaml; do "$program" check "$file" || true; done)
    printf 'drape: 1\ncloth:\n  - grid: {width:1 m}\n' >"$scratch/colon.yaml"
    said+=$("$program" check "$scratch/colon.yaml" || true)
    # shellcheck disable=SC2016
    sed -n '/^| the message says/,$p' "$guide" | sed -nE 's/^\| `([^`]*)` \|.*/\1/p' >"$scratch/messages"
    [ "$(wc -l <"$scratch/messages")" -ge 10 ]
    while IFS= read -r message; do
        message=${message//shirt.obj: /no-such-mesh.obj: }
        message=${message//shirt.obj is outside//etc/passwd is outside}
        message=${message//triangle 12/triangle 1}
        grep -qF -- "$message" <<<"$said" || fail "nothing says: $message"
    done <"$scratch/messages"
}

for ((i = 1; i <= $(cat "$page" "$guide" | grep -c '^```yaml$'); i++)); do
    # shellcheck disable=SC2310
    extract "$i" | head -n 1 | grep -q '^# fragment' || run_test "example_$i" is_good "$i"
done
run_test fragments_are_few fragments_are_few
run_test every_key_is_described every_key_is_described
run_test every_name_is_described every_name_is_described
run_test every_unit_and_prefix_is_described every_unit_and_prefix_is_described
run_test messages_are_the_programs messages_are_the_programs
finish_tests
