"""Objects live as long as somebody uses them, whatever the order of finalisers, threads and forks."""

import gc
import os
import signal
import threading

import numpy as np
import pytest
from conftest import grid, net

import drape


def test_views_outlive_their_simulation(sheet):
    x, triangles = sheet.positions, sheet.triangles
    sheet.step()
    kept = x.copy()
    sheet.close()
    del sheet
    gc.collect()
    assert np.array_equal(x, kept) and triangles.max() == 48


def test_everything_is_freed_in_any_order(system):
    A, b = system
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
        context = drape.Context(threads=1)
        empty = context.bytes
        solver = drape.Solver(context=context)
        solver.solve(A, b, [0])
        objects = [solver, drape.Preconditioner("amg", A, constraints=[1], context=context),
                   drape.Simulation("drooping", resolution=5, context=context), drape.Solver(context=context)]
        del solver
        assert context.bytes > empty
        for k in order:
            objects[k] = None
        gc.collect()
        assert context.bytes == empty


def test_cycles_are_collected():
    context = drape.Context(threads=1)
    empty = context.bytes
    sim = drape.Simulation(drape.Cloth(*grid(5)), pins=[drape.Pin([0], lambda t, start: 0 * start * len(holder))], context=context)
    holder = [sim, context]
    sim.add_force("mine", lambda at: np.zeros_like(at.x) * len(holder))
    sim.step()
    sim.back = holder
    view = sim.positions
    del sim, holder
    gc.collect()
    assert np.isfinite(view).all() and context.bytes > empty
    del view
    gc.collect()
    assert context.bytes == empty


def test_a_context_lives_as_long_as_its_objects(system):
    solver = drape.Solver(context=drape.Context(threads=2))
    gc.collect()
    assert solver.solve(*system)[1].converged


def test_closed_objects_say_so(system, sheet):
    A, b = system
    solver, M = drape.Solver(), drape.Preconditioner("diagonal", A)
    for thing in (solver, M, sheet):
        thing.close()
        thing.close()
    uses = (lambda: solver.solve(A, b), solver.forget, lambda: M @ b, lambda: M.refresh(A), sheet.step, lambda: sheet.positions,
            lambda: sheet.triangles, lambda: sheet.vertices, lambda: sheet.save("x"), lambda: sheet.writer("x.html"))
    for use in uses:
        with pytest.raises(drape.StateError, match="closed"):
            use()


def test_a_writer_outlives_its_simulation(tmp_path, sheet):
    out = sheet.writer(tmp_path / "sheet.html")
    out.frame()
    del sheet
    gc.collect()
    out.frame()
    del out  # without close
    gc.collect()
    assert (tmp_path / "sheet.html").stat().st_size > 1000
    assert [path.name for path in tmp_path.iterdir()] == ["sheet.html"]


def test_a_closed_writer_says_so(tmp_path, sheet):
    with sheet.writer(tmp_path / "sheet.pc2") as out:
        out.frame()
    out.close()
    with pytest.raises(drape.StateError, match="closed"):
        out.frame()


def test_arrays_may_go_before_the_preconditioner():
    A = net(8)
    b = np.ones(A.shape[0])
    M = drape.Preconditioner("ssor", A)
    z = M @ b
    del A
    gc.collect()
    np.full(10**5, np.nan)  # overwrites the memory if it is free
    assert np.array_equal(M @ b, z)


def test_threads_share_a_context(system):
    A, b = system
    expected, _ = drape.solve(A, b)
    solver, wrong = drape.Solver(), []

    def work():
        for _ in range(10):
            for x, _ in (solver.solve(A, b), drape.solve(A, b)):
                if np.abs(x - expected).max() > 1e-3:
                    wrong.append(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_with_contexts_of_their_own(system):
    A, b = system
    expected, _ = drape.solve(A, b)
    answers = [None] * 3

    def work(k):
        answers[k] = drape.solve(A, b, context=drape.Context(threads=1))[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(answer, expected) for answer in answers)


def test_objects_that_die_in_a_callback(system):
    """A finaliser in the middle of a call waits until the call has ended."""
    A, b = system
    context = drape.Context(threads=1)
    others = [drape.Solver(context=context) for _ in range(5)]
    for other in others:
        other.solve(A, b)
    before = context.bytes

    def progress(iterations, residual):
        others.clear()
        gc.collect()

    drape.Solver(context=context, progress=progress).solve(A, b)
    gc.collect()
    assert not others and context.bytes < before


def test_a_callback_may_use_other_objects(system):
    A, b = system
    inner = drape.Solver()
    y = drape.ode.integrate(lambda t, y: [-inner.solve(A, b)[1].converged * y[0]], (0, 1), [1.0], method="rk4", step=0.1).y
    assert y[-1, 0] == pytest.approx(np.exp(-1), rel=1e-5)


def test_a_callback_may_not_use_its_own_object(system, sheet):
    A, b = system
    solver = drape.Solver(progress=lambda iterations, residual: solver.solve(A, b))
    with pytest.raises(drape.StateError, match="at work"):
        solver.solve(A, b)
    sheet.add_force("mine", lambda at: sheet.positions)
    with pytest.raises(drape.StateError, match="at work"):
        sheet.step()


def test_a_forked_process_has_a_context_of_its_own(system):
    A, b = system
    context = drape.Context()
    drape.solve(A, b, context=context)
    child = os.fork()
    if child == 0:
        verdict = 1
        try:
            drape.solve(A, b)
            try:
                drape.solve(A, b, context=context)
            except drape.StateError:
                verdict = 0
        finally:
            os._exit(verdict)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def soon():
    """Ctrl-C after a while, as the system would send it."""
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


# Steepest descent on a stiff system: far from done after any time that a test may take.
ENDLESS = {"method": "sd", "precond": "none", "tol": 1e-13, "max_iterations": 2**31 - 1}


def test_ctrl_c_stops_a_solve(soon):
    A = net(40, mass=1e-9)
    solver = drape.Solver(**ENDLESS)
    with pytest.raises(KeyboardInterrupt):
        solver.solve(A, np.random.default_rng(4).standard_normal(A.shape[0]))
    assert solver.solve(net(3, mass=10), np.ones(27))[1].converged


def test_ctrl_c_stops_a_step(soon):
    sim = drape.Simulation("drooping", resolution=31, solver=ENDLESS)
    x = sim.positions.copy()
    with pytest.raises(KeyboardInterrupt):
        sim.step(10**6)
    steps = sim.steps
    assert steps > 0 or np.array_equal(x, sim.positions)
