from __future__ import annotations

import errno
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde._core import read_state
from iosonde.engine.states import MAX_BYTES, read_states
from iosonde.weather.slowdown.findings import from_state
from iosonde.weather.slowdown.words import say
from tests.kit.samples.makers import START, state


def write(root, text, name="work.json"):
    path = root / "state" / "login2" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_good_state_comes_through(tmp_path):
    write(tmp_path, json.dumps(state(notes=["O_DIRECT"])))
    (found,) = read_states(tmp_path)
    told = [{k: v for k, v in op.items() if k not in ("breaker", "wchan")} for op in found["ops"]]
    assert told == state()["ops"]
    assert (found["slug"], found["error"], found["notes"]) == ("work", None, ["O_DIRECT"])


def test_what_a_target_is_probed_with_is_read_and_an_older_state_does_not_say(tmp_path):
    told = {
        "boot_id": "b",
        "backend": "posix",
        "direct": "auto",
        "access": "direct",
        "pool": 1000,
        "object_bytes": 3901,
        "block_bytes": 1 << 20,
        "file_bytes": 1 << 30,
    }
    limits = {
        "budget": {"bytes_per_s": None, "ops_per_s": 7.5, "cpu_ns_per_s": None},
        "keep": {
            "max_age_ns": 1,
            "max_bytes": None,
            "min_free_bytes": 2,
            "windows_max_age_ns": None,
        },
    }
    component = {"name": "OST0003", "of": "/work", "pin": {"ost": 3}}
    write(tmp_path, json.dumps(state(**told, **limits, component=component)), "new.json")
    write(tmp_path, json.dumps(state(target="x")), "old.json")
    new, old = read_states(tmp_path)
    assert {name: new[name] for name in told | limits} == told | limits
    assert {old[name] for name in (*told, *limits, "component")} == {None}
    assert new["component"] == {"name": "OST0003", "of": "/work", "kind": "ost", "index": 3}
    pins = {"directory": (None, None), "ost": (None, None), 7: (None, None)}
    for pin, expected in (*pins.items(), (None, (None, None))):
        write(tmp_path, json.dumps(state(component=component | {"pin": pin})), "new.json")
        found = read_states(tmp_path)[0]["component"]
        assert (found["kind"], found["index"]) == expected
    for broken in ("x", [], {}, {"name": "a"}, {"name": 1, "of": "b"}):
        write(tmp_path, json.dumps(state(component=broken, keep=broken and [1])), "new.json")
        assert read_states(tmp_path)[0]["component"] is None


def test_no_folder_is_no_states(tmp_path):
    assert read_states(tmp_path / "no") == []


def test_drafts_and_other_files_are_no_states(tmp_path):
    write(tmp_path, "x", ".work.json")
    write(tmp_path, "x", "work.baseline")
    assert read_states(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff\xfe",
        json.dumps(state())[:200],
        json.dumps(state(schema_version=2)),
        json.dumps(state(written_ns="yesterday")),
        json.dumps(state(host=None)),
        "[" * 100_000,
        " " * (MAX_BYTES + 1),
        json.dumps(state(written_ns=10**30)),
        json.dumps(state()).replace('"slowdown": 1.1', '"slowdown": NaN'),
        json.dumps(state()).replace('"slowdown": 1.1', '"slowdown": 1e999'),
    ],
)
def test_a_bad_state_is_reported_and_hides_no_other(tmp_path, text):
    write(tmp_path, text, "bad.json")
    write(tmp_path, json.dumps(state()), "work.json")
    by_name = {found["target"]: found for found in read_states(tmp_path)}
    assert by_name["bad"]["state"] == "damaged"
    assert "bad.json" in by_name["bad"]["error"]
    assert by_name["/work"]["state"] == "ok"


def test_terminal_commands_in_names_are_defused(tmp_path):
    write(tmp_path, json.dumps(state(target="/w\x1b[2Jork", notes=["a\nb"])))
    (found,) = read_states(tmp_path)
    assert (found["target"], found["notes"]) == ("/w?[2Jork", ["a?b"])


def test_numbers_that_are_none_become_none(tmp_path):
    text = json.dumps(state()).replace('"slowdown": 1.1', '"slowdown": "1.1"')
    text = text.replace('"baseline_ns": 1000000.0', '"baseline_ns": [1]')
    write(tmp_path, text.replace('"n_due": 60', '"n_due": "many"'))
    op = read_states(tmp_path)[0]["ops"][0]
    assert (op["slowdown"], op["baseline_ns"], op["n_due"]) == (None, None, 0)


def test_a_state_that_vanishes_is_none(tmp_path):
    assert read_state(tmp_path / "gone.json") is None


def test_an_unreadable_state_is_reported(tmp_path):
    """A link to itself: root cannot read that either."""
    path = write(tmp_path, json.dumps(state()))
    path.unlink()
    path.symlink_to(path)
    (found,) = read_states(tmp_path)
    assert found["state"] == "damaged"
    assert os.strerror(errno.ELOOP) in found["error"]


words = st.text(st.sampled_from("aé|'\x1b\n\0/"), max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_any_mutilated_state_has_a_verdict_and_a_sentence(tmp_path_factory, data):
    mutilated = state()
    for name in data.draw(st.lists(st.sampled_from(sorted(mutilated)), max_size=3)):
        mutilated[name] = data.draw(json_values)
    ops = mutilated["ops"]
    first = ops[0] if isinstance(ops, list) and ops else None
    if isinstance(first, dict) and first:
        for name in data.draw(st.lists(st.sampled_from(sorted(first)), max_size=4)):
            first[name] = data.draw(json_values)
    path = tmp_path_factory.mktemp("states") / "work.json"
    path.write_text(json.dumps(mutilated))
    found = read_state(path)
    assert found is not None
    sentence = say(from_state(found, START))
    assert sentence.isprintable()
    assert sentence


def test_what_is_known_of_a_stuck_operation_is_kept_and_hostile_text_is_not_obeyed(tmp_path):
    told = state()
    told["health"] = [{"breaker": "open", "evidence": {"wchan": "rwsem\x1b[2J"}}, "nonsense"]
    path = tmp_path / "work.json"
    path.write_text(json.dumps(told))
    ops = read_state(path)["ops"]
    assert (ops[0]["breaker"], ops[0]["wchan"]) == ("open", "rwsem?[2J")
    assert ops[1]["breaker"] is None
