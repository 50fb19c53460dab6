"""The live feed over a real server: only new rows, shared by all, gone when the server goes."""

import time
from pathlib import Path

import httpx2
import pytest

from iosonde.weather.store import Store
from tests.kit.samples import stores
from tests.kit.samples.stores import MINUTE, NOW

WORK = {"host": stores.HOST, "target": "/work"}
SECONDS = 10.0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten minutes that end now."""
    folder = tmp_path_factory.mktemp("whole")
    stores.simulate(
        folder,
        10 * MINUTE,
        stores.target("/work"),
        stores.target("/home"),
        end_ns=time.time_ns(),
    )
    stores.say_it_runs(folder, time.time_ns())
    return folder


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    """The same, of which only a half has been written so far."""
    stores.copy_prefix(whole, tmp_path, 0.5)
    return tmp_path


def due(chunk: dict) -> set[tuple[str, int]]:
    return {(op, d) for op, points in chunk["ops"].items() for d in points["due_ns"]}


def known(address: str) -> tuple[set[tuple[str, int]], int]:
    query = {**WORK, "since_ns": time.time_ns() - 11 * MINUTE}
    answer = httpx2.get(f"{address}/api/series", params=query).json()
    ops = {op: data["points"] for op, data in answer["ops"].items()}
    return due({"ops": ops}), answer["as_of_ns"]


def chunks(address: str, n: int, **query: object) -> tuple[list[dict], list[str], list[str]]:
    """The first n chunks of points, their ids, and the names of all events before."""
    found, ids, names = [], [], []
    stream = httpx2.stream("GET", f"{address}/api/feed", params={**WORK, **query}, timeout=SECONDS)
    with stream as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for name, data, number in stores.events(response):
            names.append(name)
            if name == "points":
                found.append(data)
                ids.append(number)
            if name == "reload" or len(found) == n or len(names) > 30:
                break
    return found, ids, names


def test_series_and_feed_together_have_every_row_once(whole: Path, root: Path) -> None:
    with stores.running(root) as (address, _):
        before, as_of = known(address)
        stores.copy_prefix(whole, root, 0.7)
        found, ids, names = chunks(address, 1, after_ns=as_of)
        assert "targets" in names
        assert due(found[0]).isdisjoint(before)
        stores.copy_prefix(whole, root, 1.0)
        # As a browser that reconnects: the last id counts, not the parameter.
        with httpx2.stream(
            "GET",
            f"{address}/api/feed",
            params={**WORK, "after_ns": as_of},
            headers={"last-event-id": ids[-1]},
            timeout=SECONDS,
        ) as response:
            seen = before | due(found[0])
            deadline = time.monotonic() + SECONDS
            # What was copied while the feed read comes in another chunk.
            for name, data, _ in stores.events(response):
                if name == "points":
                    assert due(data).isdisjoint(seen)
                    seen |= due(data)
                # An answer is shared for a second: what it lacks is in the next one.
                every = known(address)[0]
                if seen == every or time.monotonic() > deadline:
                    break
        assert seen == every
        assert seen > before


def test_other_targets_rows_are_not_sent(whole: Path, root: Path) -> None:
    with stores.running(root) as (address, _):
        _, as_of = known(address)
        stores.copy_prefix(whole, root, 1.0)
        (chunk,), _, _ = chunks(address, 1, after_ns=as_of, target="/home")
    samples = Store(root).samples(("due_ns", "response_ns"), target="/home", ops=("data_read",))
    response = dict(zip(samples["due_ns"].tolist(), samples["response_ns"].tolist(), strict=True))
    points = chunk["ops"]["data_read"]
    sent = dict(zip(points["due_ns"], points["response_ns"], strict=True))
    assert sent
    assert sent == {due: response[due] for due in sent}


def test_who_was_away_for_too_long_is_told_to_reload(root: Path) -> None:
    with stores.running(root) as (address, _):
        _, _, names = chunks(address, 1, after_ns=1)
        assert names[-1] == "reload"


def test_many_clients_cost_one_look(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from iosonde.serve import targets

    looks = []
    read = targets.read_states

    def counted(folder: Path):
        looks.append(folder)
        return read(folder)

    monkeypatch.setattr(targets, "read_states", counted)
    with stores.running(root) as (address, _), httpx2.Client(timeout=SECONDS) as client:
        streams = [client.stream("GET", f"{address}/api/feed") for _ in range(12)]
        feeds = [stores.events(stream.__enter__()) for stream in streams]
        for feed in feeds:
            next(feed)
        looks.clear()
        begun = time.monotonic()
        for feed in feeds:
            for _ in range(3):
                name, data, _ = next(feed)
                assert name == "targets"
                assert sorted(t["target"] for t in data) == ["/home", "/work"]
        took = time.monotonic() - begun
        assert len(looks) <= took + 2, "about one a second, however many listen"
        for stream in streams:
            stream.__exit__(None, None, None)


def test_the_feed_ends_when_the_server_does(root: Path) -> None:
    with stores.running(root) as (address, server):
        with httpx2.stream("GET", f"{address}/api/feed", timeout=SECONDS) as response:
            feed = stores.events(response)
            assert next(feed)[0] == "targets"
            begun = time.monotonic()
            server.stop()
            assert len(list(feed)) <= 3
        assert time.monotonic() - begun < 5


def test_without_clients_nothing_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from iosonde.serve import targets

    with stores.running(root) as (address, _):
        chunks(address, 0)
        time.sleep(2.2)
        looks = []
        monkeypatch.setattr(targets, "read_states", lambda folder: looks.append(folder) or [])
        time.sleep(2.2)
        assert looks == []


@pytest.mark.filterwarnings("ignore::iosonde.model.errors.DamagedFileWarning")
def test_a_damaged_segment_is_told(root: Path) -> None:
    (root / "spool" / stores.HOST / "zz-000000.spool").write_bytes(b"nonsense" * 100)
    with (
        stores.running(root) as (address, _),
        httpx2.stream("GET", f"{address}/api/feed", timeout=SECONDS) as response,
    ):
        lines = next(d for name, d, _ in stores.events(response) if name == "trouble")
        assert any("zz-000000.spool" in line for line in lines)


def test_many_targets_travel_in_brief_and_the_chosen_one_whole(tmp_path) -> None:
    names = [f"/t{n:02}" for n in range(45)]
    stores.simulate(tmp_path, MINUTE, *(stores.target(name) for name in names))
    stores.say_it_runs(tmp_path, NOW)
    with stores.running(tmp_path, clock=lambda: NOW) as (address, _):
        whole = httpx2.get(f"{address}/api/targets").json()
        brief = httpx2.get(f"{address}/api/targets?brief=true").json()
        asked = {"host": stores.HOST, "target": "/t07", "brief": "true"}
        with httpx2.stream("GET", f"{address}/api/feed", params=asked, timeout=10) as response:
            stream = stores.events(response)
            seen = [next(stream)[:2] for _ in range(2)]
    assert [len(one["state"]["ops"]) for one in whole] == [6] * 45
    assert [len(one["state"]["ops"]) for one in brief] == [0] * 45
    kept = ("host", "target", "kind", "severity", "sentence", "brief", "slowdown")
    assert [[one[name] for name in kept] for one in brief] == [
        [one[name] for name in kept] for one in whole
    ]
    assert [name for name, _ in seen] == ["targets", "target"]
    assert [len(one["state"]["ops"]) for one in seen[0][1]] == [0] * 45
    (own,) = seen[1][1]
    assert own["target"] == "/t07"
    assert len(own["state"]["ops"]) == 6
