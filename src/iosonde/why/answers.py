"""``iosonde why``: what is slow, since when, which part, whose load, and what would help, as one answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from iosonde.engine.states import read_states
from iosonde.model.answer import Prose, RowTable
from iosonde.model.errors import UsageError
from iosonde.weather.events.named import is_event_id
from iosonde.weather.peers.answers import peers
from iosonde.weather.store import Store
from iosonde.why.component import component_link
from iosonde.why.data import NAMES, why_data
from iosonde.why.decide import decide
from iosonde.why.evidence import lines, link_lines
from iosonde.why.host import change_link, host_link, recurrence_link
from iosonde.why.links import Gap, Link, Links, Why, found, not_known
from iosonde.why.load import load_link
from iosonde.why.question import Scene, WhyQuestion
from iosonde.why.remedy import remedy_link
from iosonde.why.stretch import choose
from iosonde.why.windows import stretch_windows
from iosonde.why.words import say

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.model.answer import Block
    from iosonde.why.links import StretchFacts
    from iosonde.why.stretch import Chosen

__all__ = ["WhyAnswer", "WhyQuestion", "event_called", "targets_called", "why"]


@dataclass(frozen=True, kw_only=True)
class WhyAnswer(Why):
    """The verdict and its links at ``now_ns``, with times in ``zone`` (None: the machine's)."""

    now_ns: int
    zone: tzinfo | None

    @property
    def sentence(self) -> str:
        """The verdict in one line, without a full stop."""
        return say(self, self.now_ns, self.zone)

    def evidence(self) -> list[str]:
        """A line a link: its number and interval, or why it is not known."""
        return lines(self, self.now_ns, self.zone)

    def shown(self) -> list[Block]:
        """The sentence, and its evidence."""
        return [Prose(f"{self.sentence}."), *(Prose(line, "- ") for line in self.evidence())]

    def data(self) -> dict[str, Any]:
        """Ratios, shares of 1, ns and seconds; null = not known. ``links``: standing, reason and fact of each."""
        return why_data(self, self.now_ns, self.zone)

    def annotation(self) -> dict[str, str]:
        """What an alert carries: ``summary`` and ``description``, as Prometheus and Grafana name them."""
        description = "\n".join(self.evidence())
        return {"summary": self.sentence, "description": description, "verdict": str(self.kind)}

    def table(self) -> RowTable:
        """A row a link: ``link standing evidence``; without slowness no link has evidence."""
        texts = {line.link: line.text for line in link_lines(self, self.now_ns, self.zone)}
        rows = [
            {
                "link": name,
                "standing": str(getattr(self.links, name).standing),
                "evidence": texts.get(name, ""),
            }
            for name in NAMES
        ]
        return RowTable(("link", "standing", "evidence"), rows)


def why(root: Path, question: WhyQuestion, now_ns: int) -> WhyAnswer:
    """The answer from what the store holds now; more records make the same event's answer richer.

    Raises UsageError, NothingMeasuredError (nobody probed anything), StoreError.
    """
    chosen = choose(root, question, now_ns)
    if chosen.slow is None:
        span = (None, chosen.looked.end_ns)
        windows = chosen.weather.happened.windows
        beside = peers(root, span, now_ns, question.targets, windows=windows).found
        links, looked = _nothing(), chosen.looked._replace(peers=tuple(beside))
        return WhyAnswer(decide(links), links, looked, now_ns=now_ns, zone=question.zone)
    links = _links(chosen, chosen.slow, question, now_ns)
    kind, others = decide(links), chosen.others
    return WhyAnswer(kind, links, chosen.looked, others, now_ns=now_ns, zone=question.zone)


def event_called(root: Path, text: str) -> str | None:
    """The id of an event; None for a word that is none, such as a target's name. Raises StoreError."""
    return text if is_event_id(root, text) else None


def targets_called(root: Path, name: str) -> tuple[str, ...]:
    """The target of a name, or all servers of a whole one. Raises UsageError, StoreError."""
    known = sorted({ref.target for ref in Store(root).targets()})
    whole = {
        str(state["target"])
        for state in read_states(root)
        if state.get("component") and state["component"]["of"] == name
    }
    found = tuple(one for one in known if one == name or one in whole)
    if not found:
        raise UsageError(
            f"there is no target {name}", expected=f"one of {', '.join(known[:8]) or 'none'}"
        )
    return found


def _nothing() -> Links:
    gap: Link[Any] = not_known(Gap.NOTHING_SLOW)
    return Links(gap, gap, gap, gap, gap, gap, gap)


def _links(chosen: Chosen, slow: StretchFacts, question: WhyQuestion, now_ns: int) -> Links:
    windows = stretch_windows(chosen.weather.store, slow, chosen.weather.window_ns(slow))
    n = int(((windows["target"] == slow.target) & (windows["op"] == slow.op)).sum())
    slow = replace(slow, windows=slow.windows or n)
    scene = Scene(chosen.weather, slow, windows, question, now_ns)
    component = component_link(scene)
    load = load_link(scene, component.found)
    return Links(
        slowness=found(slow),
        recurrence=recurrence_link(scene),
        component=component,
        load=load,
        host=host_link(scene),
        change=change_link(scene),
        remedy=remedy_link(scene, load.found),
    )
