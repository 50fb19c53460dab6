"""Storage that hangs: the agent goes on, says what hangs and since when, and leaves nothing behind."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.harness import SECOND, Agent

pytestmark = [pytest.mark.service, pytest.mark.measures]

HANG_S = 60
OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
BLOCKED_BY_A_FREEZE = ("data_write", "md_create", "md_delete")


def target(path: Path, name: str) -> str:
    return (
        f'[[target]]\npath = "{path}"\nname = "{name}"\nperiod = "500ms"\nfile_size = "16MiB"\n'
        'block_size = "256KiB"\npool = 64\ndeadline = "3s"\nretry = "4s"\nretry_max = "20s"\n'
    )


class Rig:
    """A frozen ext4, a FUSE file system whose server is stopped, and a healthy directory, under one agent."""

    def __init__(self, agent: Agent, ext4: Path, fuse: harness.Fuse) -> None:
        self.agent, self.ext4, self.fuse = agent, ext4, fuse

    def hang(self) -> int:
        subprocess.run(["fsfreeze", "-f", self.ext4], check=True)
        self.fuse.freeze()
        return time.time_ns()

    def release(self) -> int:
        subprocess.run(["fsfreeze", "-u", self.ext4], check=True)
        self.fuse.thaw()
        return time.time_ns()

    def metrics(self) -> "Metrics":
        began = time.monotonic()
        text = self.agent.get("/metrics")[1]
        return Metrics(text, time.monotonic() - began)


class Metrics:
    """One page of metrics, when it came (monotonic) and how long it took (s)."""

    def __init__(self, text: str, took_s: float) -> None:
        self.took_s, self.at_s = took_s, time.monotonic()
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        self.values = {name: float(value) for name, value in lines}

    def op(self, name: str, target: str, op: str) -> float:
        return self.values[f'{name}{{target="{target}",op="{op}"}}']


@contextmanager
def rig(folder: Path) -> Iterator[Rig]:
    healthy = folder / "healthy"
    healthy.mkdir()
    with ExitStack() as stack:
        ext4 = stack.enter_context(harness.loop_ext4(folder))
        fuse = stack.enter_context(harness.fuse(folder))
        config = 'window = "5s"\n' + target(ext4, "ext4") + target(fuse.mount, "fuse")
        agent = stack.enter_context(harness.running(folder, config + target(healthy, "healthy")))
        yield Rig(agent, ext4, fuse)


def children(pid: int) -> dict[int, str]:
    """State letters of the agent's processes, threads included (a thread in D state cannot be killed)."""
    found = {}
    for task in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            fields = task.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found[int(task.parent.name)] = fields[0]
    return found


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict]:
    """A minute of hanging, watched every second; what each test looks at."""
    folder = tmp_path_factory.mktemp("hang")
    with rig(folder) as rigged:
        agent = rigged.agent
        harness.wait_for(
            "what is usual",
            lambda: "still learning" not in harness.run(["now", "--store", agent.store]).stdout,
            90,
        )
        before = rigged.metrics()
        hung_ns = rigged.hang()
        pages, said = [], {}
        try:
            for second in range(1, HANG_S + 1):
                time.sleep(max(0.0, hung_ns / SECOND + second - time.time()))
                pages.append(rigged.metrics())
                if second == HANG_S - 5:
                    said["now"] = harness.run(["now", "--store", agent.store]).stdout
                    said["check"] = harness.run(["check", "--store", agent.store], expect=2).stdout
                    said["json"] = harness.run(
                        ["now", "--format", "json", "--store", agent.store]
                    ).stdout
        finally:
            released_ns = rigged.release()
        assert agent.process is not None
        pid = agent.process.pid

        def well() -> float | None:
            page = rigged.metrics()
            stuck = sum(v for k, v in page.values.items() if 'kind="stuck"' in k)
            open_ = sum(v for k, v in page.values.items() if k.startswith("iosonde_breaker_open"))
            return time.time() if stuck == 0 and open_ == 0 else None

        well_s = harness.wait_for("the recovery", well, 30) - released_ns / SECOND
        states = children(pid)
        time.sleep(3)
        after = rigged.metrics()
        own = {name: sorted(path.rglob("*")) for name, path in places(folder, rigged)}
        assert agent.stop() == 0
        yield {
            "before": before,
            "pages": pages,
            "after": after,
            "said": said,
            "hung_ns": hung_ns,
            "released_ns": released_ns,
            "well_s": well_s,
            "states": states,
            "own": own,
            "pool": {name: pool_sizes(path) for name, path in places(folder, rigged)},
            "events": json.loads(
                harness.run(["events", "--format", "json", "--store", agent.store]).stdout
            )["events"],
            "samples": harness.samples(agent.store),
            "log": agent.log.read_text(),
        }


def places(folder: Path, rigged: Rig) -> list[tuple[str, Path]]:
    return [("ext4", rigged.ext4), ("fuse", folder / "fuse"), ("healthy", folder / "healthy")]


def pool_sizes(path: Path) -> list[int]:
    return [file.stat().st_size for file in path.glob(".iosonde-*/*/pool-3901/*")]


def test_metrics_answer_every_second(story: dict) -> None:
    took = sorted(page.took_s for page in story["pages"])
    print(
        f"/metrics during the hang: median {took[30] * 1e3:.1f} ms, longest {took[-1] * 1e3:.1f} ms"
    )
    assert len(took) == HANG_S, "a page that waits for the storage ends in a timeout"


def test_the_healthy_target_misses_no_tick(story: dict) -> None:
    for op in OPS:
        missed = story["after"].op("iosonde_ticks_missed_total", "healthy", op)
        # A virtual machine's pause costs a tick; the hang of a minute would cost hundreds.
        assert missed - story["before"].op("iosonde_ticks_missed_total", "healthy", op) <= 2, op


