"""Verdicts of now: ``iosonde now`` and ``check``, targets and badges of the page, ``.now()`` of notebooks.

Light imports only: both commands answer within a fraction of a second.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde import _core
from iosonde.engine.states import namesakes
from iosonde.model.answer import Coloured
from iosonde.model.errors import UnitError, UsageError
from iosonde.model.units import format_factor, format_seconds
from iosonde.weather.slowdown.findings import (
    SEVERITIES,
    Finding,
    from_state,
    from_states,
    worst_first,
)
from iosonde.weather.slowdown.words import say, say_all, say_namesake, summary_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import tzinfo

    from iosonde.model.answer import Block

SCHEMA_VERSION = 2
OK, UNKNOWN = 0, 3
"""Exit codes of monitoring plugins; 1 warns, 2 is critical."""
_BRIEF = {
    "usual": "as usual",
    "learning": "learning",
    "few": "too few operations",
    "host_busy": "host busy",
    "slow": "slow",
    "lost": "losing operations",
    "failing": "failing",
    "hung": "hanging",
    "stopped": "not watched",
    "stale": "no news",
    "damaged": "unreadable",
}


class TargetVerdict(NamedTuple):
    """The verdict about a target as seen from a host, its sentence, and the state of its probe."""

    finding: Finding
    sentence: str
    state: dict[str, Any]

    @property
    def rank(self) -> int:
        """Place of its severity, the worst last."""
        return SEVERITIES.index(self.finding.severity)

    @property
    def slowdown(self) -> float | None:
        """Slowdown of the worst slow operation, a ratio; None: none is slow, or nobody knows."""
        return self.finding.slowdown if self.finding.kind == "slow" else None

    @property
    def brief(self) -> str:
        """The verdict in two or three words: ``as usual``, ``3.1x slower``, ``hanging``."""
        if self.slowdown is not None:
            return f"{format_factor(self.slowdown)}x slower"
        return _BRIEF.get(self.finding.kind, self.finding.kind)

    def shown(self) -> Coloured:
        """The severity, the sentence, and how old the measurement is."""
        finding, written_ns = self.finding, self.state["written_ns"]
        named = "" if finding.severity == "unknown" else f"{finding.severity:<8}"
        heard = ""
        if "shipped_ns" in finding.evidence:  # the sentence says when
            heard = f"  (from {finding.host})"
        elif written_ns is not None:
            age = format_seconds(max(0, finding.at_ns - written_ns))
            heard = f"  (measured {age} ago from {finding.host})"
        return Coloured(((named, finding.severity), (self.sentence, ""), (heard, "dim")))

    def data(self) -> dict[str, Any]:
        """The finding with its operations, the sentence and the state."""
        return {**self.finding.to_json(), "sentence": self.sentence, "state": self.state}


class NowAnswer(NamedTuple):
    """Verdicts of targets, the worst first. ``namesakes``: host names that two machines have.

    ``verbose``: notes of probes are shown, too.
    """

    targets: Sequence[TargetVerdict]
    namesakes: Sequence[str] = ()
    verbose: bool = False

    def summary(self) -> str:
        """``3 targets: 1 hanging or failing, 2 as usual``."""
        return summary(self.targets)

    def shown(self) -> list[Block]:
        """A line a target, a summary of several, and a warning about each ambiguous host name."""
        blocks: list[Block] = []
        for one in self.targets:
            blocks.append(one.shown())
            notes = one.state["notes"] if self.verbose else ()
            blocks += [Coloured(((f"        note: {note}", "dim"),)) for note in notes]
        if len(self.targets) > 1:
            blocks.append(Coloured(((self.summary(), "dim"),)))
        return [*blocks, *map(say_namesake, self.namesakes)]

    def data(self) -> dict[str, Any]:
        """Every verdict with the state behind it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "targets": [one.data() for one in self.targets],
            "namesakes": list(self.namesakes),
        }


class CheckAnswer(NamedTuple):
    """The answer of a monitoring plugin: exit code and text."""

    code: int
    text: str


