"""Runs commands in this process, as a shell would."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from iosonde.cli import main

ENVIRON = {**os.environ, "TZ": "UTC", "NO_COLOR": "1", "COLUMNS": "100"}


def run(*arguments: str, store: Path | None = None) -> int:
    """The exit code of ``iosonde ARGUMENTS --store STORE``."""
    return main.main([*arguments, *(["--store", str(store)] if store else [])])


def put(root: Path, **states: dict[str, Any]) -> None:
    """Write states into a store."""
    for name, value in states.items():
        path = root / "state" / "login2" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
