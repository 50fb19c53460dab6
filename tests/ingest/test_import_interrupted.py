"""Ctrl-C in the middle of an import: what is in stays, that is said, and the same command goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connectors.lustre.test_lctl_get_param import T0, text
from tests.connectors.test_packed import TEXT
from tests.kit.commands import ENVIRON, run

PATIENCE_S = 60


def test_ctrl_c_says_how_far_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The long file is not read to its end when the first is in."""
    first, long, store = tmp_path / "sacct", tmp_path / "log", tmp_path / "store"
    first.write_text(TEXT)
    long.write_text("".join(text(T0 + 60 * n, n + 1) for n in range(20_000)))
    files = [str(first), str(long)]
    arguments = [sys.executable, "-u", "-m", "iosonde.cli.main", "import", *files]
    # A shell starts what runs in its background without Ctrl-C.
    with subprocess.Popen(
        ["env", "--default-signal=INT", *arguments, "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRON,
    ) as process:
        assert process.stdout is not None
        assert "sacct" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == (
        "iosonde: interrupted: 1 of 2 files are in the store whole; "
        "the same command goes on, and leaves out what is there already"
    )
    assert "Traceback" not in errors
    long.write_text(text(T0) + text(T0 + 60, 2))
    assert run("import", *files, store=store) == 0
    out = capsys.readouterr().out.splitlines()
    assert "already in the store" in next(line for line in out if "sacct" in line)
