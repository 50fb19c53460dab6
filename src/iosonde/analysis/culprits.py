"""Why a job was slow, without an expert: which metrics stood out, and what history says of each.

Two questions are asked of the runs of the same kind (file system and motif). Of today: what stood out on the bad
side, and what did runs with such a value lose (``stats.suspects``)? Of history: what goes with performance at all
(``stats.forward``, ``stats.association``)? Metrics that the job itself moves are taken out first (leakage).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from iosonde.analysis.umami import History, find_run, history_of
from iosonde.model.job_metrics import JOB_METRICS, About
from iosonde.model.jobs import JobTable
from iosonde.stats.association import Associations, associations
from iosonde.stats.forward import Selection, select
from iosonde.stats.midranks import midranks
from iosonde.stats.standing import Stood, stand
from iosonde.stats.suspects import suspects

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAKS = 0.6
"""A metric whose rank correlation with what the job itself did is above this is not asked who did it."""
FEWEST_FOR_LEAK = 8
PERFORMANCE = ("performance_bytes_per_s", "performance_ops_per_s", "fraction_of_peak_ratio")
"""What can be explained: the first that the run has."""
_EXTENSIVE = ("operations", "bytes", "node hours")
"""Units of what adds up while a job runs: a slow job has more of it because it is slow."""
_FLOORS = {"percent": 1.0, "ratio": 0.01, "operations": 1.0, "operations/s": 0.1, "hops": 0.1}
Tag = Literal["cause", "effect", "climate"]


@dataclass(frozen=True)
class Candidate:
    """A metric that may be the reason, as it was judged."""

    metric: str
    about: About
    stood: Stood
    usual: float
    """Median of the history."""
    z: float
    loss: float
    """Share of the usual performance that runs with such a value lost; NaN if there was none."""
    matches: int
    score: float
    rho: float
    """Spearman with performance over history and this run, in the metric's own direction."""
    p: float
    q: float
    n: int
    n_eff: float
    leak: str = ""
    """Why it is greyed: what of the job's own doing it follows; "" if it is not."""
    flags: tuple[str, ...] = ()
    """Of ``model.quality.QUALITY``, of the run's value."""

    @property
    def tag(self) -> Tag:
        """Whether it can slow a job, or is moved by it, or changes over weeks."""
        role = self.about.role
        return "climate" if role == "climate" else "effect" if role == "effect" else "cause"


@dataclass(frozen=True)
class Explanation:
    """What a job's slowness came with. ``candidates``: suspects first, by score; then the others by name."""

    job_id: str
    step: str
    file_system: str
    motif: str
    measure: str
    """Name of the performance."""
    performance: Stood
    usual: float
    others: int
    candidates: tuple[Candidate, ...]
    picks: tuple[tuple[str, float, int, str], ...]
    """What history's performance goes with, in order: metric, share of variance of ranks, sign, shape."""
    notes: tuple[str, ...] = ()

    @property
    def loss(self) -> float:
        """Share of the usual performance that is missing; negative for a fast run."""
        return (
            float((self.usual - self.performance.value) / self.usual)
            if self.usual > 0
            else float("nan")
        )

    @property
    def suspects(self) -> tuple[Candidate, ...]:
        """What stood out on the bad side and is not greyed, most suspect first."""
        return tuple(c for c in self.candidates if c.score > 0 and not c.leak)


def explain(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    history: History = "earlier",
    last: int | None = None,
) -> Explanation:
    """Explain a run of ``table``. Raises UsageError: no such job, several runs."""
    row = find_run(table, job_id, step)
    others, notes = history_of(table, row, history)
    others = others if last is None else others[-last:]
    measure = _measure(table, row)
    y = table.metrics.get(measure, np.full(len(table), np.nan))
    rows = np.append(others, row)
    columns = candidates(table)
    names = [
        n for n in columns if np.isfinite(columns[n][row]) or np.isfinite(columns[n][others]).any()
    ]
    x = np.column_stack([columns[n] for n in names]) if names else np.empty((len(table), 0))
    abouts = [_about(table, name) for name in names]
    signs = np.array([{"high": -1.0, "low": 1.0}.get(a.good or "", 0.0) for a in abouts])
    floors = np.array([_FLOORS.get(a.unit, 0.0) for a in abouts])
    strange = [
        name for name in table.metrics if name not in JOB_METRICS and name not in table.abouts
    ]
    if strange:
        told = f"{len(strange)} columns that nobody has described are not judged: {', '.join(strange[:3])}"
        notes = (*notes, f"{told}{' ...' if len(strange) > 3 else ''} (--mapping describes them)")
    found = suspects(y[others], x[others], x[row], signs, floors)
    order = rows[np.argsort(table.start_ns[rows], kind="stable")]
    tested = associations(y[order], x[order])
    leaks = _leaks(table, order, names, x[order], abouts)
    made = [
        Candidate(
            name,
            abouts[i],
            stand(x[others, i], float(x[row, i]), abouts[i].good),
            float(found.usual[i]),
            float(found.z[i]),
            float(found.loss[i]),
            int(found.matches[i]),
            float(np.nan_to_num(found.score[i])),
            *_tested(tested, i),
            leaks[i],
            table.flags.get((row, name), ()),
        )
        for i, name in enumerate(names)
    ]
    made.sort(key=lambda one: (bool(one.leak), -one.score, one.metric))
    return Explanation(
        job_id=str(table.job_id[row]),
        step=str(table.step[row]),
        file_system=str(table.file_system[row]),
        motif=str(table.motif[row]),
        measure=measure,
        performance=stand(y[others], float(y[row]), "high"),
        usual=float(np.nanmedian(y[others])) if np.isfinite(y[others]).any() else float("nan"),
        others=len(others),
        candidates=tuple(made),
        picks=_picks(select(y[order], _unleaked(x[order], leaks)), names),
        notes=notes,
    )


