#!/usr/bin/env bash
# drape-mpi run: the motion of `drape run`, checkpoints that go on elsewhere, what is refused.
# shellcheck source=tests/mpi/mpi.sh
source "$1/tests/mpi/mpi.sh"
cd "$scratch" || exit

tight=(--set solver.tolerance=1e-10)

# motion CHECKPOINT OBJ: the largest difference of positions between a checkpoint of drape-mpi and a frame of drape.
motion() {
    local vertices head
    vertices=$(od -An -j 32 -N 8 -td8 "$1" | tr -d ' ')
    head=$(od -An -j 64 -N 8 -td8 "$1" | tr -d ' ')
    paste -d ' ' <(od -An -v -w24 -j $((72 + head)) -N $((24 * vertices)) -tf8 "$1") <(sed -n 's/^v //p' "$2") | awk '
        NF != 6 { print "no pair: " $0; exit }
        { for (k = 1; k < 4; k++) { d = $k - $(k + 3); if (d < 0) d = -d; if (d > most) most = d } }
        END { print most + 0 }'
}

# moves_alike LIMIT N ARGUMENTS...: after one frame positions differ by no more than the limit, in m.
moves_alike() {
    local limit=$1 count=$2
    shift 2
    "$drape" run "$@" --frames 1 -o alone.obj --quiet
    ranks "$count" run "$@" --frames 1 -o many.pc2 --checkpoint 1 --quiet
    at_most "$(motion many.pc2.ckpt alone_0001.obj)" "$limit"
}

linearised_steps_are_those_of_one_machine() {
    local n
    for n in 1 2 4; do
        moves_alike 1e-12 "$n" drooping --resolution 31 --integrator linearised-euler "${tight[@]}"
    done
}

the_default_integrator_is_the_same() {
    moves_alike 1e-12 3 drooping --resolution 31 --set integrator.newton.kind=newton --set integrator.newton.tolerance=1e-9
    moves_alike 1e-3 2 drooping --resolution 31
}

wind_pieces_and_pins_that_move() {
    moves_alike 1e-9 3 flag --resolution 25 --set contact.self=false --integrator linearised-euler "${tight[@]}"
    moves_alike 1e-9 3 hammock --resolution 15 --set contact.self=false --integrator linearised-euler "${tight[@]}"
    moves_alike 1e-9 2 curtain --resolution 25 --set contact.self=false --integrator linearised-euler "${tight[@]}"
}

runs_repeat_to_the_bit() {
    local i
    for i in 1 2; do ranks 3 run drooping --resolution 21 --frames 1 -o "again$i.pc2" --checkpoint 1 --quiet; done
    cmp again1.pc2 again2.pc2
    cmp again1.pc2.ckpt again2.pc2.ckpt
}

models_of_springs_too() {
    local model
    for model in choi_ko provot; do
        moves_alike 1e-8 3 drooping --resolution 21 --set "model=$model" --integrator linearised-euler "${tight[@]}"
    done
}

# A run that is cut off after two frames, here by asking for no more, goes on with another number of processes.
checkpoints_go_on_elsewhere() {
    local scene=(drooping --resolution 21 --set time.fps=100 --set integrator.newton.kind=newton
        --set integrator.newton.tolerance=1e-9)
    ranks 2 run "${scene[@]}" --frames 4 -o whole.pc2 --checkpoint 4 --quiet
    ranks 2 run "${scene[@]}" --frames 2 -o first.pc2 --checkpoint 2 --checkpoint-file state --quiet
    mv first.pc2 rest.pc2.unfinished
    cp state state.kept
    ranks 3 run "${scene[@]}" --frames 4 -o rest.pc2 --checkpoint 4 --checkpoint-file state --resume --quiet
    [ ! -e rest.pc2.unfinished ]
    [ "$(stat -c %s rest.pc2)" -eq $((32 + 5 * 12 * 441)) ]
    # Frames 1 and 2 are those of the first part; frame 4 differs by rounding of single precision at most.
    cmp <(head -c $((32 + 3 * 12 * 441)) whole.pc2) <(head -c $((32 + 3 * 12 * 441)) rest.pc2)
    ranks 1 run "${scene[@]}" --frames 4 --checkpoint 4 --checkpoint-file state.kept --resume --no-output --quiet
    at_most "$(differences <(tail -c +1 state | dd bs=8 skip=60 status=none) <(dd if=state.kept bs=8 skip=60 status=none))" 1e-7
}

