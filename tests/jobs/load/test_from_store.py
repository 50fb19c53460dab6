"""The load of a store: what was written there is what is seen, however it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from iosonde.jobs.load import from_store
from iosonde.jobs.load.from_store import OWN, load_of_store
from iosonde.jobs.load.view import Asked, load_view
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.series import write_block
from iosonde.model.errors import NothingMeasuredError
from iosonde.serve.app import create
from tests.jobs.attribution.test_stored import BEGIN, HOUR, STEPS, S, block, job

NOW = BEGIN + 5 * HOUR


@pytest.fixture
def root(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    ops = rng.poisson((50, 900), (STEPS, 2)).astype(float)
    ops[100:110] = np.nan
    write_block(tmp_path, block(ops, ("n1.site.org", "n2.site.org")))
    write_jobs(tmp_path, [job("7", ("n1",)), job("8", ("n2",), user="alice")])
    return tmp_path


def test_operations_of_a_store_are_seen_and_gaps_are_no_zeros(root: Path) -> None:
    history = load_view(load_of_store(root, NOW), Asked("user", BEGIN, BEGIN + 2 * HOUR, 1000, 9))
    assert [part.name for part in history.parts] == ["alice", "u7"]
    assert history.axis.step_ns == 30 * S
    assert history.total.ops.max() == pytest.approx(950 / 30, rel=0.2)
    assert (history.covered == 0).sum() == 10


def test_read_in_pieces_it_is_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked("user", BEGIN, BEGIN + 2 * HOUR, 1000, 9)
    whole = load_view(load_of_store(root, NOW), asked)
    monkeypatch.setattr(from_store, "_AT_ONCE", 2 * 50)
    pieces = load_view(load_of_store(root, NOW), asked)
    assert np.allclose(pieces.total.ops, whole.total.ops)
    assert np.allclose(pieces.covered, whole.covered)
    for one, other in zip(whole.parts, pieces.parts, strict=True):
        assert one.name == other.name
        assert other.ops == pytest.approx(one.ops, rel=0.05)


def test_counters_of_jobs_are_of_no_node(tmp_path: Path) -> None:
    values = np.full((STEPS, 1), 60.0)
    write_block(tmp_path, block(values, ("7",), level="job", source="lustre"))
    write_jobs(tmp_path, [job("7", ("n1",), user="alice")])
    history = load_of_store(tmp_path, NOW)
    assert history.groups.names == (OWN,)
    view = load_view(history, Asked("user", BEGIN, BEGIN + 2 * HOUR, 1000, 9))
    assert [(part.name, part.ops) for part in view.parts] == [("alice", pytest.approx(60 * STEPS))]


def test_a_store_without_records_or_jobs_says_so(tmp_path: Path) -> None:
    with pytest.raises(NothingMeasuredError, match="no operations of nodes"):
        load_of_store(tmp_path, NOW)
    write_block(tmp_path, block(np.ones((9, 1)), ("n1",)))
    with pytest.raises(NothingMeasuredError, match="no job"):
        load_of_store(tmp_path, NOW)


def test_the_server_reads_the_store_and_hashes_its_names(root: Path) -> None:
    with TestClient(create(root, clock=lambda: NOW), base_url="http://127.0.0.1") as client:
        load = client.get("/api/load").json()
        assert load["columns"][0]["name"].startswith("user-")
        assert "alice" not in str(load)
        shown = client.get("/api/load", params={"by": "job"}).json()
        assert [one["name"] for one in shown["columns"]] == ["8", "7"]
