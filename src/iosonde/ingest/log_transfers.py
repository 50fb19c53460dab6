"""Darshan logs with files on Lustre into the table of transfers, for ``iosonde locate`` by the run's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from iosonde.connectors.darshan import log
from iosonde.connectors.darshan.log_transfers import transfers_of_logs
from iosonde.connectors.darshan.tree import logs_in
from iosonde.connectors.source import Connector
from iosonde.ingest.transfer_tables import keep_transfers
from iosonde.model.errors import InputFileError, MissingPartError
from iosonde.model.transfers import Transfers

MOST_LOGS = 1000
"""Most logs whose transfers are stored: each is read twice for this, and has its own file in the store."""


def logs_of(records: Sequence[tuple[Path, Connector]]) -> list[Path]:
    """Darshan logs among records, and those in folders of them."""
    mine = [path for path, one in records if one.KIND == log.KIND]
    inside = (one for path in mine if path.is_dir() for one in logs_in(path, _silent))
    return [*(path for path in mine if not path.is_dir()), *inside]


def keep_logs(
    root: Path, paths: Sequence[Path], progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[str, int]]:
    """Store transfers of up to ``MOST_LOGS`` logs with files on Lustre; yields (run, OSTs). Raises StoreError."""
    if not paths or len(paths) > MOST_LOGS:
        return
    try:
        for done, found in enumerate(transfers_of_logs(paths), 1):
            # Of a damaged log the import of its job says what is wrong with it.
            if isinstance(found, Transfers) and keep_transfers(root, found, found.run):
                yield found.run, len(found.targets)
            if progress is not None:
                progress(done, len(paths))
    except MissingPartError:
        return


def _silent(_error: InputFileError) -> None:
    """Ignore errors, which the import of jobs reports."""