damaged_checkpoints_are_refused() {
    local scene=(drooping --resolution 11 --set time.fps=100)
    ranks 2 run "${scene[@]}" --frames 1 -o a.pc2 --checkpoint 1 --quiet
    cp a.pc2.ckpt good
    printf 'x' | dd of=a.pc2.ckpt bs=1 seek=2000 conv=notrunc status=none
    touch a.pc2.unfinished
    rejects 2 'damaged' 2 run "${scene[@]}" --frames 2 -o a.pc2 --resume
    head -c 3000 good >a.pc2.ckpt
    rejects 2 'cut short' 3 run "${scene[@]}" --frames 2 -o a.pc2 --resume
    cp good a.pc2.ckpt
    rejects 2 'another scene' 2 run drooping --resolution 12 --set time.fps=100 --frames 2 -o a.pc2 --resume
}

frames_have_the_form_of_one_process() {
    local scene=(drooping --resolution 11 --set time.fps=100 --integrator linearised-euler "${tight[@]}")
    "$drape" run "${scene[@]}" --frames 2 -o alone.pc2 --quiet
    ranks 3 run "${scene[@]}" --frames 2 -o three.pc2 --quiet
    cmp -n 32 alone.pc2 three.pc2
    [ "$(stat -c %s alone.pc2)" -eq "$(stat -c %s three.pc2)" ]
    paste <(od -An -v -w4 -j 32 -tf4 alone.pc2) <(od -An -v -w4 -j 32 -tf4 three.pc2) | awk '
        { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-6) { print; exit 1 } }'
}

# Counted bytes of everything that drape has on a process, the products P'A P included: mesh, state, matrices. Two rings
# of copies are 7 % of the vertices here.
processes_hold_their_share() {
    local n bytes all
    for n in 1 4; do
        bytes=$(ranks "$n" run drooping --resolution 61 --integrator linearised-euler --frames 1 --no-output --json | number part_bytes)
        [ "$n" -eq 1 ] && all=$bytes
    done
    at_most "$bytes" $((all * 2 / 5))
}

# Regular grids are read by windows around the own vertices. Counted bytes of all that drape held until the scene was
# divided: the part itself is about half of it, and blocks of memory grow in doubles.
no_process_reads_the_mesh() {
    local n bytes all
    for n in 1 4 16; do
        bytes=$(ranks "$n" run hammock --resolution 81 --set contact.self=false --frames 0 --no-output --json | number load_bytes)
        [ "$n" -eq 1 ] && all=$bytes
        at_most "$bytes" $((n == 1 ? all : n == 4 ? all * 2 / 5 : all / 6))
    done
}

# Rows of irregular grids pass by, some 75 at a time.
no_process_reads_irregular_grids() {
    local n bytes all
    for n in 1 2 4 16; do
        bytes=$(ranks "$n" run drooping --irregular --resolution 301 --frames 0 --no-output --json | number load_bytes)
        [ "$n" -eq 1 ] && all=$bytes
        at_most "$bytes" $((n == 1 ? all : n == 16 ? all / 6 : all * 6 / 5 / n))
    done
}

irregular_grids_move_alike() {
    local n
    for n in 2 4; do
        moves_alike 1e-11 "$n" drooping --irregular --resolution 31 --integrator linearised-euler "${tight[@]}"
    done
}

