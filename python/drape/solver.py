"""solver.py: linear systems S A x = S b with (I - S) x = (I - S) z, A of 3x3 blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import arrays, structs
from ._drape import ffi, lib
from .callbacks import Watch
from .constraints import ConstraintSet
from .context import Context, Handle, default_context
from .errors import ArgumentError
from .matrix import BlockRows, Converter
from .use import Use

_HISTORY = np.dtype([("preconditioned", np.float64), ("residual", np.float64), ("energy", np.float64), ("reserved", np.uint64)])
assert _HISTORY.itemsize == ffi.sizeof("drape_iteration")


class Fallback(structs.Record):
    """A preconditioner or a method that was given up for another."""

    method: str
    precond: str
    why: str
    iterations: int


class SolveResult(structs.Record):
    """How a solve went. Not converging is an answer, not an exception: look at `converged`."""

    reason: str
    """"converged", "iteration limit", ...: why the iteration stopped."""
    iterations: int
    """Of all methods and preconditioners that were tried."""
    residual: float
    """What was compared with tol, at the end; -1 with "direct"."""
    true_residual: float
    """|S (b - A x)| / |b^| in the 2-norm, computed afresh."""
    energy_error: float
    """Estimate of the relative energy norm of the error; -1 if there is none."""
    shift: float
    """What "ichol" and "ilu" had to add to the diagonal blocks, relative to them."""
    setup_seconds: float
    solve_seconds: float
    bytes: int
    """Memory held by the solver."""
    bytes_moved: int
    """Bytes read and written by this solve, as counted."""
    method: str
    precond: str
    modes: int
    """Modes of "amg"; 0 with any other preconditioner."""
    detail: str | None
    """If the solve failed and the input explains it: the reason in words."""
    fallbacks: tuple[Fallback, ...]
    """Methods and preconditioners that failed before, in order."""
    constraint_force: np.ndarray | None
    """(I - S) (A x - b), (n, 3): the forces that hold the constraints; None except for the last of several right-hand sides."""
    history: np.ndarray | None
    """Structured array with the fields preconditioned, residual and energy, one record per iteration from 0 on; None:
    it was not asked for."""

    def __init__(self, source: Any, rows: int = 0):
        super().__init__(source)
        self.fallbacks = tuple(Fallback(source.fallback[k]) for k in range(source.fallbacks))
        self.constraint_force = arrays.copied(source.constraint_force, rows, 3) if rows and source.constraint_force else None
        self.history = None
        if source.history and source.history_count:
            records = ffi.buffer(source.history, _HISTORY.itemsize * source.history_count)
            self.history = np.frombuffer(records, dtype=_HISTORY)[["preconditioned", "residual", "energy"]].copy()

    @property
    def converged(self) -> bool:
        return self.reason == "converged"


class Solver:
    """Solves a sequence of systems with the same pattern, and keeps what it can from one to the next.

    method, precond: drape.methods() and drape.preconditioners() list them; "auto" chooses.
    tol: relative, in (0, 1); what it is compared with is `stop`: "preconditioned", "residual" or "energy".
    max_iterations: of a method.
    floor: stop also where the norm itself, not relative, is at most this.
    omega: of "ssor", in (0, 2).
    history: most iterations to keep a record of.
    recall: how many of the last solutions are combined into the initial guess, 0 to 4.
    tune: "off", "once" or "many": try by the clock which preconditioner is fastest.
    amg: settings of "amg" as a dictionary: theta, modes, levels, smoother, degree, cycle, unfiltered, reuse,
        lanczos, dominance, relax_kernel, recipe.
    progress: called as progress(iterations, residual) in every iteration; False stops the solve ("interrupted").
    context: the threads to compute with.

    Ctrl-C stops a solve in the main thread: KeyboardInterrupt is raised within some iterations.
    """

    def __init__(
        self,
        *,
        method: str = "auto",
        precond: str = "auto",
        tol: float = 1e-5,
        max_iterations: int = 10000,
        stop: str = "preconditioned",
        floor: float = 0.0,
        omega: float | None = None,
        history: int = 0,
        recall: int = 0,
        tune: str = "off",
        amg: Mapping[str, Any] | None = None,
        progress: Callable[[int, float], Any] | None = None,
        context: Context | None = None,
    ):
        self.context = context or default_context()
        keep: list = []
        settings = ffi.new("drape_solve_settings *")
        structs.fill(settings, {"method": method, "precond": precond, "tol": tol, "max_iterations": max_iterations, "stop": stop,
                                "floor": floor, "omega": omega, "history": history, "recall": recall, "tune": tune, "amg": amg}, keep)
        _no_zeros(tol=tol, max_iterations=max_iterations)
        self._watch = Watch(progress)
        self._watch.attach(settings)
        handle = self.context.create("drape_solver", lib.drape_solver_create, lib.drape_solver_destroy, settings)
        handle.keep.update(settings=keep, watch=self._watch)
        self._handle: Handle | None = handle
        self._convert = Converter(self.context)
        self._constraints = ConstraintSet(self.context)
        self._busy = False

    def solve(
        self,
        A: Any,
        b: Any,
        constraints: Any = None,
        *,
        guess: Any = None,
        positions: Any = None,
        near_kernel: Any = None,
        tol: float | None = None,
        same_matrix: bool = False,
        released: bool = False,
        out: np.ndarray | None = None,
    ) -> tuple[np.ndarray, SolveResult]:
        """Solves for one right-hand side; returns x, in the shape of b, and how it went.

        A: scipy.sparse, float64, square. A bsr_matrix of 3x3 blocks is not copied; its columns must rise within each row
            (A.sort_indices()), and both triangles be there. Other formats are converted.
        b: 3 numbers per vertex, shape (3 n,) or (n, 3).
        constraints: Constraints; or numbers of vertices that are held at zero; or a mask, one boolean or three per vertex.
        guess: as b, a guess of x.
        positions: (n, 3), m: of the vertices, for the rotations of "amg".
        near_kernel: (k, 3 n), k = 3 to 12, for "amg": vectors that A hardly resists, in place of rigid-body motions.
        tol: of this solve; None: that of the solver.
        same_matrix: A and what is held are those of the last solve, and what was made from them is kept. Not checked.
        released: A is that of the last solve, and fewer directions are held; "amg" keeps its coarse levels. Not checked.
        out: where x goes: float64, C order, the shape of b; may be `guess` itself.

        Raises drape.ArgumentError where the input tells why there is no solution: a number that is not finite, an A that is
        not symmetric, a row without a diagonal block.
        """
        with Use(self) as handle:
            matrix = self._convert(A)
            b_, shape = _right_hand_side(b, matrix)
            problem, keep = self._problem(matrix, constraints, positions, near_kernel, tol, same_matrix)
            problem.released = bool(released)
            keep += [arrays.doubles(b_), None if guess is None else arrays.doubles(_padded(arrays.real("guess", guess), matrix, "guess"))]
            problem.b = keep[-2]
            if guess is not None:
                problem.guess = keep[-1]
            x = _target(out, shape, matrix)
            result = ffi.new("drape_solve_result *")
            self._run(lib.drape_solver_solve, handle.pointer, problem, arrays.doubles(x), result)
            answer = _answer(result, matrix.rows)
        return _unpadded(x, shape, matrix, out), answer

    def solve_many(
        self,
        A: Any,
        B: Any,
        constraints: Any = None,
        *,
        guess: Any = None,
        positions: Any = None,
        near_kernel: Any = None,
        tol: float | None = None,
        same_matrix: bool = False,
    ) -> tuple[np.ndarray, list[SolveResult]]:
        """Several right-hand sides, the columns of B (3 n x k): returns X of the same shape and a result per column."""
        with Use(self) as handle:
            matrix = self._convert(A)
            columns = _columns("B", B, matrix)
            problem, keep = self._problem(matrix, constraints, positions, near_kernel, tol, same_matrix)
            if guess is not None:
                keep.append(arrays.doubles(_columns("guess", guess, matrix, len(columns))))
                problem.guess = keep[-1]
            X = np.empty_like(columns)
            results = ffi.new("drape_solve_result[]", len(columns))
            self._run(lib.drape_solver_solve_many, handle.pointer, problem, len(columns), arrays.doubles(columns), arrays.doubles(X), results)
            answers = [_answer(results[k], matrix.rows) for k in range(len(columns))]
        return X[:, : matrix.size].T, answers

    def forget(self) -> None:
        """Drops everything learnt: the next solve gives the same bits as the first of a new solver."""
        with Use(self) as handle, self.context:
            lib.drape_solver_forget(handle.pointer)

    def close(self) -> None:
        """Frees its memory; the solver cannot be used afterwards."""
        self._handle = None

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _problem(self, matrix: BlockRows, constraints: Any, positions: Any, near_kernel: Any, tol: float | None, same_matrix: bool) -> tuple[Any, list]:
        problem = ffi.new("drape_problem *", {"A": matrix.native, "same_matrix": bool(same_matrix)})
        problem.constraints = self._constraints.set(constraints, matrix.rows)
        keep: list = [matrix]
        if positions is not None:
            keep.append(arrays.doubles(arrays.vectors("positions", positions, matrix.rows)))
            problem.positions = keep[-1]
        if near_kernel is not None:
            near_kernel = arrays.shaped("near_kernel", near_kernel, None, 3 * matrix.rows)
            keep.append(arrays.doubles(near_kernel))
            problem.near_kernel, problem.near_kernel_count = keep[-1], len(near_kernel)
        if tol is not None:
            _no_zeros(tol=tol)
            problem.tol = tol
        return problem, keep

    def _run(self, function: Any, *arguments: Any) -> None:
        with self.context:
            self._watch.begin()
            status = function(*arguments)
            self._watch.raise_error()
            self.context.check(status)


def solve(A: Any, b: Any, constraints: Any = None, **options: Any) -> tuple[np.ndarray, SolveResult]:
    """Solves one system, without keeping anything: x, result = drape.solve(A, b).

    Keywords are those of Solver (method, precond, tol, ...) and of Solver.solve (guess, positions, out, ...). Keep a Solver
    where systems follow each other.
    """
    own = {name: options.pop(name) for name in ("guess", "positions", "near_kernel", "out") if name in options}
    with Solver(**options) as solver:
        return solver.solve(A, b, constraints, **own)


def _no_zeros(**values: float) -> None:
    """Zero means the default in C; here a zero is a mistake."""
    for name, value in values.items():
        if value == 0:
            raise ArgumentError(f"{name} must be above 0")


def _padded(values: np.ndarray, matrix: BlockRows, name: str) -> np.ndarray:
    """As a flat array of 3 numbers per block row; a scalar matrix may have up to two rows fewer."""
    if values.size != matrix.size or values.ndim not in (1, 2):
        raise ArgumentError(f"{name} has the shape {values.shape}; A has {matrix.size} rows")
    values = values.reshape(-1)
    missing = 3 * matrix.rows - matrix.size
    return np.concatenate([values, np.zeros(missing)]) if missing else values


def _right_hand_side(b: Any, matrix: BlockRows) -> tuple[np.ndarray, tuple[int, ...]]:
    b = arrays.real("b", b)
    return _padded(b, matrix, "b"), b.shape


def _columns(name: str, values: Any, matrix: BlockRows, count: int | None = None) -> np.ndarray:
    """Columns one after the other, as the library wants them."""
    values = np.ascontiguousarray(arrays.shaped(name, values, matrix.size, count).T)
    missing = 3 * matrix.rows - matrix.size
    return np.ascontiguousarray(np.pad(values, ((0, 0), (0, missing)))) if missing else values


def _target(out: np.ndarray | None, shape: tuple[int, ...], matrix: BlockRows) -> np.ndarray:
    if out is None:
        return np.empty(3 * matrix.rows)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise ArgumentError(f"out must be a writable array of float64 in C order with the shape {shape}")
    return out if out.size == 3 * matrix.rows else np.empty(3 * matrix.rows)


def _unpadded(x: np.ndarray, shape: tuple[int, ...], matrix: BlockRows, out: np.ndarray | None) -> np.ndarray:
    if x is out:
        return x
    x = x[: matrix.size].reshape(shape)
    if out is None:
        return x
    out[...] = x
    return out


def _answer(result: Any, rows: int) -> SolveResult:
    answer = SolveResult(result, rows)
    if answer.detail:
        raise ArgumentError(f"{answer.detail} ({answer.reason} after {answer.iterations} iterations)")
    return answer
