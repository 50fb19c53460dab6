"""iosonde climate: words, data and pictures, and what people type."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from iosonde.jobs.climate.climate import climate
from iosonde.jobs.climate.figure import ClimateFigure, climate_figure, to_json
from iosonde.jobs.climate.render import draw_climate, save_climate
from iosonde.jobs.climate.validation import Validated
from iosonde.jobs.climate.words import say_climate
from iosonde.jobs.climate.worth_words import say_validation
from iosonde.jobs.store.jobs import write_jobs
from iosonde.model.errors import UsageError
from iosonde.model.jobs import Job, JobTable, Scalar
from tests.kit.commands import run
from tests.kit.jobs.climates_made import together
from tests.kit.jobs.jobs_made import START_S, table

MAPPING = """
[job]
job_id = "job_id"
file_system = "file_system"
begin = { column = "start_ns", unit = "ns" }
[[motif]]
column = "motif"
[metrics]
fraction_of_peak_ratio = "fraction_of_peak_ratio"
"""


def write(made: JobTable, path: Path, **renamed: str) -> Path:
    """A table with columns by their own names."""
    texts = ("job_id", "file_system", "motif")
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*texts, "start_ns", "end_ns", *made.metrics])
        columns = [getattr(made, name).tolist() for name in texts]
        columns += [made.start_ns.tolist(), made.end_ns.tolist()]
        columns += [column.tolist() for column in made.metrics.values()]
        out.writerows(zip(*columns, strict=True))
    return path


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(together(), tmp_path_factory.mktemp("climate") / "jobs.csv")


def test_people_get_changes_events_and_climates(jobs: Path, capsys: pytest.CaptureFixture[str]):
    assert run("climate", str(jobs)) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 lasting changes in 5 series\n")
    assert (
        len(
            re.findall(r"^2027-03-1\d  2027-03-\d\d \.\. 2027-03-\d\d  (one|two|three) ", out, re.M)
        )
        == 3
    )
    assert re.search(
        r"^- in March 2027 ior shared read fell to 0\.6\d-0\.\d+x on all 3 file systems", out, re.M
    )
    assert "Climates:\n- one, three and two: too few motifs and metrics to tell climates\n" in out


@pytest.mark.parametrize("columns", [60, 80])
def test_sentences_are_as_wide_as_the_terminal(
    jobs: Path, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run("climate", str(jobs)) == 0
    told = [
        line for line in capsys.readouterr().out.splitlines() if not re.match("date|2027", line)
    ]
    assert max(map(len, told)) <= columns
    assert any(len(line) > columns - 20 for line in told)
    assert "  " not in " ".join(line.lstrip("- ") for line in told if line)
    assert run("climate", str(jobs), "--on", "2027-03-10") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


def test_what_a_table_lacks_is_told_once_and_last(
    jobs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    lines = jobs.read_text().splitlines()
    for row in (5, 6):
        lines[row] = lines[row].replace(lines[row].split(",")[1], "", 1)
    (tmp_path / "some.csv").write_text("\n".join([*lines, "1,2"]) + "\n")
    monkeypatch.setattr("sys.stderr", sys.stdout)
    mapping = tmp_path / "m.toml"
    mapping.write_text(MAPPING)
    arguments = (str(tmp_path / "some.csv"), "--mapping", str(mapping))
    for command in ("climate", "jobs", "correlate"):
        assert run(command, *arguments) == 0
        out = capfd.readouterr().out.splitlines()
        notes = [place for place, line in enumerate(out) if line.startswith("note: ")]
        assert notes == list(range(len(out) - len(notes), len(out))), out
        assert len([line for line in out if "no file system" in line and "left" in line]) == 1
        assert "note: some.csv: 2 left out: no file system" in out
        assert not any("incomplete" in line for line in out)
        assert any(line.startswith("note: left out: ") and "2 fields" in line for line in out)


def test_one_is_not_many():
    found = climate(together())
    assert say_climate(found) == "3 lasting changes in 5 series"
    (change, *_), (one, *_) = found.changes, found.series
    single = replace(found, series=(replace(one, changes=(change,)),), too_short=(("a", "b"),))
    assert say_climate(single) == "1 lasting change in 1 series; 1 series has too few runs"
    assert climate_figure(single).title.endswith("runs, 1 lasting change")
    assert say_validation(Validated("one", 1, (), None)) == [
        "one: 1 run is too few to validate a prediction"
    ]


def test_a_date_is_asked_for(jobs: Path, capsys: pytest.CaptureFixture[str]):
    assert run("climate", str(jobs), "--on", "2027-03-10") == 0
    out = capsys.readouterr().out
    assert "ior shared read fell" in out
    assert "2 series have runs before and after it and did not change" in out
    assert run("climate", str(jobs), "--on", "2026-12-24") == 0
    assert "no lasting change on 2026-12-24" in capsys.readouterr().out
    assert run("climate", str(jobs), "--on", "1999-12-24") == 0
    out = capsys.readouterr().out
    assert out.startswith("no answer for 1999-12-24: every series has too few runs")
    assert run("climate", str(jobs), "--format", "csv") == 0
    head, *rows = capsys.readouterr().out.splitlines()
    place = head.split(",").index("gradual")
    assert {row.split(",")[place] for row in rows} <= {"true", "false"}


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
def test_the_date_asked_for_is_one_in_utc(
    jobs: Path, zone: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert run("climate", str(jobs), "--on", "2026-12-24") == 0
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "on 2026-12-24" in capsys.readouterr().out


def test_programs_get_everything(jobs: Path, capsys: pytest.CaptureFixture[str]):
    assert run("climate", str(jobs), "--format", "json", "--on", "2027-03-10", "--validate") == 0
    data = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert data["schema_version"] == 1
    assert [len(one["segments"]) for one in data["series"]].count(2) == 3
    (event,) = data["events"]
    assert event["asked"] == 5
    change = event["changes"][0]
    assert change["earliest_ns"] < change["at_ns"] <= change["latest_ns"]
    assert change["ratio"] == pytest.approx(change["after"] / change["before"])
    assert {one["file_system"] for one in data["validation"]} == {"one", "two", "three"}
    assert data["on"]["steady"]
    segment = data["series"][0]["segments"][0]
    assert segment["of_own_peak_ratio"] == pytest.approx(segment["median"] / segment["peak"])


def test_csv_has_a_row_a_change(jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run("climate", str(jobs), "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["motif"] for row in rows] == ["ior shared read"] * 3
    assert all(float(row["q"]) < 0.01 for row in rows)
    assert (
        run("climate", str(jobs), "-o", str(tmp_path / "c.csv"), "--motif", "hacc fpp write") == 0
    )
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 1  # the header alone


def test_jobs_of_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = together(days=200, seed=2)
    fraction = made.metrics["fraction_of_peak_ratio"]

    def job(row: int) -> Job:
        app, mode, direction = str(made.motif[row]).split()
        scalar = Scalar(float(fraction[row]) * 1e10, "bytes/s", "made")
        return Job(
            source="made",
            job_id=str(row),
            app=app,
            mode="shared" if mode == "shared" else "fpp",
            direction="read" if direction == "read" else "write",
            file_system=str(made.file_system[row]),
            start_ns=int(made.start_ns[row]),
            end_ns=int(made.end_ns[row]),
            scalars={"performance_bytes_per_s": scalar},
        )

    write_jobs(tmp_path, [job(row) for row in range(len(made))])
    assert run("climate", store=tmp_path) == 0
    assert "3 lasting changes in 5 series" in capsys.readouterr().out


def test_several_tables_are_one(jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = together()
    early = made.start_ns < (START_S + 100 * 86_400) * 10**9
    parts = [
        write(made.take(rows), tmp_path / f"{n}.csv") for n, rows in enumerate((early, ~early))
    ]
    assert run("climate", *map(str, parts), str(jobs)) == 0
    assert capsys.readouterr().out.startswith("3 lasting changes in 5 series\n")


def test_motifs_are_clustered(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rng = np.random.default_rng(1)
    made = together()
    whole = np.where(made.motif == "hacc fpp write", 1e12, 1e6)
    noise = np.exp(0.2 * rng.standard_normal((2, len(made))))
    amounts = {"own_bytes": whole * noise[0], "own_reads": whole / 1e3 * noise[1]}
    path = write(made.with_metrics(amounts), tmp_path / "m.csv")
    assert run("climate", str(path), "--motifs") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"2 clusters of {len(made)} jobs, ")
    assert "ior shared read, 100% of" in out
    assert run("climate", str(path), "--motifs", "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == len(made)
    assert all(row["suggested"] == row["motif"] for row in rows if row["cluster"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mapping", "x.toml"), "are for a TABLE"),
        (("nowhere.csv",), "nowhere.csv"),
        (
            ("{jobs}", "--file-system", "four"),
            "no job has the file system 'four'; expected one, three, two",
        ),
        (("{jobs}", "--motif", "x"), "no job has the motif 'x'"),
        (("{jobs}", "--on", "someday"), "someday"),
        (("{jobs}", "--since", "2040-01-01"), "no run with a known begin"),
        (("{jobs}", "--motifs", "--validate"), "--motifs does not go with"),
        (("{jobs}", "--format", "parquet"), "there is no 'parquet'"),
        (("{jobs}", "--plot", "x.txt"), "x.txt"),
        (("{jobs}", "--plot", "x.png", "--width", "1"), "1 inches wide"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_cannot_be_done_is_one_line(
    arguments: tuple[str, ...], said: str, jobs: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code = run("climate", *(text.format(jobs=jobs) for text in arguments))
    lines = capsys.readouterr().err.strip().splitlines()
    assert code in (1, 2)
    assert said in lines[-1]
    assert lines[-1].startswith("iosonde: ")


def test_names_cannot_drive_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = together(days=200)
    wild = replace(
        made,
        motif=np.array([f"\x1b[2J{name}" for name in made.motif], dtype=object),
        file_system=np.array([f"{name}\x07" for name in made.file_system], dtype=object),
    )
    assert run("climate", str(write(wild, tmp_path / "wild.csv"))) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert "ior shared read fell" in out


@pytest.fixture(scope="module")
def figure() -> ClimateFigure:
    made = together()
    made = made.take(made.motif != "hacc fpp write")
    fell = np.where(made.start_ns < (START_S + 150 * 86_400) * 10**9, 60.0, 80.0)
    noise = np.random.default_rng(1).standard_normal((2, len(made)))
    more = {"fullest_ost_percent": fell + noise[0], "mds_cpu_mean_percent": 9 + noise[1]}
    return climate_figure(climate(made.with_metrics(more)), ["said"])


def test_the_figure_is_data_first(figure: ClimateFigure):
    assert [column.file_system for column in figure.columns] == ["one", "three", "two"]
    for column in figure.columns:
        (pane,) = column.panes
        assert pane is not None
        (shift,) = pane.shifts
        assert not shift.rose
        assert shift.earliest_s < shift.at_s <= shift.latest_s
        first, second = pane.levels
        assert first.end_s < shift.at_s == second.start_s
        assert first.median > second.median
        first_band, last_band = column.bands[0], column.bands[-1]
        assert first_band.start_s <= pane.times_s[0] < pane.times_s[-1] < last_band.end_s
        assert all(a.end_s == b.start_s for a, b in pairwise(column.bands))
        assert all(a.climate != b.climate for a, b in pairwise(column.bands))
    assert figure.since_s < figure.columns[0].panes[0].times_s[0]  # type: ignore[union-attr]
    assert figure.caption[-1] == "said"
    json.dumps(to_json(figure), allow_nan=False)


def test_a_file_system_without_a_motif_has_no_pane_of_it():
    found = climate(together())
    columns = {column.file_system: column for column in climate_figure(found).columns}
    assert [pane is None for pane in columns["three"].panes] == [True, False]
    assert None not in columns["one"].panes


def test_of_many_motifs_the_most_frequent_are_drawn():
    rng = np.random.default_rng(4)
    motif = [f"app{i:02}" for i in range(25) for _ in range(10 + i)]
    n = len(motif)
    start = (START_S + rng.uniform(0, 90, n) * 86_400).tolist()
    made = table({"fraction_of_peak_ratio": rng.uniform(0.5, 1, n)}, motif=motif, start_s=start)
    drawn = climate_figure(climate(made))
    assert drawn.motifs == tuple(f"app{i:02}" for i in range(5, 25))
    assert "5 motifs with fewer runs are not drawn" in drawn.caption


@pytest.mark.parametrize("width", [3.0, 7.0, 12.0])
@pytest.mark.parametrize("dark", [False, True])
def test_pictures_at_any_width(figure: ClimateFigure, width: float, dark: bool):
    canvas = draw_climate(figure, width_in=width, dark=dark)
    canvas.draw_without_rendering()
    edge = canvas.bbox
    for axes in canvas.axes:
        box = axes.get_window_extent()
        assert edge.x0 <= box.x0 < box.x1 <= edge.x1
        assert edge.y0 <= box.y0 < box.y1 <= edge.y1
    boxes = [axes.get_window_extent() for axes in canvas.axes]
    assert not any(
        a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.y0 > b.y1 + 1
    )
    # a strip and a pane a file system
    assert len(canvas.axes) == 6


def test_equal_data_give_equal_bytes(figure: ClimateFigure, tmp_path: Path):
    for name in ("a.svg", "b.svg"):
        save_climate(figure, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with pytest.raises(UsageError, match="inches wide"):
        draw_climate(figure, width_in=2.0)


def test_a_plot_is_written(jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("c.png", "c.json"):
        assert run("climate", str(jobs), "--plot", str(tmp_path / name), "--dark") == 0
        assert f"wrote {tmp_path / name}" in capsys.readouterr().err
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads((tmp_path / "c.json").read_text())
    assert len(data["columns"]) == 3
    assert "in March 2027" in data["caption"][1]


def test_the_axis_is_that_of_what_is_drawn():
    found = climate(together(seed=3))
    drawn = climate_figure(found)
    decade = 10 * 365 * 86_400 * 10**9
    wide = replace(found, since_ns=found.since_ns - decade, until_ns=found.until_ns + decade)
    assert climate_figure(wide).since_s == drawn.since_s, "a store of many years squeezes nothing"
    assert climate_figure(wide).until_s == drawn.until_s
    times = [t for column in drawn.columns for pane in column.panes if pane for t in pane.times_s]
    length = drawn.until_s - drawn.since_s
    assert (max(times) - min(times)) / length > 0.97
    texts = [text.get_text() for text in draw_climate(drawn).texts]
    assert "fraction of peak" in texts
