"""What folders hold beside data: programs that quote it, deep trees, logs of old versions, and impossible times."""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC

import pytest

from iosonde.connectors.source import Settings
from iosonde.connectors.tables.mapping_toml import load_mapping
from iosonde.ingest.answers import Question, import_files
from iosonde.ingest.recognise import recognise
from tests.connectors.lustre.test_lctl_get_param import T0, text
from tests.kit.records.peers import MDTEST
from tests.kit.samples.makers import SECOND

NOW = (T0 + 86400) * SECOND
GO = "package main\n\nconst sample = `\n" + text(T0, 1) + "`\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gpfs_test.go", GO),
        ("mmperfmon.py", '"""\n' + text(T0, 1) + '"""\n'),
        ("README.md", MDTEST),
        ("record", "#!/bin/sh\ncat <<EOF\n" + MDTEST + "EOF\n"),
        ("mdtest.1", ".TH mdtest 1\n" + MDTEST),
    ],
)
def test_programs_and_manuals_of_a_folder_are_no_data(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    found = recognise([tmp_path])
    assert found.found == []
    assert [(str(one.place), one.why) for one in found.unknown] == [
        (name, "source or manual of a program; named alone it is read")
    ]


def test_named_alone_a_file_is_read_whatever_it_is_called(tmp_path):
    path = tmp_path / "output.md"
    path.write_text(MDTEST)
    assert [one.KIND for _, one in recognise([path]).found] == ["text of mdtest"]


def test_trees_at_any_depth_with_files_beside_them(tmp_path):
    deep = tmp_path / "archive" / "2026" / "11" / "23" / "oss1"
    place = deep / "proc" / "fs" / "lustre" / "obdfilter" / "work-OST0000"
    place.mkdir(parents=True)
    (place / "num_exports").write_text("3\n")
    (deep / "mdtest.txt").write_text(MDTEST)
    found = recognise([tmp_path])
    assert [one.KIND for _, one in found.found] == ["Lustre /proc", "text of mdtest"]
    assert found.unknown == []
    done = import_files(tmp_path / "store", Question([tmp_path / "archive"]), NOW)
    assert [one.samples for one in done.files] == [1]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("begin", [b"2.06\0\0\0\0", b"1.21\0\0\0\0"])
def test_old_logs_of_darshan_are_called_so(tmp_path, packed, begin):
    data = begin + bytes(range(256)) * 9
    path = tmp_path / "a.darshan"
    path.write_bytes(gzip.compress(data) if packed else data)
    (error,) = recognise([path]).refused
    version = begin[:4].decode()
    assert f"a.darshan is a log of Darshan {version}, which is not read" in str(error)
    (unknown,) = recognise([tmp_path]).unknown
    assert unknown.why.startswith(f"is a log of Darshan {version}, which is not read")


def test_hundreds_of_foreign_files_are_refused_quickly(tmp_path):
    """374 files of an archive of JSON took 12.5 s of CPU."""
    whole = {"clusters": [{"name": "x", "of": [{"a": i, "b": "text"} for i in range(200)]}]}
    for n in range(374):
        content = json.dumps(whole, indent=1 if n % 2 else None) if n % 3 else f"notes {n}\n" * 99
        (tmp_path / f"{n}").write_text(content)
    recognise([tmp_path / "1"])  # what is loaded on demand
    began = time.process_time()
    found = recognise([tmp_path])
    took = time.process_time() - began
    assert (len(found.found), len(found.unknown)) == (0, 374)
    assert took < 4, f"{took:.1f} s; about 1.5 s on an idle processor"


MAPPING = """
[table]
name = "ours"
zone = "UTC"
[job]
job_id = "id"
begin = { column = "begin", unit = "text" }
end = { column = "end", unit = "text" }
[metrics]
performance_bytes_per_s = "rate"
"""
ROWS = """id,begin,end,rate,rate
1,2026-09-01T10:00:00,2026-09-01T11:00:00,5,6
2,2026-09-02T10:00:00,2026-09-02T09:00:00,5,6
3,2055-09-02T10:00:00,2055-09-02T11:00:00,5,6
"""


def test_times_and_columns_that_cannot_be_are_told(tmp_path):
    (tmp_path / "m.toml").write_text(MAPPING)
    (tmp_path / "jobs.csv").write_text(ROWS)
    done = import_files(
        tmp_path / "store",
        Question([tmp_path / "jobs.csv"], Settings(zone=UTC), [load_mapping(tmp_path / "m.toml")]),
        NOW,
    )
    (one,) = done.files
    assert one.jobs == 3
    assert "times that are still to come, taken as written: job 3" in one.remarks
    (skew,) = one.examples["clock-skew"]
    assert "column end, first in line 3: ends before it begins" in skew
    (twice,) = one.examples["duplicate"]
    assert "column rate, first of 2 with this name in line 1: the others are rate_2" in twice
