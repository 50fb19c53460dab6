"""A query on samples as a value, and the one call that runs it.

::

    query   SQL, tables of parameters, how to read what SQL gives, how answers of two slices become one
    run     cuts the scope into slices of bounded memory; each: view ``samples`` -> SQL -> read; merges their answers

A query holds no connection: it can be pickled. ``engine.cluster`` is another implementation of ``run``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path
from typing import Any, Generic, TypeVar

import duckdb
import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.reader import (
    SampleFilter,
    Sources,
    look_at,
    make_live,
    with_files,
)
from iosonde.engine.slices import Slice, slices
from iosonde.engine.spool import SpoolRows

T = TypeVar("T")

LANES = 4
"""Slices run in parallel: Python's work on one overlaps with the SQL of the next. Each takes about 150 MiB."""


@dataclass(frozen=True)
class Query(Generic[T]):
    """A query on the samples of ``scope`` (the view ``samples``, with the columns of samples.toml)."""

    sql: Sequence[str]
    """SELECTs. Rows of a table come in its order."""
    read: Callable[..., T]
    """Computes the result from the columns (name -> masked array) of each SELECT. A function of a module."""
    scope: SampleFilter = field(default_factory=SampleFilter)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parameter tables for SQL: name -> columns."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Tables that SELECTs create first, in this order."""
    merge: Callable[[T, T], T] | None = None
    """Associative merge of the results of two consecutive slices. None: results cannot be merged."""
    cut_ns: int | None = None
    """Slices start at multiples of it, so that no window spans two. None: the embedded engine needs no slices for a
    small result, and is quicker without.
    """


def run(root: Path, queries: Sequence[Query[T]]) -> list[T]:
    """Results of queries by the threads of the embedded engine. Raises what ``with_files`` raises."""
    return [with_files(root, query.scope, partial(answer, query)) for query in queries]


def rows(columns: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Columns as rows of Python's own types; null is None."""
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def answer(query: Query[T], con: duckdb.DuckDBPyConnection, sources: Sources) -> T:
    """Result of one query, by one connection that has the live rows."""
    give_parameters(con, query)
    if query.merge is None or query.cut_ns is None:
        return answer_slice(con, query, Slice(query.scope, sources.files))
    parts = slices(con, sources.files, query.scope, query.cut_ns)
    if len(parts) == 1:
        return answer_slice(con, query, parts[0])
    lanes = min(os.cpu_count() or 1, LANES)
    ask = partial(answer_apart, query, live=sources.live, threads=(os.cpu_count() or 1) // lanes)
    pool = ThreadPoolExecutor(lanes)
    try:
        contexts = [copy_context() for _ in parts]
        asked = [pool.submit(one.run, ask, part) for one, part in zip(contexts, parts, strict=True)]
        return reduce(query.merge, (one.result() for one in asked))
    finally:
        pool.shutdown(cancel_futures=True)


def answer_apart(query: Query[T], part: Slice, live: Sequence[SpoolRows], threads: int) -> T:
    """Result for one slice by its own connection, so that slices can run in parallel."""
    con = connect(threads)
    try:
        make_live(con, live)
        give_parameters(con, query)
        return answer_slice(con, query, part)
    finally:
        con.close()


def give_parameters(con: duckdb.DuckDBPyConnection, query: Query[Any]) -> None:
    """Create the parameter tables of a query."""
    for name, columns in query.parameters.items():
        con.register("given", {key: np.ascontiguousarray(columns[key]) for key in columns})
        con.execute(f"CREATE TEMP TABLE {name} AS FROM given")


def answer_slice(con: duckdb.DuckDBPyConnection, query: Query[T], part: Slice) -> T:
    """Result for one slice."""
    look_at(con, part.files, part.scope)
    for name, select in query.tables.items():
        con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {select}")
    con.execute("SET preserve_insertion_order = true")
    try:
        return query.read(*[con.execute(select).fetchnumpy() for select in query.sql])
    finally:
        con.execute("SET preserve_insertion_order = false")
