#!/usr/bin/env bash
# docs/tutorial.md: a reader who does what it says gets what it shows.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
PATH=$(dirname "$2"):$PATH

follow() {
    mkdir "$scratch/$1"
    cd "$scratch/$1"
    SAMPLES=1 python3 "$source_dir/tests/support/follow_page.py" "$source_dir/docs/$1.md"
}

the_tutorial() {
    follow tutorial
    "$2" check-frames tablecloth.pc2 --scene tablecloth.yaml
    if command -v blender >/dev/null; then [ -s blender.png ]; fi
}

# In full, the commands make the pictures of the page, pixel by pixel. Where bits were changed, scripts/pictures tutorial makes
# them again.
the_pictures() {
    mkdir "$scratch/full"
    cd "$scratch/full"
    python3 "$source_dir/tests/support/follow_page.py" "$source_dir/docs/tutorial.md" --full --without blender
    mv tablecloth.png final.png
    local name
    for name in draft silk felt final; do
        python3 "$source_dir/tests/support/same_picture.py" "$name.png" "$source_dir/docs/pictures/tutorial-$name.png" ||
            fail "scripts/pictures tutorial makes the pictures again"
    done
}

# What the page shows is compared.
another_output_is_found() {
    mkdir "$scratch/other"
    cd "$scratch/other"
    printf '```console\n$ echo one; echo two\none\nthree\n```\n' >page.md
    expect_failure "the page shows" python3 "$source_dir/tests/support/follow_page.py" page.md
    printf '```console\n$ echo one 1; echo two\none 7\n...\n```\n' >page.md
    python3 "$source_dir/tests/support/follow_page.py" page.md
}

run_test the_tutorial the_tutorial "$@"
run_test the_pictures the_pictures
run_test another_output_is_found another_output_is_found
finish_tests
