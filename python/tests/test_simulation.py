"""Simulations from files and from arrays, with forces and motions in Python."""

import re

import numpy as np
import pytest
from conftest import grid

import drape
from drape._drape import ffi


def test_a_scene_that_ships():
    sim = drape.Simulation("drooping", resolution=7)
    x = sim.positions
    assert x.shape == (49, 3) and x.dtype == np.float64 and not x.flags.writeable and sim.certificate is None
    certificate = sim.step(3)
    assert certificate is sim.certificate and certificate.step == sim.steps == 3
    assert sim.time == pytest.approx(3 * sim.step_length) == certificate.time
    assert x[:, 2].min() < 0.2 and np.shares_memory(x, sim.positions)
    assert certificate.linear.reason == "converged" and certificate.stretch >= 1
    assert set(certificate.energy.forces) == set(sim.force_names)


def test_a_scene_file_and_overrides(tmp_path):
    path = tmp_path / "sheet.yaml"
    path.write_text("drape: 1\ncloth: [{grid: {width: 1 m, height: 1 m, resolution: 9}, pins: [{where: top-left}]}]\n")
    sim = drape.Simulation(path, resolution=5, set={"time.step": "1 ms"}, integrator="implicit-euler")
    assert sim.vertices == 25 and sim.step_length == pytest.approx(0.001)
    assert sim.pieces == {"cloth": slice(0, 25)}


def test_arrays_and_a_file_give_the_same_bits():
    file = drape.Simulation("drooping", resolution=7)
    mine = drape.Simulation("drooping", resolution=7, forces={"wind": [1, 0, 0]})
    mine.set_forces(wind=[0, 0, 0])
    file.step(2), mine.step(2)
    assert np.array_equal(file.positions, mine.positions)


def test_free_fall():
    """Without pins and air, cloth falls as everything does, and keeps its shape."""
    P, T = grid(5)
    sim = drape.Simulation(drape.Cloth(P, T, {"fabric": "silk", "density": 0.1}), integrator="implicit-midpoint", step=0.01)
    sim.step(10)
    np.testing.assert_allclose(sim.positions - P, np.tile([0, 0, -9.81 * 0.1**2 / 2], (25, 1)), atol=1e-6)
    assert sim.masses.sum() == pytest.approx(0.1)


def test_pins_follow_a_function():
    P, T = grid(5)
    seen = []

    def move(time, start):
        seen.append(time)
        return np.column_stack([0 * start[:, 0], start[:, 1] * time, np.full(len(start), 0.1 * time)])

    order = [20, 0, 4]  # the order is the user's
    sim = drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin(order, move)], step=0.01)
    sim.step(5)
    np.testing.assert_allclose(sim.positions[order] - P[order], move(sim.time, P[order]), atol=1e-12)
    assert len(seen) < 20  # once per time, not per vertex
    assert sim.constraint_forces.shape == (25, 3)


def test_pins_in_one_direction_and_soft_ones():
    P, T = grid(5)
    sim = drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([0, 4], directions=[0, 0, 1]), drape.Pin([12], stiffness=10.0, end=1.0)],
                           forces={"gravity": [1, 0, -9.81]})
    sim.step(10)
    assert not sim.positions[[0, 4], 2].any() and sim.positions[0, 0] > 0
    assert "soft_pins" in sim.force_names


def test_a_force_of_ones_own_is_a_force(sheet):
    """What cancels gravity leaves the sheet at rest, and its energy is in the balance."""
    m = np.array(sheet.masses)
    sheet.add_force("lift", lambda at: np.outer(m, [0, 0, 9.81]), energy=lambda at: -9.81 * float(m @ at.x[:, 2]))
    x = sheet.positions.copy()
    certificate = sheet.step(5)
    np.testing.assert_allclose(sheet.positions, x, atol=1e-9)
    assert certificate.energy.forces["lift"] == pytest.approx(0, abs=1e-9) and sheet.force_names[-1] == "lift"


