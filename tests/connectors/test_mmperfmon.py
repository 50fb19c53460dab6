"""mmperfmon query: the time is the end of an interval and has no zone; archives of many answers."""

import gzip
import io
import math
import tarfile
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.connectors import tar_members
from iosonde.connectors.gpfs import mmperfmon
from iosonde.connectors.source import head_of
from iosonde.model.units import parse_time
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

LA = ZoneInfo("America/Los_Angeles")
MINUTE = 60_000_000_000


def text(
    rows: list[str], legend: tuple[str, ...] = ("n1|GPFSFilesystem|c|fs1|gpfs_fs_read_ops",)
) -> str:
    names = [f" {number}: {key}" for number, key in enumerate(legend, start=1)]
    heads = " ".join(key.rsplit("|", 1)[-1] for key in legend)
    body = [f"  {number} {row}" for number, row in enumerate(rows, start=1)]
    return "\n".join(["Legend:", *names, " ", f"Row           Timestamp {heads} ", *body]) + "\n"


def answer(path: Path, *rows: str, **said: tuple[str, ...]) -> Path:
    path.write_text(text(list(rows), **said))
    return path


def utc(stamp: str) -> int:
    return parse_time(stamp, 0)


def test_the_stamp_is_the_end(tmp_path: Path) -> None:
    path = answer(tmp_path / "a", "2019-01-08-13:00:00 5", "2019-01-08-13:10:00 7")
    assert mmperfmon.recognises(head_of(path))
    out = take(mmperfmon, path, zone=ZoneInfo("UTC"))
    begin = utc("2019-01-08T12:50:00Z")
    assert out.series("read_ops", "n1", "fs1") == [
        (begin, 10 * MINUTE, 5),
        (begin + 10 * MINUTE, 10 * MINUTE, 7),
    ]
    assert set(out.flags()) == {"naive-time", "estimated"}


def test_a_gap_is_no_long_interval(tmp_path: Path) -> None:
    rows = [f"2019-01-08-13:{minute:02}:00 1" for minute in (0, 1, 2, 30, 31)]
    out = take(mmperfmon, answer(tmp_path / "a", *rows), zone=ZoneInfo("UTC"))
    assert {step for _, step, _ in out.series("read_ops", "n1")} == {MINUTE}


@pytest.mark.parametrize(
    ("row", "value", "flag"),
    [
        ("null", math.nan, None),
        ("NaN", math.nan, "not-a-number"),
        ("inf", math.nan, "not-a-number"),
        ("", math.nan, None),
        ("98.5 kB", 98.5 * 1024, None),
        ("1.0 GB", 2**30, None),
    ],
)
def test_values_that_are_missing_or_have_units(
    tmp_path: Path, row: str, value: float, flag: str | None
) -> None:
    rows = ("2019-01-08-13:00:00 5", f"2019-01-08-13:01:00 {row}", "2019-01-08-13:02:00 6")
    out = take(mmperfmon, answer(tmp_path / "a", *rows), zone=ZoneInfo("UTC"))
    found = {time: v for time, _, v in out.series("read_ops", "n1")}
    got = found.get(utc("2019-01-08T13:00:00Z"), math.nan)
    np.testing.assert_equal(got, value)
    assert len(found) == 2 + (not math.isnan(value))
    assert ("not-a-number" in out.flags()) == (flag is not None)


def test_a_cut_row_has_what_it_has(tmp_path: Path) -> None:
    legend = (
        "n1|GPFSFilesystem|c|fs1|gpfs_fs_read_ops",
        "n1|GPFSFilesystem|c|fs1|gpfs_fs_write_ops",
    )
    path = answer(tmp_path / "a", "2019-01-08-13:00:00 5 6", "2019-01-08-13:01:00 7", legend=legend)
    out = take(mmperfmon, path, zone=ZoneInfo("UTC"))
    assert out.values("read_ops", "n1") == [5, 7]
    assert out.values("write_ops", "n1") == [6]
    assert "line 7" in out.told[0]
    assert "1 values of 2" in out.told[0]


def test_a_number_cut_by_the_files_end_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(text(["2019-01-08-13:00:00 5", "2019-01-08-13:01:00 123456"])[:-4])
    assert take(mmperfmon, path, zone=ZoneInfo("UTC")).values("read_ops", "n1") == [5]


