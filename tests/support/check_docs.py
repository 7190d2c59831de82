"""check_docs.py ROOT: every relative link and anchor of the manual leads somewhere, and nothing public is undocumented.

Prints one line per problem, `file:line: what`, and exits with 1 where there is any. Standard library only.

- Links and pictures in README.md, CONTRIBUTING.md, docs/, docs/notes/ and examples/*/README.md lead to files that exist. So do anchors to
  headings, as GitHub and Python-Markdown make them.
- Pages and sections that messages of the program name ("docs/wrong.md#it-explodes") exist.
- Every function that include/drape/*.h declares has a comment beside or above it, or is named in another comment of a header or in docs/.
  The exception is drape_X_defaults, of which drape/base.h says what they all do. Every struct and enum has a comment above it.
- Every key of a scene is named, in backquotes, in docs/scenes.md."""
import glob
import os
import re
import sys

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def without_code(text):
    """The same lines, with code blocks and inline code blanked, so that what looks like a link there is none."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if re.match(r"\s*```", line):
            fenced = not fenced
            lines.append("")
        elif fenced or line.startswith("    ") and not re.match(r"\s+([-*]|\d+\.) ", line):
            lines.append("")
        else:
            lines.append(re.sub(r"`[^`]*`", "``", line))
    return lines


def anchors(path, cache={}):
    if path not in cache:
        found, fenced = {}, False
        with open(path) as file:
            for line in file:
                if line.startswith("```"):
                    fenced = not fenced
                match = None if fenced else re.match(r"#{1,6} (.*?)\s*#*$", line)
                if match:
                    word = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
                    word = re.sub(r"[^\w\- ]", "", word).replace(" ", "-")
                    count = found.get(word, 0)
                    found[word] = count + 1
                    if count:
                        found[f"{word}-{count}"] = 1
        cache[path] = set(found)
    return cache[path]


def pages(root):
    for pattern in ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/notes/*.md", "examples/*/README.md"):
        yield from sorted(glob.glob(os.path.join(root, pattern)))


def check_links(root):
    count = 0
    for page in pages(root):
        with open(page) as file:
            text = file.read()
        for number, line in enumerate(without_code(text), 1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                where = f"{os.path.relpath(page, root)}:{number}"
                if not os.path.exists(file):
                    yield f"{where}: there is no {target}"
                elif anchor and file.endswith(".md") and anchor not in anchors(file):
                    yield f"{where}: {os.path.relpath(file, root)} has no section #{anchor}"
    if count < 100:
        yield f"only {count} links were found"


def check_messages(root):
    """Pages that the strings of the sources name."""
    count = 0
    for path in sorted(glob.glob(os.path.join(root, "src/*/*.c")) + glob.glob(os.path.join(root, "cli/*.c"))):
        with open(path) as file:
            for number, line in enumerate(file, 1):
                for page, anchor in re.findall(r'"[^"]*?\b(docs/[\w/-]+\.md)(?:#([\w-]+))?', line):
                    count += 1
                    file_there = os.path.join(root, page)
                    where = f"{os.path.relpath(path, root)}:{number}"
                    if not os.path.exists(file_there):
                        yield f"{where}: there is no {page}"
                    elif anchor and anchor not in anchors(file_there):
                        yield f"{where}: {page} has no section #{anchor}"
    if not count:
        yield "no message names a page"


def reached(root):
    """Pages of docs/ that a reader finds from docs/README.md or docs/notes/README.md."""
    for index, pattern in (("docs/README.md", "docs/*.md"), ("docs/notes/README.md", "docs/notes/*.md")):
        with open(os.path.join(root, index)) as file:
            listed = set(re.findall(r"\(([a-z-]+\.md)\)", file.read()))
        for page in sorted(glob.glob(os.path.join(root, pattern))):
            name = os.path.basename(page)
            if name != "README.md" and name not in listed:
                yield f"{index}: does not list {name}"


def check_functions(root):
    """A declaration is documented by a comment after it on its last line or directly above it. One above its group of
    declarations, without an empty line between, will do too."""
    count, named = 0, set()
    for path in glob.glob(os.path.join(root, "include/drape/*.h")) + list(pages(root)):
        with open(path) as file:
            text = file.read()
        comments = re.findall(r"/\*.*?\*/", text, re.S) if path.endswith(".h") else [text]
        named.update(re.findall(r"\bdrape_\w+", " ".join(comments)))
    for header in sorted(glob.glob(os.path.join(root, "include/drape/*.h"))):
        with open(header) as file:
            lines = file.read().split("\n")
        documented, number = False, 0
        while number < len(lines):
            line = lines[number]
            first = number
            if not line.strip():
                documented = False
            elif line.lstrip().startswith("/*"):
                documented = True
                while "*/" not in lines[number]:
                    number += 1
            elif re.match(r"typedef (struct|enum) drape_\w+", line) and not documented and "/*" not in line:
                yield f"{os.path.relpath(header, root)}:{number + 1}: {line.split()[2].rstrip(';')} has no comment"
            elif line.startswith("DRAPE_API"):
                while ";" not in lines[number]:
                    number += 1
                declaration = " ".join(lines[first:number + 1])
                name = re.search(r"\b(drape_\w+)\(", declaration)
                if "/*" in declaration:
                    while "*/" not in lines[number]:
                        number += 1
                if name:
                    count += 1
                    known = name[1] in named or name[1].endswith("_defaults")
                    known = known or name[1].endswith("_create") and any(n.startswith(name[1][:-6]) for n in named)
                    if not documented and "/*" not in declaration and not known:
                        yield f"{os.path.relpath(header, root)}:{first + 1}: {name[1]} has no comment"
            number += 1
    if count < 200:
        yield f"only {count} public functions were found"


def check_keys(root):
    keys, count = {}, 0
    for source in sorted(glob.glob(os.path.join(root, "src/io/scene_*.[ch]"))):
        with open(source) as file:
            text = file.read()
        lists = re.findall(r"static const char \*const (?:keys|wind_keys|names|kinds|mesh_only)\[\] = \{.*?\};|define PICK_KEYS.*", text, re.S)
        for part in lists:
            part = part if part.startswith("static") else part.split("\n")[0]
            for key in re.findall(r'"([a-z_]+)"', part):
                keys.setdefault(key, os.path.relpath(source, root))
    with open(os.path.join(root, "docs/scenes.md")) as file:
        page = file.read()
    for key, source in sorted(keys.items()):
        count += 1
        if f"`{key}`" not in page:
            yield f"docs/scenes.md: no word about the key `{key}` of {source}"
    if count < 50:
        yield f"only {count} keys of scenes were found"


def main():
    root = sys.argv[1]
    problems = [p for check in (check_links, check_messages, reached, check_functions, check_keys) for p in check(root)]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
