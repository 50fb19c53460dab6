"""Roll-ups that were read once answer as those that are read for each question."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.engine.contract import INTERVAL_NS, LEVEL_COLUMNS
from iosonde.weather.rollups import at_hand
from iosonde.weather.store import Store
from tests.kit.samples.made import made
from tests.kit.samples.makers import SECOND

START = 1_788_739_200 * SECOND
HOUR = 3600 * SECOND
OPS = ("data_read", "md_create")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("at-hand")
    for number, target in enumerate(("/scratch", "/work")):
        rng = np.random.default_rng(number)
        made(root, rng, START, 6 * 3600 + 1234, target=target, ops=OPS, failed=0.01)
    return root


SCOPES = [
    {},
    {"target": "/work", "ops": ("md_create",)},
    {"target": "/work", "since_ns": START + HOUR, "until_ns": START + 3 * HOUR + 1},
    {"target": "/work", "since_ns": START + 90 * HOUR},
]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("window_ns", [INTERVAL_NS, HOUR])
@pytest.mark.parametrize("levels", [False, True])
def test_the_same_windows(root, scope, window_ns, levels):
    fresh = Store(root).rolled_windows(window_ns, levels=levels, **scope)
    kept = (
        Store(root).with_rollups(None, None, None).rolled_windows(window_ns, levels=levels, **scope)
    )
    assert len(fresh) == len(kept)
    assert list(fresh.columns) == list(kept.columns)
    for name in (*fresh.columns, *(LEVEL_COLUMNS if levels else ())):
        np.testing.assert_array_equal(fresh[name], kept[name], err_msg=name)


@pytest.mark.parametrize("scope", SCOPES)
def test_the_same_intervals(root, scope):
    fresh, kept = (
        Store(root).rollups(**scope),
        Store(root).with_rollups(None, None, None).rollups(**scope),
    )
    assert fresh.series == kept.series
    np.testing.assert_array_equal(fresh.id, kept.id)
    for part in ("service", "other", "response"):
        one, other = getattr(fresh, part), getattr(kept, part)
        np.testing.assert_array_equal(one.offsets, other.offsets)
        np.testing.assert_array_equal(one.count, other.count)


def test_what_is_outside_is_read(root):
    store = Store(root).with_rollups(None, "/work", ("md_create",))
    assert {key.target for key in store.rollups().series} == {"/scratch", "/work"}
    assert {key.op for key in store.rollups(target="/work").series} == set(OPS)


def test_too_many_are_not_kept(root, monkeypatch):
    monkeypatch.setattr(at_hand, "MOST_BYTES", 1000)
    assert at_hand.RollupsAtHand.read(root, at_hand.SampleFilter()) is None
    assert len(Store(root).with_rollups(None, None, None).rollups()) == len(Store(root).rollups())
