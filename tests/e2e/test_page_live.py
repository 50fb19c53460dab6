"""The page over time: rows that arrive, hangs, pauses, empty stores, servers that go and return."""

import time
from pathlib import Path

import pytest

from tests.kit.page.browser import AT_SCRATCH, AT_WORK, SCRATCH, WORK, Visit, wait_until
from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, MINUTE

pytestmark = pytest.mark.service


def test_live_points_arrive(visit_live) -> None:
    at = visit_live(AT_WORK + "&range=2m").drawn()
    assert at.page.locator(".live-word").inner_text() == "live"
    first = int(at.panel("md_stat")["live"])
    wait_until("new points", lambda: int(at.panel("md_stat")["live"]) >= first + 6, 20)


def test_a_hanging_operation_is_seen_while_it_hangs(visit_live, shots: Path) -> None:
    at = visit_live(AT_SCRATCH + "&range=2m").drawn()
    card = at.page.locator(f'.card[data-target="{SCRATCH}"]')
    assert card.get_attribute("data-severity") == "hung"
    assert card.locator(".chip[data-op=md_create]").inner_text().endswith("hung")
    chip = at.page.locator(".panel[data-op=md_create] .panel-factor")
    assert chip.inner_text() == "hung"
    at.shot(shots, "hanging")


def test_pause_and_resume(visit_live) -> None:
    at = visit_live(AT_WORK + "&range=2m").drawn()
    at.page.get_by_role("button", name="Pause").click()
    assert at.page.locator(".live-word").inner_text() == "paused"
    assert " to " in at.page.locator(".view").inner_text()
    before = at.page.locator(".view").inner_text()
    at.page.wait_for_timeout(2500)
    assert at.page.locator(".view").inner_text() == before
    at.page.get_by_role("button", name="Resume").click()
    wait_until("live again", lambda: at.page.locator(".live-word").inner_text() == "live")


def test_a_day_is_drawn_as_counts(chromium, tmp_path: Path, shots: Path) -> None:
    end_ns = time.time_ns()
    stores.simulate(tmp_path, 7 * HOUR, stores.target("/archive"), end_ns=end_ns)
    stores.say_it_runs(tmp_path, end_ns)
    with stores.running(tmp_path) as (address, _):
        at = Visit(chromium, address, "#range=24h", viewport={"width": 1280, "height": 900}).drawn()
        panel = at.panel("data_read")
        assert int(panel["density"]) > 1000
        assert int(panel["points"]) == 0
        assert "counts" in at.page.locator(".legend").inner_text() or at.colours("data_read") > 20
        at.shot(shots, "day")
        at.close()


def test_an_empty_store_says_what_to_run(chromium, tmp_path: Path, shots: Path) -> None:
    with stores.running(tmp_path) as (address, _):
        at = Visit(chromium, address, viewport={"width": 1280, "height": 900})
        at.page.wait_for_selector(".empty")
        text = at.page.locator(".empty").inner_text()
        assert "iosonde probe" in text
        assert "iosonde demo" in text
        assert tmp_path.name in text  # names of folders above it say too much
        at.shot(shots, "empty")
        stores.simulate(tmp_path, 10 * MINUTE, stores.target("/new"), end_ns=time.time_ns())
        at.page.wait_for_selector(".card", timeout=10_000)
        assert at.complaints == []
        at.close()


def test_a_lost_server_is_said_and_found_again(chromium, tmp_path: Path, shots: Path) -> None:
    stores.simulate(tmp_path, 20 * MINUTE, stores.target(WORK), end_ns=time.time_ns())
    with stores.running(tmp_path) as (address, server):
        at = Visit(chromium, address, AT_WORK, viewport={"width": 1280, "height": 900}).drawn()
        word = at.page.locator(".live-word")
        wait_until("live", lambda: word.inner_text() == "live")
        server.stop()
        wait_until("the loss", lambda: word.inner_text() == "disconnected, retrying")
        wait_until(
            "the reason", lambda: "does not answer" in at.page.locator(".error").inner_text()
        )
        at.shot(shots, "disconnected")
    port = int(address.rpartition(":")[2])
    with stores.running(tmp_path, port=port):
        wait_until("the return", lambda: word.inner_text() == "live")
        wait_until("no error", lambda: at.page.locator(".error").is_hidden())
        at.close()


def test_a_target_that_went_silent_long_ago_can_still_be_seen(chromium, tmp_path: Path) -> None:
    end_ns = time.time_ns() - 50 * HOUR
    stores.simulate(tmp_path, 20 * MINUTE, stores.target(WORK), end_ns=end_ns)
    with stores.running(tmp_path) as (address, _):
        at = Visit(chromium, address, AT_WORK, viewport={"width": 1280, "height": 900}).drawn()
        assert at.page.locator(".card-word").inner_text() == "stopped"
        assert int(at.panel("data_read")["points"]) == 0
        at.page.get_by_role("button", name="Show the 10 min until then").click()
        wait_until("its points", lambda: int(at.panel("data_read")["points"]) >= 599)
        assert at.page.locator(".live-word").inner_text() == "paused"
        at.page.get_by_role("button", name="earlier").click()
        wait_until("the ten minutes before", lambda: int(at.panel("data_read")["learning"]) == 5)
        at.page.get_by_role("button", name="Resume").click()
        wait_until("now", lambda: int(at.panel("data_read")["points"]) == 0)
        assert at.complaints == []
        at.close()
