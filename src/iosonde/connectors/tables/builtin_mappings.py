"""Built-in mappings of common tables, and of tables with self-explanatory column names."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from iosonde.connectors.tables.mapping import Mapping, Time, Words
from iosonde.connectors.tables.mapping_toml import read_mapping
from iosonde.model.jobs import LABELS, SIZES

_KNOWN = ("pytokio",)


@cache
def known_mappings() -> tuple[Mapping, ...]:
    """Mappings shipped with iosonde, one per format."""
    folder = files("iosonde.connectors.tables") / "mappings"
    return tuple(
        read_mapping((folder / f"{name}.toml").read_text("utf-8"), f"{name}.toml", name)
        for name in _KNOWN
    )


def by_own_names(path: Path, names: tuple[str, ...]) -> Mapping:
    """Mapping by column names: numeric columns are metrics; those named as in a JobTable are its columns."""

    def words(name: str) -> Words:
        return Words((name,)) if name in names else Words()

    def time(name: str) -> Time | None:
        return Time((name,), "ns") if name in names else None

    return Mapping(
        place=str(path),
        name="columns by their own names",
        job_id=words("job_id"),
        step=words("step"),
        file_system=words("file_system"),
        motif=(words("motif"),) if "motif" in names else (),
        labels=tuple((name, Words((name,))) for name in LABELS if name in names),
        sizes=tuple((name, name) for name in SIZES if name in names),
        begin=time("start_ns"),
        end=time("end_ns"),
    )
