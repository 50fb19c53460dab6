"""Every door of a store: commands, the API, Python. Each answer is asked for once, of one server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

import iosonde
from iosonde.jobs.blame.interval import BlameQuestion, span_of
from iosonde.jobs.store.jobs import write_jobs
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.frames import SlowdownQuery, SlowSpan
from iosonde.model.jobs import Job
from iosonde.model.units import iso_time
from iosonde.serve.app import create
from iosonde.weather.report.report import reports
from iosonde.weather.store import Store
from tests.agree.said import (
    VERDICTS,
    Said,
    of_event,
    of_finding,
    of_hang,
    of_span,
    second,
    vars_of,
)
from tests.kit.commands import run

Place = tuple[str, str]
"""Host and target."""
PAST_DOORS = ("why", "api why")
"""Doors that tell why it is, or was, slow at an instant."""
MILLISECOND_NS = 1_000_000


class Doors:
    """Every door of a store at ``now_ns``. ``capsys`` reads what commands print.

    ``store``: what commands are told, such as the address of a bucket; None: the folder ``root``.
    """

    def __init__(
        self,
        root: Path,
        now_ns: int,
        span_ns: tuple[int, int],
        capsys: Any,
        client: TestClient,
        store: str | None = None,
    ) -> None:
        self.root, self.now_ns, self.capsys = root, now_ns, capsys
        self.store = store or str(root)
        self.span = ("--since", iso_time(span_ns[0]))
        self.span_ns = span_ns
        self._client = client
        self._told: dict[tuple[str, ...], dict[str, Any] | None] = {}

    def json(self, *words: str) -> dict[str, Any] | None:
        """What a command prints; None: it has nothing to say, and said why. The same words are asked once."""
        if words not in self._told:
            self._told[words] = self._asked(words)
        return self._told[words]

    def _asked(self, words: tuple[str, ...]) -> dict[str, Any] | None:
        code, out, err = self.run(*words, "--format", "json")
        if code == 0:
            found: dict[str, Any] = json.loads(out)
            return found
        assert err.strip(), f"{words}: exit code {code} without a word"
        return None

    def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code and both outputs of a command."""
        code = run(*words, "--store", self.store)
        out, err = self.capsys.readouterr()
        return code, out, err

    def get(self, path: str, **query: Any) -> Any:
        """What a route of the API answers."""
        answer = self._client.get(path, params=query)
        assert answer.status_code in (200, 404), answer.text
        return answer.json()

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
            rows = [vars_of(one) for one in iosonde.open(self.store).now().data]
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
            ((one["host"], one["target"]), of_hang(one))
            for one in told["events"]
            if one["kind"] == "hang"
        ]
        return sorted(found, key=lambda one: one[1].begin_s)

    def past(self, door: str, at_ns: int | None) -> Said | None:
        """What one of ``PAST_DOORS`` says of an instant; None: the door said that nothing was slow."""
        if door == "why":
            when = () if at_ns is None else ("--at", iso_time(at_ns))
            return self._of_why(self.json("why", "--no-model", *when))
        return self._of_why(self.get("/api/why", **({} if at_ns is None else {"at_ns": at_ns})))

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
                    of_span(one, one["op"], "slowdown_lower", "slowdown_upper"),
                )
                for one in rows
                if not one["host_busy"]
            ]
        }
        query = SlowdownQuery(since_ns=self.span_ns[0], until_ns=self.now_ns)
        found["report"] = [
            ((one.key.host, one.key.target), of_span(vars_of(one), one.key.op, "lower", "upper"))
            for report in reports(Store(self.root), query, now_ns=self.now_ns)
            for one in report.spans
            if not one.host_busy
        ]
        found["python slowdown"] = [
            ((one.key.host, one.key.target), of_span(vars_of(one), one.key.op, "lower", "upper"))
            for target in sorted({ref.target for ref in Store(self.root).targets()})
            for one in self._python_spans(target)
            if not one.host_busy
        ]
        return {door: sorted(rows, key=lambda row: row[1][:4:3]) for door, rows in found.items()}

    def _python_spans(self, target: str) -> list[SlowSpan]:
        """Slow spans of a target; none where it has no samples."""
        try:
            found = iosonde.open(self.store).slowdown(target, since=iso_time(self.span_ns[0]))
        except NothingMeasuredError:
            return []
        return found.data.spans

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
        _, out, err = self.run(*words)
        return " ".join(f"{out} {err}".lower().split())

    def explained(self, *spans_ns: tuple[int, int]) -> list[dict[str, Any]]:
        """What ``explain`` says of jobs that ran then. The store has these jobs from now on."""
        jobs = [
            Job(source="slurm", job_id=str(4711 + n), name="relax", start_ns=begin, end_ns=end)
            for n, (begin, end) in enumerate(spans_ns)
        ]
        write_jobs(self.root, jobs)
        found = [self.json("explain", "--job", job.job_id) for job in jobs]
        return [one for one in found if one is not None]

    @cached_property
    def annotations(self) -> dict[str, Any]:
        """What dashboards are told of the span."""
        begin, end = (ns // MILLISECOND_NS for ns in self.span_ns)
        found: dict[str, Any] = self.get(
            "/api/annotations", **{"from": begin, "to": end, "limit": 1000}
        )
        return found


@contextmanager
def doors_of(
    root: Path, now_ns: int, length_ns: int, capsys: Any, store: str | None = None
) -> Iterator[Doors]:
    """Doors of a store whose last ``length_ns`` are asked about, and the server behind them."""
    with TestClient(create(root, clock=lambda: now_ns), base_url="http://127.0.0.1") as client:
        yield Doors(root, now_ns, (now_ns - length_ns, now_ns), capsys, client, store)
