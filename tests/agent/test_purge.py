"""A probe's directory that is removed, replaced or mounted over: noticed at once, made anew, and said."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import Agent, target

pytestmark = pytest.mark.service

QUICK = 'deadline = "1s"\nretry = "1s"\nretry_max = "2s"'


def own(path: Path) -> Path:
    """Where the probe keeps its files; a path that is not there when there are none."""
    return next(iter(path.glob(".iosonde-*/*")), path / ".iosonde-none")


def works_again(agent: Agent, name: str) -> None:
    before = {op: agent.oks(name, op) for op in ("md_create", "data_write", "md_stat")}
    harness.wait_for(
        "new operations", lambda: all(agent.oks(name, op) > n for op, n in before.items()), 15
    )
    assert agent.metric("iosonde_target_up", target=name) == 1


def notes(agent: Agent) -> str:
    [state] = agent.states()
    return " ".join(state["notes"])


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (".iosonde-0", "the probe's directory was removed: made anew"),
        (".iosonde-0/*/data", "the probe's big file was removed: made anew"),
        (".iosonde-0/*/pool-3901", "the probe's pool of files was removed: made anew"),
    ],
)
def test_what_a_purge_removes_is_made_anew(tmp_path: Path, what: str, words: str) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        config = f'window = "2s"\nflush = "100ms"\n{target(mount, QUICK)}'
        with harness.running(tmp_path, config) as agent:
            harness.wait_for("operations", lambda: agent.oks("ext4"))
            [victim] = mount.glob(what)
            if victim.is_dir():
                # As `rm -rf`: again while the probe puts new files into it.
                harness.wait_for("the end of it", lambda: removed(victim))
            else:
                victim.unlink()
            harness.wait_for("the word", lambda: words in notes(agent), 5)
            works_again(agent, "ext4")
            assert (own(mount) / "data").stat().st_size == 16 << 20
            assert len(list(own(mount).glob("pool-3901/*"))) >= 60
            harness.wait_for(
                "a state that is well",
                lambda: agent.states()[0]["state"] in ("ok", "learning", "slow"),
            )
            assert agent.stop() == 0


def removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_a_mark_that_a_purge_by_age_took_is_written_again(tmp_path: Path) -> None:
    with harness.running(tmp_path, target(tmp_path, QUICK)) as agent:
        mark = own(tmp_path) / "MARK"
        text = mark.read_text()
        mark.unlink()
        harness.wait_for("the mark", mark.exists, 5)
        assert mark.read_text() == text
        assert agent.stop() == 0
    with harness.running(tmp_path, target(tmp_path, QUICK)) as agent:
        assert agent.stop() == 0


def test_another_file_system_mounted_there_is_probed_and_the_bare_mount_point_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with harness.loop_ext4(tmp_path / "a") as first, harness.loop_ext4(tmp_path / "b") as second:
        config = f'window = "2s"\nflush = "100ms"\n{target(first, QUICK)}'
        with harness.running(tmp_path, config) as agent:
            harness.wait_for("operations", lambda: agent.oks("ext4"))
            subprocess.run(["umount", "-l", first], check=True)
            harness.wait_for("the word", lambda: agent.told("is no longer mounted"), 10)
            assert list(first.iterdir()) == []
            assert agent.metric("iosonde_target_up", target="ext4") == 0
            subprocess.run(["mount", "--bind", second, first], check=True)
            works_again(agent, "ext4")
            assert (own(second) / "data").exists()
            # Over it, without a gap: an administrator's mistake, or a fail-over.
            with harness.tmpfs(tmp_path / "c", "size=64m") as third:
                subprocess.run(["mount", "--bind", third, first], check=True)
                harness.wait_for(
                    "its files there", lambda: len(list(own(third).glob("pool-3901/*"))) > 60, 5
                )
                works_again(agent, "ext4")
                assert f"another file system is mounted at {first}: begun afresh" in notes(agent)
                assert agent.stop() == 0
                subprocess.run(["umount", first], check=True)


def test_a_stale_handle_of_one_op_is_enough_to_begin_afresh(tmp_path: Path) -> None:
    fault = '[[target.fault]]\nop = "md_stat"\nafter = "1s"\nfor = "3s"\nerror = "ESTALE"'
    with harness.running(tmp_path, f'window = "2s"\n{target(tmp_path, QUICK)}{fault}') as agent:
        harness.wait_for("the word", lambda: agent.told("md_stat fails (ESTALE): starting afresh"))
        works_again(agent, tmp_path.name)
        assert agent.stop() == 0
