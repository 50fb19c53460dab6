"""Sentences, cells and plain data about two sides of benchmark runs. A sentence has at most 25 words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.bench.bandwidth.words import format_bandwidth
from iosonde.bench.compare.alike import different_parameters
from iosonde.bench.compare.judge import MeasureRatio, SubjectVerdict
from iosonde.bench.compare.measures import Subject
from iosonde.bench.compare.sides import RunComparison
from iosonde.bench.compare.spread import LEAST
from iosonde.bench.runs.described import cut_short, parameter_words
from iosonde.bench.runs.host import host_waits
from iosonde.bench.runs.store import StoredRun
from iosonde.model.ops import op_word
from iosonde.model.runs import RunRow
from iosonde.model.units import format_count, format_duration, format_percent
from iosonde.weather.compare.ratios import of_a, ratio_text, short_ratio

HEAD = ("", "", "B is", "B / A", "A", "B", "would see")
_MOST_NAMED = 6
_FAILED = 0.01


def say_runs(found: RunComparison) -> list[str]:
    """A sentence per subject."""
    return [_say(one, found.margin) for one in found.verdicts]


def _say(one: SubjectVerdict, margin: float) -> str:
    shown, what = one.shown, subject_word(one.subject)
    size = of_a(shown.ratio, shown.lower, shown.upper)
    name = shown.measure.name
    match one.verdict:
        case "same":
            return f"{what}: the same within {margin - 1:.0%}; {name} is {size}"
        case "unknown":
            return (
                f"{what}: cannot tell; {name} is {size}; a factor of {short_ratio(shown.smallest)} "
                "would have been seen"
            )
    return f"{what}: {one.verdict} in B; {name} is {size}"


def subject_word(subject: Subject) -> str:
    """``creates``, ``benchmark``, ``write``."""
    return subject.phase if subject.op is None else op_word(subject.op)


def run_cells(found: RunComparison) -> list[tuple[str, ...]]:
    """A row per measure, under ``HEAD``."""
    rows = []
    for one in found.verdicts:
        for place, ratio in enumerate(one.measures):
            first = (subject_word(one.subject), ratio.measure.name, _verdict_word(one.verdict))
            rows.append((*(first if place == 0 else ("", first[1], "")), *_numbers(ratio)))
    return rows


def _verdict_word(verdict: str) -> str:
    return "n/a" if verdict == "unknown" else verdict


def _numbers(one: MeasureRatio) -> tuple[str, ...]:
    return (
        ratio_text(one.ratio, one.lower, one.upper),
        format_value(one.measure.column, one.a),
        format_value(one.measure.column, one.b),
        f"x{short_ratio(one.smallest)}",
    )


def format_value(column: str, value: float) -> str:
    """A value of a row's column with its unit."""
    if column.endswith("_bytes_per_s"):
        return format_bandwidth(value)
    if column.endswith("_ns"):
        return format_duration(float(f"{value:.3g}"))
    return f"{format_count(round(value)) if value >= 100 else f'{value:.3g}'}/s"


def say_side(runs: Sequence[StoredRun]) -> str:
    """``run X, 4 ranks on /work``; for several runs their number and ids."""
    first = runs[0].rows[0]
    where = f"{first.ranks or 'n/a'} rank{'' if first.ranks == 1 else 's'} on {first.target}"
    if len(runs) == 1:
        return f"run {runs[0].run_id}, {where}"
    return f"{len(runs)} runs, {where}: {', '.join(run.run_id for run in runs)}"


def say_notes(found: RunComparison) -> list[str]:
    """Cautions for the reader of the verdicts."""
    a, b = found.a[0].rows[0], found.b[0].rows[0]
    notes = [say_differences(a, b), _spread(found), _order(found), *_trouble(found)]
    if len(found.verdicts) > 1:
        notes.append("an interval is of one measure alone; verdicts hold for all of them together")
    for side, phases in (("A", found.only_a), ("B", found.only_b)):
        notes += [f"only {side} has the phase {', '.join(phases)}: left out"] if phases else []
    if len({run.rows[0].parameters.get("adaptive") for run in (*found.a, *found.b)}) > 1 or any(
        run.rows[0].parameters.get("adaptive") for run in (*found.a, *found.b)
    ):
        notes.append("of an adaptive run the measurements without waits are compared")
    return [note for note in notes if note]


