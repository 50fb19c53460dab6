"""Ground truth: a backend that triples read latency at a known time."""

import json
import re
import time
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import SECOND
from tests.kit.samples.makers import simulate

START_NS = 1_790_000_000 * SECOND
LATENCY = {
    "data_read": "5ms",
    "data_write": "4ms",
    "md_create": "1ms",
    "md_stat": "200us",
    "md_read": "400us",
    "md_delete": "600us",
}


def tripled(seed: int, sigma: float) -> dict[str, object]:
    fault = {"op": "data_read", "after": "90m", "for": "20m", "multiply": 3.0}
    latency = {**LATENCY, "sigma": sigma}
    watched = {"path": "/work", "backend": "null", "latency": latency, "fault": [fault]}
    return {"seed": seed, "flush": "60s", "target": [watched]}


@pytest.mark.parametrize("seed", range(5))
def test_slowdown_says_three(tmp_path: Path, seed: int) -> None:
    config = {"store": str(tmp_path), **tripled(seed, sigma=0.3)}
    simulate(config, START_NS, 7200 * SECOND)
    arguments = ["slowdown", "--store", tmp_path, "--since", "2020-01-01", "--format", "json"]
    said = json.loads(harness.run(arguments).stdout)
    (span,) = said["spans"]
    assert span["op"] == "data_read"
    assert span["slowdown"] == pytest.approx(3.0, rel=0.05)
    began_s = (span["start_ns"] - START_NS) / SECOND
    assert began_s == pytest.approx(90 * 60, abs=10)
    table = harness.run(arguments[:-2]).stdout
    assert re.search(r"reads.*(2\.9|3\.0|3\.1)x", table), table


@pytest.mark.measures
def test_now_says_it_in_words_while_it_lasts(tmp_path: Path) -> None:
    latency = "\n".join(f'{op} = "5ms"' for op in LATENCY)
    config = (
        'window = "3s"\n[[target]]\npath = "/work"\nperiod = "30ms"\nbackend = "null"\n'
        f'[target.latency]\n{latency}\n[[target.fault]]\nop = "data_read"\nafter = "20s"\nmultiply = 3.0\n'
    )
    with harness.running(tmp_path, config) as agent:
        began_ns = time.time_ns()

        def said() -> str:
            return harness.run(["now", "--store", agent.store], expect=None).stdout

        sentence = harness.wait_for(
            "the sentence", lambda: (text := said()) and "slower than usual" in text and text, 60
        )
        harness.wait_for(
            "a slowdown of about 3",
            lambda: 2.85 < (agent.metric("iosonde_slowdown_ratio", op="data_read") or 0) < 3.15,
        )
        state = agent.states()[0]["ops"][0]
        assert agent.metric("iosonde_state", state="slow") == 1
        checked = harness.run(["check", "--store", agent.store, "-w", "2", "-c", "10"], expect=1)
        assert checked.stdout.startswith("IOSONDE WARNING - reads on /work are")
    assert re.search(r"reads on /work are \d\.\dx slower than usual", sentence), sentence
    assert (state["since_ns"] - began_ns) / SECOND == pytest.approx(20, abs=1)
