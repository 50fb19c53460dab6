"""Private in-memory engines: no network, temporary tables only, spilling to the system's temporary folder.

Starting one takes 14 ms and most questions need several, so an engine that nobody uses any more is used again. Each
serves one connection at a time, since some settings are of the whole engine.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import defaultdict
from contextlib import suppress
from typing import NamedTuple

import duckdb

from iosonde.engine.stopping import current_stop

_MOST_IDLE = 4
"""Most idle engines of one kind: their threads wait, and cost no processor time."""
_STOPPABLE = "SET scheduler_process_partial = true"
"""Else a Ctrl-C waits until all threads of the engine have done their part, be it for hours (DuckDB 2.0)."""
_DEFAULTS = "RESET memory_limit; SET preserve_insertion_order = false"
_idle: dict[_Kind, list[duckdb.DuckDBPyConnection]] = defaultdict(list)


class _Kind(NamedTuple):
    """Key of interchangeable engines. A fork inherits those of its parent, and must not touch them."""

    process: int
    threads: int | None
    spill: str


def connect(threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """Connection to a private engine; its tables and views are temporary and end with it.

    It ends with the question that this thread works on. Raises StoppedError: that was stopped.
    """
    if stop := current_stop():
        stop.check()
    kind = _Kind(os.getpid(), threads, tempfile.gettempdir())
    try:
        engine = _idle[kind].pop()
    except IndexError:
        engine = _started(kind)
    con = engine.cursor()
    con.execute(_DEFAULTS)
    weakref.finalize(con, _give_back, engine, kind).atexit = False
    if stop:
        stop.take(con)
    return con


def _give_back(engine: duckdb.DuckDBPyConnection, kind: _Kind) -> None:
    if len(_idle[kind]) < _MOST_IDLE or kind.process != os.getpid():
        _idle[kind].append(engine)


def _started(kind: _Kind) -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": kind.spill,
        }
    )
    engine.execute(_STOPPABLE)
    with suppress(duckdb.InvalidInputException):  # Jupyter without widgets: no bar, and no setting
        engine.execute("SET enable_progress_bar = false")
    if kind.threads is not None:
        engine.execute(f"SET threads = {kind.threads}")
    return engine
