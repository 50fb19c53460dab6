"""What every door says of the slow stretches of a store, in one form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fastapi.testclient import TestClient

import iosonde
from iosonde.engine.states import read_states
from iosonde.model.frames import SlowdownQuery
from iosonde.model.names import slug
from iosonde.serve.app import create
from iosonde.weather.report.report import reports
from iosonde.weather.slowdown.findings import Finding, from_states
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.stores import HOST, SECOND, say_it_runs

TARGET = "/work"


class Told(NamedTuple):
    """A slow stretch as a door tells it. ``goes_on``: still, over, or unknown since."""

    op: str
    start_ns: int
    end_ns: int
    factor: float
    lower: float | None
    upper: float | None
    goes_on: str


def _told(op: str, one: Any, ongoing: bool, unknown: object) -> Told:
    word = "unknown" if unknown is not None else "still" if ongoing else "over"
    get = one.get if isinstance(one, dict) else lambda name: getattr(one, name, None)
    factor = next(get(name) for name in ("median", "slowdown") if get(name) is not None)
    ends = [
        get(name) if get(name) is not None else get(f"slowdown_{name}")
        for name in ("lower", "upper")
    ]
    return Told(op, get("start_ns"), get("end_ns"), factor, *ends, word)


def of_events(slow: Iterable[dict[str, Any]]) -> list[Told]:
    """Of ``events``: ops of slow events, each with its own stretch."""
    found = []
    for event in slow:
        for share in event["ops"]:
            if event["kind"] == "slow" and share["affected"] and share["start_ns"] is not None:
                at_end = share["end_ns"] >= event["seen_until_ns"] and event["end_ns"] is None
                unknown = event["unknown_since_ns"] if at_end else None
                found.append(_told(share["op"], share, at_end, unknown))
    return sorted(found)


def of_spans(spans: Iterable[Any]) -> list[Told]:
    """Of stretches as ``slowdown``, the report and notebooks have them."""
    return sorted(
        _told(one.key.op, one, one.ongoing, one.unknown_since_ns)
        for one in spans
        if not one.host_busy
    )


class Doors:
    """The doors of a store at its end. ``capsys`` reads what commands print."""

    def __init__(self, root: Path, capsys: Any) -> None:
        self.root, self._capsys = root, capsys

    def all(self, since: str | None = None) -> dict[str, list[Told]]:
        """Every door that looks back from now on: door -> what it tells, by op and begin."""
        since_ns = None if since is None else _instant(since)
        return {
            "events": of_events(
                self._json("events", *_since(since or "2000-01-01T00:00Z"))["slow"]
            ),
            "slowdown": self._slowdown(since),
            "report": self._report(since_ns),
            "page": self._page(since_ns),
            "python slowdown": of_spans(
                iosonde.open(self.root).slowdown(TARGET, since=since).data.spans
            ),
            "python events": self._notebook_events(since),
        }

    def figure(self, since_ns: int, until_ns: int) -> dict[str, tuple[list[float], str]]:
        """Begins and ends of what the slowdown figure shades, in s, by the word of the op; and the note of the pane."""
        query = {"kind": "slowdown", "target": TARGET, "since_ns": since_ns, "until_ns": until_ns}
        with TestClient(create(self.root), base_url="http://127.0.0.1") as client:
            of_page = client.get("/api/figure", params=query).json()
        path = self.root / "figure.json"
        ends = [
            np.datetime64(ns, "ns").astype("datetime64[s]").astype(str)
            for ns in (since_ns, until_ns)
        ]
        times = ("--since", f"{ends[0]}Z", "--until", f"{ends[1]}Z")
        assert run("figure", "slowdown", TARGET, *times, "-o", str(path), store=self.root) == 0
        self._capsys.readouterr()
        drawn = json.loads(path.read_text())
        assert _shaded(drawn) == _shaded(of_page)
        return _shaded(drawn)

    def live(self, at_ns: int) -> Finding:
        """What ``now`` says at an instant, as if the probe went on."""
        say_it_runs(self.root, at_ns)
        (found,) = from_states(read_states(self.root), at_ns)
        return found

    def _json(self, *words: str) -> Any:
        assert run(*words, "--format", "json", store=self.root) == 0
        return json.loads(self._capsys.readouterr().out)

    def _slowdown(self, since: str | None) -> list[Told]:
        spans = self._json("slowdown", TARGET, *_since(since))["spans"]
        kept = [one for one in spans if not one["host_busy"]]
        return sorted(_told(o["op"], o, o["ongoing"], o["unknown_since_ns"]) for o in kept)

    def _report(self, since_ns: int | None) -> list[Told]:
        first, last = self._range()
        begin = first if since_ns is None else since_ns
        query = SlowdownQuery(since_ns=begin, until_ns=last)
        (report,) = reports(Store(self.root), query, now_ns=last)
        from_events = [
            {**vars(one), "ops": [vars(share) for share in one.ops]} for one in report.events
        ]
        assert of_events(from_events) == of_spans(report.spans)
        return of_spans(report.spans)

    def _page(self, since_ns: int | None) -> list[Told]:
        first, last = self._range()
        begin = first if since_ns is None else since_ns
        with TestClient(
            create(self.root, clock=lambda: last), base_url="http://127.0.0.1"
        ) as client:
            query = {"host": HOST, "target": TARGET, "since_ns": begin, "points": "false"}
            ops = client.get("/api/series", params=query).json()["ops"]
        return sorted(
            _told(op, one, one["ongoing"], one["unknown_since_ns"])
            for op, of in ops.items()
            for one in of["stretches"]
        )

    def _notebook_events(self, since: str | None) -> list[Told]:
        found = iosonde.open(self.root).events(TARGET, since=since or "2000-01-01T00:00Z").data
        return of_events({**vars(one), "ops": [vars(s) for s in one.ops]} for one in found)

    def _range(self) -> tuple[int, int]:
        path = self.root / "state" / HOST / f"{slug(TARGET)}.json"
        last = int(json.loads(path.read_text())["written_ns"]) if path.exists() else None
        due = Store(self.root).samples(("due_ns",))["due_ns"]
        return int(due.min()), int(due.max()) + SECOND if last is None else last


def _since(since: str | None) -> tuple[str, ...]:
    return () if since is None else ("--since", since)


def _instant(text: str) -> int:
    return int(np.datetime64(text.removesuffix("Z"), "ns").astype(np.int64))


def _shaded(sheet: dict[str, Any]) -> dict[str, tuple[list[float], str]]:
    column = sheet["columns"][0]
    return {
        pane["row"]: (
            [
                (m["start_s"], m["end_s"])
                for m in pane["marks"]
                if m["mark"] == "shade" and m["kind"] == "slow"
            ],
            pane["note"],
        )
        for pane in sheet["panes"]
        if pane["column"] == column
    }
