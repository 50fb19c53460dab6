"""collectl -P: rates of a host to amounts; the stamp is the end of an interval."""

import math
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.client import collectl
from iosonde.connectors.source import head_of
from iosonde.model.units import parse_time
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

S = 1_000_000_000
T = 1_700_000_000
UTC = ZoneInfo("UTC")
NAMES = "[CPU]Wait% [CPU]Totl% [NFS]ReadsC [DSK]ReadKBTot [NET]RxKBTot [NFS]AuthRef"


def file(path: Path, *rows: str, names: str = f"#UTC {NAMES}", head: str = "") -> Path:
    path.write_text(head + "\n".join([names, *rows]) + "\n")
    return path


def test_rates_to_amounts(tmp_path: Path) -> None:
    path = file(tmp_path / "n1.tab", f"{T} 1 2 3 4 5 6", f"{T + 5} 7 8 9 10 11 12")
    assert collectl.recognises(head_of(path))
    out = take(collectl, path)
    assert out.series("read_ops", "n1") == [((T - 5) * S, 5 * S, 15), (T * S, 5 * S, 45)]
    assert out.series("cpu_percent", "n1") == [((T - 5) * S, 5 * S, 2), (T * S, 5 * S, 8)]
    assert out.values("cpu_wait_percent", "n1") == [1, 7]
    assert out.values("read_bytes", "n1/disks") == [4 * 1024 * 5, 10 * 1024 * 5]
    assert out.values("in_bytes", "n1/net") == [5 * 1024 * 5, 11 * 1024 * 5]
    assert out.flags() == {"left-out": 1, "estimated": 1}
    assert not out.told


HEAD = """\
################################################################################
# Collectl:   V4.3.1-1  HiRes: 1  Options: -sf -P{n}
# Host:       node7  DaemonOpts:
# Date:       20261121-110717  Secs: 1795259237 TZ: -0500
# SubSys:     f Options:  Interval: 10 NumCPUs: 2
################################################################################
"""


def test_the_header_says_host_zone_and_interval(tmp_path: Path) -> None:
    names = f"#Date Time {NAMES}"
    path = file(
        tmp_path / "x", "20261121 11:00:10.000 0 0 3 0 0 0", names=names, head=HEAD.format(n="")
    )
    out = take(collectl, path)
    begin = parse_time("2026-11-21T16:00:00Z", 0)
    assert out.series("read_ops", "node7") == [(begin, 10 * S, 30)]
    assert "naive-time" not in out.flags()
    counted = file(
        tmp_path / "y", "20261121 11:00:10 0 0 3 0 0 0", names=names, head=HEAD.format(n=" -on")
    )
    out = take(collectl, counted)
    assert out.values("read_ops", "node7") == [3]
    assert "estimated" not in out.flags()