# mesh_scene NAME FILE KEYS...: a mesh held at two corners, and what else its piece is to have.
mesh_scene() {
    local name=$1 file=$2
    shift 2
    {
        printf 'drape: 1\ncloth:\n  - mesh: %s\n' "$file"
        [ $# -eq 0 ] || printf '    %s\n' "$@"
        printf 'time: {step: 5 ms, fps: 50, duration: 0.1 s}\n'
    } >"$name"
}

# Files are read as streams, from which each process keeps what is around its own vertices.
no_process_reads_mesh_files() {
    local form n bytes all
    for form in obj ply; do
        "$drape" run drooping --irregular --resolution 151 --frames 0 -o "sheet.$form" --quiet
        mesh_scene sheet.yaml "sheet_0000.$form" 'pins: [{box: [[-1, -1, -1], [-0.499, 1, 1]]}]'
        for n in 1 2 4 16; do
            bytes=$(ranks "$n" run sheet.yaml --frames 0 --no-output --json | number load_bytes)
            [ "$n" -eq 1 ] && all=$bytes
            at_most "$bytes" $((n == 1 ? all : n == 16 ? all / 7 : all * 5 / 4 / n))
        done
    done
}

# Groups, numbers, boxes, places and units, with a pattern and without, polygons, several pieces and a grid.
parts_of_mesh_files_move_as_the_whole() {
    local n
    "$drape" run drooping --irregular --resolution 25 --frames 0 -o cloth.obj --quiet
    "$drape" run drooping --irregular --resolution 23 --frames 0 -o cloth.ply --quiet
    awk '/^f/ && ++n % 2 { a = $0; next } /^f/ && n == 40 { print "g middle" } /^f/ && n == 300 { print "g" }
        /^f/ { print a } { print }' cloth_0000.obj | sed 's/^o .*/o all/; /^vn/d; s|/[0-9]*$||; s|/[0-9]* | |g' >groups.obj
    awk 'BEGIN { for (j = 0; j < 14; j++) for (i = 0; i < 12; i++) print "v", 10 * i, 10 * j, 0
        for (j = 0; j < 13; j++) for (i = 0; i < 11; i++) print "f", 1 + i + 12 * j, 2 + i + 12 * j, i + 12 * j - 155, i + 12 * j - 156 }' >quads.obj
    cat >meshes.yaml <<'END'
drape: 1
cloth:
  - name: groups
    mesh: groups.obj
    pins: [{group: middle, directions: [[0, 0, 1]]}, {vertices: [0, 600, 624]}]
    loads: [{group: all, force: [0, 0, -0.0001]}]
  - name: quads
    mesh: quads.obj
    unit: cm
    up: y
    place: {rotate: [80, 0, 0], translate: [2, 0, 0]}
    pins: [{vertices: [0, 11]}]
  - name: grid
    grid: {width: 0.4 m, height: 0.3 m, resolution: 11}
    place: {translate: [8, 0, 0]}
    pins: [{where: left-edge}]
  - name: table
    mesh: cloth_0000.ply
    uv: false
    place: {translate: [4, 0, 0]}
    velocity: [0, 0, 1]
    pins: [{box: [[3, -1, -1], [3.501, 1, 1]]}]
END
    printf 'time: {step: 5 ms, fps: 50, duration: 0.1 s}\n' >>meshes.yaml
    for n in 1 2 5; do
        moves_alike 1e-9 $n meshes.yaml --jitter 0.0001 --integrator linearised-euler "${tight[@]}"
    done
}

# runs_the_same SCENE SCENE: frames and checkpoints of both have the same bytes.
runs_the_same() {
    local i=0 scene
    for scene; do ranks 3 run "$scene" --integrator linearised-euler --frames 1 --checkpoint 1 -o "same$((++i)).pc2" --quiet; done
    cmp same1.pc2 same2.pc2
    cmp same1.pc2.ckpt same2.pc2.ckpt
}

