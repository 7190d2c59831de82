"""Bad input: an exception with a message that says what and where, never a crash."""

import numpy as np
import pytest
import scipy.sparse as sparse
from conftest import grid, net

import drape


@pytest.mark.parametrize("change, kind, message", [
    (lambda A, b: (A.astype(np.float32), b), TypeError, "float64"),
    (lambda A, b: (A.astype(complex), b), TypeError, "float64"),
    (lambda A, b: (A.toarray(), b), TypeError, "sparse"),
    (lambda A, b: (None, b), TypeError, "sparse"),
    (lambda A, b: (A.tocsr()[:, :-3], b), ValueError, "square"),
    (lambda A, b: (A, b[:-1]), ValueError, "b has the shape"),
    (lambda A, b: (A, b[None, None]), ValueError, "b has the shape"),
    (lambda A, b: (A, b + 1j), TypeError, "complex"),
    (lambda A, b: (A, ["x"] * len(b)), TypeError, "real numbers"),
    (lambda A, b: (A, np.where(np.arange(len(b)) == 50, np.nan, b)), ValueError, "b of row 16 is nan"),
    (lambda A, b: (A + sparse.diags([np.inf], shape=A.shape), b), ValueError, "row 0"),
    (lambda A, b: (sparse.triu(A).tobsr((3, 3)), b), ValueError, "one triangle only"),
])
def test_systems(system, change, kind, message):
    with pytest.raises(kind, match=message):
        drape.solve(*change(*system))


def broken(A, **arrays):
    """A bsr_matrix whose arrays SciPy does not look at again."""
    A = A.copy()
    for name, array in arrays.items():
        setattr(A, name, array)
    return A


@pytest.mark.parametrize("arrays, message", [
    (lambda A: {"indices": A.indices + 1000}, "column|row"),
    (lambda A: {"indices": A.indices - 1}, "column|row"),
    (lambda A: {"indices": A.indices[::-1].copy()}, "column|row"),
    (lambda A: {"indices": A.indices[:5]}, "lengths"),
    (lambda A: {"data": A.data[:5]}, "lengths"),
    (lambda A: {"data": np.asfortranarray(A.data)}, "C order"),
    (lambda A: {"data": A.data[:, ::-1]}, "C order"),
    (lambda A: {"indptr": A.indptr[:-1]}, "lengths"),
    (lambda A: {"indptr": A.indptr[::-1].copy()}, "row"),
    (lambda A: {"indptr": A.indptr * 1000}, "lengths"),
    (lambda A: {"indptr": -A.indptr}, "row|lengths"),
])
def test_patterns(system, arrays, message):
    A, b = system
    A = broken(A, **arrays(A))
    with pytest.raises(ValueError, match=message):
        drape.solve(A, b)
    with pytest.raises(ValueError, match=message):
        drape.Preconditioner("ssor", A)


def test_a_pattern_that_goes_wrong_in_place(system):
    """A kept solver looks at the pattern again."""
    A, b = system
    solver = drape.Solver()
    solver.solve(A, b)
    A.indices[3] = 10**6
    with pytest.raises(ValueError):
        solver.solve(A, b)
    A.indices[3] = -7
    with pytest.raises(ValueError):
        solver.solve(A, b)


def test_scalar_patterns(system):
    A = system[0].tocsr()
    for arrays in ({"indices": A.indices + 10**6}, {"indices": A.indices[:5]}, {"indptr": A.indptr[::-1].copy()}):
        with pytest.raises(ValueError):
            drape.solve(broken(A, **arrays), system[1])


