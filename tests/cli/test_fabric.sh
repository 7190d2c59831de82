#!/usr/bin/env bash
# drape fabric fit: a material block from measurements, which a scene takes; bad files are named by their lines.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
root=$1 program=$2

# drape CODE ARGUMENT...: must exit with that code
drape() {
    local want=$1 code=0
    shift
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code, not $want: drape $*: $(cat "$scratch/out" "$scratch/err")"
}

says() { grep -qF -- "$1" "$scratch/out" "$scratch/err" || fail "no \"$1\" in: $(cat "$scratch/out" "$scratch/err")"; }

# Lines of a file that has known answers: B = w g c^3, a straight tensile line, G = 100 N/m.
exact() {
    cat <<'EOF'
test,direction,x,y
weight,,150                  # g/m^2
cantilever,warp,20
cantilever,weft,16
cantilever,bias,18
tensile,warp,1,50
tensile,warp,2,100
tensile,weft,1,40
tensile,weft,3,120
shear,,2,3.487823687206265
shear,,8,13.78186779085
EOF
}

numbers_are_those_of_the_formulas() {
    exact >"$scratch/exact.csv"
    drape 0 fabric fit "$scratch/exact.csv"
    says 'density: 0.15 kg/m^2'
    says 'stretch: [5000 N/m, 4000 N/m]'
    says 'shear: 100 N/m'
    python3 - "$scratch/out" <<'EOF'
import re, sys
text = open(sys.argv[1]).read()
warp, weft, twist = (float(n) for n in re.search(r'bend: \[(.*?)\]', text).group(1).split(','))
B = [0.15 * 9.81 * c ** 3 for c in (0.020, 0.016, 0.018)]
want = B[0], B[1], 1 / (2 / B[2] - (1 / B[0] + 1 / B[1]) / 2)
assert all(abs(a / b - 1) < 1e-3 for a, b in zip((warp, weft, twist), want)), (warp, weft, twist, want)
EOF
}

residual_grows_with_scatter() {
    printf 'tensile,warp,1,50\ntensile,warp,2,100\n' >"$scratch/straight.csv"
    printf 'tensile,warp,1,30\ntensile,warp,2,110\n' >"$scratch/curved.csv"
    drape 0 fabric fit "$scratch/straight.csv"
    says 'residual 0 %'
    drape 0 fabric fit "$scratch/curved.csv"
    says 'stretch: 5000 N/m'
    says 'residual 20 %'
}

# Points of tensions with k = 400 and 300 N/m, K = 9000 and 5000 N/m and knees at 3 and 5 %, and of shear with 30 and
# 400 N/m and a knee at sin 30 degrees.
curved() {
    python3 - <<'EOF'
from math import cos, radians, sin
def tension(C, k, K, e):
    ramp = lambda z: max(z, 0) ** 2
    return k * C + (K - k) * (ramp(C - e / 2) - ramp(C - 1.5 * e)) / (2 * e)
for name, k, K, e in ("warp", 400, 9000, 0.03), ("weft", 300, 5000, 0.05):
    for percent in range(1, 13): print("tensile,%s,%d,%.17g" % (name, percent, tension(percent / 100, k, K, e)))
for angle in range(4, 44, 3):
    print("shear,,%d,%.17g" % (angle, tension(sin(radians(angle)), 30, 400, 0.5) * cos(radians(angle))))
EOF
}

