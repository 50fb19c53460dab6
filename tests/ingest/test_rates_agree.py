"""Counts, times and rates of imported runs agree, or a flag says that the file contradicts itself."""

from __future__ import annotations

from datetime import UTC

import pytest

from iosonde.bench.runs import store as runs
from iosonde.connectors.benchmarks.flags import DIFFERS
from iosonde.connectors.source import Settings
from iosonde.ingest.answers import Question, import_files
from tests.connectors.test_mdtest_counts import EARLIER, text
from tests.kit.records import ior_made as made
from tests.kit.records.peers import TEXT_2017
from tests.kit.samples.latencies import DATA, MEASURING
from tests.kit.samples.makers import SECOND, START

NOW = START + 1000 * SECOND


def imported(root, *paths):
    return import_files(root, Question(list(paths), Settings(zone=UTC)), NOW)


def contradictions(rows):
    """Rows whose numbers do not fit each other, and that no flag names."""
    return [
        (row.run_id, row.phase, row.op, row.rank, row.ops, row.duration_ns, row.rate_per_s)
        for row in rows
        if row.ops and row.duration_ns and row.rate_per_s
        and abs(row.ops / (row.duration_ns / 1e9) / row.rate_per_s - 1) > DIFFERS
    ]  # fmt: skip


@pytest.mark.skipif(not MEASURING.is_dir(), reason=f"no texts in {DATA} (IOSONDE_DATA)")
def test_every_real_text_of_mdtest_and_ior(tmp_path):
    done = imported(tmp_path, MEASURING)
    rows = runs.read(tmp_path)
    assert {"mdtest", "ior", "io500"} <= {row.source for row in rows}
    assert contradictions(rows) == []
    moved = [row for row in rows if row.bytes and row.duration_ns and row.last_bytes_per_s]
    assert moved
    for row in moved:
        assert row.bytes / row.duration_ns * 1e9 == pytest.approx(row.last_bytes_per_s, rel=DIFFERS)
    # What the result says of a phase and what its own text says agree, too.
    assert not [line for line in done.remarks if "different rates" in line or "longer" in line]


def test_a_rate_of_a_text_that_contradicts_its_count(tmp_path):
    (tmp_path / "x").mkdir()
    path = tmp_path / "x" / "planned.txt"
    path.write_text(text("stat", 2000, 10, options=""))
    done = imported(tmp_path / "store", path)
    assert done.errors == []
    (line,) = [line for line in done.remarks if "rate times time" in line]
    assert line.startswith("planned.txt: stat 0: the count")
    assert contradictions(runs.read(tmp_path / "store")) == []


def test_a_rate_that_is_not_operations_over_time(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text(TEXT_2017.replace("4.0s 200.0 iops/s", "4.0s 900.0 iops/s"))
    done = imported(tmp_path / "store", path)
    assert "old.txt: benchmark 0: the rate is not operations over time" in done.remarks[0]
    rows = [row for row in runs.read(tmp_path / "store") if row.phase == "benchmark"]
    row = next(row for row in rows if row.op is None and row.repetition == 0)
    assert row.rate_per_s == pytest.approx(row.ops / 4.0)
    assert row.parameters["reported"]["printed_rate_per_s"] == 900
    assert contradictions(rows) == []


def test_a_result_that_its_texts_contradict(tmp_path):
    """The result of this IO500 run: 5 kIOPS in 6 s (made.RESULT); its text: another rate, and a longer time."""
    folder = tmp_path / "io500"
    folder.mkdir()
    (folder / "result.txt").write_text(made.RESULT)
    (folder / "mdtest-easy-write.txt").write_text(text("creation", 2000, 10, EARLIER))
    done = imported(tmp_path / "store", folder)
    (row,) = [
        row
        for row in runs.read(tmp_path / "store")
        if row.phase == "mdtest-easy-write" and row.op is None
    ]
    assert row.parameters["reported"]["flags"] == ["longer-than-phase", "score-differs"]
    assert (row.ops, row.rate_per_s, row.duration_ns) == (20_000, 2000, 10 * SECOND)
    told = [line for line in done.remarks if "mdtest-easy-write 0: the " in line]
    assert len(told) == 2
    assert "io500 mdtest-easy-write 0: the result and the phase's own text" in told[1]