def test_clocks_set_back(tmp_path: Path) -> None:
    stamps = ["01:30:00", "01:45:00", "01:00:00", "01:15:00", "01:30:00", "01:45:00", "02:00:00"]
    rows = [f"2019-11-03-{stamp} {place}" for place, stamp in enumerate(stamps)]
    out = take(mmperfmon, answer(tmp_path / "a", *rows), zone=LA)
    series = out.series("read_ops", "n1")
    assert [value for _, _, value in series] == list(range(7))
    assert {step for _, step, _ in series} == {15 * MINUTE}
    assert series[-1][0] + series[-1][1] == utc("2019-11-03T10:00:00Z")
    assert out.flags()["ambiguous-time"] == 6
    assert "duplicate" not in out.flags()


def test_an_hour_that_does_not_occur(tmp_path: Path) -> None:
    rows = ("2019-03-10-01:30:00 1", "2019-03-10-02:30:00 2", "2019-03-10-04:30:00 3")
    out = take(mmperfmon, answer(tmp_path / "a", *rows), zone=LA)
    assert out.flags()["ambiguous-time"] == 1


def test_rows_twice_and_out_of_order(tmp_path: Path) -> None:
    rows = [f"2019-01-08-13:0{m}:00 {m}" for m in (0, 1, 1, 3, 2, 4)]
    out = take(mmperfmon, answer(tmp_path / "a", *rows), zone=ZoneInfo("UTC"))
    assert out.values("read_ops", "n1") == [0, 1, 2, 3, 4]
    assert {"duplicate", "out-of-order"} <= set(out.flags())


def test_nsds_and_their_servers(tmp_path: Path) -> None:
    legend = (
        "n1|GPFSNSDDisk|nsd7|gpfs_nsdds_bytes_read",
        "n1|GPFSNSDDisk|nsd7|gpfs_nsdds_whatever",
    )
    path = answer(
        tmp_path / "a", "2019-01-08-13:00:00 5 0", "2019-01-08-13:01:00 6 0", legend=legend
    )
    out = take(mmperfmon, path, system="fs1", zone=ZoneInfo("UTC"))
    assert out.values("read_bytes", "nsd7@n1", "fs1") == [5, 6]
    assert [(e.level, e.child, e.parent) for e in out.edges] == [("nsd", "nsd7@n1", "n1")]
    assert "left-out" in out.flags()


def test_one_row_has_no_length(tmp_path: Path) -> None:
    out = take(mmperfmon, answer(tmp_path / "a", "2019-01-08-13:00:00 5"))
    assert not out.blocks
    assert "one row only" in out.told[0]


def packed(path: Path, **files: bytes) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def two_hosts(path: Path) -> Path:
    one = text(["2019-01-08-13:00:00 5", "2019-01-08-13:01:00 6"])
    return packed(path, a=one.encode(), b=one.replace("n1|", "n2|").encode())


def test_an_archive_of_answers(tmp_path: Path) -> None:
    path = two_hosts(tmp_path / "x")
    assert mmperfmon.recognises(head_of(path))
    (block,) = take(mmperfmon, path).blocks
    assert block.components == ("n1", "n2")


def test_an_archive_that_breaks_keeps_what_was_before(tmp_path: Path) -> None:
    path = two_hosts(tmp_path / "x")
    raw = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(raw[:1100]))
    out = take(mmperfmon, path)
    assert out.ended is not None
    assert out.values("read_ops", "n1") == [5, 6]


def test_hostile_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_members, "MOST_UNPACKED", 1 << 20)
    path = packed(tmp_path / "x", a=text(["2019-01-08-13:00:00 5"] * 2).encode(), b=bytes(3 << 20))
    assert "unpacked" in str(take(mmperfmon, path).ended)
    monkeypatch.setattr(tar_members, "MOST_MEMBERS", 3)
    many = packed(tmp_path / "y", **{f"m{k}": b"" for k in range(9)})
    assert "more than 3 members" in str(take(mmperfmon, many).ended)
    header = bytearray(tarfile.TarInfo("p").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"77777777777\0"
    header[156:157] = b"x"
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:]))
    claims = tmp_path / "z"
    claims.write_bytes(bytes(header) + bytes(2048))
    assert "claims" in str(take(mmperfmon, claims).ended)


def test_links_in_archives_lead_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("a")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    out = take(mmperfmon, path)
    assert not out.items
    assert not out.told


def test_real_operations_of_file_systems() -> None:
    path = real("umami/gpfs/mmperfmon-gpfsNumberOperations.txt.gz")
    assert mmperfmon.recognises(head_of(path))
    out = take(mmperfmon, path, zone=LA)
    series = out.series("read_ops", "ngfsv492.nersc.gov", "tlprojecta")
    assert len(series) == 20
    assert series[0] == (utc("2019-01-08T20:50:00Z"), 10 * MINUTE, 1144)
    assert (
        sum(v for _, _, v in out.series("read_bytes", "ngfsv492.nersc.gov", "tlproject2"))
        == 44794368
    )
    assert not out.told


