"""A part that was always slow is its own usual: others like it show it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.model.frames import SeriesKey
from iosonde.weather.peers.groups import PeerGroup, groups_of
from iosonde.weather.peers.peers import DAY_NS, LEAST_RATIO, PeerFinding, slow_members
from iosonde.weather.peers.words import say_peer
from iosonde.weather.store import Store
from iosonde.why.answers import why
from iosonde.why.question import WhyQuestion
from tests.kit.commands import run
from tests.kit.samples.makers import SECOND, START, probed

HOUR = 3600 * SECOND
GROUP = PeerGroup("host", "n1", "disk#", "data_read", SECOND)


def keys(n: int, host: str = "n1") -> list[SeriesKey]:
    return [SeriesKey(host, f"disk{number}", "data_read", SECOND) for number in range(n)]


def found(level: np.ndarray) -> list[PeerFinding]:
    starts = START + DAY_NS * np.arange(level.shape[1], dtype=np.int64)
    return slow_members(GROUP, keys(len(level)), level, starts, DAY_NS)


def healthy(
    rng: np.random.Generator, members: int = 12, blocks: int = 14, sd: float = 0.05
) -> np.ndarray:
    """Log medians: all share the load of a day, each has noise of its own."""
    return 0.3 * rng.standard_normal(blocks) + sd * rng.standard_normal((members, blocks))


def test_the_odd_one_is_found_with_its_size() -> None:
    rng = np.random.default_rng(1)
    hits = inside = 0
    for _ in range(200):
        level = healthy(rng)
        level[4] += np.log(1.6)
        mine = found(level)
        hits += [one.key.target for one in mine] == ["disk4"]
        inside += bool(mine) and mine[0].lower <= 1.6 <= mine[0].upper
    assert hits >= 198
    assert inside >= 180, "95 % intervals, and the median of the others has an error, too"


@pytest.mark.parametrize("heavy", [False, True])
def test_healthy_ones_are_not_accused(heavy: bool) -> None:
    rng = np.random.default_rng(2)
    accused = 0
    for _ in range(300):
        level = healthy(rng)
        accused += len(found(level + 0.05 * rng.standard_t(2, level.shape) * heavy))
    assert accused <= 2


def test_who_has_a_level_of_its_own_is_named_only_for_its_size() -> None:
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(300):
        own = 0.1 * rng.standard_normal((12, 1))
        named = {one.key for one in found(healthy(rng) + own)}
        beside = own[:, 0] - np.median(own)
        wrong += sum(
            beside[place] < np.log(1.15) for place, key in enumerate(keys(12)) if key in named
        )
    assert wrong <= 2


def test_two_kinds_are_no_slow_ones() -> None:
    rng = np.random.default_rng(3)
    level = healthy(rng)
    level[:5] += np.log(2.0)
    assert found(level) == []


def test_since_is_said_where_a_before_is_known() -> None:
    rng = np.random.default_rng(4)
    level = healthy(rng)
    level[3, 5:] += np.log(3.0)
    (one,) = found(level)
    assert one.since_ns == START + 5 * DAY_NS
    assert (one.slow, one.blocks) == (9, 14)
    level[3, :5] += np.log(3.0)
    (one,) = found(level)
    assert one.since_ns is None
    assert (one.slow, one.blocks) == (14, 14)


def test_slow_on_most_days_is_said_with_the_days() -> None:
    rng = np.random.default_rng(9)
    level = healthy(rng)
    level[3, [0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 12]] += np.log(1.6)
    (one,) = found(level)
    assert (one.slow, one.blocks, one.since_ns) == (11, 14, None)
    assert one.lower < 1.6 < one.upper


def test_what_is_not_known_is_not_judged() -> None:
    rng = np.random.default_rng(5)
    level = healthy(rng, members=4)
    level[0] += np.log(5.0)
    assert len(found(level)) == 1
    level[1, 2:] = np.nan
    assert found(level) == [], "of three nobody can say which is the odd one"
    assert found(level[:3]) == []
    assert found(healthy(rng, blocks=2) + np.log([[5.0]] + [[1.0]] * 11)) == []


def test_peers_have_names_that_differ_in_numbers_or_one_target() -> None:
    four = [SeriesKey("n1", name, "md_stat", SECOND) for name in ("/a", "/b", "/c", "/d")]
    assert groups_of(four, {}) == {}
    hosts = [SeriesKey(f"n{n}", "/work", "md_stat", SECOND) for n in range(4)]
    assert [group.shared for group in groups_of(hosts, {})] == ["target"]
    assert [group.kind for group in groups_of(keys(4), {})] == ["disk#"]
    disks = [
        SeriesKey("n1", f"n1/{name}", "data_read", SECOND) for name in ("sda", "sdb", "sdz", "sdaa")
    ]
    assert [group.kind for group in groups_of(disks, {})] == ["n#/sd#"]
    parts = {("n1", key.target): "/work" for key in four}
    assert [group.kind for group in groups_of(four, parts)] == ["/work"]
    other = [*keys(3), SeriesKey("n1", "disk9", "data_read", 60 * SECOND)]
    assert groups_of(other, {}) == {}, "a client that is idle answers slower than a busy one"


def test_an_enclosure_is_a_group_wherever_its_parts_are() -> None:
    mixed = [SeriesKey(f"n{n % 2}", f"disk{n}", "data_read", SECOND) for n in range(8)]
    parents = {"disk0": ["e1"], "n1/disk1": ["e1"], "disk2": ["e1", "ST4000"], "disk3": ["e1"]}
    found = groups_of(mixed, {}, parents | {"n0/disk1": ["e2"]})
    assert [key.target for key in found[PeerGroup("parent", "e1", "", "data_read", SECOND)]] == [
        *("disk0", "disk2", "disk1", "disk3")
    ]
    assert {group.name for group in found} == {"n0", "n1", "e1"}


def test_two_models_in_one_host_are_compared_with_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the disks are slow by nature; one of the quick ones is as slow as they are."""
    rng = np.random.default_rng(8)
    for number in range(12):
        service = 1e-4 * np.exp(0.3 * rng.standard_normal(4 * 3600))
        factor = 3 if number % 2 or number == 4 else 1
        probed(tmp_path, factor * service, START, op="data_read", target=f"disk{number}")
    span = ["--since", f"@{START // SECOND}", "--until", f"@{START // SECOND + 4 * 3600}"]
    assert run("events", *span, store=tmp_path) == 0
    assert "take" not in capsys.readouterr().out
    table = tmp_path / "parts.csv"
    rows = (f"login2/disk{n},{'ST4000' if n % 2 else 'SSD'}" for n in range(12))
    table.write_text("\n".join(["child,parent", *rows]))
    assert run("import", str(table), store=tmp_path) == 0
    capsys.readouterr()
    assert run("events", *span, store=tmp_path) == 0
    assert "reads on disk4 of login2 take 3.0x as long as the other 5 of SSD" in " ".join(
        capsys.readouterr().out.split()
    )


