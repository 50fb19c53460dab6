"""Unsupported outputs of supported programs: hints on the output to request instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from iosonde.connectors.darshan.head import OLD_HINT
from iosonde.connectors.scheduler.job_ids import WITH_BOTH_IDS

_LOOK, _LONGEST = 40, 4000
_AS_TABLE = (
    "a table with a row a job (CSV with its id, begin and end) and --mapping (docs/correlate.md)"
)
_STATE = r"(?:COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_ME\w*|PREEMPTED|RUNNING|PENDING|REQUEUED)"
_NAMELESS: tuple[tuple[str, str, str], ...] = (
    (
        # 4711_7|4718|ann|..., or any order of fields with times or a state among them; or columns of fixed width.
        r"\d{1,12}(?:_[^|]{1,200}|\+\d+|\.\w+)?\|(?:[^|]*\|){2,}"
        r"|[^|]*\|(?:[^|]*\|)*(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|"
        + _STATE
        + r"(?: by \d+)?)(?:\||$)"
        r"|\s*\d{1,12}(?:_\S{1,100}|\+\d+|\.\w+)?\s.*\s" + _STATE + r"\+?\s+\d+:\d+\s*$",
        "sacct's jobs without the names of their columns",
        f"sacct without -n: sacct -P --format={WITH_BOTH_IDS}",
    ),
    (
        r"\d{8}[ ;,|]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[ ;,|]-?\d[\d.]*){3,}\s*$",
        "rows of collectl -P without the line that names their columns (#Date Time ...)",
        "the file from its first line on, or collectl -P anew",
    ),
)
"""Outputs of which the first line tells that their header is missing."""
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        r"snapshot_time:?\s+\d",
        "counters of Lustre that do not say whose they are",
        "lctl get_param without -n, or the folder with its tree",
    ),
    (
        r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];[^;]{0,200};",
        "accounting of PBS or Torque, which is not read",
        _AS_TABLE,
    ),
    (r'"JOB_[A-Z_]{2,30}" "\d[\d.]*" \d', "accounting of LSF, which is not read", _AS_TABLE),
    (r"\s*JOBID\s+PARTITION\s", "squeue, which forgets jobs as they end", "sacct -P"),
    (r"#\s*<-+[A-Z]", "collectl for people", "collectl -P"),
    (r"# SUMMARY|# \w+ STATISTICS", "collectl for people", "collectl -P"),
    (r"# RECORDED|>>> \d+\.\d+ <<<", "what collectl recorded", "collectl -p FILE -P"),
    (
        r"(?:Client|Server) (?:rpc|nfs)|\S+ mounted on /\S*:|Stats for \S+ mounted on|/\S* from \S+:/",
        "nfsstat, nfsiostat or mountstats",
        "a log of /proc/self/mountstats",
    ),
    (
        r"Device:?\s+tps\s",
        "iostat without -x, which does not say how long requests took",
        "iostat -x -t",
    ),
    (
        r"(?:\d\d:\d\d:\d\d|Average:?)(?: [AP]M)?\s+(?:DEV\s+)?tps\s",
        "sar -d, which does not tell reads from writes",
        "iostat -x -t, or a log of /proc/diskstats",
    ),
    (r"rpc \d+ \d+ \d+$", "counters of NFS for all mounts at once", "/proc/self/mountstats"),
    (r"Filesystem\s+\S+\s+Used\s", "df, which knows no OST", "lfs df or mmdf"),
    (r"Row,Timestamp,", "mmperfmon's table for spreadsheets", "mmperfmon query without --csv"),
    (
        r"# darshan log version: [12]\.",
        "text of a log of Darshan 1 or 2, which is not read",
        OLD_HINT,
    ),
    (r"-- MySQL dump", "a dump of MySQL", "the same tables in SQLite"),
    (r"Cbench", "a log of a benchmark that is not read", ""),
)


class NearMiss(NamedTuple):
    """Kind of output, with the line that shows it (from 1) and what to try."""

    what: str
    hint: str
    line: int


def near_miss(lines: Iterable[str]) -> NearMiss | None:
    """Kind of output by its first lines; None if unknown."""
    seen = list(islice(lines, _LOOK))
    first = next((number for number, line in enumerate(seen) if line.strip()), None)
    for known, numbers in (
        (_NAMELESS, [] if first is None else [first]),
        (_KNOWN, range(len(seen))),
    ):
        for pattern, what, hint in known:
            for number in numbers:
                if re.match(pattern, seen[number][:_LONGEST]):
                    return NearMiss(what, hint, number + 1)
    return None
