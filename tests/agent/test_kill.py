"""kill -9 at random moments: every restart repairs the pool, every flushed sample stays readable."""

import random
import shutil
import time
from pathlib import Path

import pytest

from iosonde import _core
from tests.kit import harness

pytestmark = pytest.mark.service

KILLS = 200
POOL = 64
MARGIN = POOL // 4
"""How far creates and deletes may run apart: at 5 ms a starved thread is soon some ticks behind."""
OBJECT_BYTES = 3901


def pool_files(mount: Path) -> list[Path]:
    return sorted(mount.glob(f".iosonde-*/*/pool-{OBJECT_BYTES}/*"))


def rows_on_disk(store: Path) -> int:
    """Of segments that have begun: a file is there a moment before its first bytes."""
    begun = [file for file in store.glob("spool/*/*.spool") if file.stat().st_size]
    return sum(_core.read_spool(str(file))["rows"] for file in begun)


def test_two_hundred_kills(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    stranger = tmp_path / "target" / "somebody-elses.txt"
    stranger.parent.mkdir()
    stranger.write_text("not ours")
    config = f'window = "1s"\nflush = "20ms"\n{harness.target(stranger.parent)}'.replace(
        'period = "100ms"', 'period = "5ms"'
    ).replace("16MiB", "4MiB")
    flushed = 0
    for kill in range(KILLS):
        if kill % 5 == 0:  # from nothing, so that some die while preparing
            shutil.rmtree(stranger.parent / ".iosonde-0", ignore_errors=True)
        agent = harness.Agent(tmp_path, config).start()
        time.sleep(moments.uniform(0.0, 0.25))
        flushed_before_kill = rows_on_disk(agent.store)
        agent.kill()
        after = rows_on_disk(agent.store)
        assert after >= flushed_before_kill >= flushed, f"kill {kill}: rows vanished"
        flushed = after
        # A restart, and a clean end: the pool must be whole again.
        with harness.running(tmp_path, config) as agent:
            assert agent.stop() == 0
        sizes = {file.stat().st_size for file in pool_files(stranger.parent)}
        assert sizes == {OBJECT_BYTES}, f"kill {kill}: half-made files"
        there = len(pool_files(stranger.parent))
        assert abs(there - POOL) <= MARGIN, f"kill {kill}: {there} files"
        flushed = rows_on_disk(agent.store)
    exported = harness.samples(tmp_path / "store").execute("select count(*) from samples")
    assert exported.fetchone() == (flushed,)
    assert flushed > KILLS
    assert stranger.read_text() == "not ours"
    assert {entry.name for entry in stranger.parent.iterdir()} == {".iosonde-0", stranger.name}
