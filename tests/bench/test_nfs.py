"""`iosonde bench nfs`: the sweep on a server with a known queue, its refusals, and what it leaves."""

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from iosonde import _core
from iosonde.bench.backends.nfs_place import parse_nfs
from iosonde.bench.nfs.check import KNEE_TOLERANCE, CheckVerdict, judge_knee
from iosonde.bench.nfs.knee import find_knee
from iosonde.bench.nfs.points import SweepPoint, quantile
from iosonde.bench.nfs.sheet import sweep_sheet
from iosonde.bench.nfs.spec import SweepSpec
from iosonde.bench.nfs.sweep import Sweep
from iosonde.bench.nfs.words import caution, say_sweep
from iosonde.bench.runs import store
from iosonde.cli.main import main
from iosonde.cli.selftest.nfs import nfs as selftest_nfs
from iosonde.model.errors import UsageError

CONSENT = "--i-may-load-this-server"


@pytest.fixture
def server():
    running = _core.NfsServer(500_000, 100)
    yield running
    running.close()


def words(server, more=""):
    return [
        *f"bench nfs nfs://127.0.0.1/export?portmapport={server.port} --file-size 64k".split(),
        *more.split(),
    ]


def made(rate, median_ns, seconds=4.0, unanswered=0, answered=1.0):
    """A point whose reads lie closely around a median, and of whose writes a share was answered."""
    reads = (np.linspace(0.98, 1.02, 41) * median_ns).astype(np.int64)
    outcomes = {"ok": len(reads)} | ({"ETIMEDOUT": unanswered} if unanswered else {})
    names = ("due", "sent", "done", "done_in_time", "failed", "unanswered", "strays", "left_out")
    counts = dict.fromkeys((*names, "outstanding"), 0)
    due = int(rate * seconds)
    done = int(due * answered)
    counts |= {"due": due, "sent": due, "done": done, "done_in_time": done, "failed": due - done}
    return SweepPoint(
        rate_per_s=rate,
        began_ns=0,
        lasted_ns=int(seconds * 1e9),
        reads_due=len(reads) + unanswered,
        read_ns=reads,
        due_ns=np.zeros(len(reads), np.int64),
        read_outcomes=outcomes,
        lag_ns=0,
        write_ns=np.empty(0, np.int64),
        writes=counts,
        committed=(0, 0, 0),
        ceiling=False,
        stopped=False,
        problems=(),
    )


def truth(rate, capacity, base_ns, plateau_ns, seconds):
    return base_ns + min(plateau_ns, max(rate / capacity - 1, 0) * seconds / 2 * 1e9)


@pytest.mark.parametrize("capacity", [300.0, 1970.0, 2600.0])
@pytest.mark.parametrize("plateau_ns", [3e7, 2e8, math.inf])
def test_the_knee_is_where_the_queue_begins_to_grow(capacity, plateau_ns):
    random = np.random.default_rng(int(capacity))
    rates = [0.0, *np.geomspace(100, 6000, 14)]
    points = [
        made(r, truth(r, capacity, 1e6, plateau_ns, 4.0) * random.lognormal(0, 0.1)) for r in rates
    ]
    knee = find_knee(points)
    assert knee is not None
    assert knee.low <= knee.rate <= knee.high
    assert knee.lower <= knee.rate <= knee.upper
    step = rates[2] / rates[1]
    assert 1 / step < knee.rate / capacity < step
    if plateau_ns == 2e8:
        assert knee.plateau_ns == pytest.approx(plateau_ns, rel=0.2)
    if math.isinf(plateau_ns):
        assert knee.rate == pytest.approx(capacity, rel=0.05)


def test_no_knee_where_reads_never_wait_and_where_they_always_do():
    calm = Sweep([made(r, 1e6) for r in (0.0, 100.0, 200.0)])
    assert calm.knee is None
    assert "did not wait for writes up to 200" in say_sweep(calm)[0]
    busy = Sweep([made(0.0, 1e6), made(100.0, 5e7), made(200.0, 6e7)])
    assert busy.knee is None
    assert "waited already at 100" in say_sweep(busy)[0]


def test_writes_that_fail_say_nothing_of_reads():
    """All writes fail; or those of the higher rate do."""
    failing = Sweep([made(0.0, 1e6), made(900.0, 1e6, answered=0.0)])
    assert failing.knee is None
    assert say_sweep(failing)[0] == (
        "Too many writes failed (3,600 of 3,600): the sweep cannot tell how reads do beside them."
    )
    partly = Sweep([made(0.0, 1e6), made(100.0, 1e6), made(900.0, 5e7, answered=0.6)])
    assert partly.knee is None
    assert say_sweep(partly)[0] == (
        "Reads did not wait for writes up to 100 answered writes/s; above, few writes were answered."
    )
    point = made(900.0, 1e6)
    point.writes["unanswered"] = 554
    assert "554 writes unanswered" in caution(point)