# A pin at the nearest vertex, or a word that drape does not know, and each process reads all of it.
parts_have_the_bits_of_the_whole() {
    local form
    for form in '' ', tube: true' ', cut: [0.5, 0.6]'; do
        printf 'drape: 1\ncloth:\n  - grid: {resolution: [27, 41], irregular: true%s}\n    pins: [{%s}]\n' "$form" 'vertices: [0]' >part.yaml
        sed 's/vertices: .0./nearest: [[-9, -9, 9]]/' part.yaml >whole.yaml
        [ "$form" != ', tube: true' ] || sed -i 's/-9, -9, 9/0, -9, -1/' whole.yaml
        runs_the_same part.yaml whole.yaml
    done
    "$drape" run drooping --irregular --resolution 31 --frames 0 -o same.obj --quiet
    { cat same_0000.obj && echo bevel on; } >odd.obj
    mesh_scene part.yaml same_0000.obj 'pins: [{vertices: [0, 30]}]'
    mesh_scene whole.yaml odd.obj 'pins: [{vertices: [0, 30]}]'
    runs_the_same part.yaml whole.yaml
    "$drape" run drooping --resolution 31 --frames 0 -o same.ply --quiet
    { cat same_0000.ply && echo; } >odd.ply
    mesh_scene part.yaml same_0000.ply 'pins: [{vertices: [0, 30]}]'
    mesh_scene whole.yaml odd.ply 'pins: [{vertices: [0, 30]}]'
    runs_the_same part.yaml whole.yaml
}

# says_the_same SCENE: what `drape run` says about it, with the same exit code.
says_the_same() {
    local alone many code=0 other=0
    alone=$("$drape" run "$1" -o x.pc2 2>&1) || code=$?
    many=$(ranks 3 run "$1" -o x.pc2 2>&1) || other=$?
    many=$(sed "/^---/,\$d" <<<"$many") # mpirun adds words of its own
    [ "$code" -eq 2 ] || fail "drape run says $code: $alone"
    [ "$other" -eq 2 ] || fail "exit code $other, not 2: $many"
    [ "$(grep -c '^drape: ' <<<"$many")" -eq 1 ] || fail "not one message: $many"
    [ "$alone" = "$many" ] || fail "not '$alone' but '$many'"
}

# Wherever in the file it is, and whichever process has it.
wrong_mesh_files_are_refused_as_by_one_process() {
    local wrong
    "$drape" run drooping --resolution 12 --frames 0 -o good.obj --quiet
    "$drape" run drooping --resolution 12 --frames 0 -o good.ply --quiet
    local pins='pins: [{vertices: [0]}]'
    for wrong in '140s/.*/v 1 2/' '20s/.*/v 1 nan 2/' '$s/.*/f 1 2 145/' '600s/.*/f 1\/1 2\/2 2\/2/' '400s/.*/vt x/' '500s/.*/f 0 1 2/' \
        '$a v 3 3 3' '/^f/d' '/^f 144/d;/^f.* 144/d' 's/^vt \(.*\) /vt 9\1 /' '$s/.*/f -1 2 -3 4 900/'; do
        sed "$wrong" good_0000.obj >wrong.obj
        mesh_scene wrong.yaml wrong.obj "$pins"
        says_the_same wrong.yaml
    done
    mesh_scene wrong.yaml good_0000.obj 'pins: [{group: none}]'
    says_the_same wrong.yaml
    mesh_scene wrong.yaml good_0000.obj 'pins: [{box: [[8, 8, 8], [9, 9, 9]]}]'
    rejects 2 'wrong.yaml:4:12: no vertex of the piece is there' 3 run wrong.yaml -o x.pc2
    mesh_scene wrong.yaml good_0000.obj 'pins: [{vertices: [144]}]'
    says_the_same wrong.yaml
    mesh_scene wrong.yaml no-such.obj "$pins"
    says_the_same wrong.yaml
    head -c 3000 good_0000.ply >wrong.ply
    mesh_scene wrong.yaml wrong.ply "$pins"
    says_the_same wrong.yaml
    printf '\377\377' | dd of=good_0000.ply bs=1 seek=$(($(stat -c %s good_0000.ply) - 5)) conv=notrunc status=none
    mesh_scene wrong.yaml good_0000.ply "$pins"
    says_the_same wrong.yaml
    ! ls x.pc2* 2>/dev/null || fail "something was left behind"
}

