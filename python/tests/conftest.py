"""conftest.py: small systems and cloths for the tests."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg

import drape


def net(side, mass=0.01, spring=1.0):
    """A square net of masses and springs: symmetric, positive definite, 3x3 blocks."""
    line = sparse.diags([np.full(side - 1, -1.0)] * 2, [-1, 1])
    neighbours = sparse.kron(sparse.identity(side), line) + sparse.kron(line, sparse.identity(side))
    degrees = -np.asarray(neighbours.sum(axis=1)).ravel()
    stiff = spring * (sparse.diags(degrees) + neighbours)
    coupled = np.array([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    A = (sparse.kron(stiff, coupled) + mass * sparse.identity(3 * side**2)).tobsr(blocksize=(3, 3))
    A.sort_indices()
    return A


def grid(side):
    """Positions and triangles of a square sheet of 1 m in the plane z = 0."""
    u = np.linspace(0, 1, side)
    positions = np.array([[x, y, 0] for y in u for x in u])
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    lower = np.column_stack([corner, corner + 1, corner + side])
    upper = np.column_stack([corner + 1, corner + side + 1, corner + side])
    return positions, np.concatenate([lower, upper])


def scipy_cg(A, b, rtol, **options):
    """SciPy's cg under the name that its tolerance has in this version; returns x and the iterations."""
    count = []
    name = "rtol" if "rtol" in inspect.signature(scipy.sparse.linalg.cg).parameters else "tol"
    x, info = scipy.sparse.linalg.cg(A, b, callback=count.append, atol=0.0, **{name: rtol}, **options)
    assert info == 0
    return x, len(count)


@pytest.fixture
def system():
    A = net(12)
    return A, np.random.default_rng(1).standard_normal(A.shape[0])


@pytest.fixture
def sheet():
    """A small sheet that hangs on two corners."""
    return drape.Simulation(drape.Cloth(*grid(7), "cotton"), pins=[drape.Pin([0, 6])], step=0.004)
