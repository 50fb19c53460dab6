"""Rates of a phase from instants that are known: against closed forms, and against bytes added up one by one."""

import json
import random
import tomllib
from pathlib import Path

import numpy as np
import pytest

from iosonde.bench.bandwidth.file_layout import parse_getstripe
from iosonde.bench.bandwidth.rates import (
    RankSeries,
    edges,
    merged_edges,
    moved,
    phase_rates,
    rank_series,
)
from iosonde.bench.bandwidth.spec import BandwidthSpec, kept_files
from iosonde.bench.bandwidth.tables import TABLES
from iosonde.model.frames import NULL_NS

ROOT = Path(__file__).resolve().parents[3]
S = 1_000_000_000
BIN = S // 4
T0 = 1_790_000_000 * S


def steady(begin_s, end_s, bytes_per_s, *, open_s=0.0, close_s=0.0):
    """A rank that moves bytes evenly, in transfers of a millisecond."""
    begin, end = T0 + round(begin_s * S), T0 + round(end_s * S)
    at = np.arange(begin + 1_000_000, end + 1, 1_000_000)
    first = (begin - round(open_s * S)) // BIN
    bins = np.bincount(at // BIN - first, minlength=1) * round(bytes_per_s / 1000)
    return RankSeries(
        begin - round(open_s * S), begin, end, end + round(close_s * S), int(first), bins
    )


def rates(*ranks):
    at = edges(ranks)
    return phase_rates(at, [moved(ranks, at)])


def test_one_steady_rank():
    found = rates(steady(0.1, 4.1, 8e6, open_s=0.05, close_s=0.95))
    assert found.sustained == pytest.approx(8e6, rel=1e-3)
    assert found.first == found.last == pytest.approx(32e6 / 5.0, rel=1e-9)
    assert found.tail_loss == pytest.approx(1 - 6.4 / 8, rel=1e-3)


def test_a_slow_rank_costs_the_tail_and_nothing_of_what_is_sustained():
    """Three ranks end at 4 s, one at 8 s with the same bytes: 3 x 8 + 4 = 28 MB/s, then 4 x 32 MB in 8 s."""
    ranks = [steady(0, 4, 8e6) for _ in range(3)] + [steady(0, 8, 4e6)]
    found = rates(*ranks)
    assert found.sustained == pytest.approx(28e6, rel=1e-3)
    assert found.first == pytest.approx(28e6, rel=1e-3)
    assert found.last == pytest.approx(16e6, rel=1e-9)
    assert found.tail_loss == pytest.approx(1 - 16 / 28, rel=1e-3)


def test_a_rank_that_begins_late_is_no_part_of_what_is_sustained():
    found = rates(steady(0, 4, 8e6), steady(1.1, 5.1, 8e6))
    assert found.sustained == pytest.approx(16e6, rel=2e-3)
    assert found.first == pytest.approx((32e6 + 8e6 * 2.9) / 4, rel=2e-3)
    assert found.last == pytest.approx(64e6 / 5.1, rel=1e-9)


def test_ranks_that_were_never_busy_at_once_have_no_sustained_rate():
    found = rates(steady(0, 1, 8e6), steady(2, 3, 8e6))
    assert (found.sustained, found.tail_loss) == (None, None)
    assert found.last == pytest.approx(16e6 / 3)


def test_bytes_at_any_instant_are_off_by_no_more_than_a_bin_holds():
    shuffle = random.Random(5)
    for _ in range(20):
        ends = sorted(T0 + shuffle.randrange(3 * S) for _ in range(200))
        begin = min(ends) - shuffle.randrange(BIN)
        first = begin // BIN
        bins = np.bincount(np.array(ends) // BIN - first) * 1000
        series = RankSeries(begin, begin, max(ends), max(ends), int(first), bins)
        for at in [begin, *(T0 + shuffle.randrange(3 * S) for _ in range(20)), max(ends)]:
            exact = 1000 * sum(end <= at for end in ends)
            within = bins[min(max(0, at // BIN - first), len(bins) - 1)]
            assert abs(series.moved(at) - exact) <= within
        assert series.moved(begin - S) == 0
        assert series.moved(max(ends) + S) == 200_000


def test_processes_add_up_to_the_same_as_one():
    ranks = [steady(0.01 * i, 3 + 0.3 * i, (5 + i) * 1e6, close_s=0.2) for i in range(6)]
    parts = [ranks[:2], [], ranks[2:]]
    at = merged_edges(edges(part) for part in parts)
    assert at == edges(ranks)
    assert phase_rates(at, [moved(part, at) for part in parts]) == rates(*ranks)
    assert merged_edges([None, edges([])]) is None


def test_a_rank_without_a_first_transfer_has_no_series():
    names = ("open_begin_ns", "transfer_begin_ns", "transfer_end_ns", "close_end_ns")
    columns = {name: np.array([T0]) for name in names} | {
        "first_bin": np.array([T0 // BIN]),
        "bins": np.array([7]),
    }
    assert rank_series(columns).close_end_ns == T0
    assert rank_series(columns | {"close_end_ns": np.array([NULL_NS])}).close_end_ns == T0
    assert rank_series(columns | {"transfer_end_ns": np.array([NULL_NS])}) is None


def test_tables_are_those_of_the_schema():
    for name, types in TABLES.items():
        schema = tomllib.loads((ROOT / f"schema/tables/{name}.toml").read_text())
        assert {column["name"]: column["type"] for column in schema["column"]} == types


GETSTRIPE = """\
/mnt/l/data.000000
lmm_stripe_count:  2
lmm_stripe_size:   1048576
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 1
\tobdidx\t\t objid\t\t objid\t\t group
\t     1\t             2\t          0x2\t             0
\t    13\t             2\t          0x2\t   0x200000400

/mnt/l/data.000001
  lcm_layout_gen:    3
  lcm_entry_count:   2
    lcme_id:             1
      lmm_stripe_count:  1
      lmm_stripe_size:   4194304
      lmm_objects:
      - 0: { l_ost_idx: 3, l_fid: [0x100030000:0x2:0x0] }
    lcme_id:             2
      lmm_objects:
      - 0: { l_ost_idx: 0, l_fid: [0x100000000:0x9:0x0] }
"""


def test_layouts_of_lustre_are_read_plain_and_composite():
    paths = ["/mnt/l/data.000000", "/mnt/l/data.000001", "/mnt/l/data.000002"]
    found = parse_getstripe(GETSTRIPE, paths)
    assert found[paths[0]].targets == ("OST0001", "OST000d")
    assert found[paths[0]].text == "2 x 1048576 B"
    assert found[paths[1]].targets == ("OST0003", "OST0000")
    assert paths[2] not in found
    assert parse_getstripe("lfs: command failed\n\x00 7 0x2", paths) == {}


@pytest.mark.parametrize("wrong", ["[]", '{"format": 2}', '{"format": 1, "counts": [-1]}'])
def test_a_note_of_another_version_is_refused(wrong):
    with pytest.raises((KeyError, TypeError, ValueError)):
        kept_files(json.loads(wrong))


def test_parameters_of_a_spec_are_those_of_the_core(place):
    from iosonde.bench.bandwidth.workload import BandwidthWorkload

    BandwidthWorkload(str(place), BandwidthSpec(block_bytes=1 << 20).parameters(1), 0, 1).close(
        1000
    )
