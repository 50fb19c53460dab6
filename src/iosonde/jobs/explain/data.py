"""Explanation of a slow job as plain data: the verdict, and every metric examined."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from iosonde.model.advice import Spelling, command_line, spelled

if TYPE_CHECKING:
    from iosonde.jobs.explain.explain import Candidate, Explanation
    from iosonde.jobs.explain.words import JobVerdict

SCHEMA_VERSION = 2


def explanation_data(
    found: Explanation, verdict: JobVerdict, spelling: Spelling = command_line
) -> dict[str, Any]:
    """All data about one run; missing is None. ``n_history``: runs of the history; ``spelling``: of the door."""
    performance = found.performance
    return {
        "schema_version": SCHEMA_VERSION,
        "job_id": found.job_id,
        "step": found.step,
        "file_system": found.file_system,
        "motif": found.motif,
        **verdict.data(),
        "notes": [spelled(note, spelling) for note in found.notes],
        "measure": found.measure,
        "value": _number(performance.value),
        "usual": _number(found.usual),
        "loss": _number(found.loss),
        "share_below": _number(performance.share),
        "n_history": found.others,
        "since": None if found.since is None else asdict(found.since),
        "metrics": [candidate_data(one) for one in found.candidates],
        "goes_with": [
            {"metric": name, "gain": _number(gain), "sign": sign, "shape": shape}
            for name, gain, sign, shape in found.picks
        ],
    }


def candidate_data(one: Candidate) -> dict[str, Any]:
    """A metric examined. ``n_history``: values of the history; ``n``: those with a performance."""
    return {
        "metric": one.metric,
        "label": one.about.label,
        "unit": one.about.unit,
        "good": one.about.good,
        "tag": one.tag,
        "class": str(one.stood.standing),
        "leak": one.leak,
        "flags": list(one.flags),
        "n_history": one.stood.n,
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
                ("near_q", one.near_q),
                ("shape_q", one.shape_q),
                ("n_eff", one.n_eff),
            )
        },
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