# Its vertices may be on another process.
pins_of_no_vertex_are_refused() {
    "$drape" scenes --show drooping | sed 's/where: .*right-edge\]/box: [[8, 8, 8], [9, 9, 9]]/' >nowhere.yaml
    rejects 2 'nowhere.yaml:8:9: no vertex of the piece is there' 3 run nowhere.yaml -o x.pc2
    ! ls x.pc2* 2>/dev/null || fail "something was left behind"
}

# Pins by number, by place and by box, loads, tubes, a cut and a bent grid, irregular ones, and a piece that is read as
# it is.
parts_of_all_shapes_move_as_the_whole() {
    cat >shapes.yaml <<'END'
drape: 1
cloth:
  - name: cut
    grid: {width: 1 m, height: 0.7 m, resolution: [23, 17], cut: [0.4, 0.6], diagonals: alternating}
    place: {rotate: [20, 10, 0], scale: 1.2}
    pins: [{vertices: [0, 5, 200], at: [[0.2, 1]]}, {box: [[-2, -2, -2], [2, -0.3, 2]], from: 0.01}, {where: bottom-left}]
    loads: [{where: center, force: [0, 0, -0.01]}]
  - name: tube
    grid: {width: 0.5 m, height: 0.9 m, resolution: 21, tube: true}
    place: {translate: [2, 0, 0]}
    pins: [{where: top-edge}]
  - name: curve
    grid: {width: 0.8 m, height: 0.3 m, resolution: 25, curve: [[0, 0, 0], [0.2, 0, 0.1], [0.4, 0, -0.1]]}
    place: {translate: [3, 0, 0]}
    pins: [{where: left-edge, move: {keys: [{time: 0 s, turn: [0, 0, 0]}, {time: 1 s, turn: [0, 0, 90]}]}}]
  - name: irregular
    grid: {width: 0.8 m, height: 0.3 m, resolution: 21, irregular: true}
    place: {translate: [5, 0, 0]}
    pins: [{where: [top-left, top-right]}]
  - name: irregular-cut
    grid: {width: 0.7 m, height: 0.9 m, resolution: 19, irregular: true, cut: [0.5, 0.4], curve: [[0, 0, 0], [0.2, 0, 0.1], [0.4, 0, -0.1]]}
    place: {translate: [6, 0, 0]}
    pins: [{vertices: [0, 5, 200]}]
  - name: irregular-tube
    grid: {width: 0.5 m, height: 0.9 m, resolution: 21, irregular: true, tube: true}
    place: {translate: [7, 0, 0]}
    pins: [{where: top-edge}]
  - name: whole
    grid: {width: 0.4 m, height: 0.3 m, resolution: 11, irregular: true}
    place: {translate: [8, 0, 0]}
    pins: [{nearest: [[8, 0, 0]]}]
time: {step: 5 ms, fps: 50, duration: 0.1 s}
END
    moves_alike 1e-9 5 shapes.yaml --jitter 0.0001 --integrator linearised-euler "${tight[@]}"
}

scenes_must_be_shared() {
    local said code=0
    mkdir -p here there
    "$drape" scenes --show drooping >here/sheet.yaml
    said=$(launch -n 1 --wdir "$PWD/here" "$mpi" run sheet.yaml --frames 1 -o x.pc2 : \
        -n 1 --wdir "$PWD/there" "$mpi" run sheet.yaml --frames 1 -o x.pc2 2>&1) || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code: $said"
    [ "$(grep -c '^drape: ' <<<"$said")" -eq 1 ] || fail "not one message: $said"
    ! ls here/x.pc2* there/x.pc2* 2>/dev/null || fail "something was left behind"
}

