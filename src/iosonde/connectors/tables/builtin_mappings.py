"""Mappings of tables that are widely used, and of tables whose columns are called what they are."""

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
    """Those that come with iosonde, each for a format."""
    folder = files("iosonde.connectors.tables") / "mappings"
    return tuple(
        read_mapping((folder / f"{name}.toml").read_text("utf-8"), f"{name}.toml", name)
        for name in _KNOWN
    )


def by_own_names(path: Path, names: tuple[str, ...]) -> Mapping:
    """Every column of numbers is a metric; columns named as those of a JobTable are these."""

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
