"""Counters of disks become means of steps that the weather judges: from files to sentences."""

import json
import random
from pathlib import Path

import duckdb
import pytest

from iosonde.ingest.step_means import LEAST_S
from iosonde.weather.samples.periods import MEANS
from tests.kit.commands import run
from tests.kit.records.disk_texts import BEGIN_S, DISKSTATS, HOST, IOSTAT_ISO, IOSTAT_JSON

S = 1_000_000_000
STEP_S = 15
HOURS = 30
PAGE_S = BEGIN_S - 10 * 86_400
SLOW = (26 * 3600, 28 * 3600)
"""Seconds behind the begin in which one disk takes three times as long."""


def samples(store: Path) -> list[tuple[object, ...]]:
    sql = (
        "SELECT host, target, op, (due_ns - $at) // 1000000000, period_ns, ended_ns - began_ns, size_bytes, run_id "
        f"FROM read_parquet('{store}/samples/*/*/*.parquet') ORDER BY ALL"
    )
    return duckdb.execute(sql, {"at": BEGIN_S * S}).fetchall()


def log(folder: Path, text: str, name: str = f"{HOST}.diskstats") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_means_of_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, store = log(tmp_path, DISKSTATS), tmp_path / "store"
    assert run("import", str(path), store=store) == 0
    vda = [row for row in samples(store) if row[1] == f"{HOST}/vda"]
    reads = [(66, 400, 51200), (61, 442, 52600), (148, 651, 77344)]
    writes = [(107, 412, 52736), (109, 528, 67584), (98, 448, 57344)]
    for op, steps in (("data_read", reads), ("data_write", writes)):
        mine = [row for row in vda if row[2] == op]
        for n, ((ms, ops, sectors), row) in enumerate(zip(steps, mine, strict=True)):
            assert row[:5] == (HOST, f"{HOST}/vda", op, 2 * n, 2 * S)
            assert row[5] == pytest.approx(ms / ops * 1e6, abs=100)
            assert row[6:] == (round(512 * sectors / ops), f"{MEANS}diskstats")
    assert "means of steps of 2s, not single requests" in capsys.readouterr().out


def test_again_changes_nothing_and_a_longer_log_adds(tmp_path: Path) -> None:
    store = tmp_path / "store"
    lines = DISKSTATS.splitlines(True)
    path = log(tmp_path, "".join(lines[:12]))
    assert run("import", str(path), store=store) == 0
    first = samples(store)
    assert run("import", str(path), store=store) == 0
    assert samples(store) == first
    log(tmp_path, DISKSTATS)
    assert run("import", str(path), store=store) == 0
    whole = samples(store)
    assert set(first) < set(whole)
    assert len(whole) == len(set(whole))
    copy = log(tmp_path, DISKSTATS, f"{HOST}.copy.diskstats").rename(tmp_path / "copy")
    assert run("import", str(copy), "--host", HOST, store=store) == 0
    assert samples(store) == whole


