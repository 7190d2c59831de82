"""Solving: the right answer, without copies, whatever form the input has."""

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg
from conftest import net

import drape
from drape._drape import ffi
from drape.matrix import Converter


def address(pointer):
    return int(ffi.cast("uintptr_t", pointer))


def test_solves(system):
    A, b = system
    x, result = drape.solve(A, b, tol=1e-10)
    assert result.converged and result.reason == "converged" and result.iterations > 0
    assert result.true_residual < 1e-8
    np.testing.assert_allclose(x, sparse.linalg.spsolve(A.tocsc(), b), rtol=1e-6, atol=1e-8)


def test_bsr_is_not_copied(system):
    A, _ = system
    rows = Converter(drape.default_context())(A)
    assert address(rows.native.val) == A.data.ctypes.data
    assert address(rows.native.col) == A.indices.ctypes.data
    assert A.indices.dtype == np.int32


def test_an_array_of_scipy_is_not_copied_either(system):
    A = sparse.bsr_array(system[0])
    assert address(Converter(drape.default_context())(A).native.val) == A.data.ctypes.data


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_other_formats_give_the_same_bits(system, format):
    A, b = system
    x, _ = drape.solve(A, b)
    y, _ = drape.solve(A.asformat(format), b)
    # SciPy's scalar formats leave out zeros of blocks, which drape puts back.
    assert np.array_equal(x, y)


def test_scalar_matrix_of_any_size():
    n = 101  # no multiple of three
    A = sparse.diags([-1, 2.5, -1], [-1, 0, 1], (n, n)).tocsr()
    b = np.ones(n)
    x, result = drape.solve(A, b, tol=1e-10)
    assert x.shape == (n,) and result.converged
    np.testing.assert_allclose(A @ x, b, atol=1e-7)
    z = drape.Preconditioner("ssor", A) @ b
    assert z.shape == (n,)


def test_a_kept_solver_takes_other_values_of_a_scalar_pattern(system):
    A, b = system
    A = A.tocsr()
    solver = drape.Solver(tol=1e-10)
    for scale in (1.0, 3.0):
        x, _ = solver.solve(A * scale, b)
        np.testing.assert_allclose(scale * (A @ x), b, atol=1e-6)
    x, _ = solver.solve(net(5), np.ones(75))  # and another pattern
    assert x.shape == (75,)


def test_shape_follows_b(system):
    A, b = system
    assert drape.solve(A, b.reshape(-1, 3))[0].shape == (144, 3)
    assert np.array_equal(drape.solve(A, b.reshape(-1, 3))[0].ravel(), drape.solve(A, b)[0])
    assert np.array_equal(drape.solve(A, np.asfortranarray(b.reshape(-1, 3)))[0].ravel(), drape.solve(A, b)[0])


def test_out_and_guess(system):
    A, b = system
    x, first = drape.solve(A, b, tol=1e-8)
    out = x.copy()
    y, again = drape.solve(A, b, tol=1e-6, guess=out, out=out)
    assert y is out and again.iterations < first.iterations


def test_constraints_hold(system):
    A, b = system
    values = np.array([[1.0, 2.0, 3.0], [0, 0, 0]])
    x, result = drape.solve(A, b, drape.Constraints([0, 5], values=values), tol=1e-10)
    x = x.reshape(-1, 3)
    np.testing.assert_allclose(x[[0, 5]], values, atol=1e-14)
    force = result.constraint_force
    residual = (A @ x.ravel() - b).reshape(-1, 3)
    np.testing.assert_allclose(force[[0, 5]], residual[[0, 5]], rtol=1e-6, atol=1e-8)
    assert not force[1:5].any()


def test_constraints_along_directions(system):
    A, b = system
    n = np.array([1.0, 1.0, 0.0])
    x, _ = drape.solve(A, b, drape.Constraints([3], directions=n, values=[[2.0, 0, 0]]), tol=1e-10)
    assert x.reshape(-1, 3)[3] @ n == pytest.approx(2.0)


def test_forms_of_constraints_agree(system):
    A, b = system
    mask = np.zeros((144, 3), bool)
    mask[[2, 7]] = True
    x = [drape.solve(A, b, held)[0] for held in ([2, 7], mask, mask.ravel(), mask[:, 0], drape.Constraints([7, 2]))]
    assert all(np.array_equal(x[0], y) for y in x[1:])
    mask[7, 1] = False
    y = drape.solve(A, b, mask)[0].reshape(-1, 3)
    assert not y[2].any() and y[7, 0] == y[7, 2] == 0 != y[7, 1]


