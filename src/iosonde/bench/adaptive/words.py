"""Sentences about an adaptive run: the limit, and the evidence for it. The data are ``adaptive.adaptive``.

A line has no full stop. T is the waiting factor; rates count only the time that clients spent in operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.bench.adaptive.adaptive import COMPUTED, FAILED, FEWEST_FITTED
from iosonde.bench.adaptive.verdict import FEWEST, MARGIN, MOST, RateTrend
from iosonde.bench.runs.host import PRESSED, QUEUED
from iosonde.model.units import format_count, format_duration
from iosonde.model.units import format_waiting_factor as _t
from iosonde.queue.capacity import CurveCoverage
from iosonde.stats.t_interval import CONFIDENCE

if TYPE_CHECKING:
    from iosonde.bench.adaptive.adaptive import AdaptiveResult
    from iosonde.bench.adaptive.verdict import RateRatio
    from iosonde.queue.capacity import Capacity, Estimate

LIMIT = {
    RateTrend.SIMILAR: "clients are the limit",
    RateTrend.INCREASES: "servers are the limit",
    RateTrend.DECREASES: "background work is the limit",
    RateTrend.INCONCLUSIVE: "not decided",
}
"""Verdict -> words."""
CLIENT = "this client is the limit"
"""Words for saturated CPUs of the client, whatever the rates look like."""


def say_waiting(found: AdaptiveResult) -> list[str]:
    """The verdict in one line, then its evidence, then cautions."""
    return [verdict_line(found), *_evidence(found), *_pressed(found), *_cautions(found)]


def verdict_line(found: AdaptiveResult) -> str:
    """The limit, with its key number."""
    verdict, limit = found.verdict, LIMIT[found.verdict.trend]
    end = verdict.change
    if found.client_limited:
        return f"{CLIENT}: {_own_time(found)}; nothing follows for the servers"
    match verdict.trend:
        case RateTrend.SIMILAR:
            return (
                f"{limit}: operations take as long with waits as without ({_factor(end)} the rate at "
                f"T = {_t(end.level)})"
                + ("" if found.busy_waiting else ", so the servers can take more clients")
            )
        case RateTrend.INCREASES:
            return f"{limit}: {_overload(found)}"
        case RateTrend.DECREASES:
            shown = verdict.dip or end
            back = f"; {_factor(end)} at T = {_t(end.level)}" if verdict.dip else ""
            return (
                f"{limit}: the servers slow down when clients leave them idle "
                f"({_factor(shown)} the rate at T = {_t(shown.level)}{back})"
            )
        case _:
            return f"{limit}: {_undecided(found)}"


def _own_time(found: AdaptiveResult) -> str:
    """Evidence that operations spent their time on the client."""
    pressure = found.pressure
    if pressure.queued is not None and pressure.queued >= QUEUED:
        return f"its ranks waited for a CPU {pressure.queued:.0%} of the time"
    if pressure.computed is not None and pressure.computed >= COMPUTED:
        return f"{min(pressure.computed, 1.0):.0%} of an operation is computing on this host"
    if found.client_busy and found.cpu_share is not None:
        return f"its ranks used {found.cpu_share:.0%} of its CPUs"
    if pressure.stalled is not None and pressure.stalled >= PRESSED:
        return f"tasks waited for its CPUs {pressure.stalled:.0%} of the time (PSI)"
    return f"{pressure.host or 0:.0%} of its CPUs were busy"


def _pressed(found: AdaptiveResult) -> list[str]:
    """CPU pressure of the client without waits, as far as this kernel reports it."""
    pressure = found.pressure
    known = {
        "ranks waited for a CPU": pressure.queued,
        "some task waited (PSI)": pressure.stalled,
        "CPUs of the host busy": pressure.host,
    }
    said = [f"{name} {share:.0%}" for name, share in known.items() if share is not None]
    if not said:
        return []
    absent = "; this kernel has no PSI" if pressure.stalled is None else ""
    return [f"this client: {', '.join(said)} of the time{absent}"]


def _overload(found: AdaptiveResult) -> str:
    end = found.verdict.change
    text = f"{_rate(found.without_waits_per_s)} without waits, {_factor(end)} the rate at T = {_t(end.level)}"
    capacity = found.capacity
    if capacity is None or capacity.coverage is CurveCoverage.FLAT:
        return text
    most = f"; maximum near {_rate(capacity.max_per_s.value)}"
    if capacity.coverage is CurveCoverage.STEEP:
        return (
            f"{text}{most}; fewer than {_clients(capacity.saturating_clients.upper)} saturate them"
        )
    few = " or fewer" if capacity.coverage is CurveCoverage.EDGE else ""
    n = capacity.saturating_clients.value
    verb = "saturates" if n is not None and round(n) == 1 and not few else "saturate"
    return f"{text}{most}; {_clients(n)}{few} {verb} them"


def _undecided(found: AdaptiveResult) -> str:
    verdict, end, n = found.verdict, found.verdict.change, found.rates.measurements
    text = f"{_factor(end)} the rate at T = {_t(end.level)} after {_measurements(n)}"
    if n < FEWEST:
        return f"{text}; it takes at least {FEWEST}; so far it looks as if {LIMIT[verdict.leaning]}"
    if verdict.more_measurements is None:
        text += f"; even {MOST} measurements would not decide: rates scatter, or the ratio is close to {MARGIN:g}"
    if verdict.more_measurements:
        text += f"; {_measurements(verdict.more_measurements, 'more ')} would probably decide"
    return text


def _evidence(found: AdaptiveResult) -> list[str]:
    verdict = found.verdict
    slope, low, high = verdict.elasticity
    span = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
    shown = ", ".join(f"{_ratio(change.ratio)} at {_t(change.level)}" for change in verdict.changes)
    return [
        f"{_rate(found.without_waits_per_s)} by {_clients(found.clients)} without waits; at T: {shown} "
        f"({_measurements(found.rates.measurements)}, intervals of {CONFIDENCE:.0%})",
        f"elasticity {_signed(slope)}{span}: 0 if clients are the limit, 1 if servers are, below 0 if background "
        "work is",
        *_capacity_or_why_not(found),
    ]


def _capacity_or_why_not(found: AdaptiveResult) -> list[str]:
    if found.capacity is not None:
        return _capacity(found.capacity)
    if found.rates.measurements < FEWEST_FITTED:
        n = _measurements(found.rates.measurements)
        return [f"{n} cannot identify the servers' capacity; it takes {FEWEST_FITTED}"]
    if (
        found.clients == 1
        and found.verdict.leaning is RateTrend.INCREASES
        and not found.one_of_many
    ):
        return ["a single client meets no queue of its own, so the servers' capacity is unknown"]
    return []


def _capacity(capacity: Capacity) -> list[str]:
    """Numbers if identifiable, else bounds."""
    if capacity.coverage is CurveCoverage.FLAT:
        return [
            f"an operation takes {_time(capacity.unloaded_s)} however many are under way",
            f"the run did not reach the servers' capacity: at least {_rate(capacity.max_per_s.lower)}, and "
            f"more than {_clients(capacity.saturating_clients.lower)}",
        ]
    rate = f"server capacity: {_rate(capacity.max_per_s.value)}{_span(capacity.max_per_s)}"
    if capacity.coverage is CurveCoverage.STEEP:
        return [
            f"{rate}; an operation alone takes at most {_seconds(capacity.unloaded_s.upper)}",
            f"fewer than {_clients(capacity.saturating_clients.upper)} saturate them; repeat with as many",
        ]
    clients = capacity.saturating_clients
    if capacity.coverage is CurveCoverage.EDGE:
        return [
            f"{rate}; an operation that meets no other takes {_seconds(capacity.unloaded_s.value)} or less",
            f"{_clients(clients.value)} or fewer saturate them; this run had {_count(capacity.clients)}, too many "
            "for an exact number",
        ]
    between = ""
    if clients.lower is not None and clients.upper is not None:
        between = f" ({_count(clients.lower)}-{_count(clients.upper)})"
    return [
        f"{rate}; an operation that meets no other takes {_time(capacity.unloaded_s)}",
        f"{_clients(clients.value)}{between} without waits saturate the servers; this run had "
        f"{_count(capacity.clients)}",
    ]


def _cautions(found: AdaptiveResult) -> list[str]:
    cautions = []
    verdict = found.verdict
    if found.one_of_many:
        cautions.append(
            "the files hold rank 0 alone, so the number of ranks and their total rate are unknown"
        )
    if verdict.implausible is not None:
        cautions.append(
            f"{_factor(verdict.implausible)} at T = {_t(verdict.implausible.level)} exceeds 1 + T, the most that "
            "waits can explain; the waits are wrong, or the storage changed during the run"
        )
    if found.client_limited:
        cautions.append("measure with fewer ranks a machine, or when nothing else runs here")
    if found.busy_waiting and found.cpu_share_waiting is not None:
        cautions.append(
            f"even where they wait longest the ranks used {found.cpu_share_waiting:.0%} of the client's CPUs: "
            "waits did not relieve the client, so no verdict about the servers"
        )
    for stated, measured in found.rates.off_nominal():
        cautions.append(
            f"at T = {_t(stated)} clients waited {measured:.2f} times as long as operations took; the fit uses "
            "that value (coarse sleeps or busy CPUs)"
        )
    if found.failed_share is not None and found.failed_share >= FAILED:
        cautions.append(f"{found.failed_share:.1%} of the operations failed")
    return cautions


def waiting_json(found: AdaptiveResult) -> dict[str, Any]:
    """Plain data for JSON."""
    verdict, capacity = found.verdict, found.capacity
    slope, low, high = verdict.elasticity
    return {
        "run_id": found.run_id,
        "target": found.target,
        "backend": found.backend,
        "clients": None if found.one_of_many else found.clients,
        "measurements": found.rates.measurements,
        "verdict": verdict.trend.value,
        "leaning": verdict.leaning.value,
        "client_limited": found.client_limited,
        "client_pressure": {
            "queued": found.pressure.queued,
            "stalled": found.pressure.stalled,
            "host": found.pressure.host,
            "computed": found.pressure.computed,
        },
        "sentences": say_waiting(found),
        "changes": [
            {"waiting_factor": c.level, "ratio": c.ratio, "lower": c.lower, "upper": c.upper}
            for c in verdict.changes
        ],
        "dip": None if verdict.dip is None else verdict.dip.level,
        "plausible": verdict.plausible,
        "more_measurements": verdict.more_measurements,
        "elasticity": {"value": slope, "lower": low, "upper": high},
        "max_per_s": None if capacity is None else _plain(capacity.max_per_s),
        "unloaded_s": None if capacity is None else _plain(capacity.unloaded_s),
        "saturating_clients": None if capacity is None else _plain(capacity.saturating_clients),
        "cpu_share": found.cpu_share,
        "cpu_share_waiting": found.cpu_share_waiting,
        "failed_share": found.failed_share,
    }


def _plain(number: Estimate) -> dict[str, float | None]:
    return {"value": number.value, "lower": number.lower, "upper": number.upper}


def _digits(value: float | None) -> str:
    """Three significant digits with separators: ``5 640``, ``12.3``."""
    if value is None:
        return "n/a"
    rounded = float(f"{value:.3g}")
    return format_count(round(rounded)) if value >= 99.95 else f"{rounded:g}"


def _rate(value: float | None) -> str:
    return f"{_digits(value)} ops/s"


def _count(value: float | None) -> str:
    return "n/a" if value is None else format_count(round(value))


def _clients(value: float | None) -> str:
    """``1 client``, ``68 clients``."""
    return f"{_count(value)} client{'' if value is not None and round(value) == 1 else 's'}"


def _measurements(n: int, more: str = "") -> str:
    return f"{n} {more}measurement{'' if n == 1 else 's'}"


def _ratio(value: float) -> str:
    return f"x{value:.2f}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00")


def _factor(change: RateRatio) -> str:
    """``x1.47 (1.40-1.54)``."""
    if change.lower is None or change.upper is None:
        return _ratio(change.ratio)
    return f"{_ratio(change.ratio)} ({change.lower:.2f}-{change.upper:.2f})"


def _span(number: Estimate) -> str:
    if number.lower is None or number.upper is None:
        return ""
    return f" ({_digits(number.lower)}-{_digits(number.upper)})"


def _seconds(value: float | None) -> str:
    return format_duration(None if value is None else value * 1e9)


def _time(number: Estimate) -> str:
    text = _seconds(number.value)
    if number.lower is None or number.upper is None:
        return text
    low, high = _seconds(number.lower), _seconds(number.upper)
    same_unit = low.split()[-1] == high.split()[-1]
    return f"{text} ({low.split()[0] if same_unit else low}-{high})"
