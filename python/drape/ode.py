"""ode.py: integrators for systems of your own, y' = f(t, y) or M x'' = f(t, x, v)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from . import arrays, structs
from ._drape import ffi, lib
from .callbacks import Listener, keep_error, listener_of
from .context import Context, Handle, default_context
from .errors import ArgumentError
from .strings import encoded, text


class Counts(structs.Record):
    """The cost of an integration."""

    steps: int
    rejected: int
    f: int
    newton: int
    jacobians: int
    linear_solves: int
    linear_iterations: int
    cuts: int


@dataclasses.dataclass
class Event:
    """A change of sign of an event function."""

    t: float
    y: np.ndarray
    v: np.ndarray | None
    rising: bool


@dataclasses.dataclass
class Solution:
    """What integrate returns."""

    t: np.ndarray
    """(k,), s."""
    y: np.ndarray
    """(k, n): y of a first order system, x of a second order one."""
    v: np.ndarray | None
    """(k, n); None for first order."""
    reason: str
    """"done", or why it stopped early."""
    message: str
    """The same in words with numbers; empty if it was done."""
    counts: Counts
    events: list[list[Event]]
    """Of each event function, in the order of time."""

    @property
    def done(self) -> bool:
        return self.reason == "done"


class _System(Listener):
    """The functions of a system, and the drape_ode_system that calls them."""

    def __init__(self, f: Callable, size: int, second: bool, jacobian: Callable | None, mass: np.ndarray | None, events: Sequence[Callable]):
        super().__init__()
        for function in (f, *events, *([] if jacobian is None else [jacobian])):
            if not callable(function):
                raise TypeError(f"f, jacobian and events must be functions, not {type(function).__name__}")
        self.f, self.size, self.second, self.jacobian, self.mass, self.events = f, size, second, jacobian, mass, events
        self.factor = None if mass is None else scipy.linalg.lu_factor(mass)
        self.found: list[list[Event]] = [[] for _ in events]
        self.native = ffi.new("drape_ode_system *", {"order": 2 if second else 1, "size": size, "user": self.handle})
        self.native.f = lib.drape_py_f
        if mass is not None:
            self.native.mass_times, self.native.mass_solve = lib.drape_py_mass_times, lib.drape_py_mass_solve

    def at(self, t: float, x: Any, v: Any) -> tuple:
        """The arguments of a function of the user: copies, which it may keep."""
        state = (t, arrays.copied(x, self.size))
        return (*state, arrays.copied(v, self.size)) if self.second else state


def _given(target: Any, name: str, value: Any, *shape: int) -> None:
    arrays.lent(target, *shape)[...] = arrays.shaped(f"what {name} returns", value, *shape)


_FAILED = lib.DRAPE_ERROR_ARGUMENT  # ends the call; the exception tells more


@ffi.def_extern(error=_FAILED, onerror=keep_error)
def drape_py_f(user, t, x, v, out):
    system = listener_of(user)
    _given(out, "f", system.f(*system.at(t, x, v)), system.size)
    return lib.DRAPE_OK


@ffi.def_extern(error=_FAILED, onerror=keep_error)
def drape_py_jacobian(user, t, x, v, K, D):
    system = listener_of(user)
    answer, n = system.jacobian(*system.at(t, x, v)), system.size
    if system.second:
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ArgumentError("jacobian of a second order system returns (df/dx, df/dv)")
        _given(D, "jacobian", answer[1], n, n)
        answer = answer[0]
    _given(K, "jacobian", answer, n, n)
    return lib.DRAPE_OK


@ffi.def_extern(error=_FAILED, onerror=keep_error)
def drape_py_mass_times(user, input, out):
    system = listener_of(user)
    _given(out, "mass", system.mass @ arrays.copied(input, system.size), system.size)
    return lib.DRAPE_OK


@ffi.def_extern(error=_FAILED, onerror=keep_error)
def drape_py_mass_solve(user, r):
    system = listener_of(user)
    _given(r, "mass", scipy.linalg.lu_solve(system.factor, arrays.copied(r, system.size)), system.size)
    return lib.DRAPE_OK


@ffi.def_extern(error=_FAILED, onerror=keep_error)
def drape_py_events(user, t, x, v, g):
    system = listener_of(user)
    state = system.at(t, x, v)
    arrays.lent(g, len(system.events))[...] = [float(event(*state)) for event in system.events]
    return lib.DRAPE_OK


@ffi.def_extern(error=_FAILED, onerror=keep_error)
def drape_py_report(user, event):
    system = listener_of(user)
    state = system.at(event.t, event.x, event.v)
    system.found[event.index].append(Event(event.t, state[1], state[2] if system.second else None, event.rising))
    return lib.DRAPE_OK


def integrate(
    f: Callable,
    t_span: tuple[float, float],
    y0: Any,
    v0: Any = None,
    *,
    method: str = "dormand-prince",
    step: float | None = None,
    control: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int | None = None,
    jacobian: Callable | None = None,
    mass: Any = None,
    newton: Mapping[str, Any] | None = None,
    t_eval: Any = None,
    events: Sequence[Callable] = (),
    context: Context | None = None,
) -> Solution:
    """Integrates y' = f(t, y) from t_span[0] to t_span[1]; with v0, M x'' = f(t, x, v).

    f: f(t, y) or f(t, x, v); returns an array as long as y0.
    method: one of drape.ode_methods(). docs/integrators.md says which is for what.
    step: s: the step, or the first one under a control.
    control: "fixed" (where a step is given), "error" (where none is) or "newtons".
    rtol, atol: tolerances of the error.
    jacobian: for implicit methods: jacobian(t, y) returns df/dy (n, n); for second order (df/dx, df/dv). Up to 2048 unknowns.
        None: implicit methods do without (Newton-Krylov on differences of f).
    mass: M (n, n), for second order; None: the identity.
    newton: fields of drape_ode_newton: {"kind": "simplified", "rtol": 1e-8}.
    t_eval: times at which to return the solution, increasing; None: after every step.
    events: functions of the arguments of f whose changes of sign are to be found. As in SciPy, an attribute
        `terminal = True` ends the run there, `direction` > 0 or < 0 looks for rising or falling ones only.

    An exception in a function, Ctrl-C among them, ends the run and is raised.
    """
    context = context or default_context()
    events = [events] if callable(events) else list(events)
    y0 = arrays.finite("y0", np.atleast_1d(arrays.real("y0", y0)))
    v0 = None if v0 is None else arrays.shaped("v0", np.atleast_1d(v0), *y0.shape)
    if y0.ndim != 1 or y0.size == 0:
        raise ArgumentError(f"y0 has the shape {y0.shape}; one row of numbers is needed")
    if mass is not None and v0 is None:
        raise ArgumentError("mass is for second order systems: give v0")
    mass = None if mass is None else arrays.finite("mass", arrays.shaped("mass", mass, y0.size, y0.size))
    begin, end = float(t_span[0]), float(t_span[1])
    if not begin < end:
        raise ArgumentError(f"t_span is from {begin} to {end} s; time goes forward")
    wanted = None if t_eval is None else arrays.finite("t_eval", arrays.shaped("t_eval", t_eval, None))
    if wanted is not None and wanted.size and not (begin <= wanted[0] and wanted[-1] <= end and (np.diff(wanted) >= 0).all()):
        raise ArgumentError("t_eval must be rising, and within t_span")
    system = _System(f, y0.size, v0 is not None, jacobian, mass, events)
    settings, keep = _settings(method, step, control, rtol, atol, max_steps, newton, wanted is not None or bool(events), jacobian)
    with context:
        return _Run(context, system, settings, keep).run(begin, end, y0, v0, wanted)


def _settings(method: str, step: float | None, control: str | None, rtol: float | None, atol: float | None, max_steps: int | None,
              newton: Mapping | None, dense: bool, jacobian: Callable | None) -> tuple[Any, list]:
    keep: list = []
    settings = ffi.new("drape_ode_settings *")
    if lib.drape_ode_method_implicit(encoded(method)) and jacobian is None:
        structs.fill(settings.newton, {"kind": "matrix-free"})
    control = control or ("error" if step is None else "fixed")
    structs.fill(settings, {"method": method, "step": step, "control": control, "rtol": rtol, "atol": atol, "max_steps": max_steps,
                            "newton": newton, "dense_output": dense}, keep)
    return settings, keep


class _Run:
    """One integration, under the lock of its context."""

    def __init__(self, context: Context, system: _System, settings: Any, keep: list):
        self.context, self.system, self.keep = context, system, keep
        if system.jacobian is not None:
            self._give_dense()
        self.ode = self._create("drape_ode", lib.drape_ode_create, lib.drape_ode_destroy, system.native, settings)
        if system.events:
            self._watch()
        self.times: list[float] = []
        self.states: list[tuple] = []

    def _create(self, kind: str, create: Any, destroy: Any, *arguments: Any) -> Handle:
        handle = self.context.create(kind, create, destroy, *arguments)
        handle.keep["system"] = (self.system, self.keep)
        return handle

    def _check(self, status: int) -> None:
        self.system.raise_error()
        self.context.check(status)

    def _give_dense(self) -> None:
        system = self.system
        if system.size > 2048:
            raise ArgumentError(f"{system.size} unknowns: a dense jacobian is for up to 2048; leave it out")
        settings = ffi.new("drape_ode_dense_settings *", {"order": system.native.order, "size": system.size, "user": system.handle})
        settings.jacobian = lib.drape_py_jacobian
        mass = arrays.doubles(system.mass)
        settings.mass = mass
        dense = self._create("drape_ode_dense", lib.drape_ode_dense_create, lib.drape_ode_dense_destroy, settings)
        system.native.linear = lib.drape_ode_dense_linear(dense.pointer)
        self.keep.append(dense)

    def _watch(self) -> None:
        events = self.system.events
        directions = [np.sign(getattr(event, "direction", 0)) for event in events]
        kinds = {0: lib.DRAPE_ODE_BOTH, 1: lib.DRAPE_ODE_RISING, -1: lib.DRAPE_ODE_FALLING}
        table = ffi.new("drape_ode_events *", {"count": len(events), "user": self.system.handle})
        direction = ffi.new("drape_ode_direction[]", [kinds[int(sign)] for sign in directions])
        terminal = ffi.new("bool[]", [bool(getattr(event, "terminal", False)) for event in events])
        table.direction, table.terminal, table.g, table.report = direction, terminal, lib.drape_py_events, lib.drape_py_report
        self._check(lib.drape_ode_watch(self.ode.pointer, table))

    def run(self, begin: float, end: float, y0: np.ndarray, v0: np.ndarray | None, wanted: np.ndarray | None) -> Solution:
        ode, result = self.ode.pointer, ffi.new("drape_ode_result *")
        self._check(lib.drape_ode_start(ode, begin, arrays.doubles(y0), arrays.doubles(v0)))
        left = None if wanted is None else list(wanted[::-1])
        if left is None:
            self._keep_state(begin, y0, v0)
        while left and left[-1] <= begin:
            self._keep_state(left.pop(), y0, v0)
        while lib.drape_ode_time(ode) < end:
            self._check(lib.drape_ode_next(ode, end, result))
            if result.reason in (lib.DRAPE_ODE_DONE, lib.DRAPE_ODE_EVENT):
                self._keep_step(lib.drape_ode_time(ode), left)
            if result.reason != lib.DRAPE_ODE_DONE:
                break
        return self._solution(result.reason)

    def _keep_state(self, t: float, x: np.ndarray, v: np.ndarray | None) -> None:
        self.times.append(float(t))
        self.states.append((x, v))

    def _keep_step(self, t: float, left: list | None) -> None:
        """After a step to t: stores its end, or the requested times in it."""
        ode, n, second = self.ode.pointer, self.system.size, self.system.second
        if left is None:
            self._keep_state(t, arrays.copied(lib.drape_ode_x(ode), n), arrays.copied(lib.drape_ode_v(ode), n) if second else None)
        while left and left[-1] <= t:
            x, v = np.empty(n), np.empty(n) if second else None
            self._check(lib.drape_ode_interpolate(ode, left[-1], arrays.doubles(x), arrays.doubles(v)))
            self._keep_state(left.pop(), x, v)

    def _solution(self, reason: int) -> Solution:
        ode, system = self.ode.pointer, self.system
        x = np.array([state[0] for state in self.states]).reshape(-1, system.size)
        v = np.array([state[1] for state in self.states]).reshape(-1, system.size) if system.second else None
        counts = ffi.new("drape_ode_counts *", lib.drape_ode_count(ode))
        return Solution(np.array(self.times), x, v, text(lib.drape_ode_reason_name(reason)), text(lib.drape_ode_explain(ode)), Counts(counts), system.found)
