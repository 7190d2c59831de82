"""preconditioner.py: a preconditioner of the library as an operator of SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import arrays, structs
from ._drape import ffi, lib
from .constraints import ConstraintSet
from .context import Context, Handle, default_context
from .errors import ArgumentError
from .matrix import Converter
from .solver import _padded
from .strings import encoded
from .use import Use


class Preconditioner(LinearOperator):
    """z = P^-1 r, for Krylov methods of SciPy or your own: scipy.sparse.linalg.cg(A, b, M=drape.Preconditioner("amg", A)).

    name: one of drape.preconditioners().
    A: as for drape.solve. Its arrays are used as long as the preconditioner lives; call refresh after changing its values.
    constraints: as for drape.solve; then z = S P^-1 S r, made from the prefiltered matrix, as in the method "ppcg".
    positions: (n, 3), m, for the rotations of "amg" (amg={"modes": 6}).
    omega: of "ssor", in (0, 2).
    amg: settings of "amg", as for Solver.

    P is symmetric and positive definite except for "ilu", which is for matrices that are not symmetric. "amg" computes in
    single precision: ask SciPy for no smaller tolerance than some 1e-12.
    """

    def __init__(
        self,
        name: str,
        A: Any,
        *,
        constraints: Any = None,
        positions: Any = None,
        near_kernel: Any = None,
        omega: float | None = None,
        amg: Mapping[str, Any] | None = None,
        context: Context | None = None,
    ):
        self.context = context or default_context()
        self.name = name
        self._busy = False
        self._convert = Converter(self.context)
        self._constraints = ConstraintSet(self.context)
        self._matrix = self._convert(A)
        settings = ffi.new("drape_solve_settings *")
        structs.fill(settings, {"omega": omega, "amg": amg})
        self._handle: Handle | None = self.context.create("drape_precond", lib.drape_precond_create, lib.drape_precond_destroy,
                                           encoded(name), self._matrix.native, settings)
        super().__init__(np.dtype(np.float64), (self._matrix.size, self._matrix.size))
        self.refresh(A, constraints=constraints, positions=positions, near_kernel=near_kernel)

    def refresh(self, A: Any, *, constraints: Any = None, positions: Any = None, near_kernel: Any = None) -> None:
        """Takes new values, constraints and positions. A may have another pattern, but not another size."""
        with Use(self) as handle:
            matrix = self._convert(A)
            if matrix.size != self.shape[0]:
                raise ArgumentError(f"A has {matrix.size} rows, and the preconditioner was made for {self.shape[0]}")
            keep: list = [matrix]
            problem = ffi.new("drape_problem *", {"A": matrix.native})
            problem.constraints = self._constraints.set(constraints, matrix.rows)
            if positions is not None:
                keep.append(arrays.doubles(arrays.vectors("positions", positions, matrix.rows)))
                problem.positions = keep[-1]
            if near_kernel is not None:
                near_kernel = arrays.shaped("near_kernel", near_kernel, None, 3 * matrix.rows)
                keep.append(arrays.doubles(near_kernel))
                problem.near_kernel, problem.near_kernel_count = keep[-1], len(near_kernel)
            handle.keep["next"] = keep  # a refresh that fails may point to either
            self.context.check(lib.drape_precond_refresh(handle.pointer, problem))
            handle.keep.update(matrix=keep, constraints=self._constraints)
            self._matrix = matrix

    def close(self) -> None:
        """Frees its memory; the preconditioner cannot be used afterwards."""
        self._handle = None

    def _matvec(self, r: np.ndarray) -> np.ndarray:
        with Use(self) as handle:
            r_ = _padded(arrays.real("r", r), self._matrix, "r")
            z = np.empty_like(r_)
            self.context.check(lib.drape_precond_apply(handle.pointer, arrays.doubles(r_), arrays.doubles(z)))
        return z[: self.shape[0]].reshape(np.shape(r))

    def _rmatvec(self, r: np.ndarray) -> np.ndarray:
        if self.name == "ilu":
            raise NotImplementedError('the transpose of "ilu"')
        return self._matvec(r)
