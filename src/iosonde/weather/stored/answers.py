"""Contents of a store as they stand: targets, runs of samples, samples, windows, and what arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Unpack

    from iosonde.model.frames import Frame, SampleChoice, TargetRef, WhichSamples, WindowTable
    from iosonde.weather.stored.follow import Follower


class SampledNames(NamedTuple):
    """Names that samples, states, kept windows and roll-ups have."""

    run_ids: frozenset[str]
    targets: frozenset[str]


def targets(root: Path) -> list[TargetRef]:
    """Every host and target with a state, samples, kept windows or roll-ups, sorted. Raises StoreError."""
    from iosonde.weather.store import Store

    return Store(root).targets()


def target_names(root: Path) -> list[str]:
    """Names of ``targets``, sorted. Raises StoreError."""
    return sorted({one.target for one in targets(root)})


def sampled_names(root: Path) -> SampledNames:
    """Runs with samples, and names of ``targets``. Raises StoreError."""
    from iosonde.weather.samples.periods import runs

    return SampledNames(frozenset(run.run_id for run in runs(root)), frozenset(target_names(root)))


def samples(root: Path, columns: Sequence[str], **which: Unpack[WhichSamples]) -> Frame:
    """``Store.samples``: operations, a row each, by due time. Raises UsageError (no such column), StoreError."""
    from iosonde.weather.store import Store

    return Store(root).samples(columns, **which)


def windows(root: Path, window_ns: int, **which: Unpack[SampleChoice]) -> WindowTable:
    """``Store.windows``: statistics of every window and series. Raises UsageError (no length), StoreError."""
    from iosonde.weather.store import Store

    return Store(root).windows(window_ns, **which)


def follow(root: Path) -> Follower:
    """Reader of rows as they arrive: each ``poll`` gives those since the last one."""
    from iosonde.weather.stored.follow import Follower

    return Follower(root)
