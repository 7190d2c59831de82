"""declarations.py: what cffi is told of drape's functions and structs, taken from the public headers.

The C preprocessor reads the headers, and its line markers tell which lines are drape's own, so that declarations cannot
differ from the library.
"""

import os
import re
import subprocess

# All public headers but those that the library itself does not have: CHOLMOD's, and that of plugins.
HEADERS = ("base", "sparse", "solve", "ode", "cloth", "force", "collider", "contact", "crossings", "sim", "io")


def includes():
    return "".join(f'#include "drape/{name}.h"\n' for name in HEADERS)


def of_headers(include_dirs):
    """The declarations of the headers, in the part of C that cffi reads."""
    flags = [f"-I{folder}" for folder in include_dirs]
    command = [*os.environ.get("CC", "cc").split(), "-E", "-std=c17", *flags, "-x", "c", "-"]
    text = subprocess.run(command, input=includes(), capture_output=True, text=True, check=True).stdout
    text = re.sub(r'__attribute__\(\(visibility\("default"\)\)\)', "", "".join(_own_lines(text)))
    # cffi 1.15 writes wrong C for pointers to arrays of constants.
    return re.sub(r"const (double \(\*\w+\)\[\d+\])", r"\1", text)


def _own_lines(text):
    own = False
    for line in text.splitlines(keepends=True):
        marker = re.match(r'# \d+ "(.*)"', line)
        if marker:
            own = re.search(r"(^|/)drape/[a-z_]+\.h$", marker.group(1)) is not None
        elif own:
            yield line


def of_glue(path):
    with open(path, encoding="utf-8") as file:
        return file.read()
