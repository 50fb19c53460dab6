"""mountstats: what passed between snapshots of each mount, whatever tells when they were."""

import math
import os
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.connectors.client import mountstats
from iosonde.connectors.source import head_of
from tests.kit.records.connected import Out, survives, take
from tests.kit.samples.latencies import real

S = 1_000_000_000
T = 1_700_000_000


def snapshot(
    reads: object, age: int = 100, point: str = "/m", vers: str = "1.1", more: str = ""
) -> str:
    errors = " 0" if vers == "1.1" else ""
    return (
        "device tmpfs mounted on /run with fstype tmpfs\n"
        f"device srv:/exp mounted on {point} with fstype nfs4 statvers={vers}\n"
        f"\topts:\trw,vers=4\n\tage:\t{age}\n\tbytes:\t9 9 9 9 {reads}000 5 1 1\n"
        "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\ttcp 1 2 3\n\tper-op statistics\n"
        f"\t        NULL: 1 1 0 44 24 43 12 57{errors}\n"
        f"\t        READ: {reads} {reads} 0 5 6 1000 2000 4000{errors}\n"
        f"\t   LAYOUTGET: 3 3 0 5 6 0 0 0{errors}\n{more}\n"
    )


def log(path: Path, *texts: str) -> Path:
    path.write_text("".join(texts))
    return path


def reads(out: Out) -> list[tuple[int, int, float]]:
    return out.series("read_ops", "/m", "srv:/exp")


EXPECTED = [(T * S, 5 * S, 20.0), ((T + 5) * S, 5 * S, 7.0)]


def test_stamps_behind_snapshots(tmp_path: Path) -> None:
    path = log(
        tmp_path / "a", *(snapshot(n) + f"{T + t}\n" for n, t in ((10, 0), (30, 5), (37, 10)))
    )
    assert mountstats.recognises(head_of(path))
    out = take(mountstats, path)
    assert reads(out) == EXPECTED
    assert out.values("read_bytes", "/m") == [20_000, 7_000]
    assert out.values("read_execution_s", "/m") == [0, 0]
    assert {b.level for b in out.blocks} == {"client"}
    assert not out.told
    assert not out.flags()


def test_stamps_before_snapshots(tmp_path: Path) -> None:
    path = log(
        tmp_path / "a", *(f"{T + t}.0\n" + snapshot(n) for n, t in ((10, 0), (30, 5), (37, 10)))
    )
    assert reads(take(mountstats, path)) == EXPECTED


def test_naive_stamps(tmp_path: Path) -> None:
    stamps = ("2023-11-14 22:13:20", "2023-11-14 22:13:25", "2023-11-14 22:13:30")
    path = log(
        tmp_path / "a", *(f"{t}\n" + snapshot(n) for n, t in zip((10, 30, 37), stamps, strict=True))
    )
    out = take(mountstats, path, zone=ZoneInfo("UTC"))
    assert reads(out) == EXPECTED
    assert "naive-time" in out.flags()


def test_without_stamps_ages_tell(tmp_path: Path) -> None:
    path = log(tmp_path / "a", *(snapshot(n, age) for n, age in ((10, 100), (30, 105), (37, 110))))
    os.utime(path, ns=(0, (T + 10) * S))
    out = take(mountstats, path)
    assert reads(out) == EXPECTED
    assert "estimated" in out.flags()


def test_snapshots_in_files_of_their_own(tmp_path: Path) -> None:
    paths = [
        log(tmp_path / str(n), snapshot(n), f"\n{T + t}\n") for n, t in ((10, 0), (30, 5), (37, 10))
    ]
    out = take(mountstats, paths[::-1])
    assert reads(out) == EXPECTED
    assert "out-of-order" not in out.flags()


def test_one_snapshot_is_no_delta(tmp_path: Path) -> None:
    out = take(mountstats, log(tmp_path / "a", snapshot(10)))
    assert not out.blocks
    assert "two snapshots" in out.told[0]


def test_mounted_anew(tmp_path: Path) -> None:
    path = log(
        tmp_path / "a",
        *(snapshot(n, age) + f"{T + t}\n" for n, age, t in ((10, 100, 0), (30, 3, 5), (37, 8, 10))),
    )
    out = take(mountstats, path)
    np.testing.assert_array_equal([v for _, _, v in reads(out)], [math.nan, 7])
    assert "counter-reset" in out.flags("read_ops")


@pytest.mark.parametrize("word", ["nan", "-3", "9" * 30, "x"])
def test_a_counter_that_is_none(tmp_path: Path, word: str) -> None:
    path = log(
        tmp_path / "a", *(snapshot(n) + f"{T + t}\n" for n, t in ((10, 0), (word, 5), (37, 10)))
    )
    out = take(mountstats, path)
    assert reads(out) == [(T * S, 10 * S, 27)]
    assert "not-a-number" in out.flags()
    assert "READ is" in out.told[1]
    assert "left out" in out.told[2]


def test_the_same_again(tmp_path: Path) -> None:
    path = log(
        tmp_path / "a",
        *(snapshot(n) + f"{T + t}\n" for n, t in ((10, 0), (30, 5), (31, 5), (37, 10))),
    )
    out = take(mountstats, path)
    assert reads(out) == EXPECTED
    assert "duplicate" in out.flags()


def test_a_snapshot_that_is_cut_is_left_out(tmp_path: Path) -> None:
    cut = snapshot(99).split("\t        READ")[0]
    path = log(
        tmp_path / "a", snapshot(10), f"{T}\n", snapshot(30), f"{T + 5}\n", cut, f"{T + 10}\n"
    )
    out = take(mountstats, path)
    assert reads(out) == EXPECTED[:1]
    assert len(out.values("execution_s", "/m")) == 1
    assert "not complete" in out.told[0]


def test_old_statistics_have_no_errors(tmp_path: Path) -> None:
    path = log(
        tmp_path / "a", *(snapshot(n, vers="1.0") + f"{T + t}\n" for n, t in ((10, 0), (30, 5)))
    )
    out = take(mountstats, path)
    assert reads(out) == EXPECTED[:1]
    assert not out.values("failed_ops", "/m")


def test_real() -> None:
    paths = [real(f"nfs/mountstats_snap{n}.txt") for n in (0, 1)]
    assert all(mountstats.recognises(head_of(path)) for path in paths)
    out = take(mountstats, paths)
    assert not out.told
    found = {
        metric: sum(out.values(metric, "/mnt/m3", "10.88.0.1:/mnt/exp"))
        for metric in (
            "read_ops",
            "write_ops",
            "creates",
            "setattrs",
            "lookups",
            "unlinks",
            "syncs",
            "failed_ops",
        )
    }
    assert list(found.values()) == [256, 1615, 42, 40, 43, 40, 1, 42]
    assert sum(out.values("read_bytes", "/mnt/m3")) == 256 * 65536
    ((_, step, _),) = out.series("read_ops", "/mnt/m3")
    assert step == 80_894_699_681
    assert out.values("write_round_trip_s", "/mnt/m3") == [pytest.approx(327.517)]
    assert not mountstats.recognises(head_of(real("nfs/mountstats_tool.txt")))


def test_mutated(tmp_path: Path) -> None:
    data = "".join(snapshot(n, n) + f"{T + n}\n" for n in range(5)).encode()
    survives(mountstats, tmp_path / "a", data, 120)
