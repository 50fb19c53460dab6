"""What the doctor's tests share: a mount table, a state, and short ways to look at findings."""

from __future__ import annotations

from iosonde.host.mounts import parse_mountinfo
from tests.kit.host import recorded

SECOND = 1_000_000_000
NOW = 1_800_000_000 * SECOND
MOUNTS = parse_mountinfo(recorded.TABLE)


def levels(found):
    return {finding.id: finding.level for finding in found.all}


def said(found, id):
    (finding,) = [finding for finding in found.all if finding.id == id]
    return finding


def faults(found):
    return {id: level for id, level in levels(found).items() if level != "ok"}


def state(**changed):
    return {
        "host": "login2",
        "target": "/work",
        "path": "/work",
        "written_ns": NOW - SECOND,
        "period_ns": SECOND,
        "running": True,
        "state": "ok",
        "notes": [],
        "ops": [],
        "error": None,
    } | changed
