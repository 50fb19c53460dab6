"""``iosonde why``: what is slow, since when, which part, whose load, and what would help, as one answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from iosonde.weather.peers.answers import peers
from iosonde.why.component import component_link
from iosonde.why.decide import decide
from iosonde.why.host import change_link, host_link, recurrence_link
from iosonde.why.links import Gap, Link, Links, Why, found, not_known
from iosonde.why.load import load_link
from iosonde.why.question import Scene
from iosonde.why.remedy import remedy_link
from iosonde.why.stretch import choose
from iosonde.why.windows import stretch_windows

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.why.links import StretchFacts
    from iosonde.why.question import WhyQuestion
    from iosonde.why.stretch import Chosen


def why(root: Path, question: WhyQuestion, now_ns: int) -> Why:
    """The answer from what the store holds now; more records make the same event's answer richer.

    Raises UsageError, NothingMeasuredError (nobody probed anything), StoreError.
    """
    chosen = choose(root, question, now_ns)
    if chosen.slow is None:
        span = (None, chosen.looked.end_ns)
        windows = chosen.weather.happened.windows
        beside = peers(root, span, now_ns, question.targets, windows=windows).found
        links = _nothing()
        return Why(decide(links), links, chosen.looked._replace(peers=tuple(beside)))
    links = _links(chosen, chosen.slow, question, now_ns)
    return Why(decide(links), links, chosen.looked, chosen.others)


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
