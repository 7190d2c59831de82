#!/usr/bin/env bash
# `drape check-frames` from outside: counts, exit codes, JSON, the same in every format, bad input.
# shellcheck disable=SC2317,SC2059 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2

# checks CODE ARGUMENT...: that exit code, output in $scratch/out, nothing on the error stream.
checks() {
    local wanted=$1 code=0
    shift
    "$program" check-frames "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $*: $(cat "$scratch/out" "$scratch/err")"
    [ ! -s "$scratch/err" ] || fail "said: $(cat "$scratch/err")"
}

# refuses WORDS ARGUMENT...: exit code 2, and a line with these words on the error stream.
refuses() {
    local words=$1 code=0
    shift
    "$program" check-frames "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code: $*: $(cat "$scratch/out" "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line: $(cat "$scratch/err")"
    grep -qF -- "$words" "$scratch/err" || fail "should have said '$words': $(cat "$scratch/err")"
}

says() { grep -qF -- "$1" "$scratch/out" || fail "should have said '$1': $(cat "$scratch/out")"; }

# A key of the JSON object that was printed: an expression of Python about `o`.
json() { python3 -c 'import json, sys; o = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/out" "$1"; }
json_is() { [ "$(json "$1")" = "$2" ] || fail "$1 is $(json "$1"), not $2"; }

# A square in the plane z = 0, and a triangle that stands in its middle, through it from $1 to $2.
standing() {
    printf 'v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nf 1 2 3\nf 1 3 4\n'
    printf "v 2 1 $1\nv 3 1 $1\nv 2.5 1.25 $2\nf 5 6 7\n"
}

counts_in_words() {
    standing 1 2 >s_0000.obj
    standing -1 2 >s_0001.obj
    standing 0 2 >s_0002.obj
    checks 1 s.obj
    says '       1          2          1          0   edge 4-6 through triangle 0, edge 5-6 through triangle 0, triangle 0 through triangle 2'
    says '3 frames of 7 vertices and 3 triangles: crossings in 1 of them, the first in frame 1; touches in 1'
    says 'in all: 2 edges through triangles, 1 pair of triangles, 3 touches'
    [ "$(wc -l <"$scratch/out")" -eq 4 ] || fail "$(cat "$scratch/out")"
    checks 1 s.obj --all
    says '       2          0          0          3'
    says '            edge 4-5 on triangle 0'
    checks 0 s_0000.obj
    [ "$(cat "$scratch/out")" = "1 frame of 7 vertices and 3 triangles: no crossings" ] || fail "$(cat "$scratch/out")"
    checks 0 s_0002.obj # touching is no crossing
    says 'no crossings; touches in 1'
}

counts_as_json() {
    checks 1 s.obj --json
    json_is 'o["file"], o["frame_count"], o["error"]' "('s.obj', 3, None)"
    json_is 'o["bodies"]' "[{'name': 'the cloth', 'vertices': 7, 'triangles': 3}]"
    json_is 'o["frames_with_crossings"], o["frames_with_touches"]' "(1, 1)"
    json_is '[f["frame"] for f in o["frames"]]' "[0, 1, 2]"
    json_is 'o["frames"][1]["self"]' "{'edges': 2, 'triangles': 1, 'touches': 0}"
    json_is 'o["frames"][1]["crossings"][0]' "{'kind': 'edge', 'body': [0, 0], 'edge': [4, 6], 'triangle': [2, 0]}"
    json_is 'o["frames"][1]["crossings"][2]' "{'kind': 'triangles', 'body': [0, 0], 'edge': None, 'triangle': [0, 2]}"
    json_is 'o["self"], o["others"]["edges"]' "({'edges': 2, 'triangles': 1, 'touches': 3}, 0)"
    checks 0 s_0000.obj --json
    json_is 'o["frames"][0]["crossings"]' "[]"
}

# A run that crosses itself: the same counts in all formats, with and without its scene.
every_format_gives_the_same() {
    local run=(curtain --resolution 15 --set time.duration=2.6s --set contact.self=false) file first=
    "$program" run "${run[@]}" --quiet -o c.obj -o c.ply -o c.pc2 -o c.mdd
    for file in c.obj c.ply c.pc2 c.mdd; do
        checks 1 "$file"
        says 'vertices and'
        if [ -z "$first" ]; then
            first=$(cat "$scratch/out")
            [ "$(wc -l <"$scratch/out")" -gt 5 ] || fail "$first"
        fi
        [ "$(cat "$scratch/out")" = "$first" ] || fail "$file: $(cat "$scratch/out")"
        checks 1 "$file" --scene "${run[@]}"
        [ "$(cat "$scratch/out")" = "$first" ] || fail "$file with its scene: $(cat "$scratch/out")"
    done
    checks 1 c.pc2 --mesh c_0003.ply --threads 1 --json
    cp "$scratch/out" one
    checks 1 c.pc2 --mesh c_0003.ply --threads 5 --json
    cmp one "$scratch/out"
    mv c_rest.obj away.obj
    refuses 'holds only positions; name the scene (--scene) or a mesh file (--mesh)' c.mdd
    checks 1 c.mdd --scene "${run[@]}"
    [ "$(cat "$scratch/out")" = "$first" ] || fail "$(cat "$scratch/out")"
    refuses "but the cloth of curtain has" c.mdd --scene curtain
    refuses "but the cloth of curtain has" c.obj --scene curtain --resolution 40
    refuses "triangle 0 differs" c.obj --scene curtain --resolution 15 --irregular
}

# Meshes in the file behind the cloth of the scene: tested against it, not against each other or themselves.
other_meshes() {
    cat >sheet.yaml <<'YAML'
drape: 1
cloth:
  - {mesh: sheet_mesh.obj, uv: false}
YAML
    printf 'v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nf 1 2 3\nf 1 3 4\n' >sheet_mesh.obj
    { standing -1 2; printf 'v 2 1 1\nv 3 1 1\nv 2.5 1 1.5\nf 8 9 10\nv 2.5 0 1.25\nv 2.5 3 1.25\nv 2.5 3 2\nf 11 12 13\n'; } >o_0000.obj
    checks 1 o.obj --scene sheet.yaml
    says 'with other meshes: edges, triangles, touches'
    says 'edge 0-2 of the other meshes through triangle 0'
    says '1 frame of 4 vertices and 2 triangles'
    says 'in all: 0 edges through triangles, 0 pairs of triangles, 0 touches; with other meshes: 2 edges through triangles, 1 pair'
    checks 1 o.obj # without the scene all is cloth
    says '1 frame of 13 vertices and 5 triangles'
    if grep -qF 'in all: 2 edges' "$scratch/out"; then fail "the others were not tested: $(cat "$scratch/out")"; fi
    checks 1 o.obj --scene sheet.yaml --json
    json_is 'o["others"]["edges"], o["self"]["edges"]' "(2, 0)"
    json_is 'o["bodies"][1]' "{'name': 'the other meshes', 'vertices': 9, 'triangles': 3}"
    json_is 'o["frames"][0]["crossings"][0]["body"]' "[1, 0]"
    { standing -1 2; printf 'f 1 2 6\n'; } >mixed.obj
    refuses 'triangle 3 belongs neither to the cloth alone nor to the meshes after it' mixed.obj --scene sheet.yaml
}

# Colliders of the scene, where they are at the time of each frame: a box that comes through in frame 1, a floor that is
# above the sheet in frame 2.
colliders() {
    local frame
    cat >objects.yaml <<'YAML'
drape: 1
cloth:
  - {mesh: sheet_mesh.obj, uv: false}
colliders:
  - name: box
    shape: box
    size: [1, 1, 1]
    place: {translate: [2, 1, 5]}
    move: {keys: [{time: 0}, {time: 40 ms, offset: [0, 0, -5]}, {time: 80 ms}]}
  - name: floor
    shape: plane
    place: {translate: [0, 0, -1]}
    move: {keys: [{time: 60 ms}, {time: 80 ms, offset: [0, 0, 2]}]}
time: {fps: 25}
YAML
    for frame in 0 1 2; do cp sheet_mesh.obj "k_000$frame.obj"; done
    checks 1 k.obj --scene objects.yaml --json
    json_is 'o["bodies"]' "[{'name': 'the cloth', 'vertices': 4, 'triangles': 2}, {'name': 'box', 'vertices': 8, 'triangles': 12}]"
    json_is '[f["others"]["edges"] > 0 for f in o["frames"]]' "[False, True, False]"
    json_is '[f["below"] for f in o["frames"]], o["below"], o["frames_with_crossings"]' "([0, 0, 4], 4, 2)"
    checks 1 k.obj --scene objects.yaml
    says 'below planes'
    says 'of box'
    checks 0 k_0000.obj --scene objects.yaml
    # The colliders that a run writes behind the cloth are those of the scene: they count once.
    "$program" run drop-horizontal --resolution 7 --frames 6 --quiet -o d.obj -o d.pc2
    "$program" run drop-horizontal --resolution 7 --frames 6 --quiet --no-colliders -o bare.obj
    [ "$(grep -c '^v ' bare_0000.obj)" -eq 49 ] && [ "$(grep -c '^v ' d_0000.obj)" -eq 65 ]
    for file in d.obj d.pc2 bare.obj; do
        "$program" check-frames "$file" --scene drop-horizontal --resolution 7 --json >"$file.json" || true
        sed -i '1d' "$file.json"
    done
    grep -q '"name": "box", "vertices": 16' d.obj.json
    cmp d.obj.json bare.obj.json
}

bad_input() {
    refuses 'no frames given'
    refuses 'unknown option --scen' s.obj --scen flag
    refuses 'none.obj: neither this file nor a sequence none_0000.obj, ... exists' none.obj
    refuses 'can be written but not read' a.glb
    refuses 'not a known format for frames' a.txt
    refuses 'unknown scene "nix"' s.obj --scene nix
    { standing 1 2; printf 'f 1 2 99\n'; } >b.obj
    refuses 'b.obj:11: vertex 99' b.obj
    standing 1 2 >t_0000.obj
    standing 1 inf >t_0001.obj
    refuses "t_0001.obj:9: 'inf' is not a finite number" t.obj
    standing 1 1e200 >t_0001.obj
    refuses 't.obj: frame 1: vertex 6 is too far away: its z is 1e+200' t.obj
    # JSON is whole all the same.
    refuses 't.obj: frame 1: vertex 6' t.obj --json
    json_is 'len(o["frames"]), "vertex 6" in o["error"]' "(1, True)"
    rm t_0001.obj
    standing 1 2 >t_0003.obj
    standing 1 2 >t_0004.obj
    refuses 'frame 3 is followed by 4' t.obj
}

not_finite_in_a_cache() {
    "$program" run drooping --resolution 3 --frames 2 --quiet -o n.pc2
    # 32 bytes of head; frame 1, vertex 4, y
    printf '\0\0\300\177' | dd of=n.pc2 bs=1 seek=$((32 + 12 * (9 + 4) + 4)) conv=notrunc status=none
    refuses 'n.pc2: frame 1: vertex 4 is not finite' n.pc2
}

cd "$scratch" || exit
for test in counts_in_words counts_as_json every_format_gives_the_same other_meshes colliders bad_input not_finite_in_a_cache; do
    run_test $test $test
done
finish_tests