def now(
    states: Sequence[dict[str, Any]],
    now_ns: int,
    chosen: Sequence[dict[str, Any]] | None = None,
    *,
    zone: tzinfo | None = None,
    past: Iterable[tuple[str, str, int]] = (),
    verbose: bool = False,
) -> NowAnswer:
    """Verdicts of the ``chosen`` live states (None: of all), sentences in ``zone``.

    Servers of one target are judged side by side, chosen or not. ``past``: host, target and last sample (ns) of
    targets that have no state any more.
    """
    chosen = states if chosen is None else chosen
    of_place = {(state["host"], state["target"]): state for state in chosen}
    found = [one for one in from_states(states, now_ns) if (one.host, one.target) in of_place]
    for host, target, last_ns in past:
        of_place[host, target] = _past_state(host, target, last_ns)
        found.append(Finding("stale", "unknown", host, target, now_ns, since_ns=last_ns))
    found = worst_first(found)
    verdicts = [
        TargetVerdict(one, sentence, of_place[one.host, one.target])
        for one, sentence in zip(found, say_all(found, zone), strict=True)
    ]
    return NowAnswer(verdicts, namesakes(chosen), verbose)


def verdict(state: dict[str, Any], now_ns: int) -> TargetVerdict:
    """The verdict of one live state, without other servers of its target."""
    finding = from_state(state, now_ns)
    return TargetVerdict(finding, say(finding), state)


def _past_state(host: str, target: str, last_ns: int) -> dict[str, Any]:
    """State of a target with samples but no live state."""
    return {
        "host": host,
        "target": target,
        "slug": "",  # the name of a state file, and there is none
        "state": "stopped",
        "running": False,
        "written_ns": last_ns,
        "period_ns": None,
        "window_ns": None,
        "notes": [],
        "ops": [],
    }


def summary(targets: Iterable[TargetVerdict]) -> str:
    """Number of targets by severity, the worst first; of several hosts how many these are, too."""
    found = [one.finding for one in targets]
    return summary_of([(one.host, one.target, one.severity) for one in found])


def counts(targets: Iterable[TargetVerdict]) -> dict[str, int]:
    """Number of targets of every severity."""
    counted = Counter(one.finding.severity for one in targets)
    return {severity: counted[severity] for severity in SEVERITIES}


def current(
    states: Sequence[dict[str, Any]], now_ns: int, kept: Collection[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """States that are still relevant, in their order.

    A stopped probe does not count where another one watches the same target or path, nor a day after its end, unless
    its host and target are ``kept``. A copy without news for a day counts as stopped.
    """
    counted = _core.current_states(list(states), now_ns, set(kept))
    return [state for state, counts in zip(states, counted, strict=True) if counts]


def relevant(states: Sequence[dict[str, Any]], now_ns: int) -> Sequence[dict[str, Any]]:
    """``current`` states; all of them where nothing runs, since a file that is no state hides none."""
    found = current(states, now_ns)
    return states if all(state["state"] == "damaged" for state in found) else found


def parse_range(text: str) -> str:
    """A range of thresholds without blanks around it. Raises UnitError.

    ::

        10       alert outside 0..10          ~:10     alert above 10
        10:      alert below 10               @10:20   alert inside 10..20 (ends included)
        10:20    alert outside 10..20

    Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".
    """
    try:
        return _core.check_ranges(text, None)[0]
    except ValueError as error:
        raise UnitError(str(error)) from None


def ensure_ordered(warning: str | None, critical: str | None) -> None:
    """Raise UsageError: the warning comes after it is critical."""
    try:
        _core.check_ranges(warning, critical)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check(
    states: Sequence[dict[str, Any]],
    now_ns: int,
    warning: str | None = None,
    critical: str | None = None,
    *,
    verbose: bool = False,
) -> CheckAnswer:
    """Exit code and text of one or more states; None: the usual ranges; ``verbose``: with notes."""
    return CheckAnswer(*_core.check_states(list(states), now_ns, warning, critical, verbose))
