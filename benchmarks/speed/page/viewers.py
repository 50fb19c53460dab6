"""Up to 200 viewers of the page Now beside an agent at 10 Hz: latencies, lost ticks.

``python -m benchmarks viewers [--most 200]`` (needs root, for a file system in memory). The viewers and the server
share this machine, so the times hold the viewers' own work.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from tests.agent.test_viewers import ticks
from tests.kit import harness
from tests.kit.page.viewers import look
from tests.kit.samples import stores

ROUNDS, EVERY_S = 20, 1.0


def main(most: int = 200) -> None:
    """Print a row for a growing number of viewers."""
    print("viewers  requests  errors  p50 ms  p99 ms  max ms  ticks  missed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            harness.tmpfs(folder / "memory", "size=64m") as place,
            harness.running(folder, harness.target(place)) as agent,
            stores.running(agent.store) as (address, _),
        ):
            for viewers in (1, most // 4, most):
                ended, missed = ticks(agent)
                seen = look(address, viewers, ROUNDS, EVERY_S)
                later, then = ticks(agent)
                p50, p99, worst = 1e3 * np.quantile(seen.seconds, [0.5, 0.99, 1.0])
                print(
                    f"{viewers:7}  {len(seen.seconds):8}  {len(seen.errors):6}  {p50:6.1f}  {p99:6.1f}  "
                    f"{worst:6.1f}  {later - ended:5.0f}  {then - missed:6.0f}"
                )
            agent.stop()
