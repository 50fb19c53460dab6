"""Creates beside writers of several block sizes: a plan to run, and what it came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.bandwidth.spec import FSYNCS
from iosonde.bench.kernel.phases import KernelPhase, examined, keep_creates
from iosonde.bench.kernel.plan import BLOCKS, KernelPlan
from iosonde.bench.kernel.run import run_kernel
from iosonde.bench.kernel.words import MARKS, head, say, table_rows
from iosonde.bench.recorder import Observer, PlanOutcome
from iosonde.bench.runs.host import say_host_waits
from iosonde.model.answer import Block, Prose, TableBlock
from iosonde.model.errors import StoreError

if TYPE_CHECKING:
    from iosonde.bench.selftest.effects import ProbeSamples
    from iosonde.drawing.sheet import Sheet
    from iosonde.host.processes import Processes

__all__ = ["BLOCKS", "FSYNCS", "KernelAnswer", "KernelPlan", "measure"]


@dataclass(slots=True)
class KernelAnswer:
    """Creates of each phase at process 0; nothing at others. ``outcome``: rows and errors."""

    plan: KernelPlan
    outcome: PlanOutcome
    samples: dict[str, ProbeSamples] = field(default_factory=dict)
    phases: list[KernelPhase] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return say(str(self.plan.place), self.phases)

    def shown(self) -> list[Block]:
        """A row a phase, what its marks mean, the sentence; whether the host was too busy to say."""
        table = TableBlock(head(self.plan.period_ns), table_rows(self.phases))
        busy = [Prose(f"note: {text}", "", "  ") for text in say_host_waits(self.outcome.rows)]
        return [table, "", Prose(MARKS), "", Prose(self.sentence), *([""] * bool(busy)), *busy]

    def picture(self) -> Sheet | None:
        """The longest creates over time; None: no create ended."""
        from iosonde.bench.kernel.sheet import kernel_sheet

        return kernel_sheet(self.samples, self.phases, self.plan.period_ns, self.sentence)


def measure(
    plan: KernelPlan,
    processes: Processes,
    root: Path,
    observer: Observer,
    now_ns: Callable[[], int],
) -> KernelAnswer:
    """Measure in every process; process 0 puts creates and writers together. Raises MeasureError, UsageError."""
    ran = run_kernel(plan, processes, root, observer, now_ns)
    found = KernelAnswer(plan, PlanOutcome(ran.rows, ran.errors, ran.stopped))
    if processes.number > 0:
        return found
    try:
        found.samples, found.phases = examined(root, ran, plan.period_ns)
        creates = keep_creates(root, ran, plan, found.phases)
    except StoreError as error:
        found.outcome = PlanOutcome(ran.rows, [*ran.errors, error], ran.stopped)
    else:
        rows = creates + ran.rows if ran.phases else []
        found.outcome = PlanOutcome(rows, ran.errors, ran.stopped)
    return found
