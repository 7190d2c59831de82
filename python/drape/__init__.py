"""drape: implicit cloth simulation, its linear solvers and its integrators, from Python.

    x, result = drape.solve(A, b)                                # A: scipy.sparse.bsr_matrix of 3x3 blocks, not copied
    M = drape.Preconditioner("amg", A)                           # a LinearOperator for SciPy's Krylov methods
    sim = drape.Simulation("flag"); sim.step(); sim.positions    # a view, (n, 3), m
    drape.ode.integrate(f, (0, 10), y0)

Everything is in SI units. docs/python.md is the manual.
"""

__version__ = "0.1.0"

from . import mesh, ode
from ._drape import lib as _lib
from .constraints import Constraints
from .context import Context, default_context
from .errors import ArgumentError, DrapeError, FileError, FormatError, NumberError, OutOfMemoryError, StateError
from .forces import ForcePoint
from .parts import Cloth, Collider, Pin
from .preconditioner import Preconditioner
from .sim import Certificate, CertificateContact, CertificateEnergy, CertificateOde, CertificateSeconds, EquilibriumResult, Simulation
from .solver import Fallback, SolveResult, Solver, solve
from .strings import text as _text
from .system import System, read_system
from .tables import fabrics, formats, integrators, methods, models, ode_methods, preconditioners, scenes
from .writer import Writer

library_version: str = _text(_lib.drape_version())
"""Version of libdrape."""
