"""The demonstration, on the real disk: the load it puts on is found, dated and put down to the storage."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.kit import harness

pytestmark = pytest.mark.service


def test_the_demo_finds_its_own_load(tmp_path: Path) -> None:
    folder = Path(os.environ.get("IOSONDE_DISK", "/var/tmp")) / f"iosonde-{tmp_path.name}"
    folder.mkdir()
    try:
        done = subprocess.run(
            [harness.IOSONDE, "demo"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "DEMO_SERVE": "0", "NO_COLOR": "1"},
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "iosonde-demo.png").stat().st_size > 20_000
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)
    print(done.stdout[-1500:])
    rows = re.findall(
        r"^([a-z ]+?)  .*?([\d.]+)x \([\d.]+-[\d.]+\) +(\d+)", done.stdout, re.MULTILINE
    )
    factors = {op: float(factor) for op, factor, _ in rows}
    assert len(factors) == 6, done.stdout
    assert all(int(n) > 100 for _, _, n in rows)
    assert max(factors["reads"], factors["writes"]) > 1
    onset = re.search(r"found slow from ([\d.]+) s (before|after) the load began", done.stdout)
    assert onset, done.stdout
    # Slow begins at 2x: a load that a fast disk hardly feels may cross that late, but inside the load.
    clear = max(factors.values()) >= 3
    # Before the load began the disk is slow where other tests write to it.
    most_s = 10.0 if onset[2] == "before" else 3.0 if clear else 28.0
    assert float(onset[1]) <= most_s
