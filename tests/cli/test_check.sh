#!/usr/bin/env bash
# `drape check` from outside: exit codes, what is printed, JSON, and outside meshes recounted by a program of its own.
# shellcheck disable=SC2317,SC2059 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
root=$1
program=$2
shared=${DRAPE_SHARED_DATA:-/nonexistent}

# checks CODE ARGUMENT...: that exit code, output in $scratch/out, nothing on the error stream.
checks() {
    local wanted=$1 code=0
    shift
    "$program" check "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape check $*: $(cat "$scratch/out" "$scratch/err")"
    [ ! -s "$scratch/err" ] || fail "said: $(cat "$scratch/err")"
}

says() { grep -qF -- "$1" "$scratch/out" || fail "should have said '$1': $(cat "$scratch/out")"; }

square='v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n'

scenes_that_ship_are_good() {
    local name count=0
    for name in $("$program" scenes | awk '{print $1}'); do
        checks 0 "$name"
        tail -n 1 "$scratch/out" | grep -q '^good: ' || fail "$(cat "$scratch/out")"
        if head -n -1 "$scratch/out" | grep -v '^slowest vibrations, \|^    [a-z0-9-]*: stretch of '; then fail "$name"; fi
        count=$((count + 1))
    done
    [ "$count" -ge 9 ]
}

good_mesh() {
    printf "$square" >good.obj
    checks 0 good.obj
    [ "$(cat "$scratch/out")" = "good: 4 vertices, 2 triangles in 1 piece" ] || fail "$(cat "$scratch/out")"
}

warnings_give_1() {
    printf "$square"'v 0 0 0.5\nv 0 0.5 1\nf 1 5 6\n' >tie.obj
    checks 1 tie.obj
    says 'tie.obj: warning: 2 fans of triangles meet in vertex 0 and share nothing else [bow-tie-vertex]'
    says '    to do: split the vertex'
    says '1 warning; 6 vertices, 3 triangles in 1 piece'
}

errors_give_2() {
    printf "$square"'v 2 2 nan\nf 1 2 9\nf 1 1 2\n' >bad.obj
    checks 2 bad.obj
    says "bad.obj:7: error: 'nan' is not a finite number [not-finite]"
    says 'bad.obj:8: error: vertex 9 does not exist: the file has 5 [bad-line]'
    says 'bad.obj:9: error: vertex 1 appears twice in a triangle of this face [repeated-vertex]'
    says '3 errors; '
}

point_caches() {
    "$program" run drooping --resolution 5 --frames 2 --quiet -o a.pc2 -o a.mdd
    for cache in a.pc2 a.mdd; do
        checks 0 "$cache"
        [ "$(cat "$scratch/out")" = "good: 25 vertices, 3 frames" ] || fail "$(cat "$scratch/out")"
        head -c 300 "$cache" >"cut.${cache##*.}"
        checks 2 "cut.${cache##*.}"
        says '[bad-cache]'
    done
}

# Names of old systems: endings in large letters are known to all readers and writers alike.
large_letters() {
    "$program" run drooping --resolution 5 --frames 1 --quiet -o b.PC2 -o c.OBJ
    checks 0 b.PC2
    cp c_0001.obj c.OBJ
    checks 0 c.OBJ
}

# A scene that runs and still deserves a word.
warnings_of_scenes() {
    cat >odd.yaml <<'SCENE'
drape: 1
cloth:
  - name: sail
    grid: {width: 170, height: 60, resolution: 9}
    material: {density: 150}
time: {step: 40 ms, frames: 0}
SCENE
    checks 1 odd.yaml
    says 'odd.yaml:4:11: warning: it would be 170 m large [odd-size]'
    says 'these look like centimetres'
    says 'odd.yaml:5:15: warning: density is 150 kg/m^2; fabrics have 0.01 to 2 [odd-material]'
    "$program" run odd.yaml --quiet -o odd.ply
    checks 1 flag --resolution 201 --set 'time={fps: 1, step: 1 s, frames: 1}'
    says '[large-step]'
}

