"""An operation now and then: windows follow its step, and a fault ten times as slow is one event."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.kit.commands import run

BEGIN_S = 1_790_000_000
HOUR_S, DAY_S = 3_600, 86_400


@pytest.mark.parametrize(
    ("step_s", "before_days", "hours"),
    [(60, 5, 12), (300, 8, 24), (3600, 30, 72)],
    ids=["a minute", "five minutes", "an hour"],
)
@pytest.mark.parametrize("sigma", [0.1, 0.4])
def test_a_fault_ten_times_as_slow_is_one_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step_s: int, before_days: int, hours: int, sigma: float
) -> None:  # fmt: skip
    random = np.random.default_rng(7)
    at_s = np.arange(0, before_days * DAY_S + (hours + 48) * HOUR_S, step_s)
    took_us = 5_000 * np.exp(sigma * random.standard_normal(len(at_s)))
    begin_s, end_s = before_days * DAY_S, before_days * DAY_S + hours * HOUR_S
    took_us[(at_s >= begin_s) & (at_s < end_s)] *= 10
    table = tmp_path / "samples.csv"
    rows = (f"{BEGIN_S + at},read,{us:.3f}" for at, us in zip(at_s.tolist(), took_us, strict=True))
    table.write_text("\n".join(["time,op,latency_us", *rows]) + "\n")
    store = tmp_path / "store"
    assert run("import", str(table), "--target", "/work", "--host", "n1", store=store) == 0
    capsys.readouterr()
    assert run("events", "--since", "2020-01-01", "--format", "json", store=store) == 0
    (event,) = json.loads(capsys.readouterr().out)["slow"]
    assert event["kind"] == "slow"
    assert event["start_ns"] / 1e9 - BEGIN_S == begin_s
    assert event["median"] == pytest.approx(10.0, rel=0.35)
    assert abs(event["end_ns"] / 1e9 - BEGIN_S - end_s) <= 24 * step_s