@pytest.mark.parametrize("options, message", [
    ({"method": "magic"}, 'unknown method "magic"'),
    ({"precond": "magic"}, "magic"),
    ({"precond": "a\0b"}, "zero character"),
    ({"stop": "later"}, "is none of preconditioned|is none of"),
    ({"tol": 2.0}, "tol"),
    ({"tol": 0}, "above 0"),
    ({"tol": float("nan")}, "tol"),
    ({"tol": "small"}, "tol"),
    ({"max_iterations": -1}, "max_iterations"),
    ({"max_iterations": 2**40}, "max_iterations"),
    ({"amg": {"thta": 1}}, "there is no setting 'thta'"),
    ({"amg": {"theta": 7}}, "theta"),
    ({"amg": 3}, "amg"),
    ({"method": "direct"}, "direct"),
    ({"positions": np.zeros((3, 3))}, "positions"),
    ({"near_kernel": np.zeros((3, 3))}, "near_kernel"),
    ({"guess": np.zeros(4)}, "guess"),
    ({"out": np.zeros(4)}, "out"),
    ({"out": np.zeros(432, np.float32)}, "out"),
    ({"constraints": [999]}, "vertex 999"),
    ({"constraints": [-1]}, "vertex -1"),
    ({"constraints": [1, 1]}, "listed twice"),
    ({"constraints": [0.5]}, "whole numbers"),
    ({"constraints": np.zeros(5, bool)}, "mask"),
    ({"progress": 3}, "function"),
    ({"nonsense": 3}, "nonsense"),
])
def test_options(system, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        drape.solve(*system, **options)


@pytest.mark.parametrize("arguments, message", [
    (dict(vertices=[1], directions=[0, 0, 0]), "vertex 1"),
    (dict(vertices=[1], directions=[[1, 0]]), "directions have the shape"),
    (dict(vertices=[1], values=[1, 2]), "values have the shape"),
    (dict(vertices=[1], values=[np.nan, 0, 0]), "vertex 1"),
])
def test_constraints(system, arguments, message):
    with pytest.raises(ValueError, match=message):
        drape.solve(*system, drape.Constraints(**arguments))


def test_an_unsymmetric_matrix_is_named(system):
    A, b = system
    A = A.copy()
    A.data[5] *= 40
    with pytest.raises(ValueError, match="symmetric"):
        drape.solve(A, b, method="ppcg", precond="block_diagonal", tol=1e-12)


def test_memory_that_nobody_has():
    """A matrix whose rows alone do not fit is refused before anything is allocated."""
    A = net(3)
    A._shape = (3 * 2**33, 3 * 2**33)
    with pytest.raises((ValueError, MemoryError)):
        drape.solve(A, np.zeros(27))


P, T = grid(5)


@pytest.mark.parametrize("make, kind, message", [
    (lambda: drape.Simulation("no-such-scene"), ValueError, "unknown scene"),
    (lambda: drape.Simulation("no-such-file.yaml"), OSError, "no-such-file.yaml"),
    (lambda: drape.Simulation("flag", set={"time.stp": 1}), ValueError, 'did you mean "step"'),
    (lambda: drape.Simulation("flag", resolution=-3), ValueError, "resolution"),
    (lambda: drape.Simulation("a\0b"), ValueError, "zero character"),
    (lambda: drape.Simulation([]), ValueError, "no cloth"),
    (lambda: drape.Simulation([1]), TypeError, "drape.Cloth"),
    (lambda: drape.Simulation(7), TypeError, ""),
    (lambda: drape.Simulation(drape.Cloth(P, T), resolution=3), TypeError, "scene files"),
    (lambda: drape.Simulation(drape.Cloth(P, T + 1000)), ValueError, "names vertex"),
    (lambda: drape.Simulation(drape.Cloth(P, T - 3)), ValueError, "names vertex"),
    (lambda: drape.Simulation(drape.Cloth(P, T[:, :2])), ValueError, "triangles"),
    (lambda: drape.Simulation(drape.Cloth(P, T.astype(float))), TypeError, "whole numbers"),
    (lambda: drape.Simulation(drape.Cloth(P[:, :2], T)), ValueError, "positions"),
    (lambda: drape.Simulation(drape.Cloth(P * np.nan, T)), ValueError, "nan|finite"),
    (lambda: drape.Simulation(drape.Cloth(P * 0, T)), ValueError, "triangle"),
    (lambda: drape.Simulation(drape.Cloth(P, T, "chain mail")), ValueError, "no fabric"),
    (lambda: drape.Simulation(drape.Cloth(P, T, {"density": -1})), ValueError, "density"),
    (lambda: drape.Simulation(drape.Cloth(P, T, {"weight": 1})), TypeError, "no setting 'weight'"),
    (lambda: drape.Simulation(drape.Cloth(P, T, {"stretch": [1]})), TypeError, "2 numbers"),
    (lambda: drape.Simulation(drape.Cloth(P, T, uv=P)), ValueError, "uv"),
    (lambda: drape.Simulation(drape.Cloth(P, T, uv=P[:, :2], uv_triangles=T[:3])), ValueError, "uv_triangles"),
    (lambda: drape.Simulation(drape.Cloth(P, T, uv=P[:, :2], uv_triangles=T + 99)), ValueError, "material-space vertex 99"),
    (lambda: drape.Simulation(drape.Cloth(P, T, mass=[1.0])), ValueError, "mass"),
    (lambda: drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([99])]), ValueError, "99"),
    (lambda: drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([99], lambda t, s: s)]), ValueError, "99"),
    (lambda: drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([-1], lambda t, s: s)]), ValueError, "pin"),
    (lambda: drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([0], move=3)]), TypeError, "function"),
    (lambda: drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([0, 0])]), ValueError, "twice"),
    (lambda: drape.Simulation(drape.Cloth(P, T), pins=[[0, 1]]), TypeError, "drape.Pin"),
    (lambda: drape.Simulation(drape.Cloth(P, T), start=P[:3]), ValueError, "start"),
    (lambda: drape.Simulation(drape.Cloth(P, T), step=-1.0), ValueError, "step"),
    (lambda: drape.Simulation(drape.Cloth(P, T), integrator="magic"), ValueError, "magic"),
    (lambda: drape.Simulation(drape.Cloth(P, T), forces={"gravity": 3}), TypeError, "gravity"),
    (lambda: drape.Simulation(drape.Cloth(P, T), forces={"vertex": [3]}), TypeError, "vertex"),
    (lambda: drape.Simulation(drape.Cloth(P, T), colliders=[drape.Collider("blob")]), TypeError, "blob"),
    (lambda: drape.Simulation(drape.Cloth(P, T), colliders=[drape.Collider("sphere")]), ValueError, "radius"),
], ids=range(37))
def test_simulations(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


@pytest.mark.parametrize("use, kind, message", [
    (lambda sim: sim.set_state(positions=P), ValueError, "positions"),
    (lambda sim: setattr(sim, "positions", np.full((49, 3), np.inf)), ValueError, "finite"),
    (lambda sim: sim.positions.__setitem__(0, 1.0), ValueError, "read-only"),
    (lambda sim: sim.step(0), ValueError, "at least one"),
    (lambda sim: sim.set_forces(load=[[np.nan] * 3] * 49), ValueError, "load at"),
    (lambda sim: sim.set_forces(gravty=[0, 0, 0]), TypeError, "gravty"),
    (lambda sim: sim.set_forces(drag=-1.0), ValueError, "drag"),
    (lambda sim: sim.add_force("x", 3), TypeError, "functions"),
    (lambda sim: sim.add_force("gravity", lambda at: 0 * at.x), ValueError, "gravity"),
    (lambda sim: sim.writer("sheet.tiff"), ValueError, "tiff"),
    (lambda sim: sim.writer("/no/such/folder/sheet.html"), OSError, "no/such/folder"),
    (lambda sim: sim.save("/no/such/folder/x"), OSError, "no/such/folder"),
    (lambda sim: sim.restore(__file__), ValueError, "checkpoint"),
    (lambda sim: sim.export_system("x.sys"), ValueError, "step"),
], ids=range(14))
def test_uses_of_a_simulation(sheet, use, kind, message):
    with pytest.raises(kind, match=message):
        use(sheet)
    sheet.step()  # it goes on as if nothing had happened


def test_meshes(tmp_path):
    for positions, triangles, kind in ((P[:, :2], T, ValueError), (P, T + 99, ValueError), (P * np.nan, T, ValueError), (P + 1j, T, TypeError)):
        with pytest.raises(kind):
            drape.mesh.write(tmp_path / "m.obj", positions, triangles)
    (tmp_path / "bad.obj").write_text("v 1 2\nf 1 2 3\n")
    with pytest.raises(drape.FormatError, match="bad.obj:1"):
        drape.mesh.read(tmp_path / "bad.obj")
    with pytest.raises(drape.FileError):
        drape.mesh.read(tmp_path / "none.pc2")
    drape.mesh.write(tmp_path / "m.obj", P, T)
    with pytest.raises(IndexError):
        drape.mesh.read(tmp_path / "m.obj", frame=1)
    with pytest.raises(drape.ArgumentError, match="attribute|values"):
        drape.mesh.write(tmp_path / "m.ply", P, T, attributes={"heat": np.zeros(3)})


@pytest.mark.parametrize("arguments, kind, message", [
    (dict(f=3), TypeError, "functions"),
    (dict(y0=[]), ValueError, "y0"),
    (dict(y0=[np.nan]), ValueError, "y0 at 0 is nan"),
    (dict(t_span=(1, 0)), ValueError, "forward"),
    (dict(t_eval=[0.5, 0.2]), ValueError, "rising"),
    (dict(method="magic"), ValueError, "magic"),
    (dict(control="magic"), TypeError, "magic"),
    (dict(f=lambda t, y: [1, 2, 3]), ValueError, "what f returns"),
    (dict(f=lambda t, y: "x"), TypeError, "what f returns"),
    (dict(method="bdf2", step=0.1, jacobian=lambda t, y: [1.0]), ValueError, "what jacobian returns"),
    (dict(mass=[[1.0]]), ValueError, "second order"),
    (dict(events=[3]), TypeError, "functions"),
], ids=range(12))
def test_integrate(arguments, kind, message):
    with pytest.raises(kind, match=message):
        drape.ode.integrate(**{**dict(f=lambda t, y: -y, t_span=(0, 1), y0=[1.0]), **arguments})