def test_one_bump_is_no_knee():
    """Slow at some rates and quick again above: no queue that fills."""
    rates = [0.0, 100.0, 200.0, 400.0, 800.0, 1600.0]
    slow = (200.0, 400.0)
    bumpy = Sweep([made(rate, 2e7 if rate in slow else 1e6) for rate in rates])
    assert bumpy.knee is None
    assert say_sweep(bumpy) == [
        "No knee: reads were slower between 200 and 400 writes/s, and quick again above."
    ]
    whole = Sweep([made(rate, 2e7 if rate >= 400 else 1e6) for rate in rates])
    assert whole.knee is not None
    assert (whole.knee.low, whole.knee.high) == (200.0, 400.0)


def test_a_write_is_due_when_it_may_go(server, capsys, tmp_path):
    """Twenty writes a second on a server that answers at once: their latency is no period of 50 ms."""
    quick = _core.NfsServer(20_000, 100)
    more = f"{CONSENT} --from 20 --to 20 --duration 3s --refine 0 --store {tmp_path}"
    assert main(words(quick, more)) == 0
    quick.close()
    capsys.readouterr()
    (writes,) = (row for row in store.read(tmp_path) if row.op == "data_write")
    assert 50 <= writes.ops <= 60
    assert writes.q50_ns < 25e6


def test_reads_without_answer_count_as_raised():
    points = [made(0.0, 1e6), made(100.0, 1e6), made(200.0, 1e6, unanswered=60)]
    knee = find_knee(points)
    assert knee is not None
    assert (knee.low, knee.high) == (100.0, 200.0)


def test_quantiles_are_order_statistics():
    values = np.arange(1, 201)
    assert [quantile(values, q) for q in (0.5, 0.99, 1.0)] == [100, 198, 200]
    assert math.isnan(quantile(values[:99], 0.99))
    assert math.isnan(quantile(values[:0], 0.5))


def test_rates_rise_and_end_with_the_last():
    spec = SweepSpec(first_per_s=100, last_per_s=1000, factor=2)
    assert list(spec.rates()) == [100, 200, 400, 800, 1000]
    assert list(SweepSpec(first_per_s=50, last_per_s=50).rates()) == [50]


def test_a_picture_of_a_sweep_has_its_fit():
    rates = [0.0, *np.geomspace(100, 6000, 10)]
    sweep = Sweep([made(r, truth(r, 2000, 1e6, 5e7, 4.0)) for r in rates])
    sheet = sweep_sheet(sweep, "nfs://host/x")
    assert [pane.row for pane in sheet.panes] == ["longest read", "median read"]
    assert {mark.role for pane in sheet.panes for mark in pane.marks if hasattr(mark, "role")} == {
        *("median", "model")
    }
    assert sweep_sheet(Sweep([made(0.0, 1e6)]), "x") is None


def test_a_place_is_read():
    place = parse_nfs("nfs://[::1]:2049/a%20b?mountport=7&uid=0&portmapport=112")
    assert (place.host, place.path, place.nfs_port, place.mount_port) == ("::1", "/a b", 2049, 7)
    assert (place.uid, place.gid, place.portmap_port) == (0, None, 112)
    assert parse_nfs("nfs://host").path == "/"
    for bad in ("nfs:", "host:/x", "nfs://u@h/x", "nfs://h/x?port=1", "nfs://h/?uid=-1"):
        with pytest.raises(UsageError):
            parse_nfs(bad)
    for bad in ("nfs://h/?mountport=0", "nfs://h/?nfsport=65536", "nfs://h:x/", "nfs://h/?gid=²"):
        with pytest.raises(UsageError):
            parse_nfs(bad)


def test_no_load_without_consent(server, capsys):
    assert main(words(server)) == 2
    assert CONSENT in capsys.readouterr().err
    assert server.executed() == (0, 0, 0, 0)


