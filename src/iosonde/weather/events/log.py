"""Events: what happened to a target, from when to when, as the agent noted it.

``events/<host>/<YYYY-MM>.jsonl``, one JSON object a line (schema/tables/events.toml). An event is
written when it opens and again when it closes; of an id the last line counts. The files are
foreign input: a line that is no event becomes a warning with its place and the others stay; a last
line without an end is still being written, or was cut by a crash, and is left out silently.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iosonde.engine.atomic import lately_written
from iosonde.engine.layout.months import event_files
from iosonde.engine.left_out import leave_out
from iosonde.engine.lines import MAX_LINE, BadLines, verify, whole_lines
from iosonde.engine.opener import LINES_BYTES, opened, said
from iosonde.engine.versions import other_version
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.text import clean_text
from iosonde.weather.slowdown.findings import from_states, is_live

SCHEMA_VERSION = 1
AGENT, SAMPLES = "agent", "samples"
"""Who concluded that something happened: an agent when it did, or whoever looked at samples."""
UNSEEN = "lost"
"""Outcome of what nobody saw the end of: ``ended_ns`` is when it was seen last."""
_REMOVE = "removing these lines; the others count"


@dataclass(frozen=True)
class Event:
    """One event. Instants are ns since the epoch; None = unknown or not yet."""

    id: str
    kind: str
    host: str
    target: str | None
    op: str | None
    began_ns: int
    ended_ns: int | None
    written_ns: int
    outcome: str | None
    attempts: int | None
    from_samples: bool = False
    """Computed from samples and written back, not noted by an agent; then it may have the next three, of ``op``."""
    peak: float | None = None
    median: float | None = None
    lost: float | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    """``state wchan`` (text), ``stack kernel`` (lists of text), ``pid``; of an alarm ``cause`` (text),
    ``raised_ns peak peak_tail``; each only if known."""

    @property
    def run_id(self) -> str:
        """The run that saw it."""
        return self.id.rpartition("-")[0]


class EventLog(NamedTuple):
    """Events as agents logged them in a span, and the states of all targets."""

    states: list[dict[str, Any]]
    events: list[Event]
    now_ns: int | None = None
    """When they were read; None: a probe that does not say that it ended counts as one that runs."""

    @property
    def running(self) -> set[str]:
        """Runs that go on: an open event of one lasts."""
        states = [state for state in self.states if state["running"]]
        if self.now_ns is not None:
            findings = from_states(states, self.now_ns)
            states = [one for one, found in zip(states, findings, strict=True) if is_live(found)]
        return {str(state["run_id"]) for state in states}


def read_events(
    root: Path, since_ns: int | None = None, until_ns: int | None = None
) -> list[Event]:
    """Events that lasted into [since, until), by beginning. Raises StoreError."""
    latest: dict[str, Event] = {}
    for file in event_files(Path(root)):
        for event in read_file(file.path):
            known = latest.get(event.id)
            # Lines of an id may lie in the files of two months.
            if known is None or event.written_ns >= known.written_ns:
                latest[event.id] = event
    found = [event for event in latest.values() if _lasted_into(event, since_ns, until_ns)]
    return sorted(found, key=lambda event: (event.began_ns, event.id))


def _lasted_into(event: Event, since_ns: int | None, until_ns: int | None) -> bool:
    over = event.ended_ns is not None and since_ns is not None and event.ended_ns < since_ns
    return not over and (until_ns is None or event.began_ns < until_ns)


def read_file(path: Path) -> Iterator[Event]:
    """The events of one file, line by line; none if there is no file."""
    yield from (event for event, _ in read_lines(path))


def read_lines(path: Path) -> Iterator[tuple[Event, bytes]]:
    """The events of one file, each with its line."""
    bad = BadLines(path, _REMOVE, "events")

    def cut() -> None:
        if not lately_written(path):
            leave_out(path, "ends within a line, which does not count", _REMOVE)

    try:
        with opened(path, LINES_BYTES) as file:
            for number, line in enumerate(whole_lines(file, cut), 1):
                try:
                    event = _event(line)
                except (ValueError, RecursionError) as error:
                    if not bad.add(number, error):
                        break
                else:
                    if event is not None:
                        yield event, line
    except FileNotFoundError:
        return
    except OSError as error:
        leave_out(path, said(error))
    bad.end()


def _event(line: bytes) -> Event | None:
    """The event of a line; None for an empty one. Raises ValueError."""
    if not line.strip():
        return None
    if len(line) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE} bytes, expected an event")
    verify(line)
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise ValueError("not JSON, expected an event") from error
    if not isinstance(raw, dict):
        raise ValueError("not a JSON object, expected an event")
    version = raw.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ValueError(other_version(version, SCHEMA_VERSION))
    return Event(
        id=_needed(raw, "id", _text),
        kind=_needed(raw, "kind", _text),
        host=_needed(raw, "host", _text),
        target=_optional(raw, "target", _text),
        op=_optional(raw, "op", _text),
        began_ns=_needed(raw, "began_ns", _integer),
        ended_ns=_optional(raw, "ended_ns", _integer),
        written_ns=_needed(raw, "written_ns", _integer),
        outcome=_optional(raw, "outcome", _text),
        attempts=_optional(raw, "attempts", _integer),
        from_samples=raw.get("source") == SAMPLES,
        peak=_ratio(raw.get("peak")),
        median=_ratio(raw.get("median")),
        lost=_ratio(raw.get("lost")),
        evidence=_evidence(raw.get("evidence")) | _alarm(raw.get("slowdown")),
    )


def _needed(raw: dict[str, Any], name: str, of: Any) -> Any:
    value = of(raw.get(name))
    if value is None:
        raise ValueError(f"{name} is missing or of the wrong type")
    return value


def _optional(raw: dict[str, Any], name: str, of: Any) -> Any:
    return None if raw.get(name) is None else _needed(raw, name, of)


def _evidence(raw: object) -> dict[str, Any]:
    """What is known of the waiting thread; anything unexpected in it is left out."""
    if not isinstance(raw, dict):
        return {}
    lists = {
        name: [clean_text(line) for line in raw[name] if isinstance(line, str)]
        for name in ("stack", "kernel")
        if isinstance(raw.get(name), list)
    }
    found: dict[str, Any] = {name: _text(raw.get(name)) for name in ("state", "wchan")} | lists
    found["pid"] = _integer(raw.get("pid"))
    return {name: value for name, value in found.items() if value}


def _alarm(raw: object) -> dict[str, Any]:
    """What raised an alarm, and how slow it became."""
    if not isinstance(raw, dict):
        return {}
    found: dict[str, Any] = {"cause": _text(raw.get("cause"))}
    found["raised_ns"] = _integer(raw.get("raised_ns"))
    found |= {name: _ratio(raw.get(name)) for name in ("peak", "peak_tail")}
    return {name: value for name, value in found.items() if value is not None}


def _ratio(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value < 1e12 else None  # type: ignore[arg-type, operator]


def _text(value: object) -> str | None:
    return clean_text(value) if isinstance(value, str) and value else None


def _integer(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(2**63) < value < 2**63 else None


def events_frame(events: Sequence[Event]) -> Frame:
    """Events with the columns of events.toml, ``evidence`` as JSON text."""

    def words(of: Callable[[Event], str | None]) -> Any:
        return np.array([of(event) for event in events], dtype=object)

    def numbers(of: Callable[[Event], int | None]) -> Any:
        values = [of(event) for event in events]
        return np.array([NULL_NS if v is None else v for v in values], dtype=np.int64)

    def ratios(of: Callable[[Event], float | None]) -> Any:
        return np.array([np.nan if (v := of(event)) is None else v for event in events], float)

    columns = {
        "schema_version": np.full(len(events), SCHEMA_VERSION, dtype=np.uint8),
        "id": words(lambda e: e.id),
        "kind": words(lambda e: e.kind),
        "host": words(lambda e: e.host),
        "target": words(lambda e: e.target),
        "op": words(lambda e: e.op),
        "began_ns": numbers(lambda e: e.began_ns),
        "ended_ns": numbers(lambda e: e.ended_ns),
        "written_ns": numbers(lambda e: e.written_ns),
        "outcome": words(lambda e: e.outcome),
        "attempts": numbers(lambda e: e.attempts),
        "evidence": words(lambda e: json.dumps(e.evidence) if e.evidence else None),
        "source": words(lambda e: SAMPLES if e.from_samples else AGENT),
        "peak": ratios(lambda e: e.peak),
        "median": ratios(lambda e: e.median),
        "lost": ratios(lambda e: e.lost),
    }
    return Frame(columns)
