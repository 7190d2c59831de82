"""sim.py: simulations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import arrays, scene, structs
from ._drape import ffi, lib
from .callbacks import Watch
from .context import Context, Handle, default_context
from .errors import ArgumentError, StateError
from .forces import Force, ForcePoint
from .parts import Cloth, Collider, Pin
from .solver import SolveResult
from .strings import encoded, path_of, text
from .use import Use
from .writer import Writer


class CertificateOde(structs.Record):
    """What the integrator did in a step."""

    reason: str
    substeps: int
    rejected: int
    evaluations: int
    newton_iterations: int
    cuts: int
    unconverged: int
    newton_error: float


class CertificateEnergy(structs.Record):
    """Energies in J, and where they came from and went to since the start (drape/sim.h)."""

    kinetic: float
    elastic: float
    weight: float
    start: float
    fabric: float
    wind: float
    pins: float
    integrator: float
    unbalanced: float
    forces: dict[str, float]
    """The energy of each force; NaN: it has none."""

    def __init__(self, source: Any):
        super().__init__(source)
        self.forces = {text(source.force[k].name): source.force[k].energy for k in range(source.force_count)} if source.force else {}


class CertificateContact(structs.Record):
    """What touched in a step (drape/sim.h)."""

    count: int
    held: int
    sliding: int
    released: int
    springs: int
    passes: int
    zones: int
    cuts: int
    pairs: int
    hits: int
    moved: int
    truncated: int
    pinched: int
    broad: float
    narrow: float
    response: float
    touch: float
    gate: float


class CertificateSeconds(structs.Record):
    """Where the time of the step went, s."""

    assemble: float
    precondition: float
    solve: float
    update: float


class Certificate(structs.Record):
    """What a step did, and how well."""

    step: int
    """Counts from 1."""
    time: float
    """s, at the end of the step."""
    stretch: float
    """The largest stretch; 1 at rest."""
    linear: SolveResult
    """The last linear solve; `iterations` counts those of all solves."""
    ode: CertificateOde
    energy: CertificateEnergy
    contact: CertificateContact
    seconds: CertificateSeconds


class EquilibriumResult(structs.Record):
    """How Simulation.find_equilibrium went."""

    at_rest: bool
    residual: float
    """Remaining forces in free directions, relative to the weight."""
    weight: float
    """N"""
    moved: float
    """m: the largest displacement of a vertex."""
    iterations: int
    linear_iterations: int


class Simulation:
    """A cloth that moves in time.

    scene: a scene file ("flag.yaml", a path), the name of one that ships (drape.scenes()), a Cloth or a list of them.

    Of scene files only: resolution: vertices along the width of every grid; set: what to override, {"time.step": "1 ms"};
    trust_paths: mesh files may lie outside the folder of the scene.

    All that follows overrides what the scene says, or adds to it:
    pins, colliders: lists of Pin and Collider, added to those of the scene.
    step: s; 2 ms for scenes from arrays.
    integrator: one of drape.integrators(); "bdf2" for scenes from arrays. integration: fields of drape_integration
        as a dictionary, such as {"max_stretch": 3, "ode": {"newton": {"tolerance": 1e-5}}}.
    solver: fields of drape_solve_settings: {"precond": "amg", "tol": 1e-6}.
    model: one of drape.models().
    forces: fields of drape_forces: gravity, wind (3 numbers each, m/s^2 and m/s), drag (kg/m^3), air_drag (N s/m^3), still_air.
    contact: fields of drape_contact_settings: {"self": True, "distance": 1e-3}.
    start, velocity: (n, 3), m and m/s, at time 0.
    context: the threads to compute with.

    Ctrl-C in the main thread ends a step: KeyboardInterrupt is raised, and the state is that of before the step.
    """

    def __init__(
        self,
        scene: str | os.PathLike | Cloth | Sequence[Cloth],
        *,
        resolution: int | None = None,
        set: Mapping[str, Any] | None = None,
        trust_paths: bool = False,
        pins: Iterable[Pin] = (),
        colliders: Iterable[Collider] = (),
        step: float | None = None,
        integrator: str | None = None,
        integration: Mapping[str, Any] | None = None,
        solver: Mapping[str, Any] | None = None,
        model: str | None = None,
        forces: Mapping[str, Any] | None = None,
        contact: Mapping[str, Any] | None = None,
        start: Any = None,
        velocity: Any = None,
        context: Context | None = None,
    ):
        self.context = context or default_context()
        self._busy = False
        self._handle: Handle | None = None
        self._certificate: Certificate | None = None
        self._scene = self._load(scene, resolution, set, trust_paths)
        self._scene.change(step=step, integrator=integrator, integration=integration, solver=solver, model=model, forces=forces,
                           contact=contact, start=start, velocity=velocity, colliders=colliders, pins=pins)
        self._watch = Watch()
        self._watch.attach(self._scene.native.solve)
        self._listeners = [*self._scene.listeners, self._watch]
        self._forces = ffi.new("drape_forces *", self._scene.native.forces)
        out = ffi.new("drape_sim **")
        with self.context:
            self._call(lib.drape_sim_create, self.context.pointer, self._scene.native, out)
            self._handle = Handle(self.context, out[0], lib.drape_sim_destroy)
        self._handle.keep.update(scene=self._scene, listeners=self._listeners)
        self._cloth = lib.drape_sim_cloth(out[0])

    def _load(self, what: Any, resolution: int | None, set: Mapping | None, trust_paths: bool) -> scene.Scene:
        if isinstance(what, (str, os.PathLike)):
            return scene.of_file(self.context, what, resolution=resolution, settings=set, trust_paths=trust_paths)
        if resolution is not None or set is not None:
            raise TypeError("resolution and set are for scene files")
        return scene.of_cloths([what] if isinstance(what, Cloth) else list(what))

    def _call(self, function: Any, *arguments: Any) -> None:
        """Calls the library under the lock; raises the exception of a callback, or the library's error."""
        for listener in self._listeners:
            listener.error = None
        self._watch.begin()
        status = function(*arguments)
        for listener in self._listeners:
            listener.raise_error()
        self.context.check(status)

    # ---- Stepping ----

    def step(self, count: int = 1) -> Certificate:
        """Does `count` steps (at least one); returns the certificate of the last.

        Raises drape.NumberError where the state cannot be believed; it is then that of before the step.
        """
        if count < 1:
            raise ArgumentError(f"{count} steps; at least one is needed")
        certificate = ffi.new("drape_certificate *")
        for _ in range(count):
            with Use(self) as handle:
                self._call(lib.drape_sim_step, handle.pointer, certificate)
                done = self._certificate = Certificate(certificate)
        return done

    def find_equilibrium(self, *, tolerance: float | None = None, max_iterations: int | None = None) -> EquilibriumResult:
        """Moves the cloth to its static equilibrium, and stops it. tolerance: in (0, 1), remaining forces relative to the weight."""
        settings, result = ffi.new("drape_equilibrium_settings *"), ffi.new("drape_equilibrium_result *")
        structs.fill(settings, {"tolerance": tolerance, "max_iterations": max_iterations})
        with Use(self) as handle:
            self._call(lib.drape_sim_find_equilibrium, handle.pointer, settings, result)
        return EquilibriumResult(result)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the last step; None before the first."""
        return self._certificate

    # ---- State ----

    @property
    def time(self) -> float:
        """s"""
        with Use(self) as handle:
            return lib.drape_sim_time(handle.pointer)

    @property
    def steps(self) -> int:
        """Number of steps so far."""
        with Use(self) as handle:
            return lib.drape_sim_steps(handle.pointer)

    @property
    def positions(self) -> np.ndarray:
        """(n, 3), m: a read-only view, which shows every later step. Assigning changes the state."""
        with Use(self) as handle:
            return arrays.view(handle, lib.drape_sim_positions(handle.pointer), (self.vertices, 3))

    @positions.setter
    def positions(self, value: Any) -> None:
        self.set_state(positions=value)

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3), m/s: a read-only view, as `positions`."""
        with Use(self) as handle:
            return arrays.view(handle, lib.drape_sim_velocities(handle.pointer), (self.vertices, 3))

    @velocities.setter
    def velocities(self, value: Any) -> None:
        self.set_state(velocities=value)

    def set_state(self, positions: Any = None, velocities: Any = None) -> None:
        """Changes the state between two steps; None keeps that part."""
        x, v = (None if value is None else arrays.vectors(name, value, self.vertices)
                for name, value in (("positions", positions), ("velocities", velocities)))
        with Use(self) as handle:
            self._call(lib.drape_sim_set_state, handle.pointer, arrays.doubles(x), arrays.doubles(v))

    @property
    def constraint_forces(self) -> np.ndarray | None:
        """(n, 3), N s: the impulses that held the pins in the last step, a copy; None before it."""
        with Use(self) as handle:
            pointer = lib.drape_sim_constraint_forces(handle.pointer)
            return arrays.copied(pointer, self.vertices, 3) if pointer else None

    # ---- What it is made of ----

    @property
    def vertices(self) -> int:
        """Number of vertices of all pieces."""
        self._open()
        return lib.drape_cloth_vertices(self._cloth)

    @property
    def triangles(self) -> np.ndarray:
        """(m, 3), a read-only view."""
        return arrays.view(self._open(), lib.drape_cloth_triangle(self._cloth), (lib.drape_cloth_triangles(self._cloth), 3), np.int32)

    @property
    def masses(self) -> np.ndarray:
        """(n,), kg, a read-only view."""
        return arrays.view(self._open(), lib.drape_cloth_mass(self._cloth), (self.vertices,))

    @property
    def pieces(self) -> dict[str, slice]:
        """The vertices of each piece, by its name."""
        self._open()
        ranges = [lib.drape_cloth_piece(self._cloth, k) for k in range(lib.drape_cloth_pieces(self._cloth))]
        return {text(piece.name): slice(piece.first_vertex, piece.first_vertex + piece.vertices) for piece in ranges}

    @property
    def step_length(self) -> float:
        """s"""
        return self._scene.native.step

    @property
    def steps_per_frame(self) -> int:
        return self._scene.native.steps_per_frame

    @property
    def frames(self) -> int:
        """Number of frames that the scene asks for, after the one at the start."""
        return self._scene.native.frames

    def _open(self) -> Handle:
        """What does not change needs no lock, but an object that is not closed."""
        handle = self._handle
        if handle is None:
            raise StateError("this simulation is closed")
        return handle

    # ---- Forces ----

    def set_forces(self, *, load: Any = None, **fields: Any) -> None:
        """Changes gravity, wind, drag, air_drag or still_air between steps, as in Simulation(forces=...).

        load: (n, 3), N: a force on each vertex; copied. None: it stays.
        """
        forces = ffi.new("drape_forces *", self._forces[0])
        structs.fill(forces, fields)
        keep = None
        if load is not None:
            keep = arrays.doubles(arrays.finite("load", arrays.vectors("load", load, self.vertices)).copy())
            forces.vertex = keep
        with Use(self) as handle:
            self._call(lib.drape_sim_set_forces, handle.pointer, forces)
            self._forces = forces
            if keep is not None:
                handle.keep["load"] = keep

    def add_force(
        self,
        name: str,
        function: Callable[[ForcePoint], Any],
        *,
        energy: Callable[[ForcePoint], float] | None = None,
        velocity_dependent: bool = False,
    ) -> None:
        """Adds a force of your own.

        function(point): point is a ForcePoint: time, x, v and so on. Returns the force (n, 3) in N; or (force, stiffness),
            or (force, stiffness, damping). These two are (n, 3, 3): -d force / dx (N/m) and -d force / dv (N s/m) of the same vertex.
            Without them an implicit step knows of the force, but not how it changes: stiff forces need them.
            It must depend on its argument alone, and may not use the simulation.
        energy(point): J, with force = -d energy / dx; None: it has none.
        velocity_dependent: it depends on v, and damping is asked for.
        """
        force = Force(function, energy)
        native = ffi.new("drape_force *", {"name": ffi.NULL, "user": force.handle, "velocity_dependent": bool(velocity_dependent)})
        label = ffi.new("char[]", encoded(name))
        native.name, native.all = label, lib.drape_py_force
        if energy is not None:
            native.all_energy = lib.drape_py_energy
        with Use(self) as handle:
            self._listeners.append(force)
            try:
                self._call(lib.drape_sim_add_force, handle.pointer, native)
            except BaseException:
                self._listeners.remove(force)
                raise

    @property
    def force_names(self) -> tuple[str, ...]:
        with Use(self) as handle:
            return tuple(text(lib.drape_sim_force_name(handle.pointer, k)) for k in range(lib.drape_sim_force_count(handle.pointer)))

    def energy(self) -> CertificateEnergy:
        """Energies of the present state, J."""
        out = ffi.new("drape_certificate_energy *")
        with Use(self) as handle:
            self._call(lib.drape_sim_energy, handle.pointer, out)
            return CertificateEnergy(out)

    # ---- Files ----

    def save(self, path: str | os.PathLike) -> None:
        """Writes a checkpoint: the whole state, from which `restore` goes on with the same bits."""
        with Use(self) as handle:
            self._call(lib.drape_sim_save, handle.pointer, path_of(path))

    def restore(self, path: str | os.PathLike) -> None:
        """Takes over a checkpoint of the same scene."""
        with Use(self) as handle:
            self._call(lib.drape_sim_restore, handle.pointer, path_of(path))

    def writer(self, path: str | os.PathLike, *, fps: float | None = None, title: str | None = None) -> Writer:
        """A file for frames, in the format of its ending (drape.formats()):

        with sim.writer("flag.html") as out:
            out.frame()                        # the state now, and so on

        fps: frames per second of simulated time; None: that of steps_per_frame.
        """
        fps = 1 / (self.step_length * self.steps_per_frame) if fps is None else fps
        with Use(self) as handle:
            return Writer.of_simulation(self, handle, self._scene, path, fps=fps, title=title)

    def export_system(self, path: str | os.PathLike) -> None:
        """The linear system of the last step, as a system file: drape.read_system reads it."""
        with Use(self) as handle:
            self._call(lib.drape_sim_export_system, handle.pointer, path_of(path))

    def close(self) -> None:
        """Lets go of the simulation; its memory goes when the last view of it does."""
        self._handle = None

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
