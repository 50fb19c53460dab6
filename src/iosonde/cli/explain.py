"""iosonde explain: why was this job slow, in one sentence with its evidence, and its diagram."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from iosonde.analysis.culprits import Candidate, Explanation, explain
from iosonde.analysis.leakage import judged
from iosonde.analysis.umami import standard_rows, umami
from iosonde.cli import job_options, options
from iosonde.findings.explanation import Verdict, judge, shown_rows

SCHEMA_VERSION = 1
EXAMPLES = """\
  iosonde explain --job 4711                     a job of the store
  iosonde explain --job 4711 --step '#2'         its second run
  iosonde explain jobs.csv --job 4711 --mapping site.toml
  iosonde explain --job 4711 --plot 4711.png     the diagram as a picture
  iosonde explain --job 4711 --format json       every metric that was looked at, with its evidence

Compared with earlier runs of the same program, file mode and direction on the same file system; --history all
takes the later ones too. What stood out need not be the cause: docs/umami.md says how it is found.
"""


def main(arguments: Sequence[str]) -> int:
    """Print why a job was slow."""
    args = _parse(arguments)
    table = judged(job_options.table_of(args))
    found = explain(table, args.job, args.step, history=args.history, last=args.last)
    verdict = judge(found)
    if args.format == "json":
        job_options.write(json.dumps(_data(found, verdict), indent=2) + "\n", args.output)
    else:
        _print(found, verdict)
    if args.format == "table" or args.plot is not None:
        rows = shown_rows(found, verdict, standard_rows(table))
        known = [name for name in rows if name in table.metrics]
        diagram = umami(
            table, args.job, args.step, metrics=known, last=args.last, history=args.history
        )
        if args.format == "table":
            print()
            job_options.print_diagram(diagram)
        if args.plot is not None:
            job_options.plot(diagram, args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Why was this job slow? What stood out, what history says of it, what was as usual."
    parser = options.Parser("explain", summary, EXAMPLES)
    job_options.add_job(parser)
    parser.add_data(("json",))
    return parser.parse(arguments)


def _print(found: Explanation, verdict: Verdict) -> None:
    print(verdict.sentence)
    for line in verdict.lines():
        print(f"  - {line}")
    for note in found.notes:
        print(f"  note: {note}")


def _data(found: Explanation, verdict: Verdict) -> dict[str, Any]:
    performance = found.performance
    return {
        "schema_version": SCHEMA_VERSION,
        "job_id": found.job_id,
        "step": found.step,
        "file_system": found.file_system,
        "motif": found.motif,
        **verdict.data(),
        "notes": list(found.notes),
        "measure": found.measure,
        "value": _number(performance.value),
        "usual": _number(found.usual),
        "loss": _number(found.loss),
        "share_below": _number(performance.share),
        "runs": found.others,
        "since": None if found.since is None else asdict(found.since),
        "metrics": [_metric(one) for one in found.candidates],
        "goes_with": [
            {"metric": name, "gain": _number(gain), "sign": sign, "shape": shape}
            for name, gain, sign, shape in found.picks
        ],
    }


def _metric(one: Candidate) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "unit": one.about.unit,
        "good": one.about.good,
        "tag": one.tag,
        "class": str(one.stood.standing),
        "leak": one.leak,
        "flags": list(one.flags),
        "runs": one.stood.n,
        "matches": one.matches,
        "n": one.n,
        **{
            name: _number(value)
            for name, value in (
                ("value", one.stood.value),
                ("usual", one.usual),
                ("share_below", one.stood.share),
                ("z", one.z),
                ("loss", one.loss),
                ("score", one.score),
                ("spearman", one.rho),
                ("p", one.p),
                ("q", one.q),
                ("shape_q", one.shape_q),
                ("n_eff", one.n_eff),
            )
        },
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
