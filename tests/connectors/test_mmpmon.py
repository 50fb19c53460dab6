"""mmpmon: deltas per node and file system, and everything that can be wrong with readings of counters."""

import math
from pathlib import Path

import numpy as np
import pytest

from iosonde.connectors import gather
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.gpfs import mmpmon
from iosonde.connectors.source import Settings, head_of
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

T = 1_700_000_000
SECOND = 1_000_000_000


def line(node: str, second: int, br: object, fs: str = "scratch", **more: object) -> str:
    rest = {"bw": 1, "oc": 2, "cc": 3, "rdc": 4, "wc": 5, "dir": 6, "iu": 7, **more}
    tail = " ".join(f"_{name}_ {value}" for name, value in rest.items())
    return (
        f"_fs_io_s_ _n_ 10.0.0.1 _nn_ {node} _rc_ 0 _t_ {second} _tu_ 500000 _cl_ c.example"
        f" _fs_ {fs} _d_ 8 _br_ {br} {tail}"
    )


def log(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_two_readings_are_one_delta(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line("a", T, 100), line("a", T + 10, 130, oc=9))
    assert mmpmon.recognises(head_of(path))
    out = take(mmpmon, path)
    assert out.series("read_bytes", "a", "scratch") == [(T * SECOND + SECOND // 2, 10 * SECOND, 30)]
    assert out.values("opens", "a") == [7]
    assert out.values("written_bytes", "a") == [0]
    assert {block.level for block in out.blocks} == {"client"}
    assert not out.told
    assert not out.flags()


def test_nodes_with_the_same_times_share_a_block(tmp_path: Path) -> None:
    path = log(tmp_path / "l", *(line(n, T + k, k * 5) for k in range(4) for n in ("a", "b")))
    (block,) = [b for b in take(mmpmon, path).blocks if b.metric == "read_bytes"]
    assert block.components == ("a", "b")
    assert block.value.tolist() == [[5, 5]] * 3


def test_counters_of_a_year_stay_exact(tmp_path: Path) -> None:
    big = 2**63
    out = take(mmpmon, log(tmp_path / "l", line("a", T, big + 1), line("a", T + 1, big + 4)))
    assert out.values("read_bytes", "a") == [3]


def test_one_reading_is_no_delta_and_says_so(tmp_path: Path) -> None:
    out = take(mmpmon, log(tmp_path / "l", line("a", T, 100)))
    assert not out.blocks
    assert "read once" in out.told[0]
    assert "two readings" in out.told[0]


def test_snapshots_in_files_of_their_own(tmp_path: Path) -> None:
    paths = [log(tmp_path / str(k), line("a", T + k, 7 * k)) for k in range(3)]
    out = take(mmpmon, paths[::-1])
    assert out.values("read_bytes", "a") == [7, 7]
    assert "out-of-order" in out.flags()


def test_io_s_has_no_file_system(tmp_path: Path) -> None:
    text = "_io_s_ _n_ 10.0.0.1 _nn_ a _rc_ 0 _t_ {t} _tu_ 1 _br_ {b} _bw_ 0 _oc_ 0 _cc_ 0 _rdc_ 0 _wc_ 0 _dir_ 0"
    path = log(tmp_path / "l", text.format(t=T, b=1), text.format(t=T + 5, b=3))
    assert mmpmon.recognises(head_of(path))
    assert take(mmpmon, path, system="all").values("read_bytes", "a", "all") == [2]


@pytest.mark.parametrize(
    ("rows", "flag", "values"),
    [
        ([(0, 5), (1, 9), (2, 3), (3, 4)], "counter-reset", [4, math.nan, 1]),
        ([(0, 5), (2, 9), (1, 7), (3, 9)], "out-of-order", [2, 2, 0]),
        ([(0, 5), (1, 9), (1, 8), (2, 10)], "duplicate", [4, 1]),
        ([(0, 5), (1, "nan"), (2, 10)], "not-a-number", [5]),
        ([(0, 5), (1, "-3"), (2, 10)], "not-a-number", [5]),
        ([(0, 5), (1, "9" * 40), (2, 10)], "not-a-number", [5]),
    ],
)
def test_traps_of_counters(
    tmp_path: Path, rows: list[tuple[int, object]], flag: str, values: list[float]
) -> None:
    out = take(mmpmon, log(tmp_path / "l", *(line("a", T + k, v) for k, v in rows)))
    np.testing.assert_array_equal(out.values("read_bytes", "a"), values)
    assert out.flags("read_bytes")[flag] == 1
    assert len(out.told) == (flag == "not-a-number")


def test_a_failed_answer_and_a_cut_line_are_told(tmp_path: Path) -> None:
    failed = "_fs_io_s_ _n_ 10.0.0.1 _nn_ a _rc_ 16 _t_ 5 _tu_ 1 _cl_ - _fs_ -"
    path = tmp_path / "l"
    path.write_text("\n".join([line("a", T, 5), failed, line("a", T + 1, 9)])[:-15])
    out = take(mmpmon, path)
    assert out.values("read_bytes", "a") == [4]
    assert "line 2" in out.told[0]
    assert "_rc_ is '16'" in out.told[0]
    assert "line 3" in out.told[1]


def test_clocks_of_nodes_that_disagree(tmp_path: Path) -> None:
    off = {"a": 0, "b": 0, "c": 95}
    path = log(tmp_path / "l", *(line(n, T + 10 * k + off[n], k) for k in range(4) for n in off))
    notes = [n for b in take(mmpmon, path).blocks for n in b.notes if n.flag == "clock-skew"]
    assert {note.what for note in notes} == {"c stamps its answers 95.0 s ahead of the other nodes"}
    sane = log(tmp_path / "s", *(line(n, T + 10 * k, k) for k in range(4) for n in off))
    assert "clock-skew" not in take(mmpmon, sane).flags()


def test_much_is_given_out_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(tmp_path / "l", *(line("a", T + k, k * k) for k in range(50)))
    whole = take(mmpmon, path).series("read_bytes", "a")
    monkeypatch.setattr(gather, "MOST_READINGS", 64)
    monkeypatch.setattr(mmpmon, "Gather", lambda source: Gather(source, most=64))
    out = take(mmpmon, path)
    assert len(out.blocks) > 8
    assert out.series("read_bytes", "a") == whole
    assert not out.told


def test_absurdly_many_series_are_refused() -> None:
    held = Gather("x", most_series=3)
    for k in range(9):
        held.gauge(ComponentSeries("fs", "client", "locks", str(k)), 1, k)
    assert held.refused == 6
    assert sum(len(b.components) for b in held.rest()) == 3


def test_the_real_sample() -> None:
    path = real("umami/gpfs/mmpmon_mmpmonStdout.txt")
    assert mmpmon.recognises(head_of(path))
    out = take(mmpmon, path)
    assert not out.blocks
    assert "16 counters were read once" in out.told[0]


def test_the_real_sample_twice(tmp_path: Path) -> None:
    text = real("umami/gpfs/mmpmon_mmpmonStdout.txt").read_text()
    later = text.replace("_t_ 1579358234", "_t_ 1579358294").replace(
        " 205607400434", " 205607400500"
    )
    path = tmp_path / "l"
    path.write_text(text + later)
    out = take(mmpmon, path)
    assert out.series("read_bytes", "ib-pitzer-rw02.ten", "scratch") == [
        (1579358234_053212000, 60 * SECOND, 66)
    ]


def test_mutated(tmp_path: Path) -> None:
    lines = [line(n, T + 10 * k, k) for k in range(5) for n in ("a", "b")]
    survives(mmpmon, tmp_path / "l", "\n".join(lines).encode(), 150)


def test_settings_are_enough_to_read_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert not mmpmon.recognises(head_of(path))
    assert list(mmpmon.read(path, Settings(), lambda _: None)) == []


PLAIN = """\
mmpmon node 10.0.0.1 name n1 fs_io_s OK
cluster:        c.local
filesystem:     {fs}
disks:          4
timestamp:      {second}/407431
bytes read:     {read}
bytes written:  1000
opens:          7
closes:         6
reads:          5
writes:         4
readdir:        3
inode updates:  2
"""


def test_answers_for_people(tmp_path: Path) -> None:
    second = 1_600_000_000
    path = log(
        tmp_path / "log",
        "mmpmon node 10.0.0.1 name n1 version 4.2.0\nmmpmon node 10.0.0.1 name n1 reset OK\n",
        *(
            PLAIN.format(fs=fs, second=second + 60 * n, read=10**12 + 500 * n)
            for n in range(3)
            for fs in ("scratch", "home")
        ),
        "mmpmon node 10.0.0.1 name n1 fs_io_s status 1\nno file systems mounted\n",
    )
    assert mmpmon.recognises(head_of(path))
    out = take(mmpmon, path)
    steps = out.series("read_bytes", "n1", "scratch", "client")
    assert steps == [((second + 60 * n) * 10**9 + 407_431_000, 60 * 10**9, 500.0) for n in range(2)]
    assert out.values("opens", "n1", "home") == [0.0, 0.0]
    assert out.told == []


def test_a_node_that_mounts_nothing_is_no_failure(tmp_path: Path) -> None:
    nothing = "_fs_io_s_ _n_ 10.0.0.2 _nn_ n2 _rc_ 1 _t_ 1600000000 _tu_ 1 _cl_ - _fs_ -"
    both = [line("n1", second, second) for second in (1, 61)]
    out = take(mmpmon, log(tmp_path / "log", both[0], nothing, both[1], nothing))
    assert out.values("read_bytes", "n1") == [60.0]
    assert out.told == []
