"""docs/methods/climate.md against the code: every constant that it names."""

from __future__ import annotations

import re
from pathlib import Path

from iosonde.jobs.climate import climate, prediction
from iosonde.jobs.climate import events as climate_events
from iosonde.jobs.climate import regimes as climate_regimes
from iosonde.jobs.climate import series as climate_series
from iosonde.jobs.table import leakage
from iosonde.stats import change_points as shifts
from iosonde.stats import regime_search as regimes
from iosonde.stats import segments

PAGE = " ".join(
    (Path(__file__).resolve().parents[2] / "docs/methods/climate.md").read_text().split()
)


def test_constants_of_changes() -> None:
    assert f"at least {climate.SMALLEST_SERIES} |" in PAGE
    assert f"at least {shifts.SHORTEST_DAYS:g} days and {segments.FEWEST} runs" in PAGE
    assert f"+ {shifts.PENALTY:g} kappa ln n per change" in PAGE
    assert f"`p <= {segments.SURE:g}`" in PAGE
    assert f"less than {shifts.REACH:.2f} in the logarithm" in PAGE
    assert f"`q > {climate_series.Q:g}`" in PAGE
    assert f"more than {climate_series.MOST_VALUES} runs" in PAGE


def test_constants_of_events() -> None:
    assert f"at least {segments.FEWEST} runs before and after the event" in PAGE
    assert f"more than {climate_series.OWN_CHANGE:.0%}" in PAGE
    assert f"more than {climate_series.OWN_CLEAR:g} deviations of either side" in PAGE
    assert f"at most {climate_events.NEAR_NS // climate_series.DAY_NS} days outside" in PAGE
    assert re.search(rf"run time or speed is above {leakage.LEAKS:g}\b", PAGE)


def test_constants_of_climates_and_predictions() -> None:
    assert f"Below {climate_regimes.FEWEST_COLUMNS} columns climates are not told" in PAGE
    assert f"clipped at {regimes.CLIP:g} deviations from the days around" in PAGE
    assert f"levels at {regimes.FAR:g} from the median of all days" in PAGE
    assert f"in day-to-day deviations, from {climate_regimes.STANDS_OUT:g} on" in PAGE
    assert f"each of {prediction.FOLDS} stretches of the second half" in PAGE
    assert prediction.FIRST_SHARE == 0.5
    assert f"its median of the last {prediction.CLIMATE_DAYS:g} days" in PAGE
