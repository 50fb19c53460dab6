"""Answers about jobs, one function each, for the command line, the page and notebooks.

A door parses what people write, calls one of these and renders what it gets; analysis modules load when they are
called.
"""

from __future__ import annotations

import math
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.blame.interval import BlameQuestion, Grouping
from iosonde.model.errors import NothingMeasuredError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.jobs.blame.answers import BlameAnswer
    from iosonde.jobs.blame.presence import PresenceAnswer
    from iosonde.jobs.blame.ranking import Ranked
    from iosonde.jobs.correlate.answers import CorrelateAnswer
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.explain.words import JobVerdict
    from iosonde.jobs.scheduled.answers import Meant, ScheduledAnswer
    from iosonde.jobs.scheduled.tasks import TasksAnswer
    from iosonde.jobs.table.from_files import Loaded
    from iosonde.jobs.umami.answers import DiagramAnswer, History
    from iosonde.model.advice import Spelling
    from iosonde.model.answer import Block, PlainPicture
    from iosonde.model.jobs import By, JobTable

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""

__all__ = ["BlameQuestion", "BlameReport", "Blamed", "CorrelateQuestion", "Grouping", "JobAnswer"]
__all__ += ["RunAnswer", "RunAnswers", "blame", "blame_report", "correlations", "explain_job"]
__all__ += ["TasksAnswer", "explain_runs", "explain_tasks"]


class JobAnswer(NamedTuple):
    """Why a run was slow: an explanation, its verdict, and the job's history metric by metric.

    ``beside``: what probes and the scheduler say of it; ``verbose``: also what history says of all runs.
    """

    explanation: Explanation
    verdict: JobVerdict
    diagram: DiagramAnswer
    beside: ScheduledAnswer | None = None
    verbose: bool = False

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return self.verdict.sentence

    def evidence(self) -> list[str]:
        """A line each."""
        verdict = self.verdict
        return [line for line in verdict.lines() if self.verbose or line != verdict.history]

    def notes(self) -> list[str]:
        """Those that do not stand below the diagram."""
        if not self.verbose:
            return []
        return [n for n in map(str, self.explanation.notes) if n not in self.diagram.umami.notes]

    def shown(self) -> list[Block]:
        """The sentence, the evidence, the diagram."""
        more = () if self.beside is None else self.beside.words
        beside = () if not more else (*more.storage, *more.run_time, *more.own_io)
        evidence = [f"  - {line}" for line in (*self.evidence(), *beside)]
        return [self.sentence, *evidence, "", *self.diagram.shown()]

    def mail(self) -> str:
        """Plain text of 72 columns, by topic."""
        from iosonde.jobs.scheduled.text import text_block

        topics = [("Evidence", self.evidence())]
        if self.beside is not None:
            more = self.beside.words
            topics += [("Storage", list(more.storage)), ("Run time", list(more.run_time))]
            topics += [("Counters", list(more.own_io))]
        return text_block(self.sentence, topics)

    def explained(self, spelling: Spelling | None = None) -> dict[str, Any]:
        """The run alone; ``spelling``: of advice in its notes (None: a command line's)."""
        from iosonde.jobs.explain.data import explanation_data
        from iosonde.model.advice import command_line

        return explanation_data(self.explanation, self.verdict, spelling or command_line)

    def data(self) -> dict[str, Any]:
        """The run, and storage beside it."""
        beside = None if self.beside is None else self.beside.data()
        return self.explained() | {"meanwhile": beside}

    def candidates(self) -> list[dict[str, Any]]:
        """A record a metric that was looked at, most suspect first."""
        from iosonde.jobs.explain.data import candidate_data

        return [candidate_data(one) for one in self.explanation.candidates]

    def picture(self) -> PlainPicture:
        """The diagram with the sentence."""
        return self.diagram._replace(sentence=self.sentence).picture()


class RunAnswer(NamedTuple):
    """Explanation of one of a job's runs. ``run``: as ``find_run`` takes it."""

    run: str
    explanation: Explanation
    verdict: JobVerdict


