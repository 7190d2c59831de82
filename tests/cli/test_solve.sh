#!/usr/bin/env bash
# drape solve from outside. Every method solves system files and Matrix Market files, and x is checked against the file.
# Then what it prints and writes, and what it refuses, in one line, with nothing written.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2
shared=${DRAPE_SHARED_DATA:-/nonexistent}/matrices
unset DRAPE_SIMD

# Each test works in a folder of its own, so that what is written can be listed.
in_folder() {
    local folder
    folder=$(mktemp -d "$scratch/folder-XXXXXX")
    cd "$folder" || return
    "$@"
}
check() { run_test "$1" in_folder "$@"; }

# solve CODE ARGUMENT...: runs the program; its streams go to files outside the folder.
solve() {
    local wanted=$1 code=0
    shift
    "$program" solve "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: drape solve $*: $(cat "$scratch/out" "$scratch/err")"
    [ "$code" -ne 0 ] || [ ! -s "$scratch/err" ] || fail "drape solve $* said: $(cat "$scratch/err")"
}

# refuses TEXT ARGUMENT...: exit code 2, one line on the error stream that holds the text, no other output, no file.
refuses() {
    local text=$1 before
    shift
    before=$(ls -lAR --time-style=full-iso)
    solve 2 "$@"
    [ ! -s "$scratch/out" ] || fail "drape solve $* printed: $(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "drape solve $* did not say one line: $(cat "$scratch/err")"
    grep -q '^drape: ' "$scratch/err" || fail "drape solve $* said: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "drape solve $* should have said '$text': $(cat "$scratch/err")"
    [ "$(ls -lAR --time-style=full-iso)" = "$before" ] || fail "drape solve $* wrote something: $(ls -AR)"
}

"$program" solve --list >"$scratch/list"
methods() { awk '/^methods/ {on = 1; next} /^$/ {on = 0} on && /^  [a-z]/ {print $1}' "$scratch/list"; }
preconds() { awk '/^preconditioners/ {on = 1; next} on {print $1}' "$scratch/list"; }
# The preconditioners that --list gives for a method.
preconds_of() { awk -v m="$1" 'found {print; exit} /^  [a-z]/ && $1 == m {found = 1}' "$scratch/list"; }
has_direct() { ! grep -q 'not in this program' "$scratch/list"; }
usable_methods() { methods | if has_direct; then cat; else grep -vx direct; fi; }
# Those that need no symmetry and those that do.
unsymmetric_methods='bicgstab bicgstab-filtered'

# ---- Checking x: a reader of both kinds of file, and |S (b - A x)| / |b^| ----

cat >"$scratch/check.py" <<'PYTHON'
import math, struct, sys

def read_market(path, rhs):
    words, rows = None, {}
    for line in open(path):
        if line.startswith("%%"):
            kind = line.split()
        elif not line.startswith("%") and line.strip():
            numbers = line.split()
            if words is None:
                words = n = int(numbers[0])
                continue
            i, j = int(numbers[0]) - 1, int(numbers[1]) - 1
            v = float(numbers[2]) if len(numbers) > 2 else 1.0
            rows.setdefault(i, {})
            rows[i][j] = rows[i].get(j, 0) + v
            if kind[4] == "symmetric" and i != j:
                rows.setdefault(j, {})
                rows[j][i] = rows[j].get(i, 0) + v
    b = rhs or [1.0] * n
    return n, rows, b, None, None

def read_system(data, rhs):
    at = 8
    def take(kind, count):
        nonlocal at
        size = struct.calcsize("<" + kind) * count
        values = struct.unpack_from("<%d%s" % (count, kind), data, at)
        at += size
        return values
    n, blocks, held = take("q", 3)
    take("d", 1)
    rowptr, col = take("q", n + 1), take("i", blocks + blocks % 2)[:blocks]
    val, S, b, z = take("d", 9 * blocks), take("d", 9 * n), take("d", 3 * n), take("d", 3 * n)
    rows = {3 * i + r: {3 * col[k] + c: val[9 * k + 3 * r + c] for k in range(rowptr[i], rowptr[i + 1])
                        for c in range(3)} for i in range(n) for r in range(3)}
    return 3 * n, rows, rhs or b, S, z

