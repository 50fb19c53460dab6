"""The door for Python and notebooks: what an analyst does from files to an answer, and what is said when it fails."""

from __future__ import annotations

import html.parser
import importlib.util
import re
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.jobs.explain.words import judge
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.series import SeriesName
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import (
    InputFileError,
    MissingPartError,
    NothingMeasuredError,
    UnitError,
    UsageError,
)
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.jobs import Job, Scalar
from iosonde.notebook import arguments as asked
from iosonde.notebook.columns import data_frame, of_frame, of_records
from iosonde.notebook.display import TableResult
from tests.kit.commands import ENVIRON
from tests.kit.samples.makers import START, simulated

pd = pytest.importorskip("pandas")
EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = Path(__file__).parents[2] / "docs" / "python.md"
PNG = b"\x89PNG"
MINUTE_NS = 60 * 10**9
NAIVE = datetime(2026, 3, 6, 2)  # noqa: DTZ001 - as people write them: UTC


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The simulated site of the example, as files of monitors."""
    spec = importlib.util.spec_from_file_location("simulated_site", EXAMPLES / "simulated.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made.simulate(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def station(site, tmp_path_factory):
    """A store with two nights of the site's servers, and all of its jobs."""
    station = iosonde.open(tmp_path_factory.mktemp("door") / "store")
    given = [site.summaries, site.series[1], site.series[4], site.fullness]
    imported = station.import_files(given, zone="UTC")
    assert imported.joined.jobs == 80
    return station


@pytest.fixture(scope="module")
def jobs(station):
    return station.jobs()


@pytest.fixture(scope="module")
def climates(jobs):
    return jobs.climate()


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """A store of probes: reads were three times slower for a quarter of an hour."""
    root = tmp_path_factory.mktemp("probed")
    simulated(root, 2400, {"op": "data_read", "after": "900s", "for": "900s", "multiply": 3.0})
    return iosonde.open(root)


