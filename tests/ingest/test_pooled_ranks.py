"""Ranks of a run: what people see of them together, phase by phase, and no card of each."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.kit.commands import run
from tests.kit.samples.latencies import gathered
from tests.kit.samples.makers import SECOND, simulated

RANKS, EACH = 12, 30
TOOK_S = {"precreate": 0.002, "create": 0.010, "stat": 0.001, "cleanup": 0.004}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Twelve ranks whose operations take 90 to 110% of the phase's time, evenly."""
    folder = tmp_path_factory.mktemp("ranks")
    rows = []
    for place, (op, took) in enumerate(TOOK_S.items()):
        for rank in range(RANKS):
            spread = 0.9 + 0.2 * (np.arange(EACH) * RANKS + rank) / (RANKS * EACH - 1)
            rows += [(op, rank, place + k * took, took * s) for k, s in enumerate(spread.tolist())]
    words = ("--target", "/work", "--host", "n", "--started", "2026-09-21T14:13:20")
    path = gathered(folder / "mdw.csv", rows)
    assert run("import", str(path), *words, store=folder / "store") == 0
    return folder / "store"


def sheet(store, tmp_path, *words):
    path = tmp_path / "sheet.json"
    assert run("figure", *words, "-o", str(path), store=store) == 0
    return json.loads(path.read_text())


def test_a_figure_has_the_statistics_of_each_phase(store, tmp_path):
    found = sheet(store, tmp_path, "statistics", "--run", "mdw")
    assert found["title"] == "Phases of a run: mdw"
    panes = {pane["row"]: pane["marks"][0] for pane in found["panes"]}
    assert {row: mark["categories"] for row, mark in panes.items()} == {
        "creates": ["precreate", "i0"],
        "stats": ["i0"],
        "deletes": ["cleanup"],
    }
    assert panes["creates"]["n"] == [RANKS * EACH] * 2
    assert panes["creates"]["q50"] == pytest.approx([0.002, 0.010], rel=0.002)
    assert panes["creates"]["q25"] == pytest.approx([0.0019, 0.0095], rel=0.002)
    assert panes["deletes"]["q75"] == pytest.approx([0.0042], rel=0.002)


def test_the_table_and_the_json_have_the_same_statistics(store, capsys):
    assert run("runs", "mdw", "--format", "json", store=store) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    whole = {(r["phase"], r["op"]): r for r in rows if r["rank"] is None and r["op"]}
    assert {key: row["ops"] for key, row in whole.items()} == {
        ("precreate", "md_create"): RANKS * EACH,
        ("benchmark", "md_create"): RANKS * EACH,
        ("benchmark", "md_stat"): RANKS * EACH,
        ("cleanup", "md_delete"): RANKS * EACH,
    }
    assert whole["precreate", "md_create"]["q50_ns"] == pytest.approx(2e6, rel=0.002)
    assert run("runs", "mdw", store=store) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if " create " in line] == [
        "precreate",
        "benchmark",
    ]


def test_points_of_a_run_have_a_column_a_phase(store, tmp_path):
    found = sheet(store, tmp_path, "points", "--run", "mdw")
    assert sorted(found["columns"]) == ["cleanup", "i0", "precreate"]
    assert {pane["n"] for pane in found["panes"]} == {RANKS * EACH}


def test_one_rank_of_a_run_can_still_be_asked_for(store, tmp_path):
    found = sheet(store, tmp_path, "statistics", "--run", "mdw", "--host", "n.rank0003")
    assert {n for pane in found["panes"] for n in pane["marks"][0]["n"]} == {EACH}


def test_slowdown_has_a_line_for_all_ranks_and_a_card_for_a_probe(store, tmp_path, capsys):
    assert run("slowdown", store=store) == 0
    out = capsys.readouterr().out
    assert "/work as seen from 12 ranks of n: no slowdown" in out
    assert "rank0003" not in out
    assert run("slowdown", "--host", "n.rank0003", store=store) == 0
    assert "/work as seen from n.rank0003" in capsys.readouterr().out


def test_a_report_has_a_card_for_a_probe_and_none_for_ranks(store, tmp_path, capsys):
    page = tmp_path / "report.html"
    span = ("--since", "2026-09-21T00:00", "--until", "2026-09-22T00:00")
    assert run("report", *span, "-o", str(page), store=store) == 1
    assert "'iosonde runs'" in capsys.readouterr().err
    both = tmp_path / "both"
    simulated(both, 900)
    path = gathered(tmp_path / "g.csv", [("stat", rank, 0.1, 0.01) for rank in range(RANKS)])
    words = ("--host", "n", "--target", "/bench", "--started", "2026-09-21T14:13:20")
    assert run("import", str(path), *words, store=both) == 0
    assert run("report", *span, "-o", str(page), store=both) == 0
    text = page.read_text()
    assert "as seen from login2" in text
    assert ".rank00" not in text


def test_a_measured_run_has_the_same_phases(tmp_path):
    root, place = tmp_path / "store", tmp_path / "tree"
    place.mkdir()
    words = ("-n", "2", "-P", "30", "-I", "10", "-D", "1", "-R", "1", "--samples")
    assert run("bench", "metadata", str(place), *words, store=root) == 0
    found = sheet(root, tmp_path, "statistics", "--run", "metadata")
    creates = next(pane for pane in found["panes"] if pane["row"] == "creates")
    assert creates["marks"][0]["categories"] == ["precreate", "benchmark"]
    assert creates["marks"][0]["n"] == [60, 20]
    assert SECOND > creates["marks"][0]["q50"][0] > 0
