"""Explanation of a slow job: metrics that stood out, and evidence of history on each.

Three questions are asked of the runs of the same kind (file system, motif and class of size). Of the run: what did it
do otherwise (``own_doing``)? Of today: what stood out on the bad side, what did runs with such a value lose
(``suspects``), and what was never seen before (``unseen``)? Of history: what goes with performance at all
(``stats.selection``, ``stats.association``)? Metrics that the job itself moves are taken out first (leakage).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from iosonde.jobs.explain.comparable import comparable, run_of
from iosonde.jobs.explain.loss_share import LossShare, loss_share
from iosonde.jobs.explain.own_doing import OwnChange
from iosonde.jobs.explain.streak import Streak, streak
from iosonde.jobs.explain.suspects import suspects
from iosonde.jobs.explain.twins import twins
from iosonde.jobs.explain.unseen import beyond
from iosonde.jobs.table.leakage import (
    about_of,
    candidates,
    leaks,
    seconds_of,
    undescribed,
    unleaked,
)
from iosonde.jobs.umami.diagram import History, measured
from iosonde.jobs.umami.quartile import Stood, stand
from iosonde.jobs.umami.since import Since
from iosonde.model.advice import Advice, Argument, Text
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable
from iosonde.stats.association import Associations, associations, shape_q
from iosonde.stats.multiple import benjamini_hochberg
from iosonde.stats.selection import Selection, select
from iosonde.stats.student import student_share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_FLOORS = {"percent": 1.0, "ratio": 0.01, "operations": 1.0, "operations/s": 0.1, "hops": 0.1}
SURE_Q = 0.05
"""False discovery rate among metrics said to go with performance."""
Tag = Literal["cause", "effect", "climate"]


@dataclass(frozen=True)
class Candidate:
    """A candidate cause, with its judgement."""

    metric: str
    about: About
    stood: Stood
    usual: float
    """Median of the history."""
    z: float
    loss: float
    """Share of the usual performance lost by runs with such a value; NaN if there was none."""
    matches: int
    score: float
    rho: float
    """Spearman with performance over the history, in the metric's own direction."""
    p: float
    q: float
    n: int
    n_eff: float
    leak: str = ""
    """The job's own activity that it follows; "" if it does not leak."""
    flags: tuple[str, ...] = ()
    """Flags of ``model.quality.QUALITY``, of the run's value."""
    near_q: float = float("nan")
    """As ``q``, for runs with a value like today's being slower than the others."""
    shape_q: float = float("nan")
    """As ``q``, for a relation of any shape: a threshold, or a U."""
    beyond: float = 0.0
    """Distance of the run's value beyond all of the history on its bad side, in robust scales; 0: within."""

    @property
    def tag(self) -> Tag:
        """Tag of the metric: can slow a job, is moved by it, or changes over weeks."""
        role = self.about.role
        return "climate" if role == "climate" else "effect" if role == "effect" else "cause"


