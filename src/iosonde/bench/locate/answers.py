"""Entry points for doors: findings and rates of a run, from files or from the store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.bench.locate import words
from iosonde.bench.locate.files import read_rates, read_topology, read_transfers
from iosonde.bench.locate.locate import locate
from iosonde.bench.locate.lustre_client import is_client, topology_of_client
from iosonde.bench.locate.rates import PhaseRates, rates_of
from iosonde.bench.locate.stored import LOG_PREFIX, stored_logs, stored_transfers
from iosonde.bench.runs.store import run_ids
from iosonde.connectors.darshan.head import HEAD_BYTES, is_log
from iosonde.connectors.darshan.log_transfers import PREFIX, transfers_of_log
from iosonde.model.answer import Block, TableBlock
from iosonde.model.transfers import Topology, Transfers, with_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from iosonde.bench.locate.findings import ComponentFindings
    from iosonde.drawing.sheet import Sheet


@dataclass(frozen=True)
class Located:
    """A run with its findings."""

    transfers: Transfers
    topology: Topology
    findings: ComponentFindings
    rates: list[PhaseRates]
    """Empty for a Darshan log."""

    def shown(self) -> list[Block]:
        """Sentences, the table of slow components, rates, what the run cannot tell."""
        blocks: list[Block] = [*words.say(self.findings)]
        if rows := words.table_rows(self.findings):
            blocks += ["", TableBlock(words.HEAD, rows, left=3)]
        if self.rates:
            blocks += ["", TableBlock(words.RATES_HEAD, words.rates_rows(self.rates), left=2)]
        if limits := words.say_limits(self.findings):
            blocks += ["", *limits]
        return blocks

    def data(self) -> dict[str, Any]:
        """Findings with their evidence, rates."""
        return words.as_json(self.findings, self.rates)

    def picture(self) -> Sheet:
        """Times and rates of the run."""
        from iosonde.bench.locate.sheet import locate_sheet

        said = words.say(self.findings)
        return locate_sheet(self.transfers, self.topology, self.findings, said)


@dataclass(frozen=True)
class Source:
    """Source of a run's transfers: a file (``path``; also a Darshan log), or a run of the store ``root``."""

    path: Path | None = None
    root: Path | None = None
    run_id: str = ""

    @property
    def log(self) -> bool:
        """True for a Darshan log, by its first bytes, or a run from one."""
        if self.path is None or not self.path.is_file():
            return self.run_id.startswith(PREFIX)
        with suppress(OSError), self.path.open("rb") as file:
            return is_log(file.read(HEAD_BYTES))
        return False

    def transfers(self, warn: Callable[[str], None]) -> Transfers:
        """All readable transfers. Raises InputFileError, StoreError."""
        if self.path is not None:
            return transfers_of_log(self.path) if self.log else read_transfers(self.path, warn)
        assert self.root is not None
        return stored_transfers(self.root, self.run_id)


def known_runs(root: Path) -> list[str]:
    """Names of the runs of a store that have transfers, Darshan logs last; none without a store."""
    return [*run_ids(root), *stored_logs(root)] if root.exists() else []


def log_of_job(job_id: str, known: Sequence[str]) -> str:
    """How names of runs begin that come from logs of a job; the word itself where no run does."""
    named = f"{LOG_PREFIX}{job_id}-"
    of_job = any(name.startswith(named) for name in known) and job_id not in known
    return named if of_job else job_id


def _topology(text: str | None, warn: Callable[[str], None]) -> Topology:
    if text is None:
        return Topology()
    return topology_of_client(text) if is_client(text) else read_topology(Path(text), warn)


def located(
    source: Source, topology: str | None, rates: Path | None, warn: Callable[[str], None]
) -> Located:
    """Findings of a run. ``topology``: a file, or ``lustre[:NAME]`` for this client's own. ``rates``: a file that
    replaces those of the store.

    Raises InputFileError, StoreError; rows that cannot be read go to ``warn``.
    """
    transfers = source.transfers(warn)
    if rates is not None:
        transfers = replace(transfers, rates=read_rates(rates, warn))
    known = _topology(topology, warn)
    transfers = with_targets(transfers, known)
    # A log's times leave out what a program did between its accesses: they add up to no rate of all.
    phases = [] if source.log else rates_of(transfers)
    return Located(transfers, known, locate(transfers, known), phases)
