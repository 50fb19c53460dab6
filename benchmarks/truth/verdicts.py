"""T8-T11: alarms, events, recurrence, host or storage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth import hosts, stream, weeks
from benchmarks.truth.judge import SECOND_NS, judged, key, minutes
from benchmarks.truth.latency import Floats
from benchmarks.truth.stream import NULL, START_NS, Happening, Options, Weather
from benchmarks.truth.target import Row, share
from iosonde.analysis.events import slow_events
from iosonde.model.frames import Frame
from iosonde.stats import recurrence, scope
from iosonde.stats.detect import alarms

OPS = ("md_create", "data_read")
MINUTE_S = 60
INFINITE = float("inf")
SCENARIOS = (
    # name, seconds, factor, share, wanted within s (None: no target), prototype create | read
    ("x10 all, 60 s", 60, 10.0, 1.0, 40.0, ("1 (20 s)", "1 (30 s)")),
    ("x3 all, 10 min", 600, 3.0, 1.0, 90.0, ("1 (50 s)", ".98 (60 s)")),
    ("x10 on 30 %, 10 min", 600, 10.0, 0.3, 120.0, ("1 (50 s)", "1 (85 s)")),
    ("x2 all, 60 s", 60, 2.0, 1.0, None, (".40", ".18")),
    ("x3 all, 60 s", 60, 3.0, 1.0, None, (".97 (50 s)", ".67")),
    ("x3 on 30 %, 60 s", 60, 3.0, 0.3, None, (".02", ".02")),
    ("x10 on 30 %, 60 s", 60, 10.0, 0.3, None, (".83", ".37")),
    ("x10 on 10 %, 60 s", 60, 10.0, 0.1, None, ("0", "0")),
    ("x100 on 10 %, 60 s", 60, 100.0, 0.1, None, (".78", ".32")),
    ("x3 on 30 %, 10 min", 600, 3.0, 0.3, None, (".70", ".38")),
    ("x10 on 10 %, 10 min", 600, 10.0, 0.1, None, ("1 (210 s)", ".37")),
)


def t8(seed: int, scale: float = 1.0) -> list[Row]:
    """False alarms on null days, and how soon short and partial slowdowns are found."""
    random = np.random.default_rng(seed)
    days, cases = max(5, int(40 * scale)), max(20, int(200 * scale))
    rows = []
    for place, op in enumerate(OPS):
        learning = stream.weather(random, replace(NULL, days=14, microblips=0))
        calm = stream.latencies(random, learning, op).seconds
        numbers = judged(op, calm)[1].numbers[-1:]
        usual = float(np.median(calm))
        null = stream.weather(random, replace(NULL, days=days))
        seconds = stream.latencies(random, null, op).seconds
        raised = _raised(seconds, numbers)
        a_month = len(raised) * 30 / days
        plain = _plain_alarms(seconds, usual)
        rows.append(
            Row(
                "T8",
                f"{op}: false alarms a month ({days} d)",
                a_month,
                0,
                6,
                ("4.5", "3.8")[place],
                f"{len(plain) * 30 / days:.1f}",
                float(np.sqrt(len(raised) + 1) * 30 / days),
            )
        )
        wanted = SCENARIOS if scale >= 0.2 else SCENARIOS[:3]  # those with a target
        for name, long, factor, part, within, prototype in wanted:
            sky, begins = _cases(random, cases, long, factor, part)
            seconds = stream.latencies(random, sky, op).seconds
            found, delay = _found(_raised(seconds, numbers), begins, long)
            old, _ = _found(_plain_alarms(seconds, usual), begins, long)
            p, error = share(found, len(begins))
            label = f"{op}: {name}"
            told = f"{old / len(begins):.2f}"
            low = 0.95 if within is not None else 0.0
            rows.append(Row("T8", label, p, low, 1, prototype[place], told, error))
            if within is not None or p >= 0.5:
                most = INFINITE if within is None else within
                rows.append(Row("T8", f"{label}: median delay, s", delay, 0, most, "-", "-", 3.0))
    return rows


def _cases(
    random: np.random.Generator, n: int, long: int, factor: float, part: float
) -> tuple[Weather, NDArray[np.int64]]:
    """Ordinary load with one slowdown an hour and a half, and when each begins."""
    apart = 5_400
    days = -(-(n + 1) * apart // stream.DAY_S)
    quiet = replace(NULL, days=days, microblips=0)
    sky = stream.weather(random, quiet)
    begins = (np.arange(n) + 1) * apart + random.integers(-600, 600, n)
    factors = sky.factor.copy()
    struck = []
    for begin in begins.tolist():
        if part < 1:
            struck.append(Happening("case", begin, begin + long, factor, part))
        else:
            factors[begin : begin + long] *= factor
    return Weather(quiet, sky.load, factors, sky.change, tuple(struck)), begins


def _raised(seconds: Floats, numbers: Floats) -> NDArray[np.int64]:
    """Seconds at which the kernel raises an alarm."""
    n = len(seconds)
    due = START_NS + np.arange(n) * SECOND_NS
    service = seconds * 1e9
    nothing = np.zeros(n, bool)
    which = np.zeros(n, np.int64)
    found = alarms(due, service, service, nothing, which=which, versions=numbers)
    return np.array([(a.raised_ns - START_NS) // SECOND_NS for a in found], dtype=np.int64)


def _plain_alarms(seconds: Floats, usual: float) -> NDArray[np.int64]:
    """The seed's factor as an alarm: 60 s median >= 2 on two ticks, over after five quiet minutes."""
    windows = np.lib.stride_tricks.sliding_window_view(seconds, 60)[::10]
    slow = np.median(windows, axis=1) / usual >= 2
    both = np.flatnonzero(slow[1:] & slow[:-1]) + 1
    if len(both) == 0:
        return both
    first = np.concatenate(([True], np.diff(both) > 30))
    return np.asarray(both[first] * 10 + 60)