def test_nobody_there_is_one_line(capsys, tmp_path):
    place = "nfs://127.0.0.1:1/x?mountport=1"
    assert main(["bench", "nfs", place, CONSENT, "--store", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "refused" in said.lower()
    assert "expected an NFSv3 export" in said
    assert said.count("\n") == 1


def test_a_sweep_is_kept_drawn_and_leaves_nothing(server, capsys, tmp_path):
    more = f"{CONSENT} --from 500 --to 4000 --factor 8 --duration 1s --refine 0 --store {tmp_path}"
    picture = tmp_path / "sweep.svg"
    assert main([*words(server, more), "--plot", str(picture), "--dark"]) == 0
    said = capsys.readouterr().out
    assert "Reads wait for writes from" in said
    assert "4,000" in said
    assert picture.stat().st_size > 5_000
    assert server.executed()[3] == 0
    rows = store.read(tmp_path)
    assert {row.instrument for row in rows} == {"nfs"}
    assert len({r.measurement for r in rows}) == 3
    reads = [row for row in rows if row.op == "data_read"]
    assert [row.ops for row in reads] == [10, 10, 10]
    assert not any(row.failed for row in reads)
    assert reads[-1].parameters["write_rate_per_s"] == 4000
    assert main(["runs", "--store", str(tmp_path)]) == 0
    assert main(["runs", rows[0].run_id, "--store", str(tmp_path)]) == 0


def test_a_ceiling_ends_the_sweep(capsys, tmp_path):
    """A full queue is 1 s long: no busy host takes half of that without load."""
    running = _core.NfsServer(500_000, 2000)
    more = f"{CONSENT} --from 4000 --to 64000 --factor 2 --duration 5s --refine 0 --ceiling 500ms"
    code = main([*words(running, more), "--format", "json", "--store", str(tmp_path)])
    left = running.executed()[3]
    running.close()
    assert code == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    reads = [row for row in rows if row["op"] == "data_read"]
    assert [row["complete"] for row in reads] == [True, False]
    assert reads[-1]["duration_ns"] < 4e9
    assert left == 0


def test_an_interrupt_keeps_what_was_measured_and_cleans_up(server, tmp_path):
    more = f"{CONSENT} --from 100 --duration 2s --store {tmp_path}"
    command = [sys.executable, "-m", "iosonde.cli.main", *words(server, more)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as child:
        give_up = time.monotonic() + 30
        while server.executed()[0] < 20 and time.monotonic() < give_up:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)
    assert child.returncode == 130
    assert server.executed()[3] == 0
    reads = [row for row in store.read(tmp_path) if row.op == "data_read"]
    assert len(reads) >= 2
    assert reads[0].complete
    assert not reads[-1].complete


def test_the_metadata_benchmark_runs_over_the_same_client(capsys, tmp_path):
    running = _core.NfsServer(0, 1)
    place = f"nfs://127.0.0.1/export?portmapport={running.port}"
    sizes = ["-n", "2", "-D", "2", "-P", "20", "-I", "10", "-R", "1", "--verify"]
    code = main(["bench", "metadata", place, *sizes, "--store", str(tmp_path)])
    left = running.executed()[3]
    running.close()
    assert code == 0, capsys.readouterr().err
    assert left == 0
    rows = store.read(tmp_path)
    assert {row.backend for row in rows} == {"nfs"}
    assert not any(row.failed for row in rows)


def swept(capacity, disturbed=(), wrong=1.0, lag_ns=0):
    """The sweep of the self-test; reads wait 60 ms more at ``disturbed`` rates (over capacity)."""
    points = [made(0.0, 1.5e6)]

    def point(rate):
        more = 6e7 if any(low <= rate / capacity <= high for low, high in disturbed) else 0
        one = made(rate, truth(rate, capacity * wrong, 1.5e6, 1.05e8, 3.0) + more, 3.0)
        points.append(dataclasses.replace(one, lag_ns=lag_ns))

    for part in (0.25, 0.425, 0.7225, 1.22825, 2.088):
        point(part * capacity)
    for _ in range(3):
        knee = find_knee(points)
        point(math.sqrt(knee.low * knee.high))
    return Sweep(points)


def test_the_interval_of_a_clean_sweep_is_narrow_and_has_the_truth():
    for capacity in (300.0, 1000.0, 2600.0):
        knee = swept(capacity).knee
        assert knee.lower <= capacity <= knee.upper
        assert knee.upper / knee.lower < 1.12
        assert judge_knee(capacity, swept(capacity)).verdict is CheckVerdict.GOOD


def test_one_disturbed_point_widens_the_interval_and_makes_nobody_wrong():
    disturbed = swept(1000.0, [(0.93, 0.95)])
    assert abs(disturbed.knee.rate / 1000 - 1) > KNEE_TOLERANCE
    assert disturbed.knee.lower <= 1000 <= disturbed.knee.upper
    assert disturbed.knee.upper / disturbed.knee.lower > 1.2
    assert judge_knee(1000.0, disturbed).verdict is CheckVerdict.BUSY


@pytest.mark.parametrize("wrong", [0.8, 0.87, 1.15])
def test_a_client_that_measures_wrongly_is_wrong_unless_the_host_was_late(wrong):
    assert judge_knee(1000.0, swept(1000.0, wrong=wrong)).verdict is CheckVerdict.WRONG
    assert (
        judge_knee(1000.0, swept(1000.0, wrong=wrong, lag_ns=30_000_000)).verdict
        is CheckVerdict.BUSY
    )


@pytest.mark.measures
def test_the_selftest_compares_with_what_is_true(capsys):
    code = selftest_nfs(["--service", "1ms", "--queue", "100", "-k", "4"])
    said = capsys.readouterr().out
    assert code in (0, 3), said
    assert (code == 3) == ("This host was busy" in said)
    assert "105 ms" in said
    assert "1,000 writes/s" in said


def test_the_selftest_serves_until_it_is_ended():
    command = [sys.executable, "-c", _SERVE]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None
            ports = (None, None, parse_nfs(child.stdout.readline().strip()).portmap_port)
            session = _core.NfsSession(
                "127.0.0.1", "/export", ports, (0, 0, False), 5000, (1, "a test")
            )
            assert session.prepare(64, lambda _: True)
            session.clean()
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=20)
        finally:
            child.kill()  # whatever failed: one that serves on would be waited for
    assert child.returncode == 0


_SERVE = """
import socket, sys
from iosonde.cli.selftest.nfs import nfs as main
free = socket.create_server(("127.0.0.1", 0))
port = free.getsockname()[1]
free.close()
sys.exit(main(["--serve", "--port", str(port)]))
"""
