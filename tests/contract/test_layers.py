"""What import-linter cannot see: the native core is no Python module."""

from __future__ import annotations

import ast
from pathlib import Path

import iosonde

ALLOWED = ("bench", "doctor", "engine", "host", "queue", "stats", "weather")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_measure_stats_and_store_import_the_core():
    root = Path(iosonde.__file__).parent
    found = {
        path.relative_to(root).parts[0]
        for path in root.rglob("*.py")
        if any(name.startswith("iosonde._core") for name in imports(path))
    }
    assert found == set(ALLOWED)