def _found(raised: NDArray[np.int64], begins: NDArray[np.int64], long: int) -> tuple[int, float]:
    """How many cases have an alarm of their own, and its median delay."""
    at = np.searchsorted(raised, begins, side="right")
    after = np.append(raised, np.iinfo(np.int64).max)[at] - begins
    inside = after <= long + 60
    return int(inside.sum()), float(np.median(after[inside])) if inside.any() else INFINITE


@dataclass
class _Score:
    """Events that were there and found, told and true, and by how many minutes they were off."""

    real: int = 0
    hit: int = 0
    told: int = 0
    right: int = 0
    off: list[float] = field(default_factory=list)

    def add(self, truth: Floats, found: Floats) -> None:
        """Count one stream's events."""
        self.real += len(truth)
        self.hit += int(_touched(truth, found).sum())
        self.told += len(found)
        self.right += int(_touched(found, truth).sum())
        self.off += _errors(truth, found)


def t9(seed: int, scale: float = 1.0) -> list[Row]:
    """Events of weeks without bursts: found, not invented, begin and end to the minute."""
    random = np.random.default_rng(seed)
    streams, days = (max(1, round(4 * scale)), 56) if scale >= 0.25 else (1, 21)
    rows = []
    for place, op in enumerate(OPS):
        ours, plain = _Score(), _Score()
        for _ in range(streams):
            options = Options(days=days, bursts=False, long_event=days > 40)
            sky = stream.weather(random, options)
            seconds = stream.latencies(random, sky, op).seconds
            truth = _true_spans(sky)
            ours.add(truth, _spans(_frame(op, *minutes(seconds, judged(op, seconds)[1]))))
            ratio = np.median(seconds.reshape(-1, 60), axis=1) / np.median(seconds)
            plain.add(truth, _spans(_frame(op, ratio, np.ones_like(ratio))))
        p, error = share(ours.right, max(1, ours.told))
        r, error_r = share(ours.hit, ours.real)
        late, plain_late = (float(np.quantile(s.off, 0.9)) for s in (ours, plain))
        words = (
            f"{plain.right / max(1, plain.told):.2f}",
            f"{plain.hit / plain.real:.2f}",
            f"{plain_late:.1f}",
        )
        name = f"{op}: precision ({ours.real} events)"
        rows += [
            Row("T9", name, p, 0.97, 1, _T9[place][0], words[0], error),
            Row("T9", f"{op}: recall", r, 0.97, 1, _T9[place][1], words[1], error_r),
            Row("T9", f"{op}: begin and end off, p90, min", late, 0, 2, "1", words[2], 0.5),
        ]
    return rows


_T9 = (("1.00", "1.00"), (".99", "1.00"))


def _frame(op: str, typ: Floats, tail: Floats) -> Frame:
    n = len(typ)
    name = key(op)
    return Frame(
        {
            "host": np.full(n, name.host),
            "target": np.full(n, name.target),
            "op": np.full(n, op),
            "start_ns": START_NS + np.arange(n) * MINUTE_S * SECOND_NS,
            "window_ns": np.full(n, MINUTE_S * SECOND_NS),
            "typ": typ,
            "tail": tail,
            "lost": np.zeros(n),
            "n_due": np.full(n, 60),
        }
    )