@dataclass(frozen=True)
class Explanation:
    """Explanation of a job's slowness. ``candidates``: suspects first, by score; then the others by name."""

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
    """Metrics that go with performance in history, in order: metric, share of variance of ranks, sign, shape. Only
    significant ones, corrected for the number of metrics and for similarity of neighbouring runs.
    """
    notes: tuple[Text, ...] = ()
    streak: Streak | None = None
    """Slow runs shortly before it, if there were several."""
    since: Since | None = None
    """Lasting change before it, if there was one: the history is that of the runs since then."""
    own: tuple[OwnChange, ...] = ()
    """Changes in the run's own activity."""
    level: OwnChange | None = None
    """The change of ``own`` that the performance depends on: what is usual is that of such runs."""
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Metrics that move together with those that stood out."""
    shares: Mapping[str, LossShare] = field(default_factory=dict)
    """Share of the loss explained by metrics that go with performance."""

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
        """Metrics that stood out on the bad side and do not leak, most suspect first."""
        return tuple(c for c in self.candidates if c.score > 0 and not c.leak)

    @property
    def unseen(self) -> tuple[Candidate, ...]:
        """Metrics beyond all of the history on their bad side that do not leak, the farthest first."""
        found = (c for c in self.candidates if c.beyond > 0 and not c.leak)
        return tuple(sorted(found, key=lambda c: -c.beyond))


def explain(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    history: History = "earlier",
    last: int | None = None,
) -> Explanation:
    """Explain a run of ``table``. Raises UsageError: no such job, several runs."""
    table, row, others, measure, raw, notes = run_of(table, job_id, step, history, last)
    usual = comparable(table, row, others, raw)
    others, y = usual.others, usual.y
    rows = np.append(others, row)
    asked = _candidates(table, row, others)
    made, picks = _judged(table, asked, y, others, row)
    of_name = {name: asked.x[:, i] for i, name in enumerate(asked.names)}
    out = [one for one in made if one.score > 0 or one.beyond > 0]
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
        picks=picks,
        notes=(*notes, *_undescribed(table)),
        own=usual.own,
        level=None if usual.level is None else usual.level.change,
        twins=twins({one.metric: of_name[one.metric][rows] for one in out}),
        shares=_shares(y, of_name, out, others, row),
        since=usual.since,
        streak=_streak(table, row, others, y),
    )


class _Asked(NamedTuple):
    """Candidate metrics of a table: names, values (n, p), descriptions, bad sides (p,), least scales (p,)."""

    names: list[str]
    x: Floats
    abouts: list[About]
    signs: Floats
    floors: Floats


def _candidates(table: JobTable, row: int, others: Places) -> _Asked:
    """Those that are known of the run or of its history."""
    columns = candidates(table)
    names = [
        n for n in columns if np.isfinite(columns[n][row]) or np.isfinite(columns[n][others]).any()
    ]
    x = np.empty((len(table), 0))
    if names:
        x = measured(np.column_stack([columns[n] for n in names]))
    abouts = [about_of(table, name) for name in names]
    signs = np.array([{"high": -1.0, "low": 1.0}.get(a.good or "", 0.0) for a in abouts])
    floors = np.array([_FLOORS.get(a.unit, 0.0) for a in abouts])
    return _Asked(names, x, abouts, signs, floors)


def _judged(
    table: JobTable, asked: _Asked, y: Floats, past: Places, row: int
) -> tuple[list[Candidate], tuple[tuple[str, float, int, str], ...]]:
    """The judgement of each candidate, and what goes with performance. ``past``: its history, in order of time.

    The run is no evidence on itself: what stood out in a slow run would go with slow runs by being picked.
    """
    names, x, abouts, signs, floors = asked
    both = np.append(past, row)
    found = suspects(y[past], x[past], x[row], signs, floors)
    tested = associations(y[past], x[past])
    leaking = leaks(names, abouts, x[both], seconds_of(table)[both], y[both])
    shaped = shape_q(y[past], unleaked(x[past], leaking))
    fewer = np.sqrt(np.clip(tested.n_eff / np.maximum(tested.n, 1), 0, 1))
    near_p = 1 - student_share(found.near_z * fewer, np.maximum(tested.n_eff - 2, 1))
    leaks_too = np.array([bool(leak) for leak in leaking], dtype=bool)
    near_q = benjamini_hochberg(np.where(tested.enough & ~leaks_too, near_p, np.nan))
    made = [
        Candidate(
            name,
            abouts[i],
            stand(x[past, i], float(x[row, i]), abouts[i].good),
            float(found.usual[i]),
            float(found.z[i]),
            float(found.loss[i]),
            int(found.matches[i]),
            float(np.nan_to_num(found.score[i])),
            *_tested(tested, i),
            leaking[i],
            table.flags.get((row, name), ()),
            float(near_q[i]),
            float(shaped[i]),
            beyond(x[past, i], float(x[row, i]), float(signs[i]), float(floors[i])),
        )
        for i, name in enumerate(names)
    ]
    picked = select(y[past], unleaked(x[past], leaking))
    return made, _picks(picked, shaped <= SURE_Q, names)


def _streak(table: JobTable, row: int, past: Places, y: Floats) -> Streak | None:
    known = y[past][np.isfinite(y[past])]
    usual = float(np.median(known)) if len(known) else float("nan")
    return streak(table.start_ns[past], y[past], (int(table.start_ns[row]), float(y[row])), usual)


def _shares(
    y: Floats, x: Mapping[str, Floats], out: Sequence[Candidate], others: Places, row: int
) -> dict[str, LossShare]:
    """Share of the loss that each metric that goes with performance accounts for."""
    found = {}
    for one in out:
        if min(np.nan_to_num([one.q, one.shape_q, one.near_q], nan=1.0)) <= SURE_Q:
            today = (float(y[row]), one.stood.value)
            share = loss_share(y[others], x[one.metric][others], today, one.n_eff)
            if share is not None:
                found[one.metric] = share
    return found


def _undescribed(table: JobTable) -> tuple[Advice, ...]:
    strange = undescribed(table)
    if not strange:
        return ()
    some = ", ".join(strange[:3]) + (" ..." if len(strange) > 3 else "")
    if len(strange) == 1:
        what, of = "1 column without a description is", "it"
    else:
        what, of = f"{len(strange)} columns without a description are", "them"
    said = f"{what} not judged: {some} ("
    return (Advice(said, Argument("mapping"), f" describes {of})"),)


def _tested(tested: Associations, i: int) -> tuple[float, float, float, int, float]:
    return (
        float(tested.spearman[i]),
        float(tested.p[i]),
        float(tested.q[i]),
        int(tested.n[i]),
        float(tested.n_eff[i]),
    )


def _picks(
    found: Selection, sure: NDArray[np.bool_], names: Sequence[str]
) -> tuple[tuple[str, float, int, str], ...]:
    """Selected metrics that are significant too: selection alone may admit one by chance."""
    steps = (s for s in found.steps if sure[s.metric])
    return tuple((names[s.metric], s.gain, s.sign, str(s.shape)) for s in steps)
