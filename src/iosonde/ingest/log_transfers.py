"""Darshan logs with files on Lustre into the table of transfers: ``iosonde locate`` finds them by their run's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.connectors.darshan import log
from iosonde.connectors.darshan.log_transfers import transfers_of_log
from iosonde.ingest.transfer_tables import keep_transfers
from iosonde.model.errors import InputFileError, MissingPartError

if TYPE_CHECKING:
    from iosonde.ingest.records import Records

MOST_LOGS = 100
"""Of more, or of a folder, only the jobs are stored: each log is read twice for this, and has a file of its own."""


def keep_logs(root: Path, records: Records) -> Iterator[tuple[str, int]]:
    """Store transfers of logs with files on Lustre: (run, OSTs) of each. Raises StoreError."""
    paths = [path for path, one in records if one.KIND == log.KIND and path.is_file()]
    for path in paths if len(paths) <= MOST_LOGS else ():
        try:
            found = transfers_of_log(path)
        except (InputFileError, MissingPartError):
            continue  # the import of its job says what is wrong with it
        if keep_transfers(root, found, found.run):
            yield found.run, len(found.targets)
