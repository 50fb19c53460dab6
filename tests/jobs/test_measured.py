"""Jobs of keys and of a span are those that a look at every job finds; a join writes numbers and nothing else."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.engine.parts import parts
from iosonde.jobs.environment.join import join
from iosonde.jobs.store import series as metrics
from iosonde.jobs.store.jobs import JOBS, PERFORMANCES, month_of, read_jobs, write_jobs
from iosonde.jobs.store.with_performance import measured_jobs
from iosonde.model.jobs import Job, Scalar
from tests.jobs.test_metrics_store import START, S, block
from tests.kit.jobs.jobs_made import environment

DAY = 86_400 * S
RATE, SIZE = Scalar(1e9, "bytes/s", "darshan"), Scalar(1.0, "bytes", "darshan")
NUMBERS = (
    {},
    {"read_bytes": SIZE},
    {PERFORMANCES[0]: RATE},
    {PERFORMANCES[1]: RATE._replace(value=None)},
)
INSTANTS = st.integers(-90, 90).map(lambda day: START + day * DAY // 2)


@st.composite
def a_job(draw):
    start = draw(st.none() | INSTANTS)
    lasts = draw(st.sampled_from([None, -1, 0, 3600 * S, 40 * DAY]))
    end = None if lasts is None else (start or START) + lasts
    return Job(
        source=draw(st.sampled_from(["darshan", "slurm", "a b", "a-b"])),
        job_id=draw(st.sampled_from(["7", "8", "9"])),
        step=draw(st.sampled_from(["", "0"])),
        file_system=draw(st.sampled_from(["fs1", ""])),
        start_ns=start,
        end_ns=draw(st.sampled_from([end, end, 0])),
        nodes=draw(st.none() | st.integers(1, 4)),
        scalars=draw(st.sampled_from(NUMBERS)),
    )


def by_looking_at_all(root, keys, span_ns):
    """What was asked for, from every job of the store."""

    def asked(job):
        if keys is None and span_ns is None:
            return True
        if keys is not None and job.key in keys:
            return True
        if span_ns is None or job.start_ns is None:
            return False
        return job.start_ns < span_ns[1] and (job.end_ns or job.start_ns) >= span_ns[0]

    measured = (job for job in read_jobs(root) if any(name in job.scalars for name in PERFORMANCES))
    return [replace(job, scalars={}) for job in measured if asked(job)]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_found_is_what_a_look_at_all_finds(tmp_path_factory, data) -> None:
    root = tmp_path_factory.mktemp("s")
    written: list[Job] = []
    for _ in range(data.draw(st.integers(1, 3))):
        some = data.draw(st.lists(a_job(), max_size=8))
        write_jobs(root, some)
        written += some
    known = [job.key for job in written] or [("x", "y", "", None)]
    for _ in range(4):
        keys = data.draw(st.none() | st.sets(st.sampled_from(known), max_size=3))
        span = data.draw(st.none() | st.tuples(INSTANTS, INSTANTS))
        assert measured_jobs(root, keys=keys, span_ns=span) == by_looking_at_all(root, keys, span)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_join_of_some_writes_their_numbers_and_leaves_all_else(tmp_path_factory, data) -> None:
    root = tmp_path_factory.mktemp("s")
    for _ in range(2):
        write_jobs(root, data.draw(st.lists(a_job(), max_size=8)))
        hours = sorted(data.draw(st.sets(st.integers(-50, 50), min_size=1, max_size=6)))
        times = [START + hour * 3600 * S for hour in hours]
        metrics.write_block(root, block(times, [[1.0, 2.0]] * len(times)))
    jobs = read_jobs(root)
    files = {path: path.stat().st_ino for path in parts(root, JOBS)}
    span = data.draw(st.tuples(INSTANTS, INSTANTS))
    wanted = {job.key for job in by_looking_at_all(root, None, span)}
    expected = {
        job.key: dict(job.scalars) | (environment(root, job) if job.key in wanted else {})
        for job in jobs
    }
    done = join(root, span_ns=span)
    assert done.jobs == len(wanted)
    assert {job.key: dict(job.scalars) for job in read_jobs(root)} == expected
    assert {path: path.stat().st_ino for path in parts(root, JOBS)} == files
    assert join(root, span_ns=span) == done


def test_months_are_told_apart() -> None:
    assert (month_of(None), month_of(0), month_of(START)) == ("unknown", "1970-01", "2026-09")
