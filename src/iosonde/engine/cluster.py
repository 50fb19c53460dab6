"""Queries by the engine that a URL names: threads of this process, or a Dask cluster with a task a slice.

::

    client   lists files, reads the spool, cuts into slices          (engine.reader, engine.slices)
    worker   a slice: view ``samples`` -> SQL -> read                 (engine.query.answer_apart)
    client   merges the answers in the order of their slices

Workers need the store's folder at the same path, and the same version of iosonde. When a worker dies, another one gets
its tasks. A query that slices cannot answer, and a store so small that it is one slice, stay on the client.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from iosonde import __version__
from iosonde.engine import query as embedded
from iosonde.engine.query import Query, answer, answer_apart
from iosonde.engine.reader import Sources, with_files
from iosonde.engine.slices import Slice, slices
from iosonde.engine.spool import SpoolRows
from iosonde.model.errors import MissingPartError, StoreError, UsageError

if TYPE_CHECKING:
    import duckdb
    from distributed import Client, Future

T = TypeVar("T")

VARIABLE = "IOSONDE_ENGINE"
"""Environment variable with the URL: ``threads:`` (the default), ``dask://HOST:PORT`` of a scheduler."""
RETRIES = 3
"""Retries of a task that raised. A worker's death does not count."""
PATIENCE_S = 60.0
"""Longest time without any worker before a query fails."""
_LOOK_S = 2.0
_CONNECT_S = 10.0
_connected: dict[str, Client] = {}
"""Cached connection, by the scheduler's address."""


@dataclass(frozen=True)
class _Task(Generic[T]):
    """Input of a worker for one slice."""

    version: str
    query: Query[T]
    part: Slice
    live: Sequence[SpoolRows]


def run(root: Path, queries: Sequence[Query[T]]) -> list[T]:
    """Results of queries by the engine that the environment names. Raises what that raises, UsageError."""
    url = os.environ.get(VARIABLE) or "threads:"
    scheme, _, rest = url.partition(":")
    if scheme == "threads" and not rest.strip("/"):
        return embedded.run(root, queries)
    if scheme == "dask" and rest.startswith("//") and rest.strip("/"):
        return run_on(f"tcp:{rest}", root, queries)
    raise UsageError(
        f"{VARIABLE}: there is no engine {url!r}", expected="threads: or dask://HOST:PORT"
    )


def run_on(address: str, root: Path, queries: Sequence[Query[T]]) -> list[T]:
    """Results of queries, computed by the workers of the scheduler at ``address`` (``tcp://host:8786``).

    Raises what ``engine.query.run`` raises, MissingPartError without Dask, StoreError without a scheduler or workers.
    """
    client = _client(address)
    ask = partial(_fan_out, address, client)
    return [with_files(root, query.scope, partial(ask, query)) for query in queries]


def _fan_out(
    address: str,
    client: Client,
    query: Query[T],
    con: duckdb.DuckDBPyConnection,
    sources: Sources,
) -> T:
    if query.merge is None or query.cut_ns is None:
        return answer(query, con, sources)
    parts = slices(con, sources.files, query.scope, query.cut_ns)
    if len(parts) == 1:
        return answer(query, con, sources)
    tasks = [
        _Task(__version__, query, part, [rows for rows in sources.live if _reaches(rows, part)])
        for part in parts
    ]
    futures = [client.submit(_work, task, retries=RETRIES, pure=False) for task in tasks]
    try:
        found: T = reduce(query.merge, (_result(address, client, each) for each in futures))
        return found
    finally:
        client.cancel(futures)  # type: ignore[no-untyped-call]


def _reaches(rows: SpoolRows, part: Slice) -> bool:
    """True if some of the rows are within the slice's time."""
    due, since, until = rows.columns["due_ns"], part.scope.since_ns, part.scope.until_ns
    inside = np.ones(len(due), dtype=bool)
    if since is not None:
        inside &= due >= since
    if until is not None:
        inside &= due < until
    return bool(inside.any())


def _work(task: _Task[T]) -> T:
    """Result of a slice, in a worker process. Raises StoreError."""
    from distributed import get_worker

    worker = get_worker()
    if task.version != __version__:
        raise StoreError(
            f"the worker {worker.address} has iosonde {__version__}, this is {task.version}",
            expected="the same version on the cluster",
        )
    hidden = next((path for path in task.part.files if not path.parent.is_dir()), None)
    if hidden is not None:
        raise StoreError(
            f"the worker {worker.address} does not see {hidden.parent}",
            expected="a store in a folder that all workers share",
        )
    threads = max(1, (os.cpu_count() or 1) // worker.state.nthreads)
    return answer_apart(task.query, task.part, task.live, threads)


def _result(address: str, client: Client, future: Future[Any]) -> Any:
    """Result of a task. Raises what it raised; StoreError if no worker is left."""
    from distributed import CancelledError, KilledWorker
    from distributed import TimeoutError as NotYetError

    alone_since = None
    while True:
        try:
            return future.result(timeout=_LOOK_S)
        except NotYetError:
            if client.scheduler_info(n_workers=1)["workers"]:
                alone_since = None
                continue
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > PATIENCE_S:
                raise StoreError(
                    f"the cluster at {address} has had no worker for {PATIENCE_S:.0f} s",
                    hint="starting one: dask worker " + address,
                ) from None
        except KilledWorker as error:
            raise StoreError(
                f"workers died of a slice of this question: {error}",
                expected="1 GiB of memory for each worker's thread",
            ) from error
        except CancelledError as error:
            raise StoreError(
                f"the cluster at {address} gave the question up",
                hint="the same question again, once the scheduler runs",
            ) from error


def close() -> None:
    """Close the cached connection."""
    for client in _connected.values():
        client.close()  # type: ignore[no-untyped-call]
    _connected.clear()


def _client(address: str) -> Client:
    """Connection to the scheduler, cached for later queries."""
    kept = _connected.get(address)
    if kept is not None and kept.status == "running":
        return kept
    close()
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingPartError(
            "a cluster needs Dask, which is not installed", hint="pip install 'iosonde[dask]'"
        ) from error
    try:
        client = Client(address, timeout=_CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise StoreError(
            f"no Dask scheduler answers at {address}",
            expected="dask://HOST:PORT of one that runs",
            hint="starting it: dask scheduler",
        ) from error
    _connected[address] = client
    return client
