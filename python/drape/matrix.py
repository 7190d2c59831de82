"""matrix.py: SciPy's sparse matrices as block rows of the library.

A BSR matrix of 3x3 blocks of float64 with int32 columns is used where it is: values and columns are not copied. Only its
row pointers are, from SciPy's int32 to int64. All other formats are converted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ._drape import ffi, lib
from .context import Context, Handle
from .errors import ArgumentError


class BlockRows:
    """A view of a matrix: `native` is a drape_bsr3 *, `size` its scalar rows, `rows` its block rows."""

    def __init__(self, size: int, rows: int, native: Any, keep: tuple):
        self.size, self.rows, self.native, self.keep = size, rows, native, keep


class Converter:
    """Turns matrices into BlockRows. Keeps the last scalar pattern, so that new values in it need no search."""

    def __init__(self, context: Context):
        self.context = context
        self.pattern: tuple | None = None
        self.matrix: Any = None  # Handles, once there is a pattern
        self.map: Any = None

    def __call__(self, A: Any) -> BlockRows:
        if not scipy.sparse.issparse(A):
            raise TypeError(f"A is a {type(A).__name__}; a sparse matrix of SciPy is needed, best scipy.sparse.bsr_matrix of 3x3 blocks")
        if A.dtype != np.float64:
            raise TypeError(f"A has type {A.dtype}; float64 is needed: A.astype(float)")
        if A.shape[0] != A.shape[1]:
            raise ArgumentError(f"A has the shape {A.shape}; a square matrix is needed")
        if A.format == "bsr" and A.blocksize == (3, 3):
            return _block_rows(A)
        return self._scalar(A if A.format in ("csr", "csc") else A.tocsr())

    def _scalar(self, A: Any) -> BlockRows:
        values, pattern = np.ascontiguousarray(A.data), (A.format, A.indptr, A.indices)
        if len(A.indptr) != A.shape[0] + 1 or len(values) != len(A.indices) or (len(A.indptr) and A.indptr[-1] != len(values)):
            raise ArgumentError("A: the lengths of data, indices and indptr do not fit together")
        if self._is_known(pattern):
            with self.context:
                self.context.check(lib.drape_csr_map_refresh(self.map.pointer, ffi.from_buffer("double[]", values), self.matrix.pointer))
        else:
            self._convert(A, values, pattern)
        native = ffi.new("drape_bsr3 *", lib.drape_matrix_view(self.matrix.pointer))
        return BlockRows(A.shape[0], native.rows, native, (self.matrix,))

    def _is_known(self, pattern: tuple) -> bool:
        return (self.pattern is not None and self.pattern[0] == pattern[0]
                and all(np.array_equal(a, b) for a, b in zip(self.pattern[1:], pattern[1:])))

    def _convert(self, A: Any, values: np.ndarray, pattern: tuple) -> None:
        csr = ffi.new("drape_csr *", {"rows": A.shape[0]})
        keep = [_give(csr, "start", A.indptr), _give(csr, "index", A.indices), ffi.from_buffer("double[]", values)]
        csr.val = keep[-1]
        # Whether half of a matrix is a mistake is the solver's question: it depends on the method.
        csr.stored = lib.DRAPE_CSR_TRIANGULAR
        function = lib.drape_bsr3_from_csc if A.format == "csc" else lib.drape_bsr3_from_csr
        matrix, map_ = ffi.new("drape_matrix **"), ffi.new("drape_csr_map **")
        with self.context:
            self.context.check(function(self.context.pointer, csr, matrix, map_))
            self.matrix = Handle(self.context, matrix[0], lib.drape_matrix_destroy)
            self.map = Handle(self.context, map_[0], lib.drape_csr_map_destroy)
        self.pattern = (pattern[0], pattern[1].copy(), pattern[2].copy())


def _give(csr: Any, name: str, array: np.ndarray) -> Any:
    """Sets start32 or start64, index32 or index64."""
    array = np.ascontiguousarray(array, dtype=np.int32 if array.dtype == np.int32 else np.int64)
    bits = 8 * array.itemsize
    address = ffi.from_buffer(f"int{bits}_t[]", array)
    setattr(csr, f"{name}{bits}", address)
    return address


def _block_rows(A: Any) -> BlockRows:
    rows = A.shape[0] // 3
    data = A.data
    if data.ndim != 3 or data.shape[1:] != (3, 3) or A.indices.ndim != 1 or A.indptr.ndim != 1:
        raise ArgumentError(f"A.data has the shape {data.shape}; (blocks, 3, 3) is needed")
    if not data.flags.c_contiguous or not data.flags.aligned or not data.dtype.isnative:
        raise ArgumentError("A.data is not in C order: A.data = numpy.ascontiguousarray(A.data)")
    rowptr = np.ascontiguousarray(A.indptr, dtype=np.int64)
    if len(rowptr) != rows + 1 or rowptr[-1] > min(len(A.indices), len(data)):
        raise ArgumentError("A: the lengths of data, indices and indptr do not fit together")
    col = np.ascontiguousarray(A.indices, dtype=np.int32)
    keep = (ffi.from_buffer("int64_t[]", rowptr), ffi.from_buffer("int32_t[]", col), ffi.from_buffer("double[]", data))
    native = ffi.new("drape_bsr3 *", {"rows": rows, "rowptr": keep[0], "col": keep[1], "val": keep[2]})
    return BlockRows(A.shape[0], rows, native, keep)
