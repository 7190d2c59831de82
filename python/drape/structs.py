"""structs.py: settings from keywords into C structs, and results from C structs into objects.

Names of fields are those of the headers in both directions, so docs/ and the headers describe them. Enumerations are
strings: those of drape_X_name.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Mapping
from typing import Any

from ._drape import ffi, lib
from .strings import encoded, text


def fill(target: Any, values: Mapping[str, Any], keep: list | None = None) -> None:
    """Sets fields of a struct; None leaves one at its default. keep: gets the strings, which must outlive the struct."""
    if not isinstance(values, Mapping):
        raise TypeError(f"a dictionary of settings is needed, not {type(values).__name__}")
    kind = ffi.typeof(target)
    kind = kind.item if kind.kind == "pointer" else kind
    fields = {name: field for name, field in kind.fields if name != "reserved"}
    for name, value in values.items():
        if name not in fields:
            raise TypeError(f"there is no setting {name!r}; there are {', '.join(_settable(fields))}")
        if value is None:
            continue
        try:
            _set(target, name, fields[name].type, value, keep)
        except (TypeError, OverflowError, IndexError) as error:
            raise TypeError(f"{name}: {error}") from None


def _settable(fields: Mapping[str, Any]) -> list[str]:
    return [name for name, field in fields.items() if field.type.kind != "pointer" or field.type.item.cname == "char"]


def _set(target: Any, name: str, kind: Any, value: Any, keep: list | None) -> None:
    if kind.kind == "enum":
        setattr(target, name, enum_value(kind, value))
    elif kind.kind == "struct":
        fill(getattr(target, name), value, keep)
    elif kind.kind == "array":
        numbers = [float(number) for number in value]
        if len(numbers) != kind.length:
            raise TypeError(f"{kind.length} numbers are needed, not {len(numbers)}")
        setattr(target, name, numbers)
    elif kind.kind == "pointer" and isinstance(value, str) and keep is not None:
        keep.append(ffi.new("char[]", encoded(value)))
        setattr(target, name, keep[-1])
    elif kind.kind == "primitive":
        setattr(target, name, bool(value) if kind.cname == "_Bool" else value)
    else:
        raise TypeError(f"a value of type {type(value).__name__} does not fit here")


@functools.lru_cache(maxsize=None)
def _enum_names(cname: str) -> dict[str, int]:
    """Names of an enumeration: those of its drape_X_name if there is one, else of its constants."""
    kind = ffi.typeof(cname)
    namer = getattr(lib, cname.removeprefix("enum ") + "_name", None)
    constants = {name: value for value, name in kind.elements.items()}
    if namer is None:
        return {name.rsplit("_", 1)[-1].lower(): value for name, value in constants.items()}
    return {text(namer(value)): value for value in constants.values() if namer(value)}


def enum_value(kind: Any, name: str) -> int:
    known = _enum_names(kind.cname)
    if name not in known:
        raise TypeError(f"{name!r} is none of {', '.join(known)}")
    return known[name]


def enum_name(kind: Any, value: int) -> str:
    for name, number in _enum_names(kind.cname).items():
        if number == value:
            return name
    return str(value)


class Record:
    """Results of the library as plain Python values; the class's annotations say which fields of the C struct."""

    def __init__(self, source: Any):
        kind = ffi.typeof(source)
        kind = kind.item if kind.kind == "pointer" else kind
        types = {name: field.type for name, field in kind.fields}
        own: Any = type(self)
        for name, hint in _hints(own).items():
            if name in types and _is_readable(types[name]):
                setattr(self, name, _value(getattr(source, name), types[name], hint))

    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary of dictionaries, without arrays."""
        found = {}
        for name, value in vars(self).items():
            if isinstance(value, Record):
                value = value.as_dict()
            if isinstance(value, (dict, str, int, float, bool, type(None))):
                found[name] = value
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"


@functools.lru_cache(maxsize=None)
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _is_readable(kind: Any) -> bool:
    """Not arrays: the class that has one says how long it is."""
    return kind.kind != "pointer" or kind.item.cname == "char"


def _value(value: Any, kind: Any, hint: Any) -> Any:
    if kind.kind == "enum":
        return enum_name(kind, value)
    if kind.kind == "struct":
        return hint(value)
    if kind.kind == "pointer":
        return text(value) if value else None
    return value
