"""Sentences beside climates: value of a prediction from metrics, and clusters of similar jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iosonde.jobs.climate.motifs import MotifCluster, Motifs
    from iosonde.jobs.climate.validation import Validated


def say_validation(one: Validated) -> list[str]:
    """Accuracy of a prediction, beside that of the recent median; and the warning."""
    place = one.file_system or "no file system"
    found = one.found
    if found is None:
        runs = "1 run is" if one.runs == 1 else f"{one.runs} runs are"
        return [f"{place}: {runs} too few to validate a prediction"]
    with_metrics = f"{found.both.mae:.3f} (R2 {found.both.r2:.2f})"
    alone = f"{found.climate.mae:.3f} (R2 {found.climate.r2:.2f})"
    worth = "metrics add to" if found.useful else "metrics add nothing to"
    lines = [
        f"{place}: {worth} the recent median: on {found.climate.n} later runs a prediction is off by "
        f"{with_metrics}, the recent median alone by {alone}, metrics without it by "
        f"{found.metrics.mae:.3f} (R2 {found.metrics.r2:.2f}), the all-time median by {found.strata.mae:.3f}"
    ]
    if found.leaks:
        lines.append(
            f"{place}: random folds would promise {found.random.mae:.3f} (R2 {found.random.r2:.2f}): "
            "not to be believed, they remember the climate"
        )
    return lines


def say_motifs(found: Motifs) -> str:
    """``8 clusters of 7456 jobs, 0% in none; they agree with the known motifs to 1.00``."""
    n, jobs = len(found.clusters), len(found.label)
    text = f"{n} cluster{'' if n == 1 else 's'} of {jobs} job{'' if jobs == 1 else 's'}"
    text += f", {found.unclustered:.0%} in none"
    if found.agreement == found.agreement:
        text += (
            f"; adjusted Rand index with known motifs {found.agreement:.2f} over {found.compared} jobs"
            f" ({found.agreement_all:.2f} with the unclustered as one more)"
        )
    return text


def say_cluster(one: MotifCluster) -> str:
    """Motif of a cluster."""
    if not one.motif:
        return "nobody named any of them"
    return f"{one.motif}, {one.share:.0%} of {one.named} with a name"
