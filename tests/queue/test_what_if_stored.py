"""`iosonde simulate --from` on a store: a probe's reads with the operations that servers counted beside them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from iosonde.cli.main import main
from iosonde.jobs.store.series import write_block
from iosonde.model.metrics import MetricBlock
from tests.kit.samples.makers import SECOND, START, rows, sealed
from tests.kit.samples.queue_reads import known_reads

STEP_S = 80
"""A step of the servers' records."""
MISSING = 3
"""The step in which one server's record is missing."""


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(START / 1e9 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def stored(tmp_path):
    """Reads once a second, of which N and M are known; two OSTs that count reads and writes."""
    truth = known_reads("queue", 7)
    latency_ns = (truth.latency_s * 1e9).astype(np.int64).tolist()
    sealed(tmp_path, "a", rows(latency_ns, op="data_read", size_bytes=1 << 20))
    steps = len(latency_ns) // STEP_S
    loads = truth.load_per_s[::STEP_S][:steps]
    for metric, share in (("read_ops", 0.3), ("write_ops", 0.7)):
        value = np.outer(loads * STEP_S * share, (0.25, 0.75))
        value[MISSING, 1] = np.nan if metric == "read_ops" else value[MISSING, 1]
        times = START + np.arange(steps, dtype=np.int64) * STEP_S * SECOND
        step = np.full(steps, STEP_S * SECOND)
        block = MetricBlock(
            *("lmt", "work", "ost", metric, "operations", "delta", ("OST0", "OST1")),
            *(times, step, value),
        )
        write_block(tmp_path, block)
    return tmp_path, truth, len(latency_ns)


def ask(root, *more):
    span = ["--since", _when(-10), "--until", _when(100_000)]
    return main(["simulate", "--from", "--target", "/work", *span, "--store", str(root), *more])


def test_reads_and_loads_of_the_store_give_the_queue(stored, capsys):
    root, truth, n = stored
    metrics = ("--metric", "read_ops,ost/write_ops", "--system", "work")
    assert ask(root, *metrics, "--queue", "5", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert f"{n - STEP_S:,} of {n:,} reads have a load of ost/read_ops, ost/write_ops" in err
    found = json.loads(out)
    assert found["service_s"]["value"] == pytest.approx(truth.service_s, rel=0.1)
    assert found["queue"]["lower"] * 0.95 <= truth.queue <= found["queue"]["upper"] * 1.05
    assert "With a queue of 5 instead of " in found["sentences"][-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--metric", "reads"), "no series 'reads' of that time; expected one of ost/read_ops"),
        (("--metric", "mds/read_ops"), "no series 'mds/read_ops'"),
        (("--metric", "read_ops", "--system", "home"), "no series 'read_ops'"),
        (("--metric", "read_ops", "--op", "md_stat"), "/work has no md_stat that ended ok"),
        ((), "the reads are not named; expected a FILE, or --target and --metric"),
    ],
)
def test_what_is_not_there_is_said(stored, capsys, words, said):
    root, _, _ = stored
    assert ask(root, *words) != 0
    assert said in capsys.readouterr().err


def test_bytes_are_no_operations(stored, capsys):
    root, _, _ = stored
    times = np.array([START], dtype=np.int64)
    names = ("lmt", "work", "ost", "read_bytes", "bytes", "delta", ("OST0",))
    block = MetricBlock(*names, times, np.array([SECOND]), np.array([[1e6]]))
    write_block(root, block)
    assert ask(root, "--metric", "read_bytes") == 2
    assert "read_bytes counts bytes; expected a series of operations" in capsys.readouterr().err
