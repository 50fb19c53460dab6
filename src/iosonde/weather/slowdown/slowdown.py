"""Slowdown over history: windows -> what is usual -> slowdown -> slow spans.

::

    windows of a series   [w1] [w2] [w3] [w4] [w5] [w6] ...        quantiles of service time
    usual at w6           the guarded quantile function (weather.slowdown.baseline); while that is learnt
                          the median of the medians of w1 .. w5 (weather.slowdown.young)
    slowdown              typ, tail or lost; or a statistic of the window / the usual median
    slow                  typ >= 2 and its lower end >= 1.5; median / usual where there is no typ
    span                  slow windows in a row; one that is not slow may lie between, and any
                          number of windows in which no operation ended (a hang is not a recovery);
                          windows that the probing host explains are spans of their own

Whether a window is slow is always judged on the typical operation, whatever statistic is shown: the
tail of a distribution lies above its median on the best of days.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.engine.contract import (
    HOST_COLUMNS,
    INTERVAL_NS,
    LEVEL_COLUMNS,
    SERIES_KEY,
    WINDOW_COLUMNS,
)
from iosonde.model.errors import UsageError
from iosonde.model.frames import (
    Frame,
    SeriesKey,
    SlowdownQuery,
    SlowdownResult,
    Usual,
    WindowTable,
)
from iosonde.model.ops import OPS, STATISTICS, TRIPLE, op_order
from iosonde.weather.samples.windows import LATE_Q90, UNQUEUED
from iosonde.weather.slowdown import rules as verdict
from iosonde.weather.slowdown.baseline import LearntBaselines, against, learn
from iosonde.weather.slowdown.losses import late_spans, lost_spans
from iosonde.weather.slowdown.runs import runs_of
from iosonde.weather.slowdown.spans import spans_of, tags
from iosonde.weather.slowdown.trailing import trailing_median
from iosonde.weather.slowdown.young import with_young
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats


_JUDGED_ON = ("q50_ns", "q50_lower_ns", "q50_upper_ns")
CONTROLS = (*UNQUEUED, "late_q50_ns")
"""What the probing host did to a window: asked for the slow ones only, which are few."""
HOST_LATE = ("host_late_q50_ns", "host_late_q90_ns")
"""The same of all operations of the target together: how contended its CPUs were."""
_COMPARED = ("middle_ns", "control_ns", "bimodal")
"""What these are compared with."""


def analyse(
    store: Store,
    query: SlowdownQuery,
    *,
    everything: bool = False,
    known: LearntBaselines | None = None,
) -> SlowdownResult:
    """Windows of [since, until) with their slowdown, slow spans, and what is usual per series.

    Added columns: ``baseline_ns slowdown slowdown_lower slowdown_upper slow host_busy``, and those
    of ``weather.slowdown.baseline.against``. A baseline knows what came before ``since``. Slowdowns are NaN
    while nothing is known, when the window has too few samples for the statistic, and (the interval)
    for mean and max. ``everything`` keeps all columns of windows.toml; without it only those that
    the answer needs are computed. ``known``: what ``baseline.learn`` gives for the query, if that is at hand.
    Raises UsageError, StoreError.
    """
    known = known or learned(store, query)
    windows = judged_windows(store, query, known, everything=everything)
    since = query.since_ns
    shown = windows if since is None else windows.take(_in_range(windows, since))
    runs = list(runs_of(windows, since))
    mine = {key for key, _ in windows.series()}
    changes = [
        change
        for change in known.changes
        if change.key in mine and (since is None or change.began_ns >= since)
    ]
    spans, usual = spans_of(store, windows, runs), _usual(windows, shown)
    return SlowdownResult(query, shown, spans, usual, changes, lost_spans(shown), late_spans(shown))


def learned(store: Store, query: SlowdownQuery) -> LearntBaselines:
    """What was usual of the series of a query until its end. Raises StoreError."""
    scope: Any = {"host": query.host, "target": query.target, "ops": query.ops}
    return learn(store, query.choice, **scope, until_ns=query.until_ns)


def judged_windows(
    store: Store, query: SlowdownQuery, known: LearntBaselines, *, everything: bool = False
) -> WindowTable:
    """Windows of a query and of ``trailing_ns`` before it, against ``known``, as ``analyse`` adds columns.

    Raises UsageError, StoreError.
    """
    columns = statistic_columns(query.statistic)
    if query.trailing_ns <= 0:
        raise UsageError("the baseline looks back 0 s", expected="a baseline above 0")
    since = query.since_ns
    rolled = query.rolled and query.window_ns % INTERVAL_NS == 0
    windows = (store.rolled_windows if rolled else store.windows)(
        query.window_ns,
        host=query.host,
        target=query.target,
        ops=query.ops,
        since_ns=None if since is None else since - query.trailing_ns,
        until_ns=query.until_ns,
        statistics=[*_JUDGED_ON, *filter(None, columns), *(WINDOW_COLUMNS if everything else ())],
        levels=True,
    )
    windows = add_slowdown(windows, columns, query.trailing_ns)
    if query.choice.kind != "sliding":
        windows = with_young(windows, known, query.trailing_ns)
    windows = in_op_order(judged(windows, known, query.statistic))
    return with_host_busy(windows.with_columns(controls(store, windows)))


def judged(windows: WindowTable, known: LearntBaselines, statistic: str) -> WindowTable:
    """Windows that ``add_slowdown`` compared, against what is known; without the block of levels but for
    what the host made late.

    ``with_host_busy`` comes next.
    """
    found = against(windows, known)
    usual = np.asarray(found.pop("usual_ns"), dtype=np.float64)
    learnt = ~np.isnan(usual)
    baseline = np.where(learnt, usual, windows["baseline_ns"])
    names = ("slowdown", "slowdown_lower", "slowdown_upper")
    nothing = np.full(len(windows), np.nan)
    columns = [nothing if name is None else windows[name] for name in statistic_columns(statistic)]
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # of a latency of nothing there is no ratio
        factors = {name: column / baseline for name, column in zip(names, columns, strict=True)}
    if statistic in TRIPLE:
        for name, end in zip(names, ("", "_lower", "_upper"), strict=True):
            own = np.asarray(found[statistic + end], dtype=np.float64)
            stands_in = np.isnan(found["typ"]) & (statistic == "typ")
            factors[name] = np.where(stands_in, factors[name], own)
    typ, lower = (np.asarray(found[name], dtype=np.float64) for name in ("typ", "typ_lower"))
    by_typ = verdict.slow(typ, lower, np.ones(len(typ)))
    slow = np.where(np.isnan(typ), _by_median(windows, baseline, learnt), by_typ)
    added = {"baseline_ns": baseline, **factors, "slow": slow, **found}
    gone = {*LEVEL_COLUMNS, "young_error"} - set(HOST_COLUMNS)
    kept = [name for name in windows.columns if name not in gone]
    return Frame({name: windows[name] for name in kept}).with_columns(added)


def _by_median(windows: WindowTable, baseline: Floats, learnt: Flags) -> Flags:
    """Which windows are slow by their median; a young baseline knows how much its windows vary."""
    slow = verdict.slow(windows["q50_ns"], windows["q50_lower_ns"], baseline)
    if "young_error" not in windows:
        return slow
    value, lower, upper = (windows[name] / baseline for name in _JUDGED_ON)
    young = verdict.young_slow(value, lower, upper, windows["young_error"])
    return np.where(learnt, slow, young)


def statistic_columns(statistic: str) -> tuple[str, str | None, str | None]:
    """Columns of a statistic and of its interval; mean and max have none. Raises UsageError.

    For typ, tail and lost those of the median, which stands in for typ while the baseline learns.
    """
    if statistic not in STATISTICS:
        raise UsageError(
            f"there is no statistic {statistic!r}", expected="one of " + ", ".join(STATISTICS)
        )
    name = "q50" if statistic in ("median", *TRIPLE) else statistic
    if name in ("mean", "max"):
        return f"{name}_ns", None, None
    return f"{name}_ns", f"{name}_lower_ns", f"{name}_upper_ns"


def in_op_order(windows: WindowTable) -> WindowTable:
    """Sorted by host, target, op (in the order of ``OPS``), period and start."""
    parts = sorted(windows.series(), key=lambda part: (*part[0][:2], op_order(part[0].op), part[0]))
    rows = [np.arange(where.start, where.stop) for _, where in parts]
    return windows.take(np.concatenate(rows)) if rows else windows


def add_slowdown(
    windows: WindowTable, columns: tuple[str, str | None, str | None], trailing_ns: int
) -> WindowTable:
    """``windows`` with baseline, slowdown and whether they are slow.

    Needs whole series, sorted by start.
    """
    baseline = np.full(len(windows), np.nan)
    for _, rows in windows.series():
        baseline[rows] = trailing_median(
            windows["start_ns"][rows], windows["q50_ns"][rows], trailing_ns
        )
    baseline = np.where(baseline > 0, baseline, np.nan)
    nothing = np.full(len(windows), np.nan)
    value, lower, upper = (nothing if name is None else windows[name] for name in columns)
    slow = verdict.slow(windows["q50_ns"], windows["q50_lower_ns"], baseline)
    return windows.with_columns(
        {
            "baseline_ns": baseline,
            "slowdown": value / baseline,
            "slowdown_lower": lower / baseline,
            "slowdown_upper": upper / baseline,
            "slow": slow,
        }
    )


def controls(store: Store, windows: WindowTable) -> dict[str, Floats]:
    """The columns ``CONTROLS`` and ``HOST_LATE`` of the slow windows, from their samples; NaN for the others.

    Raises StoreError.
    """
    columns = {name: np.full(len(windows), np.nan) for name in CONTROLS}
    slow = np.flatnonzero(windows["slow"])
    columns |= host_lateness(store, windows)
    if len(slow) > 0:
        found = store.pooled(
            tags(windows, [(row, row) for row in slow.tolist()]),
            int(windows["window_ns"][0]),
            CONTROLS,
        )
        for name in CONTROLS:
            columns[name][slow[found["tag"]]] = found[name]
    return columns


def host_lateness(store: Store, windows: WindowTable) -> dict[str, Floats]:
    """How late the host woke the probe for all operations of the target in the slow windows: ``HOST_LATE``; else NaN.

    Raises StoreError.
    """
    columns = {name: np.full(len(windows), np.nan) for name in HOST_LATE}
    slow = np.flatnonzero(windows["slow"])
    if len(slow) == 0:
        return columns
    rows = np.repeat(slow, len(OPS))
    keys = {name: windows[name][rows] for name in (*SERIES_KEY, "start_ns")}
    of_all = {
        **keys,
        "op": np.tile(np.array(OPS, dtype=object), len(slow)),
        "tag": np.repeat(np.arange(len(slow)), len(OPS)),
    }
    statistics = ("late_q50_ns", LATE_Q90)
    found = store.pooled(of_all, int(windows["window_ns"][0]), statistics)
    for name, statistic in zip(HOST_LATE, statistics, strict=True):
        columns[name][slow[found["tag"]]] = found[statistic]
    return columns


def with_host_busy(windows: WindowTable) -> WindowTable:
    """``judged`` windows with ``CONTROLS`` and ``HOST_LATE``: adds whether the probing host explains a slow one."""
    median, baseline = windows["q50_ns"], windows["baseline_ns"]
    learnt, bimodal = ~np.isnan(windows["typ"]), windows["bimodal"]
    slowdown = np.where(learnt, windows["typ"], median / baseline)
    level = np.where(np.isnan(windows["control_ns"]), median, windows["control_ns"])
    plain, uncached = (windows[name] for name in UNQUEUED)
    unqueued = slowdown * np.where(bimodal, uncached, plain) / level
    middle = np.where(learnt, windows["middle_ns"], baseline)
    host = (windows[HOST_LATE[0]], windows[HOST_LATE[1]])
    busy = verdict.host_busy(slowdown, unqueued, windows["late_q50_ns"], middle, host)
    gone = (*_COMPARED, *UNQUEUED, *HOST_LATE)
    kept = {n: c for n, c in windows.columns.items() if n not in gone}
    return Frame(kept).with_columns({"host_busy": windows["slow"] & busy})


def _in_range(windows: WindowTable, since_ns: int) -> Flags:
    reached: Flags = windows["start_ns"] + windows["window_ns"] > since_ns
    return reached


def _usual(windows: WindowTable, shown: Frame) -> list[Usual]:
    """The latest baseline of every series, and how the windows shown compare to theirs."""
    inside = dict(shown.series())
    return [
        _summary(key, windows["baseline_ns"][rows], shown.take(inside.get(key, slice(0))))
        for key, rows in windows.series()
    ]


def _summary(key: SeriesKey, baselines: Floats, shown: Frame) -> Usual:
    known = baselines[~np.isnan(baselines)]
    slow, busy = shown["slow"], shown["host_busy"]
    found = np.flatnonzero(~np.isnan(shown["slowdown"]) & ~busy)
    last = found[-1] if len(found) else None
    peak = found[np.argmax(shown["slowdown"][found])] if len(found) else None
    interval = ("slowdown", "slowdown_lower", "slowdown_upper")
    values = [None if last is None else float(shown[name][last]) for name in interval]
    point, lower, upper = (None if v is None or np.isnan(v) else v for v in values)
    return Usual(
        key,
        baseline_ns=float(known[-1]) if len(known) else None,
        windows=int(np.count_nonzero(~np.isnan(shown["q50_ns"]))),
        slow_windows=int(np.count_nonzero(slow & ~busy)),
        busy_windows=int(np.count_nonzero(busy)),
        n_due=int(shown["n_due"].sum()),
        n=int(shown["n_seen"].sum()),
        last=(point, lower, upper),
        peak=None if peak is None else float(shown["slowdown"][peak]),
        peak_ns=None if peak is None else int(shown["start_ns"][peak]),
    )
