"""Note of a kept tree: its creation parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.metadata.workload import MetadataWorkload
from iosonde.bench.runtime.rank_group import RankGroup
from iosonde.host.processes import Processes
from iosonde.model.errors import IosondeError, MeasureError


def read_kept(
    place: StorageLocation, processes: Processes, wanted: Callable[[], bool] = lambda: False
) -> dict[str, Any] | None:
    """The note of a kept tree at a place; None if there is none. Raises MeasureError, UsageError."""
    found: dict[str, Any] | None = None
    error: IosondeError | None = None
    if processes.number == 0:
        try:
            start = MetadataWorkload.starter(place, {"ranks": 1})
            (text,) = RankGroup(start, place.name, 0, 1, wanted).ask("note")
            found = None if text is None else _checked(json.loads(text))
        except IosondeError as raised:
            error = raised
        except (ValueError, KeyError, TypeError):
            error = MeasureError(
                f"{place.name}: what the kept tree says of itself is damaged, or of another version",
                expected="a tree made by this version of iosonde",
                hint="removing what it made there by hand",
            )
    error, found = processes.broadcast((error, found))
    if error is not None:
        raise error
    return found


def _checked(note: dict[str, Any]) -> dict[str, Any]:
    """Validate a note of ``Spec.kept``. Raises KeyError, TypeError, ValueError."""
    names = ("ranks", "data_sets", "objects", "size_bytes", "seed")
    if note["format"] != 1 or not all(type(note[name]) is int for name in names):
        raise ValueError("not a note of this version")
    return note
