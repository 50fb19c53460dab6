"""Reader for md-workbench's text output: stand-alone 2017 and 2019, and the IOR tree's.

Each start of the program in a file is a run of its own. Every phase becomes a row for the whole, one an op, and
the same for each rank that reports (--process-reports). A line that begins like one of a phase and cannot be read
is told of, and the others count. Numbers that no column has (``min_s``, ``tp_mib_per_s``, ``dsets`` ...) are in
``parameters["reported"]`` of the row of the whole. Formats: md-workbench 0a26b06 (2019), md-real-io (2017),
hpc/ior 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iosonde.connectors.benchmarks.mdworkbench.head import TOTAL, RunHead
from iosonde.connectors.benchmarks.mdworkbench.line import PhaseLine, believable, parse
from iosonde.connectors.lines import FileDefaults, Line, Warn, bad, local_ns, possible, read_lines
from iosonde.model.runs import RunRow

FACTORS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
"""Waiting factors of adaptive mode; the text has them with two decimals."""
WANTED = "a line such as 'benchmark process max:0.62s ... objects:4000 ... read(7 times) ...'"
_OF_PHASE = {
    "precreate": ("md_create",),
    "benchmark": ("md_stat", "md_read", "md_delete", "md_create"),
    "cleanup": ("md_delete",),
}
_LEAST = {"q90": 10, "q99": 100}
"""Least operations for which runs.toml has such a quantile."""
_IN_COLUMNS = ("objects", "iops_per_s", "objects_per_s", "op_max_s", "balance_percent", "errs")
_MOST_STARTS = 100_000


def read_text(path: Path, given: FileDefaults, warn: Warn) -> Iterator[RunRow]:
    """Rows of all runs in a file, in its order. ``warn`` gets malformed lines.

    The second run of a file is called ``RUN-2`` and so on. Raises InputFileError.
    """
    reader = TextReader(path, given, warn, "md-workbench")
    for line in read_lines(path, warn):
        yield from reader.take(line)
    yield from reader.done()


class TextReader:
    """Convert lines to rows; rows of a line are held back until the next, which may add to them."""

    def __init__(self, path: Path, given: FileDefaults, warn: Warn, source: str) -> None:
        self._path, self._given, self._warn, self._source = path, given, warn, source
        self.head = RunHead()
        self.starts = 0
        self._held: list[RunRow] = []
        self._seen: dict[tuple[str, int | None, float], int] = {}
        self._began = False

    def take(self, line: Line) -> Iterator[RunRow]:
        """Yield finished rows. Lines of other programs are skipped."""
        text = line.text
        if text.startswith("Args: ") or (text.startswith("MD-") and self.head.has_title):
            yield from self.done()
            self._restart()
        if self.head.feed(text, self._given.zone):
            return
        if match := TOTAL.match(text):
            self._total(float(match[1]), match[2])
            return
        try:
            found = parse(text)
        except ValueError as error:
            self._warn(bad(self._path, line.number, str(error), WANTED))
            return
        if found is None:
            return
        if not line.ended and len(found.quantiles_s) not in (0, len(_OF_PHASE[found.phase])):
            self._warn(bad(self._path, line.number, "the file ends within the line", WANTED))
            return
        yield from self.done()
        self._held = possible(self.rows(found), self._path, line.number, self._warn)

    def done(self) -> list[RunRow]:
        """Return the rows held back."""
        held, self._held = self._held, []
        return held

    def _restart(self) -> None:
        if self._began:
            self._seen.clear()
        if self._began or self.head.has_title or self.head.has_args:
            self.head = RunHead()
        self._began = False

    def _total(self, seconds: float, ended: str) -> None:
        """Add the program's total duration to the last row of a whole phase."""
        for row in self._held:
            if row.op is None:
                more = {"total_runtime_s": seconds}
                ended_ns = local_ns(ended, "%Y-%m-%d %H:%M:%S", self._given.zone)
                if ended_ns is not None:
                    more["ended_ns"] = ended_ns
                row.parameters.setdefault("reported", {}).update(more)
                return

    def rows(self, line: PhaseLine) -> list[RunRow]:
        """Rows of a phase: the whole, then one per op."""
        if not self._began:
            self._began = True
            self.starts = min(self.starts + 1, _MOST_STARTS)
        waiting = self._waiting(line)
        key = (line.phase, line.rank, waiting)
        iteration = self._seen.get(key, 0)
        self._seen[key] = iteration + 1
        numbers = line.numbers
        objects = int(numbers.get("objects", 0))
        counts = line.counts or dict.fromkeys(self._ops(line), objects)
        errs = None if "errs" not in numbers else int(numbers["errs"])
        dsets = int(numbers["dsets"]) if numbers.get("dsets") and line.rank is None else None
        ranks = self.head.ranks(dsets, objects if line.rank is None else None, line.phase)
        common = self._common(line, waiting, iteration, ranks, objects + (errs or 0))
        duration = _duration_ns(line)
        whole = RunRow(
            **common,
            duration_ns=duration,
            ops=None if line.dialect == "counts" and errs else sum(counts.values()) + (errs or 0),
            failed=errs,
            bytes=self._bytes(counts, errs),
            rate_per_s=numbers.get("iops_per_s", _rate(sum(counts.values()), duration)),
            balance=_share(numbers.get("balance_percent")),
            max_ns=_ns(numbers.get("op_max_s")),
            parameters=self._parameters(line, _reported(line)),
        )
        return [whole, *(self._op(line, op, n, common, whole) for op, n in counts.items())]

    def _op(
        self, line: PhaseLine, op: str, n: int, common: dict[str, Any], whole: RunRow
    ) -> RunRow:
        quantiles = believable(
            line.quantiles_s.get(op, (float("nan"),) * 7), n, bounded=line.precise
        )
        few = {name: v for name, v in quantiles.items() if n < _LEAST.get(name, 0)}
        reported = {f"{name}_s": value / 1e9 for name, value in few.items()}
        kept: dict[str, Any] = {f"{n}_ns": v for n, v in quantiles.items() if n not in few}
        size = self.head.options.get("size_bytes")
        moved = op in ("md_create", "md_read") and whole.failed in (None, 0) and size is not None
        rate = line.numbers.get("objects_per_s")
        return RunRow(
            **common,
            op=op,
            duration_ns=whole.duration_ns,
            ops=n,
            failed=0 if whole.failed == 0 else None,
            bytes=n * size if moved and size is not None else None,
            rate_per_s=rate if rate is not None else _rate(n, whole.duration_ns),
            parameters=self._parameters(line, reported),
            **kept,
        )

    def _common(
        self, line: PhaseLine, waiting: float, iteration: int, ranks: int | None, objects: int
    ) -> dict[str, Any]:
        given, head = self._given, self.head
        first = not any(
            self._seen[key] > (key == (line.phase, line.rank, waiting)) for key in self._seen
        )
        began = head.began_ns
        if given.started_ns is not None and self.starts == 1:
            began = given.started_ns
        wanted = head.expected(line.phase, ranks if line.rank is None else 1)
        return {
            "run_id": given.run if self.starts == 1 else f"{given.run}-{self.starts}",
            "source": self._source,
            "host": given.host,
            "target": given.target or head.root or given.run,
            "backend": head.backend,
            "pattern": "cycle",
            "phase": line.phase,
            "repetition": iteration,
            "waiting_factor": waiting,
            "rank": line.rank,
            "ranks": ranks,
            "began_ns": began if first else None,
            "complete": wanted is None or objects >= wanted,
        }

    def _ops(self, line: PhaseLine) -> tuple[str, ...]:
        if line.quantiles_s:
            return tuple(line.quantiles_s)
        ops = _OF_PHASE[line.phase]
        return ops[:2] if line.phase == "benchmark" and self.head.options.get("read_only") else ops

    def _waiting(self, line: PhaseLine) -> float:
        """Intended T: the text prints it with two decimals."""
        found = line.numbers.get("waiting_factor", 0.0)
        asked = self.head.options.get("waiting_factor", 0.0)
        known = FACTORS if self.head.options.get("adaptive") else (float(asked),)
        if line.phase != "benchmark":
            return 0.0
        return next((factor for factor in known if abs(factor - found) <= 0.0051), found)

    def _bytes(self, counts: dict[str, int], errs: int | None) -> int | None:
        size = self.head.options.get("size_bytes")
        if size is None or errs:
            return None
        return int(size) * sum(n for op, n in counts.items() if op in ("md_create", "md_read"))

    def _parameters(self, line: PhaseLine, reported: dict[str, float]) -> dict[str, Any]:
        options = {**self.head.options, "dialect": "ior" if line.precise else line.dialect}
        return {**options, "reported": reported} if reported else options


def _reported(line: PhaseLine) -> dict[str, float]:
    """Numbers that have no column."""
    return {name: v for name, v in line.numbers.items() if name not in _IN_COLUMNS}


def _duration_ns(line: PhaseLine) -> int:
    """Duration of the slowest rank: derived from the rate if it agrees with the printed time and is more exact."""
    printed = line.numbers.get("max_s", 0.0)
    objects, rate = line.numbers.get("objects", 0.0), line.numbers.get("objects_per_s", 0.0)
    exact = objects / rate if rate > 0 else printed
    digits = 0.06 if line.dialect == "2017" else 0.006
    return round(1e9 * (exact if abs(exact - printed) <= digits else printed))


def _rate(n: int, duration_ns: int | None) -> float | None:
    return n * 1e9 / duration_ns if duration_ns else None


def _share(percent: float | None) -> float | None:
    return None if percent is None else round(percent / 100, 6)


def _ns(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e9, 4)
