"""Unsupported outputs of supported programs: hints on the output to request instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_LOOK = 40
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        r"snapshot_time:?\s+\d",
        "counters of Lustre that do not say whose they are",
        "lctl get_param without -n, or the folder with its tree",
    ),
    (
        r"\d{1,12}(?:_\S{1,20}|\+\d+|\.\w+)?\|(?:[^|]*\|){2,}",
        "jobs without the names of their columns",
        "sacct -P without -n",
    ),
    (r"\s*JOBID\s+PARTITION\s", "squeue, which forgets jobs as they end", "sacct -P"),
    (r"#\s*<-+[A-Z]", "collectl for people", "collectl -P"),
    (r"# SUMMARY|# \w+ STATISTICS", "collectl for people", "collectl -P"),
    (r"# RECORDED|>>> \d+\.\d+ <<<", "what collectl recorded", "collectl -p FILE -P"),
    (
        r"(?:Client|Server) (?:rpc|nfs)|\S+ mounted on /\S*:|Stats for \S+ mounted on|/\S* from \S+:/",
        "nfsstat, nfsiostat or mountstats",
        "a log of /proc/self/mountstats",
    ),
    (r"rpc \d+ \d+ \d+$", "counters of NFS for all mounts at once", "/proc/self/mountstats"),
    (r"Filesystem\s+\S+\s+Used\s", "df, which knows no OST", "lfs df or mmdf"),
    (r"Row,Timestamp,", "mmperfmon's table for spreadsheets", "mmperfmon query without --csv"),
    (
        r"# darshan log version: [12]\.",
        "text of a log of Darshan 2",
        "darshan-convert on the log, then that",
    ),
    (r"-- MySQL dump", "a dump of MySQL", "the same tables in SQLite"),
    (r"Cbench", "a log of a benchmark that is not read", ""),
)


def near_miss(lines: Iterable[str]) -> tuple[str, str]:
    """Kind of output by its first lines, and a hint; "" if unknown."""
    seen = list(islice(lines, _LOOK))
    for pattern, what, hint in _KNOWN:
        if any(re.match(pattern, line) for line in seen):
            return what, hint
    return "", ""
