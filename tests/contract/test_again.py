"""`scripts/tests`: which failures run once more, alone, and what the end of it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.again import LOG
from tests.kit.harness import ROOT

PYTEST = """#!/bin/sh
case "$*" in
*@*) echo "{alone} in 1 s"; exit {end} ;;
*--ignore*) printf '%s' '{lines}' >>"$IOSONDE_FAILURES_LOG"; echo "{beside} in 9 s"; exit {code} ;;
*) echo "7 passed in 2 s" ;;
esac
"""
FOUR = "".join(f"measures {name}\n" for name in "abcd")
ONE = "measures a.py::b[1 MiB/s each]\n"


def scripted(root: Path, **said: object) -> tuple[int, str]:
    """Exit status and last line of the script, with a pytest that says and does this."""
    for folder, name, text in (
        ("scripts", "tests", (ROOT / "scripts" / "tests").read_text()),
        (".venv/bin", "pytest", PYTEST.format(**said)),
    ):
        (root / folder).mkdir(parents=True)
        (root / folder / name).write_text(text)
        (root / folder / name).chmod(0o755)
    done = subprocess.run([root / "scripts/tests"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("lines", "beside", "code", "alone", "end", "expected"),
    [
        ("", "3 passed", 0, "", 0, (0, "10 passed, 0 failed, 0 skipped")),
        (ONE, "1 failed, 3 passed", 1, "1 passed", 0, (0, "10 passed, 1 more alone only, 0 failed, 0 skipped")),
        (ONE, "1 failed, 3 passed", 1, "1 failed", 1, (1, "10 passed, 1 failed, 0 skipped")),
        ("counts a.py::b\n", "1 failed", 1, "1 passed", 0, (1, "7 passed, 1 failed, 0 skipped")),
        (ONE + "counts c.py::d\n", "2 failed", 1, "1 passed", 0, (1, "7 passed, 2 failed, 0 skipped")),
        (ONE, "1 failed, 1 error", 1, "1 passed", 0, (1, "7 passed, 2 failed, 0 skipped")),
        (ONE, "1 failed", 3, "1 passed", 0, (1, "7 passed, 1 failed, 0 skipped")),
        ("", "no tests ran", 5, "", 0, (1, "7 passed, 0 failed, 0 skipped")),
        (FOUR, "4 failed", 1, "4 passed", 0, (1, "7 passed, 4 failed, 0 skipped")),
    ],
)  # fmt: skip
def test_what_fails_alone_or_counts_is_a_failure(
    tmp_path, lines, beside, code, alone, end, expected
) -> None:
    said = {"lines": lines, "beside": beside, "code": code, "alone": alone, "end": end}
    assert scripted(tmp_path, **said) == expected


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_the_log_says_which_failures_measure(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "test_of_two.py").write_text(
        "import pytest\n"
        "@pytest.mark.measures\n@pytest.mark.parametrize('usual', ['1 MiB/s each'])\n"
        "def test_disk(usual): assert not usual\n"
        "def test_sum(): assert 1 + 1 == 3\n"
        "def test_product(): assert 2 * 2 == 4\n"
    )
    run = (
        "import sys, pytest; from tests.kit.again import FailuresLog;"
        "sys.exit(pytest.main(sys.argv[1:], plugins=[FailuresLog()]))"
    )
    log = tmp_path / "log"
    without = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    done = subprocess.run(
        [sys.executable, "-c", run, "-q", f"--rootdir={tmp_path}", "-W", "ignore", *options, tmp_path],
        env={**without, LOG: str(log), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done
    assert sorted(log.read_text().splitlines()) == [
        "counts test_of_two.py::test_sum",
        "measures test_of_two.py::test_disk[1 MiB/s each]",
    ]