def modules_after(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        env=ENVIRON,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_but_itself():
    bare = modules_after("pass")
    assert modules_after("import iosonde") - bare == {"iosonde", "__future__"}


def test_the_door_loads_no_renderer_and_no_pandas_before_they_are_asked_for(tmp_path):
    loaded = modules_after(f"import iosonde; iosonde.open({str(tmp_path)!r})")
    assert "iosonde.notebook.station" in loaded
    assert not loaded & {"pandas", "matplotlib", "scipy", "sklearn", "h5py", "IPython"}


def test_an_import_says_of_each_file_what_became_of_it(station, site):
    again = station.import_files([site.series[4], site.summaries], zone=UTC)
    frame = again.to_pandas().set_index("file")
    night = frame.loc["work-2026-03-09.hdf5"]
    assert (night.kind, night.samples, night.missing, night.new) == (
        "TOKIO TimeSeries",
        8280,
        16,
        0,
    )
    assert night["first"] == pd.Timestamp("2026-03-09 02:00", tz=UTC)
    assert night.noticed == "negative-zero"
    assert frame.loc["summaries.csv", "jobs"] == 80
    noticed = again.noticed.to_pandas()
    assert noticed.flag.tolist() == ["negative-zero"]
    assert noticed.n.tolist() == [16]


def test_what_cannot_be_read_does_not_cost_what_can(tmp_path, site):
    junk = tmp_path / "junk.txt"
    junk.write_text("nothing of all this\n")
    found = iosonde.open(tmp_path / "store").import_files([junk, site.fullness])
    assert found.columns["file"].tolist() == ["lfs-df.log"]
    assert "junk.txt, line 1" in str(found.errors[0])
    assert str(found.errors[0]) in repr(found)
    with pytest.raises(InputFileError, match=r"junk\.txt, line 1: .*; expected one of"):
        iosonde.open(tmp_path / "store").import_files(junk)


def test_series_are_found_by_a_few_words(station):
    names = station.series()
    assert SeriesName("tokio", "work", "mdt", "opens") in list(names)
    assert names.to_pandas().shape == (len(names), 4)
    by_words = station.read("mdt opens", "2026-03-06T02:00", "2026-03-06T02:10")
    by_name = station.read(names[4], NAIVE, np.datetime64("2026-03-06T02:10"))
    assert station.read(("mdt", "opens"), "2026-03-06").data.metric == "opens"
    assert by_words.data.metric == by_name.data.metric == "opens"
    assert by_words.values.tolist() == by_name.values.tolist()
    assert len(by_words.times) == 60
    with pytest.raises(UsageError, match=r"'work' matches 9 series; expected one of lfs df work"):
        station.read("work")
    with pytest.raises(UsageError, match=r"no series 'opns'; .*; try opens"):
        station.read("opns")
    with pytest.raises(
        NothingMeasuredError, match="no samples of tokio work mdt opens in that time"
    ):
        station.read("opens", "2020-01-01", "2020-01-02")


def test_a_block_keeps_gaps_and_knows_rates(station):
    block = station.read("written_bytes", "2026-03-09", "2026-03-10")
    frame, rates = block.to_pandas(), block.to_pandas(rates=True)
    assert frame.shape == (360, 8)
    assert frame.isna().sum().tolist() == [2] * 8
    assert str(frame.index.tz) == "UTC"
    assert np.array_equal(frame / 10, rates, equal_nan=True)
    assert block.columns["value"].shape == block.columns["component"].shape == (360 * 8,)
    assert len(station.read("written_bytes").times) == 720, "both nights"
    with pytest.raises(UsageError, match="cpu_percent is a gauge: it has no rate"):
        _ = station.read("mds cpu_percent").rates


def test_jobs_are_a_data_frame_in_order_of_time(jobs):
    frame = jobs.to_pandas()
    assert len(frame) == len(jobs) == 80
    assert str(frame.start.dtype) == str(frame.end.dtype) == "datetime64[ns, UTC]"
    assert frame.start.is_monotonic_increasing
    assert ((frame.end - frame.start).dt.total_seconds() == frame.duration_s).all()
    assert frame.mds_cpu_mean_percent.isna().sum() == 43, "nobody looked: missing, not 0"
    storm = frame.set_index("job_id").loc["10066"]
    assert storm.server_opens_per_s == pytest.approx(9137, rel=0.01)
    told = jobs.metrics.to_pandas().set_index("metric").loc["server_opens_per_s"]
    assert (told.unit, told.good, told.known) == ("operations/s", "low", 37)


def test_where_takes_some_and_leaves_their_numbers(jobs):
    some = jobs.where(file_system="work", since="2026-03-01", until=date(2026, 3, 11))
    whole = jobs.to_pandas().query("file_system == 'work'")
    frame = some.to_pandas()
    assert frame.start.dt.day.tolist() == list(range(1, 11))
    merged = frame.merge(whole, on="job_id", suffixes=("", "_of_all"))
    assert (merged.fraction_of_peak_ratio == merged.fraction_of_peak_ratio_of_all).all()
    with pytest.raises(UsageError, match="no file system 'wrk'; expected one of scratch, work"):
        jobs.where(file_system="wrk")


def test_a_job_is_explained_in_words_numbers_and_a_picture(jobs):
    found = jobs.explain(10066)  # as a table of numbers has it
    assert found.sentence == judge(found.data).sentence
    assert "39% slower than usual" in found.sentence
    frame = found.to_pandas()
    assert frame.iloc[0]["class"] == "bad"
    assert frame.set_index("metric").loc["server_opens_per_s", "share_below"] == 1
    assert "server_opens_per_s" in found.diagram.columns["metric"].tolist()
    assert found.sentence in repr(found)
    assert "within 33 earlier runs" in repr(found)
    assert found.plot(dark=True, width_in=6)._repr_png_().startswith(PNG)


def test_the_diagram_takes_other_rows_and_histories(jobs, tmp_path):
    usual, more = jobs.umami("10064"), jobs.umami("10064", also="server_opens_per_s")
    assert more.columns["metric"].tolist() == [*usual.columns["metric"], "server_opens_per_s"]
    one = jobs.umami("10064", metrics="duration_s", history="all", last=7)
    history = one.history.to_pandas()
    assert history.shape == (8, 3)
    assert history.duration_s[history.is_job].item() == one.columns["value"][0]
    start = history.start[history.is_job].item()
    assert start == jobs.to_pandas().set_index("job_id").start["10064"]
    assert one.to_dict()["rows"][0]["metric"] == "duration_s"
    one.save(tmp_path / "one.svg")
    assert "<svg" in (tmp_path / "one.svg").read_text()
    with pytest.raises(UsageError, match="there is no history 'later'; expected earlier or all"):
        jobs.umami("10064", history="later")


def test_correlations_warn_where_pooling_misleads(jobs):
    found = jobs.correlate("mean_fullness_percent", by="file_system")
    assert any("do not pool them" in line for line in found.lines)
    frame = found.to_pandas().set_index("file_system")
    assert frame.loc["work", "spearman"] < -0.7
    assert frame.loc["work", "claimed"]
    pooled = frame[frame.index.isna()]
    assert pooled.n.tolist() == [80]
    assert pooled.partial.isna().all()
    with pytest.raises(UsageError, match="cannot group by 'month'"):
        jobs.correlate(by="month")


def test_climate_has_dates(jobs, climates):
    found = climates
    frame = found.to_pandas()
    assert frame.file_system.tolist() == ["work", "work"]
    assert (frame.earliest <= frame["at"]).all()
    assert (frame["at"] <= frame.latest).all()
    assert found.lines[1] == frame.sentence[0]
    on = found.on("2026-02-27")
    assert len(on) == 1
    assert "rose to 1.44x on work" in repr(on)
    assert found.plot(width_in=5).get_size_inches()[0] == 5
    assert len(jobs.climate(file_system="scratch").to_pandas()) == 0


def test_a_table_needs_no_store(site, tmp_path):
    table = iosonde.read_jobs(site.summaries)
    assert len(table) == 80
    assert table.explain("10064").verdict.verdict == "as usual"
    mapping = tmp_path / "site.toml"
    mapping.write_text(
        '[job]\njob_id = "id"\nbegin = { column = "t", unit = "s" }\n'
        '[[motif]]\ncolumn = "app"\n[metrics]\nperformance_bytes_per_s = "rate"\n'
        '[[filters]]\nkeep = "rate > 1"\nwhy = "did nothing"\n'
    )
    csv = tmp_path / "own.csv"
    csv.write_text(
        "id,t,app,rate\n1,1700000100,a,5\n2,1700000200,a,0\n3,300,a,8\n4,1700000400,,7\n"
    )
    own = iosonde.read_jobs([csv], mapping=mapping, system="work")
    assert own.columns["job_id"].tolist() == ["1", "4"]
    assert own.columns["motif"].tolist() == ["a", None]
    assert any("did nothing" in note for note in own.notes)
    assert "note: " in repr(own)
    assert "line 4: &#x27;300&#x27; is no begin" in own._repr_html_()


def test_what_probes_saw(probed, tmp_path):
    assert probed.targets().to_pandas().target.tolist() == ["/work"]
    found = probed.slowdown("/work", op="reads", window="60s")
    frame = found.to_pandas()
    assert set(frame.op) == {"data_read"}
    assert frame[frame.slow].slowdown.median() == pytest.approx(3, rel=0.1)
    assert "reads on /work were 3" in found.lines[0]
    found.save(tmp_path / "slow.png")
    assert (tmp_path / "slow.png").read_bytes().startswith(PNG)


def test_what_happened_after_the_hour_in_which_usual_was_learnt(probed, tmp_path):
    young = probed.events(since="2026-09-01")
    assert young.to_pandas().op.tolist() == ["data_read"]
    assert young["median"][0] == pytest.approx(3, rel=0.1)
    assert young.lines[0].startswith("/work from login2: what was usual until ")
    assert " was learned from " in young.lines[0]
    simulated(tmp_path, 6600, {"op": "data_read", "after": "80m", "for": "15m", "multiply": 3.0})
    event = iosonde.open(tmp_path).events(since="2026-09-01").to_pandas().iloc[0]
    assert (event.kind, event.op) == ("slow", "data_read")
    assert abs(event.end - event.start - timedelta(minutes=15)) < timedelta(seconds=10)
    assert re.search(r"(2\.9|3\.[01])x slower than usual", event.sentence)


def test_two_periods_are_compared(probed):
    periods = "@2026-09-21T14:14..2026-09-21T14:28", "@2026-09-21T14:28..2026-09-21T14:43"
    found = probed.compare(*periods, target="/work", op=["reads", "stats"], margin=1.25)
    assert [one.verdict for one in found.verdicts] == ["slower", "same"]
    frame = found.to_pandas().set_index(["op", "level"])
    assert frame.loc[("data_read", 0.5), "ratio"] == pytest.approx(3, rel=0.1)
    assert frame.loc[("data_read", 0.5), "changed"]
    assert len(found.lines) == 2
    assert found.plot(width_in=6).get_size_inches()[0] == 6
    with pytest.raises(UsageError, match="'/wrok'"):
        probed.compare("/wrok", "/work")
    with pytest.raises(UsageError, match="a margin of 0 is not possible"):
        probed.compare(*periods, margin=0)


def test_samples_and_windows_count_alike(probed):
    rows = probed.samples(op=["creates"], since=START, until=START + 10 * MINUTE_NS).to_pandas()
    assert rows.outcome.eq("ok").all()
    assert (rows.due.diff().dropna() == timedelta(seconds=1)).all()
    windows = probed.windows(window=timedelta(minutes=10), op="creates")
    assert windows.columns["n_due"].sum() == 2400
    assert probed.runs().to_pandas().empty
    assert list(probed.samples(columns="outcome").columns) == ["outcome"]
    with pytest.raises(UsageError, match="there is no place 1; expected 0 to 0"):
        probed.slowdown(baseline="all-time").plot(place=1)
    with pytest.raises(UsageError, match="there is no baseline '7d'"):
        probed.slowdown(baseline="7d")
    with pytest.raises(NothingMeasuredError, match=r"no samples for this question .*; try "):
        probed.slowdown("/nowhere")


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text, self.seen = [], "", set()

    def handle_starttag(self, tag, _attrs):
        self.seen.add(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(answer):
    tags, text = Tags(), answer._repr_html_()
    assert "color" not in text.partition("base64")[0], "those of the theme"
    tags.feed(text)
    assert tags.open == []
    return tags


def test_answers_show_themselves_without_colours_of_their_own(jobs, station, probed, climates):
    answers = [jobs, station.series(), jobs.metrics, climates]
    answers += [
        jobs.correlate(by=None),
        probed.slowdown(op="reads"),
        probed.events(since="2026-09-01"),
    ]
    for answer in answers:
        tags = parsed(answer)
        assert tags.seen & {"table", "img"}, type(answer)
        assert tags.seen <= {
            *("p", "b", "ul", "li", "table", "thead", "tbody"),
            "tr",
            "th",
            "td",
            "img",
        }
        assert repr(answer).strip()
    assert "80 rows x 33 columns" in parsed(jobs).text
    assert parsed(jobs).text.count("ior shared write") == 10


def test_names_from_files_are_text_not_html():
    bad = "<script>alert(1)</script>\x1b[31m"
    answer = TableResult(of_records([{"name": bad}], ("name",)), lines=[bad])
    tags = parsed(answer)
    assert "script" not in tags.seen
    assert tags.text.count("<script>alert(1)</script>?[31m") == 2
    assert "\x1b" not in repr(answer)


def test_a_notebook_keeps_words_and_picture_apart(climates, monkeypatch):
    shown = []
    display = pytest.importorskip("IPython.display")
    monkeypatch.setattr(display, "display", lambda data, **_: shown.append(data))
    climates._ipython_display_()
    words, picture = shown
    assert words["text/html"].startswith("<p><b>2 lasting changes ")
    assert picture["image/png"].startswith(PNG)


def test_without_pandas_the_error_says_what_to_do(jobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        MissingPartError, match=r"need pandas; .*; try 'pip install pandas', or \.columns"
    ):
        jobs.to_pandas()
    assert jobs.columns["start"].dtype == np.dtype("datetime64[ns]")
    assert parsed(jobs).seen >= {"table"}
    assert "39% slower" in jobs.explain("10066").sentence


def test_missing_is_missing_whatever_it_is():
    frame = Frame(
        {
            "start_ns": np.array([0, NULL_NS]),
            "period_ns": np.array([5, NULL_NS]),
            "n": np.array([1, 2]),
            "block": np.zeros((2, 3)),
        }
    )
    columns = of_frame(frame)
    assert list(columns) == ["start", "period_ns", "n"]
    made = data_frame(columns)
    assert made.start.isna().tolist() == [False, True]
    assert made.start[0] == pd.Timestamp(0, tz=UTC)
    assert np.array_equal(made.period_ns, [5, np.nan], equal_nan=True)
    rows = [{"at_ns": None, "x": None, "y": 1, "z": True, "w": ["a", "b"], "v": None}]
    rows += [{"at_ns": 7, "x": 0.5, "y": 2, "z": False, "w": [], "v": None}]
    made = data_frame(of_records(rows, ("at_ns", "x", "y", "z", "w", "v")))
    assert made["at"].isna().tolist() == [True, False]
    assert [str(made[name].dtype) for name in "xyzv"] == ["float64", "int64", "bool", "float64"]
    assert made.w.tolist() == ["a, b", ""]


@pytest.mark.parametrize(
    "given",
    [
        "2026-03-06T02:00",
        "2026-03-06 02:00:00+00:00",
        NAIVE,
        datetime(2026, 3, 6, 4, tzinfo=timezone(timedelta(hours=2))),
        np.datetime64("2026-03-06T02:00"),
        1_772_762_400_000_000_000,
        np.int64(1_772_762_400_000_000_000),
        pd.Timestamp("2026-03-06 02:00"),
        pd.Timestamp("2026-03-06 03:00", tz="Europe/Berlin"),
    ],
)
def test_an_instant_is_said_in_many_ways(given):
    assert asked.instant(given) == 1_772_762_400_000_000_000


@pytest.mark.parametrize("given", [3.5, True, pd.NaT, np.datetime64("NaT"), [1], b"now"])
def test_what_is_no_time_is_refused(given):
    with pytest.raises(UsageError, match=r"is no time; expected 2026-07-01T12:00"):
        asked.instant(given)


def test_times_and_durations_at_the_edges():
    assert asked.instant(date(1970, 1, 2)) == 86_400 * 10**9
    assert asked.instant(pd.Timestamp("2026-01-01 00:00:00.000000001")) % 10 == 1
    assert asked.span(None, None) == (None, None)
    assert {asked.duration(d) for d in ("90s", timedelta(seconds=90), np.timedelta64(90, "s"))} == {
        90 * 10**9
    }
    with pytest.raises(UsageError, match="is not before"):
        asked.span("2026-01-02", "2026-01-01")
    with pytest.raises(UnitError, match="cannot read the time 'soon'"):
        asked.instant("soon")
    with pytest.raises(UsageError, match=r"1\.5 is no duration"):
        asked.duration(1.5)


def test_several_stores_are_read_and_not_written(tmp_path, site):
    for host in ("n1", "n2"):
        simulated(tmp_path / host, 60, host=host)
    for name in (f"{tmp_path}/n1,{tmp_path}/n2", f"{tmp_path}/n*"):
        station = iosonde.open(name)
        assert repr(station) == f"iosonde.open({name!r})"
        assert {one.host for one in station.targets().data} == {"n1", "n2"}
        with pytest.raises(UsageError, match="can only be read; expected the folder of one"):
            station.import_files(site.summaries)
        with pytest.raises(UsageError, match="can only be read"):
            station.join()
    with pytest.raises(UsageError, match="names no store"):
        iosonde.open(f"{tmp_path}/none*")


def test_errors_name_arguments_not_options(tmp_path, jobs, site, monkeypatch):
    with pytest.raises(NothingMeasuredError) as error:
        iosonde.open(tmp_path).jobs()
    assert str(error.value).endswith("; try .import_files(), or iosonde.read_jobs()")
    with pytest.raises(
        UsageError, match=r"is no store; expected a folder, .* try iosonde\.read_jobs"
    ):
        iosonde.open(site.summaries)
    with pytest.raises(UsageError, match="is no store"):
        iosonde.open("http://localhost:9090")
    monkeypatch.setenv("IOSONDE_STORE", "s3://centre")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(UsageError, match="AWS_ACCESS_KEY_ID"):
        iosonde.open()
    with pytest.raises(UsageError, match="is an address; expected files"):
        iosonde.open(tmp_path).import_files("http://localhost:9090")
    with pytest.raises(UsageError, match="'Atlantis' is no time zone"):
        iosonde.read_jobs(site.summaries, zone="Atlantis")
    advice = Advice(Argument("mapping", "FILE"), ", or ", Argument("y", "METRIC"))
    assert advice.spelled(asked.python) == "mapping=FILE, or y=METRIC"
    assert str(advice) == "--mapping FILE, or --with METRIC"
    assert Advice("a--b and -1d").spelled(asked.python) == "a--b and -1d"


def test_a_job_that_only_a_scheduler_knows_is_told_apart(tmp_path):
    fast = {"performance_bytes_per_s": Scalar(1e9, "bytes/s", "darshan")}
    write_jobs(
        tmp_path,
        [
            Job(source="darshan", job_id="1", app="a", start_ns=10**18, scalars=fast),
            Job(source="slurm", job_id="2", user="ann", start_ns=10**18, end_ns=10**18 + 10**12,
                nodes=3, state="COMPLETED"),
        ],
    )  # fmt: skip
    jobs = iosonde.open(tmp_path).jobs()
    assert len(jobs) == 1
    with pytest.raises(NothingMeasuredError, match="job 2 comes from slurm, without I/O"):
        jobs.umami(2)
    found = jobs.explain(2)
    assert found.sentence.startswith("job 2 ran 17 min; the store has no probe")
    assert found.to_dict()["nodes"] == 3
    assert len(found.columns["target"]) == 0
    both = iosonde.open(tmp_path).jobs(scheduled=True)
    assert both.columns["user"].tolist() == [None, "ann"]
    assert both.listed(user="ann").columns["run_s"].tolist() == [1000.0]
    with pytest.raises(UsageError, match="there is no job '2'"):
        jobs.where(motif="a").explain(2)


def test_one_of_several_runs_of_a_job_is_named_by_its_number(tmp_path):
    fast = {"performance_bytes_per_s": Scalar(1e9, "bytes/s", "darshan")}
    runs = [
        Job(source="darshan", job_id="1", app=app, start_ns=10**18 + n, scalars=fast)
        for n, app in enumerate(("a", "b"))
    ]
    write_jobs(tmp_path, runs)
    jobs = iosonde.open(tmp_path).jobs()
    assert [jobs.umami(1, step).data.motif for step in (1, 2, "#2", "a")] == ["a", "b", "b", "a"]
    assert jobs.explain("1", 2).data.motif == "b"
    both = jobs.explain("1")
    assert sorted(both["run"]) == ["a", "b"]
    assert all(line.startswith(("a: ", "b: ")) for line in both.lines)
    with pytest.raises(UsageError, match=r"job 1 has 2 runs; expected a step: #1 \(a\), #2 \(b\)"):
        jobs.umami("1")
    assert jobs["job_id"].tolist() == ["1", "1"]
    with pytest.raises(UsageError, match="there is no column 'job'"):
        jobs["job"]


def test_now_windows_and_runs_of_a_store(probed):
    now = probed.now()
    assert now["target"].tolist() == ["/work"]
    assert now["severity"].tolist() == ["unknown"], "its probe was stopped"
    assert now.lines[0].startswith("unknown: /work has no probe since ")
    assert probed.now("/work").to_pandas().kind.tolist() == ["stopped"]
    with pytest.raises(NothingMeasuredError, match="no probe has a state of that"):
        probed.now("/wrok")
    windows = probed.windows("/work", window="10m", op="reads")
    assert set(windows["op"]) == {"data_read"}
    assert windows.plot(width_in=6).get_size_inches()[0] == 6
    assert probed.runs(each="run").to_pandas().empty
    with pytest.raises(UsageError, match="run, factor or row"):
        probed.runs(each="rank")


def test_the_default_store_is_that_of_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("IOSONDE_STORE", str(tmp_path / "mine"))
    assert repr(iosonde.open()) == f"iosonde.open({str(tmp_path / 'mine')!r})"
    assert len(iosonde.open().series()) == 0
    assert not (tmp_path / "mine").exists(), "to look is not to make"


def test_the_page_about_python_does_what_it_says(site, probed, tmp_path, monkeypatch, capsys):
    pages = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)
    scenario = PAGE.parents[1] / "examples" / "queue" / "figure-5.toml"
    for path in (site.summaries, site.series[1], site.fullness, scenario):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IOSONDE_STORE", str(probed.root))
    names = {}
    for number, code in enumerate(pages):
        exec(compile(code, f"block {number}", "exec"), names)
    said = re.search(r"print\(found\.sentence\)  # (.*)\.\.\.", PAGE.read_text())[1]
    assert capsys.readouterr().out.startswith(said)
    assert names["suspects"]["class"].iloc[0] == "bad"
    assert len(names["history"]) == 31
    assert len(names["changes"]) == 2
    assert len(names["opens_per_s"]) == 360
    assert set(names["slow"].target) == {"/work"}
    assert "slower" in {one.verdict for one in names["shift"].verdicts}
    assert len(names["by_hour"]) == 1


def test_much_is_shown_as_little(jobs, tmp_path):
    long = TableResult(of_records([{"n": n} for n in range(100)], ("n",)), lines=["line"] * 40)
    assert repr(long).splitlines()[11] == "... 29 more"
    assert parsed(long).text.count("line") == 11
    assert "100 rows x 1 columns" in parsed(long).text
    assert len(repr(long).splitlines()) == 12 + 1 + 11 + 1
    every = jobs.correlate(list(jobs.data.metrics)[:-1])
    shown = every._shown()
    assert len(shown["metric"]) == 10 < len(every.columns["metric"])
    strength = np.abs(shown["spearman"][shown["claimed"]])
    assert (np.diff(strength) <= 0).all()


def test_of_a_table_that_nobody_described_its_columns_are_shown(tmp_path):
    table = tmp_path / "strange.csv"
    table.write_text("a,b\n1,2\n3,\n")
    found = iosonde.read_jobs(table)
    assert repr(found).splitlines()[0].split() == ["a", "b"]
    with pytest.raises(UsageError, match=r"has no I/O performance; try y=METRIC, or mapping="):
        found.correlate()


def test_paths_are_taken_as_a_shell_takes_them(site, tmp_path, monkeypatch):
    home = site.summaries.parent
    monkeypatch.setenv("HOME", str(home))
    assert len(asked.paths_of("~/work-*.hdf5")) == 5
    assert asked.paths_of(["~/summaries.csv"]) == [site.summaries]
    monkeypatch.chdir(home)
    assert asked.paths_of("*.log") == [Path("lfs-df.log")]
    (tmp_path / "odd[1].csv").touch()
    assert asked.paths_of(tmp_path / "odd[1].csv") == [tmp_path / "odd[1].csv"]
    with pytest.raises(UsageError, match=r"there is no file .*\*\.csv; expected a pattern"):
        asked.paths_of(tmp_path / "no" / "*.csv")
    assert iosonde.open("~/store").root == home / "store"
