"""An agent's own id of an event leads to the event of samples that covers it."""

from __future__ import annotations

import json

import pytest

from iosonde.cli.main import main
from iosonde.jobs.blame.interval import BlameQuestion, span_of
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.weather.events.log import read_events
from iosonde.weather.events.named import is_event_id, named_event, pick
from iosonde.why.answers import why
from iosonde.why.question import WhyQuestion
from tests.kit.samples.makers import SECOND, START, simulated

HOUR = 3600
END = START + 10 * HOUR * SECOND
SLOW_S, HANG_S = 8 * HOUR, 9 * HOUR


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """Ten hours of a real agent on simulated storage: 15 min of slow reads, a hang; and its notes by kind."""
    root = tmp_path_factory.mktemp("noted")
    faults = (
        {"op": "data_read", "after": f"{SLOW_S}s", "for": "900s", "multiply": 6.0},
        {"op": "md_create", "after": f"{HANG_S}s", "for": "60s", "hang": True},
    )
    simulated(root, 10 * HOUR, *faults)
    # The first of each kind: the hang raises an alarm, too.
    events = {event.kind: event for event in reversed(read_events(root))}
    assert set(events) == {"slow", "hang"}
    return root, events


@pytest.mark.parametrize(("kind", "begin_s"), [("slow", SLOW_S), ("hang", HANG_S)])
def test_the_agents_id_is_answered(noted, kind, begin_s, capsys, monkeypatch):
    root, events = noted
    monkeypatch.setattr("time.time_ns", lambda: END)
    text = events[kind].id
    assert main(["why", text, "--no-model", "--json", "--store", str(root)]) == 0
    slow = json.loads(capsys.readouterr().out)["links"]["slowness"]["fact"]
    assert (slow["host"], slow["target"], slow["kind"]) == ("login2", "/work", kind)
    assert abs(slow["begin_ns"] - START - begin_s * SECOND) <= 60 * SECOND
    # The same question by the id that samples give, and by a time within.
    by_id = why(root, WhyQuestion(event=slow["event"], model=False), END).links.slowness.fact
    assert by_id.begin_ns == slow["begin_ns"]


def test_an_alarm_of_which_samples_show_nothing_is_said(noted):
    root, events = noted
    named = named_event(root, events["slow"].id)
    with pytest.raises(NothingMeasuredError, match="samples show nothing slow on /work"):
        pick([], named)


def test_an_id_that_no_agent_gave_is_refused(noted, capsys):
    root, events = noted
    unknown = f"{events['slow'].run_id}-999"
    assert main(["why", unknown, "--store", str(root)]) == 1
    assert f"there is no event {unknown}" in capsys.readouterr().err
    with pytest.raises(UsageError, match="is no event's id"):
        named_event(root, "/work")


def test_an_event_of_the_store_has_no_target(tmp_path):
    line = {
        **{"schema_version": 1, "id": "6ab13b80be4b8891-4", "kind": "store_full", "host": "n1"},
        **{"began_ns": START, "ended_ns": None, "written_ns": START, "target": None},
    }
    path = tmp_path / "events" / "n1" / "2026-09.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(UsageError, match="about the store, not about a target"):
        named_event(tmp_path, "6ab13b80be4b8891-4")


@pytest.mark.parametrize(
    ("text", "is_id"),
    [
        ("6ab13b80be4b8891-4", True),
        ("login1:/work:slow-1788220800000000000", True),
        ("/work", False),
        ("/work-2", False),
        ("nfs1:/export", False),
    ],
)
def test_ids_and_targets_differ(tmp_path, text, is_id):
    assert is_event_id(tmp_path, text) is is_id


@pytest.mark.parametrize("kind", ["slow", "hang"])
def test_blame_takes_the_agents_id(noted, kind):
    root, events = noted
    of_agent = span_of(root, BlameQuestion(events[kind].id), END)
    assert of_agent.event is not None
    assert of_agent.event.kind == kind
    assert of_agent.event_id is not None
    assert span_of(root, BlameQuestion(of_agent.event_id), END) == of_agent
