"""Sentences about climates: lasting changes with dates, simultaneous changes, value of a prediction.

The tone of ``weather.slowdown.words``: one line without a full stop. That things changed on the same date is said,
that one was because of the other is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from iosonde.model.amounts import amount, scale_of
from iosonde.model.units import DAY_NS, day, to_datetime

if TYPE_CHECKING:
    from iosonde.jobs.climate.climate import Climate, OnDate
    from iosonde.jobs.climate.events import ClimateEvent
    from iosonde.jobs.climate.metrics import MetricChange
    from iosonde.jobs.climate.regimes import Distinct, FileSystemClimate, Regime
    from iosonde.jobs.climate.series import LevelChange, Own

MOST_METRICS = 4
"""Most metrics that a sentence names."""
MOST_PARTS, MOST_TOLD = 6, 5
_GAP_NS = 3 * DAY_NS
"""Least time without runs that is mentioned, if more than half of the interval."""
GRADUAL = "perhaps gradually, as a straight line does as well"
NO_CLIMATES = "too few motifs and metrics to tell climates"
_LEAST = 1e-99
"""Smallest p value that is printed."""
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def interval(earliest_ns: int, latest_ns: int, zone: tzinfo | None = UTC) -> str:
    """``2017-07-17 .. 2017-08-04``, or one day."""
    first, last = day(earliest_ns, zone), day(latest_ns, zone)
    return first if first == last else f"{first} .. {last}"


def say_change(change: LevelChange, zone: tzinfo | None = UTC) -> str:
    """``ior shared read on work fell from 0.84 to 0.12 of its peak on 2017-08-04 (...), n = 136 and 157``."""
    text = (
        f"{change.motif}{_on((change.file_system,))} {_verb(change.rose)} from {change.before:.2f} to "
        f"{change.after:.2f} of its peak on {day(change.at_ns, zone)} "
        f"({interval(change.earliest_ns, change.latest_ns, zone)}), "
        f"n = {change.n_before} and {change.n_after}, q {'= ' * (change.q >= _LEAST)}{small(change.q)}"
    )
    text += f"; {GRADUAL}" if change.gradual else ""
    return text + (f"; {say_own(change.own)}" if change.own else "")


def say_own(own: Sequence[Own]) -> str:
    """``the jobs themselves changed: reads of the job 4.1e+03 -> 2e+04``: no change of the file system, perhaps."""
    named = ", ".join(
        f"{o.label} " + " -> ".join(_amounts(o.unit, o.label, o.before, o.after)) for o in own[:2]
    )
    return f"the jobs themselves changed: {named}"


def say_event(event: ClimateEvent, zone: tzinfo | None = UTC) -> str:
    """``in August 2017 ior shared read fell to 0.14x on all 3 file systems: ...``."""
    when = to_datetime(event.at_ns, zone)
    parts = event.parts()
    told = [_part(part, event) for part in parts[:MOST_PARTS]]
    more = sum(len(changes) for _, _, changes in parts[MOST_PARTS:])
    text = f"in {_MONTHS[when.month - 1]} {when.year} {', '.join(told)}"
    text += f" and {more} more" if more else ""
    text += f": {interval(event.earliest_ns, event.latest_ns, zone)}"
    first, last = event.silent_ns
    if last - first > max(_GAP_NS, (event.latest_ns - event.earliest_ns) // 2):
        text += f", with no run from {day(first, zone)} to {day(last, zone)}"
    if all(change.gradual for change in event.changes):
        text += f"; {GRADUAL}"
    still = len(event.steady)
    if still:
        text += f"; {still} of {event.asked} series did not change"
    elif event.asked > 1:
        text += f"; all {event.asked} series changed"
    return text


def say_largest(found: Climate, most: int = MOST_TOLD) -> list[str]:
    """Events of most series, in time order: the caption of a picture."""
    large = sorted(found.events, key=lambda event: -len(event.changes))[:most]
    return [say_event(event) for event in sorted(large, key=lambda event: event.at_ns)]


def say_along(event: ClimateEvent, zone: tzinfo | None = UTC) -> list[str]:
    """Simultaneous changes, one per group of metrics and file system; and changes in the jobs."""
    lines: list[str] = []
    told: set[tuple[str, str]] = set()
    for one in event.metrics:
        key = (one.file_system, one.about.group or one.metric)
        if key not in told and len(told) < MOST_METRICS:
            told.add(key)
            lines.append(say_metric(one, zone))
    for change in event.changes:
        if change.own:
            lines.append(f"{change.motif}{_on((change.file_system,))}: {say_own(change.own)}")
    return lines


def say_metric(one: MetricChange, zone: tzinfo | None = UTC) -> str:
    """``fullest OST on work 82.5% -> 51.1% on 2017-10-10``."""
    before, after = _amounts(one.about.unit, one.about.label, one.before, one.after)
    return (
        f"{one.about.label}{_on((one.file_system,))} {before} -> {after} on {day(one.at_ns, zone)}"
    )


def say_regime(regime: Regime, place: str, zone: tzinfo | None = UTC) -> str:
    """``climate B on work, 2017-02-24 .. 2017-03-10: ...``."""
    end = day(regime.end_ns - 1, zone)
    text = f"climate {regime.name}{_on((place,))}, {day(regime.start_ns, zone)} .. {end}"
    if regime.distinct:
        text += ": " + ", ".join(say_distinct(one) for one in regime.distinct)
    return text


def say_distinct(one: Distinct) -> str:
    """``fullest OST 90% (before 74.8%)``."""
    now, other = _amounts(one.unit, one.label, one.median, one.other)
    return f"{one.label} {now} ({one.against} {other})"


def say_climates(found: FileSystemClimate) -> str:
    """``work: 10 climates in 11 stretches; A came back``."""
    place = found.file_system or "no file system"
    names = [regime.name for regime in found.regimes]
    if not names:
        return f"{place}: {NO_CLIMATES}"
    if len(names) == 1:
        return f"{place}: one climate"
    again = sorted({name for name in names if names.count(name) > 1})
    text = f"{place}: {found.climates} climates"
    return text + (f" in {len(names)} stretches; {', '.join(again)} came back" if again else "")


def say_without_climates(found: Sequence[FileSystemClimate]) -> list[str]:
    """``work and home: too few motifs and metrics to tell climates``: one line for all of them."""
    places = [one.file_system or "no file system" for one in found if not one.regimes]
    return [f"{_listed(places)}: {NO_CLIMATES}"] if places else []


def say_on_date(on: OnDate, zone: tzinfo | None = UTC) -> list[str]:
    """Possible changes on a day."""
    lines = [say_event(event, zone) for event in on.events]
    lines += [f"climate {name} began{_on((place,))}" for place, name in on.began]
    if not lines and on.steady:
        lines = [f"no lasting change on {day(on.day_ns, UTC)}"]
    elif not lines:
        lines = [f"no answer for {day(on.day_ns, UTC)}: every series has too few runs on one side"]
    if on.steady:
        have = f"{len(on.steady)} series {'has' if len(on.steady) == 1 else 'have'}"
        lines.append(f"{have} runs before and after it and did not change")
    return lines


def say_climate(found: Climate) -> str:
    """Numbers of series and changes, and of those left out."""
    text = f"{say_changes(len(found.changes))} in {len(found.series)} series"
    if found.too_short:
        have = "has" if len(found.too_short) == 1 else "have"
        text += f"; {len(found.too_short)} series {have} too few runs"
    if found.unsure:
        text += f"; {found.unsure} more may be chance ({len(found.series)} series were tested)"
    return text


def say_changes(n: int) -> str:
    """``1 lasting change``, ``12 lasting changes``."""
    return f"{n} lasting change{'' if n == 1 else 's'}"


def small(p: float) -> str:
    """``0.002``, ``3e-12``, ``< 1e-99``."""
    if p < _LEAST:
        return "< 1e-99"
    return f"{p:.1g}" if p < 1e-3 else f"{p:.2g}"


def _part(part: tuple[str, bool, tuple[LevelChange, ...]], event: ClimateEvent) -> str:
    motif, rose, changes = part
    ratios = sorted(change.ratio for change in changes)
    low, high = (f"{ratio:.2f}" for ratio in (ratios[0], ratios[-1]))
    size = f"{low}x" if low == high else f"{low}-{high}x"
    places = sorted({change.file_system for change in changes})
    could = {fs for fs, name in event.steady if name == motif} | {
        change.file_system for change in event.changes if change.motif == motif
    }
    whole = len(places) > 1 and set(places) == could
    where = f" on all {len(places)} file systems" if whole else _on(places)
    return f"{motif} {_verb(rose)} to {size}{where}"


def _on(places: Sequence[str]) -> str:
    named = [place for place in places if place]
    if not named:
        return ""
    return f" on {_listed(named)}"


def _listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _verb(rose: bool) -> str:
    return "rose" if rose else "fell"


def _amounts(unit: str, label: str, *values: float) -> list[str]:
    """Values with one unit, which is omitted if the label has it (``jobs at the same time 612``)."""
    scale = scale_of(unit, values)
    if unit.isalpha() and unit.lower() in label.lower():
        scale = scale._replace(word=scale.word.removesuffix(unit).strip())
    if label.endswith("a second"):
        scale = scale._replace(word=scale.word.removesuffix("/s").strip())
    return [amount(value, scale) for value in values]
