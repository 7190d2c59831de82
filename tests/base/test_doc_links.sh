#!/usr/bin/env bash
# The manual's links and anchors lead somewhere; every public function and every key of scenes is documented.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
check=$source_dir/tests/support/check_docs.py

command_exists() { command -v python3 >/dev/null || skip "there is no python3"; }

the_manual() {
    command_exists
    python3 "$check" "$source_dir"
}

# What is wrong in a copy is found.
mistakes_are_found() {
    command_exists
    mkdir -p "$scratch/copy/src"
    (cd "$source_dir" && cp -r README.md CONTRIBUTING.md docs include examples "$scratch/copy" && cp -r src/io "$scratch/copy/src")
    python3 "$check" "$scratch/copy"
    echo 'See [nothing](no-such-page.md) and [none](scenes.md#no-such-section).' >>"$scratch/copy/docs/concepts.md"
    # shellcheck disable=SC2016
    sed -i 's/`air_drag`/air_drag/g' "$scratch/copy/docs/scenes.md"
    sed -i 's|^#endif$|DRAPE_API void drape_undocumented_thing(void);\n\ntypedef struct drape_unexplained drape_unexplained;\n\n#endif|' "$scratch/copy/include/drape/cholmod.h"
    expect_failure "there is no no-such-page.md" python3 "$check" "$scratch/copy"
    expect_failure "has no section #no-such-section" python3 "$check" "$scratch/copy"
    expect_failure "air_drag" python3 "$check" "$scratch/copy"
    expect_failure "drape_undocumented_thing has no comment" python3 "$check" "$scratch/copy"
    expect_failure "drape_unexplained has no comment" python3 "$check" "$scratch/copy"
}

run_test the_manual the_manual
run_test mistakes_are_found mistakes_are_found
finish_tests