def test_the_sentence() -> None:
    one = PeerFinding(keys(9)[8], GROUP, 11, 1.6, 1.4, 1.8, 11, 14, DAY_NS, None)
    text = say_peer(one, START)
    assert text == (
        "reads on disk8 of n1 take 1.6x as long as the other 11 of its host (1.4-1.8), "
        "in 11 of 14 days"
    )
    assert len(say_peer(one._replace(since_ns=START), START + DAY_NS).split()) <= 27


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six disks of a host for five hours, one of them always 40 times as slow."""
    root = tmp_path_factory.mktemp("disks")
    rng = np.random.default_rng(6)
    for number in range(6):
        service = 1e-4 * np.exp(0.3 * rng.standard_normal(5 * 3600))
        probed(
            root,
            service * (40 if number == 3 else 1),
            START,
            op="data_read",
            target=f"disk{number}",
        )
    return root


def test_every_door_names_it(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    words = "reads on disk3 of login2 take 40x as long as the other 5 of its host"
    span = ["--since", f"@{START // SECOND}", "--until", f"@{START // SECOND + 5 * 3600}"]
    assert run("events", *span, store=store) == 0
    assert words in capsys.readouterr().out
    assert run("events", *span, "--format", "json", store=store) == 0
    (one,) = json.loads(capsys.readouterr().out)["peers"]
    assert 38 < one["lower"] <= one["ratio"] <= one["upper"] < 42
    assert one["since_ns"] is None
    assert run("now", "--hosts", *span, store=store) == 0
    assert words in capsys.readouterr().out
    assert run("now", "--hosts", *span, "--json", store=store) == 0
    assert json.loads(capsys.readouterr().out)["peers"] == [one]
    answer = why(store, WhyQuestion(model=False), START + 5 * HOUR)
    assert [peer.key.target for peer in answer.looked.peers] == ["disk3"]
    assert answer.looked.peers[0].block_ns == HOUR, "the longest of which there are enough"
    station = iosonde.open(store)
    told = station.events(since=f"@{START // SECOND}", until=f"@{START // SECOND + 5 * 3600}")
    assert [peer.key.target for peer in told.peers] == ["disk3"]
    assert Store(store).targets()
    assert one["ratio"] > LEAST_RATIO