@pytest.mark.parametrize(("name", "text"), [("a.txt", IOSTAT_ISO), ("a.json", IOSTAT_JSON)])
def test_what_iostat_printed(name: str, text: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run("import", str(log(tmp_path, text, name)), store=store) == 0
    vda = [row for row in samples(store) if row[1] == f"{HOST}/vda"]
    assert {row[2] for row in vda} == {"data_read", "data_write"}
    assert {row[7] for row in vda} == {f"{MEANS}iostat"}
    # Awaits of the text, in whole 10 us.
    assert all(0 < row[5] < 5_000_000 and row[5] % 10_000 == 0 for row in vda)


def counters(steps: list[tuple[int, int]], begin: int = 0) -> str:
    n = ms = 1
    text = ""
    for at, (more, took) in enumerate([(0, 0), *steps]):
        n, ms = n + more, ms + took
        text += (
            f"{BEGIN_S + begin + STEP_S * at}\n 8 0 sda {n} 0 {8 * n} {ms} 0 0 0 0 0 {ms} {ms}\n"
        )
    return text


def test_a_mean_of_few_requests_is_none(tmp_path: Path) -> None:
    """Kernels count whole ms: whether a mean is told must not hang on how long the step's requests took."""
    store = tmp_path / "store"
    busy = [(100, 100)] * 4
    few = [(2, 0), (2, 1), (2, 40)]
    assert LEAST_S > 2 * 0.0015
    path = log(tmp_path, counters(busy + few + busy))
    assert run("import", str(path), store=store) == 0
    assert [row[3] // STEP_S for row in samples(store)] == [0, 1, 2, 3, 7, 8, 9, 10]
    # Of a disk that takes 5 ms, one request will do.
    slow = log(tmp_path, counters([(10, 50)] * 3 + [(1, 6)]), "n2.diskstats")
    assert run("import", str(slow), store=store) == 0
    assert [row[5] for row in samples(store) if row[0] == "n2"] == [5_000_000] * 3 + [6_000_000]


def test_no_time_and_no_requests_are_missing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    path = log(tmp_path, counters([(100, 100), (0, 0), (100, 0), (100, 100)]))
    assert run("import", str(path), store=store) == 0
    assert [row[3] // STEP_S for row in samples(store)] == [0, 3]


def test_a_step_over_a_gap_is_no_sample(tmp_path: Path) -> None:
    store = tmp_path / "store"
    text = counters([(100, 100)] * 6)
    lines = text.splitlines(True)
    path = log(tmp_path, "".join(lines[:6] + lines[10:]))
    assert run("import", str(path), store=store) == 0
    assert [row[3] // STEP_S for row in samples(store)] == [0, 1, 5]


def page(hosts: int, disks: int) -> str:
    """A log of node_exporter's counters; sdb of n1 is slow for two hours."""
    random.seed(11)
    lines, sums = ["# TYPE node_disk_reads_completed_total counter"], {}
    for step in range(HOURS * 3600 // STEP_S):
        second = step * STEP_S
        for host in range(hosts):
            for disk in range(disks):
                slow = (host, disk) == (1, 1) and SLOW[0] <= second < SLOW[1]
                n = random.randint(50, 200)
                took = n * 0.005 * random.lognormvariate(0, 0.1) * (3 if slow else 1)
                labels = f'{{device="sd{"abc"[disk]}",instance="n{host}:9100"}}'
                for name, more in (
                    ("reads_completed_total", n),
                    ("read_time_seconds_total", round(took, 3)),
                ):
                    key = f"node_disk_{name}{labels}"
                    sums[key] = sums.get(key, 0) + more
                    lines.append(f"{key} {sums[key]:.3f} {(PAGE_S + second) * 1000}")
    return "\n".join(lines) + "\n"


def test_a_slow_disk_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    assert run("import", str(log(tmp_path, page(2, 3), "log.prom")), store=store) == 0
    capsys.readouterr()
    assert run("slowdown", "n1/sdb", "--store", str(store)) == 0
    said = capsys.readouterr().out
    assert "reads on n1/sdb were 3.0x slower than usual" in said
    assert run("events", "--since", f"@{PAGE_S}", "--format", "json", store=store) == 0
    found = json.loads(capsys.readouterr().out)["slow"]
    assert {(one["host"], one["target"]) for one in found} == {("n1", "n1/sdb")}
    at = f"@{PAGE_S + SLOW[0] + 3600}"
    assert run("why", "n1/sdb", "--at", at, store=store) == 0
    said = capsys.readouterr().out
    assert "component: n1/sdb 3.0x" in " ".join(said.split())
    assert "slower than 2 other targets" in " ".join(said.split())


def test_a_comparison_of_means_tells_no_quantile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mean hides the slow requests of its step: its q99 is none of theirs."""
    store = tmp_path / "store"
    random.seed(5)
    for name, factor in (("n1", 1), ("n2", 2), ("n3", 1)):
        took = [round(250 * factor * random.uniform(0.9, 1.1)) for _ in range(400)]
        path = log(tmp_path, counters([(50, ms) for ms in took]), f"{name}.diskstats")
        assert run("import", str(path), store=store) == 0
    capsys.readouterr()
    assert run("compare", "n1/sda", "n2/sda", store=store) == 0
    said = capsys.readouterr().out
    assert "reads are slower in B: q50 is" in said
    assert "means of steps" in said
    assert "q9" not in said
    assert run("compare", "n1/sda", "n2/sda", "--format", "json", store=store) == 0
    (op,) = json.loads(capsys.readouterr().out)["ops"]
    assert [one["level"] for one in op["quantiles"]] == [0.5]
    assert run("compare", "n1/sda", "n3/sda", store=store) == 0
    assert "the medians differ by at most 20%" in capsys.readouterr().out
