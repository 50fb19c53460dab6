"""Reader for mdtest's text output as rows of runs. Bulk: one op at a time for all objects.

::

    -- started at 11/21/2026 10:34:34 --
    mdtest-4.1.0+dev was launched with 2 total task(s) on 1 node(s)
    Command line used: mdtest '-n' '500' '-F' '-w' '3901' '-d' './mdt'
    2 tasks, 1000 files
    V-1:   File creation     :         87.629 sec,      11411.774 ops/sec          (with -v, for each iteration)
    SUMMARY rate (in ops/sec): (of 1 iterations)
       File creation     [Max Min Mean of ranks]  Max Min Mean StdDev of iterations
    SUMMARY time (in ms/op): (of 1 iterations)

Files become the phases create, stat, read and delete; directories and trees phases of their own
(``dir_create``, ``tree_delete`` ...), which are no op. An operation that was not asked for has zeros and no row.
Numbers that no column has are in ``parameters["reported"]``. Formats: mdtest 1.9.3 (2017), 3.x, 4.1.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iosonde.connectors.benchmarks.flags import with_flags
from iosonde.connectors.benchmarks.mdtest.counts import PhaseCount, Stated, amount_of
from iosonde.connectors.lines import (
    NUMBER,
    FileDefaults,
    Line,
    Warn,
    bad,
    local_ns,
    possible,
    read_lines,
    shown,
)
from iosonde.model.runs import RunRow

SOURCE = "mdtest"
_VERBS = {
    "creation": "create",
    "stat": "stat",
    "read": "read",
    "removal": "delete",
    "rename": "rename",
}
_KINDS = {"File": "", "Directory": "dir_", "Tree": "tree_"}
_NAME = r"(File|Directory|Tree) (creation|stat|read|removal|rename)"
_STARTED = re.compile(r"-- started at (\S+ \S+) --")
_FINISHED = re.compile(r"-- finished at (\S+ \S+) --")
_LAUNCHED = re.compile(
    r"mdtest-(\S{1,40}) was launched with (\d{1,9}) total task\(s\) on (\d{1,9}) node"
)
_COUNT = re.compile(r"(\d{1,9}) tasks, (\d{1,15}) (files|directories|files/directories)")
_WALL = re.compile(rf"Continue stonewall hit min: (\d{{1,15}}) max: (\d{{1,15}}) avg: ({NUMBER})")
_FS = re.compile(r"FS\s*: (\S+ \S+)\s+Used FS: (\S+)%\s+Inodes: (\S+ \S+)\s+Used Inodes: (\S+)%")
_TURN = re.compile(r"V-1: main: \* iteration (\d{1,9}) \*")
_ONE = re.compile(rf"V-\d: +(?:main:? +)?{_NAME}\s*:\s*({NUMBER}) sec,\s*({NUMBER}) ops/sec")
_TABLE = re.compile(
    r"SUMMARY( rate| time)?(?: \(in (ops/sec|ms/op|s)\))?: \(of (\d{1,9}) iterations\)"
)
_ROW = re.compile(rf"\s+{_NAME}\s*:?((?:\s+{NUMBER})+)\s*")
_OF_RANKS, _OF_ITERATIONS = ("rank_max", "rank_min", "rank_mean"), ("max", "min", "mean", "std_dev")
_WANTED = "a row such as 'File creation  11411.780  11411.780  11411.780  0.000'"
_MOST_ITERATIONS = 100_000
_NUMBERS = {
    **{
        "-n": "items",
        "-I": "items_per_dir",
        "-w": "size_bytes",
        "-e": "read_bytes",
        "-N": "stride",
    },
    **{"-i": "repetitions", "-z": "depth", "-b": "branching", "-W": "stonewall_s"},
}
_FLAGS = {
    **{"-u": "unique_dirs", "-F": "files_only", "-D": "dirs_only", "-L": "leaf_only"},
    **{
        "-y": "fsync",
        "-Y": "sync_at_end",
        "-t": "shared_time",
        "-R": "random_stat",
        "-X": "verify",
    },
}
_TIME = "%m/%d/%Y %H:%M:%S"


def phase_of(kind: str, verb: str) -> tuple[str, str | None]:
    """Phase and op of ``File``, ``creation``."""
    phase = _KINDS[kind] + _VERBS[verb]
    return phase, f"md_{phase}" if kind == "File" and verb != "rename" else None


def read_text(path: Path, given: FileDefaults, warn: Warn) -> Iterator[RunRow]:
    """Rows of all runs in a file; the second is called ``RUN-2``. Raises InputFileError."""
    starts, number = 1, 1
    run = _Run(path, given, warn, 1)
    for line in read_lines(path, warn):
        if _STARTED.match(line.text) and run.said:
            yield from possible(run.rows(), path, line.number, warn)
            starts += 1
            run = _Run(path, given, warn, starts)
        run.take(line)
        number = line.number
    yield from possible(run.rows(), path, number, warn)


class _Run:
    """Parsed values of one mdtest start."""

    def __init__(self, path: Path, given: FileDefaults, warn: Warn, start: int) -> None:
        self._path, self._given, self._warn, self._start = path, given, warn, start
        self.said = False
        self._parameters: dict[str, Any] = {}
        self._machine: dict[str, Any] = {}
        self._about: dict[str, Any] = {}
        self._backend = "unknown"
        self._folder: str | None = None
        self._began: int | None = None
        self._tasks: int | None = None
        self._files: int | None = None
        self._wall: int | None = None
        self._counted_before = False
        self._turn, self._iterations, self._finished = 0, 1, False
        self._table, self._unit = "", "s"
        self._single: dict[tuple[str, str, int], tuple[float, float]] = {}
        self._summary: dict[tuple[str, str], dict[str, float]] = {}

    def take(self, line: Line) -> None:
        """Parse one line."""
        text = line.text
        if match := _ROW.fullmatch(text):
            self._row(line, match)
        elif match := _ONE.match(text):
            key = (match[1], match[2], self._turn)
            if len(self._single) < _MOST_ITERATIONS * len(_VERBS):
                self._single[key] = (float(match[3]), float(match[4]))
        elif match := _TURN.match(text):
            self._turn = max(0, int(match[1]) - 1)
        elif match := _TABLE.match(text):
            self._table = (match[1] or " rate").strip()
            self._unit = "ms" if match[2] == "ms/op" else "s"
            self._iterations = max(1, int(match[3]))
        elif self._table and re.match(rf"\s+{_NAME}\b", text):
            self._warn(bad(self._path, line.number, f"the row is {shown(text)}", _WANTED))
        else:
            self._head(text)

    def _head(self, text: str) -> None:
        self.said = True
        if match := _STARTED.match(text):
            self._began = local_ns(match[1], _TIME, self._given.zone)
        elif match := _FINISHED.match(text):
            self._finished = True
            ended = local_ns(match[1], _TIME, self._given.zone)
            self._about |= {} if ended is None else {"ended_ns": ended}
        elif match := _LAUNCHED.match(text):
            self._parameters |= {"tool_version": match[1], "nodes": int(match[3])}
            self._tasks = int(match[2])
        elif text.startswith("Command line used: "):
            self._command(text.removeprefix("Command line used: "))
        elif match := _COUNT.match(text):
            self._tasks, self._files = int(match[1]), int(match[2])
            self._parameters["files"] = int(match[2])
        elif match := _WALL.search(text):
            self._wall = int(match[2])
            named = ("stonewall_min", "stonewall_max", "stonewall_avg")
            self._about |= dict(
                zip(named, (int(match[1]), int(match[2]), float(match[3])), strict=True)
            )
        elif match := _FS.match(text.strip()):
            names = ("fs_size", "fs_used_percent", "inodes", "inodes_used_percent")
            values = [float(v) if re.fullmatch(NUMBER, v) else v for v in match.groups()]
            self._machine |= dict(zip(names, values, strict=True))
        elif match := re.match(r"Path\s*: (\S.*)", text):
            self._machine["path"] = match[1][:400]

    def _command(self, text: str) -> None:
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        self._backend = "posix"
        words = [
            part for word in words[1:] for part in re.sub(r"^(-\w)=", r"\1\0", word).split("\0")
        ]
        for name, value in zip(words, [*words[1:], ""], strict=False):
            if name == "-x":
                self._counted_before = True
            elif name in _NUMBERS and re.fullmatch(r"-?\d{1,15}", value):
                self._parameters[_NUMBERS[name]] = int(value)
            elif name in _FLAGS:
                self._parameters[_FLAGS[name]] = True
            elif name == "-d" and value.isprintable() and value:
                self._folder = value[:400]
            elif name == "-a" and re.fullmatch(r"[A-Za-z0-9_-]{1,30}", value):
                word = value.lower()
                self._backend = {"dummy": "null"}.get(word, "s3" if word.startswith("s3") else word)

    def _row(self, line: Line, match: re.Match[str]) -> None:
        """A row of a table of ``SUMMARY``."""
        values = [float(text) for text in match[3].split()]
        names = _OF_ITERATIONS if len(values) == 4 else (*_OF_RANKS, *_OF_ITERATIONS)
        if len(values) != len(names) or not self._table:
            self._warn(bad(self._path, line.number, f"the row is {shown(line.text)}", _WANTED))
            return
        table = "rate" if self._table == "rate" else f"time_{self._unit}"
        found = self._summary.setdefault((match[1], match[2]), {})
        for name, value in zip(names, values, strict=True):
            found[f"{table}_{name}"] = value

    def rows(self) -> Iterator[RunRow]:
        """Rows of the run."""
        names = list(dict.fromkeys([*((k, v) for k, v, _ in self._single), *self._summary]))
        first = True
        for kind, verb in names:
            summary = self._summary.get((kind, verb), {})
            turns = sorted(turn for k, v, turn in self._single if (k, v) == (kind, verb))
            if not turns and not any(summary.values()):
                continue  # was not asked for
            for place, turn in enumerate(turns or [0]):
                seconds, rate = self._single.get((kind, verb, turn), (None, None))
                if rate is None:
                    rate = summary.get("rate_mean")
                last = place == len(turns or [0]) - 1
                yield from self._phase(
                    (kind, verb, turn), seconds, rate, summary if last else {}, first
                )
                first = False

    def _phase(
        self,
        key: tuple[str, str, int],
        seconds: float | None,
        rate: float | None,
        summary: dict[str, float],
        first: bool,
    ) -> Iterator[RunRow]:
        kind, verb, turn = key
        phase, op = phase_of(kind, verb)
        of = self._iterations if seconds is None else 1
        seconds = summary.get("time_s_mean") if seconds is None else seconds
        said = Stated(self._count(verb), seconds, rate, self._tasks, of)
        amount = amount_of(said) if kind != "Tree" else PhaseCount(None, seconds)
        n, seconds = amount.ops, amount.seconds
        ranks = (summary.get("rate_rank_min"), summary.get("rate_rank_max"))
        fair = ranks[0] / ranks[1] if ranks[0] and ranks[1] and self._alike(kind) else None
        reported = {**summary, **(self._about if first else {})}
        if self._iterations > 1 and summary:
            reported["iterations"] = self._iterations
        if amount.differs:
            reported = with_flags({**reported, "printed_ops": said.counted}, ["count-recomputed"])
        given, began = self._given, self._began
        if given.started_ns is not None and self._start == 1:
            began = given.started_ns
        size = self._parameters.get({"creation": "size_bytes", "read": "read_bytes"}.get(verb, ""))
        common: dict[str, Any] = {
            "run_id": given.run if self._start == 1 else f"{given.run}-{self._start}",
            "source": SOURCE,
            "host": given.host,
            "target": given.target or self._folder or given.run,
            "backend": self._backend,
            "pattern": "bulk",
            "phase": phase,
            "repetition": min(turn, 2**31 - 1),
            "ranks": self._tasks,
            "began_ns": began if first else None,
            "duration_ns": None if seconds is None or seconds > 1e9 else round(seconds * 1e9),
            "ops": n,
            "bytes": None if n is None or size is None or op is None else min(n * size, 2**63 - 1),
            "rate_per_s": rate,
            "stonewall_per_s": self._walled() if verb == "creation" and kind == "File" else None,
            "complete": self._finished,
            "machine": self._machine or None,
        }
        whole = {**self._parameters, "reported": reported} if reported else self._parameters
        yield RunRow(**common, balance=fair, parameters=whole)
        if op is not None:
            yield RunRow(**common, op=op, parameters=self._parameters)

    def _walled(self) -> float | None:
        """Creation rate up to the time limit: the mean rank's, before ranks caught up."""
        mean, limit = self._about.get("stonewall_avg"), self._parameters.get("stonewall_s")
        return mean * self._tasks / limit if mean and limit and self._tasks else None

    def _alike(self, kind: str) -> bool:
        """True if rates of ranks show balance: each rank did the same amount, once."""
        return self._iterations == 1 and kind != "Tree"

    def _count(self, verb: str) -> int | None:
        """Number of objects in a phase by a count; None if the text has none that holds for it."""
        if self._wall is not None and verb == "creation" and self._tasks:
            return self._wall * self._tasks
        limited = self._counted_before or "stonewall_s" in self._parameters
        return None if limited else self._files
