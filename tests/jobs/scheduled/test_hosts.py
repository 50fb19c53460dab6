"""One slow login node is no slow file system; a host that hangs says so; probes begin and end within a job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iosonde.jobs.scheduled.storage import storage_during
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, probed

START = 1_790_035_200 * SECOND
HOUR = 3_600


def service(seed: int, *slow: tuple[int, int]) -> np.ndarray:
    found = 1e-3 * np.exp(0.3 * np.random.default_rng(seed).standard_normal(8 * HOUR))
    for begin, end in slow:
        found[begin:end] *= 4
    return found


@pytest.mark.parametrize(
    ("others", "minutes"),
    [([()], 0), ([((5 * HOUR, 5 * HOUR + 1200),)], 20), ([((5 * HOUR, 5 * HOUR + 1800),), ()], 30)],
)
def test_the_lower_half_of_the_hosts_decides(tmp_path: Path, others: list, minutes: int) -> None:
    probed(tmp_path, service(1, (5 * HOUR, 5 * HOUR + 1800)), START, host="login1")
    for number, slow in enumerate(others, 2):
        probed(tmp_path, service(number, *slow), START, host=f"login{number}")
    (one,) = storage_during(Store(tmp_path), START + 4 * HOUR * SECOND, START + 7 * HOUR * SECOND)
    assert one.slow_ns / (60 * SECOND) == pytest.approx(minutes, abs=1)
    assert len(one.hosts) == 1 + len(others)
    assert one.slow_ns + one.clear_ns + one.unknown_ns == 3 * HOUR * SECOND


def test_a_job_that_outlasts_the_probe_is_unknown_from_there_on(tmp_path: Path) -> None:
    probed(tmp_path, service(1), START)
    (one,) = storage_during(
        Store(tmp_path), START + 6 * HOUR * SECOND + 7, START + 12 * HOUR * SECOND + 11
    )
    assert one.slow_ns == 0
    assert one.clear_ns == pytest.approx(2 * HOUR * SECOND, abs=60 * SECOND)
    assert one.unknown_ns == one.unprobed_ns
    assert one.clear_ns + one.unknown_ns == 6 * HOUR * SECOND + 4


def test_what_is_still_learnt_is_unknown(tmp_path: Path) -> None:
    probed(tmp_path, service(1)[: HOUR // 2], START)
    (one,) = storage_during(Store(tmp_path), START, START + HOUR // 2 * SECOND)
    assert (one.slow_ns, one.clear_ns) == (0, 0)
    assert one.unprobed_ns < one.unknown_ns == HOUR // 2 * SECOND


def test_without_probes_there_is_nothing(tmp_path: Path) -> None:
    assert storage_during(Store(tmp_path), START, START + HOUR * SECOND) == []
