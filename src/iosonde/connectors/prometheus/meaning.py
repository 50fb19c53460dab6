"""Meaning of an exporter's name, and the host that a sample's labels say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_CLIENTS = ("nodename", "node", "instance", "hostname", "host")


class MetricMeaning(NamedTuple):
    """Metric of a name; if "", the label ``operation`` selects it from ``operations``.

    ``only``: the label and value that a sample must have: exporters give a sample for each state a thing may be in.
    """

    family: str
    metric: str
    counter: bool
    scale: float = 1.0
    operations: Mapping[str, str] = {}
    only: tuple[str, str] | None = None


def host_of(labels: Mapping[str, str]) -> str:
    """Host of a sample; "" if no label says it."""
    return next((labels[name] for name in _CLIENTS if labels.get(name)), "")
