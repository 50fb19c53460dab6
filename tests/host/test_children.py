"""What a fork tells its parent, and that it runs no finalizer of what the parent left to the garbage collector."""

from __future__ import annotations

import gc
import os
import threading

import pytest

from iosonde.host import child, timed
from iosonde.model.advice import Advice
from iosonde.model.errors import IosondeError, UsageError


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch):
    """The command has one thread; what other tests left running here would keep it from a fork."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


class _Ring:
    """Garbage that only the collector finds; its finalizer notes the process."""

    def __init__(self, notes: int) -> None:
        self.own, self.notes = self, notes

    def __del__(self) -> None:
        os.write(self.notes, f"{os.getpid()}\n".encode())


def _timed() -> None:
    late = timed.HungError("late")
    assert timed.in_time(lambda: gc.collect() and 0, 60.0, lambda: late) == 0


def _asked() -> None:
    reply = child.ask(lambda note: note.found(garbage=gc.collect()), 60.0)
    assert reply.error is None
    assert reply.hang is None


@pytest.mark.parametrize("fork", [_timed, _asked])
def test_finalizers_of_the_parent_are_not_run_in_a_child(fork):
    heard, notes = os.pipe()
    gc.disable()
    try:
        _Ring(notes)
        fork()
    finally:
        gc.enable()
    gc.collect()
    os.close(notes)
    with os.fdopen(heard) as lines:
        assert lines.read() == f"{os.getpid()}\n"


class UnpicklableError(UsageError):
    def __reduce__(self):
        raise TypeError("it holds a lock")


def test_an_error_that_cannot_be_pickled_keeps_its_text_and_exit_code():
    def work() -> int:
        raise UnpicklableError("no such file", expected="one", hint=Advice("another"))

    with pytest.raises(IosondeError, match="no such file; expected one; try another") as raised:
        timed.in_time(work, 60.0, lambda: timed.HungError("late"))
    assert raised.value.exit_code == UsageError.exit_code


def test_an_error_of_python_that_cannot_be_pickled_says_why():
    def work() -> int:
        error = ValueError("three")
        error.lock = threading.Lock()
        raise error

    with pytest.raises(RuntimeError, match=r"ValueError: three .not pickled: TypeError"):
        timed.in_time(work, 60.0, lambda: timed.HungError("late"))
