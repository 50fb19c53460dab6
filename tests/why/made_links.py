"""Links of an answer as tests want them: all found at once, or all without their data."""

from __future__ import annotations

from dataclasses import replace

from iosonde.jobs.attribution.culprits import Confidence
from iosonde.model.events import WeekSpan
from iosonde.why.decide import decide
from iosonde.why.links import (
    Change,
    Culprit,
    Gap,
    HostEvidence,
    Links,
    LoadEvidence,
    LookedAt,
    Parts,
    PartSource,
    Ratio,
    RecurrenceEvidence,
    Remedy,
    SlowPart,
    StretchFacts,
    Why,
    found,
    not_known,
    ruled_out,
)

S = 1_000_000_000
BEGIN = 1_788_220_800 * S
NOW = BEGIN + 7_200 * S
JOB, SERVER = "987654321", "OST0003"


def stretch(**changes):
    """Reads of one server of /work, 6.1x slower for an hour."""
    facts = StretchFacts(
        *("login1", f"/work/{SERVER}", "/work", SERVER, "data_read", "slow"),
        *(BEGIN, BEGIN + 3600 * S, BEGIN + 3600 * S, Ratio(6.1, 5.8, 6.4), 7.0, 0.0, 60, "id-1"),
    )
    return replace(facts, **changes)


SHARE = Ratio(0.9, 0.8, 0.95)


def culprit(job=JOB, confidence=Confidence.MOST, ops_share=0.8, share=SHARE):
    return Culprit(job, "mallory", BEGIN, confidence, share, ops_share)


def part(source=PartSource.PROBED, name=SERVER, peers_slow=1.0, **changes):
    whole = SlowPart(source, name, Ratio(6.0, 5.5, 6.5), 3, peers_slow)
    return replace(whole, **changes)


def load(*culprits, together=False, of_peers=False):
    return LoadEvidence(tuple(culprits), together, 12_000.0, 7, 0.004, of_peers)


def back():
    return RecurrenceEvidence(WeekSpan(None, 120, 210), 24, "UTC", 9, 10, True, 10 * 86_400 * S)


RULED_OUT = {
    "recurrence": ruled_out(RecurrenceEvidence(None, None, "", 0, 0, False, 20 * 86_400 * S)),
    "component": ruled_out(Parts((), ((PartSource.PROBED, 3),))),
    "load": ruled_out(load()),
    "host": ruled_out(HostEvidence("login1", 0, 60, 0, 0)),
    "change": ruled_out(Change(None, None)),
    "remedy": not_known(Gap.NO_LOAD),
}
FOUND = {
    "recurrence": found(back()),
    "component": found(Parts((part(),), ((PartSource.PROBED, 3),))),
    "load": found(load(culprit())),
    "host": found(HostEvidence("login1", 58, 60, 0, 0)),
    "change": found(Change(2.0, BEGIN)),
    "remedy": found(
        Remedy(12_000.0, Ratio(0.03, 0.02, 0.04), Ratio(0.004, 0.003, 0.005), JOB, 2_400.0)
    ),
}
GAPS = {
    "recurrence": Gap.SHORT_HISTORY,
    "component": Gap.NOTHING_BESIDE,
    "load": Gap.NO_RECORDS,
    "host": Gap.NO_CONTROL,
    "change": Gap.LEARNING,
    "remedy": Gap.NO_LOAD,
}


def answer(facts=None, **links):
    """An answer; links that are not given are ruled out."""
    whole = Links(slowness=found(facts or stretch()), **{**RULED_OUT, **links})
    return Why(decide(whole), whole, LookedAt(("/work",), ("login1",), BEGIN, NOW))