class RunAnswers(NamedTuple):
    """Runs of one job, the largest loss first. ``left_out``: the number of others."""

    job_id: str
    runs: list[RunAnswer]
    left_out: int

    def notes(self) -> list[str]:
        """What each explanation remarks."""
        return [f"{one.run}: {text}" for one in self.runs for text in one.explanation.notes]

    def shown(self) -> list[Block]:
        """A line a run."""
        width = max(len(one.run) for one in self.runs)
        lines: list[Block] = [f"{one.run:<{width}}  {one.verdict.sentence}" for one in self.runs]
        if self.left_out:
            lines.append(f"and {self.left_out} more, nearer to the best of their kind")
        named = quote(self.runs[0].run)
        return [*lines, "", f"--step {named} shows what stood out in that run, and its diagram"]

    def data(self) -> dict[str, Any]:
        """An explanation a run."""
        from iosonde.jobs.explain.data import SCHEMA_VERSION, explanation_data

        data = {"schema_version": SCHEMA_VERSION, "job_id": self.job_id, "left_out": self.left_out}
        told = [{"run": name, **explanation_data(one, verdict)} for name, one, verdict in self.runs]
        return data | {"runs": told}


def explain_job(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    history: History = "earlier",
    last: int | None = None,
    metrics: Sequence[str] = (),
) -> JobAnswer:
    """Explain a slow run of a table with ``judged`` metrics.

    ``metrics``: rows of the diagram; none: the performance, those of the verdict, and the usual ones of the table.
    Raises UsageError: no such job, run or metric.
    """
    found, verdict = _explained(table, job_id, step, history, last)
    rows = metrics or [name for name in _rows(found, verdict, table) if name in table.metrics]
    from iosonde.jobs.umami.answers import umami

    diagram = umami(
        table, job_id, step, metrics=rows, history=history, last=last, since=found.since
    )
    return JobAnswer(found, verdict, diagram)


def job_diagram(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    also: Sequence[str] = (),
    history: History = "earlier",
    last: int | None = None,
) -> DiagramAnswer:
    """The diagram of a run alone. ``metrics``: the rows; None: the usual ones, and ``also``.

    Classes and boxes are those of the runs since the last lasting change of its performance, if there was one.
    Raises UsageError: no such job, run or metric.
    """
    from iosonde.jobs.explain.comparable import usual_since
    from iosonde.jobs.umami.answers import umami

    since = usual_since(table, job_id, step, history, last)
    return umami(
        *(table, job_id, step),
        metrics=metrics,
        also=also,
        history=history,
        last=last,
        since=since,
    )


def explain_runs(
    table: JobTable, job_id: str, *, history: History = "earlier", last: int | None = None
) -> RunAnswers:
    """Explain the runs of one job, those farthest below the best of their kind. As ``explain_job``."""
    from iosonde.jobs.table.runs import worth_a_look

    runs = [
        RunAnswer(name, *_explained(table, job_id, name, history, last))
        for name in worth_a_look(table, job_id)
    ]
    runs.sort(key=lambda run: _order(run.explanation.loss))
    return RunAnswers(job_id, runs, int((table.job_id == job_id).sum()) - len(runs))


def explain_tasks(
    root: Path,
    meant: Meant,
    now_ns: int,
    *,
    zone: tzinfo | None = None,
    history: History = "earlier",
    last: int | None = None,
) -> TasksAnswer:
    """The tasks of an array, or components of a heterogeneous job, side by side: of each what is said of a job.

    Raises StoreError.
    """
    from iosonde.jobs.scheduled.answers import has_performance
    from iosonde.jobs.scheduled.tasks import tasks_of
    from iosonde.jobs.table.answers import judged, task_table

    found = tasks_of(root, meant, now_ns, zone)
    measured = [one for one in found.told if has_performance(one.records)]
    if not measured:
        return found
    table = judged(task_table(root, measured[0].job.job_id))
    said = {
        one.job: explain_runs(table, one.job.written, history=history, last=last).runs
        for one in measured
    }
    worst = {job: runs[0].verdict.sentence for job, runs in said.items() if runs}
    told = (one._replace(sentence=worst.get(one.job, one.sentence)) for one in found.told)
    return found._replace(told=tuple(told))


def _order(loss: float) -> float:
    return -loss if math.isfinite(loss) else math.inf


def _explained(
    table: JobTable, job_id: str, step: str | None, history: History, last: int | None
) -> tuple[Explanation, JobVerdict]:
    from iosonde.jobs.explain.explain import explain
    from iosonde.jobs.explain.words import judge

    found = explain(table, job_id, step, history=history, last=last)
    return found, judge(found)


