"""``iosonde report RUN``: one file with everything, from a generated system, a real run and imported ones."""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.locate.simulate import healthy, with_ost
from benchmarks.truth.locate.systems import ost, system
from iosonde.bench.bandwidth.spec import as_dict
from iosonde.bench.report.cautions import run_cautions
from iosonde.bench.report.repeat import repeat_command
from iosonde.bench.report.words import headline
from iosonde.bench.runs import store as runs
from iosonde.bench.runs.compare import compare
from iosonde.bench.runs.described import cut_short
from iosonde.bench.runs.host import PRESSED, QUEUED, host_waits, waited
from iosonde.bench.runs.words import say_comparison
from iosonde.cli.bench.bandwidth_options import parse, plan
from iosonde.model.runs import RunRow
from tests.kit.commands import run
from tests.kit.records import ior_made
from tests.kit.runs.driven import bandwidth, bench
from tests.kit.runs.made_runs import benchmark
from tests.kit.runs.stored_run import put_run, write_topology
from tests.kit.samples.makers import SECOND

GIB = 1 << 30


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    """A folder with a store and the page of a run on 112 OSTs, one of them slow."""
    folder, machine = tmp_path_factory.mktemp("report"), system(112)
    put_run(folder / "store", machine, with_ost(healthy(machine), np.array([17]), 0.55))
    topology = write_topology(machine, folder / "topology.csv")
    words = ("report", "made-run", "--topology", str(topology), "-o", str(folder / "run.html"))
    assert run(*words, store=folder / "store") == 0
    return folder


def text_of(page):
    """What a reader sees of a page."""
    plain = re.sub(r"<(style|svg).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", plain)).split())


def test_the_page_names_the_slow_component_and_the_four_numbers(vendor):
    text = text_of((vendor / "run.html").read_text())
    assert f"{ost(17)} is slow: its files took 1.8x" in text
    rows = [row for row in runs.read(vendor / "store") if row.phase == "write"]
    for name in ("sustained (fixed time)", "until the last rank (fixed data)", "tail costs"):
        assert name in text
    assert f"{100 * (rows[0].tail_loss or 0):.0f}%" in text
    for part in ("Cautions", "Parameters", "Machine and file system"):
        assert part in text


def test_the_page_needs_nothing_else(vendor):
    page = (vendor / "run.html").read_text()
    assert page.count("<!doctype html>") == 1
    assert "<script" not in page
    outside = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", outside)
    assert "url(http" not in outside
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids)) > 0
    assert page.count("<svg") == 2, "wide and narrow"


def test_the_pictures_of_the_seed_are_there(vendor):
    from iosonde.bench.report.content import run_page_content

    rows = runs.read(vendor / "store")
    topology = vendor / "topology.csv"
    found = run_page_content(vendor / "store", rows, topology, None, pytest.fail).components
    names = {pane.row for pane in found.sheet.panes if pane.n}
    assert {
        "time of a file, by rank",
        "time of a file, by OST",
        "reads beside writes",
        "aggregate rate",
        "rate of a server",
    } <= names


def test_names_from_outside_stay_text(tmp_path):
    (row, *_) = benchmark(run_id="hostile", target="<script>alert(1)</script>")
    row = replace(row, parameters={"<b>": "</td><img src=x>"}, machine={"file_system": "<i>"})
    runs.write(tmp_path, [row], 0)
    page = tmp_path / "page.html"
    assert run("report", "hostile", "-o", str(page), store=tmp_path) == 0
    text = page.read_text()
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_a_real_run_and_the_command_that_repeats_it(tmp_path, capsys):
    place, store, page = tmp_path / "work", tmp_path / "store", tmp_path / "run.html"
    place.mkdir()
    words = (place, "-n", 2, "-t", "64k", "-b", "1M", "-s", 3, "--layout", "strided", "-R", 2)
    words += ("--fsync", "each", "--order", "random", "--fault", "write@1:+1ms", "--reorder", 1)
    assert bandwidth(*words, "--verify", "--queue-depth", 1, store=store) == 0
    rows = runs.read(store)
    command = repeat_command(rows)
    assert command is not None
    head = shlex.split(command)[:3]
    again = plan(parse(shlex.split(command)[3:]), ["host"], 0)
    assert head == ["iosonde", "bench", "bandwidth"]
    recorded = {k: v for k, v in rows[0].parameters.items() if k not in ("ranks", "processes")}
    assert {k: v for k, v in as_dict(again.spec).items() if k != "faults"} == {
        k: v for k, v in recorded.items() if k != "faults"
    }
    assert list(again.spec.faults) == recorded["faults"]
    assert (again.threads, again.repetitions, again.place) == (2, 2, str(place))
    capsys.readouterr()
    assert run("report", rows[0].run_id[:14], "-o", str(page), store=store) == 0
    text = text_of(page.read_text())
    assert command in text
    assert "Faults were injected on purpose" in text
    assert "faults write@1:+1ms" in text
    assert "took" in text
    assert "less than" not in text


def test_an_imported_run_of_ior_has_its_page(tmp_path):
    source, page = tmp_path / "ior.txt", tmp_path / "run.html"
    source.write_text(ior_made.log("4.1.0"))
    assert run("import", str(source), store=tmp_path / "store") == 0
    (stored,) = runs.read_runs(tmp_path / "store")
    assert run("report", stored.run_id, "-o", str(page), store=tmp_path / "store") == 0
    text = text_of(page.read_text())
    assert "measured by ior" in text
    assert f"tail costs {100 * ior_made.LOSS:.0f}%" in text
    assert "ior -t" in text


