"""The queue of few parameters: what each of them does, against the model's own bounds."""

from pathlib import Path

import numpy as np
import pytest

from iosonde.queue.answers import explored
from iosonde.queue.explore import (
    CYCLE_OPERATIONS,
    PAUSE_TICKS,
    TRACE_BINS,
    WRITERS_BEGIN,
    Knobs,
    explored_data,
)
from iosonde.serve.simulate.answer import SimulateQuery

START = {
    **{"service_ticks": 4, "queue": 500, "processes": 2, "writers": 1},
    **{"writes": 0.33, "discipline": "fifo", "ticks": 20_000, "seed": 1},
}


def data(**changed: object) -> dict:
    return explored_data(explored(Knobs(**(START | changed))).found)


def longest(found: dict) -> float:
    every = [one for client in found["clients"] for one in client["longest_read_ticks"]]
    return max(one for one in every if one is not None)


@pytest.mark.parametrize("queue", [1, 5, 50, 500])
def test_a_read_behind_a_full_queue_waits_for_all_of_it(queue: int) -> None:
    found = data(queue=queue)
    assert max(found["most_waiting"]) == queue == found["queue"]
    assert longest(found) >= queue * 4, "so many operations of 4 ticks were before it"
    assert longest(found) <= (queue + 20) * 4, "and for its turn, one of three"


def test_reads_go_first_where_they_are_said_to() -> None:
    assert longest(data(discipline="reads-first")) < longest(data()) / 10
    fair = data(discipline="fair")
    assert fair["queue"] is None, "each client has a queue of its own"
    assert longest(fair) < longest(data()) / 10


def test_shares_are_of_what_the_storage_can_execute() -> None:
    found = data(processes=0, writers=1)
    writes = np.array(found["clients"][0]["writes"])
    assert writes[: TRACE_BINS // 4].max() == 0, "it begins after 30% of the time"
    assert writes[TRACE_BINS // 2 :].mean() == pytest.approx(1.0, abs=0.02)
    assert found["sentence"].endswith("no read ended.")


def test_a_process_of_reads_alone_never_writes() -> None:
    found = data(writers=0, writes=0.0)
    assert sum(sum(client["writes"]) for client in found["clients"]) == 0
    assert data(writers=0, writes=1.0)["sentence"].endswith("no read ended.")


def test_equal_seeds_give_equal_traces() -> None:
    assert data(seed=3) == data(seed=3)
    assert data(seed=3) != data(seed=4)


def test_the_sentence_has_the_numbers_of_the_table() -> None:
    found = data()
    assert "2,008 ticks at most, where an empty storage takes 4 ticks" in found["sentence"]
    assert len(found["sentence"].split()) <= 25
    assert "2,008 ticks" in [row[6] for row in found["table"]["rows"]]


def test_the_page_of_the_documentation_has_the_numbers_of_the_code() -> None:
    text = (Path(__file__).parents[2] / "docs/simulate.md").read_text()
    assert f"[{PAUSE_TICKS}, R, {PAUSE_TICKS}, W] with R + W = {CYCLE_OPERATIONS}" in text
    assert f"writers begin after {WRITERS_BEGIN:.0%} of the time" in text
    limits = {
        name: field["maximum"]
        for name, field in SimulateQuery.model_json_schema()["properties"].items()
        if "maximum" in field
    }
    assert (
        f"at most {limits['processes']} processes, {limits['writers']} writers, "
        f"M = {limits['queue']:,} and {limits['ticks']:,} ticks" in text
    )
