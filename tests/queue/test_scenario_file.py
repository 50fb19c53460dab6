"""Scenario files: errors name file, line and field; nothing wrong gets through."""

from __future__ import annotations

import re

import pytest

from iosonde.model.errors import UsageError
from iosonde.queue.scenario_file import read_scenario

GOOD = """\
ticks = 1000
order = "random"

[storage]
service_ticks = 4
queue = 5

[storage.cache]
writes = 10
high = 8
low = 2

[[process]]
pattern = [10, 2, 10, 3]
count = 2

[[process]]
name = "writer"
pattern = [0, 0, 0, 100]

[[arrivals]]
op = "read"
times = "regular"
every_ticks = 50
"""


def read(tmp_path, text, settings=()):
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    return read_scenario(path, settings)


def test_a_whole_file_is_read(tmp_path):
    made = read(tmp_path, GOOD)
    assert [client.name for client in made.clients] == ["P1", "P2", "writer", "stream 4"]
    assert made.storage.cache is not None
    assert made.storage.cache.high == 8


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("queue = 5", "queue = 0", 6, "storage.queue = 0"),
        ("queue = 5", "queue = true", 6, "storage.queue = True"),
        ("queue = 5", 'queue = "long"', 6, "storage.queue = 'long'"),
        ("queue = 5\n", "", 4, "storage.queue is missing"),
        ("service_ticks = 4", "service_ticks = 0.5", 5, "storage.service_ticks = 0.5"),
        ("service_ticks = 4", "service_ticks = inf", 5, "storage.service_ticks = inf"),
        ("service_ticks = 4", "service_ticks = 4.5", 5, "storage.service_ticks = 4.5"),
        ("high = 8", "high = 11", 10, "storage.cache.high = 11"),
        ("low = 2", "low = 8", 11, "storage.cache.low = 8"),
        ('"random"', '"shuffled"', 2, "order = 'shuffled'"),
        ("ticks = 1000", "ticks = -1", 1, "ticks = -1"),
        ("count = 2", "cuont = 2", 15, "process 1.cuont = 2"),
        ("[0, 0, 0, 100]", "[0, 0, 0, 0]", 19, "process 2.pattern = [0, 0, 0, 0]"),
        ("[0, 0, 0, 100]", "[0, 0, 100]", 19, "process 2.pattern = [0, 0, 100]"),
        ("[0, 0, 0, 100]", "[0, 0, 0, -1]", 19, "process 2.pattern = [0, 0, 0, -1]"),
        ('op = "read"', 'op = "stat"', 22, "arrivals 1.op = 'stat'"),
        ("every_ticks = 50", "every_ticks = 0", 24, "arrivals 1.every_ticks = 0"),
        ("every_ticks = 50\n", "", 21, "arrivals 1.every_ticks is missing"),
    ],
)
def test_an_error_names_line_and_field(tmp_path, old, new, line, field):
    assert old in GOOD
    with pytest.raises(UsageError) as error:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert f"scenario.toml: line {line}: {field}" in str(error.value)
    assert "expected" in str(error.value)


@pytest.mark.parametrize("text", ["ticks = ", "\x00", "ticks = 1\nticks = 2", "[" * 5000])
def test_what_is_no_toml_is_said(tmp_path, text):
    with pytest.raises(UsageError, match="not TOML"):
        read(tmp_path, text)


def test_no_client_and_too_many_are_said(tmp_path):
    with pytest.raises(UsageError, match="process is missing"):
        read(tmp_path, re.sub(r"\[\[process\]\][\s\S]*", "", GOOD))
    with pytest.raises(UsageError, match=r"process 1\.count = 20000"):
        read(tmp_path, GOOD.replace("count = 2", "count = 20000"))


def test_traces_of_endless_length_are_refused(tmp_path):
    text = GOOD.replace("ticks = 1000", "ticks = 100000000\nbin_ticks = 1", 1)
    with pytest.raises(UsageError, match=r"line 2: bin_ticks = 1; expected at most 20 million"):
        read(tmp_path, text)


def test_settings_replace_fields(tmp_path):
    settings = [("storage.queue", "unlimited"), ("process.2.pattern", [1, 2, 3, 4]), ("seed", 9)]
    made = read(tmp_path, GOOD, settings)
    assert (made.storage.queue, made.seed) == (None, 9)
    assert made.clients[2].pattern == (1, 2, 3, 4)
    for name in ("storage.length", "process.3.pattern", "process.pattern", "nothing.at.all"):
        with pytest.raises(UsageError):
            read(tmp_path, GOOD, [(name, 5)])
