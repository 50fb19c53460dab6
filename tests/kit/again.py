"""Tests that measure this machine: where they failed beside others, `scripts/tests` runs them once more, alone.

Such a test throttles a disk, stops a server or keeps a deadline, and asks whether the verdict is right. Beside other
tests the machine may truly be slow in another part. It fails if it fails alone; what passed only alone is printed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LOG = "IOSONDE_FAILURES_LOG"
"""A file that gets a line for each test that failed: ``measures`` or ``counts``, a space, the test's id."""
MARK = "measures"


class FailuresLog:
    """The plugin. Lines are of the process that the user started, not of xdist's workers."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        log = os.environ.get(LOG)
        if report.failed and log and "PYTEST_XDIST_WORKER" not in os.environ:
            kind = MARK if MARK in report.keywords else "counts"
            with Path(log).open("a", encoding="utf-8") as lines:
                lines.write(f"{kind} {report.nodeid}\n")