def test_jacobians_of_a_force_are_used():
    """A stiff spring at each vertex: with its Jacobian, Newton's method takes few iterations."""
    P, T = grid(5)
    k = 1e4
    taken = []
    for jacobian in (True, False):
        sim = drape.Simulation(drape.Cloth(P, T), integrator="implicit-euler", step=0.01)
        K = np.tile(k * np.eye(3), (25, 1, 1))
        sim.add_force("bed", lambda at: (-k * (at.x - P), K) if jacobian else -k * (at.x - P))
        try:
            taken.append(sim.step().ode.newton_iterations)
        except drape.NumberError:
            taken.append(10**6)
    assert taken[0] < 10 and taken[0] < taken[1]


def test_damping_takes_energy():
    P, T = grid(5)
    sim = drape.Simulation(drape.Cloth(P, T), velocity=np.tile([1.0, 0, 0], (25, 1)), forces={"gravity": [0, 0, 0]}, step=0.01)
    D = np.tile(0.01 * np.eye(3), (25, 1, 1))
    sim.add_force("honey", lambda at: (-0.01 * at.v, None, D), velocity_dependent=True)
    before = sim.energy().kinetic
    sim.step(20)
    assert 0 < sim.energy().kinetic < 0.6 * before


@pytest.mark.parametrize("function, kind", [
    (lambda at: 1 / 0, ZeroDivisionError),
    (lambda at: np.zeros((3, 3)), ValueError),
    (lambda at: "x", TypeError),
    (lambda at: (at.x, None, None, None), ValueError),
    (lambda at: np.full_like(at.x, np.nan), drape.NumberError),
])
def test_a_force_that_fails_leaves_the_state(sheet, function, kind):
    on = [False]
    sheet.add_force("mine", lambda at: function(at) if on[0] else np.zeros_like(at.x))
    sheet.step()
    x = sheet.positions.copy()
    on[0] = True
    with pytest.raises(kind):
        sheet.step()
    assert np.array_equal(x, sheet.positions)
    on[0] = False
    assert sheet.step().step == 2


def test_a_motion_that_fails():
    P, T = grid(5)
    for answer, kind in ((lambda t: np.zeros(5), ValueError), (lambda t: [0, 0, np.nan], drape.NumberError), (lambda t: {}[t], KeyError)):
        with pytest.raises(kind):
            drape.Simulation(drape.Cloth(P, T), pins=[drape.Pin([0], lambda t, start: answer(t) if t > 0.003 else [0, 0, 0])]).step(5)


def test_points_of_a_force_may_be_kept(sheet):
    kept = []
    sheet.add_force("mine", lambda at: kept.append(at) or np.zeros_like(at.x))
    sheet.step(2)
    del sheet
    assert all(np.isfinite(at.x).all() and at.x.shape == (49, 3) for at in kept) and kept[-1].time > kept[0].time


def test_loads_and_states(sheet):
    load = np.zeros((49, 3))
    load[24] = [0, 0, 5]
    sheet.set_forces(load=load, gravity=[0, 0, 0])
    load[...] = np.nan  # it was copied
    sheet.step(3)
    assert sheet.positions[24, 2] > 0
    x = grid(7)[0]
    sheet.set_state(x, 0 * x)
    assert np.array_equal(sheet.positions, x) and not sheet.velocities.any()
    sheet.velocities = x
    assert np.array_equal(sheet.velocities, x)


def test_checkpoints_go_on_with_the_same_bits(tmp_path, sheet):
    sheet.step(3)
    sheet.save(tmp_path / "sheet.ckpt")
    x = sheet.positions.copy()
    sheet.step(3)
    later = sheet.positions.copy()
    sheet.restore(tmp_path / "sheet.ckpt")
    assert np.array_equal(sheet.positions, x)
    sheet.step(3)
    assert np.array_equal(sheet.positions, later)


def test_systems_of_a_step(tmp_path):
    sim = drape.Simulation("drooping", resolution=9, integrator="linearised-euler")
    sim.step()
    sim.export_system(tmp_path / "step.sys")
    system = drape.read_system(tmp_path / "step.sys")
    x, result = drape.solve(system.A, system.b, system.constraints, tol=1e-8)
    assert result.converged and x.shape == (81, 3) and system.h == pytest.approx(sim.step_length)
    held = system.constraints.list["vertex"]
    np.testing.assert_allclose(x[held], system.z[held], atol=1e-12)


