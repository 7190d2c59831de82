"""tables.py: names that the library knows."""

from __future__ import annotations

from ._drape import lib
from .strings import names


def methods() -> tuple[str, ...]:
    """Krylov methods, for Solver(method=...). "direct" needs CHOLMOD, which this package does not have."""
    return names(lib.drape_method_name)


def preconditioners() -> tuple[str, ...]:
    """For Solver(precond=...) and Preconditioner."""
    return names(lib.drape_precond_name)


def scenes() -> tuple[str, ...]:
    """Built-in scenes, for Simulation."""
    return names(lib.drape_scene_name)


def fabrics() -> tuple[str, ...]:
    """Materials by name, for Cloth(material=...)."""
    return names(lib.drape_fabric_name)


def models() -> tuple[str, ...]:
    """Force models of cloth, for Simulation(model=...)."""
    return names(lib.drape_model_name)


def integrators() -> tuple[str, ...]:
    """For Simulation(integrator=...)."""
    return names(lib.drape_integrator_name)


def ode_methods() -> tuple[str, ...]:
    """For drape.ode.integrate(method=...)."""
    return names(lib.drape_ode_method_name)


def formats() -> tuple[str, ...]:
    """File extensions that can be written."""
    return names(lib.drape_writer_extension)
