"""strings.py: strings from and for the library, which are UTF-8."""

from __future__ import annotations

import os
from typing import Any

from ._drape import ffi


def text(pointer: Any) -> str:
    """A string of the library; NULL is empty."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def names(function: Any) -> tuple[str, ...]:
    """All names of a table such as drape_method_name."""
    found: list[str] = []
    while pointer := function(len(found)):
        found.append(text(pointer))
    return tuple(found)


def encoded(value: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"a string is needed, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"a zero character in {value!r}")
    return value.encode()


def path_of(path: str | os.PathLike) -> bytes:
    """The name of a file."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"a zero character in {path!r}")
    return name
