"""LMT's wire strings: those real servers sent, and every trap with a line that triggers it."""

from __future__ import annotations

import random
import tarfile
from datetime import date
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.connectors.gather import Gather
from iosonde.connectors.lustre.lmt import wire as lmt_wire
from iosonde.connectors.source import head_of
from tests.kit.records.lmt_files import Got, real

T0 = 1517126400


def ost(
    read,
    written,
    name="work-OST0000",
    server="s1",
    cpu=1.5,
    tail="7;3;0;0;0;1;0;COMPLETE 1/1 0s remaining;",
):
    return f"ost: 2;{server};{cpu};60.5;{name};10;100;40;100;{read};{written};{tail}"


def mdt(opens, version=3):
    counts = ["0"] * (69 if version == 3 else 63)
    counts[0] = str(opens)
    recovery = {1: []}.get(version, ["COMPLETE 1/1 0s remaining"])
    return f"mdt: {version};m1;2.5;30;" + ";".join(
        ["work-MDT0000", "5", "50", "30", "60", *recovery, *counts]
    )


def log(tmp_path, *lines):
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    return path


def value(got, level, metric):
    return got.one(level, metric).value[:, 0].tolist()


def test_lines_with_times_become_steps(tmp_path):
    lines = [f"{T0 + 5 * i} {ost(r, 2 * r)}" for i, r in enumerate([100, 110, 140])]
    path = log(tmp_path, *lines, *(f"{T0 + 5 * i} {mdt(n)}" for i, n in enumerate([7, 9, 9])))
    assert lmt_wire.recognises(head_of(path))
    got = Got(lmt_wire, path)
    assert value(got, "ost", "read_bytes") == [10, 30]
    assert value(got, "ost", "written_bytes") == [20, 60]
    assert value(got, "mdt", "opens") == [2, 0]
    block = got.one("ost", "read_bytes")
    assert (block.system, block.time_ns[0], block.step_ns.tolist()) == (
        "work",
        T0 * 10**9,
        [5 * 10**9] * 2,
    )
    assert value(got, "ost", "used_bytes") == [60 * 1024.0] * 3
    assert value(got, "mdt", "used_inodes") == [45] * 3
    assert value(got, "oss", "cpu_percent") == [1.5] * 3
    assert not got.told
    assert [item.parent for item in got.items if hasattr(item, "parent")] == ["s1"]


