"""Phrases on each metric: in a sentence, and as a line of evidence with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.explain.verdict import NEAR_Q, against, backed, in_line
from iosonde.model.amounts import amount, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.explain.explain import Candidate
    from iosonde.jobs.explain.loss_share import LossShare
    from iosonde.jobs.explain.own_doing import OwnChange
    from iosonde.jobs.explain.verdict import LossReason

_SHARED = {
    "cf_bandwidth_ratio": "traffic",
    "cf_ops_ratio": "reads and writes",
    "cf_opens_ratio": "opens",
    "cf_stats_ratio": "stats",
}
"""Coverage factors of the job: what is left is the share of others."""
_NOTHING_KNOWN, _ALL, _LITTLE = 0.9, 0.98, 0.5
"""Width of an interval that says nothing; its low end, if the whole loss is within it; its high end, if little is."""


def say_reasons(reasons: Sequence[LossReason], *, twins: bool = True) -> str:
    """``max OSS CPU 92% (usual 30%) and closes 9 k/s (usual 260/s)``; with metrics that move together."""
    words = [say_reason(one, twins=twins) for one in reasons]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def say_reason(one: LossReason, *, twins: bool = True) -> str:
    """``closes 9 k/s (usual 260/s) and opens 8 k/s, which move together``."""
    text = _short(one.first)
    if not twins or one.twin is None:
        return text
    return f"{text} and {say_bare(one.twin)}, which move together"


def say_own(changes: Sequence[OwnChange]) -> str:
    """``it moved 4.0x the bytes (4.1 TiB, usual 1.0 TiB)`` for the first, and other differences."""
    first, *others = changes
    text = f"{_times(first.ratio)} the {first.what} ({_own(first, first.value)}, usual {_own(first, first.usual)})"
    more = [f"{_times(one.ratio)} the {one.what}" for one in others[:2]]
    return text if not more else f"{text}, {' and '.join(more)}"


def say_own_shortly(changes: Sequence[OwnChange]) -> str:
    """``4.0x the bytes``."""
    return f"{_times(changes[0].ratio)} the {changes[0].what}"


def say_own_line(one: OwnChange, *, level: bool) -> str:
    """A line of evidence. ``level``: the history shows how fast such runs are."""
    known = "usual is what its history lets expect of such runs" if level else _NOT_TOLD
    return (
        f"the run itself had {_times(one.ratio)} the {one.what} of its kind: {_own(one, one.value)}, "
        f"usual {_own(one, one.usual)} of {one.n} runs; {known}"
    )


_NOT_TOLD = "they do not say how fast such a run is"


def _times(ratio: float) -> str:
    return {0.5: "half", 0.25: "a quarter of"}.get(round(ratio, 2), f"{ratio:.3g}x")


def _own(one: OwnChange, value: float) -> str:
    return amount(value, scale_of(one.unit if one.unit == "bytes" else "", [value]))


def say_share(share: LossShare | None, *, several: bool = False) -> str:
    """``could explain 50-90% of the loss``: a correlation, so never more than that."""
    if share is None or share.high - share.low > _NOTHING_KNOWN:
        return "go with slow runs" if several else "goes with slow runs"
    if share.low >= _ALL:
        return "could explain all of the loss"
    low, high = f"{100 * share.low:.0f}", f"{share.high:.0%}"
    only = "only " if share.high < _LITTLE else ""
    between = f"up to {high}" if low == "0" else high if high == f"{low}%" else f"{low}-{high}"
    return f"could explain {only}{between} of the loss"


def say_unseen_line(one: LossReason) -> str:
    """Line of evidence for a value that was never seen."""
    first = one.first
    low, high = first.stood.box.low, first.stood.box.high
    usual = (
        f"90% of runs {_of(first, low)} to {_of(first, high)}" if np.isfinite(low) else "few runs"
    )
    both = (
        f"{_short(first)} and {_short(one.twin)}, which move together"
        if one.twin
        else _short(first)
    )
    text = (
        f"{both}: never seen in {first.stood.n} runs ({usual}), so history cannot say what it costs"
    )
    return f"{text}; {first.beyond:.2g} spreads beyond the farthest of them"


def say_evidence(reason: LossReason, share: LossShare | None) -> str:
    """Line of evidence: position of the value, loss of similar runs, correlation over all runs."""
    one = reason.first
    text = f"{_short(one)}: {_where(one)}"
    if share is not None:
        text += f"; it {say_share(share)}, if it is the cause"
    if reason.twin is not None and reason.twin.leak:
        text += f"; {_short(reason.twin)} moves together with it, and grows with the run time or makes it longer"
    elif reason.twin is not None:
        text += f"; {_short(reason.twin)} moves together with it"
    if np.isfinite(one.loss) and one.matches:
        runs = "1 run" if one.matches == 1 else f"{one.matches} runs"
        lost = f"were {one.loss:.0%} slower" if one.loss > 0.005 else "were not slower"
        lost = lost.replace("were", "was") if one.matches == 1 else lost
        like = "nearest to it" if one.stood.share in (0.0, 1.0) else "with a value like it"
        text += f"; {runs} {like} {lost}"
    text += f"; {_history(one)}"
    if one.tag == "effect":
        text += "; fast runs raise it themselves, so it may be an effect"
    if one.tag == "climate":
        text += "; it changes over weeks: a climate, not the weather of a day"
    return text


def _where(one: Candidate) -> str:
    share, n = one.stood.share, one.stood.n
    if share in (0.0, 1.0):
        return f"beyond all {n} runs"
    above = (share >= 0.5) != (one.metric in _SHARED)
    count = round(max(share, 1 - share) * n - one.stood.alike / 2)
    text = f"{count / n:.0%} of {n}" if round(100 * count / n) < 100 else f"{count} of {n}"
    return f"{'above' if above else 'below'} {text} runs"


def _short(one: Candidate) -> str:
    """``closes 5153/s (usual 260/s)``."""
    return f"{say_bare(one)} (usual {_of(one, one.usual)})"


def say_bare(one: Candidate) -> str:
    """``closes 5153/s``; a unit that the label says is left out."""
    label, value = say_label(one), _of(one, one.stood.value)
    number, _, unit = value.partition(" ")
    return f"{label} {number if f' {unit} ' in f' {label} ' else value}"


def say_label(one: Candidate) -> str:
    """The label; of a coverage factor in plain words: ``others' share of traffic``."""
    shared = _SHARED.get(one.metric)
    return f"others' share of {shared}" if shared else one.about.label.removesuffix(" a second")


def _of(one: Candidate, value: float) -> str:
    """A value with its unit. Of a coverage factor above 1 nothing is left for others."""
    if one.metric in _SHARED and np.isfinite(value):
        return f"{max(0.0, 1.0 - value):.0%}"
    return amount(value, scale_of(one.about.unit, [value])).replace(" /s", "/s")


def _history(one: Candidate) -> str:
    """Evidence of all runs on the metric."""
    if not np.isfinite(one.rho):
        return "it did not vary before"
    if not np.isfinite(one.q):
        return f"too few independent runs to test it (rank correlation {one.rho:+.2f}, n = {one.n})"
    numbers = f"rank correlation {one.rho:+.2f}, q = {one.q:.2g}"
    if in_line(one):
        sure = "goes with slow runs"
    elif backed(one):
        sure = "goes with slow runs, not in a line"
        best = (
            f"runs like it {one.near_q:.2g}"
            if one.near_q <= NEAR_Q
            else f"any shape {one.shape_q:.2g}"
        )
        numbers = f"{numbers}, {best}"
    elif against(one):
        sure = "goes with fast runs"
    else:
        sure = "is not shown to go with performance"
    return f"over all runs it {sure} ({numbers})"