def test_a_metadata_run_has_its_page(tmp_path):
    place, page = tmp_path / "work", tmp_path / "run.html"
    place.mkdir()
    assert bench(place, "-D", 1, "-P", 20, "-I", 5, "-R", 1, store=tmp_path / "store") == 0
    assert run("report", "metadata", "-o", str(page), store=tmp_path / "store") == 0
    text = text_of(page.read_text())
    assert "small reads" in text
    assert "iosonde bench metadata" in text


def test_what_is_no_run_is_refused_in_a_line(tmp_path, capsys):
    for name in ("one", "two"):
        runs.write(tmp_path, benchmark(run_id=f"bench-{name}"), 0)
    assert run("report", "bench", store=tmp_path) == 2
    assert "begins 2 runs" in capsys.readouterr().err
    assert run("report", "run:nothing", store=tmp_path) == 2
    assert run("report", "bench-one", "--since", "-2h", store=tmp_path) == 2
    assert "are for targets" in capsys.readouterr().err
    assert run("report", "--topology", "x.csv", store=tmp_path) == 2
    assert "page of a run" in capsys.readouterr().err


def row(**more):
    common = {"run_id": "r", "source": "iosonde", "instrument": "bandwidth", "host": "h"}
    common |= {"target": "/work", "backend": "posix", "pattern": "own", "phase": "write"}
    common |= {"ranks": 8, "ops": 10, "duration_ns": 9 * SECOND, "bytes": 16 * GIB}
    return RunRow(**(common | more))


def test_cautions_follow_from_what_is_stored():
    memory = {"memory_bytes": 64 * GIB, "machines": 1}
    assert "fit into its memory" in run_cautions([row(machine=memory)])[0]
    assert run_cautions([row(machine=memory, bytes=80 * GIB)]) == []
    assert run_cautions([row(machine=memory, parameters={"direct": True})]) == []
    assert "measures memory" in run_cautions([row(machine={"file_system": "tmpfs"})])[0]
    assert "weigh too much" in run_cautions([row(duration_ns=SECOND // 2)])[0]
    assert "processors" in run_cautions([row(machine={"cpu_share": 0.97})])[0]
    assert "not complete" in run_cautions([row(complete=False)])[0]
    assert run_cautions([row(complete=False, parameters={"limit_ns": 5})]) == []
    assert "3 operations ended with ENOSPC" in run_cautions([row(outcomes={"ENOSPC": 3})])[0]


@pytest.mark.parametrize(
    "words",
    [
        ("--pattern", "bulk", "--shared", "-n", "2", "-P", "7", "-S", "11", "--fsync"),
        ("-D", "2", "-P", "9", "-I", "4", "-O", "3", "-R", "2", "--order", "random", "--read-only"),
        ("-P", "5", "-I", "2", "--fault", "stat:+1ms", "--verify"),
    ],
)
def test_the_command_of_a_metadata_run_asks_for_the_same(tmp_path, words):
    place, store = tmp_path / "work", tmp_path / "store"
    place.mkdir()
    assert bench(place, *words, store=store) == 0
    rows = runs.read(store)
    command = shlex.split(repeat_command(rows) or "")
    assert command[:3] == ["iosonde", "bench", "metadata"]
    assert bench(*command[3:], store=store) == 0
    first, second = runs.read_runs(store)
    # Kept trees are none: the seed is part of the command, and all else is the same.
    assert first.rows[0].parameters == second.rows[0].parameters
    assert len(first.rows) == len(second.rows)


def test_a_busy_host_is_said_in_every_place():
    busy = row(machine={"cpu_queue_share": 0.68}, last_bytes_per_s=1e9)
    said, most = run_cautions([busy])[:2]
    assert said == (
        "This host was busy: ranks waited for a CPU 68% of the time in write 0; rates are not the storage's."
    )
    assert most == "Without that wait at most: write 0 2.91 GiB/s."
    assert all(len(text.split()) <= 25 for text in (said, most))
    assert headline([busy]).startswith("host busy: ")
    (summary,) = compare([busy])
    assert summary.waited == 0.68
    assert f"host busy, rates are not the storage's: {busy.run_id}" in say_comparison([summary])


@pytest.mark.parametrize(
    ("machine", "share"),
    [
        ({"cpu_queue_share": QUEUED}, QUEUED),
        ({"cpu_queue_share": 0.09, "cpu_pressure": 1.0}, None),
        ({"cpu_pressure": PRESSED}, PRESSED),
        ({"cpu_pressure": 0.4}, None),
        ({}, None),
    ],
)
def test_ranks_waits_count_and_else_those_of_the_host(machine, share):
    assert waited(machine) == share
    assert bool(host_waits([row(machine=machine)])) == (share is not None)


def test_the_end_at_a_limit_that_was_asked_for_is_no_cut():
    asked = {"parameters": {"limit_ns": SECOND}, "complete": False}
    assert not cut_short(row(duration_ns=SECOND, **asked))
    assert cut_short(row(duration_ns=SECOND // 2, **asked)), (
        "it ended before, so something stopped it"
    )
    assert cut_short(row(complete=False))
    (summary,) = compare([row(duration_ns=2 * SECOND, **asked)])
    assert summary.complete
