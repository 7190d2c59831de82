#!/usr/bin/env python3
"""bench_results.py TEXT JSON CSV BENCHMARK...: whether the files of drape-bench hold what it printed.

Every benchmark that is named has rows, and every row stands in a line of the text, number by number, as exactly as it was
printed. Every claim has its verdict. The CSV file holds the same values as the JSON file. Says what is wrong, and ends with 1."""
import csv
import json
import re
import sys

NUMBER = re.compile(r"-?\d+(?:\.(\d+))?(?:e([-+]\d+))?")


def numbers_of(line):
    """Of a line of text: values, and by how much each may have been rounded."""
    found = []
    for match in NUMBER.finditer(line):
        digits = len(match.group(1) or "")
        found.append((float(match.group()), 0.5001 * 10.0 ** (int(match.group(2) or 0) - digits)))
    return found


def begins_with(values, printed):
    """How many of the values, from the first on, stand in this order among what was printed."""
    count = 0
    for number, rounding in printed:
        # %g and %.3g leave out zeros behind the point and digits before it.
        if count < len(values) and abs(values[count] - number) <= max(rounding, 6e-3 * abs(number) * (rounding >= 0.5)):
            count += 1
    return count


def is_printed(row, lines):
    """Keys stand in a line above, the others in one line."""
    values = [v for v in row.values() if isinstance(v, (int, float)) and not isinstance(v, bool)]
    most = max([0] + [begins_with(values, printed) for printed in lines])
    return any(begins_with(values[skip:], printed) == len(values) - skip for skip in range(most + 1) for printed in lines)


def check_tables(benchmark, lines):
    for table in benchmark["tables"]:
        names = [column["name"] for column in table["columns"]]
        assert len(set(names)) == len(names), f"{table['name']}: a column comes twice"
        for row in table["rows"]:
            assert set(row) <= set(names), f"{table['name']}: {row} has a column that is not listed"
            assert is_printed(row, lines), f"{benchmark['name']}, {table['name']}: not in the text: {row}"


def check_claims(benchmark, text):
    for claim in benchmark["claims"]:
        holds = claim["value"] >= claim["bound"] if claim["relation"] == ">=" else claim["value"] <= claim["bound"]
        assert holds == claim["holds"], claim
        said = [line for line in text.splitlines() if line.startswith(f"  {claim['what']:<52} {claim['relation']} ")]
        verdict = "reached" if claim["holds"] else "MISSED"
        assert not said or any(line.endswith(verdict) and f"{claim['value']:6.2f}" in line for line in said), claim


def cells_of(benchmark):
    """What the CSV file must hold, as text."""
    for table in benchmark["tables"]:
        units = {column["name"]: column["unit"] for column in table["columns"]}
        for i, row in enumerate(table["rows"]):
            for name, value in row.items():
                yield benchmark["name"], table["name"], str(i + 1), name, value, units[name]
    for i, claim in enumerate(benchmark["claims"]):
        for name, value in {**claim.pop("keys", {}), **claim}.items():
            yield benchmark["name"], "claims", str(i + 1), name, value, ""


def same(text, value):
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == str(value).lower()
    return text == value if isinstance(value, str) else float(text) == value


def check_csv(results, path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["benchmark", "table", "row", "column", "value", "unit"], rows[0]
    found = {tuple(row[:4]): row[4:] for row in rows[1:]}
    wanted = [cell for benchmark in results["benchmarks"] for cell in cells_of(benchmark)]
    assert len(found) == len(rows) - 1 == len(wanted), f"{len(rows) - 1} lines of CSV, {len(wanted)} values"
    for *place, value, unit in wanted:
        text, its_unit = found[tuple(place)]
        assert same(text, value) and its_unit == unit, f"{place}: {text} {its_unit}, not {value} {unit}"


def main(text_path, json_path, csv_path, *names):
    with open(text_path) as file:
        text = file.read()
    with open(json_path) as file:
        results = json.load(file)
    lines = [numbers_of(line) for line in text.splitlines()]
    for key in ("version", "compiler", "machine", "threads"):
        assert results[key], f"no {key}"
    assert sorted(b["name"] for b in results["benchmarks"]) == sorted(names), [b["name"] for b in results["benchmarks"]]
    for benchmark in results["benchmarks"]:
        assert any(table["rows"] for table in benchmark["tables"]), f"{benchmark['name']} has no rows"
        check_tables(benchmark, lines)
        check_claims(benchmark, text)
    check_csv(results, csv_path)


try:
    main(*sys.argv[1:])
except AssertionError as wrong:
    sys.exit(f"bench_results.py: {wrong}")
