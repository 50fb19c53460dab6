"""Several hosts on one store folder: sealers that meet, and two hosts of one name."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from iosonde.doctor.finding import Findings
from iosonde.doctor.judge.store import _clock
from iosonde.engine.layout.segments import every_sealed, spool_segments
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, START, simulated, state


def closed(root: Path) -> None:
    """Let every segment be one that nobody appended to for long."""
    for path in (root / "spool").rglob("*.spool"):
        os.utime(path, ns=(START, START))


def test_sealers_that_meet_seal_each_segment_once(tmp_path):
    for host in ("n1", "n2", "n3"):
        simulated(tmp_path, 300, host=host)
    closed(tmp_path)
    before = Store(tmp_path).count()
    with ThreadPoolExecutor(3) as sealers:
        made = [path for found in sealers.map(lambda _: seal(tmp_path), range(3)) for path in found]
    seal(tmp_path)
    assert len(set(made)) == len(every_sealed(tmp_path)) == 3
    assert not spool_segments(tmp_path)
    assert Store(tmp_path).count() == before


def test_two_hosts_of_one_name_lose_no_row(tmp_path):
    rows = []
    for seed in (1, 2):
        simulated(tmp_path, 300, host="n1", seed=seed)
        rows.append(Store(tmp_path).count())
    assert rows[1] == 2 * rows[0] > 0
    closed(tmp_path)
    assert len(seal(tmp_path)) == 2
    assert Store(tmp_path).count() == rows[1]


def test_doctor_names_the_host_whose_clock_is_wrong():
    states = [
        state(host=host, written_ns=START + ahead * SECOND, heard_ns=START)
        for host, ahead in (("n1", 0), ("n2", 90))
    ]
    found = Findings("store")
    _clock(found, {"states": states}, START)
    (one,) = found.all
    assert one.level == "warning"
    assert "the clock of n2 is 90 s ahead of the storage's" in one.says
