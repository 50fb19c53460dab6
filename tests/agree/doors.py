"""One reader a door: what it says of a target, op and host, reduced to one tuple."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fastapi.testclient import TestClient

import iosonde
from iosonde.jobs.blame.interval import BlameQuestion, span_of
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import SECOND_NS
from iosonde.model.units import iso_time
from iosonde.serve.app import create
from iosonde.weather.report.report import reports
from iosonde.weather.store import Store
from tests.kit.commands import run

VERDICTS = {
    **{name: name for name in ("usual", "host_busy", "slow", "partly_slow", "lost")},
    "hung": "hang",
    "hang": "hang",
    "failing": "lost",
}
REASONS = {
    "learning": "learning",
    "few": "few_operations",
    "stopped": "no_probe",
    "stale": "no_probe",
    "damaged": "damaged",
}
"""Findings that judge nothing, by the reason."""


class Said(NamedTuple):
    """What a door says of its worst target. ``...``: this door does not carry it.

    ``begin_s``, ``end_s``: whole seconds, UTC; None: no begin is known, it goes on. ``reason``: why nothing was judged.
    """

    verdict: Any
    begin_s: Any = ...
    end_s: Any = ...
    op: Any = ...
    factor: Any = ...
    lower: Any = ...
    upper: Any = ...
    reason: Any = None

    def contradicts(self, other: Said) -> list[str]:
        """Fields that both carry, and that differ."""
        pairs = zip(self._fields, self, other, strict=True)
        return [name for name, one, two in pairs if ... not in (one, two) and not _same(one, two)]


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= 1e-9 * max(abs(one), abs(two))
    return bool(one == two)


def second(ns: int | None) -> int | None:
    return None if ns is None else ns // SECOND_NS


def of_finding(one: dict[str, Any]) -> Said:
    """A finding of ``now``, Python or the page."""
    kind = one["kind"]
    if kind in REASONS:
        return Said("not_judged", reason=REASONS[kind])
    ops = one.get("ops")
    if kind == "slow" and ops and ops[0]["partly"]:
        return Said("partly_slow", second(ops[0]["since_ns"]), None, ops[0]["op"])
    if kind != "slow" or not ops:
        return Said(VERDICTS[kind], end_s=... if kind == "usual" else None)
    worst = ops[0]
    numbers = (worst["slowdown"], worst["lower"], worst["upper"])
    return Said("slow", second(worst["since_ns"]), None, worst["op"], *numbers)


def of_event(event: dict[str, Any]) -> Said:
    """An event, by its worst op."""
    share = next((one for one in event["ops"] if one["op"] == event["op"]), None)
    begin = event["start_ns"] if share is None else share["start_ns"] or event["start_ns"]
    end = None if event["end_ns"] is None else (share or {}).get("end_ns") or event["end_ns"]
    if event["kind"] == "slow" and share is not None:
        numbers = (share["median"], share["lower"], share["upper"])
        return Said("slow", second(begin), second(end), event["op"], *numbers)
    return Said(event["kind"], second(begin), second(end), event["op"])


class Doors:
    """Every door of a store at ``now_ns``. ``capsys`` reads what commands print."""

    def __init__(self, root: Path, now_ns: int, span_ns: tuple[int, int], capsys: Any) -> None:
        self.root, self.now_ns, self.capsys = root, now_ns, capsys
        self.span = ("--since", iso_time(span_ns[0]))
        self.span_ns = span_ns

    def json(self, *words: str, codes: tuple[int, ...] = (0,)) -> dict[str, Any] | None:
        """What a command prints; None: it has nothing to say, and said why."""
        code = run(*words, "--format", "json", store=self.root)
        out, err = self.capsys.readouterr()
        if code in codes:
            return json.loads(out)
        assert err.strip(), f"{words}: exit code {code} without a word"
        return None

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """What a route of the API answers."""
        app = create(self.root, clock=lambda: self.now_ns)
        with TestClient(app, base_url="http://127.0.0.1") as client:
            answer = client.get(path, params=query)
        assert answer.status_code in (200, 404), answer.text
        found: dict[str, Any] = answer.json()
        return found

    def live(self) -> dict[str, dict[tuple[str, str], Said]]:
        """Doors that tell what is now: of each host and target."""
        told = self.json("now")
        rows = [] if told is None else told["targets"]
        found = {"now": {(one["host"], one["target"]): of_finding(one) for one in rows}}
        for name, path in (("api targets", "/api/targets"), ("api now", "/api/now")):
            answer = self.get(path)
            rows = answer if isinstance(answer, list) else answer["targets"]
            found[name] = {
                (one["host"], one["target"]): self._brief(one) for one in rows if one["kind"]
            }
        rows = self.get("/api/status")["targets"]
        found["api status"] = {(one["host"], one["target"]): self._brief(one) for one in rows}
        if told is not None:
            rows = [vars_of(one) for one in iosonde.open(self.root).now().data]
            found["python now"] = {(one["host"], one["target"]): of_finding(one) for one in rows}
        return found

    @staticmethod
    def _brief(one: dict[str, Any]) -> Said:
        said = of_finding({**one, "ops": None})
        if one["kind"] == "slow" and one.get("slowdown") is not None:
            return said._replace(verdict=..., factor=one["slowdown"])
        return said._replace(verdict=... if one["kind"] == "slow" else said.verdict)

    def events(self) -> list[tuple[tuple[str, str], Said]]:
        """Events of samples, and hangs that agents noted, by begin."""
        told = self.json("events", *self.span)
        assert told is not None
        found = [((one["host"], one["target"]), of_event(one)) for one in told["slow"]]
        found += [
            ((one["host"], one["target"]), _of_hang(one))
            for one in told["events"]
            if one["kind"] == "hang"
        ]
        return sorted(found, key=lambda one: one[1].begin_s)

    def past(self, at_ns: int | None) -> dict[str, Said | None]:
        """Doors that tell why it is, or was, slow at an instant; None: the door said that nothing was."""
        when = () if at_ns is None else ("--at", iso_time(at_ns))
        query = {} if at_ns is None else {"at_ns": at_ns}
        return {
            "why": self._of_why(self.json("why", "--no-model", *when)),
            "api why": self._of_why(self.get("/api/why", **query)),
        }

    @staticmethod
    def _of_why(told: dict[str, Any] | None) -> Said | None:
        if told is None or "links" not in told:
            return None
        fact = told["links"]["slowness"]["fact"]
        if fact is None:
            return None
        ends = (second(fact["begin_ns"]), second(fact["end_ns"]))
        if fact["kind"] == "slow" and fact["factor"] is not None:
            numbers = tuple(fact["factor"][name] for name in ("value", "lower", "upper"))
            return Said("slow", *ends, fact["op"], *numbers)
        return Said(VERDICTS[fact["kind"]], *ends, fact["op"])

    def spans(self) -> dict[str, list[tuple[tuple[str, str], Said]]]:
        """Doors that tell slow stretches op by op, by begin."""
        told = self.json("slowdown", *self.span)
        rows = [] if told is None else told["spans"]
        found = {
            "slowdown": [
                (
                    (one["host"], one["target"]),
                    _of_span(one, one["op"], "slowdown_lower", "slowdown_upper"),
                )
                for one in rows
                if not one["host_busy"]
            ]
        }
        query = SlowdownQuery(since_ns=self.span_ns[0], until_ns=self.now_ns)
        found["report"] = [
            ((one.key.host, one.key.target), _of_span(vars_of(one), one.key.op, "lower", "upper"))
            for report in reports(Store(self.root), query, now_ns=self.now_ns)
            for one in report.spans
            if not one.host_busy
        ]
        python = iosonde.open(self.root)
        targets = sorted({ref.target for ref in Store(self.root).targets()})
        found["python slowdown"] = [
            ((one.key.host, one.key.target), _of_span(vars_of(one), one.key.op, "lower", "upper"))
            for target in targets
            for one in python.slowdown(target, since=iso_time(self.span_ns[0])).data.spans
            if not one.host_busy
        ]
        return {door: sorted(rows, key=lambda row: row[1][:4:3]) for door, rows in found.items()}

    def hangs(self) -> list[tuple[tuple[str, str], Said]]:
        """Hangs that ``slowdown`` tells, by begin."""
        told = self.json("slowdown", *self.span)
        rows = [] if told is None else told["hung"]
        found = [((one["host"], one["target"]), of_event(one)) for one in rows]
        return sorted(found, key=lambda one: one[1].begin_s)

    def not_judged(self) -> dict[str, set[tuple[str, str | None, str]]]:
        """Doors that tell what was not judged: host, target, reason."""
        found = {}
        for door in ("events", "slowdown"):
            told = self.json(door, *self.span)
            rows = [] if told is None else told["not_judged"]
            found[door] = {(one["host"], one["target"], one["reason"]) for one in rows}
        return found

    def blamed(self) -> int | None:
        """Begin of the event that ``blame`` asks about, in s; None: there is none. Whose load it was needs records."""
        try:
            span = span_of(self.root, BlameQuestion(), self.now_ns)
        except NothingMeasuredError:
            return None
        return second(span.begin_ns)

    def text(self, *words: str) -> str:
        """What a command prints, in lower case; words for people."""
        run(*words, store=self.root)
        out, err = self.capsys.readouterr()
        return " ".join(f"{out} {err}".lower().split())


def _of_hang(one: dict[str, Any]) -> Said:
    """A hang that an agent noted."""
    return Said("hang", second(one["began_ns"]), second(one["ended_ns"]), one["op"])


def _of_span(one: dict[str, Any], op: str, lower: str, upper: str) -> Said:
    goes_on = one["ongoing"] or one["unknown_since_ns"] is not None
    ends = (second(one["start_ns"]), None if goes_on else second(one["end_ns"]))
    return Said("slow", *ends, op, one["slowdown"], one[lower], one[upper])


def vars_of(one: Any) -> dict[str, Any]:
    """The fields of a value; of values in a tuple, too."""
    flat: dict[str, Any] = one._asdict() if hasattr(one, "_asdict") else dict(vars(one))
    if "ops" in flat:
        flat["ops"] = [vars_of(part) for part in flat["ops"]]
    return flat


Maker = Callable[[Path, int], None]
