"""Ctrl-C at any instant of a wait ends the wait."""

from __future__ import annotations

import subprocess
import sys

OFTEN = """
import signal
from iosonde.cli.shared.interrupt import Interrupt
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGTERM))
for instant in range(3000):
    with Interrupt() as interrupt:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + 1e-7 * (instant % 1000))
        while not interrupt.wait(1e-6):
            pass
"""
TWICE = """
import signal
from iosonde.cli.shared.interrupt import Interrupt
with Interrupt() as interrupt:
    signal.raise_signal(signal.SIGINT)
    assert interrupt.wanted
    assert interrupt.wait(60)
    signal.raise_signal(signal.SIGTERM)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_signal_within_a_wait_blocks_nothing():
    """Sent by a timer at 3,000 different instants of short waits, most of them inside the wait's own code."""
    assert run(OFTEN).returncode == 0


def test_the_second_signal_raises():
    done = run(TWICE)
    assert "KeyboardInterrupt" in done.stderr
