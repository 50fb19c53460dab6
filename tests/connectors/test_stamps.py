"""Times that people put between the texts of a log: each connector of such logs knows them all."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.client import mountstats
from iosonde.connectors.lustre import get_param, job_stats, lctl_dl, lfs_df
from iosonde.connectors.sources import connector_of
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from tests.kit.records.connected import take

T0 = 1790000000  # 2026-09-21 14:13:20 UTC
BERLIN = ZoneInfo("Europe/Berlin")
STAMPS = {
    "BEGIN 1790000000": False,
    "1790000000": False,
    "Mon Sep 21 14:13:20 UTC 2026": False,
    "Mon Sep 21 02:13:20 PM UTC 2026": False,
    "Mon Sep 21 16:13:20 CEST 2026": True,
    "Mon Sep 21 16:13:20 2026": True,
    "2026-09-21T14:13:20Z": False,
    "2026-09-21T16:13:20+02:00": False,
    "2026-09-21 16:13:20": True,
    "Mon, 21 Sep 2026 16:13:20 +0200": False,
}
DF = """\
UUID                   1K-blocks        Used   Available Use% Mounted on
work-OST0000_UUID     2600000000   660000000  1900000000  26% /work[OST:0]

"""
DEVICES = "  4 UP osc work-OST0000-osc-ffff88105db50000 0f9b7a38-9a32 4 10.4.8.6@o2ib\n"
JOBS = (
    "obdfilter.work-OST0000.job_stats=\njob_stats:\n- job_id:          4711\n"
    "  snapshot_time:   1789999000\n  read:  { samples: 1, unit: bytes, min: 1, max: 1, sum: 5 }\n"
)
MOUNT = """\
device 10.0.0.1:/e mounted on /mnt with fstype nfs4 statvers=1.1
\tage:\t9
\tbytes:\t0 0 0 0 1000 2000 0 0
\tper-op statistics
\t        READ: 1 1 0 2 3 6 7 8 0
"""
PARAMETERS = "obdfilter.work-OST0000.num_exports=5\n"


@pytest.mark.parametrize(("text", "naive"), STAMPS.items())
def test_a_line_that_is_a_time(text: str, naive: bool) -> None:
    clock = WallTimes(BERLIN)
    assert stamp_of(f" {text} ", clock) == T0 * 10**9
    assert bool(clock.naive) is naive


@pytest.mark.parametrize(
    "text", ["", "17900", "BEGIN", "Mon Foo 21 14:13:20 UTC 2026", "2026-13-01T00:00:00", "9" * 11]
)
def test_a_line_that_is_none(text: str) -> None:
    assert stamp_of(text, WallTimes(BERLIN)) is None


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize(
    ("connector", "text"),
    [
        (lfs_df, DF),
        (lctl_dl, DEVICES),
        (job_stats, JOBS),
        (mountstats, MOUNT),
        (get_param, PARAMETERS),
    ],
)
def test_logs_with_it(tmp_path, connector, text, stamp):
    path = tmp_path / "log"
    path.write_text(f"{stamp}\n{text}BEGIN {T0 + 3600}\n{text}")
    assert connector_of(path) is connector
    out = take(connector, path, zone=BERLIN)
    assert (out.told, out.ended) == ([], None)
    first = [b.time_ns[0] for b in out.blocks] + [edge.time_ns for edge in out.edges]
    assert min(first) == T0 * 10**9
    if out.blocks:
        flags = {note.flag for block in out.blocks for note in block.notes}
        assert flags == ({"naive-time"} if STAMPS[stamp] else set())
