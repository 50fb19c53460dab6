"""Output of ``darshan-parser`` (3.x; ``--base``, ``--total``, ``--perf``), plain or gzip, to one Job.

::

    # darshan log version: 3.10
    # exe: /home/user/bin/ior -a POSIX
    # uid: 1000
    # jobid: 4711
    # start_time: 1490000867
    # end_time: 1490000983
    # nprocs: 2048
    # run time: 117.0000
    POSIX  -1  6301063301082038805  POSIX_OPENS  2049  /work/file  /work  lustre
    total_POSIX_OPENS: 2049
    # total_bytes: 2199023259968
    # agg_perf_by_slowest: 24535.281934

Columns of records are separated by tabs: module, rank, record id, counter, value, file, mount point, type. The
numbers are those of ``darshan_log`` for the same log, times to the six digits that are printed and instants to
the second. Without ``--base`` nothing is known of single files: mode, file system and number of files are missing,
and sums of STDIO count only where there are none of POSIX, for they hold what went to terminals.
Text of DXT is left out, and told of once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.connectors.darshan.job import job_of
from iosonde.connectors.darshan.records import LogHeader, instant, program_of, ranks_of
from iosonde.connectors.darshan.rows import RecordRows
from iosonde.connectors.lines import NUMBER, Line, bad, read_lines, shown
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND = "Darshan text"
SOURCE = "darshan"
_VERSION = re.compile(r"# darshan log version: (3\.\d{1,3})\s*")
_FIELD = re.compile(r"# (exe|uid|jobid|start_time|end_time|nprocs|run time): ?(.*)")
_WHOLE = re.compile(r"-?\d{1,19}")
_TOTAL = re.compile(rf"total_(POSIX|MPIIO|STDIO)_(\w{{1,60}}): (-?{NUMBER})\s*")
_PERF = re.compile(rf"# (total_bytes|agg_perf_by_slowest): ({NUMBER})(?: # MiB/s)?\s*")
_SECTION = re.compile(r"# (\S{1,40}) module data\s*")
_PARTIAL = re.compile(
    r"# \*(?:WARNING|ERROR)\*: The (\S{1,40}) module contains incomplete data!\s*"
)
_REGION = re.compile(r"# (\S{1,40}) module: \d{1,20} bytes")
_NAMES = {"MPIIO": "MPI-IO"}
_DXT = re.compile(r"# DXT, |\s*X_(?:POSIX|MPIIO)\s")


def recognises(head: Head) -> bool:
    """True with its first line, and a line about the program or the job."""
    lines = head.lines
    return (
        bool(lines)
        and _VERSION.fullmatch(lines[0]) is not None
        and any(line.startswith(("# exe:", "# jobid:", "# nprocs:")) for line in lines[1:30])
    )


def _word(text: str) -> str:
    """A number of the header as text; "" if malformed."""
    return text.strip() if _WHOLE.fullmatch(text.strip()) else ""


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """The Job of one text. Raises InputFileError: no Darshan text, without numbers, or truncated."""
    text = _Text(path, warn)
    for line in read_lines(path, warn):
        text.take(line)
    job = text.job()
    yield replace(job, system=settings.system) if settings.system else job


class _Text:
    """State of the text being read."""

    def __init__(self, path: Path, warn: Warn) -> None:
        self.path, self.warn = path, warn
        self.fields: dict[str, str] = {}
        self.version = ""
        self.rows: RecordRows | None = None
        self.totals: dict[str, dict[str, float]] = {}
        self.perf: dict[str, dict[str, float]] = {}
        self.partial: set[str] = set()
        self.section = ""
        self.announced: set[str] = set()
        self.dxt = 0
        self.last = 0

    def take(self, line: Line) -> None:
        """Parse one line."""
        self.last = line.number
        if not line.ended:
            raise bad(self.path, line.number, "the text ends within a line", "the whole text")
        if line.number == 1:
            found = _VERSION.fullmatch(line.text)
            if found is None:
                what = f"the first line is {shown(line.text)}"
                raise bad(self.path, 1, what, "'# darshan log version: 3.x'")
            self.version = found[1]
        elif line.text.startswith("#"):
            self._comment(line)
        elif total := _TOTAL.fullmatch(line.text):
            module = _NAMES.get(total[1], total[1])
            self.totals.setdefault(module, {})[total[2]] = float(total[3])
        elif _DXT.match(line.text):
            self.dxt += 1
        elif "\t" in line.text:
            if self.rows is None:
                self.rows = RecordRows(self.path, self.warn, self._run().ranks)
            self.rows.take(line)
        elif line.text.strip() and not line.text.startswith("total_"):
            self.warn(bad(self.path, line.number, shown(line.text), "a line of darshan-parser"))

    def _comment(self, line: Line) -> None:
        if field := _FIELD.fullmatch(line.text):
            self.fields.setdefault(field[1], field[2])
        elif section := _SECTION.fullmatch(line.text):
            self.section = _NAMES.get(section[1], section[1])
            self.announced.discard(self.section)
        elif region := _REGION.match(line.text):
            self.announced.add(_NAMES.get(region[1], region[1]))
        elif _VERSION.fullmatch(line.text):
            raise bad(self.path, line.number, "a second log begins", "the text of one log")
        elif partial := _PARTIAL.fullmatch(line.text):
            self.partial.add(_NAMES.get(partial[1], partial[1]))
        elif perf := _PERF.fullmatch(line.text):
            self.perf.setdefault(self.section, {})[perf[1]] = float(perf[2])
        elif _DXT.match(line.text):
            self.dxt += 1

    def _run(self) -> LogHeader:
        fields = self.fields
        ranks = self._whole("nprocs")
        if ranks is None:
            raise bad(self.path, self.last, "nprocs is missing", "'# nprocs: N' before the numbers")
        start, end = self._whole("start_time"), self._whole("end_time")
        seconds = fields.get("run time", "").strip()
        known = re.fullmatch(NUMBER, seconds) is not None and float(seconds) < 1e9
        return LogHeader(
            version=self.version,
            program=program_of(fields.get("exe", "")),
            user=_word(fields.get("uid", "")),
            job_id=_word(fields.get("jobid", "")),
            ranks=ranks_of(ranks, str(self.path)),
            start_ns=None if start is None else instant(start),
            end_ns=None if end is None else instant(end),
            run_s=float(seconds) if known else None,
            partial=self.partial,
        )

    def _whole(self, name: str) -> int | None:
        text = self.fields.get(name, "").strip()
        return int(text) if _WHOLE.fullmatch(text) else None

    def job(self) -> Job:
        """The Job, after the last line. Raises InputFileError: no data for one."""
        if not self.version:
            raise bad(self.path, 1, "the file is empty", "'# darshan log version: 3.x'")
        if self.dxt:
            what = f"{self.dxt} lines of DXT are left out"
            self.warn(InputFileError(f"{self.path}: {what}", expected="records of modules"))
        if lacking := sorted(self.announced & {"POSIX", "MPI-IO", "STDIO"}):
            what = f"the text ends before the data of {', '.join(lacking)}"
            raise bad(self.path, self.last, what, "the whole text (--show-incomplete)")
        run = self._run()
        rows = self.rows or RecordRows(self.path, self.warn, run.ranks)
        rows.finish(self.last)
        self._add_sums(rows)
        for tally in rows.tallies.values():
            tally.partial = tally.module in self.partial

        def mount_of(ids: NDArray[np.uint64]) -> list[str]:
            return [rows.mounts.get(number, "") for number in ids.tolist()]

        return job_of(run, rows.tallies, mount_of, SOURCE)

    def _add_sums(self, rows: RecordRows) -> None:
        """Add sums of ``--total`` and ``--perf`` for modules without records."""
        for module in sorted(self.totals.keys() | self.perf.keys()):
            hidden = module == "STDIO" and "POSIX" in self.totals.keys() | self.perf.keys()
            if module in rows.tallies or hidden:
                continue
            tally = rows.tally(module)
            if tally is not None:
                perf = self.perf.get(module, {})
                moved, rate = perf.get("total_bytes"), perf.get("agg_perf_by_slowest", 0.0) * 2**20
                seconds = moved / rate if moved is not None and rate > 0 else None
                tally.take_totals(self.totals.get(module, {}), moved, seconds)
