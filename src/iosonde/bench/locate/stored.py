"""Transfers and rates of a run from the store, as the benchmark and imports write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.bench.bandwidth.tables import read_columns
from iosonde.bench.locate.files import packed, shares_of
from iosonde.connectors.darshan import log_transfers
from iosonde.model.errors import InputFileError
from iosonde.model.frames import NULL_NS
from iosonde.model.transfers import DIRECTIONS, BinnedRates, Transfers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from iosonde.model.arrays import Instants, Ints

LOG_PREFIX = log_transfers.PREFIX
"""Prefix of the names of Darshan log runs; the job's id follows."""
_EXPECTED = "a run of 'iosonde bench bandwidth', or an imported one whose ranks have times"


def stored_logs(root: Path) -> list[str]:
    """Names of runs from Darshan logs, which only the table of transfers lists."""
    return sorted(path.stem for path in (root / "transfers").glob(f"date=*/{LOG_PREFIX}*.parquet"))


def stored_transfers(root: Path, run_id: str) -> Transfers:
    """A run with its rates, if stored. Raises InputFileError (no transfers), StoreError."""
    table = read_columns(root, "transfers", run_id)
    if not table:
        raise InputFileError(f"{root} has no transfers of the run {run_id}", expected=_EXPECTED)
    rank = np.asarray(table["rank"], dtype=np.int64)
    host, hosts = _numbered(table["host"])
    file, files = _numbered(table["file"])
    if (file < 0).any():
        # A file a rank, of which nobody says the name.
        ranks, place = np.unique(rank, return_inverse=True)
        file = np.where(file < 0, len(files) + place, file)
        files = (*files, *(f"rank {number}" for number in ranks.tolist()))
    layout, layouts = _numbered(table["targets"])
    shares = [shares_of(text) for text in layouts]
    targets = tuple(dict.fromkeys(name for one in shares for name, _ in one))
    number = {name: place for place, name in enumerate(targets)}
    stripes = [[(number[name], share) for name, share in one] for one in [*shares, []]]
    position = np.ma.filled(np.ma.asarray(table["position"]).astype(np.float64), np.nan)
    return Transfers(
        run=run_id,
        repetition=_whole(table["repetition"], 0),
        direction=_directions(table),
        rank=rank,
        host=host,
        file=file,
        bytes=_whole(table["bytes"], 0),
        transfer_begin_ns=_whole(table["transfer_begin_ns"], NULL_NS),
        transfer_end_ns=_whole(table["transfer_end_ns"], NULL_NS),
        stripes=packed([stripes[one] for one in layout.tolist()]),
        hosts=hosts,
        files=files,
        targets=targets,
        position=position if np.isfinite(position).any() else None,
        open_begin_ns=_instants(table["open_begin_ns"]),
        open_end_ns=_instants(table["open_end_ns"]),
        close_begin_ns=_instants(table["close_begin_ns"]),
        close_end_ns=_instants(table["close_end_ns"]),
        rates=_rates(read_columns(root, "rates", run_id)),
    )


def _rates(table: Mapping[str, Any]) -> BinnedRates | None:
    if not table:
        return None
    return BinnedRates(
        _whole(table["repetition"], 0),
        _directions(table),
        _whole(table["rank"], 0),
        _whole(table["begin_ns"], 0),
        _whole(table["bytes"], 0),
    )


def _directions(table: Mapping[str, Any]) -> Ints:
    words = np.asarray(table["direction"], dtype=object)
    return np.asarray(words == DIRECTIONS[1], dtype=np.int64)


def _whole(column: Any, missing: int) -> Ints:
    return np.asarray(np.ma.filled(np.ma.asarray(column).astype(np.int64), missing))


def _instants(column: Any) -> Instants | None:
    found = _whole(column, NULL_NS)
    return found if (found != NULL_NS).any() else None


def _numbered(column: Any) -> tuple[Ints, tuple[str, ...]]:
    """Number of each row's word (-1: none), and the words."""
    plain: list[object] = np.ma.asarray(column, dtype=object).tolist()
    words = np.array(["" if word is None else str(word) for word in plain], dtype=object)
    if not len(words):
        return np.zeros(0, dtype=np.int64), ()
    names, number = np.unique(words.astype(str), return_inverse=True)
    number = number.astype(np.int64)
    if names[0] == "":
        return number - 1, tuple(names[1:].tolist())
    return number, tuple(names.tolist())