def test_breakers_open_for_what_hangs_and_for_nothing_else(story: dict) -> None:
    last = story["pages"][-1]
    is_open = {
        (name, op): last.op("iosonde_breaker_open", name, op) == 1
        for name in ("ext4", "fuse", "healthy")
        for op in OPS
    }
    expected = {
        (name, op): name == "fuse" or (name == "ext4" and op in BLOCKED_BY_A_FREEZE)
        for name, op in is_open
    }
    assert is_open == expected


def test_the_age_grows_second_by_second(story: dict) -> None:
    for name, op in [("ext4", "md_create"), ("fuse", "md_stat")]:
        pages = story["pages"]
        ages = [page.op("iosonde_op_inflight_seconds", name, op) for page in pages]
        grown = [late - early for early, late in pairwise(ages[2:])]
        passed = [late.at_s - early.at_s for early, late in pairwise(pages[2:])]
        steps = list(zip(grown, passed, strict=True))
        assert all(abs(age - gone) < 0.6 for age, gone in steps), (name, steps)
        assert ages[-1] == pytest.approx(HANG_S, abs=2)


def test_now_and_check_say_what_hangs_and_since_when(story: dict) -> None:
    lines = {line.split(" have been")[0]: line for line in story["said"]["now"].splitlines()}
    text = story["said"]["now"]
    since = time.strftime("%H:%M", time.gmtime(story["hung_ns"] / SECOND))
    assert any("creates" in head and "on ext4" in head for head in lines), text
    assert any("stats" in head and "on fuse" in head for head in lines), text
    assert "stats" in next(line for line in text.splitlines() if "on ext4" in line).split("; ")[1]
    assert f"since {since}" in text
    assert story["said"]["check"].startswith("IOSONDE CRITICAL - ")
    assert "hanging" in story["said"]["check"]
    found = {f["target"]: f for f in json.loads(story["said"]["json"])["targets"]}
    assert found["ext4"]["severity"] == found["fuse"]["severity"] == "hung"
    assert found["healthy"]["severity"] != "hung"
    assert abs(found["ext4"]["since_ns"] - story["hung_ns"]) < SECOND
    waits = found["ext4"]["evidence"]["waits_in"]
    assert waits, "no kernel function named"


def test_recovery_is_quick_and_whole(story: dict) -> None:
    print(f"recovered {story['well_s']:.1f} s after the release")
    assert story["well_s"] < 5
    assert "D" not in story["states"].values()
    assert len(story["states"]) > 3


def test_no_file_is_left_behind(story: dict) -> None:
    for name, sizes in story["pool"].items():
        assert set(sizes) == {3901}, name
        assert 63 <= len(sizes) <= 66, (name, len(sizes))
        names = {path.name for path in story["own"][name] if path.parent.name != "pool-3901"}
        known = {"MARK", "lock", "data", "pool-3901", "lost+found"}
        assert {n for n in names if n not in known and not n.startswith(".iosonde-")} <= {
            os.uname().nodename
        }, name


def test_the_event_is_in_the_store(story: dict) -> None:
    events = {(event["target"], event["op"]): event for event in story["events"]}
    for key in [("ext4", "md_create"), ("fuse", "md_stat"), ("fuse", "data_read")]:
        event = events[key]
        assert event["kind"] == "hang"
        assert abs(event["began_ns"] - story["hung_ns"]) < SECOND
        assert 0 <= event["ended_ns"] - story["released_ns"] < 5 * SECOND
        assert event["outcome"] == "ok", "the stuck operation returned in the end"
        assert event["attempts"] >= 2
        assert event["evidence"]["wchan"]
    assert not any(event["target"] == "healthy" for event in events.values())


def test_every_tick_has_its_row_and_the_late_ones_say_how_long(story: dict) -> None:
    gaps = story["samples"].execute(
        "select target, op, max(gap), min(gap) from (select target, op, due_ns - lag(due_ns) over "
        "(partition by target, op order by due_ns) as gap from samples) where gap is not null group by all"
    )
    for name, op, longest, shortest in gaps.fetchall():
        assert longest == shortest == SECOND // 2, f"{name} {op}"
    late = story["samples"].execute(
        "select max(ended_ns - began_ns) from samples where outcome = 'ok' and target = 'ext4' and op = 'md_create'"
    )
    assert late.fetchone()[0] > (HANG_S - 2) * SECOND


def test_a_throttled_device_is_slow_and_opens_no_breaker(tmp_path: Path) -> None:
    with harness.loop_ext4(tmp_path) as mount:
        device = harness.device_of(mount)
        with harness.throttled(device) as group:
            config = f'window = "5s"\n{target(mount, "ext4")}'
            with harness.running(tmp_path, config) as agent:
                for process in agent.processes():
                    (group / "cgroup.procs").write_text(str(process))
                harness.wait_for(
                    "what is usual",
                    lambda: "as usual" in harness.run(["now", "--store", agent.store]).stdout,
                    90,
                )
                harness.throttle(group, device, 2_000_000)
                said = harness.wait_for(
                    "slow reads and writes",
                    lambda: slow(harness.run(["now", "--store", agent.store]).stdout),
                    60,
                )
                print(said)
                assert "hang" not in said
                assert all(
                    agent.metric("iosonde_hangs_total", target="ext4", op=op) == 0 for op in OPS
                )
                harness.throttle(group, device, 0)
                assert agent.stop() == 0


def slow(text: str) -> str | None:
    return text if "slower than usual" in text and "reads" in text and "writes" in text else None
