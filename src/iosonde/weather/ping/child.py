"""Child process that touches the directory of a ping, so that a hung file system blocks only the child.

It says over a pipe what it tries and what came of it, and it removes its files as soon as its parent closes the
other pipe, by will or by death. Nothing kills it: held in the kernel, it tidies up when the storage answers.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import time
from collections.abc import Iterator
from errno import ENODATA
from pathlib import Path
from typing import Any, NamedTuple

from iosonde import _core

POOL = 16
"""Number of small files that it keeps."""
OWN = ".iosonde-"
"""Prefix of iosonde's own directories."""
LIST_AT_MOST = 200_000
"""Most names of the directory itself that are listed."""
_LIST_NS = 1_000_000_000
_SCHEDSTAT = Path("/proc/thread-self/schedstat")
_NS = 1e9


class PingPlan(NamedTuple):
    """Work of a ping. ``rounds``: None: until the parent ends it."""

    directory: str
    block_bytes: int
    object_bytes: int
    period_ns: int
    rounds: int | None
    seed: int


class Ended(NamedTuple):
    """A finished operation. ``amount``: bytes, or names; ``waited_ns``: its time waiting for a CPU, None: unknown."""

    op: str
    took_ns: int
    amount: int
    errno: int
    waited_ns: int | None


class FilePlace(NamedTuple):
    """Location of the files: the real path of the directory, and access to blocks."""

    path: str
    access: str


class Listing(NamedTuple):
    """The directory itself as ``ls`` reads it. ``whole``: True if no limit cut it."""

    names: int
    took_ns: int
    whole: bool


class Refused(NamedTuple):
    """Reason why it cannot run."""

    text: str


class Away(NamedTuple):
    """Pending call: an operation, or a step before or after them."""

    trying: str
    seconds: float
    wchan: str


Message = Ended | FilePlace | Listing | Refused | Away


class PingChild:
    """Child process, running while entered."""

    def __init__(self, plan: PingPlan) -> None:
        self._plan = plan
        self._rest = b""
        self._trying, self._since = "begin", 0.0
        self._pid, self._heard, self._stop = -1, -1, -1
        self.ended = False
        """Whether it has said its last word."""

    def __enter__(self) -> PingChild:
        heard, say = os.pipe()
        stop, self._stop = os.pipe()
        self._since = time.monotonic()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(heard)
            os.close(self._stop)
            _live(self._plan, say, stop)
        os.close(say)
        os.close(stop)
        self._heard = heard
        return self

    def __exit__(self, *_: object) -> None:
        self.end(0.0)
        os.close(self._heard)

    def messages(self, seconds: float) -> Iterator[Message]:
        """Messages within ``seconds``; an ``Away`` last if a call is pending by then."""
        ready, _, _ = select.select([self._heard], [], [], seconds)
        piece = os.read(self._heard, 65536) if ready else None
        if piece == b"":
            self.ended = True
            return
        *lines, self._rest = (self._rest + (piece or b"")).split(b"\n")
        for line in lines:
            told = json.loads(line)
            self._since = time.monotonic()
            self._trying = told.get("trying", "")
            if not self._trying:
                yield _message(told)
        if self._trying and not ready:
            yield Away(self._trying, time.monotonic() - self._since, self._wchan())

    def end(self, patience: float) -> bool:
        """Ask it to clean up and exit; True if it exited within ``patience`` seconds."""
        if self._stop >= 0:
            os.close(self._stop)
            self._stop = -1
        deadline = time.monotonic() + patience
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            for _ in self.messages(left):
                pass
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0 if self.ended else os.WNOHANG)
        return self.ended

    def _wchan(self) -> str:
        """Kernel function in which it waits, if the kernel tells."""
        try:
            name = Path(f"/proc/{self._pid}/wchan").read_text(errors="replace").strip()
        except OSError:
            return ""
        return "" if name == "0" else name


def _message(told: dict[str, Any]) -> Message:
    kinds: dict[str, type[Ended | FilePlace | Listing | Refused]] = {
        "ended": Ended,
        "place": FilePlace,
        "listing": Listing,
        "refused": Refused,
    }
    (name, values) = next(iter(told.items()))
    return kinds[name](*values)


class _Voice:
    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def say(self, **told: Any) -> None:
        data = json.dumps(told).encode() + b"\n"
        while data:
            data = data[os.write(self._pipe, data) :]


def _live(plan: PingPlan, say: int, stop: int) -> None:
    """Body of the child process: in any case it removes its files and exits without unwinding its parent's stack."""
    voice = _Voice(say)
    try:
        gc.freeze()  # Finalizers of what the parent has are the parent's to run.
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _silence()
        try:
            _work(plan, voice, stop)
        except BrokenPipeError:
            pass
        except _core.BenchError as error:
            voice.say(refused=[str(error)])
        except OSError as error:
            voice.say(refused=[f"{plan.directory}: {error.strerror or error}"])
    finally:
        os._exit(0)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _work(plan: PingPlan, voice: _Voice, stop: int) -> None:
    voice.say(trying="begin")
    path = os.path.realpath(plan.directory)
    ping = _core.Ping(path, plan.block_bytes, plan.object_bytes, plan.seed)
    try:
        voice.say(place=[path, ping.access()])
        _rounds(plan, ping, voice, stop)
        voice.say(trying="tidy up")
    finally:
        ping.remove()


def _rounds(plan: PingPlan, ping: _core.Ping, voice: _Voice, stop: int) -> None:
    began, number = time.monotonic_ns(), 0
    while plan.rounds is None or number < plan.rounds:
        for op in _ops(min(number, POOL)):
            if _wanted(stop, 0.0):
                return
            voice.say(trying=op)
            before = _waited_ns()
            took_ns, amount, errno = ping.run(op)
            after = _waited_ns()
            waited = None if before is None or after is None else min(after - before, took_ns)
            # Without data there was nothing to run it on: a write or a create before it failed.
            if errno != ENODATA:
                voice.say(ended=[op, took_ns, amount, errno, waited])
        if number == 0:
            voice.say(trying="list the directory")
            voice.say(listing=_listing(plan.directory))
        number += 1
        # A round that took longer than the period does not make the next ones hurry.
        due = began + number * plan.period_ns
        began += max(0, time.monotonic_ns() - due)
        due = began + number * plan.period_ns
        if _wanted(stop, max(0.0, (due - time.monotonic_ns()) / _NS)):
            return


def _ops(pool: int) -> tuple[str, ...]:
    """Operations of a round: the pool grows until it is full."""
    create = ("md_create",) if pool >= POOL else ("md_create", "md_create")
    return ("md_list", *create, "md_stat", "md_read", "data_write", "data_read", "md_delete")


def _wanted(stop: int, seconds: float) -> bool:
    """True if the parent wants an end: nothing is ever written to this pipe."""
    return bool(select.select([stop], [], [], seconds)[0])


def _listing(directory: str) -> list[int | bool]:
    began, names, whole = time.monotonic_ns(), 0, True
    with os.scandir(directory) as entries:
        for entry in entries:
            names += not entry.name.startswith(OWN)
            if names == LIST_AT_MOST or time.monotonic_ns() - began > _LIST_NS:
                whole = False
                break
    return [names, time.monotonic_ns() - began, whole]


def _waited_ns() -> int | None:
    """Time that this thread has waited for a CPU."""
    try:
        return int(_SCHEDSTAT.read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
