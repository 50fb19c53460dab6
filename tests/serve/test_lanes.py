"""One heavy question does not keep the others waiting: lanes, their bounds, and clients that go."""

import asyncio
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from iosonde.engine.connections import connect
from iosonde.engine.left_out import leave_out, left_out
from iosonde.engine.stopping import Stop, StoppedError, stopped_by
from iosonde.serve.lanes import MOST_HEAVY
from iosonde.serve.params import AGAIN_S, BusyError
from iosonde.serve.routes import weather
from iosonde.serve.shared import Shared
from tests.kit.samples import stores
from tests.kit.samples.stores import HOST, MINUTE, NOW, SECOND

HEAVY = 24
BOUND_S = 30.0


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("heavy")
    stores.simulate(folder, 60 * MINUTE, stores.target("/work", period="50ms"))
    stores.say_it_runs(folder, NOW)
    return folder


def short(number: int) -> dict[str, str | int]:
    """Four seconds of windows of a millisecond."""
    begin = NOW - (number + 2) * 10 * SECOND
    place = {"host": HOST, "target": "/work", "window_ns": 10**6}
    return {**place, "since_ns": begin, "until_ns": begin + 4 * SECOND}


@pytest.mark.service
@pytest.mark.measures
def test_targets_are_answered_while_heavy_series_are(root: Path) -> None:
    with (
        stores.running(root, clock=lambda: NOW) as (address, _),
        httpx2.Client(base_url=address, timeout=300) as client,
        ThreadPoolExecutor(HEAVY) as threads,
    ):
        assert client.get("/api/targets").status_code == 200
        asked = [threads.submit(client.get, "/api/series", params=short(n)) for n in range(HEAVY)]
        answered = 0
        while not all(one.done() for one in asked):
            begun = time.monotonic()
            assert client.get("/api/targets").status_code == 200
            assert time.monotonic() - begun < BOUND_S
            answered += 1
        answers = [one.result() for one in asked]
    statuses = Counter(one.status_code for one in answers)
    print(f"{answered} answers about targets beside {dict(statuses)}")
    assert set(statuses) <= {200, 503}
    assert statuses[200] >= MOST_HEAVY
    refused = [one for one in answers if one.status_code == 503]
    assert all(one.headers["retry-after"] == str(AGAIN_S) for one in refused)
    assert answered >= 3 * statuses[200], "several a heavy one"


@pytest.mark.service
def test_the_same_heavy_question_is_answered_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    original = weather.series_json

    def counted(*given: object) -> bytes:
        made.append(given)
        return original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(weather, "series_json", counted)
    with (
        stores.running(root, clock=lambda: NOW) as (address, _),
        httpx2.Client(base_url=address, timeout=300) as client,
        ThreadPoolExecutor(HEAVY) as threads,
    ):
        asked = [threads.submit(client.get, "/api/series", params=short(99)) for _ in range(HEAVY)]
        bodies = {one.result().content for one in asked}
    assert len(bodies) == 1
    assert len(made) == 1


@pytest.mark.service
def test_a_question_that_waits_ends_with_its_client(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = [], threading.Event()
    original = weather.series_json

    def held(source: object, asked: object, clock: object) -> bytes:
        begun.append(asked)
        go_on.wait(60)
        return original(source, asked, clock)  # type: ignore[arg-type]

    monkeypatch.setattr(weather, "series_json", held)
    with (
        stores.running(root, clock=lambda: NOW) as (address, _),
        httpx2.Client(base_url=address, timeout=300) as client,
        ThreadPoolExecutor(1) as threads,
    ):
        try:
            first = threads.submit(client.get, "/api/series", params=short(0))
            for number in range(
                1, HEAVY
            ):  # each takes a place and gives it back, or there would be none
                with pytest.raises(httpx2.TimeoutException):
                    httpx2.get(f"{address}/api/series", params=short(number), timeout=0.3)
        finally:
            go_on.set()
        assert first.result().status_code == 200
        assert client.get("/api/series", params=short(50)).status_code == 200
    assert len(begun) == 2, "those of clients that had gone never began"


def test_beyond_its_bound_a_lane_refuses_and_joins() -> None:
    go_on = threading.Event()
    ran = []

    def work(name: str) -> str:
        ran.append(name)
        go_on.wait(60)
        return name

    async def main() -> list[str]:
        lane = Shared(time.monotonic, threads=1, most_open=3)
        asked = [
            asyncio.create_task(lane.answer(name, lambda name=name: work(name))) for name in "abc"
        ]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await lane.answer("d", lambda: work("d"))
        joined = asyncio.create_task(lane.answer("c", lambda: work("c")))
        await asyncio.sleep(0)
        asked[1].cancel()
        await asyncio.gather(asked[1], return_exceptions=True)
        late = asyncio.create_task(lane.answer("e", lambda: work("e")))
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(asked[0], asked[2], joined, late)

    assert asyncio.run(main()) == ["a", "c", "c", "e"]
    assert ran == ["a", "c", "e"]


def test_work_that_has_begun_ends_with_its_last_client() -> None:
    """A lane of one thread: a statement that never ends would keep it for good."""
    ran = []

    def endless(name: str) -> object:
        ran.append(name)
        return connect().execute("SELECT sum(sqrt(range)) FROM range(1000000000000000)").fetchone()

    async def main() -> str:
        lane = Shared(time.monotonic, threads=1)
        clients = [asyncio.create_task(lane.answer("a", lambda: endless("a"))) for _ in range(2)]
        while not ran:
            await asyncio.sleep(0.01)
        clients[0].cancel()
        await asyncio.gather(clients[0], return_exceptions=True)
        joined = asyncio.create_task(lane.answer("a", lambda: endless("joined")))
        await asyncio.sleep(0)
        for client in (clients[1], joined):
            client.cancel()
        await asyncio.gather(clients[1], joined, return_exceptions=True)
        async with asyncio.timeout(60):
            return await lane.answer("a", lambda: "begun anew")

    assert asyncio.run(main()) == "begun anew"
    assert ran == ["a"]


def test_a_stopped_question_begins_no_statement_and_names_no_file() -> None:
    stop = Stop()
    with stopped_by(stop):
        connection = connect()
        stop.set()
        with pytest.raises(StoppedError):
            connect()
        with pytest.raises(StoppedError):
            leave_out(Path("/nowhere/a.parquet"), "cannot be read")
    assert connection.execute("SELECT 1").fetchone() == (1,)
    assert left_out(Path("/nowhere")) == []
