#!/usr/bin/env bash
# examples/extend: a model, a preconditioner, an output format and an integrator, each in at most four files. All four
# are applied to a copy of the tree, which is built and run; the tests that go over whole tables run on the new rows too.
# shellcheck disable=SC2016,SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1
examples=$source_dir/examples/extend
tree=$scratch/tree
program=$tree/build/drape
unset DESTDIR DRAPE_SIMD CFLAGS

# These go over all rows of a table; each is named after its module.
table_tests=(linear.contract io.writers ode.orders ode.memory ode.save cloth.derivatives cloth.psd cloth.invariance
    cloth.fabrics)
# So do these, of the names in documentation and messages.
script_tests=(io/test_scene_docs.sh io/test_wrong_scenes.sh)

# at_most_four_files NAME: and one of them is documentation.
at_most_four_files() {
    local files
    files=$(sed -nE 's/^(copy|before|after|mention|column) ([^: ]+).*/\2/p' "$examples/$1/steps" | sort -u)
    echo "$files"
    [ "$(wc -l <<<"$files")" -le 4 ]
    grep -q '^docs/.*\.md$' <<<"$files"
    grep -q '^src/' <<<"$files"
}

copy_the_tree() {
    command -v python3 >/dev/null || skip "there is no python3"
    mkdir "$tree"
    (cd "$source_dir" && cp -r CMakeLists.txt cmake include src cli scenes web docs bench tests examples "$tree")
}

applies() {
    [ -d "$tree" ] || skip "there is no copy"
    "$examples/apply" "$1" "$tree"
}

# Little is optimised, and there are kernels for the baseline alone: the bits are the same, and it is built in a third of the
# time.
builds() {
    [ -d "$tree" ] || skip "there is no copy"
    local options=(-DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DDRAPE_WERROR=ON -DDRAPE_BASELINE_ONLY=ON -DDRAPE_BENCH=OFF
        -DDRAPE_INSTALL=OFF)
    local targets=(drape-program)
    if command -v ccache >/dev/null; then
        export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1 # so that one copy has the objects of another
        options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    fi
    if pkg-config --exists cmocka 2>/dev/null; then
        targets+=("${table_tests[@]/#/test.}")
    else
        options+=(-DDRAPE_TESTS=OFF)
    fi
    cmake -S "$tree" -B "$tree/build" -G Ninja "${options[@]}"
    cmake --build "$tree/build" --target "${targets[@]}" -- --quiet
}

built() { [ -x "$program" ] || skip "was not built"; }

# What is in a table is in the help and in the lists, without another line of code.
names_are_everywhere() {
    built
    "$program" list models | grep -q '^stiffening  *springs that grow stiffer'
    "$program" solve --help | grep -qw neumann
    "$program" run --help | grep -qF .stl
    "$program" run --help | grep -qw sdirk2
    "$program" solve --words --precond | grep -qx neumann
}

# height OBJ: of the lowest vertex.
lowest() { awk '$1 == "v" && $4 < low { low = $4 } END { printf "%.6f\n", low }' "$1"; }

# Pulled by gravity a hundred times as strong, stiffening springs give way less than Provot's, but they do.
model_runs() {
    built
    local model
    for model in provot stiffening; do
        "$program" run drooping --resolution 15 --frames 10 --quiet --integrator preview --set model=$model --set forces.gravity='[0, 0, -981]' \
            -o "$scratch/$model.obj"
    done
    awk -v soft="$(lowest "$scratch/provot_0010.obj")" -v stiff="$(lowest "$scratch/stiffening_0010.obj")" \
        'BEGIN { print soft, stiff; exit !(stiff < -0.01 && stiff > 0.98 * soft) }'
}

