"""Transfers and rates of imported runs into the tables that ``iosonde locate`` reads."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.bench.bandwidth import tables
from iosonde.engine.layout.dates import utc_date
from iosonde.model.frames import NULL_NS
from iosonde.model.names import slug
from iosonde.model.transfers import DIRECTIONS, Transfers

_WORDS = np.array(DIRECTIONS, dtype=object)


def _targets(found: Transfers) -> Any:
    """Column of targets, shape (rows,); None if unknown."""
    first, target, share = found.stripes.first, found.stripes.target, found.stripes.share
    column = np.full(len(found), None, dtype=object)
    known: dict[tuple[tuple[int, ...], tuple[float, ...]], str] = {}
    for row in np.flatnonzero(np.diff(first)).tolist():
        part = slice(first[row], first[row + 1])
        key = tuple(target[part].tolist()), tuple(share[part].tolist())
        if key not in known:
            names = [found.targets[one] for one in key[0]]
            even = len(set(key[1])) == 1
            known[key] = ";".join(
                name if even else f"{name}={part}" for name, part in zip(names, key[1], strict=True)
            )
        column[row] = known[key]
    return column


def keep_transfers(root: Path, found: Transfers, run_id: str) -> int:
    """Write a run's transfers and rates, replacing an earlier version; returns the number of transfers.

    A rank whose bytes are not known, or an end of whose transfer is missing, has no row. Raises StoreError.
    """
    good = found.usable()
    n = int(good.sum())
    if not n:
        return 0
    files = np.array([*(name or None for name in found.files), None], dtype=object)
    nothing = np.full(n, None, dtype=object)
    hosts = np.array([*found.hosts, None], dtype=object)
    instants = {
        name: np.full(n, NULL_NS) if (column := getattr(found, name)) is None else column[good]
        for name in ("open_begin_ns", "open_end_ns", "close_begin_ns", "close_end_ns")
    }
    columns = {
        "run_id": np.full(n, run_id, dtype=object),
        "repetition": found.repetition[good],
        "direction": _WORDS[found.direction[good]],
        "rank": found.rank[good],
        "host": hosts[found.host[good]],
        "file": files[found.file[good]],
        "targets": _targets(found)[good],
        "bytes": found.bytes[good],
        "transfer_begin_ns": found.transfer_begin_ns[good],
        "transfer_end_ns": found.transfer_end_ns[good],
        **instants,
        "position": np.full(n, np.nan) if found.position is None else found.position[good],
        "layout": nothing,
    }
    began = int(found.transfer_begin_ns[good].min())
    tables.write_part(root, "transfers", run_id, "import", columns)
    rates = found.rates
    if rates is not None:
        of_rates = {
            "run_id": np.full(len(rates.rank), run_id, dtype=object),
            "repetition": rates.repetition,
            "direction": _WORDS[rates.direction],
            "rank": rates.rank,
            "begin_ns": rates.begin_ns,
            "bytes": rates.bytes,
        }
        tables.write_part(root, "rates", run_id, "import", of_rates)
    tables.finish(root, run_id, began)
    for table in tables.TABLES:
        for path in (root / table).glob(f"date=*/{slug(run_id)}.parquet"):
            if path.parent.name != f"date={utc_date(began)}":
                with suppress(OSError):
                    path.unlink()
    return n
