"""Jobs in Python: data frames and dicts in, masks and lists as questions, plain data out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import iosonde
from iosonde.model.errors import InputFileError, NothingMeasuredError, UsageError

pd = pytest.importorskip("pandas")
N = 40
MAPPING = {
    "job": {
        "job_id": "id",
        "file_system": "fs",
        "begin": {"column": "began", "unit": "text"},
        "end": {"column": "ended", "unit": "text"},
        "user": "who",
        "account": "project",
    },
    "motif": [{"column": "app"}],
    "metrics": {
        "performance_bytes_per_s": "rate",
        "load": {"column": "load", "good": "low", "role": "cause"},
    },
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    begin = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.arange(N), unit="D")
    load = rng.uniform(0.5, 1.5, N)
    load[-1] = 9.0
    return pd.DataFrame(
        {
            "id": np.arange(100, 100 + N),
            "fs": "work",
            "began": begin,
            "ended": begin + pd.Timedelta("10min"),
            "who": np.where(np.arange(N) % 2, "ann", "bob"),
            "project": "p,1",
            "app": np.where(np.arange(N) % 4, "ior", "hacc"),
            "rate": 1e9 / (0.5 + load),
            "load": load,
        }
    )


@pytest.fixture(scope="module")
def jobs(frame):
    return iosonde.read_jobs(frame, mapping=MAPPING)


def test_a_frame_is_read_as_its_file_is(frame, jobs, tmp_path):
    path = tmp_path / "jobs.csv"
    frame.to_csv(path, index=False)
    same = iosonde.read_jobs(path, mapping=MAPPING)
    assert len(jobs) == N
    assert jobs["start"][0] == np.datetime64("2026-01-01")
    for name, column in same.columns.items():
        assert np.array_equal(jobs[name], column, equal_nan=column.dtype.kind == "f"), name
    assert MAPPING["job"]["job_id"] == "id"  # as it was
    indexed = iosonde.read_jobs(frame.set_index("id"), mapping=[MAPPING])
    assert indexed["job_id"].tolist() == jobs["job_id"].tolist()


def test_what_it_gives_it_takes(jobs):
    again = iosonde.read_jobs(jobs.to_pandas())
    for name in ("job_id", "start", "end", "file_system", "motif", "user", "load"):
        assert again[name].tolist() == jobs[name].tolist(), name


def test_errors_speak_of_the_frame_and_the_dict(frame):
    with pytest.raises(UsageError, match=r"mapping 1, \[job\] begins: there is no such key"):
        iosonde.read_jobs(frame, mapping={"job": {"begins": "began"}})
    with pytest.raises(UsageError, match="the frame has no column 'nope'"):
        iosonde.read_jobs(frame, mapping={"job": {"job_id": "nope"}})
    with pytest.raises(InputFileError, match="the frame, line 2: there is no row"):
        iosonde.read_jobs(frame.head(0), mapping=MAPPING)
    with pytest.raises(UsageError, match="there is no peak 'best'"):
        iosonde.read_jobs(frame, mapping=MAPPING, peak="best")


def test_the_peak_is_chosen(frame, jobs):
    median = iosonde.read_jobs(frame, mapping=MAPPING, peak="median")["fraction_of_peak_ratio"]
    assert jobs["fraction_of_peak_ratio"].max() == 1
    assert np.nanmedian(median) == pytest.approx(1, abs=0.2)


def test_masks_slices_and_places(jobs):
    fast = jobs[jobs["performance_bytes_per_s"] > 7e8]
    assert 0 < len(fast) < N
    assert (fast["performance_bytes_per_s"] > 7e8).all()
    assert jobs[:3]["job_id"].tolist() == ["100", "101", "102"]
    assert jobs[[-1, 0]]["job_id"].tolist() == ["100", str(99 + N)]
    assert len(jobs[pd.Series(jobs["load"]) > 5]) == 1
    for wrong in (np.full(3, True), [N], np.array([0.5])):
        with pytest.raises(UsageError, match="jobs cannot be chosen by"):
            jobs[wrong]


def test_where_takes_one_or_several(jobs):
    assert set(jobs.where(user="ann")["user"]) == {"ann"}
    assert len(jobs.where(user=["ann", "bob"], motif=["ior", "hacc"], file_system=["work"])) == N
    assert set(jobs.where(motif=["hacc"], account="p,1")["motif"]) == {"hacc"}
    with pytest.raises(UsageError, match=r"no motif 'hac'.*'hacc'"):
        jobs.where(motif=["ior", "hac"])
    with pytest.raises(NothingMeasuredError, match="no job for this question"):
        jobs.where(user="eve")


def test_many_jobs_are_explained_as_a_frame(jobs):
    last = str(99 + N)
    many = jobs.explain(["110", last, "nobody"])
    assert many.to_pandas().columns.tolist() == ["job_id", "run", "loss", "sentence"]
    assert many["job_id"].tolist() == [last, "110"]  # the worst first
    assert many.sentence == many["sentence"][0] == jobs.explain(last).sentence
    assert "there is no job 'nobody'" in many.notes[0]
    assert len(jobs.explain(jobs[-5:])) == 5
    assert len(jobs.explain(jobs.listed(user="ann", limit=3)["job_id"])) == 3
    with pytest.raises(NothingMeasuredError, match="nothing to explain"):
        jobs.explain([])
    with pytest.raises(UsageError):
        jobs.explain(None)


def test_one_form_of_the_sentence(jobs):
    one = jobs.explain("110")
    assert one["sentence"].tolist() == [one.sentence]
    with pytest.raises(UsageError, match="no column 'sentences'"):
        one["sentences"]


def test_pieces_of_time_and_validations(jobs):
    found = jobs.correlate(by=None, boundaries=["2026-01-15"]).to_pandas()
    assert set(found[found.metric == "load"].n) >= {14, 26}
    with pytest.raises(UsageError, match="cannot group by"):
        jobs.correlate(by="user")
    assert len(jobs.climate().validations) == 0
    worth = jobs.climate(validate=True).validations
    assert worth["file_system"].tolist() == ["work"]


def test_every_answer_is_plain_data(jobs):
    answers = [
        jobs,
        jobs.metrics,
        jobs.explain("110"),
        jobs.explain(["110", "111"]),
        jobs.umami("110"),
        jobs.correlate(by=None),
        jobs.climate(validate=True),
        jobs.listed(),
    ]
    for one in answers:
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False)), type(one)
    rows = jobs.to_dict()["rows"]
    assert rows[0]["start"].startswith("2026-01-01T00:00:00")
    assert len(rows) == N
