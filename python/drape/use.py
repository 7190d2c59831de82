"""use.py: an object in use by a call."""

from __future__ import annotations

from typing import Any

from .context import Handle
from .errors import StateError


class Use:
    """Takes the lock of the object's context. Refuses an object that is closed, or that is calling the present function.

    The object has a context, a _handle that is None once it is closed, and a flag _busy.
    """

    def __init__(self, owner: Any):
        self.owner = owner

    def __enter__(self) -> Handle:
        owner = self.owner
        owner.context.__enter__()
        problem = "is closed" if owner._handle is None else "is at work: a function that it calls cannot use it" if owner._busy else None
        if problem:
            owner.context.__exit__()
            raise StateError(f"this {type(owner).__name__.lower()} {problem}")
        owner._busy = True
        return owner._handle

    def __exit__(self, *unused: object) -> None:
        self.owner._busy = False
        self.owner.context.__exit__()
