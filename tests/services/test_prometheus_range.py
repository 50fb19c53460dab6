"""Range queries of a real Prometheus that holds known counters."""

import csv
import io
import json
import math
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from iosonde.cli.main import main
from iosonde.connectors.prometheus import http_api as prometheus_http
from iosonde.connectors.source import Settings
from iosonde.jobs.store.series import SeriesName, read_block
from iosonde.model.metrics import MetricBlock

pytestmark = pytest.mark.service

S = 1_000_000_000
T = 1_700_000_000 // 15 * 15


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=2) as reply:
            return reply.status == 200
    except OSError:
        return False


@contextmanager
def prometheus(folder: Path, openmetrics: str) -> Iterator[str]:
    """A server with what a text holds, and nothing else."""
    page = folder / "page.txt"
    page.write_text(openmetrics)
    blocks = [
        "promtool",
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        str(page),
        str(folder / "tsdb"),
    ]
    subprocess.run(blocks, check=True, capture_output=True, timeout=60)
    config = folder / "prometheus.yml"
    config.write_text("scrape_configs: []\n")
    port = free_port()
    command = [
        "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}",
        "--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stderr=log)
    try:
        until = time.monotonic() + 60
        while not ready(url):
            assert server.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(20)


def test_counters_with_a_reset_and_gauges(tmp_path: Path) -> None:
    bytes_read = [0, 100, 250, 40, 90, 90]
    lines = ["# TYPE lustre_read_bytes counter"]
    lines += [
        f'lustre_read_bytes_total{{ost="fs-OST0001"}} {v} {T + 15 * n}'
        for n, v in enumerate(bytes_read)
    ]
    dead = [(0, 5), (20, 9), (21, 11)]
    lines += [f'lustre_read_bytes_total{{ost="fs-OST0002"}} {v} {T + 15 * n}' for n, v in dead]
    lines += ["# TYPE lustre_capacity_kilobytes gauge"]
    lines += [f'lustre_capacity_kilobytes{{ost="fs-OST0001"}} 8 {T + 15 * n}' for n in range(6)]
    lines += [
        "# TYPE h histogram",
        f'h_bucket{{le="+Inf"}} 1 {T}',
        f"h_count 1 {T}",
        f"h_sum 1 {T}",
    ]
    with prometheus(tmp_path, "\n".join([*lines, "# EOF"]) + "\n") as url:
        told: list[str] = []
        items = list(
            prometheus_http.read_range(
                url,
                T * S,
                (T + 400) * S,
                15 * S,
                Settings(),
                lambda e: told.append(str(e)),
                environment={},
            )
        )
        with urllib.request.urlopen(f"{url}/api/v1/label/__name__/values", timeout=5) as reply:
            assert "h_bucket" in json.load(reply)["data"]
    assert not told
    blocks = [item for item in items if isinstance(item, MetricBlock)]
    found = {(block.metric, *block.components): block for block in blocks}
    assert set(found) == {
        ("read_bytes", "fs-OST0001"), ("read_bytes", "fs-OST0002"), ("total_bytes", "fs-OST0001"),
    }  # fmt: skip
    read = found[("read_bytes", "fs-OST0001")]
    assert (read.system, read.level) == ("fs", "ost")
    assert read.time_ns.tolist() == [(T + 15 * n) * S for n in range(5)]
    assert set(read.step_ns.tolist()) == {15 * S}
    np.testing.assert_array_equal(read.value.ravel(), [100, 150, math.nan, 50, 0])
    assert "counter-reset" in {note.flag for note in read.notes}
    # An exporter that was down for five minutes: one long step, not twenty with nothing in them.
    gap = found[("read_bytes", "fs-OST0002")]
    assert (gap.step_ns.tolist(), gap.value.ravel().tolist()) == ([300 * S, 15 * S], [4, 2])
    assert found[("total_bytes", "fs-OST0001")].value.ravel().tolist() == [8192] * 6


def test_imported_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``iosonde import http://...``: what the server has is in the store, and again changes nothing."""
    lines = ["# TYPE lustre_read_bytes counter"]
    lines += [
        f'lustre_read_bytes_total{{ost="fs-OST0001"}} {v} {T + 60 * n}'
        for n, v in enumerate((0, 100, 250, 40, 90))
    ]
    store = tmp_path / "store"
    with prometheus(tmp_path, "\n".join([*lines, "# EOF"]) + "\n") as url:
        asked = ["import", url, "--since", f"@{T}", "--until", f"@{T + 240}", "--store", str(store)]
        assert main(asked) == 0
        first = capsys.readouterr().out
        assert main(asked) == 0
        again = capsys.readouterr().out
    assert f"{url}: prometheus: 4 samples of 1 metric of fs, 25.00% missing" in first
    assert "counter-reset (1)" in first
    assert "already in the store" in again
    name = SeriesName("prometheus", "fs", "ost", "read_bytes")
    block = read_block(store, name, T * S, (T + 240) * S)
    assert block is not None
    np.testing.assert_array_equal(block.value.ravel(), [100, 150, math.nan, 50])
    assert set(block.step_ns.tolist()) == {60 * S}


def test_disks_become_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What node_exporter counts of a disk: metrics with the number of requests, samples with the mean."""
    counters = {"reads_completed": (0, 100, 300, 300, 400), "read_time_seconds": (0, 1, 2, 2, 4)}
    lines = []
    for name, values in counters.items():
        lines.append(f"# TYPE node_disk_{name} counter")
        lines += [
            f'node_disk_{name}_total{{device="sda",instance="n1:9100"}} {v} {T + 15 * n}'
            for n, v in enumerate(values)
        ]
    store = tmp_path / "store"
    with prometheus(tmp_path, "\n".join([*lines, "# EOF"]) + "\n") as url:
        span = ["--since", f"@{T}", "--until", f"@{T + 60}", "--every", "15s"]
        assert main(["import", url, *span, "--store", str(store)]) == 0
    assert "means of steps of 15s" in capsys.readouterr().out
    block = read_block(
        store, SeriesName("prometheus", "", "device", "read_ops"), T * S, (T + 60) * S
    )
    assert block is not None
    assert block.components == ("n1/sda",)
    assert block.value.ravel().tolist() == [100, 200, 0, 100]
    assert main(["export", "samples", "--store", str(store), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    found = [(int(row["due_ns"]), int(row["ended_ns"]) - int(row["began_ns"])) for row in rows]
    ms = 1_000_000
    assert found == [(T * S, 10 * ms), ((T + 15) * S, 5 * ms), ((T + 45) * S, 20 * ms)]
    assert {(row["host"], row["target"], row["op"]) for row in rows} == {
        ("n1", "n1/sda", "data_read")
    }
