#!/usr/bin/env python3
"""Finds sentences of more than MOST words in pages, manual pages and comments of C, Python, JavaScript and shell.

  sentences.py EXCEPTIONS FILE...

Prints FILE:LINE: WORDS words: SENTENCE for each that is not among the exceptions, and exits with 1 if there is one.
Each line of EXCEPTIONS is `FILE: how the sentence begins`; one that matches nothing is reported too. Code
blocks and targets of links do not count, and code in backticks is one word. The end of a list entry or a table cell
ends a sentence, and a semicolon does within a table."""

import ast
import os
import re
import sys

MOST = 30
# Points that end no sentence.
SHORT = re.compile(r"\b(e\.g|i\.e|et al|eq|eqs|fig|figs|sec|vs|cf|p|pp|no|resp|approx)\.$")


def words(text):
    return [w for w in text.split() if re.search(r"[A-Za-z]", w)]


def plain(text):
    """Without the marks of Markdown; code and formulas become one word."""
    text = re.sub(r"``.*?``|`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "")


def sentences(paragraph):
    """paragraph: [(line number, text)]. Yields (line number, sentence)."""
    begin, collected = None, []
    for number, text in paragraph:
        for word in text.split():
            if not collected:
                begin = number
            collected.append(word)
            end = word.rstrip(")\"'*_`")
            if end and end[-1] in ".!?" and not SHORT.search(end):
                yield begin, " ".join(collected)
                collected = []
    if collected:
        yield begin, " ".join(collected)


def markdown(lines):
    """Paragraphs: text between empty lines, entries of lists, cells of tables; no code."""
    paragraph, fenced, was_empty, in_code = [], False, True, False
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        if fenced:
            continue
        in_code = raw.startswith("    ") and (in_code or was_empty) and not re.match(r"\s*([-*]|\d+\.) ", raw)
        was_empty = not line
        cells = line.startswith("|")
        if not line or in_code or cells or line.startswith(("#", "<", "---")) or re.match(r"([-*]|\d+\.) ", line):
            yield paragraph
            paragraph = []
        if cells:
            for part in re.split(r"[|;]", re.sub(r"`[^`]*`", "code", line)):
                yield [(number, plain(part))]
        elif line and not in_code and not line.startswith(("#", "<", "---")):
            paragraph.append((number, re.sub(r"^([-*]|\d+\.) ", "", line)))
    yield paragraph


def joined(paragraph):
    """Marks may go over the end of a line."""
    text = plain("\n".join(t for _, t in paragraph)) if paragraph else ""
    first = paragraph[0][0] if paragraph else 0
    return [(first + i, line) for i, line in enumerate(text.split("\n"))]


def comments(lines):
    """Paragraphs of /* ... */: each comment by itself, divided at empty lines, at lists and at indented code."""
    paragraph, inside = [], False
    for number, raw in enumerate(lines, 1):
        rest = raw if inside else re.sub(r'"(\\.|[^"\\])*"', "text", raw)
        while rest:
            if not inside:
                start = rest.find("/*")
                if start < 0:
                    break
                inside, rest = True, rest[start + 2 :]
            end = rest.find("*/")
            text = rest if end < 0 else rest[:end]
            line = re.sub(r"^\s*\*? ?", "", text) if text is rest or end >= 0 else text
            if not line.strip() or line.startswith("  ") or re.match(r"\s*-+ ", line):
                yield paragraph
                paragraph = []
            if line.strip() and not line.startswith("   "):
                paragraph.append((number, line.strip()))
            if end < 0:
                break
            yield paragraph
            paragraph, inside, rest = [], False, rest[end + 2 :]
    yield paragraph


def roff(lines):
    """Paragraphs of a manual page: between macros that begin one; font macros are text, but not those of a tag."""
    paragraph, example, tag, synopsis = [], False, False, False
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        example = line.startswith(".EX") or (example and not line.startswith(".EE"))
        synopsis = line == ".SH SYNOPSIS" or (synopsis and not line.startswith(".SH"))
        font = re.match(r"\.(B|I|BR|IR|RB|RI|BI|IB) (.*)", line)
        if synopsis or tag:
            tag = False
            continue
        tag = line == ".TP"
        if font:
            line = font.group(2).replace('"', "")
        elif line.startswith((".", "'", "@")) or example:
            yield paragraph
            paragraph = []
            continue
        paragraph.append((number, re.sub(r"\\f.|\\", "", line)))
    yield paragraph


def line_comments(mark, trailing):
    """A function that gives the paragraphs of comments that end with the line, as scripts have them."""

    def found(lines):
        paragraph = []
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text.startswith(mark) and not text.startswith("#!"):
                body = text.lstrip(mark[0])
                if not body.strip() or re.match(r"\s*[-*] |\s{3}", body) or re.search(r"\S {2,}\S", body):
                    yield paragraph
                    paragraph = []
                if body.strip() and not body.startswith("   "):
                    paragraph.append((number, re.sub(r"^\s*[-*] ", "", body).strip()))
                continue
            yield paragraph
            paragraph = []
            after = re.search(trailing, line)
            if after:
                yield [(number, after.group(1))]
        yield paragraph

    return found


def docstrings(lines):
    """Paragraphs of the strings that document Python, with entries of lists and tables; no code."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        text = ast.get_docstring(node, clean=True) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) else None
        if not text:
            continue
        paragraph, in_code, was_empty = [], False, False
        for number, line in enumerate(text.split("\n"), node.body[0].lineno):
            in_code = line.startswith("    ") and (in_code or was_empty)
            was_empty = not line.strip()
            if was_empty or in_code or re.match(r"\s*([-*] |>>>|\w+: )", line) or re.search(r"[^. ] {2,}\S", line.strip()):
                yield paragraph
                paragraph = []
            if not (was_empty or in_code) and not line.strip().startswith((">>>", "...")):
                paragraph.append((number, line.strip()))
        yield paragraph


def python(lines):
    yield from line_comments("#", r"\s# (.*)")(lines)
    yield from docstrings(lines)


def javascript(lines):
    yield from line_comments("//", r"\s// (.*)")(lines)
    yield from comments(lines)


shell = line_comments("#", r"\s# (.*)")  # and CMake, make
KINDS = {".md": markdown, ".py": python, ".js": javascript, ".mjs": javascript, ".css": comments, ".c": comments, ".h": comments,
         ".cpp": comments, ".hpp": comments}


def paragraphs(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    if re.search(r"\.1(\.in)?$", path):
        return roff(lines)
    if lines[0].startswith("#!") and "python" in lines[0]:
        return python(lines)
    return KINDS.get(os.path.splitext(path)[1], shell)(lines)


def matches(exception, path, sentence):
    file, begin = exception.split(": ", 1)
    return path.endswith(file) and sentence.startswith(begin)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        exceptions = [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]
    used, bad = set(), 0
    for path in sys.argv[2:]:
        for paragraph in paragraphs(path):
            for line, sentence in sentences(joined(paragraph)):
                count = len(words(sentence))
                if count <= MOST:
                    continue
                name = next((e for e in exceptions if matches(e, path, sentence)), None)
                if name:
                    used.add(name)
                    continue
                print(f"{path}:{line}: {count} words: {sentence}")
                bad += 1
    for name in exceptions:
        if name not in used and any(p.endswith(name.split(": ", 1)[0]) for p in sys.argv[2:]):
            print(f"{os.path.basename(sys.argv[1])}: no such long sentence any more: {name}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
