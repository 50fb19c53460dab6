"""Entry points for doors: findings and rates of a run, from files or from the store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.locate.files import read_rates, read_topology, read_transfers
from iosonde.bench.locate.locate import locate
from iosonde.bench.locate.lustre_client import is_client, topology_of_client
from iosonde.bench.locate.rates import PhaseRates, rates_of
from iosonde.bench.locate.stored import stored_transfers
from iosonde.connectors.darshan.head import HEAD_BYTES, is_log
from iosonde.connectors.darshan.log_transfers import PREFIX, transfers_of_log
from iosonde.model.transfers import Topology, Transfers, with_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from iosonde.bench.locate.findings import ComponentFindings


@dataclass(frozen=True)
class Located:
    """A run with its findings."""

    transfers: Transfers
    topology: Topology
    findings: ComponentFindings
    rates: list[PhaseRates]
    """Empty for a Darshan log."""


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