def _rows(found: Explanation, verdict: JobVerdict, table: JobTable) -> list[str]:
    from iosonde.jobs.umami.diagram import standard_rows

    told = (one.metric for one in verdict.told)
    return list(dict.fromkeys((found.measure, *told, *verdict.twins, *standard_rows(table))))


class CorrelateQuestion(NamedTuple):
    """What goes with ``y``, of which jobs. ``metrics``: None: those that could explain it; ``["all"]``: every one.

    ``regions``: groups are pieces of time as well, between ``boundaries_ns`` or of climates.
    """

    y: str
    metrics: Sequence[str] | None = None
    by: Sequence[By] = ("file_system", "motif")
    controls: Sequence[str] = ()
    file_system: str | None = None
    motif: str | None = None
    span_ns: Span = (None, None)
    regions: bool = False
    boundaries_ns: Sequence[int] = ()


def correlations(
    loaded: Sequence[Loaded], question: CorrelateQuestion, most: int
) -> CorrelateAnswer:
    """What goes with performance in each table. ``most``: metrics shown of a group (0: all).

    Raises UsageError (no such metric, file system, motif), NothingMeasuredError (no row with y, no job).
    """
    from iosonde.jobs.climate.answers import regions_of
    from iosonde.jobs.correlate.answers import CorrelateAnswer, correlate
    from iosonde.jobs.table.answers import select

    parts = []
    for one in loaded:
        rows = select(one.table, question.file_system, question.motif, question.span_ns)
        metrics = list(rows.metrics) if question.metrics == ["all"] else question.metrics
        regions = regions_of(rows, question.boundaries_ns) if question.regions else None
        parts.append(
            correlate(rows, question.y, metrics, question.by, question.controls, regions=regions)
        )
    return CorrelateAnswer(parts, loaded, 0 if question.metrics else most)


class BlameReport(NamedTuple):
    """Who made a slow event of a store. ``found``: by operations, or by presence where nobody recorded them.

    ``unknown``: why nobody did; ``top``: how many are shown.
    """

    root: Path
    now_ns: int
    top: int
    found: BlameAnswer | PresenceAnswer
    unknown: NothingMeasuredError | None = None

    def shown(self) -> list[Block]:
        """The verdict, those who did most, what is missing."""
        from iosonde.jobs.blame.presence import PresenceAnswer
        from iosonde.jobs.blame.text import blame_blocks, presence_blocks

        if isinstance(self.found, PresenceAnswer):
            return presence_blocks(self.found)
        return blame_blocks(self.found, self.top, self.now_ns)

    def data(self) -> dict[str, Any]:
        """The verdict, the interval, those who did most; missing is None."""
        from iosonde.engine.left_out import with_left_out
        from iosonde.jobs.blame.data import blame_data
        from iosonde.jobs.blame.presence import PresenceAnswer, presence_data

        if isinstance(self.found, PresenceAnswer):
            return with_left_out(presence_data(self.found), self.root)
        return with_left_out(blame_data(self.found, self.now_ns, self.top), self.root)


def blame_report(root: Path, question: BlameQuestion, now_ns: int, top: int) -> BlameReport:
    """Who did most and who caused it; where nobody recorded operations, who was there at the time.

    Raises UsageError, NothingMeasuredError (no event; no records of nodes, no jobs), StoreError.
    """
    from iosonde.jobs.blame.answers import blamed
    from iosonde.jobs.blame.presence import present

    try:
        return BlameReport(root, now_ns, top, blamed(root, question, now_ns))
    except NothingMeasuredError as error:
        found = None if question.band is not None else present(root, question, now_ns)
        if found is None:
            raise
        return BlameReport(root, now_ns, top, found, error)


class Blamed(NamedTuple):
    """Who made a slow event, by recorded operations. ``sentences``: the verdict first; ``ranked``: all of them."""

    answer: BlameAnswer
    sentences: list[str]
    ranked: list[Ranked]


def blame(root: Path, question: BlameQuestion, now_ns: int, zone: tzinfo | None) -> Blamed:
    """``blame_report`` by operations alone; ``zone``: of times. Raises as it."""
    from iosonde.jobs.blame.answers import blamed
    from iosonde.jobs.blame.ranking import ranked
    from iosonde.jobs.blame.words import sentences

    found = blamed(root, question, now_ns)
    return Blamed(found, sentences(found, now_ns, zone), ranked(found))
