"""Hosts whose name two machines share: their states replace each other, and their samples count as one host's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde import _core


def namesakes(states: Sequence[dict[str, Any]]) -> list[str]:
    """Names of such hosts, sorted. A probe found another's state in place of its own, or two boots write at once."""
    return _core.namesakes(list(states))