def test_an_ost_that_moves_is_told_where(tmp_path):
    path = log(tmp_path, f"{T0} {ost(1, 1)}", f"{T0 + 5} {ost(2, 2, server='s2')}")
    edges = [item for item in Got(lmt_wire, path).items if hasattr(item, "parent")]
    assert [(e.time_ns // 10**9 - T0, e.parent) for e in edges] == [(0, "s1"), (5, "s2")]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_of_mdt(tmp_path, version):
    got = Got(lmt_wire, log(tmp_path, f"{T0} {mdt(1, version)}", f"{T0 + 5} {mdt(4, version)}"))
    assert value(got, "mdt", "opens") == [3]
    assert not got.told


def test_older_strings(tmp_path):
    lines = [
        f"{T0 + i} ost: 2;s;1;2;work-OST0000;1;9;1;9;{i};0;3;work-OST0001;1;9;1;9;0;{i};3;"
        for i in range(2)
    ]
    lines += [f"{T0 + i} ost: 1;s;work-OST0002;1;9;1;9;{4 * i};0" for i in range(2)]
    lines += [
        f"{T0} oss: 1;t;55.5;66.5",
        f"{T0} osc: 1;m;work-OST0000;F",
        f"{T0} router: 1.0;r;1;2;3",
    ]
    counts = ";".join(["3", "0", "0"] + ["0"] * 240)
    lines += [f"{T0 + i} mds: 2;m;work-MDT0000;1;2;1;9;1;9;{counts}" for i in range(2)]
    got = Got(lmt_wire, log(tmp_path, *lines))
    assert not got.told
    reads = {
        name: b.value[0, i]
        for b in got.all("ost", "read_bytes")
        for i, name in enumerate(b.components)
    }
    assert reads == {"work-OST0000": 1, "work-OST0001": 0, "work-OST0002": 4}
    assert {n for b in got.all("oss", "cpu_percent") for n in b.components} == {"s", "t"}
    assert value(got, "mdt", "opens") == [0]


def test_resets_blanks_duplicates_and_disorder(tmp_path):
    def reads(*counters):
        path = log(tmp_path, *(f"{T0 + 5 * i} {ost(r, 1)}" for i, r in counters))
        got = Got(lmt_wire, path)
        return got, got.one("ost", "read_bytes")

    got, block = reads((0, 100), (1, 120), (2, 5), (3, 9))
    assert np.isnan(block.value[:, 0]).tolist() == [False, True, False]
    assert "counter-reset" in got.flags()
    got, block = reads((0, 100), (1, 0), (2, 130))
    assert (block.value[:, 0].tolist(), block.step_ns.tolist()) == ([30], [10 * 10**9])
    assert "monitor-down" in got.flags()
    got, block = reads((2, 30), (0, 10), (1, 15), (1, 999))
    assert block.value[:, 0].tolist() == [5, 15]
    assert {"out-of-order", "duplicate"} <= got.flags()
    got, block = reads((0, 10), (1, 15), (9, 20))
    assert block.step_ns.tolist() == [5 * 10**9, 40 * 10**9]


def test_held_readings_are_bounded_and_no_step_is_lost_for_that(tmp_path, monkeypatch):
    path = log(
        tmp_path, *(f"{T0 + 5 * i} {ost(i * i, 0)}" for i in range(20)), f"{T0 + 5} {ost(1, 0)}"
    )
    whole = Got(lmt_wire, path).one("ost", "read_bytes")
    monkeypatch.setattr(lmt_wire, "Gather", lambda source: Gather(source, most=30))
    pieces = Got(lmt_wire, path)
    reads = pieces.all("ost", "read_bytes")
    assert len(reads) > 3
    assert np.array_equal(np.concatenate([b.value for b in reads]), whole.value)
    assert np.array_equal(np.concatenate([b.time_ns for b in reads]), whole.time_ns)
    assert "out-of-order" in pieces.flags()


def test_without_times_there_is_one_instant_and_only_gauges(tmp_path):
    path = log(tmp_path, ost(1, 2), "sysstat: cpu_util: 2.07% mem_util: 64.07%")
    got = Got(lmt_wire, path, ZoneInfo("Asia/Tokyo"), day=date(2018, 1, 28))
    assert not got.all("ost", "read_bytes")
    assert got.one("ost", "used_bytes").time_ns.tolist() == [1517065200 * 10**9]
    assert got.flags() == {"naive-time", "estimated"}
    assert "one instant only" in str(got.told[0])
    assert Got(lmt_wire, path).flags() == {"estimated"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello", "no string of LMT"),
        ("ost: 2;s;nan;1;work-OST0000;1;9;1;9;1;1;1;", "'nan' is no number"),
        (ost(-4, 1), "'-4' is no number"),
        (ost("1e999", 1), "'1e999' is no number"),
        (ost(1, 1) + "7;8;", "do not divide"),
        ("ost: 2;s;1;2;work-OST0000;99;9;1;9;1;1;1;", "more free than there is"),
        ("ost: 2;s;1", "too few fields"),
        ("mdt: 3;m;1;2;" + "x;" * 75, "do not divide"),
    ],
)
def test_bad_lines_are_told_with_their_place_and_good_ones_survive(tmp_path, line, words):
    path = log(tmp_path, f"{T0} {ost(1, 1)}", f"{T0 + 1} {line}", f"{T0 + 5} {ost(3, 1)}")
    got = Got(lmt_wire, path)
    (told,) = [str(error) for error in got.told]
    assert words in told
    assert "line 2" in told
    assert got.all("ost", "read_bytes")[0].value[0, 0] in (2, 3)


@pytest.mark.parametrize("version", ["1.8.3", "2.12.9_12"])
def test_strings_of_real_servers(tmp_path, version):
    with tarfile.open(real(f"lmt/lustre_proc_{version}.tar.gz")) as tar:
        data = tar.extractfile(f"{version}/outputs/t10.exp").read()
    path = tmp_path / "t10"
    path.write_bytes(data)
    assert lmt_wire.recognises(head_of(path))
    got = Got(lmt_wire, path)
    assert len(got.told) == 1
    clients = got.one("ost", "clients")
    if version == "1.8.3":
        assert clients.value.tolist() == [[3, 3]]
        assert got.one("ost", "total_bytes").value[0, 0] == 2064208 * 1024
        assert got.one("mds", "cpu_percent").value[0, 0] == 2.072658
    else:
        assert clients.value.tolist() == [[69] * 4]
        assert got.one("mdt", "total_inodes").value.shape == (1, 16)
    later = data.decode().replace("ost: ", f"{T0 + 5} ost: ").replace("mdt: ", f"{T0 + 5} mdt: ")
    first = f"{T0} ost: 2;h;1;1;" + ";".join([clients.components[0], *["0"] * 6, "1"]) + "\n"
    path.write_text(first + later)
    read = Got(lmt_wire, path).one("ost", "read_bytes")
    assert read.value[0, 0] == (471987441490 if version == "1.8.3" else 0)


def test_mutated_logs_end_in_messages(tmp_path):
    rng = random.Random(5)
    good = "\n".join(f"{T0 + i} {text}" for i in range(4) for text in (ost(i, i), mdt(i))).encode()
    path = tmp_path / "log"
    for _ in range(120):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 12)):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(3)] = bytes(
                rng.randrange(256) for _ in range(rng.randrange(3))
            )
        path.write_bytes(data)
        lmt_wire.recognises(head_of(path))
        for block in Got(lmt_wire, path).blocks:
            assert not (block.value < 0).any()
            assert not np.isinf(block.value).any()
