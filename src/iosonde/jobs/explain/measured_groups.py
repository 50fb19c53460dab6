"""Groups of metrics that were as usual, and groups with missing measurements: never confused."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.jobs.umami.quartile import Standing

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation

ASKED = {
    "contention": "contention for bandwidth",
    "metadata": "metadata load",
    "cpu": "server CPU",
    "fullness": "fullness",
    "failover": "failed-over servers",
    "placement": "placement of the job",
    "concurrency": "other jobs",
}
"""Common groups of metrics -> printable name."""
BROKEN = frozenset(
    (
        "monitor-down",
        "over-covered",
        "missing",
        "stale",
        "counter-reset",
        "negative-zero",
        "not-a-number",
    )
)
"""Flags of values that count as not measured."""
_HALVES = {"cpu": (("oss_cpu_", "OSS CPU"), ("mds_cpu_", "MDS CPU"))}
"""Groups of several parts: if one was never measured only the other is named."""
_JUDGED = (Standing.BAD, Standing.POOR, Standing.OK, Standing.GOOD)


class Looked(NamedTuple):
    """Names of groups examined."""

    as_usual: tuple[str, ...]
    not_measured: tuple[str, ...]


NOTHING = Looked((), ())


def looked_at(found: Explanation, told: frozenset[str]) -> Looked:
    """Groups as usual and groups not measured, among those not blamed (``told``: blamed groups).

    A group is as usual where each of its metrics was measured in this run and none stood in its worst quarter. Metrics
    that follow the job itself are not asked.
    """
    usual: list[str] = []
    missing: list[str] = []
    for group, name in ASKED.items():
        members = [c for c in found.candidates if c.about.group == group and not c.leak]
        if not members or group in told:
            continue
        halves = _HALVES.get(group, ())
        known = [what for begin, what in halves if any(c.metric.startswith(begin) for c in members)]
        called = name if len(known) == len(halves) else known[0]
        if any(map(_unmeasured, members)):
            missing.append(name)
            continue
        missing += [what for _, what in halves if what not in known]
        judged = [c for c in members if c.stood.standing in _JUDGED]
        if judged and all(c.stood.standing is not Standing.BAD for c in judged):
            usual.append(called)
    return Looked(tuple(usual), tuple(missing))


def _unmeasured(one: Candidate) -> bool:
    return one.stood.standing is Standing.MISSING or not BROKEN.isdisjoint(one.flags)
