"""mesh.py: meshes and their frames, from files and into files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import arrays
from ._drape import ffi, lib
from .context import Context, Handle, default_context
from .errors import ArgumentError
from .parts import Cloth
from .strings import path_of
from .use import Use
from .writer import Writer


class Mesh(NamedTuple):
    """positions (n, 3) in m, where drape wrote the file, and triangles (m, 3)."""

    positions: np.ndarray
    triangles: np.ndarray


class Frames(Sequence):
    """The frames of a file or of a sequence of files: frames[k] is an (n, 3) array.

    path: sheet.obj or sheet.ply (that file, or sheet_0000.obj and so on); sheet.pc2 or sheet.mdd (with sheet_rest.obj).
    mesh: a mesh file with the triangles, for files that hold positions only.
    """

    def __init__(self, path: str | os.PathLike, *, mesh: str | os.PathLike | None = None, context: Context | None = None):
        self.context = context or default_context()
        self._busy = False
        options = ffi.new("drape_reader_options *")
        name = None if mesh is None else ffi.new("char[]", path_of(mesh))
        if name is not None:
            options.mesh = name
        self._handle: Handle | None
        self._handle = handle = self.context.create("drape_reader", lib.drape_reader_open, lib.drape_reader_close, path_of(path), options)
        info = lib.drape_reader_describe(handle.pointer)
        self.vertices: int = info.vertices
        """Vertices of each frame; those of meshes beside the cloth come last."""
        self.fps: float | None = info.fps or None
        """Frames per second; None: the file does not say."""
        self._frames = info.frames
        self.triangles = np.empty((0, 3), np.int32)
        """(m, 3); empty if the file holds none."""
        if info.triangles:
            self.triangles = arrays.view(handle, info.triangle, (info.triangles, 3), np.int32)

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, frame: Any) -> Any:
        if isinstance(frame, slice):
            return [self[k] for k in range(*frame.indices(len(self)))]
        index = frame + len(self) if frame < 0 else frame
        if not 0 <= index < len(self):
            raise IndexError(f"frame {frame} of {len(self)}")
        positions = np.empty((self.vertices, 3))
        with Use(self) as handle:
            self.context.check(lib.drape_reader_frame(handle.pointer, index, arrays.doubles(positions)))
        return positions

    def number(self, frame: int) -> int:
        """The number of a frame within its run."""
        with Use(self) as handle:
            return lib.drape_reader_number(handle.pointer, frame)

    def close(self) -> None:
        self._handle = None


def read(path: str | os.PathLike, *, frame: int = 0, mesh: str | os.PathLike | None = None, context: Context | None = None) -> Mesh:
    """One frame of a file that Frames reads."""
    frames = Frames(path, mesh=mesh, context=context)
    return Mesh(frames[frame], np.array(frames.triangles))


def write(
    path: str | os.PathLike,
    positions: Any,
    triangles: Any,
    *,
    fps: float = 25.0,
    title: str | None = None,
    uv: Any = None,
    uv_triangles: Any = None,
    attributes: Mapping[str, Any] | None = None,
    context: Context | None = None,
) -> None:
    """Writes a mesh, or an animation of it, in the format given by the extension (drape.formats()).

    positions: (n, 3), m; or (frames, n, 3). The first frame is the rest shape of formats that have one.
    triangles: (m, 3).
    fps: frames per second.
    uv, uv_triangles: texture coordinates, as of a Cloth.
    attributes: numbers per vertex or triangle, by name: (n,) or (n, k), the same in all frames.

    .obj and .ply are one file per frame: sheet.obj becomes sheet_0000.obj, and `read("sheet.obj")` finds it.
    """
    context = context or default_context()
    frames = arrays.finite("positions", arrays.real("positions", positions))
    frames = frames[None] if frames.ndim == 2 else frames
    if frames.ndim != 3 or frames.shape[2] != 3 or len(frames) == 0:
        raise ArgumentError(f"positions have the shape {np.shape(positions)}; (n, 3) or (frames, n, 3) is needed")
    keep: list = []
    piece = ffi.new("drape_piece *")
    Cloth(frames[0], triangles, uv=uv, uv_triangles=uv_triangles).fill(piece, keep)
    handle = context.create("drape_cloth", lib.drape_cloth_create, lib.drape_cloth_destroy, piece, 1, ffi.NULL)
    with Writer(handle, handle.pointer, path, fps=fps, title=title, pieces=piece, keep=(piece, keep)) as out:
        for frame in frames:
            out.frame(frame, attributes=attributes)