def project(S, v):
    if not S:
        return list(v)
    return [sum(S[9 * (i // 3) + 3 * (i % 3) + c] * v[i - i % 3 + c] for c in range(3)) for i in range(len(v))]

def times(n, rows, x):
    return [sum(v * x[j] for j, v in rows.get(i, {}).items()) for i in range(n)]

def norm(v):
    return math.sqrt(sum(a * a for a in v))

def check(path, x_path, tolerance, rhs=None):
    data = open(path, "rb").read()
    n, rows, b, S, z = (read_system if data[:8] == b"DRAPESY1" else lambda d, r: read_market(path, r))(data, rhs)
    raw = open(x_path, "rb").read()
    assert len(raw) == 8 * n, "%d bytes for %d rows" % (len(raw), n)
    x = struct.unpack("<%dd" % n, raw)
    fixed = [a - p for a, p in zip(z, project(S, z))] if S else [0.0] * n
    rhs_norm = norm(project(S, [p - q for p, q in zip(b, times(n, rows, fixed))]))
    left = norm(project(S, [p - q for p, q in zip(b, times(n, rows, x))])) / (rhs_norm or 1)
    assert left <= tolerance, "relative residual %g" % left
    off = [a - p for a, p in zip(x, project(S, x))] if S else fixed
    assert norm([p - q for p, q in zip(off, fixed)]) <= 1e-12 * (1 + norm(fixed)), "x leaves its constraints"
    return left

if __name__ == "__main__":
    rhs = [float(w) for w in sys.argv[4:]] or None
    print(check(sys.argv[1], sys.argv[2], float(sys.argv[3]), rhs))
PYTHON
# residual FILE X TOLERANCE [NUMBER...]: prints the relative residual; the numbers are a right-hand side
residual() { python3 "$scratch/check.py" "$@" || fail "x of $* is wrong"; }
# residuals FILE TOLERANCE X...: of many solutions
residuals() {
    PYTHONPATH=$scratch python3 -B -c 'import sys, check
for x in sys.argv[3:]: print(x, check.check(sys.argv[1], x, float(sys.argv[2])))' "$@" || fail "an x of $* is wrong"
}

# json KEY: of what was printed last
json() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$scratch/out" "$1"; }

# ---- Systems ----

# A scene whose vertices are held, slide, and move: system of its seventh step.
system_file() {
    cat >scene.yaml <<'SCENE'
drape: 1
cloth:
  - grid: {width: 1 m, resolution: 7}
    pins:
      - {where: top-left, directions: [[1, 1, 0]]}
      - {where: top-right, directions: [[0, 0, 1], [1, 0, 0]]}
      - where: bottom-edge
        move: {sine: {amplitude: 5 cm, frequency: 3 Hz}}
SCENE
    "$program" run scene.yaml --frames 1 --quiet --export-system "7:$1"
    rm scene.yaml
}

# A Laplacian of a line, n rows, scalar; symmetric file.
laplacian() {
    awk -v n="$1" 'BEGIN {
        print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
        for (i = 1; i <= n; i++) { print i, i, 2.125; if (i > 1) print i, i - 1, -1 } }'
}

# The same as 3x3 blocks, general, whole numbers.
block_matrix() {
    awk -v n="$1" 'BEGIN {
        print "%%MatrixMarket matrix coordinate integer general"; print 3 * n, 3 * n, 9 * n + 6 * (n - 1)
        for (i = 0; i < n; i++) for (r = 1; r <= 3; r++) {
            for (c = 1; c <= 3; c++) print 3 * i + r, 3 * i + c, r == c ? 9 : -1
            if (i) { print 3 * i + r, 3 * i + r - 3, -2; print 3 * i + r - 3, 3 * i + r, -2 } } }'
}

# Not symmetric at (2, 3).
unsymmetric() {
    printf '%%%%MatrixMarket matrix coordinate real general\n4 4 6\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n2 3 1\n3 2 -1.5\n'
}

# ---- Solving ----

every_method_solves() {
    local method file
    system_file s.sys
    laplacian 20 >one.mtx
    laplacian 21 >three.mtx
    block_matrix 6 >blocks.mtx
    for file in s.sys one.mtx three.mtx blocks.mtx; do
        for method in $(usable_methods); do
            # (mpcg-printed measures in other units than it should.)
            solve 0 "$file" --method "$method" --tol 1e-13 --max-iterations 100000 -o "$method.bin"
        done
        residuals "$file" 1e-8 ./*.bin
        rm ./*.bin
    done
}

every_pair_solves() {
    local method precond
    system_file s.sys
    for method in $(usable_methods); do
        for precond in $(preconds_of "$method"); do
            solve 0 s.sys --method "$method" --precond "$precond" --tol 1e-10 --max-iterations 100000 \
                -o "$method-$precond.bin"
        done
    done
    residuals s.sys 1e-5 ./*.bin
}

every_stop_holds() {
    local stop
    laplacian 100 >a.mtx
    for stop in residual preconditioned energy; do
        solve 0 a.mtx --stop "$stop" --tol 1e-9 --json -o x.bin
        [ "$(json stop)" = "$stop" ]
        residual a.mtx x.bin 1e-7
        python3 -c "import sys; sys.exit(not $(json residual) <= 1e-9)" || fail "residual $(json residual)"
    done
    solve 0 a.mtx --stop residual --floor 1 -o x.bin --json # |b| is 10
    [ "$(json iterations)" -gt 0 ]
    python3 -c "import sys; sys.exit(not 1e-3 < $(json relative_residual) <= 0.1)"
}

no_rows_are_solved() {
    local method
    printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >zero.mtx
    : >b.bin
    for method in $(usable_methods); do
        solve 0 zero.mtx --method "$method" --json -o x.bin --rhs b.bin
        grep -q '"reason": "converged"' "$scratch/out"
        grep -q '"rows": 0,' "$scratch/out"
        [ -e x.bin ] && [ ! -s x.bin ]
        rm x.bin
    done
}

# Kinds are told by what is in a file, not by its name.
names_do_not_matter() {
    system_file a.mtx
    laplacian 5 >b.sys
    solve 0 a.mtx --tol 1e-12 -o x.bin
    residual a.mtx x.bin 1e-9
    solve 0 b.sys --tol 1e-12 -o x.bin
    residual b.sys x.bin 1e-9
}

right_hand_sides() {
    laplacian 4 >a.mtx
    printf '%%%%MatrixMarket matrix array real general\n%% c\n4 1\n1\n-2.5\n3e2\n0\n' >array.mtx
    printf '%%%%MatrixMarket matrix coordinate integer general\n4 1 2\n4 1 -7\n2 1 5\n' >coordinate.mtx
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4d", 1, -2.5, 3e2, 0))' >raw.bin
    solve 0 a.mtx --tol 1e-12 --rhs array.mtx -o x.bin
    residual a.mtx x.bin 1e-10 1 -2.5 3e2 0
    solve 0 a.mtx --tol 1e-12 --rhs raw.bin -o y.bin
    cmp x.bin y.bin
    solve 0 a.mtx --tol 1e-12 --rhs coordinate.mtx -o x.bin
    residual a.mtx x.bin 1e-10 0 5 0 -7
    system_file s.sys # takes another right-hand side too
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<147d", *range(147)))' >b.bin
    solve 0 s.sys --tol 1e-12 --rhs b.bin -o x.bin
    # shellcheck disable=SC2046
    residual s.sys x.bin 1e-8 $(seq 0 146)
}

threads_change_no_bit() {
    system_file s.sys
    solve 0 s.sys --threads 1 -o one.bin
    solve 0 s.sys --threads 3 -o three.bin
    cmp one.bin three.bin
    DRAPE_SIMD=sse2 solve 0 s.sys --json -o sse2.bin
    [ "$(uname -m)" != x86_64 ] || [ "$(json simd)" = sse2 ]
    cmp one.bin sse2.bin
}

unsymmetric_matrices_are_solved() {
    local method
    unsymmetric >u.mtx
    for method in $unsymmetric_methods; do
        solve 0 u.mtx --method "$method" --tol 1e-12 -o x.bin
        residual u.mtx x.bin 1e-10
    done
}

# ---- What is printed and written ----

summary_is_short() {
    system_file s.sys
    solve 0 s.sys
    [ "$(wc -l <"$scratch/out")" -le 4 ] || fail "$(cat "$scratch/out")"
    grep -q '147 rows, .* blocks, 9 held vertices; ppcg with block_diagonal' "$scratch/out" || fail "$(cat "$scratch/out")"
    grep -q '^converged after [0-9]* iterations' "$scratch/out"
    solve 0 s.sys -o x.bin --history h.csv
    [ "$(tail -n 2 "$scratch/out")" = "wrote x.bin
wrote h.csv" ]
}

json_holds_everything() {
    system_file s.sys
    solve 0 s.sys --json --repeat 3 --threads 2 --stop residual --tol 1e-7 --method pcg --precond diagonal -o x.bin
    python3 - "$scratch/out" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
want = {"method": "pcg", "precond": "diagonal", "stop": "residual", "tol": 1e-7, "rows": 147, "constrained": 9,
        "reason": "converged", "repeats": 3, "threads": 2, "shift": 0}
for key, value in want.items():
    assert r[key] == value, (key, r[key])
assert r["blocks"] > 49 and r["iterations"] > 1 and r["bytes"] > 0 and r["bytes_moved"] > r["iterations"] * 76 * r["blocks"]
assert 0 < r["relative_residual"] <= 1e-6 and 0 < r["residual"] <= 1e-7 and 0 < r["energy_error"] < 1e-3
assert r["setup_seconds"] > 0 and r["solve_seconds"] > 0 and r["cold_setup_seconds"] > 0
assert r["simd"] in ("sse2", "avx2", "avx512", "neon")
PYTHON
    python3 - "$(residual s.sys x.bin 1e-6)" "$(json relative_residual)" <<'PYTHON'
import sys
mine, its = map(float, sys.argv[1:])
assert abs(mine - its) <= 1e-3 * its, (mine, its)
PYTHON
    solve 0 s.sys --json --method bicgstab
    [ "$(json energy_error)" = -1 ]
    [ "$(json repeats)" -eq 1 ]
}

history_is_written() {
    system_file s.sys
    solve 0 s.sys --json --history h.csv --tol 1e-9
    python3 - h.csv "$(json iterations)" "$(json residual)" <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert list(rows[0]) == ["iteration", "preconditioned", "residual", "energy"], rows[0]
assert [int(r["iteration"]) for r in rows] == list(range(int(sys.argv[2]) + 1))
assert float(rows[0]["preconditioned"]) == 1 and float(rows[0]["residual"]) == 1
assert float(rows[-1]["preconditioned"]) == float(sys.argv[3]) <= 1e-9
energy = [float(r["energy"]) for r in rows]
assert all(a >= b for a, b in zip(energy, energy[1:])), energy
PYTHON
    solve 0 s.sys --history h.csv --method bicgstab
    [ "$(sed -n '2s/.*,//p' h.csv)" = -1 ] || fail "an energy of bicgstab: $(cat h.csv)"
    solve 0 s.sys --history h.csv --max-iterations 2147483647 # does not ask for the memory of all of them
}

# The plane of Chen's figure 2: CG ends in two steps, steepest descent goes to and fro; the last line is x.
iterates_are_written() {
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 3\n2 1 2\n2 2 6\n' >plane.mtx
    printf '%%%%MatrixMarket matrix array real general\n2 1\n2\n-8\n' >b.mtx
    printf '%%%%MatrixMarket matrix array real general\n2 1\n-2\n-2\n' >x0.mtx
    local method
    for method in cg sd; do
        solve 0 plane.mtx --rhs b.mtx --start x0.mtx --method "$method" --tol 1e-9 --iterates "$method.csv" -o x.bin --json
        python3 - "$method" "$(json iterations)" <<'PYTHON'
import csv, struct, sys
rows = [[float(v) for v in r] for r in list(csv.reader(open(sys.argv[1] + ".csv")))[1:]]
x = struct.unpack("<2d", open("x.bin", "rb").read())
energy = [1.5 * a * a + 2 * a * b + 3 * b * b - 2 * a + 8 * b for _, a, b in rows]
assert [r[0] for r in rows] == list(range(int(sys.argv[2]) + 1)), rows
assert rows[0][1:] == [-2, -2] and rows[-1][1:] == list(x), (rows[0], rows[-1], x)
assert all(a >= b - 1e-12 for a, b in zip(energy, energy[1:])) and abs(x[0] - 2) < 1e-6 and abs(x[1] + 2) < 1e-6
assert len(rows) == 3 if sys.argv[1] == "cg" else len(rows) > 10, rows
PYTHON
    done
    system_file s.sys
    solve 0 s.sys --iterates i.csv -o x.bin --json
    [ "$(wc -l <i.csv)" -eq $(($(json iterations) + 2)) ] || fail "$(wc -l <i.csv) lines"
    refuses "--iterates: the method direct has no iterations" s.sys --method direct --iterates i2.csv
    refuses "short.mtx" plane.mtx --start short.mtx --iterates i2.csv
    [ ! -e i2.csv ] || fail "wrote something"
}

# The levels that the preconditioner amg makes of a sheet of 31 x 31.
levels_are_explained() {
    local modes
    "$program" run pinned --resolution 31 --frames 1 --quiet --export-system 3:s.sys
    for modes in 3 6; do
        solve 0 s.sys --precond amg --amg-modes "$modes" --explain --json --repeat 2 -o x.bin
        python3 - "$scratch/out" "$modes" <<'PYTHON'
import json, sys
r, modes = json.load(open(sys.argv[1])), int(sys.argv[2])
levels = r["levels"]
assert r["precond"] == "amg" and len(levels) >= 2
assert levels[0]["rows"] == r["rows"] / 3 and levels[0]["size"] == 3 and levels[0]["blocks"] == r["blocks"]
for fine, coarse in zip(levels, levels[1:]):
    assert coarse["size"] == modes and coarse["rows"] * 2 < fine["rows"]
    free = fine["rows"] - (r["constrained"] if fine is levels[0] else 0)  # held vertices are in no aggregate
    assert abs(fine["aggregate"] * coarse["rows"] - free) < 0.01 * free
    assert 1 < fine["rho"] < 4 and not fine["factored"]
assert levels[-1]["aggregate"] == levels[-1]["rho"] == 0 and levels[-1]["factored"]
numbers = sum(l["blocks"] * l["size"] ** 2 for l in levels)
assert abs(r["operator_complexity"] - numbers / (9 * r["blocks"])) < 1e-9
assert 1 < r["grid_complexity"] < r["operator_complexity"] + 1 < 5
bytes = sum(l["bytes"] for l in levels)
assert 0.3 < r["memory_over_matrix"] < 10 and bytes < r["bytes"]
PYTHON
        solve 0 s.sys --precond amg --amg-modes "$modes" --explain
        [ "$(grep -cE '^ +[0-9]+ +[0-9]+ ' "$scratch/out")" -ge 2 ] || fail "$(cat "$scratch/out")"
        grep -q '^operator complexity ' "$scratch/out"
    done
    solve 0 s.sys --precond amg --amg-levels 1 --explain --json
    [ "$(json levels | grep -o rows | wc -l)" -eq 1 ]
    solve 0 s.sys --precond amg --json
    ! grep -q levels "$scratch/out" || fail "levels that nobody asked for"
    laplacian 2000 >a.mtx # without positions there are no rotations
    solve 0 a.mtx --precond amg --amg-modes 6 --explain --tol 1e-9 -o x.bin
    ! grep -q 6x6 "$scratch/out" || fail "$(cat "$scratch/out")"
    residual a.mtx x.bin 1e-6
}

amg_settings_are_used() {
    local reuse
    "$program" run pinned --resolution 21 --frames 1 --quiet --export-system 3:s.sys
    for reuse in nothing patterns everything; do
        solve 0 s.sys --precond amg --amg-reuse "$reuse" --repeat 3 --tol 1e-9 -o "$reuse.bin"
    done
    cmp nothing.bin patterns.bin # the same matrix gives the same values
    cmp nothing.bin everything.bin
    solve 0 s.sys --precond amg --amg-theta 0.9 --explain --json
    python3 -c "import json; r = json.load(open('$scratch/out')); assert r['levels'][0]['aggregate'] > 1"
}

# iterations OPTION...: of amg with these options, to 1e-9, where x is the solution.
amg_iterations() {
    solve 0 s.sys --precond amg --tol 1e-9 --json -o x.bin "$@"
    json iterations
}

# traffic OPTION...: bytes that a part of a cycle moves on the finest level.
amg_traffic() {
    solve 0 s.sys --precond amg --explain --json "$@"
    python3 -c "import json; r = json.load(open('$scratch/out')); print(r['levels'][0]['cost']['first']['bytes'])"
}

# Each setting has the effect that it is there for, and its default's name gives the default's bits.
amg_smoothers_and_cycles() {
    local word
    "$program" run drooping --resolution 41 --frames 1 --quiet --export-system 3:s.sys
    amg_iterations >usual
    mv x.bin usual.bin
    for word in "--amg-smoother gauss-seidel" "--amg-cycle v" "--amg-degree 5" "--amg-theta 0.32"; do
        # shellcheck disable=SC2086
        amg_iterations $word >again
        cmp x.bin usual.bin || fail "$word is not the default"
    done
    for word in "--amg-smoother chebyshev" "--amg-cycle w" "--amg-unfiltered" "--amg-theta 0.25"; do
        # shellcheck disable=SC2086
        amg_iterations $word >again
        ! cmp -s x.bin usual.bin || fail "$word changes nothing"
    done
    [ "$(amg_iterations --amg-cycle w)" -le "$(cat usual)" ] || fail "a W-cycle takes more iterations than a V-cycle"
    [ "$(amg_iterations --amg-smoother chebyshev --amg-degree 4)" -lt \
        "$(amg_iterations --amg-smoother chebyshev --amg-degree 1)" ] || fail "a higher degree smooths no better"
    [ "$(amg_traffic --amg-smoother chebyshev --amg-degree 4)" -eq \
        $((2 * $(amg_traffic --amg-smoother chebyshev))) ] || fail "2 is not the default degree"
    # weak connections that spread P make coarse levels denser
    solve 0 s.sys --precond amg --explain --json
    json operator_complexity >filtered
    solve 0 s.sys --precond amg --amg-unfiltered --explain --json
    awk -v a="$(cat filtered)" -v b="$(json operator_complexity)" 'BEGIN { exit !(b > a) }' || fail "no denser"
    # the paper's recipe
    amg_iterations --amg-modes 6 --amg-theta 0.48 --amg-smoother chebyshev --amg-degree 2 --amg-unfiltered >again
}

list_names_everything() {
    local name
    solve 0 --list
    cmp "$scratch/out" "$scratch/list"
    for name in sd cg pcg mpcg mpcg-original mpcg-printed filtered-cg ppcg bicgstab bicgstab-filtered direct; do
        methods | grep -qx "$name" || fail "no method $name"
        [ -n "$(preconds_of "$name")" ] || fail "nothing goes with $name"
    done
    for name in none diagonal block_diagonal ssor ichol ilu amg; do preconds | grep -qx "$name" || fail "no $name"; done
    [ "$(preconds_of cg | xargs)" = none ]
    [ "$(grep -cE '^  [a-z].{18,}' "$scratch/out")" -ge 17 ] || fail "something without a word about it"
}

help_of_solve() {
    solve 0 --help
    grep -q '^usage: drape solve' "$scratch/out"
}

# ---- Not solved: exit code 1 and why ----

not_converged() {
    laplacian 300 >a.mtx
    solve 1 a.mtx --max-iterations 3 --json --tol 1e-12 -o x.bin --history h.csv
    [ "$(json reason)" = "iteration limit" ]
    [ "$(json iterations)" -eq 3 ]
    [ "$(cat "$scratch/err")" = "drape: a.mtx: not solved: iteration limit after 3 iterations" ]
    [ "$(wc -c <x.bin)" -eq 2400 ]
    [ "$(wc -l <h.csv)" -eq 5 ]
}

no_solution() {
    local method
    printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 -1\n' >indefinite.mtx
    for method in $(usable_methods); do
        case " $unsymmetric_methods " in *" $method "*) continue ;; esac
        solve 1 indefinite.mtx --method "$method" --precond none -o x.bin
        [ "$(wc -l <"$scratch/err")" -eq 1 ]
        # (Steepest descent need not meet a direction of negative curvature: it runs away.)
        grep -qE 'not positive definite|not finite' "$scratch/err" || fail "$method: $(cat "$scratch/err")"
        [ ! -e x.bin ] || fail "$method wrote an x"
    done
}

# What of the input is to blame stands in the message and in the object. (A NaN and a missing diagonal block are found before,
# where the file is read.)
failures_are_explained() {
    local why="all numbers of the input are finite, but the solve overflows"
    laplacian 30 >a.mtx
    { printf '%%%%MatrixMarket matrix array real general\n30 1\n' && yes 1e200 | head -n 30; } >huge.mtx
    solve 1 a.mtx --rhs huge.mtx --method cg --precond none --json -o x.bin
    [[ $(json detail) == "$why"* ]] || fail "$(cat "$scratch/out")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$(cat "$scratch/err")"
    grep -qF "a.mtx: not solved: not finite after 0 iterations: $why" "$scratch/err" || fail "$(cat "$scratch/err")"
    grep -q '; x is not written$' "$scratch/err"
    # What converges, and what merely needs more iterations, has nothing to explain.
    solve 0 a.mtx --json
    ! grep -q '"detail"' "$scratch/out" || fail "$(cat "$scratch/out")"
    solve 1 a.mtx --json --max-iterations 2 --tol 1e-12
    ! grep -q '"detail"' "$scratch/out" || fail "$(cat "$scratch/out")"
}

# ---- Bad input ----

bad_options() {
    laplacian 4 >a.mtx
    refuses "no file given" --json
    refuses "--method gauss" a.mtx --method gauss -o x.bin
    refuses "--precond amgx" a.mtx --precond amgx -o x.bin
    refuses "--stop error" a.mtx --stop error -o x.bin
    refuses "cg cannot be used with the preconditioner diagonal" a.mtx --method cg --precond diagonal -o x.bin
    refuses "bicgstab has no energy norm" a.mtx --method bicgstab --stop energy -o x.bin
    local text
    for text in 1 -1 2; do refuses "tol is $text" a.mtx --tol "$text" -o x.bin; done
    refuses "--tol 0: it must lie between 0 and 1" a.mtx --tol 0 -o x.bin
    for text in x nan inf 1e-5x; do refuses "--tol $text" a.mtx --tol "$text" -o x.bin; done
    refuses "--omega 0" a.mtx --omega 0
    refuses "omega is 2" a.mtx --omega 2
    refuses "floor is -1" a.mtx --floor -1
    for text in 2 4 5 7 x; do refuses "--amg-modes $text" a.mtx --precond amg --amg-modes "$text"; done
    refuses "--amg-theta 0" a.mtx --precond amg --amg-theta 0
    refuses "amg.theta is 1" a.mtx --precond amg --amg-theta 1
    for text in 0 17; do refuses "--amg-levels $text" a.mtx --precond amg --amg-levels "$text"; done
    refuses "--amg-reuse all: expected everything, patterns or nothing" a.mtx --precond amg --amg-reuse all
    refuses "--amg-smoother jacobi: expected gauss-seidel or chebyshev" a.mtx --precond amg --amg-smoother jacobi
    refuses "--amg-cycle f: expected v or w" a.mtx --precond amg --amg-cycle f
    for text in 0 9 x; do refuses "--amg-degree $text" a.mtx --precond amg --amg-degree "$text"; done
    refuses "nothing to tune" a.mtx --precond amg --tune
    refuses "nothing to tune" a.mtx --method cg --tune
    refuses "works only with the preconditioner amg" a.mtx --precond ssor --explain
    for text in 0 -1 x 1.5 2147483648; do refuses "--max-iterations $text" a.mtx --max-iterations "$text"; done
    refuses "--repeat 0" a.mtx --repeat 0
    refuses "--threads 0" a.mtx --threads 0
    refuses "--tol needs" a.mtx --tol
    refuses b.mtx a.mtx b.mtx
    refuses --frobnicate a.mtx --frobnicate
    if ! has_direct; then refuses "without CHOLMOD" a.mtx --method direct; fi
}

bad_files() {
    local size
    system_file s.sys
    laplacian 4 >a.mtx
    mkdir folder
    refuses "nowhere.mtx: cannot open" nowhere.mtx -o x.bin --history h.csv
    refuses "folder: not a regular file" folder -o x.bin
    : >empty
    refuses "empty:1: does not begin" empty -o x.bin
    printf 'hello, world\n' >text
    refuses "text: neither a system file" text -o x.bin
    for size in 9 39 48 500 $(($(wc -c <s.sys) - 1)); do
        head -c "$size" s.sys >cut.sys
        refuses "cut.sys: " cut.sys -o x.bin
    done
    head -c 60 a.mtx >cut.mtx
    refuses "cut.mtx:" cut.mtx -o x.bin
    head -n 8 a.mtx >cut.mtx
    refuses "cut.mtx:8: the file ends after 6 of 7 entries" cut.mtx -o x.bin
    sed 's/2.125/nan/' a.mtx >nan.mtx
    refuses "nan.mtx:3: 'nan' is not a decimal number" nan.mtx -o x.bin
    sed '1s/coordinate/array/' a.mtx >array.mtx
    refuses "array.mtx:1: format 'array'" array.mtx -o x.bin
}

bad_right_hand_sides() {
    laplacian 4 >a.mtx
    printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n' >three.mtx
    refuses "three.mtx:2: 3 rows and 1 columns; expected 4 rows" a.mtx --rhs three.mtx -o x.bin
    printf '%%%%MatrixMarket matrix array real general\n4 1\n1\n2\nnan\n4\n' >nan.mtx
    refuses "nan.mtx:5: 'nan'" a.mtx --rhs nan.mtx -o x.bin
    head -c 31 /dev/zero >short.bin
    refuses "short.bin: no Matrix Market file, and 31 bytes are not 4 doubles" a.mtx --rhs short.bin -o x.bin
    head -c 40 /dev/zero >long.bin
    refuses "long.bin: " a.mtx --rhs long.bin -o x.bin
    { head -c 16 /dev/zero && printf '\0\0\0\0\0\0\xf0\x7f' && head -c 8 /dev/zero; } >infinite.bin
    refuses "infinite.bin: number 3 of 4 is not finite" a.mtx --rhs infinite.bin -o x.bin
    refuses "nowhere.bin: cannot open" a.mtx --rhs nowhere.bin -o x.bin
}

unsymmetric_matrices_are_refused() {
    local method
    unsymmetric >u.mtx
    for method in $(usable_methods); do
        case " $unsymmetric_methods " in *" $method "*) continue ;; esac
        refuses "u.mtx: entry (2, 3) is 1, but entry (3, 2) is -1.5; " u.mtx --method "$method" -o x.bin
        grep -q -- '--method bicgstab' "$scratch/err"
    done
    # The second number of the first block in the row of vertex 2, in a system file.
    system_file s.sys
    python3 - <<'PYTHON'
import struct
data = bytearray(open("s.sys", "rb").read())
n, blocks = struct.unpack_from("<2q", data, 8)
rowptr = struct.unpack_from("<%dq" % (n + 1), data, 40)
at = 40 + 8 * (n + 1) + 4 * (blocks + blocks % 2) + 72 * rowptr[2] + 8
data[at:at + 8] = struct.pack("<d", 1e3)
open("u.sys", "wb").write(data)
PYTHON
    refuses "u.sys: the block of vertices " u.sys --method ppcg -o x.bin
    grep -qE 'of vertices (2 and 1|1 and 2) ' "$scratch/err" || fail "$(cat "$scratch/err")"
    solve 0 u.sys --tol 1e-9 -o x.bin # by itself it finds a way
    solve 0 u.mtx --tol 1e-9 --json -o x.bin
    [ "$(json method)" = bicgstab ]
}

unwritable_outputs() {
    laplacian 4 >a.mtx
    mkdir folder
    : >file
    refuses "none/x.bin: cannot write" a.mtx -o none/x.bin --history h.csv
    refuses "none/h.csv: cannot write" a.mtx -o x.bin --history none/h.csv
    refuses "folder: cannot write" a.mtx -o folder
    refuses "file/x.bin: cannot write" a.mtx -o file/x.bin
    refuses "/dev/null: cannot write" a.mtx -o /dev/null
}

# What was there before stays when the input is bad, and nothing temporary stays when it is good.
old_files_stay() {
    laplacian 4 >a.mtx
    echo old >x.bin
    refuses "--method" a.mtx --method none -o x.bin
    [ "$(cat x.bin)" = old ]
    solve 0 a.mtx -o x.bin
    [ "$(ls -A)" = "a.mtx
x.bin" ]
    [ "$(wc -c <x.bin)" -eq 32 ]
}

# ---- The same names in a run ----

methods_of_a_run() {
    local method
    for method in $(usable_methods); do
        "$program" run pinned --resolution 5 --frames 1 --quiet --set "solver.method=$method" \
            --set solver.max_iterations=100000 --report r.json
        grep -q "\"method\": \"$method\"" r.json
        grep -q '"reason": "converged"' r.json
    done
    "$program" run pinned --resolution 21 --frames 1 --quiet --set solver.precond=amg --set solver.amg.modes=6 \
        --report r.json
    grep -q '"precond": "amg"' r.json
    grep -q '"reason": "converged"' r.json
    has_direct || expect_failure "without CHOLMOD" "$program" run pinned --set solver.method=direct
    expect_failure "cannot be used with" "$program" run pinned --set solver.method=cg --set solver.precond=ssor
    expect_failure "unknown method \"gauss\"" "$program" check pinned --set solver.method=gauss
}

# ---- Matrices from elsewhere ----

# ---- What the solver chooses itself ----

choice_is_printed() {
    system_file s.sys
    solve 0 s.sys --json
    [ "$(json method)" = ppcg ]
    [ "$(json precond)" = block_diagonal ]
    [ "$(json modes)" -eq 0 ]
    [ "$(json fallbacks)" = "[]" ]
    solve 0 s.sys --method auto --precond auto --explain
    grep -q 'no levels' "$scratch/out" || fail "$(cat "$scratch/out")"
    "$program" run drooping --resolution 81 --set time.step=10ms --frames 1 --quiet --export-system 2:large.sys
    solve 0 large.sys --explain
    grep -q 'ppcg with amg (3 modes)' "$scratch/out" || fail "$(cat "$scratch/out")"
    grep -q 'operator complexity' "$scratch/out"
}

tuning_is_printed() {
    local repeats
    system_file s.sys
    for repeats in 1 3; do
        solve 0 s.sys --tune --repeat "$repeats"
        [ "$(grep -c ': taken$' "$scratch/out")" -eq 1 ] || fail "$(cat "$scratch/out")"
        grep -q 'chosen by timing' "$scratch/out"
    done
    solve 0 s.sys --tune --json
    python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
assert {t["precond"] for t in r["tuned"]} == {"block_diagonal", "ichol", "amg"}
assert sum(t["chosen"] for t in r["tuned"]) == 1
assert [t["precond"] for t in r["tuned"] if t["chosen"]] == [r["precond"]]' "$scratch/out"
    "$program" run pinned --resolution 9 --frames 1 --tune --report r.json >"$scratch/out"
    grep -q 'chosen by timing' "$scratch/out"
    grep -q '"tune": true' r.json
    expect_failure "nothing to tune" "$program" run pinned --frames 1 --tune --set solver.precond=ssor
}

outside_matrices_are_solved() {
    local file
    [ -d "$shared" ] || skip "no $shared"
    for file in 1138_bus.mtx LFAT5.mtx; do
        solve 0 "$shared/$file" --stop residual --tol 1e-9 --max-iterations 100000 -o x.bin
        residual "$shared/$file" x.bin 1e-8
        has_direct || continue
        solve 0 "$shared/$file" --method direct -o x.bin
        residual "$shared/$file" x.bin 1e-8
    done
}

hostile_files_are_refused() {
    local file count=0
    [ -d "$shared/parser" ] || skip "no $shared/parser"
    for file in "$shared"/parser/*.tri "$shared"/parser/mangle*.mtx "$shared"/parser/c.mtx "$shared"/*.triplet; do
        refuses "$file" "$file" -o x.bin --history h.csv
        count=$((count + 1))
    done
    [ "$count" -ge 14 ]
}

for test in every_method_solves every_pair_solves every_stop_holds no_rows_are_solved names_do_not_matter \
    right_hand_sides threads_change_no_bit unsymmetric_matrices_are_solved summary_is_short json_holds_everything \
    history_is_written iterates_are_written levels_are_explained amg_settings_are_used amg_smoothers_and_cycles list_names_everything \
    help_of_solve not_converged no_solution failures_are_explained bad_options bad_files \
    bad_right_hand_sides unsymmetric_matrices_are_refused unwritable_outputs old_files_stay methods_of_a_run \
    choice_is_printed tuning_is_printed \
    outside_matrices_are_solved hostile_files_are_refused; do
    check "$test"
done
finish_tests