what_it_does_not_do_is_refused_by_name() {
    rejects 2 'contact of cloth with itself (contact.self)' 2 run flag -o x.pc2
    rejects 2 'contact with colliders' 2 run sphere -o x.pc2
    cat >limited.yaml <<'END'
drape: 1
model: provot
cloth:
  - {name: sheet, grid: {resolution: 11}, material: {fabric: cotton, strain_limit: 0.1}, pins: [{where: left-edge}]}
END
    rejects 2 'the strain limit (strain_limit) of sheet' 2 run limited.yaml -o x.pc2
    rejects 2 'the integrator rk4 is not supported' 2 run drooping --integrator rk4 -o x.pc2
    rejects 2 'mass: consistent' 2 run drooping --set integrator.mass=consistent -o x.pc2
    rejects 2 'solver.method bicgstab' 2 run drooping --set solver.method=bicgstab -o x.pc2
    rejects 2 'point cache' 2 run drooping --resolution 11 -o x.html
    rejects 2 'unknown scene' 2 run no-such-scene -o x.pc2
    rejects 2 'processes for 4 vertices' 6 run drooping --resolution 2 -o x.pc2
    rejects 2 'it must be a whole number from 2 to 8192' 2 run drooping --set cloth.0.grid.resolution=8193 -o x.pc2
    cat >large.yaml <<'END'
drape: 1
cloth: [{name: all, grid: {resolution: 8192}}, {name: more, grid: {resolution: 2}}]
END
    rejects 2 'the scene has more than 67108864 vertices' 2 run large.yaml -o x.pc2
    rejects 2 '-ksp_typo' 2 run drooping --resolution 11 -o x.pc2 -ksp_typo cg
    ! ls x.pc2* 2>/dev/null || fail "something was left behind"
}

# While it reads the scene, while it prepares the solver, and between.
a_process_without_memory_ends_all() {
    local most
    for most in 20 100 500 2000 8000 20000; do
        runs_out_of_memory "$most" run drooping --resolution 101 --frames 1 -o x.pc2 --quiet
        ! ls x.pc2* 2>/dev/null || fail "something was left behind"
    done
}

# One process is gone: all others end, with an exit code, and no file gets its name.
a_process_that_dies_ends_all() {
    local code=0
    ranks 2 run drooping --resolution 61 --frames 100000 -o died.pc2 --quiet 2>/dev/null &
    local all=$!
    until compgen -G 'died.pc2.part-*' >/dev/null; do
        kill -0 $all || fail "it ended before it began to write"
        sleep 0.1
    done
    kill -KILL "$(pgrep -P "$(pgrep -P $all -x mpirun || echo $all)" -x drape-mpi | tail -n 1)"
    wait $all || code=$?
    [ "$code" -ne 0 ] || fail "exit code 0"
    ! ls died.pc2* 2>/dev/null || fail "something was left behind"
}

for test in linearised_steps_are_those_of_one_machine the_default_integrator_is_the_same wind_pieces_and_pins_that_move \
    runs_repeat_to_the_bit models_of_springs_too checkpoints_go_on_elsewhere damaged_checkpoints_are_refused frames_have_the_form_of_one_process \
    processes_hold_their_share no_process_reads_the_mesh no_process_reads_irregular_grids irregular_grids_move_alike \
    no_process_reads_mesh_files parts_of_mesh_files_move_as_the_whole parts_have_the_bits_of_the_whole wrong_mesh_files_are_refused_as_by_one_process pins_of_no_vertex_are_refused parts_of_all_shapes_move_as_the_whole scenes_must_be_shared what_it_does_not_do_is_refused_by_name \
    a_process_without_memory_ends_all a_process_that_dies_ends_all; do
    run_test $test $test
done
finish_tests
