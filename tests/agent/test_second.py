"""Two agents, one store, one target: the second is refused, and what the first says stays as it is."""

import re
from pathlib import Path

from tests.kit.harness import Agent, run, running, samples, target, wait_for


def test_a_second_agent_leaves_the_state_of_the_first_alone(tmp_path: Path) -> None:
    work, again = tmp_path / "work", tmp_path / "again"
    work.mkdir()
    again.mkdir()
    with running(tmp_path, target(work)) as first:
        wait_for("a state", lambda: [s for s in first.states() if s["running"]])
        run_id = first.states()[0]["run_id"]
        baselines = {path: path.read_bytes() for path in first.store.glob("baselines/*/*")}
        second = Agent(again, target(work), store=first.store).start()
        assert second.process is not None
        seen = set()

        def ended() -> bool:
            assert second.process is not None
            seen.update((s["run_id"], s["running"]) for s in first.states())
            return second.process.poll() is not None

        wait_for("the second to give up", ended)
        seen.update((state["run_id"], state["running"]) for state in first.states())
        assert second.process.returncode == 1
        log = second.log.read_text()
        assert re.search(
            r"held by another probe \(pid \d+, since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, run ", log
        )
        assert seen == {(run_id, True)}
        assert {path: path.read_bytes() for path in baselines} == baselines
        said = run(["check", "--store", first.store], expect=None).stdout
        assert "work: still learning" in said or said.startswith("IOSONDE OK"), said
        assert first.stop() == 0
    found = samples(first.store).execute("select distinct run_id from samples").fetchall()
    assert found == [(run_id,)]


def test_the_second_takes_over_where_the_first_has_ended(tmp_path: Path) -> None:
    """With another target of its own it goes on, and its states are those of what it watches."""
    for name in ("work", "other", "again"):
        (tmp_path / name).mkdir()
    with running(tmp_path, target(tmp_path / "work")) as first:
        wait_for("a state", first.states)
        config = target(tmp_path / "work", 'retry = "1s"\nretry_max = "1s"') + target(
            tmp_path / "other"
        )
        with running(tmp_path / "again", config, store=first.store) as second:
            wait_for("its own target", lambda: len(second.states()) == 2)
            by_name = {state["target"]: state["run_id"] for state in second.states()}
            assert by_name["work"] != by_name["other"]
            assert first.stop() == 0

            def taken() -> bool:
                states = second.states()
                return all(s["run_id"] == by_name["other"] and s["running"] for s in states)

            wait_for("the second to take over", taken, 60)
            assert second.stop() == 0
        assert [state["running"] for state in second.states()] == [False, False]
