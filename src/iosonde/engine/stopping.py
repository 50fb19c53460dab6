"""A question that can be stopped: its SQL is interrupted, and it begins no more."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Interruptible(Protocol):
    """A connection of an engine."""

    def interrupt(self) -> None:
        """End the statement that runs, from any thread."""


class StoppedError(BaseException):
    """Nobody waits for the answer any more. No error of a store: nothing may handle it but who stopped the question."""


class Stop:
    """The stop of one question. ``set`` may be called by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._connections: weakref.WeakSet[Interruptible] = weakref.WeakSet()

    def set(self) -> None:
        """Interrupt statements of the question, and refuse it new connections."""
        with self._lock:
            self._is_set = True
            connections = list(self._connections)
        for connection in connections:
            connection.interrupt()

    def check(self) -> None:
        """Raise StoppedError if the question was stopped."""
        if self._is_set:
            raise StoppedError

    def take(self, connection: Interruptible) -> None:
        """Interrupt this connection, too. Raises StoppedError if the question was stopped before."""
        with self._lock:
            self.check()
            self._connections.add(connection)


_current: ContextVar[Stop | None] = ContextVar("stop", default=None)


@contextmanager
def stopped_by(stop: Stop) -> Iterator[None]:
    """Let ``stop`` end what the block asks."""
    token = _current.set(stop)
    try:
        yield
    finally:
        _current.reset(token)


def current_stop() -> Stop | None:
    """The stop of the question that this thread works on."""
    return _current.get()


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for a Ctrl-C that came during a statement: DuckDB makes a RuntimeError of it."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None
