"""scene.py: a drape_scene from a file or from parts, and what its pointers point to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import arrays, structs
from ._drape import ffi, lib
from .callbacks import Listener
from .context import Context
from .errors import ArgumentError
from .parts import Cloth, Collider, Pin, kept
from .strings import encoded


class Scene:
    """native: a drape_scene *, which is valid as long as this object is."""

    def __init__(self, native: Any, keep: list):
        self.native, self.keep = native, keep
        self.listeners: list[Listener] = []

    def positions(self) -> np.ndarray:
        """Of all vertices at the start, m; a copy."""
        scene = self.native
        pieces = [scene.pieces[k] for k in range(scene.piece_count)]
        if scene.start:
            return arrays.copied(scene.start, sum(piece.vertices for piece in pieces), 3)
        return np.concatenate([arrays.copied(piece.rest, piece.vertices, 3) for piece in pieces])

    def change(
        self, *, step: float | None, integrator: str | None, integration: Mapping | None, solver: Mapping | None, model: str | None,
        forces: Mapping | None, contact: Mapping | None, start: Any, velocity: Any, colliders: Iterable[Collider], pins: Iterable[Pin],
    ) -> None:
        """Overrides settings of the scene; None keeps them."""
        scene = self.native
        structs.fill(scene, {"step": step, "integration": integration, "solve": solver}, self.keep)
        structs.fill(scene.integration.ode, {"method": integrator}, self.keep)
        structs.fill(scene.cloth, {"model": model}, self.keep)
        structs.fill(scene.forces, forces or {})
        if contact is not None:
            settings = ffi.new("drape_contact_settings *", scene.contact[0]) if scene.contact else ffi.new("drape_contact_settings *")
            structs.fill(settings, contact)
            scene.contact = kept(self.keep, settings)
        self._add_colliders(list(colliders))
        count = len(self.positions())
        for name, value in (("start", start), ("velocity", velocity)):
            if value is not None:
                setattr(scene, name, kept(self.keep, arrays.doubles(arrays.finite(name, arrays.vectors(name, value, count)))))
        self._add_pins(list(pins))

    def _add_colliders(self, colliders: list[Collider]) -> None:
        if colliders:
            array = self._longer("drape_collider", self.native.colliders, self.native.collider_count, len(colliders))
            for k, collider in enumerate(_all(Collider, "colliders", colliders)):
                collider.fill(array[self.native.collider_count + k], self.keep)
            self.native.colliders, self.native.collider_count = array, len(array)

    def _add_pins(self, pins: list[Pin]) -> None:
        if pins:
            array = self._longer("drape_pin", self.native.pins, self.native.pin_count, len(pins))
            positions = self.positions()
            for k, pin in enumerate(_all(Pin, "pins", pins)):
                listener = pin.fill(array[self.native.pin_count + k], positions, self.keep)
                self.listeners += [listener] if listener else []
            self.native.pins, self.native.pin_count = array, len(array)

    def _longer(self, kind: str, old: Any, count: int, more: int) -> Any:
        array = kept(self.keep, ffi.new(kind + "[]", count + more))
        for k in range(count):
            array[k] = old[k]
        return array


def _all(kind: type, name: str, values: list) -> list:
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{name} holds a {type(value).__name__}; drape.{kind.__name__} is needed")
    return values


def of_cloths(cloths: list[Cloth]) -> Scene:
    """A scene of these cloths, with gravity and nothing else; steps of 2 ms."""
    if not cloths:
        raise ArgumentError("there is no cloth")
    keep: list = []
    pieces = kept(keep, ffi.new("drape_piece[]", len(cloths)))
    for piece, cloth in zip(pieces, _all(Cloth, "the scene", cloths)):
        cloth.fill(piece, keep)
    scene = ffi.new("drape_scene *", {"pieces": pieces, "piece_count": len(cloths), "step": 0.002, "steps_per_frame": 20})
    scene.name = kept(keep, ffi.new("char[]", b"python"))
    scene.forces = lib.drape_forces_defaults()
    return Scene(scene, keep)


def of_file(context: Context, name: str | os.PathLike, *, resolution: int | None, settings: Mapping[str, Any] | None, trust_paths: bool) -> Scene:
    """A scene file, or a built-in scene."""
    keep: list = []
    options = ffi.new("drape_scene_options *")
    structs.fill(options, {"resolution": resolution, "trust_paths": trust_paths})
    overrides = [kept(keep, ffi.new("char[]", encoded(f"{path}={value}"))) for path, value in (settings or {}).items()]
    options.set, options.set_count = kept(keep, ffi.new("char *[]", overrides or [ffi.NULL])), len(overrides)
    loaded = context.create("drape_loaded_scene", lib.drape_scene_load, lib.drape_loaded_scene_destroy, _name(name), options)
    with context:
        scene = ffi.new("drape_scene *", lib.drape_loaded_scene_data(loaded.pointer)[0])
    return Scene(scene, [loaded, keep])


def _name(name: str | os.PathLike) -> bytes:
    """A path is a file, whatever its extension."""
    if isinstance(name, os.PathLike) and os.sep not in os.fspath(name):
        name = os.path.join(".", os.fspath(name))
    return encoded(os.fspath(name))