# The same solution as with another preconditioner, in fewer iterations than with the block diagonal, which it is made of.
precond_solves() {
    built
    local precond
    "$program" run drooping --resolution 21 --frames 1 --quiet --export-system 3:"$scratch/a.sys"
    for precond in neumann block_diagonal; do
        "$program" solve "$scratch/a.sys" --precond $precond --stop residual --tol 1e-10 --json >"$scratch/$precond.json"
        grep -q '"reason": "converged"' "$scratch/$precond.json"
    done
    iterations() { sed -n 's/.*"iterations": \([0-9]*\),*$/\1/p' "$scratch/$1.json" | tail -n 1; }
    [ "$(iterations neumann)" -lt "$(iterations block_diagonal)" ] || fail "$(iterations neumann) iterations"
    "$program" solve "$scratch/a.sys" --method mpcg --precond neumann >/dev/null
    expect_failure "" "$program" solve "$scratch/a.sys" --method bicgstab --precond neumann
}

format_writes() {
    built
    "$program" run drooping --resolution 5 --frames 1 --quiet -o "$scratch/a.stl"
    local triangles=32
    [ "$(stat -c %s "$scratch/a_0001.stl")" -eq $((84 + 50 * triangles)) ]
    [ "$(od -An -tu4 -j80 -N4 "$scratch/a_0000.stl" | tr -d ' ')" -eq $triangles ]
    # The sheet is flat at the start: all normals are the same.
    [ "$(od -An -tf4 -j84 -N12 "$scratch/a_0000.stl" | tr -s ' ')" = " 0 0 1" ]
}

# error STEP: at most, of the stiff example.
error() { "$program" ode 1b --method sdirk2 --step "$1" --json | sed -n 's/.*"largest_error": \([^,]*\),.*/\1/p'; }

# Of order 2: half the step, a quarter of the error. And it steps cloth with pins.
integrator_runs() {
    built
    awk -v a="$(error 0.01)" -v b="$(error 0.005)" 'BEGIN { print a / b; exit !(a / b > 3.6 && a / b < 4.4) }'
    "$program" run drooping --resolution 9 --frames 2 --quiet --integrator sdirk2 -o "$scratch/sdirk2.obj"
    awk -v z="$(lowest "$scratch/sdirk2_0002.obj")" 'BEGIN { print z; exit !(z < -0.001 && z > -0.5) }'
}

# table_test NAME
table_test() {
    [ -x "$tree/build/tests/test.$1" ] || skip "was not built"
    "$tree/build/tests/test.$1" >"$scratch/out" 2>&1 || fail "$(tail -n 30 "$scratch/out")"
    case $1 in cloth.fabrics) ;; cloth.*) grep -q '^model stiffening' "$scratch/out" ;; esac
}

# script_test FILE
script_test() {
    built
    bash "$tree/tests/$1" "$tree" "$program" >"$scratch/out" 2>&1 || fail "$(grep -v -e RUN -e OK "$scratch/out")"
}

# A step whose row is gone, or there twice, says so instead of inserting somewhere.
missing_rows_are_named() {
    [ -d "$tree" ] || skip "there is no copy"
    local copy=$scratch/changed
    mkdir -p "$copy/src/linear/precond" "$copy/docs"
    cp "$tree/docs/scenes.md" "$tree/docs/solvers.md" "$copy/docs"
    grep -v 'ROW(amg)' "$source_dir/src/linear/registry.c" >"$copy/src/linear/registry.c"
    expect_failure 'registry.c: 0 lines begin with `ROW(amg)`' "$examples/apply" precond "$copy"
}

for example in model precond format integrator; do run_test ${example}_takes_at_most_four_files at_most_four_files $example; done
run_test copy_the_tree copy_the_tree
for example in model precond format integrator; do run_test ${example}_applies applies $example; done
run_test missing_rows_are_named missing_rows_are_named
for test in builds names_are_everywhere model_runs precond_solves format_writes integrator_runs; do run_test $test $test; done
for test in "${table_tests[@]}"; do run_test "table_test_$test" table_test "$test"; done
for test in "${script_tests[@]}"; do run_test "script_test_$test" script_test "$test"; done
finish_tests
