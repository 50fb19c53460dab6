"""Choice of the engine by a URL; queries are the same for all.

``threads:`` (the default) are those of this process, ``dask://HOST:PORT`` the workers of a Dask scheduler.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from iosonde.engine import query
from iosonde.engine.query import Query
from iosonde.model.errors import UsageError

T = TypeVar("T")

VARIABLE = "IOSONDE_ENGINE"
"""The environment variable with the URL."""


def run(root: Path, queries: Sequence[Query[T]]) -> list[T]:
    """Results of queries by the engine that the environment names. Raises what that raises, UsageError."""
    url = os.environ.get(VARIABLE) or "threads:"
    scheme, _, rest = url.partition(":")
    if scheme == "threads" and not rest.strip("/"):
        return query.run(root, queries)
    if scheme == "dask" and rest.startswith("//") and rest.strip("/"):
        from iosonde.engine import cluster

        return cluster.run(f"tcp:{rest}", root, queries)
    raise UsageError(
        f"{VARIABLE}: there is no engine {url!r}", expected="threads: or dask://HOST:PORT"
    )
