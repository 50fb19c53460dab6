"""Series on the `/metrics` page of a real agent, and savings from leaving parts out.

``python -m benchmarks cardinality``. What is absent while the agent learns is counted from the schema: a series an op.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

from iosonde.model.ops import OPS
from scripts.grafana.metrics import read
from tests.kit import harness

FEWER = Path(__file__).resolve().parents[2] / "deploy/prometheus/fewer-series.yml"
FIRST, SECOND = "iosonde_op_duration_seconds", "iosonde_op_service_duration_seconds"


def dropped() -> list[re.Pattern[str]]:
    """Of each rule of the file what it matches: the source labels, joined by semicolons."""
    return [re.compile(found) for found in re.findall(r"regex: (\S+)", FEWER.read_text())]


def series(page: str) -> list[tuple[str, str]]:
    """(name, labels) of every series of a page."""
    found = re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", page, re.M)
    return [(name, labels) for name, labels in found]


def main() -> None:
    """Print the counts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with harness.running(folder, harness.target(folder)) as agent:
            harness.wait_for("rows", lambda: agent.metric("iosonde_ops_total", result="ok"))
            every = series(agent.get("/metrics")[1])
    of_target = [(name, labels) for name, labels in every if "target=" in labels]
    counted = Counter(
        name.rpartition("_")[0] for name, _ in of_target if name.startswith((FIRST, SECOND))
    )
    seen = {name for name, _ in of_target}
    late = sum(
        len(OPS)
        for metric in read().values()
        if metric.labels[:2] == ("target", "op")
        and metric.kind != "histogram"
        and metric.name not in seen
    )
    service, buckets = dropped()
    second = sum(bool(service.fullmatch(name)) for name, _ in of_target)
    coarse = sum(
        bool(buckets.fullmatch(f"{name};{le[1]}"))
        for name, labels in of_target
        if (le := re.search(r'le="([^"]+)"', labels))
    )
    whole = len(of_target) + late
    print(f"of the agent itself           {len(every) - len(of_target)}")
    print(f"of a target now               {len(of_target)}")
    print(f"once everything is known      {whole}")
    print(f"of the histograms             {dict(counted)}")
    print(f"without the second histogram  {whole - second}")
    print(f"and every second bucket       {whole - second - coarse}")
