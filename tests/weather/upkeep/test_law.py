"""The law of rows on some schedules; ``make mischief`` tries thousands. And that it finds readers that break it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from iosonde.engine.layout import contents
from iosonde.engine.layout.merged import is_merged
from iosonde.weather.rollups.choice import RollupChoice
from iosonde.weather.upkeep import compact
from tests.kit.law import folders, readers
from tests.kit.law.schedule import run

SEEDS = range(100_000, 100_010)


def by_names(files: Iterable[contents.Contents]) -> dict[str, contents.Contents]:
    """The rule of earlier versions: what a footer names does not count."""
    those = list(files)
    named = {name: one for one in those if is_merged(one.stem) for name in one.names}
    return {
        one.stem: named[one.stem] for one in those if one.stem in named and one != named[one.stem]
    }


def added_up(sealed, kept):
    """All roll-ups, and the samples of segments that none holds."""
    known = {segment for held in kept.values() for segment in held}
    return RollupChoice(
        list(kept), [[one] for one, held in sealed.items() if not held <= known], []
    )


def test_rows_count_once_on_any_schedule() -> None:
    for seed in SEEDS:
        done = run(seed, 200)
        assert not done.violation, (
            f"python -m tests.kit.law --schedules 1 --folders 0 --seed {seed}"
        )


@pytest.mark.parametrize("seed", [7, 8])
def test_rows_count_once_in_folders_that_are_killed(seed: int, tmp_path) -> None:
    done = folders.outcome(seed, 12, tmp_path)
    assert not done.violation, f"python -m tests.kit.law --schedules 0 --folders 1 --seed {seed}"


ALONE = ((readers, "shared", lambda _: []), (readers, "choose", added_up))


@pytest.mark.parametrize(
    "wrong",
    [
        ((readers, "holders", by_names), (compact, "holders", by_names), *ALONE),
        ((readers, "shared", lambda _: []),),
        ((readers, "choose", added_up),),
    ],
    ids=["by names", "each file", "added up"],
)
def test_the_law_finds_a_reader_that_breaks_it(wrong, monkeypatch):
    for module, name, rule in wrong:
        monkeypatch.setattr(module, name, rule)
    assert any(run(seed, 200).violation for seed in range(100_000, 100_200))
