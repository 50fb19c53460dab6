"""Sentences about slow components. The data are ``locate.findings``. A sentence has at most 25 words."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from iosonde.bench.locate.clients import LEAST_HOSTS
from iosonde.bench.locate.findings import CannotTell, Cause, Fault
from iosonde.bench.locate.tree import FEWEST, LEAST_TRANSFERS
from iosonde.model.text import clean_text
from iosonde.model.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.bench.locate.findings import ComponentFindings, Counts, Slow, TimeFactor, Uneven
    from iosonde.bench.locate.rates import PhaseRates

SCHEMA_VERSION = 1
NAMED = 4
"""Most components that a sentence names."""
MILD = 1.2
"""Largest time factor of a router group that suggests a failed router."""
_OF = {"ost": "OSTs", "oss": "servers", "group": "groups", "host": "clients"}
_LIMITS = {
    CannotTell.NO_TARGETS: "The transfers do not name their OSTs, so iosonde cannot tell OSTs and servers apart.",
    CannotTell.NO_SERVERS: "Without servers of the OSTs iosonde cannot tell a slow server from slow OSTs.",
    CannotTell.NO_GROUPS: "Without router groups iosonde cannot find slow routers or degraded links.",
    CannotTell.NO_PAIRS: "Without failover pairs iosonde cannot name a failed-over server.",
    CannotTell.NO_HOSTS: "Some transfers have no client host, so iosonde cannot find every slow client.",
    CannotTell.FEW_HOSTS: f"With fewer than {LEAST_HOSTS} client hosts iosonde cannot tell which of them is slow.",
    CannotTell.ONE_HOST_A_TARGET: "Most OSTs have files of one client, so a slow client looks like slow OSTs.",
    CannotTell.NO_POSITION: "Without positions of the files on disk slow inner tracks may hide a slow OST.",
    CannotTell.NO_RATES: "Without bytes over time a short dip looks like a slightly slow component.",
    CannotTell.FEW_GROUPS: "With fewer than 4 router groups iosonde cannot tell which of them is a few percent slow.",
    CannotTell.FEW_TARGETS: f"The run has fewer than {FEWEST} OSTs: too few to compare.",
    CannotTell.FEW_FILES: f"Most OSTs have fewer than {LEAST_TRANSFERS} transfers a direction: too few to name one.",
    CannotTell.STRIPED: "Files lie on most OSTs each, so iosonde cannot tell the OSTs apart.",
    CannotTell.ONE_REPETITION: "One repetition cannot tell a slow component from load of others: repeat the run.",
}


def say(findings: ComponentFindings) -> list[str]:
    """The verdict, a sentence per finding; then causes of uneven times."""
    lines = [say_slow(one) for one in findings.slow]
    if not lines:
        lines = [f"Nothing is slow: {_count(findings.counts)} differ no more than healthy ones do."]
        if {CannotTell.FEW_TARGETS, CannotTell.STRIPED, CannotTell.NO_TARGETS} & set(
            findings.limits
        ):
            lines = ["iosonde cannot tell whether a component is slow."]
    return [clean_text(line) for line in (*lines, *(say_uneven(one) for one in findings.uneven))]


def say_limits(findings: ComponentFindings) -> list[str]:
    """Unanswerable questions, a sentence each."""
    return [_LIMITS[limit] for limit in findings.limits]


def say_slow(one: Slow) -> str:
    """``OST0017 is slow: its files took 1.8x (1.6-2.1) as long as those of the other 143 OSTs.`` or the like."""
    if one.fault is Fault.DIP:
        return _dip(one)
    name, others = _names(one.components), f"the other {one.peers} {_OF[one.level]}"
    took = _took(one.effects)
    if one.rivals:
        name += f" (or {one.rivals[0][1]})"
    shown = ""
    if one.of_repetitions > 1:
        shown = f", in {one.repetitions} of {one.of_repetitions} repetitions"
    match one.fault:
        case Fault.LINK:
            write, read = (_factor(effect) for effect in one.effects)
            each = f"{one.also[0]}'s writes took {write} and its reads {read} as long as others"
            return f"{name} has a degraded link: {each}{shown}."
        case Fault.FAILOVER:
            after = "share one server after a failover"
            return f"{name} {after}: {took} as long as on the other {one.peers}{shown}."
        case Fault.ROUTER:
            mild = max(effect.factor for effect in one.effects) < MILD
            cause = ", as with a failed router" if mild else ""
            return f"{name} is slow{cause}: {took} as long as in {others}{shown}."
        case Fault.HOST:
            return f"{name} is a slow client: its {took} as long as those of {others}{shown}."
        case _:
            verb, whose = ("are slow", "their") if len(one.components) > 1 else ("is slow", "its")
            those = "those of " if len(one.effects) == 1 or _same(one.effects) else "on "
            return f"{name} {verb}: {whose} {took} as long as {those}{others}{shown}."


def say_uneven(one: Uneven) -> str:
    """Cause of uneven times that is no fault."""
    span = f"{one.factor:.2f}x ({one.lower:.2f}-{one.upper:.2f})"
    match one.cause:
        case Cause.IMBALANCE:
            loss = format_percent(one.loss or 0.0)
            most = one.components[0]
            more = f"{most} has {one.factor:.1f}x the mean bytes"
            return f"Files lie unevenly: {more}; that alone costs {loss} of the rate."
        case Cause.POSITION:
            return f"Disk position matters: at the inner edge files take {span} as long as at the outer edge."
        case Cause.GENERATIONS:
            n = len(one.components)
            kinds = f"{n} of {one.of} take {span} as long"
            return f"OSTs are of two kinds: {kinds}; iosonde compares each with its own kind."


def _dip(one: Slow) -> str:
    begin, end = one.span_s or (0.0, 0.0)
    effect = one.effects[0]
    where = f"On {one.components[0]}" if one.components else "Everywhere"
    depth, length = f"{1 / effect.factor:.0%}", f"{end - begin:.1f} s"
    dipped = f"{effect.direction}s dipped to {depth} of the usual rate for {length}"
    return f"{where} {dipped}, {begin:.0f} s after they began."


def _names(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(names[: NAMED - 1])} and {len(names) - NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _same(effects: Sequence[TimeFactor]) -> bool:
    return len(effects) > 1 and len({(effect.factor, effect.lower) for effect in effects}) == 1


def _took(effects: Sequence[TimeFactor]) -> str:
    """Phrase ``files took 1.8x (1.6-2.1)``, or each direction with its own factor."""
    if _same(effects):
        return f"files took {_factor(effects[0])}"
    first = f"{effects[0].direction}s took {_factor(effects[0])}"
    return " and ".join([first, *(f"{e.direction}s {_factor(e)}" for e in effects[1:])])


def _factor(effect: TimeFactor) -> str:
    digits = 2 if effect.factor < 1.3 else 1
    return f"{effect.factor:.{digits}f}x ({effect.lower:.{digits}f}-{effect.upper:.{digits}f})"


def _count(counts: Counts) -> str:
    parts = [f"{counts.targets} OSTs"]
    parts += [f"{counts.servers} servers"] if counts.servers else []
    parts += [f"{counts.groups} router groups"] if counts.groups else []
    return ", ".join(parts)


HEAD = ("fault", "component", "direction", "times as long", "95% interval", "chance", "repetitions")


def table_rows(findings: ComponentFindings) -> list[tuple[str, ...]]:
    """A row per finding and direction, under ``HEAD``."""
    return [
        (
            one.fault.value,
            clean_text(_names(one.components) if one.components else "all"),
            effect.direction,
            f"{effect.factor:.2f}x",
            f"{effect.lower:.2f}-{effect.upper:.2f}" if one.fault is not Fault.DIP else "n/a",
            f"{one.chance:.1g}" if one.chance else "n/a",
            f"{one.repetitions} of {one.of_repetitions}",
        )
        for one in findings.slow
        for effect in one.effects
    ]


RATES_HEAD = (
    "repetition",
    "direction",
    "all ranks busy",
    "first finisher",
    "last finisher",
    "tail costs",
)


def rates_rows(rates: Sequence[PhaseRates]) -> list[tuple[str, ...]]:
    """A row per phase, under ``RATES_HEAD``."""
    return [
        (
            str(one.repetition),
            one.direction,
            *(_rate(value) for value in (one.sustained, one.first_finisher, one.last_finisher)),
            format_percent(one.tail_loss),
        )
        for one in rates
    ]


def _rate(value: float) -> str:
    return (
        "n/a"
        if math.isnan(value)
        else f"{value / 1e9:.3g} GB/s"
        if value >= 1e9
        else f"{value / 1e6:.3g} MB/s"
    )


def as_json(findings: ComponentFindings, rates: Sequence[PhaseRates]) -> dict[str, Any]:
    """Plain data for JSON, with sentences; unknown values are null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "sentences": say(findings),
        "cannot_tell": say_limits(findings),
        **asdict(findings),
        "rates": [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in asdict(one).items()
            }
            for one in rates
        ],
    }
