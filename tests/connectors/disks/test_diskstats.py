"""Logs of /proc/diskstats: counters of whole disks to amounts."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.disks import diskstats
from iosonde.connectors.source import head_of
from tests.kit.records.connected import Out, survives, take
from tests.kit.records.disk_texts import BEGIN_S, DISKSTATS, HOST

S = 1_000_000_000


def row(name: str, *numbers: int) -> str:
    return f"   8       0 {name} {' '.join(map(str, numbers))}\n"


def reads(name: str, n: int, ms: int) -> str:
    """A disk that did nothing but reads of 4 KiB."""
    return row(name, n, 0, 8 * n, ms, 0, 0, 0, 0, 0, ms, ms)


def log(folder: Path, text: str, name: str = f"{HOST}.diskstats") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def of(text: str, folder: Path) -> Out:
    path = log(folder, text)
    assert diskstats.recognises(head_of(path))
    return take(diskstats, path)


def test_what_the_kernel_printed(tmp_path: Path) -> None:
    out = of(DISKSTATS, tmp_path)
    assert not out.told
    vda = f"{HOST}/vda"
    steps = [((BEGIN_S + n) * S, 2 * S) for n in (0, 2, 4)]
    assert [row[:2] for row in out.series("read_ops", vda, level="device")] == steps
    assert out.values("read_ops", vda) == [400, 442, 651]
    assert out.values("read_bytes", vda) == [512 * 51200, 512 * 52600, 512 * 77344]
    assert out.values("read_execution_s", vda) == pytest.approx([0.066, 0.061, 0.148])
    assert out.values("write_ops", vda) == [412, 528, 448]
    assert out.values("write_execution_s", vda) == pytest.approx([0.107, 0.109, 0.098])
    assert out.values("io_time_s", vda) == pytest.approx([0.132, 0.14, 0.176])
    assert out.values("execution_s", vda) == pytest.approx([0.203, 0.187, 0.27])
    assert {name for block in out.blocks for name in block.components} == {vda, f"{HOST}/loop4"}


@pytest.mark.skipif(not Path("/proc/diskstats").exists(), reason="no /proc/diskstats: not Linux")
def test_this_machine(tmp_path: Path) -> None:
    now = Path("/proc/diskstats").read_text()
    if not now.strip():
        pytest.skip("/proc/diskstats is empty here")
    out = of(f"{BEGIN_S}\n{now}{BEGIN_S + 5}\n{now}", tmp_path)
    assert not out.told
    assert all((block.value == 0).all() for block in out.blocks)


def test_partitions_are_a_part_of_their_disk(tmp_path: Path) -> None:
    names = ("sda", "sda1", "nvme0n1", "nvme0n1p2", "md127", "dm-0", "mmcblk0", "mmcblk0p1", "sdb7")
    text = "".join(
        f"{BEGIN_S + 5 * n}\n" + "".join(reads(name, 10 + n, 20 + n) for name in names)
        for n in (0, 1)
    )
    out = of(text, tmp_path)
    whole = {name for block in out.blocks for name in block.components}
    expected = ("sda", "nvme0n1", "md127", "dm-0", "mmcblk0", "sdb7")
    assert whole == {f"{HOST}/{name}" for name in expected}
    assert out.flags()["left-out"] == 3


def test_a_disk_whose_row_is_broken_keeps_its_partitions_away(tmp_path: Path) -> None:
    text = "".join(
        f"{BEGIN_S + 5 * n}\n{reads('sda', 10 + n, 20).replace('sda', word)}{reads('sda1', 10, 20)}"
        for n, word in enumerate(("sda", "sda x", "sda"))
    )
    out = of(text, tmp_path)
    assert "line 5" in out.told[0]
    assert out.series("read_ops", f"{HOST}/sda") == [(BEGIN_S * S, 10 * S, 2)]
    assert not out.series("read_ops", f"{HOST}/sda1")


def test_a_counter_that_fell_began_anew(tmp_path: Path) -> None:
    wrapped = [(10, 2**32 - 50), (20, 60), (30, 160)]
    text = "".join(f"{BEGIN_S + 5 * n}\n{reads('sda', *pair)}" for n, pair in enumerate(wrapped))
    out = of(text, tmp_path)
    took = out.values("read_execution_s", f"{HOST}/sda")
    assert took[1] == pytest.approx(0.1)
    assert took[0] != took[0]
    assert out.flags("read_execution_s")["counter-reset"] == 1
    assert out.values("read_ops", f"{HOST}/sda") == [10, 10]


def test_files_without_times_are_snapshots_as_old_as_they_are(tmp_path: Path) -> None:
    paths = []
    for n in (0, 1):
        folder = tmp_path / str(n)
        folder.mkdir()
        paths.append(log(folder, reads("sda", 10 + n, 20)))
        os.utime(paths[-1], ns=(0, (BEGIN_S + 60 * n) * S))
    out = take(diskstats, paths)
    assert out.series("read_ops", f"{HOST}/sda") == [(BEGIN_S * S, 60 * S, 1)]
    assert "estimated" in out.flags()
    assert "read once" in take(diskstats, paths[0]).told[0]


def test_a_snapshot_without_a_time_is_told_of(tmp_path: Path) -> None:
    one, two, three = (reads("sda", n, 20) + reads("sdb", n, 30) for n in (1, 2, 4))
    out = of(f"{BEGIN_S}\n{one}{two}{BEGIN_S + 10}\n{three}", tmp_path)
    assert len(out.told) == 1
    assert "line 4: sda comes again without a time" in out.told[0]
    for name in ("sda", "sdb"):
        assert out.series("read_ops", f"{HOST}/{name}") == [(BEGIN_S * S, 10 * S, 3)]


def test_a_name_with_a_slash(tmp_path: Path) -> None:
    text = "".join(f"{BEGIN_S + n}\n{reads('cciss/c0d0', 1 + n, 9)}" for n in (0, 1))
    assert of(text, tmp_path).values("read_ops", f"{HOST}/cciss!c0d0") == [1]


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**7)),
        min_size=1,
        max_size=10,
    )
)
def test_what_passed_is_what_comes_out(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, int]]
) -> None:
    at, n, ms = BEGIN_S, 5, 7
    text = f"{at}\n{reads('sda', n, ms)}"
    for gap, more, took in steps:
        at, n, ms = at + gap, n + more, ms + took
        text += f"{at}\n{reads('sda', n, ms)}"
    path = log(tmp_path_factory.mktemp("counters"), text)
    out = take(diskstats, path)
    sda = f"{HOST}/sda"
    assert [step // S for _, step, _ in out.series("read_ops", sda)] == [gap for gap, _, _ in steps]
    assert out.values("read_ops", sda) == [more for _, more, _ in steps]
    assert out.values("read_execution_s", sda) == pytest.approx(
        [took / 1000 for _, _, took in steps], abs=1e-6
    )


def test_fuzz(tmp_path: Path) -> None:
    survives(diskstats, tmp_path / f"{HOST}.diskstats", DISKSTATS.encode())
