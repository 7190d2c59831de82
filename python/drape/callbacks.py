"""callbacks.py: Python functions that the library calls, and how exceptions in them are handled.

An exception cannot pass through C. It is kept by the listener, the call of the library is made to fail or stop, and the
exception is raised when that call has returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._drape import ffi, lib


class Listener:
    """What `user` of a callback refers to. Must live as long as the library may call."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.handle = ffi.new_handle(self)

    def raise_error(self) -> None:
        """Raises the exception that a callback has raised since the last call."""
        error, self.error = self.error, None
        if error is not None:
            raise error


def listener_of(user: Any) -> Any:
    return ffi.from_handle(user)


def keep_error(kind: type, error: BaseException, traceback: Any) -> None:
    """For `onerror` of callbacks, whose first parameter is called `user`: the first exception is kept."""
    if traceback is None:
        return
    listener = listener_of(traceback.tb_frame.f_locals["user"])
    if listener.error is None:
        listener.error = error


class Watch(Listener):
    """Calls a function of the user, if any, in every iteration of a solve; lets Ctrl-C through in either case."""

    def __init__(self, progress: Callable[..., Any] | None = None):
        super().__init__()
        if progress is not None and not callable(progress):
            raise TypeError("progress must be a function, of the iterations done and the residual")
        self.progress = progress
        self.native = ffi.new("drape_py_watch *", {"user": self.handle, "every": progress is not None})

    def attach(self, settings: Any) -> None:
        """Into a drape_solve_settings."""
        settings.progress = ffi.addressof(lib, "drape_py_progress")
        settings.progress_user = self.native

    def begin(self) -> None:
        self.error, self.native.stopped, self.native.next = None, False, 0


@ffi.def_extern(error=False, onerror=keep_error)
def drape_py_ask(user, p):
    progress = listener_of(user).progress
    # A signal that came before this line has raised its exception here: Python looks for them between two lines.
    return progress is None or progress(p.iterations, p.residual) is not False
