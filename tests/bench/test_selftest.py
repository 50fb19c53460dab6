"""``iosonde selftest``: what a phase did to the probe, from samples that are made and from a real run; nothing left."""

import json
import signal
import sys

import numpy as np
import pytest

from iosonde.bench.runs import store as runs
from iosonde.bench.selftest.effects import ProbeSamples, phase_effects
from iosonde.bench.selftest.find import find
from iosonde.bench.selftest.folder import MARK, SelftestFolder
from iosonde.bench.selftest.plan import PHASES, phase_name
from iosonde.bench.selftest.words import MOST_WORDS, cautions, say, table_rows
from iosonde.model.errors import MeasureError, UsageError
from iosonde.model.phases import Phase
from iosonde.stats.ranks import quantile_ranks
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.runs.driven import ended, started, until

SECOND = 1_000_000_000
QUIET = (0, 20 * SECOND)
PERIOD = SECOND // 20
SMALL = ("-w", "300ms", "-b", "4M", "-P", "300", "--quiet", "1s", "--pause", "100ms")
SMALL += ("--period", "20ms", "--file-size", "8M", "--pool", "20")


def phases(*names):
    return [
        Phase(name, (20 + 5 * i) * SECOND, (24 + 5 * i) * SECOND) for i, name in enumerate(names)
    ]


def made(factors, seconds, seed=1, lost=None, queued=0.0):
    """Operations of 1 ms with noise, ``factors[phase]`` times as long in a phase, ``lost[phase]`` of them lost."""
    random = np.random.default_rng(seed)
    due = np.arange(0, seconds * SECOND, PERIOD)
    latency = 1e6 * np.exp(random.normal(0, 0.3, len(due)))
    wait = np.zeros(len(due))
    for phase in phases("a", "b", "c"):
        inside = (due >= phase.start_ns) & (due < phase.end_ns)
        longer = latency * factors.get(phase.name, 1.0)
        wait[inside] = queued * (longer - latency)[inside]
        latency = np.where(inside, longer, latency)
        gone = inside & (random.random(len(due)) < (lost or {}).get(phase.name, 0.0))
        latency[gone] = np.nan
    late = np.full(len(due), 20_000.0) + wait
    return ProbeSamples(due, latency, latency - wait, late)


def verdicts(samples, names=("a", "b", "c")):
    found = phase_effects({"md_create": samples}, QUIET, phases(*names))
    return {one.phase: one for one in found}


def test_the_phase_that_slows_an_operation_is_the_one_named():
    found = verdicts(made({"b": 5.0}, 36))
    assert [found[name].verdict for name in "abc"] == ["usual", "slow", "usual"]
    assert found["b"].lower < 5.0 < found["b"].upper
    assert say("/work", list(found.values())) == f"b slowed creates {found['b'].slowdown:.1f}x"


@pytest.mark.parametrize("seed", range(40))
def test_a_phase_that_does_nothing_is_called_usual(seed):
    found = verdicts(made({}, 36, seed))
    assert {one.verdict for one in found.values()} == {"usual"}
    assert "no phase slowed" in say("/work", list(found.values()))


def test_the_interval_holds_the_true_slowdown_nineteen_times_of_twenty():
    inside = 0
    for seed in range(200):
        one = verdicts(made({"a": 3.0}, 26, seed), ("a",))["a"]
        inside += one.lower <= 3.0 <= one.upper
    assert inside >= 190


def test_lost_operations_are_said_and_a_short_phase_says_nothing():
    found = verdicts(made({}, 36, lost={"c": 0.5}))
    assert found["c"].verdict == "lost"
    assert 0.3 < found["c"].lost < 0.7
    assert "c slowed creates (lost)" in say("/work", list(found.values()))
    short = [Phase("blink", 21 * SECOND, 21 * SECOND + 2 * PERIOD)]
    (one,) = phase_effects({"md_stat": made({}, 30)}, QUIET, short)
    assert (one.verdict, one.lower) == ("unknown", None)
    assert "blink: too short" in cautions([one], 8, 2)[0]
    assert table_rows([one], short)[0][-1] == "n/a"


def test_slow_because_the_ranks_took_the_processors_is_not_the_storage():
    found = verdicts(made({"b": 20.0}, 36, queued=1.0))
    assert found["b"].verdict == "host"
    assert "not proof of slow storage" in say("/work", list(found.values()))
    assert "another host" in cautions(list(found.values()), 8, 2)[0]


def test_a_sentence_stays_short_however_much_is_slow():
    ops = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
    samples = {op: made({"a": 9.0, "b": 4.0, "c": 6.0}, 36, i) for i, op in enumerate(ops)}
    effects = phase_effects(samples, QUIET, phases("a", "b", "c"))
    text = say("/work", effects)
    assert len(text.split()) <= MOST_WORDS
    assert text.startswith("a slowed ")


