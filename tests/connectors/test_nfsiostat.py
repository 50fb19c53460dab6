"""nfsiostat: rates between reports become amounts, and nothing is made up where no time is said."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.client import nfsiostat
from iosonde.connectors.source import head_of
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

S = 1_000_000_000
T = 1_700_000_000
COLUMNS = "ops/s kB/s kB/op retrans avg RTT (ms) avg exe (ms) avg queue (ms) errors"


def report(
    reads: float, writes: float = 0.0, total: float | None = None, point: str = "/work"
) -> str:
    every = reads + writes if total is None else total
    return (
        f"\nsrv:/exp mounted on {point}:\n\n           ops/s       rpc bklog\n"
        f"           {every:.3f}           0.000\n\n"
        f"read:     {COLUMNS}\n    {reads:.3f} {4 * reads:.3f} 4.000 2 (0.1%) 10.000 20.000 5.000 0 (0.0%)\n"
        f"write:    {COLUMNS}\n    {writes:.3f} 0.000 0.000 0 (0.0%) 0.000 0.000 0.000 0 (0.0%)\n"
    )


def log(path: Path, *reports: tuple[int, str]) -> Path:
    path.write_text("".join(f"{T + at}\n{text}" for at, text in reports))
    return path


def test_rates_times_the_time_between_reports_are_amounts(tmp_path: Path) -> None:
    path = log(
        tmp_path / "n001.nfsiostat",
        (0, report(999.0)),
        (30, report(2.0, 1.0, 5.0)),
        (60, report(3.0)),
    )
    out = take(nfsiostat, path)
    where = ("n001:/work", "srv:/exp")
    assert out.series("read_ops", *where) == [(T * S, 30 * S, 60.0), ((T + 30) * S, 30 * S, 90.0)]
    assert out.values("write_ops", *where) == [30.0, 0.0]
    assert out.values("other_ops", *where) == [60.0, 0.0]
    assert out.values("read_bytes", *where) == [2 * 4 * 1024 * 30, 3 * 4 * 1024 * 30]
    assert out.values("read_round_trip_s", *where) == pytest.approx([0.6, 0.9])
    assert out.values("retransmissions", *where) == [2.0, 2.0]
    assert out.flags()["estimated"] >= 1
    assert out.flags()["left-out"] == 1


def test_a_stamp_before_each_mount_and_several_mounts(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        f"{T}\n{report(1)}{T}\n{report(1, point='/home')}"
        f"{T + 10}\n{report(2)}{T + 10}\n{report(4, point='/home')}"
    )
    out = take(nfsiostat, path)
    assert out.values("read_ops", "/work") == [20.0]
    assert out.values("read_ops", "/home") == [40.0]


def test_without_times_nothing_is_made_up(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(report(1) + report(2))
    out = take(nfsiostat, path)
    assert not out.blocks
    assert "have no times" in str(out.told[0])


def test_a_bad_line_costs_its_mount_of_one_report(tmp_path: Path) -> None:
    broken = report(5.0).replace("5.000 20.000 4.000", "nan 20.000 4.000")
    path = log(tmp_path / "log", (0, report(1)), (10, broken), (20, report(2)))
    out = take(nfsiostat, path)
    assert out.values("read_ops", "/work") == [20.0]
    assert "no rate" in str(out.told[0])


def test_a_pause_of_days_begins_anew(tmp_path: Path) -> None:
    path = log(tmp_path / "log", (0, report(1)), (200_000, report(1)), (200_010, report(2)))
    assert take(nfsiostat, path).values("read_ops", "/work") == [20.0]


@settings(max_examples=100, deadline=None)
@given(
    rates=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=2, max_size=8)
)
def test_operations_in_are_operations_out(
    tmp_path_factory: pytest.TempPathFactory, rates: list[tuple[int, int]]
) -> None:
    """Over any number of reports: rates times their intervals, to the thousandth that they are printed with."""
    path = tmp_path_factory.mktemp("rates") / "log"
    texts = [(10 * i, report(r / 1000, w / 1000)) for i, (r, w) in enumerate(rates)]
    out = take(nfsiostat, log(path, *texts))
    expected = sum(r for r, _ in rates[1:]) / 1000 * 10
    assert sum(out.values("read_ops", "/work")) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["nfsiostat.txt", "nfsiostat_attr.txt"])
def test_real_files_are_recognised(name: str, tmp_path: Path) -> None:
    path = real("nfs") / name
    assert nfsiostat.recognises(head_of(path))
    assert "have no times" in str(take(nfsiostat, path).told[0])
    # The same with the time that people put before each report of a mount.
    stamped, at = [], T
    for line in path.read_text().splitlines():
        if "mounted on /mnt/m3" in line:
            at += 5
            stamped.append(str(at))
        stamped.append(line)
    (tmp_path / "log").write_text("\n".join(stamped) + "\n")
    out = take(nfsiostat, tmp_path / "log")
    assert not out.told
    assert all((block.value >= 0).all() for block in out.blocks)


def test_fuzz(tmp_path: Path) -> None:
    text = f"{T}\n{report(1, 2)}{T + 30}\n{report(3, 4)}"
    survives(nfsiostat, tmp_path / "log", text.encode())
