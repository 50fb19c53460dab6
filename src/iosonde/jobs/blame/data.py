"""The answer of ``iosonde blame`` as JSON."""

from __future__ import annotations

from math import isfinite, isinf
from typing import TYPE_CHECKING, Any

from iosonde.jobs.blame.ranking import Ranked, ranked
from iosonde.jobs.blame.words import sentences

if TYPE_CHECKING:
    from iosonde.jobs.attribution.blame import Majority
    from iosonde.jobs.blame.answers import BlameAnswer
    from iosonde.jobs.blame.bands import OpsBand

SCHEMA_VERSION = 1


def blame_data(answer: BlameAnswer, now_ns: int, top: int | None = None) -> dict[str, Any]:
    """Shares are of 1, rates operations per second; null = not known."""
    span, found, load = answer.span, answer.found, answer.load
    fit = found.found
    slot_s = found.slot_ns / 1e9
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": sentences(answer, now_ns)[0],
        "sentences": sentences(answer, now_ns),
        "interval": {
            "begin_ns": span.begin_ns,
            "end_ns": span.end_ns,
            "target": span.target,
            "event": span.event_id,
            "op": answer.op,
            "slowdown": answer.factor,
        },
        "by": answer.question.by,
        "operations": {
            "total": found.shares.total,
            "nobody": found.shares.nobody,
            "covered": found.shares.covered,
        },
        "majority": _majority(found.majority),
        "ranked": [_row(one, slot_s) for one in ranked(answer, top)],
        "fit": None
        if fit is None
        else {
            "r2": fit.r2,
            "p": fit.p,
            "lag_s": fit.lag * slot_s,
            "form": fit.form,
            "slot_s": slot_s,
            "together": fit.together,
            "harmless": fit.harmless,
        },
        "band": None if answer.band is None else _band(answer.band),
        "records": {
            "sources": list(load.sources),
            "systems": list(load.systems),
            "nodes": len(load.joined.recorded.nodes),
            "nodes_without_records": list(load.without),
            "series_without_node": load.unnamed,
            "jobs_left_out": [_left_out(one) for one in load.joined.allocations.left_out],
        },
        "clock_offset_s": {**answer.clock._asdict(), "applied": answer.shifted},
    }


def _left_out(one: Any) -> dict[str, Any]:
    """Jobs that were left out, and why."""
    return {"n": one.n, "why": one.why}


def _row(one: Ranked, slot_s: float) -> dict[str, Any]:
    row: dict[str, Any] = {"who": one.who}
    if one.run is not None:
        row |= one.run._asdict()
    if one.done is not None:
        share = one.done._asdict()
        share.pop("who")
        row |= share
    row["bytes"] = one.bytes
    row["slowdown"] = None
    if one.load is not None:
        suspect = one.load.suspect
        row["slowdown"] = {
            **{
                name: value if isfinite(value := getattr(suspect, name)) else None
                for name in ("share", "lower", "upper")
            },
            "stability": suspect.stability,
            "lead_s": suspect.lead * slot_s,
            "follows": suspect.follows,
            "confidence": str(suspect.confidence),
            "alike": list(one.load.alike),
        }
    return row


def _majority(found: Majority) -> dict[str, Any]:
    return {
        "of": [one.who for one in found.of],
        "share": found.share,
        "effective": found.effective,
        "alike": found.alike,
    }


def _band(band: OpsBand) -> dict[str, Any]:
    return {
        **band._asdict(),
        "high": None if isinf(band.high) else band.high,
        "nodes": _majority(band.nodes),
        "jobs": _majority(band.jobs),
        "nodes_each": band.nodes_each._asdict(),
        "jobs_each": band.jobs_each._asdict(),
    }
