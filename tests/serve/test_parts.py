"""Small parts: shared answers, arrays as JSON, the density grid."""

import asyncio
import json
import threading
import time

import numpy as np
import pytest

from iosonde.model.frames import NULL_NS, Frame
from iosonde.serve import wire
from iosonde.serve.series import one_row_a_window
from iosonde.serve.shared import Shared
from iosonde.weather.samples.points import MOST_POINTS, time_step_ns
from tests.kit.samples.stores import MINUTE, SECOND


def test_equal_questions_at_the_same_time_are_answered_once() -> None:
    asked: list[str] = []

    def work() -> str:
        asked.append(threading.current_thread().name)
        time.sleep(0.1)
        return "answer"

    async def main() -> list[str]:
        shared = Shared(time.monotonic)
        return await asyncio.gather(*(shared.answer("key", work) for _ in range(20)))

    assert asyncio.run(main()) == ["answer"] * 20
    assert len(asked) == 1
    assert asked[0].startswith("iosonde-store"), "not on the event loop's thread"


def test_one_who_gives_up_does_not_take_the_answer_from_the_others() -> None:
    async def main() -> str:
        shared = Shared(time.monotonic)

        def slow() -> str:
            time.sleep(0.2)
            return "answer"

        first = asyncio.create_task(shared.answer("key", slow))
        second = asyncio.create_task(shared.answer("key", slow))
        await asyncio.sleep(0.05)
        first.cancel()
        return await second

    assert asyncio.run(main()) == "answer"


def test_answers_are_kept_for_a_moment_and_errors_are_not() -> None:
    now = [0.0]
    calls = []

    def work() -> int:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return len(calls)

    async def main() -> list[int]:
        shared = Shared(lambda: now[0], keep_s=1.0)
        with pytest.raises(ValueError, match="once"):
            await shared.answer("key", work)
        answers = [await shared.answer("key", work), await shared.answer("key", work)]
        now[0] = 1.5
        return [*answers, await shared.answer("key", work)]

    assert asyncio.run(main()) == [2, 2, 3]


def test_missing_is_null_and_never_nan() -> None:
    assert wire.integers(np.array([1.4, np.nan])) == [1, None]
    assert wire.integers(np.array([5, NULL_NS])) == [5, None]
    assert wire.ratios(np.array([3.14159265, np.nan, np.inf])) == [3.1416, None, None]
    with pytest.raises(ValueError, match="Out of range"):
        wire.dumps({"x": float("nan")})
    big = 1_795_000_000_123_456_789
    assert json.loads(wire.dumps(wire.integers(np.array([big])))) == [big]


def test_time_bins_are_round_and_not_too_many() -> None:
    for length in (MINUTE, 6 * 60 * MINUTE, 86_400 * SECOND, 30 * 86_400 * SECOND, 10**19):
        step = time_step_ns(length)
        assert length / step <= 300
        assert step % SECOND == 0
    assert MOST_POINTS == 8_000


def test_two_periods_in_one_window_show_the_one_with_more_operations() -> None:
    windows = Frame(
        {
            "start_ns": np.array([0, 60, 60, 120]),
            "n_due": np.array([60, 10, 50, 60]),
            "period_ns": np.array([1, 1, 2, 2]),
        }
    )
    assert one_row_a_window(windows)["n_due"].tolist() == [60, 50, 60]
