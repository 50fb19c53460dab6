"""Work with a time limit in a child process that may hang in the kernel: its whole output, or none.

A read of a frozen file system cannot be interrupted, not even by SIGKILL, so the work is done in a fork and the parent
goes on without it::

    parent: fork -> wait for the pipe, at most so long -> what the child wrote, or ``HungError``
    child:  work with stdout and stderr in memory -> all of it through the pipe -> end; it ends with its parent, too

A process with threads is not forked (a lock that another thread holds would stay locked in the child): there the work
is done in a thread, which is left behind.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from iosonde import _core
from iosonde.model.errors import IosondeError

_PATIENCE = 50
"""Milliseconds that a killed child may take to exit."""


class HungError(IosondeError):
    """Work that exceeded its time limit."""

    exit_code = 124  # as of timeout(1)


class _Ended(NamedTuple):
    code: int
    stdout: bytes
    stderr: bytes
    error: BaseException | None


def in_time(work: Callable[[], int], seconds: float, late: Callable[[], HungError]) -> int:
    """Exit code of ``work``, whose output is written at its end. Raises what it raises.

    ``late``: the error when it takes longer than ``seconds``.
    """
    if threading.active_count() > 1:
        return _in_thread(work, seconds, late)
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(work, writer, parent)
    os.close(writer)
    try:
        said = _heard(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        _let_go(pid)
    if said is None:
        raise late()
    ended: _Ended = pickle.loads(said)
    _pass_on(ended)
    if ended.error is not None:
        raise ended.error
    return ended.code


def _in_thread(work: Callable[[], int], seconds: float, late: Callable[[], HungError]) -> int:
    codes: list[int] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            codes.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="timed", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not codes:
        raise late()
    return codes[0]


def _pass_on(ended: _Ended) -> None:
    """Write what the child wrote; a stream that holds text only gets text."""
    for stream, data in ((sys.stdout, ended.stdout), (sys.stderr, ended.stderr)):
        stream.flush()
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(data.decode("utf-8", "replace"))
        else:
            raw.write(data)
            raw.flush()


def _heard(pipe: int, deadline: float) -> bytes | None:
    """Read the child's whole output; None if it exceeds the time limit."""
    pieces: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return None
        piece = os.read(pipe, 1 << 20)
        if not piece:
            return b"".join(pieces) or _killed()
        pieces.append(piece)


def _killed() -> bytes:
    error = IosondeError("the process that read was killed", expected="enough memory for it")
    return pickle.dumps(_Ended(1, b"", b"", error))


class _Memory(io.TextIOWrapper):
    """An in-memory stream with the properties of the real one."""

    def __init__(self, like: io.TextIOBase) -> None:
        encoding = getattr(like, "encoding", None) or "utf-8"
        super().__init__(io.BytesIO(), encoding=encoding, errors="replace", newline="")
        self._terminal = like.isatty()

    def isatty(self) -> bool:
        return self._terminal

    def data(self) -> bytes:
        """Bytes written so far."""
        self.flush()
        found: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return found


def _child(work: Callable[[], int], pipe: int, parent: int) -> None:
    """Body of the child process, without the parent's output, so that readers of it do not wait for the child."""
    try:
        gc.freeze()  # Finalizers of what the parent has are the parent's to run.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _core.end_with_parent()
        if os.getppid() != parent:
            return
        streams = [_Memory(stream) for stream in (sys.stdout, sys.stderr)]  # type: ignore[arg-type]
        sys.stdout, sys.stderr = streams
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        error: BaseException | None = None
        code = 0
        try:
            code = work()
        except BaseException as raised:
            error = raised
        ended = _Ended(code, streams[0].data(), streams[1].data(), error)
        _send(pipe, _packed(ended))
    finally:
        os._exit(0)


def _packed(ended: _Ended) -> bytes:
    try:
        return pickle.dumps(ended)
    except Exception as why:
        return pickle.dumps(ended._replace(error=_plain(ended.error, why)))


def _plain(error: BaseException | None, why: Exception) -> Exception:
    """The text and the exit code of an error that cannot be pickled, and without an exit code why it could not."""
    if not isinstance(error, IosondeError):
        return RuntimeError(f"{type(error).__name__}: {error} (not pickled: {why!r})")
    plain = IosondeError(error.what, expected=str(error.expected), hint=str(error.hint))
    plain.exit_code = error.exit_code
    return plain


def _send(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]


def _let_go(pid: int) -> None:
    """Kill the child and reap it if it exits at once; a hung one is inherited by init."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        for _ in range(_PATIENCE):
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
            time.sleep(0.001)
