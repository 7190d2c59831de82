"""Integrators for right-hand sides in Python."""

import numpy as np
import pytest

import drape
from drape.ode import integrate


def test_decay():
    solution = integrate(lambda t, y: -y, (0, 2), [1.0, 3.0], rtol=1e-9, atol=1e-12)
    assert solution.done and solution.t[-1] == 2 and solution.v is None and solution.counts.steps == len(solution.t) - 1
    np.testing.assert_allclose(solution.y[-1], np.exp(-2) * np.array([1, 3]), rtol=1e-7)


@pytest.mark.parametrize("method", drape.ode_methods())
def test_methods_have_their_order(method):
    """Half the step, 2^p times less error, on a pendulum of second order."""
    from drape._drape import lib

    order = lib.drape_ode_method_order(method.encode())
    errors = []
    for step in (0.05, 0.025):
        solution = integrate(lambda t, x, v: -x, (0, 1), [1.0], [0.0], method=method, step=step, newton={"rtol": 1e-13, "atol": 1e-15})
        assert solution.done, solution.message
        errors.append(abs(solution.y[-1, 0] - np.cos(1)))
    assert errors[0] / errors[1] > 0.7 * 2**order or errors[1] < 1e-11


def test_with_jacobian_and_without_agree():
    """A stiff system: y follows cos(t)."""
    options = dict(f=lambda t, y: -1000 * (y - np.cos(t)), t_span=(0, 1), y0=[0.0], method="bdf2", step=0.01)
    free = integrate(**options)
    dense = integrate(**options, jacobian=lambda t, y: [[-1000.0]])
    np.testing.assert_allclose(free.y, dense.y, atol=1e-6)
    assert dense.counts.jacobians > 0 and abs(dense.y[-1, 0] - np.cos(1)) < 1e-2


def test_mass():
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    for method, jacobian in (("rk4", None), ("tr-bdf2", lambda t, x, v: (-M, 0 * M))):
        solution = integrate(lambda t, x, v: -M @ x, (0, 1), [1.0, 0.5], [0.0, 0.0], method=method, step=0.01, mass=M, jacobian=jacobian)
        np.testing.assert_allclose(solution.y[-1], np.cos(1) * np.array([1, 0.5]), atol=1e-4)


def test_wanted_times():
    wanted = np.linspace(0, 1, 11)
    solution = integrate(lambda t, y: [np.cos(t)], (0, 1), [0.0], t_eval=wanted, rtol=1e-8, atol=1e-10)
    assert np.array_equal(solution.t, wanted)
    np.testing.assert_allclose(solution.y[:, 0], np.sin(wanted), atol=1e-6)


def test_events():
    def down(t, x, v):
        return x[0]

    def fast(t, x, v):
        return v[0] + 0.5

    down.terminal, down.direction = True, -1
    solution = integrate(lambda t, x, v: -x, (0, 10), [1.0], [0.0], events=[down, fast], rtol=1e-9, atol=1e-11)
    assert solution.reason == "event" and solution.t[-1] == pytest.approx(np.pi / 2, abs=1e-6)
    assert solution.events[1][0].t == pytest.approx(np.pi / 6, abs=1e-6) and not solution.events[0][0].rising


def test_why_it_stopped():
    solution = integrate(lambda t, y: y**2, (0, 2), [1.0])  # infinite at t = 1
    assert not solution.done and solution.message and solution.t[-1] <= 1.001
    assert integrate(lambda t, y: -y, (0, 1), [1.0], step=0.01, max_steps=5).reason != ""


def test_exceptions_come_through():
    def f(t, y):
        return {}["nothing"]

    with pytest.raises(KeyError, match="nothing"):
        integrate(f, (0, 1), [1.0])
    with pytest.raises(KeyError):
        integrate(lambda t, y: -y, (0, 1), [1.0], events=[f])
    with pytest.raises(KeyError):
        integrate(lambda t, y: -y, (0, 1), [1.0], method="bdf2", step=0.1, jacobian=f)
