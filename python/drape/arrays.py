"""arrays.py: NumPy arrays as the library's vectors, checked, and the library's arrays as NumPy views."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._drape import ffi
from .context import Handle
from .errors import ArgumentError


def _described(array: np.ndarray) -> str:
    return f"shape {array.shape} and type {array.dtype}"


def real(name: str, value: Any) -> np.ndarray:
    """An array of doubles in C order; copied only if it has another type or order."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has type {array.dtype}; real numbers are needed")
    return np.ascontiguousarray(array, dtype=np.float64)


def vectors(name: str, value: Any, rows: int | None = None) -> np.ndarray:
    """Three numbers per vertex, as (n, 3) or as 3 n numbers in a row; the result has n x 3."""
    array = real(name, value)
    if array.ndim == 1 and array.size % 3 == 0:
        array = array.reshape(-1, 3)
    if array.ndim != 2 or array.shape[1] != 3 or (rows is not None and len(array) != rows):
        wanted = "3 numbers per vertex" if rows is None else f"3 numbers for each of {rows} vertices"
        raise ArgumentError(f"{name} has {_described(np.asarray(value))}; {wanted} are needed")
    return array


def shaped(name: str, value: Any, *shape: int | None) -> np.ndarray:
    """Doubles of this shape; None: any length in that dimension."""
    array = real(name, value)
    if array.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, array.shape)):
        wanted = ", ".join("n" if want is None else str(want) for want in shape)
        raise ArgumentError(f"{name} has {_described(array)}; the shape ({wanted}) is needed")
    return array


def indices(name: str, value: Any, width: int | None = None) -> np.ndarray:
    """int32 numbers in C order, in one row or in rows of `width`."""
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has type {array.dtype}; whole numbers are needed")
    if width is None and array.ndim != 1 or width is not None and (array.ndim != 2 or array.shape[1] != width):
        raise ArgumentError(f"{name} has {_described(array)}; " + ("one row" if width is None else f"the shape (n, {width})") + " is needed")
    if array.size and (array.min() < -(2**31) or array.max() >= 2**31):
        raise ArgumentError(f"{name} holds numbers that do not fit into 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)


def finite(name: str, array: np.ndarray) -> np.ndarray:
    """Raises if a number is not finite, and says where."""
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise ArgumentError(f"{name} at {where if len(where) > 1 else where[0]} is {array[where]}")
    return array


def doubles(array: np.ndarray | None) -> Any:
    """The address for a `double *`; keep it as long as C uses it. None is NULL."""
    return ffi.NULL if array is None else ffi.from_buffer("double[]", array)


def int32s(array: np.ndarray | None) -> Any:
    return ffi.NULL if array is None else ffi.from_buffer("int32_t[]", array)


def view(handle: Handle, pointer: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """A read-only view of an array of the library; the view keeps the array alive."""
    if not pointer:
        raise ArgumentError("there is no such array now")
    owner = ffi.gc(ffi.cast("char *", pointer), lambda _, handle=handle: None)
    array = np.frombuffer(ffi.buffer(owner, math.prod(shape) * np.dtype(dtype).itemsize), dtype=dtype).reshape(shape)
    array.flags.writeable = False
    return array


def copied(pointer: Any, *shape: int) -> np.ndarray:
    """A copy of an array of doubles that the library may change or free later."""
    count = math.prod(shape)
    return np.frombuffer(ffi.buffer(pointer, 8 * count), dtype=np.float64).reshape(shape).copy()


def lent(pointer: Any, *shape: int) -> np.ndarray:
    """An array of doubles of the library, to be written to during a callback and not kept."""
    return np.frombuffer(ffi.buffer(pointer, 8 * math.prod(shape)), dtype=np.float64).reshape(shape)