def _spans(frame: Frame) -> Floats:
    """(events, 2) begin and end in seconds."""
    spans = [(e.start_ns, e.seen_until_ns) for e in slow_events(frame)]
    return (np.array(spans, dtype=np.float64).reshape(-1, 2) - START_NS) / SECOND_NS


def _true_spans(sky: Weather) -> Floats:
    """Where every operation was at least twice as slow, with gaps up to 3 min closed."""
    slow = np.concatenate(([0], (sky.factor >= 2).astype(int), [0]))
    begin, end = np.flatnonzero(np.diff(slow) == 1), np.flatnonzero(np.diff(slow) == -1)
    apart = begin[1:] - end[:-1] > 180
    return np.stack(
        [begin[np.concatenate(([True], apart))], end[np.concatenate((apart, [True]))]], axis=1
    ).astype(np.float64)


def _touched(spans: Floats, others: Floats) -> NDArray[np.bool_]:
    """Which spans overlap some other."""
    shared = np.minimum(spans[:, None, 1], others[None, :, 1]) - np.maximum(
        spans[:, None, 0], others[None, :, 0]
    )
    return np.asarray((shared > 0).any(axis=1))


def _errors(truth: Floats, found: Floats) -> list[float]:
    """Minutes by which begin and end of events are off that are found as one."""
    off: list[float] = []
    for begin, end in truth:
        met = found[(found[:, 0] < end) & (found[:, 1] > begin)]
        if len(met) == 1:
            off += [abs(met[0, 0] - begin) / 60, abs(met[0, 1] - end) / 60]
    return off


def t10(seed: int, scale: float = 1.0) -> list[Row]:
    """A weekly backup, a weekly four hours, and nothing at all."""
    random = np.random.default_rng(seed)
    times = max(10, int(60 * scale))
    rows = []
    for name, pattern, long, low, high, prototype in (
        ("30 h backup, 4 weeks", weeks.BACKUP, 4, 0.95, 1.0, "1.00"),
        ("4 h weekly x2, 8 weeks", weeks.WEEKLY, 8, 0.9, 1.0, "1.00"),
        ("nothing, 8 weeks", None, 8, 0.0, 0.03, "0-.03"),
    ):
        found = 0
        for _ in range(times):
            hour, typ = weeks.hours(random, long, pattern)
            folded = recurrence.fold(hour, typ, weeks.WEEK_H)
            result = recurrence.recurrence(folded, _runs(typ), random)
            found += result.found and (pattern is None or _placed(result, pattern))
        p, error = share(found, times)
        rows.append(Row("T10", name, p, low, high, prototype, "-", error))
    return rows


def _runs(typ: Floats) -> Floats:
    """Hours in a row above 1.5, as events."""
    slow = np.concatenate(([0], (typ > 1.5).astype(int), [0]))
    begin, end = np.flatnonzero(np.diff(slow) == 1), np.flatnonzero(np.diff(slow) == -1)
    return np.stack([begin, end], axis=1).astype(np.float64)


def _placed(result: recurrence.Recurrence, pattern: weeks.Pattern) -> bool:
    """Whether the named time covers most of the planted one and no more than an hour beside it."""
    begin, end = pattern.start_h, pattern.start_h + pattern.hours
    return any(
        abs(phase.start_h - begin) <= 1 and abs(phase.end_h - end) <= 1 for phase in result.phases
    )


def t11(seed: int, scale: float = 1.0) -> list[Row]:
    """Three hosts: one slow client, slow storage."""
    random = np.random.default_rng(seed)
    times, each = max(40, int(400 * scale)), 10
    good = np.zeros(2, int)
    for _ in range(times):
        past, offset = hosts.history(random, 3, 2_016)
        learnt = scope.offsets(past)
        for place, slow, wanted in ((0, 0, scope.Scope.CLIENT), (1, None, scope.Scope.STORAGE)):
            got = scope.decide(hosts.windows(random, offset, each, slow), learnt)
            right = got.scope == wanted
            if slow is not None:
                right &= got.slow[:, slow] & (got.slow.sum(axis=1) == 1)
            good[place] += int(right.sum())
    rows = []
    for name, right in zip(("one slow client", "slow storage"), good.tolist(), strict=True):
        p, error = share(right, times * each)
        rows.append(Row("T11", name, p, 0.97, 1, ".99", "one host cannot tell", error))
    return rows
