"""Targets and stores that are not as they should be: a clear message, the others go on, nothing of others touched."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import Agent, running, target

pytestmark = pytest.mark.service


def refusal(folder: Path, config: str) -> tuple[int, str]:
    """The agent must end by itself; its exit code and last words."""
    agent = Agent(folder, config).start()
    assert agent.process is not None
    code = agent.process.wait(20)
    text = agent.log.read_text()
    assert "panicked" not in text
    return code, text


def own(path: Path) -> Path:
    """Where the probe keeps its files."""
    return next(iter((path / ".iosonde-0").iterdir()))


def test_missing_target(tmp_path: Path) -> None:
    code, text = refusal(tmp_path, target(tmp_path / "nowhere"))
    assert code == 1
    assert "nowhere" in text
    assert "expected an existing directory" in text


def test_target_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "expected an existing directory" in refusal(tmp_path, target(file))[1]


def test_read_only_target(tmp_path: Path) -> None:
    with harness.tmpfs(tmp_path / "ro", "ro,size=1m") as mount:
        code, text = refusal(tmp_path, target(mount))
    assert code == 1
    assert "cannot write" in text


@pytest.mark.parametrize("size", ["8m", "17m"])
def test_too_small_target(tmp_path: Path, size: str) -> None:
    with harness.tmpfs(tmp_path / "small", f"size={size}") as mount:
        code, text = refusal(tmp_path, target(mount))
        assert code == 1
        assert "try --file-size" in text
        data = list(mount.glob(".iosonde-*/*/data"))
        assert all(file.stat().st_size == 0 for file in data), "a full disk hurts everybody on it"


def test_symlink_in_the_way(tmp_path: Path) -> None:
    watched, elsewhere = tmp_path / "watched", tmp_path / "elsewhere"
    watched.mkdir()
    elsewhere.mkdir()
    (watched / ".iosonde-0").symlink_to(elsewhere)
    code, text = refusal(tmp_path, target(watched))
    assert code == 1
    assert "symbolic link" in text
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["data", "lock", "MARK"])
def test_symlink_for_a_file_of_ours(tmp_path: Path, name: str) -> None:
    watched, precious = tmp_path / "watched", tmp_path / "precious"
    watched.mkdir()
    with running(tmp_path, target(watched)) as agent:
        assert agent.stop() == 0
    precious.write_text("precious")
    (own(watched) / name).unlink()
    (own(watched) / name).symlink_to(precious)
    assert refusal(tmp_path, target(watched))[0] == 1
    assert precious.read_text() == "precious"


def test_directory_of_another_version(tmp_path: Path) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        assert agent.stop() == 0
    (own(tmp_path) / "MARK").write_text("iosonde probe directory, format 9\n")
    code, text = refusal(tmp_path, target(tmp_path))
    assert code == 1
    assert "format 9" in text
    assert "another version" in text


def test_directory_of_somebody_else(tmp_path: Path) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        assert agent.stop() == 0
    place = own(tmp_path)
    (place / "MARK").unlink()
    (place / "thesis.tex").write_text("years of work")
    code, text = refusal(tmp_path, target(tmp_path))
    assert code == 1
    assert "no mark of iosonde" in text
    assert (place / "thesis.tex").read_text() == "years of work"


def test_held_by_another_probe(tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    watched = tmp_path / "watched"
    watched.mkdir()
    with running(tmp_path, target(watched)) as first:
        code, text = refusal(second, target(watched))
        assert code == 1
        assert f"held by another probe (pid {first.process.pid}" in text


def test_one_bad_target_does_not_stop_the_others(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.mkdir()
    with running(tmp_path, target(good) + target(tmp_path / "bad")) as agent:
        agent.wait_told("not probed")
        harness.wait_for(
            "rows", lambda: agent.metric("iosonde_ops_total", target="good", result="ok")
        )
        assert agent.stop() == 0


def test_half_made_files_are_repaired(tmp_path: Path) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        assert agent.stop() == 0
    pool = own(tmp_path) / "pool-3901"
    files = sorted(pool.iterdir())
    files[-1].write_bytes(b"half")
    files[0].unlink()
    (pool / "somebody-elses").write_text("x")
    data = own(tmp_path) / "data"
    with data.open("r+b") as file:
        file.truncate(3 << 20)
    with running(tmp_path, target(tmp_path)) as agent:
        agent.wait_told("1 files in the pool's directory are not ours")
        assert agent.stop() == 0
    assert data.stat().st_size == 16 << 20
    assert data.stat().st_blocks * 512 >= 16 << 20, "a hole in the big file"
    ours = [file for file in pool.iterdir() if file.name != "somebody-elses"]
    assert {file.stat().st_size for file in ours} == {3901}
    assert (pool / "somebody-elses").read_text() == "x"


def test_a_sparse_big_file_is_written_anew(tmp_path: Path) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        assert agent.stop() == 0
    data = own(tmp_path) / "data"
    data.unlink()
    with data.open("wb") as file:
        file.truncate(16 << 20)
    with running(tmp_path, target(tmp_path)) as agent:
        agent.wait_told("had holes")
        assert agent.stop() == 0
    assert data.stat().st_blocks * 512 >= 16 << 20


def test_a_pool_of_another_size_is_replaced(tmp_path: Path) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        assert agent.stop() == 0
    with running(tmp_path, target(tmp_path, "object_size = 100")) as agent:
        assert agent.stop() == 0
    assert [entry.name for entry in own(tmp_path).glob("pool-*")] == ["pool-100"]


def test_files_deleted_under_the_probe_are_rows_and_are_replaced(tmp_path: Path) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        pool = own(tmp_path) / "pool-3901"
        for file in pool.iterdir():
            file.unlink(missing_ok=True)
        harness.wait_for(
            "errors", lambda: agent.metric("iosonde_ops_total", op="md_delete", result="error")
        )
        harness.wait_for("the repair", lambda: len(list(pool.iterdir())) >= 60)
        assert agent.stop() == 0
    outcomes = harness.samples(agent.store).execute("select distinct outcome from samples")
    assert ("ENOENT",) in outcomes.fetchall()


def test_config_typo_names_line_and_suggests(tmp_path: Path) -> None:
    code, text = refusal(tmp_path, f'[probe]\nperod = "1s"\n{target(tmp_path)}')
    assert code == 2
    assert "agent.toml:4: unknown key `perod`; did you mean `period`?" in text


def test_full_store_loses_nothing_and_says_so(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    with harness.tmpfs(tmp_path / "store", "size=1m") as store:
        with running(tmp_path, f'flush = "100ms"\n{target(watched)}', store) as agent:
            harness.wait_for("rows", lambda: agent.metric("iosonde_spool_rows_total"))
            ballast = store / "ballast"
            subprocess.run(
                ["dd", "if=/dev/zero", f"of={ballast}"], check=False, capture_output=True
            )
            harness.wait_for("waiting rows", lambda: agent.metric("iosonde_spool_waiting_rows"))
            assert (agent.metric("iosonde_spool_errors_total") or 0) > 0
            ballast.unlink()
            harness.wait_for(
                "none waiting", lambda: agent.metric("iosonde_spool_waiting_rows") == 0
            )
            assert agent.metric("iosonde_spool_dropped_rows_total") == 0
            assert agent.stop() == 0
        rows = harness.samples(store)
        gaps = rows.execute(
            "select max(gap) from (select due_ns - lag(due_ns) over (partition by op order by due_ns) "
            "as gap from samples)"
        ).fetchone()
        assert gaps[0] < 0.11 * harness.SECOND, "rows were lost while the store was full"


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_cleanly(tmp_path: Path, sign: signal.Signals) -> None:
    with running(tmp_path, target(tmp_path)) as agent:
        harness.wait_for("rows", lambda: agent.metric("iosonde_ops_total", result="ok"))
        assert agent.stop(sign) == 0
        assert [state["state"] for state in agent.states()] == ["stopped"]