curves_become_fabrics_that_stiffen() {
    curved >"$scratch/curved.csv"
    drape 0 fabric fit "$scratch/curved.csv" -o "$scratch/block.yaml"
    python3 - "$scratch/block.yaml" <<'EOF'
import re, sys
text = re.sub("#.*", "", open(sys.argv[1]).read())
value = {key: [float(n) for n in re.findall(r"[-\d.e+]+", rest)] for key, rest in re.findall(r"(\w+): (.*)", text)}
want = {"stretch": (400, 300), "stretch_stiff": (9000, 5000), "stretch_knee": (3, 5), "shear": (30,),
        "shear_stiff": (400,), "shear_knee": (0.5,)}
for key, numbers in want.items():
    assert len(value[key]) == len(numbers), (key, value[key])
    assert all(abs(got / n - 1) < 0.03 for got, n in zip(value[key], numbers)), (key, value[key])
EOF
    printf 'tensile,warp,1,6\ntensile,warp,2,14\ntensile,warp,4,110\ntensile,warp,6,290\n' >"$scratch/page.csv"
    drape 0 fabric fit "$scratch/page.csv"
    grep -F 'give 550.7 N/m, 9225 N/m and a knee at 3.037 %' "$root/docs/fabrics.md" >/dev/null || fail 'the page has other numbers'
    says 'stretch: 550.7 N/m'
    says 'stretch_stiff: 9225 N/m'
    says 'stretch_knee: 3.037 %'
}

a_scene_takes_the_block() {
    exact >"$scratch/exact.csv"
    drape 0 fabric fit "$scratch/exact.csv" --fabric silk -o "$scratch/block.yaml"
    [ ! -s "$scratch/out" ] || fail "more than the file was written"
    {
        printf 'drape: 1\ncloth:\n  - grid: {width: 1 m, resolution: 5}\n'
        sed 's/^/    /' "$scratch/block.yaml"
        printf 'bending: patch\n'
    } >"$scratch/scene.yaml"
    drape 0 run "$scratch/scene.yaml" --frames 1 --no-output
    curved >"$scratch/curved.csv"
    drape 0 fabric fit "$scratch/curved.csv" -o "$scratch/block.yaml"
    {
        printf 'drape: 1\ncloth:\n  - grid: {width: 1 m, resolution: 5}\n'
        sed 's/^/    /' "$scratch/block.yaml"
    } >"$scratch/scene.yaml"
    drape 0 run "$scratch/scene.yaml" --frames 1 --no-output
}

# refuses MESSAGE LINE...: a file of these lines
refuses() {
    local message=$1
    shift
    printf '%s\n' "$@" >"$scratch/bad.csv"
    drape 2 fabric fit "$scratch/bad.csv" -o "$scratch/never.yaml"
    says "$message"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$(cat "$scratch/err")"
    [ ! -e "$scratch/never.yaml" ] || fail "a file was written"
}

bad_files_are_refused() {
    refuses 'bad.csv:1: the test is none of' 'stiffness,,3'
    refuses 'bad.csv:2: the direction is none of' 'weight,,150' 'cantilever,up,3'
    refuses 'bad.csv:1: x is not a number above 0' 'weight,,heavy'
    refuses 'bad.csv:1: x is not a number above 0' 'weight,,nan'
    refuses 'bad.csv:1: y is not a number above 0' 'tensile,warp,3'
    refuses 'bad.csv:1: this test has no y' 'weight,,3,4'
    refuses 'bad.csv:1: this test has no direction' 'weight,warp,3'
    refuses 'bad.csv:1: there are more than four fields' 'weight,,3,,5'
    refuses 'bad.csv:1: the line is too long' "weight,,$(printf '1%.0s' {1..600})"
    refuses 'bad.csv:1: tensile tests go along warp or weft' 'tensile,bias,3,4'
    refuses 'a cantilever needs a weight' 'cantilever,warp,20'
    refuses 'cantilevers need one along the warp' 'weight,,100' 'cantilever,weft,20'
    refuses 'there is no measurement' '# nothing'
    refuses 'is too stiff for those of warp and weft' 'weight,,100' 'cantilever,warp,20' 'cantilever,weft,20' \
        'cantilever,bias,40'
    drape 2 fabric fit "$scratch/none.csv"
    says 'cannot open the file'
    drape 2 fabric fit
    drape 2 fabric guess x.csv
}

for test in numbers_are_those_of_the_formulas residual_grows_with_scatter curves_become_fabrics_that_stiffen a_scene_takes_the_block bad_files_are_refused; do run_test "$test" "$test"; done
finish_tests