def _measure(table: JobTable, row: int) -> str:
    """Which performance a run has; the first one where it has none."""
    known = (n for n in PERFORMANCE if n in table.metrics and np.isfinite(table.metrics[n][row]))
    return next(known, PERFORMANCE[0])


def judged(table: JobTable) -> JobTable:
    """The table with the metrics as they are judged: rates beside what adds up."""
    more = candidates(table)
    abouts = {name: _about(table, name) for name in more if name not in table.abouts}
    return replace(table.with_metrics(more), abouts={**abouts, **table.abouts})


def candidates(table: JobTable) -> dict[str, Floats]:
    """What can be asked who did it: no own doing, nothing undescribed, and rates of what adds up while a job runs.

    A column that neither ``model.job_metrics`` nor the table describes may be an id. Of a metric that the table
    also has as a rate only the rate is kept. Shapes (n,), missing is NaN.
    """
    seconds = table.duration_s()
    with np.errstate(divide="ignore", invalid="ignore"):
        found: dict[str, Floats] = {}
        for name, column in table.metrics.items():
            about = table.about(name)
            if about.role in ("performance", "own") or name == "duration_s":
                continue
            if name not in JOB_METRICS and name not in table.abouts:
                continue
            if about.unit in ("operations", "bytes"):
                if f"{name}_per_s" not in table.metrics:
                    rate = column / seconds
                    found[f"{name}_per_s"] = np.where(np.isfinite(rate), rate, np.nan)
                continue
            found[name] = column
    return _without_mirrors(found)


def _without_mirrors(found: dict[str, Floats]) -> dict[str, Floats]:
    """Contention is 1 - coverage: one of the two is enough."""
    return {
        name: column
        for name, column in found.items()
        if not (name.startswith("contention_") and name.replace("contention_", "cf_") in found)
    }


def _about(table: JobTable, name: str) -> About:
    """Of a rate made here, what the amount is."""
    known = table.about(name)
    if known.unit or not name.endswith("_per_s"):
        return known
    amount = table.about(name.removesuffix("_per_s"))
    return amount._replace(unit=f"{amount.unit}/s", label=f"{amount.label} a second")


def _tested(tested: Associations, i: int) -> tuple[float, float, float, int, float]:
    return (
        float(tested.spearman[i]),
        float(tested.p[i]),
        float(tested.q[i]),
        int(tested.n[i]),
        float(tested.n_eff[i]),
    )


def _leaks(
    table: JobTable,
    rows: NDArray[np.intp],
    names: Sequence[str],
    x: Floats,
    abouts: Sequence[About],
) -> list[str]:
    """Per metric, what of the job's own doing it follows; "" for none."""
    seconds = table.duration_s()[rows]
    volume = table.metrics.get("own_bytes")
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = None if volume is None else volume[rows] / seconds
    told = []
    for i, about in enumerate(abouts):
        words = ""
        if about.unit in _EXTENSIVE and abs(_rank_r(x[:, i], seconds)) > LEAKS:
            words = "it grows with the job's run time"
        elif (
            speed is not None
            and names[i].partition("_")[0] not in ("cf", "contention")
            and _rank_r(x[:, i], speed) > LEAKS
        ):
            words = "it rises with the job's own speed"
        told.append(words)
    return told


def _rank_r(one: Floats, other: Floats) -> float:
    """Spearman of two columns; 0 where too few are known."""
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST_FOR_LEAK:
        return 0.0
    a, b = (midranks(column[both][:, None])[:, 0] for column in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def _unleaked(x: Floats, leaks: Sequence[str]) -> Floats:
    """The metrics with those that leak taken out (all missing)."""
    return np.where(np.array([bool(leak) for leak in leaks]), np.nan, x) if leaks else x


def _picks(found: Selection, names: Sequence[str]) -> tuple[tuple[str, float, int, str], ...]:
    return tuple((names[s.metric], s.gain, s.sign, str(s.shape)) for s in found.steps)