def test_real_usage() -> None:
    out = take(mmperfmon, real("umami/gpfs/mmperfmon-usage.txt.gz"), zone=LA)
    cpu = out.values("cpu_percent", "ngfsv468.nersc.gov")
    assert len(cpu) == 60
    assert cpu[0] == pytest.approx(0.76)
    assert out.values("in_bytes", "ngfsv468.nersc.gov/lo")[3] == pytest.approx(98.7 * 1024)
    assert not out.told


def test_a_real_archive() -> None:
    path = real("umami/gpfs/mmperfmon.tgz")
    assert mmperfmon.recognises(head_of(path))
    out = take(mmperfmon, path, zone=LA)
    hosts = {c for b in out.blocks if b.metric == "cpu_percent" for c in b.components}
    assert len(hosts) == 36
    assert not [line for line in out.told if "legend" in line]


def test_mutated(tmp_path: Path) -> None:
    rows = [f"2019-01-08-13:{m:02}:00 {m} {m}.5 MB" for m in range(20)]
    legend = ("n1|GPFSFilesystem|c|fs1|gpfs_fs_read_ops", "n1|Memory|mem_free")
    data = text(rows, legend).encode()
    survives(mmperfmon, tmp_path / "l", data, 80)
    survives(mmperfmon, tmp_path / "g", gzip.compress(data), 40)
    survives(mmperfmon, tmp_path / "t", two_hosts(tmp_path / "x").read_bytes(), 40)
    survives(mmperfmon, tmp_path / "u", gzip.decompress((tmp_path / "x").read_bytes()), 80)


WIDE = tuple(
    f"n{node}|{sensor}"
    for sensor in ("GPFSFilesystem|c|fs1|gpfs_fs_bytes_read", "CPU|cpu_user", "CPU|cpu_sys")
    for node in range(4)
)


def wrapped(widths: list[int], minutes: int = 3) -> str:
    """The table of ``WIDE`` in blocks of columns; the value of column c in minute m is 100 m + c."""
    lines = ["Legend:", *(f" {number}: {key}" for number, key in enumerate(WIDE, 1)), " "]
    first = 0
    for width in widths:
        names = [key.rsplit("|", 1)[-1] for key in WIDE[first : first + width]]
        lines.append(f"Row           Timestamp {' '.join(names)} ")
        for minute in range(minutes):
            cells = " ".join(str(100 * minute + first + column) for column in range(width))
            lines.append(f"{minute + 1:3} 2019-01-08-13:{minute:02}:00 {cells} ")
        lines.append(" ")
        first += width
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("widths", [[12], [5, 5, 2], [1] * 12, [4, 8], [11, 1]])
def test_columns_in_blocks_are_one_table(tmp_path: Path, widths: list[int]) -> None:
    path = tmp_path / "a"
    path.write_text(wrapped(widths))
    out = take(mmperfmon, path, zone=ZoneInfo("UTC"))
    assert not out.told
    for node in range(4):
        assert out.values("read_bytes", f"n{node}") == [node, 100 + node, 200 + node]
        cpu = [200 * minute + 12 + 2 * node for minute in range(3)]
        assert out.values("cpu_percent", f"n{node}") == cpu
    assert not {"duplicate", "out-of-order"} & set(out.flags())


def test_a_block_that_is_missing_is_missing_and_one_out_of_place_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = wrapped([4, 4, 4])
    path.write_text(whole[: whole.rindex("Row ")])
    out = take(mmperfmon, path, zone=ZoneInfo("UTC"))
    assert out.values("cpu_user_percent", "n3") == [7, 107, 207]
    assert not out.series("cpu_percent", "n3")
    assert any("legend has 4 more columns" in line for line in out.told)
    begin, last = whole.index("Row "), whole.rindex("Row ")
    path.write_text(whole[:begin] + whole[last:])
    out = take(mmperfmon, path, zone=ZoneInfo("UTC"))
    assert any("not the legend's next columns" in line for line in out.told)
    assert not out.blocks


def test_a_title_again_begins_the_table_anew(tmp_path: Path) -> None:
    first = text(["2019-01-08-13:00:00 5", "2019-01-08-13:01:00 6"])
    again = "Row           Timestamp gpfs_fs_read_ops \n  3 2019-01-08-13:02:00 7\n"
    path = tmp_path / "a"
    path.write_text(first + again)
    out = take(mmperfmon, path, zone=ZoneInfo("UTC"))
    assert out.values("read_ops", "n1") == [5, 6, 7]


def test_mutated_blocks(tmp_path: Path) -> None:
    survives(mmperfmon, tmp_path / "l", wrapped([5, 5, 2], 8).encode(), 120)