def test_equilibrium():
    result = drape.Simulation("pinned", resolution=9).find_equilibrium()
    assert result.at_rest and result.residual < 1e-7 and result.moved > 0


def test_contact_with_a_collider():
    P, T = grid(6)
    ball = drape.Collider("sphere", radius=0.3, position=[0.5, 0.5, -0.31], friction=0.5)
    sim = drape.Simulation(drape.Cloth(P, T, thickness=1e-3, friction=0.5), colliders=[ball], step=0.005)
    certificate = sim.step(20)
    assert certificate.contact.count + certificate.contact.springs > 0
    assert np.linalg.norm(sim.positions - [0.5, 0.5, -0.31], axis=1).min() > 0.3


@pytest.mark.parametrize("ending", [".html", ".glb", ".abc", ".usda"])
def test_writers(tmp_path, sheet, ending):
    with sheet.writer(tmp_path / f"sheet{ending}", title="test") as out:
        for _ in range(2):
            sheet.step()
            out.frame()
    assert (tmp_path / f"sheet{ending}").stat().st_size > 500


def test_meshes_come_back(tmp_path):
    P, T = grid(4)
    frames = np.stack([P, P + 0.5, P + 1])
    for ending in (".obj", ".ply", ".pc2", ".mdd"):
        drape.mesh.write(tmp_path / f"m{ending}", frames, T, fps=10)
        found = drape.mesh.Frames(tmp_path / f"m{ending}")
        assert len(found) == 3 and np.array_equal(found.triangles, T) and found.vertices == 16
        np.testing.assert_allclose(np.stack(found), frames, atol=1e-6)
        assert np.array_equal(found[-1], found[2]) and len(found[1:]) == 2 and found.number(1) == 1
    assert drape.mesh.Frames(tmp_path / "m.mdd").fps == pytest.approx(10)
    positions, triangles = drape.mesh.read(tmp_path / "m.ply", frame=1)
    np.testing.assert_allclose(positions, P + 0.5, atol=1e-6)


def test_attributes(tmp_path):
    P, T = grid(4)
    drape.mesh.write(tmp_path / "m.ply", P, T, attributes={"heat": np.arange(16.0), "stress": np.zeros((len(T), 3))})
    head = (tmp_path / "m_0000.ply").read_bytes()[:2000]
    assert b"heat" in head and b"stress" in head


def test_records_have_the_fields_of_the_headers():
    """A field that is added to a struct is to be added to its class."""
    pairs = {drape.SolveResult: "drape_solve_result", drape.Certificate: "drape_certificate", drape.CertificateOde: "drape_certificate_ode",
             drape.CertificateEnergy: "drape_certificate_energy", drape.CertificateContact: "drape_certificate_contact",
             drape.CertificateSeconds: "drape_certificate_seconds", drape.EquilibriumResult: "drape_equilibrium_result"}
    renamed = {"reserved", "history_count", "fallback", "force", "force_count", "checked"}
    for kind, name in pairs.items():
        fields = {field for field, _ in ffi.typeof(name).fields} - renamed
        assert fields - set(kind.__annotations__) == set(), name


def test_names():
    assert "flag" in drape.scenes() and "amg" in drape.preconditioners() and "ppcg" in drape.methods()
    assert "cotton" in drape.fabrics() and ".html" in drape.formats() and "bdf2" in drape.integrators()
    assert "dormand-prince" in drape.ode_methods() and drape.models()[0] == "baraff_witkin"
    assert re.fullmatch(r"\d+\.\d+\.\d+", drape.library_version) and drape.library_version == drape.__version__


def test_threads_and_simd_are_told():
    context = drape.Context(threads=2, simd="best")
    assert context.threads == 2 and context.simd in ("sse2", "neon", "avx2", "avx512")
    for wrong in (dict(threads=1000), dict(simd="mmx")):
        with pytest.raises((drape.DrapeError, TypeError)):
            drape.Context(**wrong)
