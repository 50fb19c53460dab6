"""``lfs df`` and ``lctl dl -t``: single texts and logs of them, with targets that do not answer."""

from __future__ import annotations

import random

import numpy as np
import pytest

from iosonde.connectors.lustre import lctl_dl, lfs_df
from iosonde.connectors.source import head_of
from tests.kit.records.lmt_files import Got, real

T0 = 1489998203
HEADER = "UUID                   1K-blocks        Used   Available Use% Mounted on"


def df(*rows, header=HEADER):
    return "\n".join([header, *rows, "", "filesystem summary:  9 9 9 74% /work", ""])


def row(name="work-OST0000_UUID", total=100, used=60, free=35, place="/work[OST:0]"):
    return f"{name} {total} {used} {free} 63% {place}"


def written(tmp_path, text):
    path = tmp_path / "f"
    path.write_text(text)
    return path


def test_one_text_of_any_file_system(tmp_path):
    path = written(
        tmp_path, df(row(), row("my-fs.2-OST000a_UUID"), row("work-MDT0000_UUID", 10, 1, 8))
    )
    assert lfs_df.recognises(head_of(path))
    assert not lctl_dl.recognises(head_of(path))
    got = Got(lfs_df, path)
    assert {b.system for b in got.all("ost", "used_bytes")} == {"work", "my-fs.2"}
    block = got.all("ost", "total_bytes")[0]
    assert (block.value.tolist(), block.components) == ([[100 * 1024.0]], ("work-OST0000",))
    assert got.one("mdt", "available_bytes").value.tolist() == [[8 * 1024.0]]
    assert got.flags() == {"estimated"}
    assert not got.told


def test_inodes(tmp_path):
    header = "UUID                      Inodes       IUsed       IFree IUse% Mounted on"
    got = Got(lfs_df, written(tmp_path, df(row(), header=header)))
    assert [(b.metric, b.value[0, 0]) for b in got.blocks] == [
        ("total_inodes", 100),
        ("used_inodes", 60),
        ("free_inodes", 35),
    ]


@pytest.mark.parametrize("unit", ["bytes", "1M-blocks", "512-blocks"])
def test_other_units_are_refused_with_a_word(tmp_path, unit):
    got = Got(lfs_df, written(tmp_path, df(row(), header=HEADER.replace("1K-blocks", unit))))
    assert not got.blocks
    assert "line 1" in str(got.told[0])
    assert "1K-blocks: lfs df without -h" in str(got.told[0])


def test_targets_that_do_not_answer_are_missing_and_never_zero(tmp_path):
    rows = (row(), row("work-OST0001_UUID"), row("work-OST0002_UUID"))
    silent = (
        "OST0000             : Resource temporarily unavailable",
        "work-OST0001_UUID  : inactive device",
    )
    text = f"BEGIN {T0}\n{df(*rows)}BEGIN {T0 + 900}\n{df(*silent, rows[2])}BEGIN {T0 + 1800}\n{df(rows[2])}"
    got = Got(lfs_df, written(tmp_path, text))
    value = got.one("ost", "used_bytes").value
    assert np.isnan(value).tolist() == [[False] * 3, [True, True, False], [True, True, False]]
    assert got.one("ost", "used_bytes").time_ns.tolist() == [
        (T0 + s) * 10**9 for s in (0, 900, 1800)
    ]
    assert got.flags() == {"missing"}
    assert not got.told


def test_the_last_target_that_does_not_answer_is_missing_too(tmp_path):
    silent = "OST0001             : Resource temporarily unavailable"
    got = Got(lfs_df, written(tmp_path, f"BEGIN {T0}\n{df(row(), silent)}"))
    block = got.one("ost", "used_bytes")
    assert block.components == ("work-OST0000", "work-OST0001")
    assert np.isnan(block.value).tolist() == [[False, True]]
    assert got.flags() == {"missing"}
    assert not got.told


def test_texts_out_of_order_and_rows_twice(tmp_path):
    text = f"BEGIN {T0 + 9}\n{df(row(used=3))}BEGIN {T0}\n{df(row(used=1), row(used=99))}"
    got = Got(lfs_df, written(tmp_path, text))
    assert got.one("ost", "used_bytes").value[:, 0].tolist() == [1024, 3072]
    assert got.flags() == {"out-of-order", "duplicate"}


@pytest.mark.parametrize(
    "line",
    [
        row(used="nan"),
        row(used=-1),
        row(used=101),
        row(used="1e999"),
        "work-OST0000_UUID 5",
        "?!",
        row("disk"),
    ],
)
def test_rows_that_are_none_have_their_place_told(tmp_path, line):
    got = Got(lfs_df, written(tmp_path, df(row("work-OST0009_UUID"), line)))
    (told,) = [str(error) for error in got.told]
    assert "line 3" in told
    used = got.one("ost", "used_bytes").value[0]
    assert np.nansum(used) == 60 * 1024
    assert np.isnan(used[1:]).all()


