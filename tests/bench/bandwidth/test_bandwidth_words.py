"""What a bandwidth run says: cautions, the slow rank, the tail, and the picture."""

from dataclasses import replace

import numpy as np
import pytest

from iosonde.bench.bandwidth.cautions import phase_cautions, plan_cautions
from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.sheets import bandwidth_sheet
from iosonde.bench.bandwidth.spec import BandwidthSpec
from iosonde.bench.bandwidth.words import phase_cells, say_slow_ranks, say_tail
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.tallies import PhaseTally
from iosonde.bench.runtime.workload import PhaseKey
from iosonde.drawing.marks import NumberDots, NumberLine
from iosonde.model.runs import RunRow
from tests.kit.runs.driven import bandwidth, rows_of

GIB = 1 << 30
MACHINE = {"memory_bytes": 64 * GIB, "processors": 4, "machines": 1, "file_system": "ext4"}


def before(spec, hosts, machine=MACHINE, directions=("write", "read")):
    return " | ".join(
        plan_cautions(BandwidthPlan(("/work",), 1, spec, directions), spec, hosts, machine)
    )


def test_files_that_fit_into_memory_are_said_to_with_a_size_that_does_not():
    spec = BandwidthSpec(block_bytes=8 * GIB)
    assert "16.0 GiB a host fit into its memory (64.0 GiB)" in before(spec, ["a", "a", "b"])
    assert "-b 65G" in before(spec, ["a", "a", "b"])
    assert "fit into" not in before(replace(spec, block_bytes=65 * GIB), ["a", "a", "b"])
    assert before(replace(spec, direct=True), ["a", "a"]) == ""
    assert (
        before(spec, ["a"], MACHINE | {"file_system": "tmpfs"})
        == "/work is tmpfs: this measures memory"
    )


def test_reads_of_what_the_own_host_wrote_are_counted():
    spec = BandwidthSpec(block_bytes=33 * GIB)
    hosts = ["a", "a", "b", "b"]
    assert "4 of 4 ranks read what their own host" in before(spec, hosts)
    assert "2 of 4 ranks read what their own host" in before(replace(spec, shift=1), hosts)
    assert "read what" not in before(replace(spec, shift=2), hosts)
    assert "read what" not in before(spec, hosts, directions=("write",))
    assert "read what" not in before(replace(spec, block_bytes=64 * GIB), hosts)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"slowest_ns": 999_000_000}, "less than a second"),
        ({"cpu_ns": 36_100_000_000}, "ranks computed 90% of the time"),
        ({"cpu_ns": 35_900_000_000}, ""),
        ({}, ""),
    ],
)
def test_a_phase_that_measured_something_else_says_so(changes, said):
    total = replace(PhaseTally(ranks=4, slowest_ns=10 * 10**9, ends={"done": 4}), **changes)
    found = list(
        phase_cautions(PhaseResult(PhaseKey("write"), (), total), BandwidthSpec(), MACHINE)
    )
    assert (said in found[0]) if said else not found


def test_a_limit_that_was_not_reached_is_said():
    spec = BandwidthSpec(limit_ns=30 * 10**9)
    total = PhaseTally(ranks=2, slowest_ns=10 * 10**9, ends={"done": 2})
    early = PhaseResult(PhaseKey("write"), (), total, total)
    assert "before the time limit" in " ".join(phase_cautions(early, spec, MACHINE))
    cut = replace(total, ends={"limit": 2})
    assert not list(phase_cautions(PhaseResult(PhaseKey("write"), (), cut, cut), spec, MACHINE))


def row(**changes):
    base = RunRow(
        run_id="bandwidth-1",
        source="iosonde",
        instrument="bandwidth",
        host="node7",
        target="/work",
        backend="posix",
        pattern="own",
        phase="write",
        ranks=3,
        ops=3072,
        failed=0,
        bytes=3 * GIB,
        duration_ns=8 * 10**9,
        sustained_bytes_per_s=GIB / 2,
        first_bytes_per_s=GIB / 2,
        last_bytes_per_s=3 * GIB / 8,
    )
    return replace(base, **changes)


def test_the_slow_rank_and_the_tail_get_a_sentence():
    ranks = [row(rank=i, duration_ns=ns * 10**9) for i, ns in enumerate((4, 4, 8))]
    assert say_slow_ranks([row(), *ranks]) == [
        "write 0: rank 2 on node7 took 8.00 s, 2.00x the median rank"
    ]
    assert say_tail([row(), *ranks]) == [
        "write 0: the last rank cost 25% of the sustained 512 MiB/s"
    ]
    (cells,) = phase_cells([row(), *ranks])
    assert cells[:9] == (
        *("write", "0", "512 MiB/s", "512 MiB/s", "384 MiB/s", "25%", "3.00 GiB", "8.00 s"),
        "2 (2.00x)",
    )
    (unknown,) = phase_cells([row(sustained_bytes_per_s=None, outcomes={"ok": 9, "EIO": 1})])
    assert (unknown[2], unknown[5], unknown[-1]) == ("n/a", "n/a", "1 EIO")


def test_the_picture_shows_what_moved_when_and_which_rank_was_slow(place, store, tmp_path):
    plot = tmp_path / "rates.png"
    words = ("-n", 4, "-t", "64k", "-b", "4M", "--fault", "write@2:+10ms", "--plot", plot)
    assert bandwidth(place, *words, store=store) == 0
    assert plot.stat().st_size > 10_000
    rows = rows_of(store)
    sheet = bandwidth_sheet(store, [r for r in rows if r.rank is None])
    panes = {(pane.row, pane.column): pane for pane in sheet.panes}
    assert set(panes) == {
        (what, way) for what in ("rate", "time of a file") for way in ("write", "read")
    }
    curve, mean = (m for m in panes["rate", "write"].marks if isinstance(m, NumberLine))
    width = np.diff(curve.across)[::2]
    moved = np.nansum(curve.value[::2] * width)
    assert moved == pytest.approx(16 << 20, rel=0.05)
    assert mean.mean
    assert mean.value[0] == pytest.approx((16 << 20) / mean.across[1], rel=0.02)
    slow = [m for m in panes["time of a file", "write"].marks if isinstance(m, NumberDots)][-1]
    assert slow.role == "slow"
    assert 2 in slow.across
    assert bandwidth(place, *words) == 0, "a picture needs no store"
