"""Reader for IOR's text output, ``-v`` to ``-vvv``: each test is a run, the second is called ``NAME-2``.

::

    IOR-4.1.0+dev: MPI Coordinated Test of Parallel I/O
    Command line        : ior -F -t 1m -b 4g -D 3 -o dir/f
    Options:            "Summary:" with tabs and "=" up to 3.1
    access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
    write     133.24     133.24     0.014715    4194304    1024.00    0.000038   3.24       0.034444   3.24       0
    Max Write: 133.24 MiB/sec (139.71 MB/sec)
    Summary of all tests:

Columns are read by their names: 2.10.3 to 3.2 have neither IOPS nor latency. Formats: IOR 2.10.3, 3.0 to 3.4, 4.0, 4.1.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iosonde.connectors.benchmarks.ior.found import IorRun, phase_times, rank_times
from iosonde.connectors.benchmarks.ior.log_state import LogTest, complete, from_timers
from iosonde.connectors.benchmarks.ior.phase_data import Result, Wall
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.benchmarks.ior.timers import mended
from iosonde.connectors.lines import (
    NUMBER,
    FileDefaults,
    Line,
    Warn,
    bad,
    local_ns,
    read_lines,
)

TITLE = re.compile(r"IOR-(\S{1,40}): MPI Coordinated Test of Parallel I/O")
HEADER = re.compile(r"access\s+bw\(MiB/s\)")
_ROW = re.compile(r"(write|read)\s+([-\d].*)")
_CELL = re.compile(rf"{NUMBER}|-|-?nan|-?inf")
_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z_ ]{0,30}?)\s*[:=]\s?(.*)")
_TIME = "%a %b %d %H:%M:%S %Y"
_WANTED = "a row with a number for each column of its table"
_TIMER_WANTED = "a line such as 'Test 0: Iter=0, Task=1, Time=1795257236.9, write open start'"
_ALONE = re.compile(r"(\d{1,8}): stonewalling pairs accessed: (\d{1,15})")
_WALL = re.compile(
    rf"stonewalling pairs accessed min: (\d{{1,15}}) max: (\d{{1,15}})"
    rf"(?: -- min data: ({NUMBER}) GiB mean data: ({NUMBER}) GiB time: ({NUMBER})s)?"
)
_MOVED = re.compile(r"WARNING: Using actual aggregate bytes moved = (\d{1,19})")
_MAX = re.compile(rf"Max (Write|Read):\s+({NUMBER}) MiB/sec")
_FS = re.compile(r"FS\s*: (\S+ \S+)\s+Used FS: (\S+)%\s+Inodes: (\S+ \S+)\s+Used Inodes: (\S+)%")
_NAMES = {
    **{"bw(MiB/s)": "bw_mib", "IOPS": "iops", "Latency(s)": "latency_s", "Latency": "latency_s"},
    **{"open(s)": "open_s", "wr/rd(s)": "transfer_s", "close(s)": "close_s"},
    **{"total(s)": "total_s", "iter": "repetition", "block(KiB)": "block", "xfer(KiB)": "xfer"},
}
_OLD = ("bw(MiB/s)", "block(KiB)", "xfer(KiB)", "open(s)", "wr/rd(s)", "close(s)", "total(s)")
_NEW = ("bw(MiB/s)", "IOPS", "Latency(s)", *_OLD[1:])
_LAYOUTS = {len(names) + 1: (*names, "iter") for names in (_OLD, _NEW)}
_BEGINS_TEST = re.compile(r"TestID\s+: \d|Test (\d{1,9}) started: ")
_MOST_REPETITION = 2**31 - 1


def read_text(path: Path, given: FileDefaults, warn: Warn) -> Iterator[IorRun]:
    """Yield every test of a file. Malformed lines are reported by place, never quoted, as they may
    hold the environment. Raises InputFileError.
    """
    reader = _Reader(path, given, warn)
    for line, match, torn in mended(read_lines(path, warn)):
        if match is not None:
            if not reader.test.timers.take(match):
                warn(bad(path, line.number, "a timer has impossible numbers", _TIMER_WANTED))
        elif torn:
            warn(bad(path, line.number, "a timer is torn", _TIMER_WANTED))
        else:
            yield from reader.take(line)
    yield from reader.done()


class _Reader:
    """Reader for one file."""

    def __init__(self, path: Path, given: FileDefaults, warn: Warn) -> None:
        self._path, self._given, self._warn = path, given, warn
        self._number = 0
        self._head = Setup()
        self._line = 1
        self._began: int | None = None
        self._moved: int | None = None
        self._start_over()

    def _start_over(self) -> None:
        """Reset the state at a program start."""
        self._head, self._began = Setup(), None
        self._names: tuple[str, ...] | None = None
        self._summary_names: list[str] = []
        self._moved = None
        self._wall = Wall()
        self.test = LogTest(copy.deepcopy(self._head))
        self._tests: list[LogTest] = []

    def take(self, line: Line) -> Iterator[IorRun]:
        """Parse one line; yield the tests of a program start that it ends."""
        text, self._line = line.text, line.number
        if match := TITLE.match(text):
            yield from self._end()
            self._start_over()
            self._head.version = self.test.setup.version = match[1]
        elif match := _BEGINS_TEST.match(text):
            self._next_test(match)
        elif HEADER.match(text):
            self._names, self._summary_names = tuple(text.split()[1:]), []
        elif text.startswith("Operation "):
            self._summary_names = text.split()
        elif match := _ROW.match(text):
            if self._summary_names:
                self._summarised(match[1], text.split())
            else:
                self._row(line, match[1], match[2].split())
        elif match := _MOVED.match(text):
            self._moved = int(match[1])
        elif match := _ALONE.search(text):
            self._wall.pairs[int(match[1])] = int(match[2])
        elif match := _WALL.search(text):
            self._walled(match)
        elif match := _MAX.match(text):
            self.test.best[match[1].lower()] = float(match[2])
        else:
            self._about(text)

    def done(self) -> Iterator[IorRun]:
        """Yield the remaining tests at the end of the file."""
        yield from self._end()

    def _next_test(self, match: re.Match[str]) -> None:
        if self.test.anything:
            self._tests.append(self.test)
            self.test = LogTest(copy.deepcopy(self._head))
        self._names, self._wall, self._moved = None, Wall(), None
        found = re.search(r"\d{1,9}", match[0])
        self.test.number = int(found[0]) if found else None
        if " started: " in match[0]:
            self.test.began = local_ns(
                match.string.partition(" started: ")[2], _TIME, self._given.zone
            )

    def _about(self, text: str) -> None:
        """Parse options and other facts about the run."""
        setup = self.test.setup
        if text.startswith("Commencing ") and " performance test: " in text:
            access = text.split()[1]
            when = local_ns(text.partition(" performance test: ")[2], _TIME, self._given.zone)
            if when is not None:
                done = sum(result.access == access for result in self.test.results)
                self.test.commenced[access, done] = when
            return
        if match := _FS.match(text.strip()):
            names = ("fs_size", "fs_used_percent", "inodes", "inodes_used_percent")
            values = [float(v) if re.fullmatch(NUMBER, v) else v for v in match.groups()]
            setup.machine |= dict(zip(names, values, strict=True))
            return
        match = _PAIR.match(text)
        if match is None:
            return
        name, value = match[1].strip(), match[2]
        if name in ("Began", "Run began"):
            self._began = local_ns(value, _TIME, self._given.zone)
        elif name == "StartTime":
            self.test.began = local_ns(value, _TIME, self._given.zone)
        elif name in ("Command line", "Command line used"):
            self._head.command(value)
            setup.command(value)
        elif name == "Machine" and len(words := value.split()) >= 2 and words[1].isprintable():
            self._head.node = setup.node = words[1][:200]
        else:
            setup.feed(name, value)

    def _row(self, line: Line, access: str, cells: list[str]) -> None:
        """Parse a row of the table of results."""
        names = self._names or _LAYOUTS.get(len(cells))
        whole = names is not None and len(cells) == len(names)
        if not whole or not all(_CELL.fullmatch(cell) for cell in cells):
            self._warn(bad(self._path, line.number, f"the row of a {access} is torn", _WANTED))
            return
        assert names is not None
        values: dict[str, Any] = {
            _NAMES[name]: float(cell)
            for name, cell in zip(names, cells, strict=True)
            if name in _NAMES and re.fullmatch(NUMBER, cell) and float(cell) < 1e300
        }
        place = values.pop("repetition", float(self._turn(access)))
        sizes = {
            "block_bytes": values.pop("block", None),
            "transfer_bytes": values.pop("xfer", None),
        }
        for name, kib in sizes.items():
            if kib is not None and self.test.setup.get(name) is None and (kib * 1024).is_integer():
                self.test.setup.put(name, int(kib * 1024))
        result = Result(access, int(min(place, _MOST_REPETITION)), **values)
        result.bytes, self._moved = self._moved, None
        result.wall, self._wall = self._wall, Wall()
        self.test.results.append(result)

    def _turn(self, access: str) -> int:
        return sum(result.access == access for result in self.test.results)

    def _walled(self, match: re.Match[str]) -> None:
        wall = self._wall
        wall.least_pairs, wall.most_pairs = int(match[1]), int(match[2])
        if match[5] is not None:
            wall.mean_gib, wall.seconds = float(match[4]), float(match[5])

    def _summarised(self, access: str, cells: list[str]) -> None:
        """Parse a row of ``Summary of all tests``: columns common to all versions by place, later ones by name."""
        if len(cells) < 9 or not all(_CELL.fullmatch(cell) for cell in cells[1:9]):
            return
        values = {"max_mib": float(cells[1]), "mean_s": float(cells[9])} if len(cells) > 9 else {}
        by_name: dict[str, str] = {}
        if len(cells) == len(self._summary_names):
            by_name = dict(zip(self._summary_names, cells, strict=True))
        for name in ("Stonewall(s)", "Stonewall(MiB)", "aggs(MiB)", "Test#", "#Tasks"):
            if re.fullmatch(NUMBER, by_name.get(name, "")):
                values[name] = float(by_name[name])
        number = values.get("Test#")
        tests = [*self._tests, self.test]
        own = [test for test in tests if number is None or test.number in (None, int(number))]
        (own[-1] if own else self.test).summary[access] = values

    def _end(self) -> Iterator[IorRun]:
        """Yield the tests of a program start."""
        for test in [*self._tests, self.test]:
            if test.anything:
                self._number += 1
                yield self._run(test)

    def _run(self, test: LogTest) -> IorRun:
        given = self._given
        run_id = given.run if self._number == 1 else f"{given.run}-{self._number}"
        run = IorRun(run_id, test.setup)
        began = test.began if test.began is not None else self._began
        if given.started_ns is not None and self._number == 1:
            began = given.started_ns
        complete(test)
        for place, result in enumerate(test.results):
            if result.began_ns is None and place == 0:
                result.began_ns = began
            turn = (result.access, result.repetition)
            if found := test.timers.found.get(turn):
                usual = None if test.setup.get("file_per_process") else test.setup.file
                origin = result.began_ns if result.began_ns is not None else began
                phase = phase_times(turn, found, test.timers.files[result.access], usual, origin)
                run.phases.append(phase)
                run.times[turn] = rank_times(phase)
                from_timers(result, phase, run)
        run.results = test.results
        return run