def test_blocks_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(lfs_df, "_CELLS", 4)
    text = "".join(f"BEGIN {T0 + i}\n{df(row(used=i), row('work-OST0001_UUID'))}" for i in range(5))
    blocks = Got(lfs_df, written(tmp_path, text)).all("ost", "used_bytes")
    assert [len(b.time_ns) for b in blocks] == [2, 2, 1]
    assert np.concatenate([b.value[:, 0] for b in blocks]).tolist() == [
        1024.0 * i for i in range(5)
    ]


def test_a_real_day_of_four_file_systems():
    path = real("lustre_health/sample_ost-fullness.txt.gz")
    assert lfs_df.recognises(head_of(path))
    got = Got(lfs_df, path)
    assert not got.told
    assert not got.flags()
    osts = {b.system: b.value.shape for b in got.all("ost", "used_bytes")}
    assert sorted(osts.values()) == [(70, 24), (70, 24), (70, 36), (70, 248)]
    (total,) = [b for b in got.all("ost", "total_bytes") if b.system == "snx11035"]
    (used,) = [b for b in got.all("ost", "used_bytes") if b.system == "snx11035"]
    last = (
        int(np.searchsorted(total.time_ns, 1490000867 * 10**9, side="right")) - 1
    )  # before the job began
    full = 100 * used.value[last] / total.value[last]
    assert total.components[int(full.argmax())].endswith("OST0006")
    assert total.components[int(full.argmin())].endswith("OST000e")
    assert round(float(full.max()), 10) == 82.3314339182
    assert round(float(full.min()), 10) == 70.7186828302
    mean = 100 * used.value[last].sum() / total.value[last].sum()
    assert float(mean) == pytest.approx(72.9888177739, rel=1e-11)


def device(name, nid="10.0.0.1@o2ib2", state="UP", kind="osc"):
    return f"  4 {state} {kind} {name}-osc-ffff885f81a64000 8dbdc7f6-8f86-86ea 5 {nid}".rstrip()


def edges(got):
    return [(e.time_ns // 10**9, e.child, e.parent) for e in got.items]


def test_servers_of_targets_at_every_text(tmp_path):
    one, two = device("a-b-OST0000"), device("a-b-OST0001", "192.168.0.9@tcp")
    moved = device("a-b-OST0001")
    text = f"BEGIN {T0}\n{one}\n{two}\nBEGIN {T0 + 9}\n{one}\n{moved}\nBEGIN {T0 + 18}\n{two}\n"
    path = written(tmp_path, text)
    assert lctl_dl.recognises(head_of(path))
    assert not lfs_df.recognises(head_of(path))
    got = Got(lctl_dl, path)
    assert edges(got) == [
        (T0, "a-b-OST0000", "10.0.0.1@o2ib2"),
        (T0, "a-b-OST0001", "192.168.0.9@tcp"),
        (T0 + 9, "a-b-OST0000", "10.0.0.1@o2ib2"),
        (T0 + 9, "a-b-OST0001", "10.0.0.1@o2ib2"),
        (T0 + 18, "a-b-OST0001", "192.168.0.9@tcp"),
    ]
    assert {e.system for e in got.items} == {"a-b"}


def test_what_is_down_or_no_ost_or_no_device_says_nothing(tmp_path):
    lines = [
        device("w-OST0000", state="IN"),
        device("w-OST0001", ""),
        device("w-MDT0000", kind="mdc"),
        device("w-OST0002", "not a nid"),
        device("w-OST0003"),
        device("w-OST0003", "10.0.0.2@tcp"),
    ]
    got = Got(lctl_dl, written(tmp_path, f"BEGIN {T0}\nBEGIN x\n" + "\n".join(lines)))
    assert edges(got) == [(T0, "w-OST0003", "10.0.0.1@o2ib2")]
    assert [str(e).split(":")[0][-6:] for e in got.told] == ["line 2", "line 6"]


def test_the_real_map_has_one_server_with_two_targets():
    path = real("lustre_health/sample_ost-map.txt.gz")
    assert lctl_dl.recognises(head_of(path))
    got = Got(lctl_dl, path)
    assert not got.told
    first = min(e.time_ns for e in got.items)
    here = [e.parent for e in got.items if (e.system, e.time_ns) == ("snx11035", first)]
    assert len(here) == 24
    assert sorted(here.count(nid) for nid in set(here))[-2:] == [1, 2]


@pytest.mark.parametrize("connector", [lfs_df, lctl_dl])
def test_mutated_logs_end_in_messages(tmp_path, connector):
    rng = random.Random(7)
    text = (
        df(row(), row("work-OST0001_UUID"))
        if connector is lfs_df
        else device("w-OST0000") + "\n" + device("w-OST0001")
    )
    good = "".join(f"BEGIN {T0 + i}\n{text}\n" for i in range(3)).encode()
    for _ in range(100):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 12)):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(3)] = bytes(
                rng.randrange(256) for _ in range(rng.randrange(3))
            )
        path = tmp_path / "bad"
        path.write_bytes(data)
        connector.recognises(head_of(path))
        for block in Got(connector, path).blocks:
            assert not (block.value < 0).any()
