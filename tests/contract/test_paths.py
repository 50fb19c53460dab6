"""Documents name files that exist, and the structure stays within its limits."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
NAMED = re.compile(
    r"(?<![\w/.-])((?:src/iosonde|rust|web|tests|scripts|schema|benchmarks|docs|deploy|examples)/[\w./-]*\w)"
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_exist(document):
    named = set(NAMED.findall((ROOT / document).read_text()))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_structure_is_within_its_limits():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "structure.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
