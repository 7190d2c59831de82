"""errors.py: exceptions. Each carries the library's own message, which names file, line, vertex or row."""

from __future__ import annotations


class DrapeError(Exception):
    """The base class of all errors of drape."""


class ArgumentError(DrapeError, ValueError):
    """A value outside its range, a mesh that cannot be cloth, numbers that are not finite."""


class OutOfMemoryError(DrapeError, MemoryError):
    """Out of memory."""


class FileError(DrapeError, OSError):
    """A file could not be opened, read, written or renamed."""


class FormatError(DrapeError, ValueError):
    """A file does not hold what its format promises."""


class NumberError(DrapeError, ArithmeticError):
    """The state became infinite, not a number, or is not credible."""


class StateError(DrapeError, RuntimeError):
    """An object is closed, in use by the call that runs this function, or was created before a fork."""


# In the order of drape_status, without DRAPE_OK.
_BY_STATUS = (ArgumentError, OutOfMemoryError, FileError, FormatError, NumberError)


def of_status(status: int, message: str) -> DrapeError:
    """The exception for a drape_status that is not DRAPE_OK."""
    kind = _BY_STATUS[status - 1] if 0 < status <= len(_BY_STATUS) else DrapeError
    return kind(message)
