"""system.py: system files: a linear system with its constraints, as a step made it."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np
import scipy.sparse

from . import arrays
from ._drape import ffi, lib
from .constraints import Constraints
from .context import Context, default_context
from .strings import path_of


@dataclasses.dataclass
class System:
    """S A x = S b with (I - S) x = (I - S) z."""

    A: scipy.sparse.bsr_matrix
    b: np.ndarray
    """(n, 3)"""
    S: np.ndarray
    """(n, 3, 3): projections onto the free directions."""
    z: np.ndarray
    """(n, 3): prescribed values."""
    constraints: Constraints
    """S and z, for drape.solve."""
    h: float
    """s: the time step."""
    rest: np.ndarray
    """(n, 3), m: positions at rest."""
    positions: np.ndarray
    """(n, 3), m: current positions."""


def read_system(path: str | os.PathLike, *, context: Context | None = None) -> System:
    """Reads a file of Simulation.export_system or `drape run --export-system` (docs/system-files.md)."""
    context = context or default_context()
    native = ffi.new("drape_system *")
    with context:
        context.check(lib.drape_system_read(context.pointer, path_of(path), native))
        try:
            return _copied(native)
        finally:
            lib.drape_system_clear(context.pointer, native)


def _copied(system: Any) -> System:
    A, n = system.A, system.A.rows
    rowptr = np.frombuffer(ffi.buffer(A.rowptr, 8 * (n + 1)), np.int64).astype(np.int32 if A.rowptr[n] < 2**31 else np.int64)
    blocks = int(rowptr[-1])
    col = np.frombuffer(ffi.buffer(A.col, 4 * blocks), np.int32).copy()
    matrix = scipy.sparse.bsr_matrix((arrays.copied(A.val, blocks, 3, 3), col, rowptr), shape=(3 * n, 3 * n))
    S, z = arrays.copied(system.S, n, 3, 3), arrays.copied(system.z, n, 3)
    return System(matrix, arrays.copied(system.b, n, 3), S, z, Constraints.from_filter(S, z), system.h,
                  arrays.copied(system.rest, n, 3), arrays.copied(system.cur, n, 3))
