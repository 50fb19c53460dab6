"""Which of the files of benchmarks and single operations a file is, text or Parquet."""

from __future__ import annotations

from pathlib import Path

from iosonde.connectors.benchmarks.recognise import SAMPLES, recognise
from iosonde.connectors.samples.header import columns_of, lacking
from iosonde.engine.foreign import tables as foreign


def kind_of(path: Path) -> str:
    """One of ``KINDS``. Raises InputFileError: unreadable, or none of them."""
    names = foreign.columns_of(path)
    if names:
        found = columns_of(names)
        if not found.missing:
            return SAMPLES
        if found.near:
            raise lacking(path, found)
    return recognise(path)
