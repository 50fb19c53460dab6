"""A probe on simulated clocks."""

from __future__ import annotations

import json
from typing import Any

from iosonde import _core


def simulate(config: dict[str, Any], start_ns: int, duration_ns: int) -> dict[str, Any]:
    """Run a probe on simulated clocks from ``start_ns`` (UTC) on; writes its spool; returns the summary."""
    summary: dict[str, Any] = json.loads(_core.simulate(json.dumps(config), start_ns, duration_ns))
    return summary
