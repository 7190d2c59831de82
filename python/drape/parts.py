"""parts.py: what a simulation from arrays is made of: cloths, pins and colliders, as plain data in SI units."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import arrays, structs
from ._drape import ffi, lib
from .callbacks import Listener, keep_error, listener_of
from .errors import ArgumentError
from .strings import encoded


@dataclasses.dataclass
class Cloth:
    """One sheet.

    positions: (n, 3), m, at rest. triangles: (m, 3), numbers of vertices.
    material: a name of drape.fabrics(), or a dictionary of fields that differ from those of `fabric` ("cotton" without that key).
        Fields: density (kg/m^2), stretch (2 numbers, N/m, along warp and weft), shear (N/m), bend (N m), damping_stretch,
        damping_shear, damping_bend (s), and more in docs/fabrics.md and docs/models.md.
    uv: (k, 2), m: the pattern it was cut from; uv_triangles: (m, 3) into uv. None: as the positions are.
    mass: (n,), kg; None: from density and area.
    thickness: m, kept between layers. friction: coefficient of Coulomb's law.
    """

    positions: Any
    triangles: Any
    material: str | Mapping[str, Any] = "cotton"
    uv: Any = None
    uv_triangles: Any = None
    mass: Any = None
    thickness: float = 0.0
    friction: float = 0.0
    name: str | None = None

    def fill(self, piece: Any, keep: list) -> None:
        """Fills a drape_piece; keep gets what it points to."""
        structs.fill(piece, {"name": self.name, "thickness": self.thickness, "friction": self.friction}, keep)
        rest, triangle = arrays.vectors("positions", self.positions), arrays.indices("triangles", self.triangles, 3)
        piece.vertices, piece.triangles = len(rest), len(triangle)
        piece.rest, piece.triangle = kept(keep, arrays.doubles(rest)), kept(keep, arrays.int32s(triangle))
        piece.material = _material(self.material)
        if self.mass is not None:
            piece.mass = kept(keep, arrays.doubles(arrays.shaped("mass", self.mass, len(rest))))
        if self.uv is not None:
            self._fill_uv(piece, keep)

    def _fill_uv(self, piece: Any, keep: list) -> None:
        own = self.uv_triangles is not None
        uv = arrays.shaped("uv", self.uv, None if own else piece.vertices, 2)
        piece.uv, piece.uv_vertices = kept(keep, arrays.doubles(uv)), len(uv)
        if own:
            uv_triangle = arrays.indices("uv_triangles", self.uv_triangles, 3)
            if len(uv_triangle) != piece.triangles:
                raise ArgumentError(f"there are {len(uv_triangle)} uv_triangles for {piece.triangles} triangles")
            piece.uv_triangle = kept(keep, arrays.int32s(uv_triangle))


def kept(keep: list, pointer: Any) -> Any:
    keep.append(pointer)
    return pointer


def _material(material: str | Mapping[str, Any]) -> Any:
    fields = {"fabric": material} if isinstance(material, str) else dict(material)
    out = ffi.new("drape_material *", lib.drape_material_defaults())
    fabric = fields.pop("fabric", None)
    if fabric is not None and not lib.drape_fabric_find(encoded(fabric), out):
        raise ArgumentError(f"there is no fabric {fabric!r}; drape.fabrics() lists them")
    structs.fill(out, fields)
    return out[0]


@dataclasses.dataclass
class Pin:
    """Vertices that are held in the same way.

    vertices: numbered over all cloths.
    move: a function move(time, start) of the time (s) and the positions (k, 3) that the vertices start from (m), which
        returns their displacements (k, 3) or (3,) in m: zero at time 0. It must give the same answer to the same question, and may not
        use the simulation. None: they stay where they are.
    directions: None: held in all three; (3,) or (1, 3): along one direction only; (2, 3): along two.
    begin, end: s: held in steps that end after `begin`, and until `end`; None: for ever.
    stiffness: N/m: of a spring at each vertex towards where it should be; 0: held exactly.
    """

    vertices: Any
    move: Callable[[float, np.ndarray], Any] | None = None
    directions: Any = None
    begin: float = 0.0
    end: float | None = None
    stiffness: float = 0.0

    def fill(self, pin: Any, positions: np.ndarray, keep: list) -> Listener | None:
        """Fills a drape_pin. positions: of all vertices at the start. Returns the callback that may hold an exception."""
        vertices = arrays.indices("vertices of a pin", self.vertices)
        if len(np.unique(vertices)) != len(vertices):
            raise ArgumentError("a pin names a vertex twice")
        pin.count, pin.vertices, pin.directions = len(vertices), kept(keep, arrays.int32s(vertices)), 3
        structs.fill(pin, {"from": self.begin, "until": self.end, "stiffness": self.stiffness})
        if self.directions is not None:
            directions = np.atleast_2d(arrays.real("directions of a pin", self.directions))
            if directions.shape not in ((1, 3), (2, 3)):
                raise ArgumentError(f"directions of a pin have the shape {directions.shape}; (3,), (1, 3) or (2, 3) is needed")
            pin.directions = len(directions)
            pin.direction = [list(direction) for direction in directions] + [[0, 0, 0]] * (3 - len(directions))
        if self.move is None:
            return None
        if len(vertices) and not (0 <= vertices.min() and vertices.max() < len(positions)):
            raise ArgumentError(f"a pin names vertex {vertices.max()}, and there are {len(positions)}")
        motion = Motion(self.move, vertices, positions)
        motion.attach(pin.motion)
        return motion


class Motion(Listener):
    """A function that moves a pin. Called once per time for all vertices; glue.c keeps the results."""

    def __init__(self, move: Callable[[float, np.ndarray], Any], vertices: np.ndarray, positions: np.ndarray):
        super().__init__()
        if not callable(move):
            raise TypeError("move of a pin must be a function, of the time and the positions at the start")
        self.move = move
        self.order = np.argsort(vertices)
        self.start = positions[vertices].copy()
        self.start.flags.writeable = False
        self.keep = (arrays.int32s(np.ascontiguousarray(vertices[self.order])), ffi.new("double[]", 4 * 3 * max(len(vertices), 1)))
        self.native = ffi.new("drape_py_motion *", {"user": self.handle, "count": len(vertices), "vertex": self.keep[0], "moved": self.keep[1]})

    def attach(self, motion: Any) -> None:
        motion.kind = lib.DRAPE_MOTION_CALLBACK
        motion.function = ffi.addressof(lib, "drape_py_displacement")
        motion.user = self.native


@ffi.def_extern(error=False, onerror=keep_error)
def drape_py_move(user, time, moved):
    motion = listener_of(user)
    if motion.error is not None:
        return False
    answer = arrays.real("what move of a pin returns", motion.move(time, motion.start))
    if answer.shape not in ((3,), motion.start.shape):
        raise ArgumentError(f"move of a pin returned the shape {answer.shape}; {motion.start.shape} or (3,) is needed")
    arrays.lent(moved, *motion.start.shape)[...] = np.broadcast_to(answer, motion.start.shape)[motion.order]
    return True


@dataclasses.dataclass
class Collider:
    """An object that cloth cannot pass through. Lengths in m, rotations as vectors in rad (direction: the axis; length: the angle).

    shape: "plane" (all below z = 0), "sphere" (radius), "capsule" (radius, length along z), "box" (size),
        "cylinder" (radius, length, sides), "box_with_hole" (size, hole), "mesh" (positions, triangles).
    position, rotation: where it is.
    keys: in place of a position, the motion: (time in s, position, rotation) each, at rising times.
    thickness: m, distance that cloth keeps. friction: coefficient of Coulomb's law.
    """

    shape: str
    radius: float | None = None
    length: float | None = None
    size: Sequence[float] | None = None
    hole: Sequence[float] | None = None
    sides: int | None = None
    positions: Any = None
    triangles: Any = None
    position: Sequence[float] | None = None
    rotation: Sequence[float] | None = None
    keys: Sequence[tuple[float, Sequence[float], Sequence[float]]] = ()
    thickness: float = 0.0
    friction: float = 0.0
    name: str | None = None

    def fill(self, collider: Any, keep: list) -> None:
        """Fills a drape_collider."""
        fields = ("name", "shape", "radius", "length", "size", "hole", "sides", "rotation", "thickness", "friction")
        structs.fill(collider, {name: getattr(self, name) for name in fields}, keep)
        if self.positions is not None or self.triangles is not None:
            positions, triangles = arrays.vectors("positions", self.positions), arrays.indices("triangles", self.triangles, 3)
            collider.vertices, collider.positions = len(positions), kept(keep, arrays.doubles(positions))
            collider.triangles, collider.triangle = len(triangles), kept(keep, arrays.int32s(triangles))
        keys: list[Any] = [(0.0, self.position, (0, 0, 0))] if self.position is not None and not self.keys else list(self.keys)
        collider.key_count, collider.key = len(keys), kept(keep, ffi.new("drape_collider_key[]", max(len(keys), 1)))
        for key, (time, position, rotation) in zip(collider.key[0 : len(keys)], keys):
            structs.fill(key, {"time": time, "position": position, "rotation": rotation})
