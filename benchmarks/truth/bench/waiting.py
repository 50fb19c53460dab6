"""T19, T20 and the verdict of adaptive mode: who is the limit, and what the servers can do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.truth.bench import simulated
from benchmarks.truth.target import Row, share
from benchmarks.truth.weather.latency import Floats
from iosonde.bench.adaptive.rates import LEVELS, Rates
from iosonde.bench.adaptive.verdict import EXTENDED, FEWEST, MARGIN, RateTrend, judge
from iosonde.queue.capacity import Capacity, Estimate, capacity
from iosonde.queue.closed_network import Network

NOISE, DRIFT = 0.05, 0.02
"""Coefficient of variation of a measurement, and the step of a random walk from one to the next."""


@dataclass(frozen=True)
class _System:
    """A row of the table: rates without waits and at T = 4, and what follows from them (ms for ``unloaded``)."""

    name: str
    clients: int
    rates: tuple[float, float]
    verdict: RateTrend
    max_per_s: float
    unloaded: tuple[float, ...]
    saturating: float


SYSTEMS = (
    _System("DKRZ", 100, (2380, 2220), RateTrend.SIMILAR, 2380, (42, 45), 100),
    _System("Cooley GPFS", 100, (5640, 8300), RateTrend.INCREASES, 5640, (12.0,), 68),
    _System("Düsseldorf Lustre", 80, (12600, 30700), RateTrend.INCREASES, 12600, (2.5,), 32),
    _System("Düsseldorf IME", 80, (1550, 4460), RateTrend.INCREASES, 1550, (17.1,), 27),
    _System("KAUST 1 BB", 100, (3390, 14600), RateTrend.INCREASES, 3390, (5.5,), 19),
    _System("KAUST 8 BB", 100, (8190, 32000), RateTrend.INCREASES, 8190, (2.7,), 23),
    _System("NERSC 8 BB", 100, (8560, 35100), RateTrend.INCREASES, 8560, (2.4,), 21),
)
"""Published rates of md-workbench (Kunkel and Markomanolis 2018) and what the reference makes of them."""


def t19(seed: int, scale: float = 1.0) -> list[Row]:
    """Seven systems, two rates each: nothing is random here."""
    del seed, scale
    rows, right, most = [], 0, 0.0
    for system in SYSTEMS:
        run = Rates(np.array([0.0, 4.0]), np.array([0.0, 4.0]), np.array([system.rates]))
        verdict = judge(run)
        right += verdict.leaning is system.verdict and verdict.plausible
        most = max(most, verdict.change.ratio)
        known = capacity(run.level, run.corrected_per_s, system.clients)
        rows += _printed(system, known)
    return [
        Row("T19", "verdicts of 7", right, 7, 7, "7", "-"),
        Row("T19", "largest ratio, bound 1 + T", most, 0, 5, "4.31", "-"),
        *rows,
    ]


def _printed(system: _System, known: Capacity) -> list[Row]:
    """Each figure over the printed one."""
    response = known.unloaded_s
    found = [("X_max", _best(known.max_per_s), system.max_per_s)]
    if len(system.unloaded) == 2:
        low, high = system.unloaded
        found += [("R0 from", response.lower, low / 1e3), ("R0 to", response.upper, high / 1e3)]
    else:
        found += [("R0", response.value, system.unloaded[0] / 1e3)]
    found += [("N*", _best(known.saturating_clients), system.saturating)]
    return [
        Row(
            "T19",
            f"{system.name}: {name} / printed",
            (value or np.nan) / wanted,
            0.97,
            1.03,
            "1",
            "-",
        )
        for name, value, wanted in found
    ]


def _best(number: Estimate) -> float | None:
    """The number, or the bound below it."""
    return number.lower if number.value is None else number.value


def t20(seed: int, scale: float = 1.0) -> list[Row]:
    """Fits to three measurements with 5% noise, ratios 1.4 to 3.6: medians of six runs each."""
    rows = []
    systems = ((100, 70.0), (100, 50.0), (100, 30.0), (20, 10.0))
    for clients, saturating in systems[: max(1, round(len(systems) * scale))]:
        network = Network(clients, 177e-6, (saturating - 1) * 177e-6)
        made = simulated.runs(
            seed,
            6,
            clients=clients,
            service_us=network.service_s * 1e6,
            delay_us=network.delay_s * 1e6,
            measurements=3,
            noise=NOISE,
        )
        found = [capacity(run.measured, run.corrected_per_s, clients) for run in made]
        ratio = float(
            np.median([run.corrected_per_s[:, -1] / run.corrected_per_s[:, 0] for run in made])
        )
        name = f"N {clients}, N* {saturating:g}, ratio {ratio:.2f}"
        for word, what, near, prototype in (
            ("X_max", "max_per_s", 0.05, "±3%"),
            ("R0", "unloaded_s", 0.10, "±5%"),
            ("N*", "saturating_clients", 0.10, "±5%"),
        ):
            off = [(getattr(one, what).value or np.nan) / getattr(network, what) for one in found]
            error = float(np.std(off, ddof=1)) * 1.25 / len(off) ** 0.5
            median = float(np.median(off))
            rows.append(
                Row(
                    "T20",
                    f"{name}: {word} / true",
                    median,
                    1 - near,
                    1 + near,
                    prototype,
                    "-",
                    error,
                )
            )
    return rows


@dataclass
class _Tally:
    """Verdicts of one kind of store."""

    n: int = 0
    right: int = 0
    wrong: int = 0
    plain: int = 0
    measurements: list[int] = field(default_factory=list)

    def add(self, run: Rates, truth: RateTrend) -> None:
        """Judge after five measurements, and after eight if that was not enough."""
        verdict, used = judge(simulated.first(run, FEWEST)), FEWEST
        if verdict.trend is RateTrend.INCONCLUSIVE:
            verdict, used = judge(simulated.first(run, EXTENDED)), EXTENDED
        self.n += 1
        self.right += verdict.trend is truth
        self.wrong += verdict.trend not in (truth, RateTrend.INCONCLUSIVE)
        self.plain += _plain(run) is truth
        self.measurements.append(used)


def _plain(run: Rates) -> RateTrend:
    """What the two ends of one measurement would say."""
    ratio = run.corrected_per_s[0, -1] / run.corrected_per_s[0, 0]
    if ratio > MARGIN:
        return RateTrend.INCREASES
    return RateTrend.DECREASES if ratio < 1 / MARGIN else RateTrend.SIMILAR


def adaptive(seed: int, scale: float = 1.0) -> list[Row]:
    """A hundred stores of each kind, each with clients, service time and delay of its own."""
    random = np.random.default_rng(seed)
    times, rows = max(4, round(100 * scale)), []
    for place, (name, truth) in enumerate(
        (
            ("clients", RateTrend.SIMILAR),
            ("servers", RateTrend.INCREASES),
            ("background work", RateTrend.DECREASES),
        )
    ):
        tally = _Tally()
        for number in range(times):
            (run,) = simulated.runs(
                1_000_000 * seed + 10_000 * place + number,
                **_store(random, truth),
                measurements=EXTENDED,
                noise=NOISE,
                drift=DRIFT,
            )
            tally.add(run, truth)
        right, right_error = share(tally.right, times)
        wrong, wrong_error = share(tally.wrong, times)
        plain = f"{tally.plain / times:.2f}"
        what = f"{name} ({times}x, {np.mean(tally.measurements):.1f} measurements)"
        rows += [
            Row("adaptive", f"{what}: right", right, 0.95, 1, "-", plain, right_error),
            Row(
                "adaptive",
                f"{name}: wrong",
                wrong,
                0,
                0.04,
                "-",
                f"{1 - tally.plain / times:.2f}",
                wrong_error,
            ),
        ]
    return rows


def noise(seed: int, scale: float = 1.0) -> list[Row]:
    """The same rule on curves of the model with more and more noise: what it costs in measurements and errors."""
    random = np.random.default_rng(seed)
    times, factors = max(50, round(2_000 * scale)), np.array(LEVELS)
    rows = []
    for name, truth, shape in (
        ("ratio 1.0", RateTrend.SIMILAR, np.zeros(len(factors))),
        ("ratio 1.3", RateTrend.INCREASES, _rising(factors, 76.7)),
        ("dip to 0.65", RateTrend.DECREASES, np.log(_DIP / _DIP[0])),
    ):
        for cv in (0.03, 0.05, 0.08, 0.15):
            tally = _Tally()
            for _ in range(times):
                logs = shape + cv * random.standard_normal((EXTENDED, len(factors)))
                tally.add(Rates(factors, factors, np.exp(logs)), truth)
            right, right_error = share(tally.right, times)
            wrong, wrong_error = share(tally.wrong, times)
            plain = tally.plain / times
            what = f"{name}, cv {cv:.0%}, {np.mean(tally.measurements):.1f} measurements"
            rows += [
                Row(
                    "noise",
                    f"{what}: right",
                    right,
                    0,
                    float("inf"),
                    "-",
                    f"{plain:.2f}",
                    right_error,
                ),
                Row(
                    "noise", f"{what}: wrong", wrong, 0, 0.08, "-", f"{1 - plain:.2f}", wrong_error
                ),
            ]
    return rows


_DIP = np.array([7_070, 6_260, 5_460, 4_703, 5_024, 6_036, 6_060, 6_187.0])
"""Rates of the simulated store with background work."""


def _rising(factors: Floats, saturating: float) -> Floats:
    """Logarithms of rates over that without waits, of 100 clients where so many would saturate."""
    network = Network(100, 1e-3, (saturating - 1) * 1e-3)
    return np.log(network.corrected_per_s(factors) / network.corrected_per_s(0.0))


def _store(random: np.random.Generator, truth: RateTrend) -> dict[str, float]:
    """A store whose limit is known. Saturating clients N* lie well above or below the clients."""
    if truth is RateTrend.DECREASES:
        # Tuned to fall as measured: 7 191 per s without waits, 4 665 at T = 1/4, 6 181 at T = 4.
        return {"clients": 10, "service_us": 105, "delay_us": 526, "background_us": 2_000}
    clients = int(random.integers(16, 129))
    low, high = (3.0, 10.0) if truth is RateTrend.SIMILAR else (0.2, 0.6)
    saturating = clients * float(np.exp(random.uniform(np.log(low), np.log(high))))
    service_us = float(np.exp(random.uniform(np.log(20), np.log(2_000))))
    return {"clients": clients, "service_us": service_us, "delay_us": (saturating - 1) * service_us}
