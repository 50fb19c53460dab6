"""What ``why`` is asked, and what every link starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.model.ops import DEFAULT_WINDOW_NS
from iosonde.weather.slowdown.window_length import LEAST

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.model.frames import Frame, TargetRef
    from iosonde.weather.events.told import Happened
    from iosonde.weather.slowdown.findings import Finding
    from iosonde.weather.store import Store
    from iosonde.why.links import StretchFacts


class WhyQuestion(NamedTuple):
    """``targets``: by name, all components of one or several; none: all. ``at_ns`` None: now, else the last stretch.

    ``event``: the id of an event; then the others do not count. ``systems``: file systems whose records of nodes and
    jobs count; None: those of the target's name, else all. ``model``: fit the queue model, which takes seconds.
    """

    targets: tuple[str, ...] = ()
    at_ns: int | None = None
    event: str | None = None
    systems: tuple[str, ...] | None = None
    zone: tzinfo | None = None
    seed: int = 0
    model: bool = True


@dataclass(frozen=True)
class Weather:
    """What weather says of the hours around the stretch; live findings only where the question is about now.

    ``refs``: every target and host of the store.
    """

    store: Store
    refs: list[TargetRef]
    states: list[dict[str, Any]]
    happened: Happened
    findings: list[Finding]
    begin_ns: int
    end_ns: int

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self.store.root

    def component(self, host: str, target: str) -> tuple[str, str | None]:
        """The whole target and the name of the component that a target is; itself and None: of none."""
        for state in self.states:
            if (state["host"], state["target"]) == (host, target) and state.get("component"):
                return str(state["component"]["of"]), str(state["component"]["name"])
        return target, None

    def window_ns(self, slow: StretchFacts) -> int:
        """Length of the windows of a stretch's op; a minute where that holds enough for an interval."""
        lengths = [
            DEFAULT_WINDOW_NS if key.period_ns * LEAST <= DEFAULT_WINDOW_NS < length else length
            for key, length in self.happened.windows.items()
            if (key.host, key.target, key.op) == (slow.host, slow.target, slow.op)
        ]
        return min(lengths, default=DEFAULT_WINDOW_NS)

    def targets(self, host: str) -> list[str]:
        """Targets that a host watches or watched."""
        return sorted({ref.target for ref in self.refs if ref.host == host})


class Scene(NamedTuple):
    """What every link is made from. ``windows``: of every target that the stretch's host watches, within it."""

    weather: Weather
    slow: StretchFacts
    windows: Frame
    question: WhyQuestion
    now_ns: int

    @property
    def end_ns(self) -> int:
        """The end of the stretch, or until when it was looked at."""
        return self.slow.end_ns or self.slow.seen_until_ns
