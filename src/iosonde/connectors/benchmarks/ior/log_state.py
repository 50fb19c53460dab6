"""State of one test while IOR's log is read, completed by the summary at the end of the log."""

from __future__ import annotations

from iosonde.connectors.benchmarks.ior.found import IorRun, PhaseTimes
from iosonde.connectors.benchmarks.ior.phase_data import Result
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.benchmarks.ior.timers import Timers
from iosonde.model.frames import NULL_NS


class LogTest:
    """Parsed values of one test."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.number: int | None = None
        self.timers = Timers()
        self.results: list[Result] = []
        self.best: dict[str, float] = {}
        self.began: int | None = None
        self.commenced: dict[tuple[str, int], int] = {}
        self.summary: dict[str, dict[str, float]] = {}

    @property
    def anything(self) -> bool:
        """True if the test has any measurement."""
        return bool(self.results or self.timers.found or self.best or self.summary)


def complete(test: LogTest) -> None:
    """Complete results from the summary at the end of a log; add results found only there."""
    setup, ended = test.setup, {(r.access, r.repetition) for r in test.results}
    for access, repetition in test.timers.found:
        if (access, repetition) not in ended:
            ended.add((access, repetition))
            test.results.append(Result(access, repetition, ended=False))
    for access in dict.fromkeys([*test.summary, *test.best]):
        own = [result for result in test.results if result.access == access]
        said = test.summary.get(access, {})
        if not own:
            bw = said.get("max_mib", test.best.get(access))
            note = {"best_of_repetitions": setup.get("repetitions")}
            single = setup.get("repetitions") in (None, 1)
            own = [Result(access, 0, bw_mib=bw, reported={} if single else note)]
            test.results += own
        _from_summary(own, said, single=setup.get("repetitions") in (None, 1))
    for result in test.results:
        when = test.commenced.get((result.access, result.repetition))
        result.began_ns = when if when is not None else result.began_ns


def _from_summary(own: list[Result], said: dict[str, float], *, single: bool) -> None:
    """Take values that the summary of all tests gives more exactly than the rows."""
    if len(own) != 1 or not single or not said:
        return
    result = own[0]
    mean = said.get("mean_s")
    if mean and (result.total_s is None or abs(mean / result.total_s - 1) < 0.01):
        result.total_s = mean
        result.exact = True
    if result.bytes is None and (moved := said.get("aggs(MiB)")) is not None:
        result.reported["moved_mib"] = moved
    result.wall.seconds = said.get("Stonewall(s)", result.wall.seconds)
    result.wall.mean_mib_per_s = said.get("Stonewall(MiB)")


def from_timers(result: Result, phase: PhaseTimes, run: IorRun) -> None:
    """Start and duration of a phase from the ranks' timers, to the microsecond."""
    known = phase.instants != NULL_NS
    if known[:, 0].any():
        result.began_ns = int(phase.instants[:, 0][known[:, 0]].min())
    if not known.all():
        return
    total = float(phase.instants[:, 5].max() - phase.instants[:, 0].min()) / 1e9
    apart = abs(total / result.total_s - 1) if result.total_s else None
    if phase.skew_ns:
        # IOR takes the difference of two ranks' clocks for time.
        result.reported["clock_skew_s"] = phase.skew_ns / 1e9
        result.reported["flags"] = ["clock-skew"]
        result.reported["total_s"] = result.total_s
        what = f"{result.access} {result.repetition}: clocks of ranks differ by "
        run.remarks.append(f"{what}{phase.skew_ns / 1e9:.3g} s; times count from each rank's begin")
    elif apart is not None and apart > 0.01 + 0.005 / (result.total_s or 1):
        return
    result.total_s = total
    transfer = phase.instants[:, 3].max() - phase.instants[:, 2].min()
    result.transfer_s = float(transfer) / 1e9
    result.exact = True
