"""Tables of jobs of users: files or data frames, with mappings as files or dicts."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from iosonde.connectors.source import Settings
from iosonde.connectors.tables.mapping_toml import mapping_of
from iosonde.jobs.correlate.answers import Peak
from iosonde.jobs.table import answers as job_tables
from iosonde.model.errors import InputFileError, UsageError
from iosonde.notebook.arguments import in_python, paths_of, zone_of
from iosonde.notebook.columns import INSTANTS
from iosonde.notebook.jobs import Jobs

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from iosonde.notebook.arguments import Mappings, Paths, Zone

__all__ = ["Peak", "of_tables"]
_NAME = "frame"


@in_python
def of_tables(
    tables: Paths | DataFrame, mapping: Mappings, system: str, zone: Zone, peak: Peak
) -> Jobs:
    """See ``iosonde.read_jobs``."""
    if peak not in get_args(Peak):
        raise UsageError(
            f"there is no peak {peak!r}", expected=f"one of {', '.join(get_args(Peak))}"
        )
    notes: list[str] = []
    given = _mappings(mapping)
    settings = Settings(system=system, zone=zone_of(zone))
    if not hasattr(tables, "to_csv"):
        paths = paths_of(cast("Paths", tables))
        return Jobs(job_tables.file_jobs(paths, given, settings, notes.append, peak), notes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _NAME
        _write(tables, path, as_store=not given)
        try:
            table = job_tables.file_jobs([path], given, settings, notes.append, peak)
        except (InputFileError, UsageError) as error:
            error.what = error.what.replace(str(path), "the frame")
            raise
    return Jobs(table, [note.replace(str(path), "the frame") for note in notes])


def _mappings(given: Mappings) -> list[Any]:
    """Paths and mappings of files, folders and dicts, one or several. Raises UsageError."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    found: list[Any] = []
    for place, one in enumerate(several, 1):
        if isinstance(one, Mapping):
            found.append(mapping_of(_plain(one), f"mapping {place}", "mapping"))
        else:
            found += paths_of(one)
    return found


def _plain(given: Any) -> Any:
    """Dicts and lists as TOML gives them: a mapping that is read loses its keys."""
    if isinstance(given, Mapping):
        return {str(name): _plain(one) for name, one in given.items()}
    if isinstance(given, list | tuple):
        return [_plain(one) for one in given]
    return given


def _write(frame: DataFrame, path: Path, *, as_store: bool) -> None:
    """Write a data frame as CSV, with its index where that has a name.

    ``as_store``: timestamps ``start`` and ``end`` become ``start_ns`` and ``end_ns``, as ``Jobs.to_pandas`` gave them.
    """
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    for name in frame.columns if as_store else ():
        if f"{name}_ns" in INSTANTS and frame[name].dtype.kind == "M":
            known = frame[name].notna()
            zoned = (
                frame[name] if frame[name].dt.tz is not None else frame[name].dt.tz_localize("UTC")
            )
            ns = (
                zoned.dt.tz_convert("UTC")
                .dt.tz_localize(None)
                .astype("datetime64[ns]")
                .astype("int64")
            )
            frame = frame.assign(**{name: ns.astype(object).where(known, "")})
            frame = frame.rename(columns={name: f"{name}_ns"})
    frame.to_csv(path, index=False)
