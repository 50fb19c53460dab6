"""What a Prometheus server knows of storage, into the store: a range of time, asked for over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iosonde.connectors.prometheus.http_api import KIND, read_range
from iosonde.ingest.records import FileImport, Told, imported

if TYPE_CHECKING:
    from iosonde.connectors.source import Settings


class QueryRange(NamedTuple):
    """Instants in [begin, end], every ``step_ns``."""

    begin_ns: int
    end_ns: int
    step_ns: int


def is_address(text: str) -> bool:
    """Whether it is the address of a server, not the name of a file."""
    scheme, mark, _ = text.partition("://")
    return bool(mark) and scheme.isalpha()


def import_ranges(  # noqa: PLR0917 - a range of servers, and what records share
    root: Path,
    urls: Sequence[str],
    span: QueryRange,
    settings: Settings,
    told: Told,
    environment: Mapping[str, str] = os.environ,
) -> Iterator[FileImport]:
    """Import what each server has of a range. Raises StoreError."""
    for url in urls:
        items = read_range(url, *span, settings, told, environment=environment)
        yield imported(root, url, KIND, items, told)
