"""What ``locate`` finds in runs and jobs whose transfers touched the target in the stretch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.answers import Source, located
from iosonde.bench.locate.findings import CannotTell, Fault
from iosonde.bench.locate.stored import stored_logs
from iosonde.bench.runs.store import read_runs
from iosonde.model.errors import IosondeError
from iosonde.model.frames import NULL_NS
from iosonde.why.links import PartSource, Ratio, SlowPart

if TYPE_CHECKING:
    from iosonde.bench.locate.answers import Located
    from iosonde.bench.locate.findings import Slow
    from iosonde.model.transfers import Transfers
    from iosonde.why.links import StretchFacts
    from iosonde.why.question import Weather

MOST_RUNS = 5
"""Of more runs the last ones are looked at."""
_NONE = {CannotTell.FEW_TARGETS, CannotTell.STRIPED, CannotTell.NO_TARGETS}


def located_parts(weather: Weather, slow: StretchFacts) -> tuple[list[SlowPart], int]:
    """Components that are slow in such runs, and how many components these had. Raises StoreError."""
    end = slow.end_ns or slow.seen_until_ns
    runs = read_runs(weather.root, since_ns=slow.begin_ns, until_ns=end)
    mine = [run.run_id for run in runs if any(_below(row.target, slow.whole) for row in run.rows)]
    names = [*mine[-MOST_RUNS:], *stored_logs(weather.root)[-MOST_RUNS:]]
    parts, looked = [], 0
    for name in names:
        one = _located(weather, name, slow, of_target=name in mine)
        if one is None or _NONE & set(one.findings.limits):
            continue
        looked = max(looked, one.findings.counts.targets)
        parts += [_part(slow_one, name) for slow_one in one.findings.slow if _names_one(slow_one)]
    return parts, looked


def _located(weather: Weather, run: str, slow: StretchFacts, *, of_target: bool) -> Located | None:
    """None: the run has no transfers that touched the target in the stretch."""
    try:
        one = located(Source(root=weather.root, run_id=run), None, None, lambda _: None)
    except IosondeError:
        return None
    return one if _touched(one.transfers, slow, of_target=of_target) else None


def _touched(transfers: Transfers, slow: StretchFacts, *, of_target: bool) -> bool:
    begin, end = transfers.transfer_begin_ns, transfers.transfer_end_ns
    known = (begin != NULL_NS) & (end != NULL_NS)
    until = slow.end_ns or slow.seen_until_ns
    there = known & (begin < until) & (end > slow.begin_ns)
    if not there.any():
        return False
    files = np.unique(transfers.file[there]).tolist()
    return of_target or any(_below(transfers.files[file], slow.whole) for file in files)


def _below(path: str, target: str) -> bool:
    return path == target or path.startswith(target.rstrip("/") + "/")


def _names_one(slow: Slow) -> bool:
    return bool(slow.components) and slow.fault is not Fault.HOST and not slow.rivals


def _part(slow: Slow, run: str) -> SlowPart:
    effect = slow.effects[0]
    ratio = Ratio(effect.factor, effect.lower, effect.upper)
    return SlowPart(PartSource.LOCATED, " and ".join(slow.components), ratio, slow.peers, run=run)
