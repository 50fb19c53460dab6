"""Events come from files that a crash may have cut and anybody may have edited."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.engine.lines import MAX_LINE
from iosonde.model.errors import DamagedFileWarning
from iosonde.weather.events.log import read_events
from iosonde.weather.events.words import say_event
from tests.kit.commands import put, run
from tests.kit.samples.makers import SECOND, START, state

RUN = "6ab13b80deadbeef"
MINUTE = 60 * SECOND


def line(number=1, **changes):
    return {
        "schema_version": 1,
        "id": f"{RUN}-{number}",
        "kind": "hang",
        "host": "login2",
        "target": "/work",
        "op": "md_create",
        "began_ns": START - 10 * MINUTE,
        "ended_ns": None,
        "written_ns": START - 9 * MINUTE,
        "outcome": None,
        "attempts": 1,
        "evidence": {"state": "D", "wchan": "percpu_rwsem_wait", "stack": ["a", "b"], "pid": 7},
    } | changes


def closed(number=1, **changes):
    return line(number, ended_ns=START - 7 * MINUTE, outcome="ok", written_ns=START) | changes


def write(root, *lines, month="2026-09", end="\n"):
    path = root / "events" / "login2" / f"{month}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [text if isinstance(text, str) else json.dumps(text) for text in lines]
    path.write_text("\n".join(texts) + end)
    return path


def test_the_last_line_of_an_id_counts_also_over_months(tmp_path):
    write(tmp_path, closed(1), line(2), month="2026-10")
    write(tmp_path, line(1), line(3), month="2026-09")
    found = {event.id[-1]: event.outcome for event in read_events(tmp_path)}
    assert found == {"1": "ok", "2": None, "3": None}


def test_a_bad_line_is_named_and_costs_only_itself(tmp_path):
    bad = [
        "{",
        "[1]",
        "7",
        json.dumps(line(9, began_ns="x")),
        json.dumps(line(8, schema_version=2)),
    ]
    write(tmp_path, line(1), *bad, "", line(2))
    with pytest.warns(DamagedFileWarning) as told:
        found = read_events(tmp_path)
    assert [event.id[-1] for event in found] == ["1", "2"]
    texts = [str(warning.message) for warning in told]
    places = (
        "line 2: not JSON",
        "line 3: not a JSON",
        "line 5: began_ns",
    )
    assert all(any(f"2026-09.jsonl, {place}" in text for text in texts) for place in places)
    assert any("2026-09.jsonl has lines written by a newer iosonde" in text for text in texts)


def test_a_torn_last_line_is_no_trouble(tmp_path):
    write(tmp_path, line(1), json.dumps(line(2))[:50], end="")
    assert len(read_events(tmp_path)) == 1


def test_a_line_without_end_and_a_huge_one(tmp_path):
    write(tmp_path, line(1), "x" * (3 * MAX_LINE), line(2))
    with pytest.warns(DamagedFileWarning, match="line 2: longer than"):
        assert len(read_events(tmp_path)) == 2


def test_many_bad_lines_are_told_of_together(tmp_path):
    write(tmp_path, *["x"] * 100)
    with pytest.warns(DamagedFileWarning) as told:
        assert read_events(tmp_path) == []
    assert len(told) == 6
    assert "95 more" in str(told[-1].message)


def test_what_a_terminal_would_obey_is_gone(tmp_path):
    write(
        tmp_path,
        line(1, target="a\x1b[2J", evidence={"wchan": "w\n", "stack": [1, "\x07"], "pid": "x"}),
    )
    (event,) = read_events(tmp_path)
    assert event.target == "a?[2J"
    assert event.evidence == {"wchan": "w?", "stack": ["?"]}


@settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from([*line(), "x"]), inner, max_size=6)
                ),
                max_leaves=12,
            ).map(lambda value: json.dumps(value).encode()),
            st.sampled_from([*line()]).flatmap(
                lambda name: st.integers().map(lambda v: json.dumps(line(5, **{name: v})).encode())
            ),
        ),
        max_size=8,
    )
)
@pytest.mark.filterwarnings("ignore::iosonde.model.errors.DamagedFileWarning")
def test_nothing_in_a_file_costs_the_good_lines(tmp_path, noise):
    path = write(tmp_path, line(1))
    good = json.dumps(line(2)).encode()
    lines = [part.replace(b"\n", b" ") for part in noise]
    path.write_bytes(b"\n".join([json.dumps(line(1)).encode(), *lines, good, b""]))
    found = read_events(tmp_path)
    assert {f"{RUN}-1", f"{RUN}-2"} <= {event.id for event in found}
    for event in found:
        say_event(event, START, running=False)


@pytest.fixture
def store(tmp_path):
    write(
        tmp_path,
        closed(1, attempts=2),
        line(2, op="data_read", target="/home"),
        line(3, id="dead-3", kind="unreachable", op=None, evidence=None),
        line(4, kind="store_full", target=None, op=None, ended_ns=START - MINUTE, outcome="ok"),
        closed(5, began_ns=START - 9 * 86_400 * SECOND, ended_ns=START - 8 * 86_400 * SECOND),
        closed(6, outcome="EIO", began_ns=START - MINUTE, ended_ns=START - 30 * SECOND),
    )
    put(tmp_path, work=state(run_id=RUN))
    return tmp_path


@pytest.mark.usefixtures("utc", "now")
def test_the_table(store, capsys):
    assert run("events", store=store) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["began", "lasted", "what", "seen", "from", "ended", "evidence"]
    text = "\n".join(rows)
    assert len(rows) == 5, "what ended before --since is not shown"
    assert "creates on /work hung" in rows[0]
    assert "3 min" in rows[0]
    assert "waiting in percpu_rwsem_wait, 2 attempts" in rows[0]
    assert "still" in next(row for row in rows if "reads on /home hung" in row)
    gone = next(row for row in rows if "/work could not be reached" in row)
    assert "the probe ended first" in gone
    assert "over 60 s" in gone
    assert "the store on login2 had no room" in text
    assert "with EIO" in text


@pytest.mark.usefixtures("utc", "now")
def test_targets_and_ranges(store, capsys):
    assert run("events", "/home", "--format", "json", store=store) == 0
    found = json.loads(capsys.readouterr().out)
    assert [event["target"] for event in found["events"]] == ["/home"]
    assert found["events"][0]["sentence"].startswith("reads on /home hung from ")
    assert run("events", "--since", "-30d", "--format", "json", store=store) == 0
    assert len(json.loads(capsys.readouterr().out)["events"]) == 6
    assert run("events", "--until", "-30d", "--since", "-60d", store=store) == 0
    assert capsys.readouterr().out == "No events.\n"
    assert run("events", "/nowhere", store=store) == 2
    assert "no probe watches /nowhere; expected one of /home, /work" in capsys.readouterr().err


@pytest.mark.usefixtures("utc", "now")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_as_a_table_for_programs(store, tmp_path, ending):
    schema = tomllib.loads((Path(__file__).parents[3] / "schema/tables/events.toml").read_text())
    path = tmp_path / f"out.{ending}"
    assert run("events", "-o", str(path), store=store) == 0
    found = duckdb.sql(f"SELECT * FROM '{path}' ORDER BY id")
    assert found.columns == [column["name"] for column in schema["column"]]
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    by_id = {row["id"]: row for row in rows}
    assert by_id["dead-3"]["op"] is None
    assert by_id["dead-3"]["ended_ns"] is None
    assert json.loads(by_id[f"{RUN}-1"]["evidence"])["stack"] == ["a", "b"]


def test_where_nobody_looked_it_is_not_said_that_nothing_happened(tmp_path, capsys):
    for arguments in (["events"], ["events", "--recurring"]):
        assert run(*arguments, store=tmp_path / "no") == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "there are no samples in" in captured.err
    assert run("events", "--format", "parquet", store=tmp_path) == 2
    assert run("events", "--format", "csv", store=tmp_path) == 0
    assert capsys.readouterr().out.startswith("schema_version,id,kind")


def test_columns_of_the_schema_are_those_of_a_line():
    schema = tomllib.loads((Path(__file__).parents[3] / "schema/tables/events.toml").read_text())
    columns = schema["column"]
    names = [column["name"] for column in columns]
    assert names[: len(line())] == list(line())
    assert all(column.get("nullable") for column in columns[len(line()) :]), "agents have none"


def test_an_alarm_by_losses_does_not_speak_of_slowness(tmp_path):
    evidence = {"cause": "lost", "peak": 1.0, "peak_tail": 1.0}
    slow = {"cause": "lost", "peak": 1.0, "peak_tail": 9.0}
    write(tmp_path, line(1, kind="slow", slowdown=evidence), line(2, kind="slow", slowdown=slow))
    lossy, both = (say_event(event, START, running=True) for event in read_events(tmp_path))
    assert "creates on /work were late or missing" in lossy
    assert "1.0x" not in lossy
    assert "the slowest twentieth 9.0x (alarm by lost)" in both