@pytest.mark.parametrize("delimiter", [" ", ";", ",", "\t"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    rows = [f"20260102 03:00:0{n} 0 0 {n} 0 0 0".replace(" ", delimiter) for n in (1, 2)]
    path = file(tmp_path / "n1", *rows, names=f"#Date Time {NAMES}".replace(" ", delimiter))
    assert collectl.recognises(head_of(path))
    out = take(collectl, path, zone=UTC)
    assert out.values("read_ops", "n1") == [1, 2]
    assert out.flags()["naive-time"] == 2


def test_details_are_added_up_over_versions(tmp_path: Path) -> None:
    names = "#UTC [NFS:3cd]Read [NFS:4cd]Read [NFS:4sd]Read [CLT:work]ReadKB [DSK:sda]Reads [OST:OST0001]WriteKB"
    out = take(
        collectl, file(tmp_path / "n1", f"{T} 0 0 0 0 0 0", f"{T + 1} 1 2 4 8 16 32", names=names)
    )
    assert [v for _, _, v in out.series("read_ops", "n1", level="client")] == [0, 3]
    assert out.values("read_bytes", "n1", "work") == [0, 8192]
    assert out.values("read_ops", "n1/sda") == [0, 16]
    assert [v for _, _, v in out.series("written_bytes", "n1/OST0001", level="oss")] == [0, 32768]


def test_a_gap_is_no_long_interval(tmp_path: Path) -> None:
    rows = [f"{T + t} 0 0 1 0 0 0" for t in (0, 5, 10, 600, 605)]
    out = take(collectl, file(tmp_path / "n1", *rows))
    assert {step for _, step, _ in out.series("read_ops", "n1")} == {5 * S}


def test_clocks_set_back(tmp_path: Path) -> None:
    stamps = ("01:30:00", "01:45:00", "01:00:00", "01:15:00")
    rows = [f"20261101 {t} 0 0 1 0 0 0" for t in stamps]
    out = take(
        collectl,
        file(tmp_path / "n1", *rows, names=f"#Date Time {NAMES}"),
        zone=ZoneInfo("America/New_York"),
    )
    assert {step for _, step, _ in out.series("read_ops", "n1")} == {900 * S}
    assert out.flags()["ambiguous-time"] == 4
    assert "out-of-order" not in out.flags()


@pytest.mark.parametrize("word", ["nan", "inf", "-1", "x", "1e999"])
def test_a_number_that_is_none_is_missing(tmp_path: Path, word: str) -> None:
    rows = [f"{T + n} 0 0 {v} 0 0 0" for n, v in enumerate((1, word, 3))]
    out = take(collectl, file(tmp_path / "n1", *rows))
    assert out.values("read_ops", "n1") == [1, 3]
    assert out.values("read_bytes", "n1/disks") == [0, 0, 0]
    assert "line 3" in out.told[0]
    assert out.flags()["not-a-number"] == 1


def test_rows_twice_out_of_order_and_cut(tmp_path: Path) -> None:
    rows = [f"{T + n} 0 0 {n} 0 0 0" for n in (0, 1, 1, 3, 2)]
    path = tmp_path / "n1"
    path.write_text("\n".join([f"#UTC {NAMES}", *rows, f"{T + 4} 0 0 4444"]))
    out = take(collectl, path)
    assert out.values("read_ops", "n1") == [0, 1, 2, 3]
    assert {"duplicate", "out-of-order"} <= set(out.flags())
    assert "fields of 7" in out.told[0]


def test_long_files_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path / "n1", *(f"{T + 5 * n} 0 0 {n} 0 0 0" for n in range(100)))
    whole = take(collectl, path).series("read_ops", "n1")
    monkeypatch.setattr(collectl, "_MOST_CELLS", 40)
    assert take(collectl, path).series("read_ops", "n1") == whole
    assert len(whole) == 100


def test_real_rates_give_the_recorded_amounts() -> None:
    path = real("nfs/collectl_P_sf_2dec.txt")
    assert collectl.recognises(head_of(path))
    out = take(collectl, path, zone=UTC, node="h")
    reads = [v for _, _, v in out.series("read_ops", "h", level="client")]
    assert math.isclose(sum(reads), 256, rel_tol=0.002)
    assert "estimated" not in out.flags()
    rounded = take(collectl, real("nfs/collectl_P_sf_utc.txt"), node="h")
    assert math.isclose(sum(v for _, _, v in rounded.series("read_ops", "h", level="client")), 255)
    assert "estimated" in rounded.flags()


@pytest.mark.parametrize("name", ["sF_detail", "scdnf", "sf_nfsfilt_c3"])
def test_real_files(name: str) -> None:
    path = real(f"nfs/collectl_P_{name}.txt")
    assert collectl.recognises(head_of(path))
    out = take(collectl, path, zone=UTC, node="h")
    assert not out.told
    reads = [v for _, _, v in out.series("read_ops", "h", level="client")]
    assert sum(reads) == pytest.approx(256, rel=0.02)


def test_other_files_are_not_its() -> None:
    for name in (
        "nfs/collectl_brief_sf.txt",
        "nfs/collectl_vmnode01.raw.gz",
        "nfs/mountstats_snap0.txt",
    ):
        assert not collectl.recognises(head_of(real(name)))


def test_mutated(tmp_path: Path) -> None:
    rows = [f"20260102 03:00:{n:02} 1 2 3 4 5 {n}" for n in range(30)]
    text = HEAD.format(n="") + "\n".join([f"#Date Time {NAMES}", *rows])
    survives(collectl, tmp_path / "a", text.encode(), 120)
