"""The weekly mail: what a simulated probe is known to have seen, beside the week before."""

import email
from pathlib import Path

import numpy as np
import pytest

from iosonde.weather.digest.digest import digest
from iosonde.weather.digest.words import COLUMNS, body, subject
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.stores import HOUR, MINUTE, NOW

DAY = 24 * HOUR
DAY_S = 86_400
OPS = ("data_read", "md_create")
UNTIL = "2026-11-18T10:50"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten days: creates of /work are five times slower for 2 h on the fifth day from both hosts; /home is as usual."""
    folder = tmp_path_factory.mktemp("store")
    slow = [Trouble("md_create", 5 * DAY_S, 5 * DAY_S + 7200, 5.0)]
    rng, begin = np.random.default_rng(5), NOW - 10 * DAY
    for host, name, troubles in (
        ("login1", "/work", slow),
        ("login2", "/work", slow),
        ("login1", "/home", []),
    ):
        made(folder, rng, begin, 10 * DAY_S, troubles, host=host, target=name, period_s=20, ops=OPS)
    return folder


@pytest.fixture(scope="module")
def found(root: Path):
    return digest(Store(root), NOW, None, np.random.default_rng(0))


def test_what_was_slow_for_how_long_and_who_reported_it(found) -> None:
    work, home = found.targets
    assert (work.target, home.target) == ("/work", "/home")
    (stretch,) = work.week.stretches
    assert stretch.start_ns == pytest.approx(NOW - 5 * DAY, abs=20 * MINUTE)
    assert work.week.slow_ns == pytest.approx(2 * HOUR, abs=30 * MINUTE)
    assert stretch.hosts == ("login1", "login2")
    assert [op for op, _ in work.week.ops] == ["md_create"]
    assert work.week.ops[0][1] == pytest.approx(5, rel=0.3)
    assert home.week.stretches == ()


def test_the_week_before_counts_only_what_was_watched_of_it(found) -> None:
    before = found.targets[0].before
    assert before.known_ns == pytest.approx(3 * DAY, abs=HOUR)
    assert before.stretches == ()


def test_the_words(found) -> None:
    text = body(found)
    assert max(map(len, text.splitlines())) <= COLUMNS
    flat = " ".join(text.split())
    assert "creates on /work were" in flat
    assert "reported by login1, login2 (2 of 2 hosts)" in flat
    assert "The week before nothing was slow in the 3" in flat
    assert "Nothing was slow" in flat
    assert subject(found).startswith("storage 11 Nov to 18 Nov: /work slow for ")


def test_an_empty_store_says_that_nothing_was_watched(tmp_path: Path) -> None:
    none = digest(Store(tmp_path), NOW, None, np.random.default_rng(0))
    assert subject(none).endswith(": nothing was watched")
    assert "No probe measured anything" in body(none)


def test_a_mail_with_headers(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", "--mail", "--until", UNTIL, "--to", "a@example.org", store=root) == 0
    message = email.message_from_string(capsys.readouterr().out)
    assert message["To"] == "a@example.org"
    assert message["Subject"].startswith("storage ")
    assert "/work" in message.get_payload()
    assert run("report", "--mail", "--to", "nobody", store=root) == 2
    assert run("report", "--mail", "--to", "a@b\nBcc: c@d", store=root) == 2
