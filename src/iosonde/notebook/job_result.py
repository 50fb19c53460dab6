"""Answers about one job: its diagram, and the reasons of its slowness."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.jobs.umami.answers import Shown
from iosonde.model.advice import spelled
from iosonde.model.answer import PageFormat
from iosonde.notebook.arguments import python
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer, Pictured, TableResult

if TYPE_CHECKING:
    from iosonde.jobs.answers import JobAnswer, RunAnswers, TasksAnswer
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.scheduled.answers import ScheduledAnswer
    from iosonde.jobs.umami.answers import DiagramAnswer
    from iosonde.jobs.umami.diagram import Umami
    from iosonde.notebook.columns import Columns
    from iosonde.notebook.display import Figure

_ROW = (
    *("metric", "label", "unit", "good", "value", "class", "tied", "n_history", "share_below"),
    *("p5", "q25", "q50", "q75", "p95", "flags"),
)
_CANDIDATE = (
    *("metric", "label", "unit", "tag", "value", "usual", "class", "share_below", "n_history"),
    *("z", "loss", "matches", "score", "spearman", "p", "q", "n", "n_eff", "leak", "flags"),
)

_TASK = (
    *("job_id", "raw_id", "system", "state", "begin_ns", "end_ns", "run_s", "nodes"),
    *("node_names", "sentence"),
)
_STORAGE = ("target", "slow_s", "clear_s", "unknown_s", "told_level", "window_s", "hosts")


class Diagram(Pictured):
    """A job within its history, a row per metric (docs/umami.md). ``data``: an ``Umami``."""

    data: Umami

    def __init__(self, found: DiagramAnswer) -> None:
        self._found, self.data = found, found.umami

    @property
    def columns(self) -> Columns:
        """A row a metric: value, class, box of the history."""
        return of_records(self._found.records(), _ROW)

    @property
    def history(self) -> TableResult:
        """A row per run, of the job and its history, in time order: ``start``, ``is_job``, then the metrics."""
        found = self.data
        times = np.full(len(found.times_s), np.datetime64("NaT", "ns"))
        dated = np.isfinite(found.times_s)
        times[dated] = np.rint(found.times_s[dated] * 1e6).astype("datetime64[us]")
        columns: Columns = {"start": times, "is_job": np.arange(len(times)) == found.place}
        return TableResult(columns | {row.metric: row.values for row in found.rows}, found)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``iosonde explain --diagram --format json`` writes it; missing is None."""
        return self._found.data()

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        picture: Figure = self._found.picture().drawn(width_in=width_in, dark=dark, zone=UTC)
        return picture

    def _picture_text(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        """The diagram, as a terminal shows it."""
        text = self._found._replace(most=Shown(runs=None)).text
        return text(PageFormat(lambda pipe: pipe, coloured=False, ascii_only=False))


class WithSentence(Answer):
    """Answer about one job or several: ``sentence`` is the worst one's, ``["sentence"]`` a column of all."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The answer in one line."""

    def __getitem__(self, name: Any) -> Any:
        """Column by name; ``sentence`` also of one job. Raises UsageError: there is none of this name."""
        if isinstance(name, str) and name == "sentence" and name not in self.columns:
            return np.array([self.sentence], dtype=object)
        return super().__getitem__(name)


class Explained(Pictured, WithSentence):
    """Explanation of a slow job: a sentence, its evidence, and the diagram of its metrics.

    ``data``: the ``Explanation``; ``verdict``: what is said of it; ``diagram``: by itself.
    """

    data: Explanation

    def __init__(self, found: JobAnswer) -> None:
        self._found, self.data, self.verdict = found, found.explanation, found.verdict
        self.diagram = Diagram(found.diagram)
        self.lines = (found.sentence, *self.verdict.lines())
        self.notes = tuple(spelled(note, python) for note in self.data.notes)

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return self.verdict.sentence

    @property
    def columns(self) -> Columns:
        """A row a metric that was looked at, most suspect first; ``leak``: why it is not asked."""
        return of_records(self._found.candidates(), _CANDIDATE)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``iosonde explain --format json`` writes it; missing is None."""
        return self._found.explained(python)

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        return self.diagram._drawn(width_in, dark)

    def _picture_text(self) -> str:
        return repr(self.diagram)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n\n{self.diagram!r}"


class ExplainedRuns(WithSentence):
    """Explanations of runs, a row each, the worst first: of the runs of one job, or of many jobs.

    ``job_id`` and ``run``: what ``explain`` takes for the whole answer about one of them. ``data``: the ``RunAnswers``
    of each job.
    """

    data: Sequence[RunAnswers]

    def __init__(self, found: Sequence[RunAnswers], unknown: Sequence[str] = ()) -> None:
        self.data = found
        rows: list[dict[str, Any]] = [
            {
                "job_id": one.job_id,
                "run": run.run,
                "loss": run.explanation.loss,
                "sentence": run.verdict.sentence,
            }
            for one in found
            for run in one.runs
        ]
        self._rows = sorted(rows, key=lambda row: _worst_first(row["loss"]))
        names = ("run",) if len(found) == 1 else ("job_id", "run")
        self.lines = tuple(
            f"{' '.join(str(row[name]) for name in names).strip()}: {row['sentence']}"
            for row in self._rows
        )
        left_out = [
            f"{one.job_id}: {one.left_out} more runs, nearer to the best of their kind"
            for one in found
            if one.left_out
        ]
        self.notes = (*left_out, *unknown)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def sentence(self) -> str:
        """The worst one's; "" for none."""
        return str(self._rows[0]["sentence"]) if self._rows else ""

    @property
    def columns(self) -> Columns:
        """A row per run: job, name of the run, loss relative to the usual of its kind, sentence."""
        return of_records(self._rows, ("job_id", "run", "loss", "sentence"))

    def to_dict(self) -> dict[str, Any]:
        """An explanation a run, as ``iosonde explain --format json`` writes those of one job."""
        return {"jobs": [one.data() for one in self.data], "notes": list(self.notes)}

    def _shown(self) -> Columns | None:
        return None


def _worst_first(loss: float) -> float:
    return -loss if np.isfinite(loss) else np.inf


class ScheduledResult(WithSentence):
    """Storage during a job that only a scheduler recorded. ``data``: a ``ScheduledStory``."""

    def __init__(self, found: ScheduledAnswer) -> None:
        self._found, self.data = found, found.story
        self.lines = (found.sentence, *found.words.lines())

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return self._found.sentence

    @property
    def columns(self) -> Columns:
        """A row a probed target, the slowest first: seconds slow, clear and unknown, which are the run time."""
        return of_records(self._found.storage(), _STORAGE)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``iosonde explain --format json`` writes it (docs/jobs.md)."""
        return self._found.data()


class TasksResult(WithSentence):
    """Tasks of an array, or components of a heterogeneous job, side by side. ``data``: a ``TasksAnswer``."""

    data: TasksAnswer

    def __init__(self, found: TasksAnswer) -> None:
        self.data = found
        self.lines = (found.sentence, *found.lines())

    @property
    def sentence(self) -> str:
        """How many there are, in which states, and how long they took."""
        return self.data.sentence

    @property
    def columns(self) -> Columns:
        """A row a task, in order: its ids, state, time, nodes, and its sentence."""
        rows = [{**one, "node_names": ",".join(one["node_names"])} for one in self.data.records()]
        return of_records(rows, _TASK)

    def _shown(self) -> Columns | None:
        return None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``iosonde explain --format json`` writes it (docs/jobs.md)."""
        return self.data.data()
