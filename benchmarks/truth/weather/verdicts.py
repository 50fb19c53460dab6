"""T9-T11: events, recurrence, host or storage."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather import stream, weeks
from benchmarks.truth.weather.judge import SECOND_NS, judged, key, minutes
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import START_NS, Options, Weather
from iosonde.model.frames import Frame
from iosonde.weather.events import recurrence_test as recurrence
from iosonde.weather.events import scope_test as scope
from iosonde.weather.events.events import slow_events

OPS = ("md_create", "data_read")
MINUTE_S = 60
HOST_SLOW = 3.0


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
            ours.add(truth, spans(op, *minutes(seconds, judged(op, seconds)[1])))
            ratio = np.median(seconds.reshape(-1, 60), axis=1) / np.median(seconds)
            plain.add(truth, spans(op, ratio, np.ones_like(ratio)))
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


def spans(op: str, typ: Floats, tail: Floats) -> Floats:
    """(events, 2) begin and end, in seconds, of the events in minutes of typ and tail."""
    found = [(e.start_ns, e.seen_until_ns) for e in slow_events(_frame(op, typ, tail))]
    return (np.array(found, dtype=np.float64).reshape(-1, 2) - START_NS) / SECOND_NS


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
        found, n = 0, times if pattern is not None else 3 * times
        for _ in range(n):
            hour, typ = weeks.hours(random, long, pattern)
            folded = recurrence.fold(hour, typ, weeks.WEEK_H)
            result = recurrence.recurrence(folded, _runs(typ), random)
            found += result.found and (pattern is None or _placed(result, pattern))
        p, error = share(found, n)
        rows.append(Row("T10", f"{name} ({n}x)", p, low, high, prototype, "-", error))
    return rows


def _runs(typ: Floats) -> Floats:
    """Hours in a row above 1.5, as events."""
    slow = np.concatenate(([0], (typ > 1.5).astype(int), [0]))
    begin, end = np.flatnonzero(np.diff(slow) == 1), np.flatnonzero(np.diff(slow) == -1)
    return np.stack([begin, end], axis=1).astype(np.float64)


def _placed(result: recurrence.RecurrenceTest, pattern: weeks.Pattern) -> bool:
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
        past, offset = _host_history(random, 3, 2_016)
        learnt = scope.offsets(past)
        for place, slow, wanted in (
            (0, 0, scope.WindowScope.CLIENT),
            (1, None, scope.WindowScope.STORAGE),
        ):
            got = scope.decide(_host_windows(random, offset, each, slow), learnt)
            right = got.scope == wanted
            if slow is not None:
                right &= got.slow[:, slow] & (got.slow.sum(axis=1) == 1)
            good[place] += int(right.sum())
    rows = []
    for name, right in zip(("one slow client", "slow storage"), good.tolist(), strict=True):
        p, error = share(right, times * each)
        rows.append(Row("T11", name, p, 0.97, 1, ".99", "one host cannot tell", error))
    return rows


def _host_history(random: np.random.Generator, hosts: int, windows: int) -> tuple[Floats, Floats]:
    """(windows, hosts) slowdowns of ordinary time, and the true offset of each host (log)."""
    offset = random.normal(0, 0.15, hosts)
    return np.exp(offset + _noise(random, windows, hosts)), offset


def _host_windows(
    random: np.random.Generator, offset: Floats, n: int, slow_host: int | None = None
) -> Floats:
    """(n, hosts) slowdowns in which one host, or with None all of them, are slow."""
    log = offset + _noise(random, n, len(offset))
    if slow_host is None:
        log += np.log(HOST_SLOW)
    else:
        log[:, slow_host] += np.log(HOST_SLOW)
    return np.exp(log)


def _noise(random: np.random.Generator, n: int, hosts: int) -> Floats:
    """What hosts see each for themselves, and what they share."""
    return 0.07 * random.standard_normal((n, hosts)) + 0.15 * random.standard_normal((n, 1))
