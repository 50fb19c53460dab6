"""What would help, where the storage is one queue that is simulated operation by operation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.why.remedies import NEAR, remedied
from iosonde.jobs.attribution.culprits import Confidence
from iosonde.queue.fit import QueueFit
from iosonde.queue.fitted_model import Model
from iosonde.why.links import Gap, Kind
from iosonde.why.load import PART_OF_LOAD, _stand_out
from iosonde.why.remedy import _of_model, _Reads
from tests.why.made_links import culprit, load

MODEL = Model("exponential", 0.01, 30.0, 0.002)
PER_S = np.linspace(10.0, 140.0, 50)


def test_a_shorter_queue_helps_as_much_as_it_does_when_simulated():
    one = remedied(Kind.OVERLOAD, 1)
    assert one.kind is Kind.OVERLOAD
    assert one.remedy is not None, one.reason
    for said, true in zip((one.remedy.now_s, one.remedy.then_s), one.true_s, strict=True):
        assert true / NEAR <= said.value <= true * NEAR
    assert one.remedy.then_s.upper < one.remedy.now_s.lower


def fitted(**changes):
    return replace(QueueFit(MODEL, [], 0.5, [1.0], True, (0, 0), True, []), **changes)


def reads(times=1.0):
    """Reads of a stretch of which the median is so many times that of the model."""
    levels, q = np.quantile(PER_S, np.linspace(0.01, 0.99, 50)), np.linspace(0.01, 0.99, 50)
    middle = float(np.median([MODEL.quantiles_s(level, q) for level in levels]))
    return _Reads(np.zeros(0), PER_S, PER_S, times * middle)


def test_without_the_job_reads_are_those_of_the_load_that_is_left():
    found = _of_model(fitted(), reads(), load(culprit(ops_share=0.9))).found
    assert found.without_job
    assert found.then_per_s == pytest.approx(0.1 * found.load_per_s)
    assert found.then_s.value < found.now_s.value / 2


@pytest.mark.parametrize(
    ("model", "times", "gap"),
    [
        (fitted(explained=False), 1.0, Gap.NO_FIT),
        (fitted(), 3.0, Gap.NO_FIT),
        (fitted(), 0.3, Gap.NO_FIT),
        (fitted(full=False), 1.0, Gap.NEVER_FULL),
        (fitted(), 1.0, None),
    ],
)
def test_no_queue_is_shortened_that_nobody_saw_full(model, times, gap):
    assert _of_model(model, reads(times), load(together=True)).gap is gap


@pytest.mark.parametrize(
    ("confidence", "share", "stands_out"),
    [
        (Confidence.MOST, PART_OF_LOAD - 0.01, False),
        (Confidence.MOST, PART_OF_LOAD, True),
        (Confidence.MOST, None, True),
        (Confidence.PROBABLE, 0.49, False),
        (Confidence.PROBABLE, 0.5, True),
    ],
)
def test_a_small_job_does_not_stand_out_from_a_sum(confidence, share, stands_out):
    assert _stand_out([culprit(confidence=confidence, ops_share=share)]) is stands_out
