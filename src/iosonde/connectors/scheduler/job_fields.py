"""Fields of scheduler records to a Job: ids and steps, times, states, sizes with suffixes, exit codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import count, plain
from iosonde.connectors.scheduler.job_ids import shown_id
from iosonde.connectors.scheduler.node_list import expand
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.jobs import Job, Scalar
from iosonde.model.units import LATEST_S

NONE = {"", "unknown", "none", "n/a", "null", "(null)", "invalid"}
_SECOND_NS = 1_000_000_000
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,6})?)([KMGTPE]?)i?B?[nc]?", re.ASCII | re.IGNORECASE)
_TRES = re.compile(r"(?:^|,)fs/disk=(\d{1,20})(?=,|$)", re.ASCII)
_SIZES = {
    "MaxRSS": "peak_memory_bytes",
    "AveDiskRead": "mean_task_read_bytes",
    "AveDiskWrite": "mean_task_written_bytes",
    "ReqMem": "requested_memory_bytes",
}


@dataclass
class Fields:
    """A record as text, by sacct's names of fields."""

    source: str
    row: Mapping[str, str]
    clock: WallTimes
    naive: bool = False
    """True if a time had no zone."""
    ambiguous: bool = False
    truncated: bool = False
    """True if columns were cut to their width: the node list is unreliable."""

    def job(self, system: str, nodes: tuple[str, ...] | None = None) -> Job:
        """The record as a job or step. Raises ValueError: no id; an impossible time, node list or duration."""
        job_id, step = split_id(self.row.get("JobIDRaw") or self.row.get("JobID", ""))
        self.clock.anew()
        start, end = self.time("Start"), self.time("End")
        if start is not None and end is not None and end < start:
            raise ValueError(f"the job ends ({shown(self.row['End'])}) before it begins")
        listed = self.nodes() if nodes is None else nodes
        said = count(self.row.get("NNodes") or self.row.get("AllocNodes") or "")
        user = self.text("User")
        return Job(
            source=self.source,
            job_id=job_id,
            step=step,
            system=self.text("Cluster") or system,
            user=user,
            account=self.text("Account"),
            name=self.text("JobName"),
            nodes=(len(listed) or None) if said is None else said,
            node_names=listed,
            ranks=count(self.row.get("NTasks") or ""),
            start_ns=start,
            end_ns=end,
            state=state(self.row.get("State", "")),
            shown_id=shown_id(self.row.get("JobID", ""), job_id),
            scalars=self.scalars(start, end),
        )

    def text(self, name: str) -> str:
        """A field; "" for placeholders such as ``Unknown``."""
        value = self.row.get(name, "").strip()
        return "" if value.lower() in NONE else value

    def time(self, name: str) -> int | None:
        """UTC ns of a clock time or of epoch seconds; None: not started, not ended. Raises ValueError."""
        text = self.row.get(name, "").strip()
        if text.lower() in NONE or text == "0":
            return None
        if (seconds := count(text)) is not None and seconds <= LATEST_S:
            return seconds * _SECOND_NS
        try:
            moment = datetime.fromisoformat(text) if len(text) >= 16 else None
        except ValueError:
            moment = None
        doubtful = self.clock.ambiguous
        found = None if moment is None else self.clock.ns(moment)
        if moment is None or found is None or not 0 <= found <= LATEST_S * _SECOND_NS:
            raise ValueError(f"the {name} {shown(text)} is no time")
        self.naive |= moment.tzinfo is None
        self.ambiguous |= self.clock.ambiguous > doubtful
        return found

    def nodes(self) -> tuple[str, ...]:
        """Names in the node list. Raises NodeListError."""
        text = self.row.get("NodeList", "").strip()
        if self.truncated and text.endswith("+"):
            return ()
        return expand(text)

    def scalars(self, start: int | None, end: int | None) -> dict[str, Scalar]:
        """Run time, exit code, and the scheduler's counters; missing ones are left out."""
        flags = tuple(
            flag
            for flag, is_so in (("naive-time", self.naive), ("ambiguous-time", self.ambiguous))
            if is_so
        )
        known = start is not None and end is not None
        span = (end - start) / 1e9 if start is not None and end is not None else None
        flags = flags if known else (*flags, "missing")
        found = {"duration_s": Scalar(span, "s", self.source, flags=flags)}
        for field, metric in _SIZES.items():
            if (value := size_bytes(self.row.get(field, ""))) is not None:
                found[metric] = Scalar(value, "bytes", self.source)
        for field, metric in (
            ("TRESUsageInTot", "task_read_bytes"),
            ("TRESUsageOutTot", "task_written_bytes"),
        ):
            if match := _TRES.search(self.row.get(field, "")):
                found[metric] = Scalar(float(match[1]), "bytes", self.source)
        # Of a job that has not ended Slurm prints 0:0.
        code, _, signal = (self.row.get("ExitCode", "") if end is not None else "").partition(":")
        for metric, text in (("exit_code", code), ("exit_signal", signal)):
            if (number := count(text)) is not None:
                found[metric] = Scalar(float(number), "", self.source)
        return found


def split_id(text: str) -> tuple[str, str]:
    """``6.batch`` -> ("6", "batch"); ``5_[1-3]`` stays whole. Raises ValueError: empty or absurd."""
    text = text.strip()
    if not text or len(text) > 200 or not text.isprintable():
        raise ValueError(f"the job id {shown(text)} is none")
    job, _, step = text.partition(".")
    if not job:
        raise ValueError(f"the job id {shown(text)} is none")
    return job, step


def state(text: str) -> str:
    """``CANCELLED by 0`` -> ``CANCELLED``; cut ones (``COMPLETED+``) without the plus sign."""
    words = text.split()
    return words[0].rstrip("+") if words and words[0].lower() not in NONE else ""


def size_bytes(text: str) -> float | None:
    """Parse ``3232K``, ``0.06M``, ``4Gn``, ``2000Mc``: powers of 1024. None if malformed."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    number = plain(match[1])
    power = "KMGTPE".find(match[2].upper()) + 1 if match[2] else 0
    return None if number is None else number * 1024.0**power