def test_filter_and_constraints_agree():
    S, z = np.tile(np.eye(3), (4, 1, 1)), np.zeros((4, 3))
    n = np.array([0.6, 0.8, 0.0])
    S[1], S[2], z[2] = 0, np.eye(3) - np.outer(n, n), [1.0, 0, 0]
    held = drape.Constraints.from_filter(S, z)
    assert list(held.list["vertex"]) == [1, 2] and list(held.list["directions"]) == [3, 1]
    assert abs(held.list["direction"][1, 0] @ n) == pytest.approx(1)


def test_several_right_hand_sides(system):
    A, b = system
    B = np.column_stack([b, 2 * b, np.ones_like(b)])
    X, results = drape.Solver(tol=1e-10).solve_many(A, B, [0])
    assert X.shape == B.shape and len(results) == 3
    for k in range(3):
        np.testing.assert_allclose(X[:, k], drape.solve(A, B[:, k], [0], tol=1e-10)[0], atol=1e-8)


def test_results_survive_the_next_solve(system):
    A, b = system
    solver = drape.Solver(history=500)
    x, first = solver.solve(A, b, [0])
    kept = x.copy(), first.constraint_force.copy(), first.history.copy()
    solver.solve(A, -2 * b, [1])
    del solver
    assert np.array_equal(x, kept[0]) and np.array_equal(first.constraint_force, kept[1]) and np.array_equal(first.history, kept[2])
    assert first.history["residual"][0] == 1.0 and len(first.history) == first.iterations + 1


def test_not_converging_is_an_answer(system):
    A, b = system
    _, result = drape.solve(A, b, max_iterations=2, precond="none", method="ppcg")
    assert not result.converged and result.reason == "iteration limit" and result.iterations == 2


def test_bits_do_not_depend_on_threads(system):
    A, b = system
    x = [drape.solve(A, b, context=drape.Context(threads=count))[0] for count in (1, 2)]
    assert np.array_equal(*x)


def test_progress_can_stop(system):
    A, b = system
    seen = []

    def progress(iterations, residual):
        seen.append(residual)
        return iterations < 3

    _, result = drape.solve(A, b, progress=progress, tol=1e-12, precond="none", method="ppcg")
    assert result.reason == "interrupted" and len(seen) == 4


@pytest.mark.parametrize("held", [None, [0, 11]])
def test_scipy_with_amg_takes_the_iterations_of_ppcg(held):
    from conftest import scipy_cg

    A = net(30, mass=1e-3)
    b = np.random.default_rng(2).standard_normal(A.shape[0])
    if held is not None:  # what SciPy does not know of: the rows and columns that are held become those of the identity
        mask = np.zeros((900, 3), bool)
        mask[held] = True
        free = sparse.diags((~mask.ravel()).astype(float))
        A, b = (free @ A @ free + sparse.diags(mask.ravel().astype(float))).tobsr((3, 3)), b * ~mask.ravel()
        A.sort_indices()
    _, result = drape.solve(A, b, method="ppcg", precond="amg", stop="residual", tol=1e-8)
    x, iterations = scipy_cg(A, b, 1e-8, M=drape.Preconditioner("amg", A))
    assert result.converged and abs(iterations - result.iterations) <= 1
    assert scipy_cg(A, b, 1e-8)[1] > 3 * iterations
    np.testing.assert_allclose(A @ x, b, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in drape.preconditioners() if name != "ilu"])
def test_preconditioners_are_symmetric_operators(name, system):
    A, _ = system
    M = drape.Preconditioner(name, A, constraints=[0])
    u, v = np.random.default_rng(3).standard_normal((2, A.shape[0]))
    assert M.shape == A.shape and (M @ u) @ u > 0
    assert (M @ u) @ v == pytest.approx(u @ (M @ v), rel=1e-4, abs=1e-5)
    assert (M @ np.column_stack([u, v])).shape == (A.shape[0], 2)
    assert not (M @ u)[:3].any()


def test_a_preconditioner_is_refreshed(system):
    A, b = system
    M = drape.Preconditioner("block_diagonal", A)
    z = M @ b
    A.data *= 2
    M.refresh(A)
    np.testing.assert_allclose(M @ b, z / 2)
    with pytest.raises(drape.ArgumentError, match="made for"):
        M.refresh(net(5))
