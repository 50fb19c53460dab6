"""Answers about one job: its diagram, and the reasons of its slowness."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.jobs.explain.data import candidate_data
from iosonde.jobs.explain.explain import Explanation
from iosonde.jobs.explain.words import JobVerdict
from iosonde.jobs.scheduled.data import storage_data, story_data
from iosonde.jobs.umami.diagram import Umami
from iosonde.jobs.umami.records import as_json, records
from iosonde.model.advice import spelled
from iosonde.notebook.arguments import python
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer, Pictured, TableResult

if TYPE_CHECKING:
    from iosonde.jobs.answers import RunAnswers, ScheduledAnswer
    from iosonde.jobs.umami.figure import UmamiFigure
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

_STORAGE = ("target", "slow_s", "clear_s", "unknown_s", "told_level", "window_s", "hosts")


class Diagram(Pictured):
    """A job within its history, a row per metric (docs/umami.md). ``data``: an ``Umami``."""

    def __init__(self, data: Umami) -> None:
        self.data = data

    @property
    def columns(self) -> Columns:
        """A row per metric: value, class, box of the history."""
        return of_records(records(self.data), _ROW)

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
        """Plain data, as ``iosonde explain --diagram --format json`` writes it; missing is None."""
        return as_json(self.data)

    def _figure(self) -> UmamiFigure:
        from iosonde.jobs.umami.figure import umami_figure

        return umami_figure(self.data)

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        from iosonde.jobs.umami.render import draw_umami

        return draw_umami(self._figure(), width_in=width_in, dark=dark, zone=UTC)

    def _picture_text(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        """The diagram as text, like in a terminal."""
        from iosonde.jobs.umami.figure import umami_figure
        from iosonde.jobs.umami.shown import Shown
        from iosonde.jobs.umami.text import umami_text

        return "\n".join(umami_text(umami_figure(self.data, Shown(runs=None)), 100))


class Explained(Pictured):
    """Explanation of a slow job: a sentence, its evidence, and the diagram of its metrics.

    ``data``: the ``Explanation``; ``verdict``: what is said of it; ``diagram``: by itself.
    """

    def __init__(self, data: Explanation, verdict: JobVerdict, diagram: Diagram) -> None:
        self.data, self.verdict, self.diagram = data, verdict, diagram
        self.lines = (verdict.sentence, *verdict.lines())
        self.notes = tuple(spelled(note, python) for note in data.notes)

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return self.verdict.sentence

    @property
    def columns(self) -> Columns:
        """A row per metric examined, most suspect first; ``leak``: reason why it is no candidate."""
        return of_records(map(candidate_data, self.data.candidates), _CANDIDATE)

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        return self.diagram._drawn(width_in, dark)

    def _picture_text(self) -> str:
        return repr(self.diagram)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n\n{self.diagram!r}"


class ExplainedRuns(Answer):
    """Explanations of the runs of one job, a row each, the worst first. ``data``: ``RunAnswers``.

    ``run``: what ``step=`` takes for the whole answer about one of them.
    """

    def __init__(self, found: RunAnswers) -> None:
        self.data = found
        self.lines = tuple(f"{run.run}: {run.verdict.sentence}" for run in found.runs)
        if found.left_out:
            self.notes = (f"{found.left_out} more runs, nearer to the best of their kind",)

    @property
    def columns(self) -> Columns:
        """A row per run: its name, its loss relative to the usual of its kind, and its sentence."""
        rows = [
            {"run": run.run, "loss": run.explanation.loss, "sentence": run.verdict.sentence}
            for run in self.data.runs
        ]
        return of_records(rows, ("run", "loss", "sentence"))

    def _shown(self) -> Columns | None:
        return None


class ScheduledResult(Answer):
    """Storage during a job that only a scheduler recorded. ``data``: a ``ScheduledStory``."""

    def __init__(self, found: ScheduledAnswer) -> None:
        self.data, self._words = found
        self.lines = (self._words.sentence, *self._words.lines())

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return self._words.sentence

    @property
    def columns(self) -> Columns:
        """A row per probed target, the slowest first: seconds slow, clear and unknown, which add up to the run time."""
        rows = [storage_data(one) for one in self.data.storage]
        return of_records(rows, _STORAGE)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``iosonde explain --format json`` writes it (docs/jobs.md)."""
        return story_data(self.data, self._words)
