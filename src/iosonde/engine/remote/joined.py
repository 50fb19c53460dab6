"""Several store folders as one: a folder of links to each host's folders.

::

    samples/date=D/host=H -> /a/samples/date=D/host=H          where one store has it
    samples/date=D/host=H/ with links to files of /a and /b    where both have it: a name counts once
    state/H, spool/H, windows/H, events/H, baselines/H         likewise

It is as the stores were when it was made; files that appear in linked folders show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from iosonde.model.errors import StoreError

_BY_DAY = ("samples", "rollups")
_BY_HOST = ("state", "spool", "windows", "events", "baselines")


def join(stores: Sequence[Path], into: Path) -> Path:
    """Make ``into`` the union of stores; of two files of one name the first store's counts. Raises StoreError."""
    folders: dict[Path, list[Path]] = defaultdict(list)
    try:
        for store in stores:
            for table in _BY_DAY:
                for folder in (store / table).glob("date=*/host=*"):
                    folders[folder.relative_to(store)].append(folder)
            for table in _BY_HOST:
                for folder in (store / table).glob("*"):
                    if folder.is_dir():
                        folders[folder.relative_to(store)].append(folder)
        for name, those in folders.items():
            place = into / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if len(those) == 1:
                place.symlink_to(those[0].resolve())
                continue
            place.mkdir()
            for folder in those:
                for file in folder.iterdir():
                    link = place / file.name
                    if not link.is_symlink():
                        link.symlink_to(file.resolve())
    except OSError as error:
        raise StoreError(
            f"cannot join stores: {error.filename}: {error.strerror}", expected="stores to read"
        ) from error
    return into
