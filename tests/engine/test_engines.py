"""One conformance suite for all engines: the same store, the same questions, equal answers."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from typing import Any

import numpy as np
import pytest

from iosonde import __version__
from iosonde.engine import cluster, slices
from iosonde.engine.reader import SampleFilter
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.samples.windows import windows_query
from iosonde.weather.series.stretches import with_stretches
from iosonde.weather.store import Store
from tests.kit.samples import brute
from tests.kit.samples.makers import SECOND, START, sealed, simulated
from tests.kit.samples.stores import seal_first
from tests.kit.servers.cluster import Cluster
from tests.kit.servers.loopback import free_port

pytestmark = pytest.mark.service

MINUTE = 60 * SECOND
BEGIN = START // MINUTE * MINUTE
RELATIVE = 1e-12
"""Sums of floats depend on their order; everything else is equal."""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    random = np.random.default_rng(17)
    for number in range(12):
        begin = BEGIN + number * 600 * SECOND
        samples = brute.troubled(random, 600, begin)
        samples += brute.troubled(random, 50, begin, "md_stat")
        sealed(folder, f"r-{number}", [_as_an_agent(one) for one in samples])
    return folder


def _as_an_agent(sample):
    """The sample, begun in time: no two samples of a series are due at once in an agent's store."""
    if sample["outcome"] == "ok" and brute.late(sample):
        sample["began_ns"] = sample["due_ns"]
    return sample


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("dask"), 2, {})
    yield started
    started.close()


@pytest.fixture(autouse=True)
def no_connection_left():
    yield
    cluster.close()


@pytest.fixture
def sliced(monkeypatch):
    """Stores of a test are small: slices of a few hundred rows."""
    monkeypatch.setattr(slices, "_SMALL_BYTES", 0)
    monkeypatch.setattr(slices, "SLICE_ROWS", 600)


@pytest.fixture(params=["threads", "dask"])
def engine(request, monkeypatch, sliced):
    if request.param == "dask":
        monkeypatch.setenv(cluster.VARIABLE, request.getfixturevalue("dask").url)
    else:
        monkeypatch.setenv(cluster.VARIABLE, "threads:")
    return request.param


def equal(one: Any, other: Any) -> bool:
    """Equal to the last digit that arithmetic allows."""
    if hasattr(one, "columns"):
        return one.columns.keys() == other.columns.keys() and all(
            equal(one[name], other[name]) for name in one.columns
        )
    if isinstance(one, np.ndarray) and one.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=RELATIVE, atol=0, equal_nan=True))
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def tags(windows: Any) -> dict[str, Any]:
    named = {name: windows[name] for name in ("host", "target", "op", "period_ns", "start_ns")}
    return {**named, "tag": np.arange(len(windows)) // 3}


QUESTIONS = {
    "targets": lambda store: store.targets(),
    "count": lambda store: store.count(),
    "windows": lambda store: store.windows(MINUTE),
    "levels of windows": lambda store: store.windows(7 * MINUTE, levels=True),
    "a range": lambda store: store.windows(
        MINUTE, since_ns=BEGIN + 1000 * SECOND, until_ns=BEGIN + 5000 * SECOND
    ),
    "one op": lambda store: store.windows(MINUTE, ops=["md_stat"]),
    "tally": lambda store: store.tally(),
    "cells": lambda store: store.cells(MINUTE, 5),
    "boxes": lambda store: store.boxes(1.5, 4),
    "pooled": lambda store: store.pooled(
        tags(store.windows(MINUTE)), MINUTE, ["mean_ns", "q95_ns"]
    ),
    "roll-ups": lambda store: store.rolled_windows(10 * MINUTE),
    "slowdown": lambda store: (
        with_stretches(store, SlowdownQuery(window_ns=MINUTE), BEGIN + 10**13).windows
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_engines_agree(root, engine, monkeypatch, question):
    ask = QUESTIONS[question]
    found = ask(Store(root))
    monkeypatch.undo()
    whole = ask(Store(root))
    assert equal(found, whole)
    assert len(whole if hasattr(whole, "__len__") else [whole]) > 0


def windows_of(root, found):
    found.append(Store(root).windows(MINUTE))


def test_a_worker_dies_in_the_middle(root, dask, sliced, monkeypatch):
    whole = Store(root).windows(MINUTE)
    monkeypatch.setenv(cluster.VARIABLE, dask.url)
    third = dask.add_worker()
    dask.client.wait_for_workers(3)
    dask.freeze(third)
    found: list[Any] = []
    question = threading.Thread(target=windows_of, args=(root, found))
    question.start()
    try:
        give_up = time.monotonic() + 60
        while not dask.client.processing().get(third):
            assert time.monotonic() < give_up, "the third worker gets no task"
            time.sleep(0.01)
        assert not found, "it waits for the frozen worker"
    finally:
        dask.kill_worker(third)
        question.join()
    assert equal(found[0], whole)


def test_a_worker_without_the_store_is_named(root, dask, tmp_path):
    part = slices.Slice(SampleFilter(), [tmp_path / "gone" / "a.parquet"])
    task = cluster._Task(__version__, windows_query(SampleFilter(), MINUTE), part, [])
    with pytest.raises(StoreError, match=r"worker tcp://\S+ does not see .*/gone"):
        dask.client.submit(cluster._work, task, pure=False).result()
    other = dataclasses.replace(task, version="0.0.1")
    with pytest.raises(StoreError, match=r"has iosonde .*, this is 0\.0\.1"):
        dask.client.submit(cluster._work, other, pure=False).result()


def test_a_cluster_without_workers_ends(root, tmp_path, sliced, monkeypatch):
    empty = Cluster(tmp_path, 0, {})
    try:
        monkeypatch.setattr(cluster, "PATIENCE_S", 1.0)
        monkeypatch.setenv(cluster.VARIABLE, empty.url)
        with pytest.raises(StoreError, match="has had no worker for 1 s"):
            Store(root).windows(MINUTE)
    finally:
        empty.close()


def test_no_scheduler(root, monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.5)
    monkeypatch.setenv(cluster.VARIABLE, f"dask://127.0.0.1:{free_port()}")
    with pytest.raises(StoreError, match="no Dask scheduler answers at tcp://127"):
        Store(root).windows(MINUTE)


@pytest.mark.parametrize("url", ["dask", "dask://", "ray://host:1", "threads:4"])
def test_an_engine_that_does_not_exist(root, monkeypatch, url):
    monkeypatch.setenv(cluster.VARIABLE, url)
    with pytest.raises(UsageError, match="there is no engine"):
        Store(root).count()


def test_rows_of_the_spool_go_with_their_slices(tmp_path, dask, sliced, monkeypatch):
    simulated(tmp_path, 3 * 3600)
    seal_first(tmp_path)
    assert list(tmp_path.glob("spool/*/*.spool")), "some rows are not sealed yet"
    whole = Store(tmp_path).windows(MINUTE)
    monkeypatch.setenv(cluster.VARIABLE, dask.url)
    assert equal(Store(tmp_path).windows(MINUTE), whole)