def say_differences(a: RunRow, b: RunRow) -> str:
    """Differences of the runs' parameters; empty for none."""
    found = different_parameters(a, b)
    named = [f"{name} {_one(name, x)} / {_one(name, y)}" for name, x, y in found[:_MOST_NAMED]]
    more = len(found) - _MOST_NAMED
    named += [f"and {more} more"] if more > 0 else []
    return f"the runs differ (A / B): {', '.join(named)}" if named else ""


def _one(name: str, value: Any) -> str:
    words = parameter_words({name: value}) if name not in ("ranks", "pattern") else []
    return words[0][1] if words else "none" if value is None else str(value)


def _spread(found: RunComparison) -> str:
    if len(found.a) + len(found.b) > 2:
        return ""
    if found.others:
        runs = "1 other run" if found.others == 1 else f"{found.others} other runs"
        return f"{runs} like these showed how far apart two runs of the same lie"
    return (
        f"one run a side: a spread of at least {LEAST:.0%} from run to run is assumed; "
        "to see less, repeat both in turn: compare A1,A2,A3 B1,B2,B3"
    )


def _order(found: RunComparison) -> str:
    """Caution for sides that were not measured alternately, whose drift does not cancel."""
    if len(found.a) + len(found.b) < 4:
        return ""
    ends = [[run.first_ns for run in side] for side in (found.a, found.b)]
    apart = max(ends[0]) < min(ends[1]) or max(ends[1]) < min(ends[0])
    return (
        "all runs of one side came first: what drifts looks like a difference; measure in turn"
        if apart
        else ""
    )


def _trouble(found: RunComparison) -> list[str]:
    notes = []
    for name, side in (("A", found.a), ("B", found.b)):
        whole = [row for run in side for row in run.rows if row.rank is None and row.op is None]
        ops, failed = (sum(getattr(row, n) or 0 for row in whole) for n in ("ops", "failed"))
        if ops and failed / ops >= _FAILED:
            notes.append(f"{failed / ops:.1%} of {name}'s operations failed")
        if any(map(cut_short, whole)):
            notes.append(f"{name} ended before all of its operations were done")
        waits = host_waits(whole)
        if waits:
            most = format_percent(max(one.share for one in waits))
            notes.append(
                f"the host of {name} was busy: ranks waited for a CPU up to {most} of the time"
            )
        short = min((row.duration_ns for row in _main(whole) if row.duration_ns), default=0)
        if 0 < short < 1_000_000_000:
            notes.append(
                f"a phase of {name} took {format_duration(short)}: under a second, chance weighs much"
            )
    return notes


def _main(rows: Sequence[RunRow]) -> list[RunRow]:
    return [row for row in rows if row.phase not in ("precreate", "cleanup")]


def runs_json(found: RunComparison) -> dict[str, Any]:
    """Plain data."""
    return {
        "a": [run.run_id for run in found.a],
        "b": [run.run_id for run in found.b],
        "margin": found.margin,
        "others_alike": found.others,
        "sentences": say_runs(found),
        "notes": say_notes(found),
        "subjects": [
            {
                "phase": one.subject.phase,
                "op": one.subject.op,
                "verdict": one.verdict,
                "p_value": one.p_value,
                "measures": [_plain(ratio) for ratio in one.measures],
            }
            for one in found.verdicts
        ],
    }


def _plain(one: MeasureRatio) -> dict[str, Any]:
    return {
        "measure": one.measure.column,
        **{k: v for k, v in one._asdict().items() if k != "measure"},
    }
