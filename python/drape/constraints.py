"""constraints.py: which vertices of a linear system are held, in which directions, and at which values."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import arrays
from ._drape import ffi, lib
from .context import Context, Handle
from .errors import ArgumentError

_RECORD = np.dtype([("vertex", np.int32), ("directions", np.int32), ("direction", np.float64, (3, 3)), ("z", np.float64, 3)])
assert _RECORD.itemsize == ffi.sizeof("drape_constraint")


class Constraints:
    """(I - S) x = (I - S) z: vertices that are held.

    vertices: their numbers, each once.
    directions: None: held in all three. Shape (3,): all are held along this direction; (k, 3): one direction each;
        (k, m, 3): m directions each, m = 1 or 2. Lengths and angles do not matter, but no direction may be zero.
    values: prescribed values of the unknown, shape (3,) or (k, 3), in the unit of x; the part in free directions is ignored.
        None: zero.
    """

    def __init__(self, vertices: Any, directions: Any = None, values: Any = None):
        vertices = arrays.indices("vertices", vertices)
        self.list = np.zeros(len(vertices), dtype=_RECORD)
        self.list["vertex"] = vertices
        self.list["directions"] = 3
        if directions is not None:
            self._set_directions(arrays.real("directions", directions))
        if values is not None:
            values = arrays.real("values", values)
            if values.shape not in ((3,), (len(vertices), 3)):
                raise ArgumentError(f"values have the shape {values.shape}; (3,) or ({len(vertices)}, 3) is needed")
            self.list["z"] = values

    def _set_directions(self, directions: np.ndarray) -> None:
        count = len(self.list)
        if directions.ndim == 2:
            directions = directions[:, None, :]
        if directions.shape != (3,) and (directions.ndim != 3 or len(directions) != count or directions.shape[1] not in (1, 2)
                                         or directions.shape[2] != 3):
            raise ArgumentError(f"directions have the shape {directions.shape}; (3,), ({count}, 3), ({count}, 1, 3) or ({count}, 2, 3) is needed")
        number = 1 if directions.ndim == 1 else directions.shape[1]
        self.list["directions"] = number
        self.list["direction"][:, :number, :] = directions

    @classmethod
    def from_filter(cls, S: Any, z: Any = None) -> Constraints:
        """From the projections S, (n, 3, 3), onto the free directions, and the prescribed values z, (n, 3)."""
        held = np.eye(3) - arrays.shaped("S", S, None, 3, 3)
        vertices = np.flatnonzero(np.abs(held).max(axis=(1, 2)) > 1e-9)
        constraints = cls(vertices, values=None if z is None else arrays.vectors("z", z, len(held))[vertices])
        # Eigenvectors of I - S to the eigenvalue 1 are what is held; eigh puts them last.
        constraints.list["directions"] = np.rint(np.trace(held[vertices], axis1=1, axis2=2))
        constraints.list["direction"] = np.linalg.eigh(held[vertices])[1].transpose(0, 2, 1)[:, ::-1]
        return constraints

    def __len__(self) -> int:
        return len(self.list)


def _of_mask(mask: np.ndarray, rows: int) -> Constraints:
    """mask: which of the three components of each vertex are zero."""
    if mask.shape == (rows,):
        return Constraints(np.flatnonzero(mask))
    if mask.size != 3 * rows:
        raise ArgumentError(f"constraints: a mask of {mask.size} for {rows} vertices; one value per vertex, or three, are needed")
    mask = mask.reshape(rows, 3)
    held = Constraints(np.flatnonzero(mask.any(axis=1)))
    mask = mask[held.list["vertex"]]
    held.list["directions"] = mask.sum(axis=1)
    # The axes that are held come first: a stable sort of `free` puts them there.
    held.list["direction"] = np.eye(3)[np.argsort(~mask, axis=1, kind="stable")]
    return held


def of(value: Any, rows: int) -> Constraints | None:
    """None, Constraints, indices of vertices that are held at zero, or a mask of booleans."""
    if value is None or isinstance(value, Constraints):
        return value
    value = np.asarray(value)
    return _of_mask(value, rows) if value.dtype == bool else Constraints(value)


class ConstraintSet:
    """The library's own set, which is kept from solve to solve."""

    def __init__(self, context: Context):
        self.context = context
        self.rows = -1
        self.handle: Handle | None = None

    def set(self, value: Any, rows: int) -> Any:
        """Its address, or NULL if nothing is held."""
        held = of(value, rows)
        if held is None or len(held) == 0:
            return ffi.NULL
        if self.handle is None or self.rows != rows:
            self.handle = self.context.create("drape_constraints", lib.drape_constraints_create, lib.drape_constraints_destroy, rows)
            self.rows = rows
        with self.context:
            list_ = ffi.cast("drape_constraint *", ffi.from_buffer(held.list))
            self.context.check(lib.drape_constraints_set(self.handle.pointer, list_, len(held)))
        return self.handle.pointer
