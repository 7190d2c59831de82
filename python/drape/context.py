"""context.py: contexts, the lock of each, and objects of the library that must be freed before their context.

A context serves one thread at a time. Every call of the library is made under its context's lock, which the same thread
may take again: a callback may use other objects of the same context. Objects are freed by finalisers, which may run at
any moment and in any order: each holds its context, and waits in a queue while a call is under way.
"""

from __future__ import annotations

import collections
import logging
import os
import threading
import weakref
from typing import Any

from ._drape import ffi, lib
from . import structs
from .errors import StateError, of_status
from .strings import text

_log = logging.getLogger("drape")
# Errors are raised as exceptions; who listens hears of them all the same.
_LEVELS = {lib.DRAPE_LOG_ERROR: logging.DEBUG, lib.DRAPE_LOG_WARNING: logging.WARNING, lib.DRAPE_LOG_INFO: logging.INFO}


@ffi.def_extern()
def drape_py_log(user, level, message):
    _log.log(_LEVELS.get(level, logging.INFO), "%s", text(message))


class Context:
    """Threads, memory and the last error message of the library.

    threads: 1 to 256; None: as many as there are processors. Results do not depend on it, bit by bit.
    simd: widest vector instructions, "best", "sse2" (or "neon"), "avx2", "avx512"; results do not depend on it either.

    One thread at a time computes in a context; others wait. Threads that are to compute side by side need a context each.
    Messages of the library go to the logger "drape".
    """

    def __init__(self, threads: int | None = None, *, simd: str = "best"):
        settings = ffi.new("drape_context_settings *")
        structs.fill(settings, {"threads": threads, "simd": simd})
        settings.log = lib.drape_py_log
        out = ffi.new("drape_context **")
        if lib.drape_context_create(settings, out):
            raise of_status(lib.DRAPE_ERROR_ARGUMENT, f"no context with threads {threads} and simd {simd!r}: "
                            "threads are 1 to 256, and the processor must have these instructions")
        self.pointer = out[0]
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._depth = 0
        self._unused: collections.deque = collections.deque()
        weakref.finalize(self, _destroy, self.pointer, self._lock, self._process).atexit = False

    @property
    def threads(self) -> int:
        """The number of threads that compute, including the caller's."""
        return lib.drape_context_threads(self.pointer)

    @property
    def simd(self) -> str:
        """The vector instructions in use."""
        return text(lib.drape_simd_name(lib.drape_context_simd(self.pointer)))

    @property
    def bytes(self) -> int:
        """Memory that this context holds now, in bytes."""
        return lib.drape_context_bytes(self.pointer)

    def __enter__(self) -> Context:
        """Takes the lock. All calls of the library happen inside; users need not do this."""
        if os.getpid() != self._process:
            raise StateError("this context was made before a fork, and its threads are not in this process: make another one here")
        self._lock.acquire()
        self._depth += 1
        return self

    def __exit__(self, *unused: object) -> None:
        self._depth -= 1
        self._release()

    def _release(self) -> None:
        """Releases the lock. Leaving the outermost call frees what finalisers have queued."""
        while True:
            if self._depth == 0:
                while self._unused:
                    destroy, pointer = self._unused.popleft()
                    destroy(pointer)
            self._lock.release()
            # A finaliser that came between the last look and the release left its work here.
            if self._depth or not self._unused or not self._lock.acquire(False):
                return

    def check(self, status: int) -> None:
        """Raises the library's error, under the lock of the call that returned the status."""
        if status:
            raise of_status(status, text(lib.drape_message(self.pointer)) or text(lib.drape_status_name(status)))

    def create(self, kind: str, create: Any, destroy: Any, *arguments: Any) -> Handle:
        """Calls create(context, *arguments, &out) for an object that `destroy` frees."""
        out = ffi.new(kind + " **")
        with self:
            self.check(create(self.pointer, *arguments, out))
            return Handle(self, out[0], destroy)

    def free(self, destroy: Any, pointer: Any) -> None:
        """Frees an object now, or when the present call has ended."""
        if os.getpid() != self._process:
            return
        self._unused.append((destroy, pointer))
        if self._lock.acquire(False):
            self._release()


def _destroy(pointer: Any, lock: Any, process: int) -> None:
    if os.getpid() == process and lock.acquire(False):
        lib.drape_context_destroy(pointer)
        lock.release()


class Handle:
    """An object of the library; freed when nothing uses it any more, including NumPy views.

    keep: what the library points to as long as the object lives, by any name.
    """

    __slots__ = ("pointer", "context", "keep", "__weakref__")

    def __init__(self, context: Context, pointer: Any, destroy: Any):
        self.pointer, self.context = pointer, context
        self.keep: dict[str, Any] = {}
        weakref.finalize(self, context.free, destroy, pointer).atexit = False


_default: Context | None = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The default context; created at its first use, and again in a forked process."""
    global _default
    with _default_lock:
        if _default is None or _default._process != os.getpid():
            _default = Context()
        return _default


def _after_fork() -> None:
    global _default, _default_lock
    _default, _default_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
