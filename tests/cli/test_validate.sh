#!/usr/bin/env bash
# drape validate: known problems come out within their limits, the table and the page say the same.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
program=$2

known_problems_come_out() {
    cd "$scratch"
    "$program" validate --quick -o page.html >out 2>err || fail "$(cat out err)"
    [ ! -s err ] || fail "$(cat err)"
    python3 - out page.html <<'EOF'
import re, sys
lines = open(sys.argv[1]).read().splitlines()
rows = [re.match(r'(\S.{9}) (.{54}) +(\S+) +(\S+) +(\S+) % +(\S+) %', line) for line in lines[1:-1]]
assert len(rows) > 10 and all(rows), lines
page = open(sys.argv[2]).read()
for row in rows:
    ours, reference, difference, bar = (float(n) for n in row.groups()[2:])
    assert abs(100 * (ours / reference - 1) - difference) < 0.02, row
    assert abs(difference) <= bar, row
    assert row.group(2).strip() in page, row
assert {row.group(1).strip() for row in rows} == {'stretch', 'weight', 'turned', 'end force', 'end moment'}
assert lines[-1] == f'{len(rows)} of {len(rows)} within their limits', lines[-1]
assert page.count('<svg') == page.count('</svg>') == 3
EOF
}

# The elastica of the table is that of the literature: H/L = 0.12347 at G = 1 and 0.49591 at G = 5.
references_are_those_of_the_literature() {
    "$program" validate --quick >"$scratch/out" || fail "$(cat "$scratch/out")"
    grep -qE 'one way, threads at 0, width 0.1, G 1 +[0-9.]+ +0.12347' "$scratch/out" || fail "$(cat "$scratch/out")"
    grep -qE 'one way, threads at 0, width 0.1, G 5 +[0-9.]+ +0.4959' "$scratch/out" || fail "$(cat "$scratch/out")"
    grep -qE 'one way, threads at 0, width 0.1, P 4 +[0-9.]+ +0.669' "$scratch/out" || fail "$(cat "$scratch/out")"
}

# Tables of others, where they are.
tables_are_read() {
    local data="${DRAPE_SHARED_DATA:-}/validation"
    [ -d "$data" ] || skip 'no shared data'
    "$program" validate --quick --data "$data" >"$scratch/out" || fail "$(cat "$scratch/out")"
    [ "$(grep -c '^table' "$scratch/out")" -gt 80 ] || fail "$(cat "$scratch/out")"
}

bad_options_are_refused() {
    expect_failure 'membrane' "$program" validate --membrane silk
    expect_failure 'nowhere' "$program" validate --quick --data "$scratch/nowhere"
    expect_failure 'cells' "$program" validate --cells 5
    expect_failure 'nowhere' "$program" validate --quick -o "$scratch/nowhere/page.html"
}

for test in known_problems_come_out references_are_those_of_the_literature tables_are_read bad_options_are_refused; do run_test "$test" "$test"; done
finish_tests
