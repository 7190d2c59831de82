"""solve_system.py: a linear system of one's own: a net of springs, held at two corners.

    python3 solve_system.py [SIDE]
"""

import inspect
import sys

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg

import drape


def net(side, mass=0.01, spring=0.05):
    """M + h^2 K of a square net, as block rows: masses (kg), and springs (h^2 times N/m) between neighbours."""
    line = sparse.diags([np.full(side - 1, -1.0)] * 2, [-1, 1])
    neighbours = sparse.kron(sparse.identity(side), line) + sparse.kron(line, sparse.identity(side))
    degrees = -np.asarray(neighbours.sum(axis=1)).ravel()
    A = sparse.kron(mass * sparse.identity(side**2) + spring * (sparse.diags(degrees) + neighbours), np.eye(3))
    A = A.tobsr(blocksize=(3, 3))
    A.sort_indices()  # columns must rise within each row
    return A


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    A = net(side)
    b = np.zeros((side**2, 3))
    b[:, 2] = -9.81 * 0.01 * 0.01  # h m g
    corners = [0, side - 1]

    # 1. One call. A is used where it is, the corners are held at zero.
    x, result = drape.solve(A, b, corners, tol=1e-8)
    print(f"{result.reason} after {result.iterations} iterations by {result.method} with {result.precond}")
    print(f"the middle of the far edge moves by {x[-side // 2, 2]:.6f} m/s")

    # 2. Solve after solve: what can be kept is kept. The first corner moves sideways with 0.5 m/s.
    held = drape.Constraints([0, side - 1], values=[[0.5, 0, 0], [0, 0, 0]])
    solver = drape.Solver(method="ppcg", precond="amg", tol=1e-8)
    for _ in range(3):
        x, result = solver.solve(A, b, held)
        A.data *= 1.01  # another step, other values
    print(f"{result.iterations} iterations, force on the first corner {np.round(result.constraint_force[0], 6)}")

    # 3. A preconditioner of drape inside a method of SciPy.
    count = []
    M = drape.Preconditioner("amg", A)
    tol = {"rtol" if "rtol" in inspect.signature(scipy.sparse.linalg.cg).parameters else "tol": 1e-8}  # renamed in SciPy 1.12
    y, info = scipy.sparse.linalg.cg(A, b.ravel(), M=M, atol=0.0, callback=count.append, **tol)
    print(f"SciPy's cg with drape's amg: {len(count)} iterations, info {info}")


if __name__ == "__main__":
    main()
