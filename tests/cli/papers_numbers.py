"""papers_numbers.py PAGE RESULTS: every number of PAGE (docs/papers.md) is one that a benchmark printed.

It is in a table, a claim, a note or a caption of the results.json files below RESULTS, rounded to the digits of the page. A section takes
the results of the benchmarks that it names first, as `drape bench NAME`. Years, sections, figures and tables of the
papers, and what stands in code, are no measurements."""
import glob, json, math, re, sys

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


def numbers(text):
    """Each number with how many digits it has after the point."""
    for match in NUMBER.finditer(text):
        word = match.group().rstrip(",").replace(",", "")
        yield word, len(word.partition(".")[2]) if "e" not in word else 12


def of_benchmark(benchmark):
    """All values and all texts with numbers of a benchmark."""
    values, texts = [], list(benchmark.get("notes", []))
    for table in benchmark["tables"]:
        texts.append(table["name"])
        for row in table["rows"]:
            for value in row.values():
                (texts if isinstance(value, str) else values).append(value)
    for claim in benchmark["claims"]:
        values += [claim["value"], claim["bound"]]
    texts += [plot.get("caption", "") for plot in benchmark.get("plots", [])]
    values += [float(word) for text in texts for word, _ in numbers(text)]
    return [v for v in values if isinstance(v, (int, float)) and math.isfinite(v)]


def measurements(section):
    section = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", section, flags=re.S)
    section = re.sub(r"\((?:19|20)\d\d\)", " ", section)
    kinds = r"(?:[Ss]ections?|[Ff]igures?|[Tt]ables?|[Aa]lgorithms?)"
    return re.sub(kinds + r" \d+(?:(?:, | and | to )\d+)*", " ", section)


def is_printed(word, digits, pool):
    wanted = float(word)
    near = 0.5000001 * 10.0**-digits
    return any(abs(v - wanted) <= near or abs(100 * v - wanted) <= near or abs(100 * (1 - v) - wanted) <= near
               for v in pool)


page = open(sys.argv[1]).read()
results = {}
for path in glob.glob(sys.argv[2] + "/*/*/results.json"):
    for benchmark in json.load(open(path))["benchmarks"]:
        results.setdefault(benchmark["name"], []).extend(of_benchmark(benchmark))
missing, seen = [], 0
for section in re.split(r"^## ", page, flags=re.M):
    names = re.findall(r"`drape bench ([a-z-]+)", section)
    pool = [v for name in names for v in results.get(name, [])]
    for word, digits in numbers(measurements(section)):
        seen += 1
        if not is_printed(word, digits, pool):
            missing.append((section.split("\n")[0], word))
assert seen >= 60, f"only {seen} numbers were found"
assert not missing, f"numbers that no benchmark printed: {missing}"
print(seen, "numbers")
