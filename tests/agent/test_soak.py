"""Forty seconds of what ``benchmarks.soak.soak`` does for half an hour."""

import random
from pathlib import Path

import pytest

from benchmarks.soak import soak
from benchmarks.soak.soaked import show

pytestmark = pytest.mark.service

SUPERVISOR_MIB = 32.0
FAMILY_MIB = 96.0


def test_nothing_is_lost_and_nothing_is_kept(tmp_path: Path) -> None:
    options = soak.Options(
        seconds=40,
        targets=2,
        window_s=2,
        kill_every_s=3,
        fault_every_s=6,
        seed=random.randrange(1 << 32),
    )
    print(options)
    outcome = soak.soak(options, tmp_path)
    show(outcome)
    assert outcome.problems == []
    assert outcome.kills >= 2
    assert outcome.fulls >= 1
    assert len(outcome.workers) > options.targets, "no worker was replaced"
    assert outcome.last.workers == options.targets
    assert outcome.last.supervisor.fds <= outcome.first.supervisor.fds
    assert max(reading.supervisor.pss_mib for reading in outcome.readings) < SUPERVISOR_MIB
    assert max(reading.family_pss_mib for reading in outcome.readings) < FAMILY_MIB
    assert outcome.ticks is not None
    # 15 s of them without any fault.
    assert outcome.ticks.outcomes["ok"] > 15 * options.hz * 6 * options.targets / 2
