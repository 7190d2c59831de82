#!/usr/bin/env bash
# drape dress: moves cloth out of a body, and shows what it cannot clear. The scene character, where its files are at
# hand: it runs without a crossing, at every resolution nothing crosses at the start, and a body that jumps is named.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2

# drape CODE ARGUMENT...: must exit with that code
drape() {
    local want=$1 code=0
    shift
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code, not $want: drape $*: $(cat "$scratch/out" "$scratch/err")"
}

fresh_folder() {
    rm -rf "$scratch/here"
    mkdir "$scratch/here"
    cd "$scratch/here"
}

# cube: a body of 20 cm on the origin, its top at 10 cm.
cube() {
    for z in -0.1 0.1; do for y in -0.1 0.1; do for x in -0.1 0.1; do echo "v $x $y $z"; done; done; done
    printf 'f %s\n' "1 3 4 2" "5 6 8 7" "1 2 6 5" "2 4 8 6" "4 3 7 8" "3 1 5 7"
}

# scene HEIGHT: a sheet across the cube at this height.
scene() {
    cat <<YAML
drape: 1
cloth: [{name: sheet, grid: {width: 30 cm, resolution: 9}, place: {translate: [0, 0, $1 cm]}}]
colliders: [{name: cube, mesh: cube.obj, thickness: 1 mm}]
contact: {self: true}
time: {step: 4 ms, frames: 2}
YAML
}

cloth_is_moved_out() {
    fresh_folder
    cube >cube.obj
    scene 9.6 >in.yaml
    drape 2 check in.yaml
    drape 0 dress in.yaml --rest 0.2
    grep -q '^clear of bodies that were 0.01 m thinner' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ "$(ls)" = "cube.obj
in.yaml
in_dressed_0000.obj" ] || fail "$(ls)"
    { cat in.yaml && echo 'start: {file: in_dressed.obj}'; } >out.yaml
    drape 0 run out.yaml --quiet -o out.pc2
    drape 0 check-frames out.pc2 --scene out.yaml
}

cloth_that_is_clear_comes_to_rest() {
    fresh_folder
    cube >cube.obj
    scene 10.3 >above.yaml
    drape 0 dress above.yaml --rest 0.1 -o rest.ply
    grep -q '^clear from the start' "$scratch/out" || fail "$(cat "$scratch/out")"
    [ -s rest_0000.ply ] || fail "$(ls)"
}

what_cannot_be_cleared_is_shown() {
    fresh_folder
    cube >cube.obj
    scene 5 >deep.yaml
    drape 2 dress deep.yaml --depth 0.01
    grep -q 'even with bodies that are 0.01 m thinner, the cloth cannot be cleared: .*cube.*red in deep_dress.png' "$scratch/err" ||
        fail "$(cat "$scratch/err")"
    [ "$(ls)" = "cube.obj
deep.yaml
deep_dress.png" ] || fail "$(ls)"
    [ "$(head -c 4 deep_dress.png | tail -c 3)" = PNG ]
    drape 2 dress
    drape 2 dress deep.yaml --depth 0
    drape 2 dress deep.yaml -o deep.txt
}

# character_files: a folder with them, or the test is skipped.
character_files() {
    local data=${DRAPE_SHARED_DATA:-/nowhere}/character
    [ -r "$data/body.obj" ] && [ -r "$data/walk.pc2.gz" ] || skip "outside data character is not here"
    fresh_folder
    cp "$data"/{body,trousers_coarse,tshirt_coarse}.obj .
    gunzip -c "$data/walk.pc2.gz" >walk.pc2
}

character_walks_without_crossings() {
    character_files
    drape 0 run character --data . --frames 6 --quiet --threads 1 -o one.pc2 -o one.glb -o one.usda -o one.html
    drape 0 check-frames one.pc2 --scene character --data .
    grep -q '252 frames\|7 frames' "$scratch/out" || fail "$(cat "$scratch/out")"
    DRAPE_DATA=. drape 0 run character --frames 6 --quiet --threads 2 -o two.pc2
    cmp one.pc2 two.pc2
    grep -q 'def Mesh "body"' one.usda || fail "no body in the .usda"
}

character_can_be_refined() {
    character_files
    for size in "12mm 8mm 0.8mm 20711" "4.8mm 4.8mm 0.5mm 86637"; do
        read -r trousers tshirt thickness vertices <<<"$size"
        drape 0 check character --data . --set cloth.trousers.resolution="$trousers" --set cloth.tshirt.resolution="$tshirt" \
            --set cloth.trousers.thickness="$thickness" --set cloth.tshirt.thickness="$thickness"
        grep -q "^good: $vertices vertices" "$scratch/out" || fail "$(cat "$scratch/out")"
    done
}

# Moves vertex 7 of the walk by half a metre in the frames from $1 to before $2.
move_a_vertex() {
    python3 - "$1" "$2" <<'PYTHON'
import struct, sys
data = bytearray(open("walk.pc2", "rb").read())
n, = struct.unpack_from("<i", data, 16)
for frame in range(int(sys.argv[1]), int(sys.argv[2])):
    at = 32 + 12 * (n * frame + 7)
    x, = struct.unpack_from("<f", data, at)
    struct.pack_into("<f", data, at, x + 0.5)
open("walk.pc2", "wb").write(data)
PYTHON
}

a_body_that_jumps_is_named() {
    character_files
    move_a_vertex 100 252
    drape 2 check character --data .
    grep -q "the collider 'body' jumps: its vertex 7 moves 0\.[45][0-9]* m from frame 99 to 100" "$scratch/out" || fail "$(cat "$scratch/out")"
}

one_frame_out_of_place_is_named() {
    character_files
    move_a_vertex 100 101
    drape 2 check character --data .
    grep -q "the collider 'body' jumps and returns: its vertex 7 moves 0\.[45][0-9]* m from frame 99 to 100" "$scratch/out" || fail "$(cat "$scratch/out")"
}

without_files_the_stand_in_runs() {
    fresh_folder
    drape 0 run character --frames 0 --no-output
    grep -q '^the files of character are not at hand (--data FOLDER), so walk takes its place' "$scratch/out" || fail "$(cat "$scratch/out")"
    drape 2 run character --data nowhere --frames 0 --no-output
}

for test in cloth_is_moved_out cloth_that_is_clear_comes_to_rest what_cannot_be_cleared_is_shown character_walks_without_crossings \
    character_can_be_refined a_body_that_jumps_is_named one_frame_out_of_place_is_named without_files_the_stand_in_runs; do
    run_test "$test" "$test"
done
finish_tests
