"""A hogged host: late operations are the host's, and a storage that hangs meanwhile is told."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit import harness, hogged

pytestmark = [
    pytest.mark.service,
    pytest.mark.measures,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root"),
]
WINDOW_S = 5.0


def test_late_operations_are_the_hosts_and_a_hang_is_the_storages(tmp_path: Path) -> None:
    cpu = hogged.one_cpu()
    with harness.loop_ext4(tmp_path) as mount:
        config = f'window = "{WINDOW_S:.0f}s"\n{harness.target(mount)}'
        agent = hogged.agent_on(cpu, tmp_path / "agent", config)
        try:
            agent.ready()
            learnt = lambda: agent.metric("iosonde_baseline_seconds", op="md_stat")  # noqa: E731
            harness.wait_for("a baseline", learnt, 20 * WINDOW_S)
            with hogged.hogs(cpu):
                since_ns = time.time_ns()
                looks = []
                for _ in range(4):
                    time.sleep(WINDOW_S)
                    looks.append(hogged.listen(agent, since_ns))
                wrong = [one for look in looks for one in look if one.blames]
                assert not wrong, wrong
                named = {one.door for look in looks for one in look if one.host}
                assert named, looks[-1]
                assert "why" in named or "now" not in named, looks
                subprocess.run(["fsfreeze", "-f", mount], check=True)
                try:
                    harness.wait_for("the hang in each door", lambda: _hung(agent, since_ns), 40)
                finally:
                    subprocess.run(["fsfreeze", "-u", mount], check=True)
        finally:
            agent.kill()


def _hung(agent: harness.Agent, since_ns: int) -> bool:
    """Whether every live door blames the storage."""
    said = hogged.listen(agent, since_ns)
    return {one.door for one in said if one.blames} >= {"now", "check", "metrics"}
