"""What doors call: findings and rates of a run from files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from iosonde.bench.locate.files import read_rates, read_topology, read_transfers
from iosonde.bench.locate.locate import locate
from iosonde.bench.locate.rates import PhaseRates, rates_of
from iosonde.model.transfers import Topology, Transfers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from iosonde.bench.locate.findings import ComponentFindings


@dataclass(frozen=True)
class Located:
    """A run with what was found in it."""

    transfers: Transfers
    topology: Topology
    findings: ComponentFindings
    rates: list[PhaseRates]


def located(
    path: Path, topology: Path | None, rates: Path | None, warn: Callable[[str], None]
) -> Located:
    """Findings of the run in ``path``. Raises InputFileError; rows that cannot be read go to ``warn``."""
    transfers = read_transfers(path, warn)
    if rates is not None:
        transfers = replace(transfers, rates=read_rates(rates, warn))
    known = Topology() if topology is None else read_topology(topology, warn)
    return Located(transfers, known, locate(transfers, known), rates_of(transfers))