# Two pieces, each with its own findings, and the rest of the scene still read.
every_problem_of_a_scene() {
    printf "$square"'v 9 9 9\n' >loose.obj
    printf "$square"'v 0.5 0.5 1\nf 3 1 5\n' >three.obj
    cat >scene.yaml <<'SCENE'
drape: 1
cloth:
  - {name: front, mesh: loose.obj}
  - {name: back, mesh: three.obj, pins: [{box: [[5, 5, 5], [6, 6, 6]]}]}
time: {stepp: 1 ms}
SCENE
    checks 2 scene.yaml
    says 'scene.yaml:3:25: error: loose.obj: vertex 4 belongs to no triangle [unreferenced-vertex]'
    says 'scene.yaml:4:24: error: three.obj: the edge from vertex 0 to 2 belongs to 3 triangles (0, 1, 2) [non-manifold-edge]'
    says 'scene.yaml:4:42: error: no vertex of the piece is there; move or enlarge the region: the piece lies in [[0, 0, 0], [1, 1, 1]] [bad-pin]'
    says 'scene.yaml:5:8: error: unknown key "stepp"; did you mean "step"? [bad-time]'
    says '4 errors; '
}

many_are_summed_up() {
    {
        printf "$square"
        for i in 1 2 3 4 5 6 7 8; do echo "v $i 2 2"; done
    } >loose.obj
    checks 2 loose.obj
    [ "$(grep -c 'belongs to no triangle' "$scratch/out")" -eq 5 ]
    says '3 more of this kind, 8 in all [unreferenced-vertex]'
    checks 2 loose.obj --all
    [ "$(grep -c 'belongs to no triangle' "$scratch/out")" -eq 8 ]
    says '8 errors; '
}

json_holds_everything() {
    printf "$square"'v 0.5 0.5 1\nf 3 1 5\n' >three.obj
    checks 2 three.obj --json
    python3 - "$scratch/out" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
assert (r["file"], r["errors"], r["warnings"], r["vertices"], r["triangles"]) == ("three.obj", 1, 0, 5, 3), r
f, = r["findings"]
assert f["severity"] == "error" and f["code"] == "non-manifold-edge" and f["file"] == "three.obj", f
assert f["vertices"] == [0, 2] and f["triangles"] == [0, 1, 2] and f["count"] == 1, f
assert f["line"] is None and f["column"] is None and f["piece"] is None and f["message"] and f["advice"], f
PYTHON
    printf 'drape: 1\ncloth:\n  - {name: "n\\"a", grid: {width: 0 m}}\n' >scene.yaml
    checks 2 scene.yaml --json
    python3 -c 'import json, sys
f, = json.load(open(sys.argv[1]))["findings"]
assert (f["line"], f["column"], f["code"]) == (3, 34, "bad-cloth"), f' "$scratch/out"
    checks 0 flag --json
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["findings"] == []' "$scratch/out"
}

