"""Calls that may hang, each made in a child process that can be abandoned.

A path on a hung file system holds whoever touches it in the kernel, where no signal reaches. So a
child touches it, tells over a pipe what it tries and what it found, and the parent waits only until a
deadline. A child that is late is described (what it tried, where in the kernel it stands), killed
and left behind without waiting: it goes when the file system lets it.

``iosonde check`` lives on this module: light imports only.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from iosonde.model.errors import IosondeError

Work = Callable[["Reporter"], None]
MAX_BYTES = 16 << 20
"""Largest plausible answer of a child."""
_STACK_LINES = 12
_PATIENCE = 20
"""Milliseconds that a killed child may take to exit."""


class Reporter:
    """The child's end of the pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def trying(self, what: str) -> None:
        """Announce the next call before making it, since it may never return."""
        self._send({"trying": what})

    def found(self, **facts: Any) -> None:
        """Facts, each a value JSON can hold. A later one of the same name replaces the earlier."""
        self._send({"facts": facts})

    def ended(self, error: str | None) -> None:
        """Send the final message."""
        self._send({"ended": True, "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self._pipe, data) :]


class Hang(NamedTuple):
    """Position of a hung child; fields that the kernel does not tell are empty."""

    trying: str
    seconds: float
    pid: int
    state: str = ""
    wchan: str = ""
    stack: tuple[str, ...] = ()


class Reply:
    """Answer within the time limit: ``facts`` even of a child that then hung (``hang``) or failed (``error``)."""

    def __init__(self, facts: dict[str, Any] | None = None) -> None:
        self.facts: dict[str, Any] = {} if facts is None else facts
        self.hang: Hang | None = None
        self.error: str | None = None
        self.took_ns = 0


class _Child:
    """A running child, from the parent's side."""

    def __init__(self, pid: int, pipe: int, began: float) -> None:
        self.pid, self.pipe, self.began = pid, pipe, began
        self.reply = Reply()
        self.trying = ""
        self.rest = b""
        self.said_bytes = 0
        self.had_its_say = False


def ask(work: Work, seconds: float) -> Reply:
    """Run one call in a child."""
    return ask_all({"": work}, seconds)[""]


def ask_all(questions: Mapping[str, Work], seconds: float) -> dict[str, Reply]:
    """Run every call in its own child, all at once; returns after ``seconds`` at the latest."""
    children: dict[str, _Child] = {}
    ended: set[str] = set()
    try:
        for name, work in questions.items():
            children[name] = _fork(work)
        _listen(children, ended, seconds)
        for name, child in children.items():
            if name not in ended:
                child.reply.hang = _describe(child)
        return {name: child.reply for name, child in children.items()}
    finally:
        for child in children.values():
            _let_go(child)


def _listen(children: dict[str, _Child], ended: set[str], seconds: float) -> None:
    poll = select.poll()
    by_pipe = {child.pipe: name for name, child in children.items()}
    for pipe in by_pipe:
        poll.register(pipe, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + seconds
    while len(ended) < len(children):
        left = deadline - time.monotonic()
        ready = poll.poll(max(0.0, left) * 1000)
        if not ready and left <= 0:
            return
        for pipe, _ in ready:
            child = children[by_pipe[pipe]]
            piece = os.read(pipe, 65536)
            _hear(child, piece)
            if child.said_bytes > MAX_BYTES:
                child.reply.error = f"the child that asked said more than {MAX_BYTES} bytes"
            if not piece or child.reply.error is not None:
                poll.unregister(pipe)
                ended.add(by_pipe[pipe])
                child.reply.took_ns = int((time.monotonic() - child.began) * 1e9)
        if left <= 0:
            return


def _hear(child: _Child, piece: bytes) -> None:
    child.said_bytes += len(piece)
    *lines, child.rest = (child.rest + piece).split(b"\n")
    for line in lines:
        message = json.loads(line)
        child.trying = message.get("trying", child.trying)
        child.reply.facts.update(message.get("facts", {}))
        child.had_its_say = child.had_its_say or "ended" in message
        child.reply.error = message.get("error", child.reply.error)
    if not piece and not child.had_its_say:
        child.reply.error = f"the child that asked was killed at: {child.trying}"


def _fork(work: Work) -> _Child:
    reader, writer = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _run(work, writer)
    os.close(writer)
    return _Child(pid, reader, began)


def _run(work: Work, pipe: int) -> None:
    """Body of the child process.

    Nothing else of the parent stays open: whoever waits for the end of its output must not wait for
    us.
    """
    try:
        gc.freeze()  # Finalizers of what the parent has are the parent's to run.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        report = Reporter(pipe)
        try:
            work(report)
            report.ended(None)
        except IosondeError as error:
            report.ended(str(error))
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            report.ended(f"{place}{error.strerror or error}")
        except BaseException as error:
            report.ended(f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _describe(child: _Child) -> Hang:
    folder = Path("/proc") / str(child.pid)
    status = _text(folder / "status")
    state = next((line[6:].strip() for line in status.splitlines() if line[:6] == "State:"), "")
    lines = _text(folder / "stack").splitlines()[:_STACK_LINES]
    stack = tuple(line.removeprefix("[<0>] ") for line in lines)
    wchan = _text(folder / "wchan").strip()
    waited = time.monotonic() - child.began
    return Hang(child.trying, waited, child.pid, state, "" if wchan == "0" else wchan, stack)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _let_go(child: _Child) -> None:
    """Kill the child and reap it if it exits at once."""
    os.close(child.pipe)
    with contextlib.suppress(OSError):
        os.kill(child.pid, signal.SIGKILL)
        for _ in range(_PATIENCE):
            if os.waitpid(child.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.001)
