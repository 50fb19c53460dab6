"""A hogged host: late operations are the host's, and a storage that hangs meanwhile is told."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit import harness, hogged

pytestmark = [
    pytest.mark.service,
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
                assert named >= {"now", "check", "metrics"}, looks[-1]
                subprocess.run(["fsfreeze", "-f", mount], check=True)
                doors = {"now", "check", "metrics"}
                # A state is written a round after its word has changed.

                def told() -> bool:
                    said = hogged.listen(agent, since_ns)
                    return doors <= {one.door for one in said if one.blames}

                try:
                    harness.wait_for("every door's word of the hang", told, 60)
                finally:
                    subprocess.run(["fsfreeze", "-u", mount], check=True)
        finally:
            agent.kill()