# Numbers by hand: w = pi/2 sqrt(800/0.2)/2 and 3.516 sqrt(8e-5/0.2)/0.1^2; backward Euler adds ln(1 + (w h)^2)/(2 w h).
vibrations_are_told() {
    cat >strip.yaml <<'SCENE'
drape: 1
cloth:
  - name: strip
    grid: {width: 2 m, height: 1 m, resolution: 5}
    material:
      {density: 0.2, stretch: 800, shear: 0.0, bend: 8e-5, damping: {stretch: {ratio: 4 %, length: 1 m}, bend: {ratio: 3 %}}}
  - {name: weighed, grid: {width: 1 m, resolution: 3}, mass: 1 g}
  - {name: strip-2, grid: {width: 10 cm, resolution: 3}}
time: {step: 10 ms}
integrator: implicit-euler
SCENE
    checks 1 strip.yaml # shear is odd
    says 'slowest vibrations, damping ratio by the fabric + by the integrator at steps of 0.01 s:'
    says '    strip: stretch of 2 m 7.91 Hz, 2 + 22 %; bend of 0.1 m 1.12 Hz, 3 + 3.5 %'
    [ "$(grep -cE '^    strip(-2)?: stretch of ' "$scratch/out")" -eq 2 ] || fail "$(cat "$scratch/out")"
    if grep -q 'weighed: ' "$scratch/out"; then fail "$(cat "$scratch/out")"; fi
    tail -n 1 "$scratch/out" | grep -q '^1 warning; ' || fail "$(cat "$scratch/out")"
    checks 1 strip.yaml --json
    python3 - "$scratch/out" <<'PYTHON'
import json, math, sys
r = json.load(open(sys.argv[1]))
assert [(v["piece"], v["vibration"]) for v in r["vibrations"]] == [("strip", "stretch"), ("strip", "bend"),
    ("strip-2", "stretch"), ("strip-2", "shear"), ("strip-2", "bend")], r
v = r["vibrations"][0]
w = math.pi / 2 * math.sqrt(800 / 0.2) / 2
z = 0.01 * w
assert v["length"] == 2 and abs(v["frequency"] - w) < 1e-9 and abs(v["fabric"] - 0.02) < 1e-12, v
assert abs(v["integrator"] - math.log(1 + z * z) / (2 * z)) < 1e-9, v
PYTHON
    checks 2 strip.yaml --set cloth.weighed.grid.width=0 --json
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["vibrations"] == []' "$scratch/out"
}

# What cannot be looked at at all is one line on the error stream.
nothing_to_look_at() {
    local name
    for name in none.obj none.ply none.yaml none; do
        if "$program" check "$name" >"$scratch/out" 2>"$scratch/err"; then fail "$name"; fi
        [ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -q "^drape: .*none" "$scratch/err"
    done
}

# Every code that is printed anywhere in the source is explained, and the other way round.
codes_are_documented() {
    local documented used
    # shellcheck disable=SC2016
    documented=$(sed '/^## JSON/,$d' "$root/docs/doctor.md" | sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' | sort)
    used=$(cat "$root"/src/io/doctor*.c "$root"/src/io/scene_*.c "$root"/src/io/{yaml,obj_read,ply_read}.c |
        grep -E 'code|DRAPE_SEVERITY|at_start|begin_part|go_on' |
        grep -oE '"(bad|uv|odd|not|thin|flipped|bow-tie|duplicate|degenerate|non-manifold|unreferenced|repeated|large|unstable|starts|too|fast|pins|pin-in|self-crossing)-[a-z-]+"|"noted"|"refused"' |
        tr -d '"' | sort -u)
    [ "$documented" = "$used" ] || fail "$(diff <(echo "$documented") <(echo "$used"))"
}

# Outside meshes: read or refused, and the findings are those that another program counts.
outside_meshes_are_recounted() {
    local file count=0 code
    [ -d "$shared/obj" ] || skip "no $shared/obj"
    while IFS= read -r file; do
        code=0
        "$program" check --json "$file" >"$scratch/out" 2>"$scratch/err" || code=$?
        if [ "$code" -gt 2 ] || [ -s "$scratch/err" ]; then fail "$file: $code: $(cat "$scratch/err")"; fi
        python3 "$root/tests/support/recount_mesh.py" "$file" <"$scratch/out" || fail "$file"
        count=$((count + 1))
    done < <(find "$shared/obj" "$shared/garments" -name '*.obj' -o -name '*.ply')
    [ "$count" -ge 50 ] || fail "only $count"
}

in_folder() {
    mkdir "$scratch/$1"
    cd "$scratch/$1"
    "$1"
}

for test in scenes_that_ship_are_good good_mesh warnings_give_1 errors_give_2 point_caches large_letters \
    warnings_of_scenes every_problem_of_a_scene many_are_summed_up json_holds_everything vibrations_are_told nothing_to_look_at codes_are_documented \
    outside_meshes_are_recounted; do
    run_test "$test" in_folder "$test"
done
finish_tests
