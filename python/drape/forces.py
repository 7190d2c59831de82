"""forces.py: a force of the user's own, as a function of all positions and velocities."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from . import arrays
from ._drape import ffi
from .callbacks import Listener, keep_error, listener_of
from .errors import ArgumentError


@dataclasses.dataclass
class ForcePoint:
    """Where a force is evaluated. The arrays are copies, which may be kept."""

    time: float
    """s"""
    x: np.ndarray
    """(n, 3), m"""
    v: np.ndarray | None
    """(n, 3), m/s; None if an energy is asked for."""
    lagged_x: np.ndarray | None
    """(n, 3), m: where the built-in forces take the geometry of damping and wind; None: at x."""
    jacobians: bool
    """Whether stiffness and damping are needed beside the force, if there are any."""


class Force(Listener):
    """function(point) returns the force (n, 3) in N; or (force, stiffness), or (force, stiffness, damping). Both are (n, 3, 3):
    -d force / dx in N/m and -d force / dv in N s/m, of the same vertex. energy(point) returns J."""

    def __init__(self, function: Callable[[ForcePoint], Any], energy: Callable[[ForcePoint], float] | None):
        super().__init__()
        if not callable(function) or not (energy is None or callable(energy)):
            raise TypeError("a force and its energy are functions, of a drape.ForcePoint")
        self.function, self.energy = function, energy


def _point(at: Any) -> ForcePoint:
    def copy(pointer: Any) -> Any:
        return arrays.copied(pointer, at.vertices, 3) if pointer else None

    return ForcePoint(at.time, copy(at.x), copy(at.v), copy(at.lagged_x), at.jacobians)


def _add(name: str, target: Any, value: Any, *shape: int) -> None:
    if target and value is not None:
        arrays.lent(target, *shape)[...] += arrays.shaped(name, value, *shape)


@ffi.def_extern(onerror=keep_error)
def drape_py_force(user, at, out):
    listener = listener_of(user)
    try:
        if listener.error is not None:
            raise listener.error
        answer = listener.function(_point(at))
        parts = answer if isinstance(answer, tuple) else (answer,)
        if not 1 <= len(parts) <= 3:
            raise ArgumentError(f"a force returned {len(parts)} arrays; force, stiffness and damping are meant")
        names = ("force", "stiffness", "damping")
        for name, value, shape in zip(names, parts, ((3,), (3, 3), (3, 3))):
            _add(f"{name} of a force", getattr(out, name), value, at.vertices, *shape)
    except BaseException:
        out.force[0] = float("nan")  # makes the evaluation fail
        raise


@ffi.def_extern(error=float("nan"), onerror=keep_error)
def drape_py_energy(user, at):
    listener = listener_of(user)
    return float("nan") if listener.error is not None else float(listener.energy(_point(at)))