def test_find_counts_every_entry_and_follows_no_link(tmp_path):
    (tmp_path / "a").mkdir()
    for n in range(12):
        (tmp_path / "a" / f"{n:03}").write_bytes(b"x" * (7 if n % 2 else 8))
    (tmp_path / "away").symlink_to("/usr")
    found = find(tmp_path, lambda: False, 7)
    assert (found.examined, found.matching, found.stopped) == (14, 2, False)


def test_a_directory_of_that_name_that_is_not_ours_is_left_alone(tmp_path):
    with SelftestFolder(tmp_path) as folder:
        assert (folder.path / MARK).exists()
        with pytest.raises(MeasureError, match="another run"), SelftestFolder(tmp_path):
            pass
        (folder.part("probe") / "left").write_text("x")
    assert list(tmp_path.iterdir()) == []
    folder.path.mkdir()
    (folder.path / "precious").write_text("x")
    with (
        pytest.raises(UsageError, match="not a directory of a self-test"),
        SelftestFolder(tmp_path),
    ):
        pass
    assert (folder.path / "precious").exists()


def test_what_a_killed_run_left_goes_with_the_next_one(tmp_path):
    with SelftestFolder(tmp_path) as folder:
        folder.keep = True
        (folder.part("ior-easy") / "left").write_text("x")
    with SelftestFolder(tmp_path) as again:
        assert [entry.name for entry in again.path.iterdir()] == [MARK]
    assert list(tmp_path.iterdir()) == []


def test_a_real_run_measures_every_phase_and_leaves_nothing(tmp_path, capsys):
    place, store, picture = tmp_path / "work", tmp_path / "store", tmp_path / "s.svg"
    place.mkdir()
    words = ("--format", "json", "--plot", str(picture))
    assert run("selftest", str(place), *SMALL, *words, store=store) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert list(place.iterdir()) == []
    names = [phase_name(*each) for each in PHASES]
    assert list(dict.fromkeys(one["phase"] for one in document["effects"])) == names
    starts = [one["start_ns"] for one in document["effects"]]
    assert starts == sorted(starts)
    assert document["sentence"]
    assert picture.read_text().startswith("<?xml")
    assert "wrote" in err
    # Each benchmark is a run; the samples of the probe are there; nobody is to watch the target.
    stored = {
        run.run_id.removeprefix(document["run"] + "-"): run.rows for run in runs.read_runs(store)
    }
    assert set(stored) == {"ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard", "find"}
    assert {row.phase for row in stored["mdtest-hard"]} == {"create", "stat", "read", "delete"}
    assert {row.phase for row in stored["ior-hard"]} == {"write", "read"}
    assert not any(row.failed for rows in stored.values() for row in rows)
    found = next(row for row in stored["find"])
    made = sum(
        row.ops
        for name in ("mdtest-easy", "mdtest-hard")
        for row in stored[name]
        if row.phase == "create" and row.rank is None and row.op is None
    )
    assert found.ops >= made
    samples = Store(store).samples(("op",), target=document["target"])
    assert len(set(samples["op"].tolist())) == 6
    assert not list(store.glob("state/*/*.json"))


def test_ctrl_c_keeps_what_was_measured_and_removes_the_files(tmp_path):
    place, store = tmp_path / "work", tmp_path / "store"
    place.mkdir()
    words = [sys.executable, "-m", "iosonde.cli.main", "selftest", str(place), *SMALL]
    words += ["-w", "60s", "-b", "4G", "--store", str(store)]
    with started(arguments=words) as job:
        until(job, '"write"')
        job.send_signal(signal.SIGINT)
        code, out, err = ended(job)
    assert code == 130, err
    assert "ior-easy-write" in out
    assert "mdtest" not in out
    assert list(place.iterdir()) == []
    (only,) = runs.read_runs(store)
    assert {row.phase for row in only.rows} == {"write"}
    assert not all(row.complete for row in only.rows)


def test_a_quiet_time_that_says_nothing_is_refused(tmp_path, capsys):
    assert run("selftest", str(tmp_path), "--quiet", "100ms", "--no-store") == 2
    assert "--quiet" in capsys.readouterr().err
    assert run("selftest", str(tmp_path / "none"), "--no-store") == 2
    assert "no directory" in capsys.readouterr().err


def test_an_operation_that_the_idle_client_slows_is_said_to_be_understated():
    samples = made({"a": 0.02, "b": 0.02, "c": 0.02}, 36)
    effects = phase_effects({"md_delete": samples}, QUIET, phases("a", "b", "c"))
    assert "deletes: slower in the quiet time" in cautions(effects, 8, 2)[0]
    assert table_rows(effects, phases("a"))[0][-1].startswith("1/")
    assert not cautions(list(verdicts(made({}, 36)).values()), 8, 2)


def test_six_operations_are_the_fewest_that_have_an_interval():
    assert quantile_ranks(5, 0.5) is None
    assert quantile_ranks(6, 0.5) is not None
