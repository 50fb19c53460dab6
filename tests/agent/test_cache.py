"""What each sample says of the cache, on file systems that treat it differently."""

from pathlib import Path

import pytest

from tests.kit import harness

pytestmark = pytest.mark.service


def caches(folder: Path, watched: Path, extra: str = "") -> tuple[dict[str, set[str]], str]:
    """Cache states seen per op, and what the agent said of the target."""
    with harness.running(folder, harness.target(watched, extra)) as agent:
        harness.wait_for(
            "twenty rounds",
            lambda: (agent.metric("iosonde_ops_total", op="md_delete", result="ok") or 0) >= 20,
        )
        assert agent.stop() == 0
        said = agent.log.read_text()
    # A tick that a busy machine skipped says nothing of the cache.
    told = "select distinct op, cache from samples where outcome = 'ok'"
    rows = harness.samples(agent.store).execute(told).fetchall()
    seen: dict[str, set[str]] = {}
    for op, cache in rows:
        seen.setdefault(op, set()).add(cache)
    return seen, said


def test_direct_where_the_file_system_grants_it(tmp_path: Path) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        seen, said = caches(tmp_path, mount)
    assert seen["data_read"] == seen["data_write"] == {"direct"}
    assert seen["md_create"] == {"buffered"}
    assert seen["md_stat"] == seen["md_read"] == seen["md_delete"] == {"unknown"}
    assert "bypass the client's cache (O_DIRECT)" in said


def test_through_the_cache_each_read_says_whether_it_was_there(tmp_path: Path) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        seen, said = caches(tmp_path, mount, 'direct = "never"')
    assert seen["data_read"] <= {"evicted", "cached", "buffered"}
    assert "evicted" in seen["data_read"], "reads are followed by an eviction"
    assert seen["data_write"] <= {"buffered", "cached"}
    assert "smaller than memory and O_DIRECT is not used" in said


def test_memory_is_called_memory_although_it_grants_o_direct(tmp_path: Path) -> None:
    with harness.tmpfs(tmp_path / "memory", "size=64m") as mount:
        seen, said = caches(tmp_path, mount)
    assert all(states == {"cached"} for states in seen.values()), seen
    assert "this measures no storage" in said


def test_two_targets_of_different_kinds_in_one_process(tmp_path: Path) -> None:
    with (
        harness.loop_ext4(tmp_path) as disk,
        harness.tmpfs(tmp_path / "memory", "size=64m") as memory,
        harness.running(tmp_path, harness.target(disk) + harness.target(memory)) as agent,
    ):
        for target in (disk.name, memory.name):
            harness.wait_for(
                f"rows of {target}",
                lambda target=target: agent.metric(
                    "iosonde_ops_total", target=target, op="md_delete", result="ok"
                ),
            )
        assert agent.stop() == 0
        states = {state["target"]: state for state in agent.states()}
    assert set(states) == {disk.name, memory.name}
    assert all(len(state["ops"]) == 6 for state in states.values())
