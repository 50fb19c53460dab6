"""Current latencies of a directory, and their verdict: ``iosonde ping``."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.states import read_states
from iosonde.host.child import ask
from iosonde.host.mounts import mount_of, mount_table
from iosonde.model.answer import Prose, TableBlock
from iosonde.weather.ping import words
from iosonde.weather.ping.child import Away, Ended, PingPlan
from iosonde.weather.ping.session import ping as run_ping
from iosonde.weather.ping.verdict import exit_code, result
from iosonde.weather.ping.watched import watched as of_states
from iosonde.weather.slowdown.words import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from iosonde.model.answer import Block
    from iosonde.weather.ping.child import Message
    from iosonde.weather.ping.session import Heard
    from iosonde.weather.ping.verdict import PingResult
    from iosonde.weather.ping.watched import Watched

_STORE_S = 1.0
"""Time limit for reading the store."""


class PingRequest(NamedTuple):
    """Directory, end (ns, rounds; None: no limit), period of a round, and size of blocks (None: as its probe)."""

    directory: str
    duration_ns: int | None
    rounds: int | None
    period_ns: int
    block_bytes: int | None
    verbose: bool = False
    """True: every operation is told."""


class PingAnswer(NamedTuple):
    """Result of a ping, and what was known before."""

    found: PingResult
    known: Watched
    heard: Heard

    @property
    def exit_code(self) -> int:
        """0 as usual or typical, 1 slow, 2 hanging, failing or very slow, 3 not known."""
        return exit_code(self.found.verdict)

    def shown(self) -> list[Block]:
        """A table of operations, the listing if it was slow, the verdict."""
        found = self.found
        blocks: list[Block] = []
        if found.ops:
            blocks += ["", TableBlock(words.HEAD, [words.cells(op) for op in found.ops]), ""]
        if found.listing and (text := words.listing(found.directory, found.listing)):
            blocks.append(Prose(text))
        return [*blocks, Prose(words.say(found), tone=found.verdict.severity)]

    def notes(self) -> list[str]:
        """What stays for now."""
        return [] if self.heard.tidy else ["its test files go as soon as the storage answers"]

    def data(self) -> dict[str, Any]:
        """Verdict, and statistics of every operation."""
        found, verdict = self.found, self.found.verdict
        return {
            "schema_version": 1,
            "directory": found.directory,
            "file_system": found.kind or None,
            "access": found.place.access if found.place else None,
            "verdict": {
                "kind": verdict.kind,
                "severity": verdict.severity,
                "sentence": words.say(found),
                "ops": [op.op for op in verdict.ops],
                "away": verdict.away._asdict() if verdict.away else None,
            },
            "ops": [op._asdict() | {"factor": op.factor, "slow": op.slow} for op in found.ops],
            "listing": found.listing._asdict() if found.listing else None,
            "agents": [say(finding) for finding in self.known.findings],
            "tidy": self.heard.tidy,
        }


def ping(
    root: Path,
    path: str,
    asked: PingRequest,
    host: str,
    now_ns: int,
    *,
    tell: Callable[[str], None],
    note: Callable[[str], None],
    stopped: Callable[[], bool],
) -> PingAnswer:
    """Time operations of the directory at ``path``, absolute, until a limit or until ``stopped``.

    ``tell``: what live probes of its file system say, and operations as they end; ``note``: a hang. A store at ``root``
    that hangs, or is none, says nothing. Raises MeasureError: the directory cannot be used.
    """
    known = watched(root, path, host, now_ns)
    for finding in known.findings:
        tell(f"the probe on {finding.host}: {say(finding)}")
    block = asked.block_bytes or known.block_bytes
    seed = secrets.randbits(64)
    plan = PingPlan(asked.directory, block, known.object_bytes, asked.period_ns, asked.rounds, seed)
    heard = run_ping(plan, asked.duration_ns, _Live(asked, tell, note).hear, stopped)
    mount = mount_of(mount_table(), heard.place.path if heard.place else path)
    place = (path, mount.kind if mount else "", heard.place, heard.listing)
    return PingAnswer(result(place, heard.ended, known.usual_ns, heard.away), known, heard)


def watched(root: Path, path: str, host: str, now_ns: int) -> Watched:
    """Known state of the file system of ``path``. A store that hangs, or is none, gives nothing."""
    told = ask(lambda note: note.found(states=read_states(root)), _STORE_S).facts
    return of_states(told.get("states", []), mount_table(), path, host, now_ns)


class _Live:
    """News during a ping: the first round, every operation on request, a hang as soon as it is one."""

    def __init__(
        self, asked: PingRequest, tell: Callable[[str], None], note: Callable[[str], None]
    ) -> None:
        self._asked, self._tell, self._note = asked, tell, note
        self._first = False
        self._hangs_s = 0.0

    def hear(self, message: Message, heard: Heard) -> None:
        """Handle a message, given all before it."""
        match message:
            case Away() if message.seconds >= self._hangs_s + 1:
                self._hangs_s = message.seconds
                self._note(words.away(self._asked.directory, message))
            case Ended():
                self._hangs_s = 0.0
                if self._asked.verbose:
                    self._tell(words.line(message, len(heard.ended)))
                elif message.op == "md_delete" and not self._first:
                    self._first = True
                    self._tell(words.first(heard.ended))
