"""writer.py: frames of a cloth into files."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import arrays, structs
from ._drape import ffi, lib
from .context import Handle
from .errors import ArgumentError, StateError
from .strings import path_of


class Writer:
    """Writes frames; close it, or use it in a `with`, to put the file in its place."""

    def __init__(self, handle: Handle, cloth: Any, path: str | os.PathLike, *, fps: float, title: str | None, pieces: Any = ffi.NULL, keep: Any = None):
        """handle: what owns the cloth."""
        self.context = handle.context
        self._keep, self._cloth = [keep], cloth
        animation = ffi.new("drape_animation *", {"cloth": cloth, "pieces": pieces})
        structs.fill(animation, {"fps": fps, "title": title}, self._keep)
        out = ffi.new("drape_writer **")
        with self.context:
            self.context.check(lib.drape_writer_open(self.context.pointer, path_of(path), animation, out))
        self._pointer: Any = out[0]
        # Who forgets to close it gets the file all the same, also where the program ends. The cloth must live until then.
        self._finish = weakref.finalize(self, _finish, handle, out[0], self._keep)
        self._simulation: Any = None
        self._colliders: Handle | None = None

    @classmethod
    def of_simulation(cls, simulation: Any, handle: Handle, scene: Any, path: str | os.PathLike, *, fps: float, title: str | None) -> Writer:
        writer = cls(handle, simulation._cloth, path, fps=fps, title=title, pieces=scene.native.pieces, keep=scene)
        writer._simulation = simulation
        if scene.native.collider_count:
            writer._colliders = handle.context.create("drape_collider_meshes", lib.drape_collider_meshes_create,
                                                      lib.drape_collider_meshes_destroy, scene.native)
        return writer

    def frame(self, positions: Any = None, *, attributes: Mapping[str, Any] | None = None) -> None:
        """Writes one frame.

        positions: (n, 3), m; None: those of the simulation now.
        attributes: numbers per vertex (n,) or (n, k), or per triangle likewise, by name; the same names in all frames.
        """
        if self._pointer is None:
            raise StateError("this writer is closed")
        if positions is None and self._simulation is None:
            raise ArgumentError("positions are needed")
        keep: list = []
        frame = ffi.new("drape_frame *")
        positions = self._simulation.positions if positions is None else positions
        frame.positions = _kept(keep, arrays.doubles(arrays.vectors("positions", positions, lib.drape_cloth_vertices(self._cloth))))
        self._give_attributes(frame, attributes or {}, keep)
        with self.context:
            if self._colliders is not None:
                meshes = self._colliders.pointer
                frame.mesh_count = lib.drape_collider_meshes_count(meshes)
                frame.meshes = lib.drape_collider_meshes_at(meshes, self._simulation.time)
                frame.mesh_appearance = lib.drape_collider_meshes_appearance(meshes)
            self.context.check(lib.drape_writer_frame(self._pointer, frame))

    def _give_attributes(self, frame: Any, attributes: Mapping[str, Any], keep: list) -> None:
        list_ = _kept(keep, ffi.new("drape_frame_attribute[]", max(len(attributes), 1)))
        for attribute, (name, value) in zip(list_, attributes.items()):
            values = arrays.finite(name, arrays.real(name, value))
            if values.ndim not in (1, 2):
                raise ArgumentError(f"the attribute {name!r} has the shape {values.shape}; (n,) or (n, k) is needed")
            structs.fill(attribute, {"name": name, "components": 1 if values.ndim == 1 else values.shape[1]}, keep)
            attribute.place, attribute.values = self._place(name, values), _kept(keep, arrays.doubles(values))
        frame.attributes, frame.attribute_count = list_, len(attributes)

    def _place(self, name: str, values: np.ndarray) -> int:
        places = {lib.drape_cloth_vertices(self._cloth): lib.DRAPE_PER_VERTEX, lib.drape_cloth_triangles(self._cloth): lib.DRAPE_PER_TRIANGLE}
        if len(values) not in places:
            raise ArgumentError(f"the attribute {name!r} has {len(values)} values, and there are {' or '.join(map(str, places))}")
        return places[len(values)]

    def close(self) -> None:
        """Finishes the file and puts it in its place."""
        if self._pointer is not None:
            pointer, self._pointer = self._pointer, None
            self._finish.detach()
            with self.context:
                self.context.check(lib.drape_writer_close(pointer))

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def _finish(handle: Handle, pointer: Any, keep: list) -> None:
    handle.context.free(lib.drape_writer_close, pointer)


def _kept(keep: list, pointer: Any) -> Any:
    keep.append(pointer)
    return pointer
