"""Servers behind one target, probed one by one: directories, and Lustre through a stand-in for ``lfs``.

A fake ``lfs`` is all that can be had here: Lustre is a kernel module and a set of servers that this
kernel does not carry, so no test can make a directory whose files lie on an OST. The fake keeps to
what the manual says of the calls that the probe makes; that the probe makes those, understands the
answers and says what went wrong is what these tests show.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit import harness
from tests.kit.harness import wait_for

pytestmark = pytest.mark.service

FAKE = Path(__file__).parents[1] / "kit" / "host" / "fake_lfs.py"


def components(path: Path, *lines: str) -> str:
    parts = "\n".join(f"[[target.component]]\n{line}" for line in lines)
    return harness.target(path, parts)


def lustre(folder: Path, **notes: str) -> dict[str, str]:
    """The environment of an agent on a "Lustre" of four OSTs and two MDTs."""
    tools, state = folder / "tools", folder / "lustre"
    tools.mkdir()
    state.mkdir()
    script = f'#!/bin/sh\nexec {sys.executable} -S -E {FAKE} "$@"\n'
    (tools / "lfs").write_text(script)
    (tools / "lfs").chmod(0o755)
    for name, text in ({"servers": "4 2"} | notes).items():
        (state / name).write_text(text)
    return {"PATH": f"{tools}:/usr/bin:/bin", "FAKE_LFS": str(state)}


def by_component(agent: harness.Agent) -> dict[str, dict[str, Any]]:
    return {s["component"]["name"]: s for s in agent.states() if s["component"]}


def settled(agent: harness.Agent, *names: str) -> dict[str, dict[str, Any]]:
    """The states once every component is probed or given up."""

    def look() -> dict[str, dict[str, Any]] | None:
        states = by_component(agent)
        told = [s["notes"] or any(op["latest_ns"] for op in s["ops"]) for s in states.values()]
        return states if set(states) == set(names) and all(told) else None

    found: dict[str, dict[str, Any]] = wait_for(f"states of {names}", look)
    return found


def probed(agent: harness.Agent, name: str) -> bool:
    return agent.metric("iosonde_target_up", target=f"work/{name}") == 1


def why_not(state: dict[str, Any]) -> str:
    (note,) = [note for note in state["notes"] if note.startswith("not probed: ")]
    return str(note)


def watched(folder: Path) -> Path:
    path = folder / "work"
    path.mkdir()
    return path


def test_a_slow_directory_is_named_among_the_components_of_its_target(tmp_path: Path) -> None:
    work = watched(tmp_path)
    for name in ("a", "b"):
        (work / name).mkdir()
    config = components(work, 'name = "a"\npath = "a"', f'name = "b"\npath = "{work / "b"}"')
    fault = '[[target.fault]]\ncomponent = "b"\nop = "md_stat"\nafter = "12s"\ndelay = "50ms"\n'
    with harness.running(tmp_path, f'window = "1s"\nbaseline = "1h"\n{config}{fault}') as agent:

        def slow() -> bool:
            # Any other op may be slow for a moment on a busy machine.
            ratio = agent.metric("iosonde_slowdown_ratio", target="work/b", op="md_stat")
            word = agent.metric("iosonde_state", target="work/b", state="slow")
            return word == 1 and ratio is not None and ratio > 3

        wait_for("component b to be slow", slow, 60)
        states = by_component(agent)
        assert {name: state["path"] for name, state in states.items()} == {
            "a": str(work / "a"),
            "b": str(work / "b"),
        }
        assert states["b"]["component"] == {"name": "b", "of": "work", "pin": "directory"}
        said = harness.run(["now", "--store", agent.store, "work/b"]).stdout
    assert re.search(r"stats on work, server b, .*slower than usual", said), said
    places = [path.parent.parent.parent.name for path in work.glob("*/.iosonde-*/*/MARK")]
    assert sorted(places) == ["a", "b"]


def test_on_lustre_files_are_pinned_and_a_component_that_cannot_be_is_named(tmp_path: Path) -> None:
    work = watched(tmp_path)
    environ = lustre(tmp_path, elsewhere="@OST0002/data 1\n")
    servers = ("OST0000", "OST0003", "MDT0001", "OST0002", "OST0099")
    lines = [f'name = "{n}"\n{n[:3].lower()} = {int(n[3:])}' for n in servers]
    with harness.running(tmp_path, components(work, *lines), **environ) as agent:
        states = settled(agent, *servers)
        for name in servers[:3]:
            wait_for(f"{name} to be probed", lambda name=name: probed(agent, name))
        for name in servers[3:]:
            assert not probed(agent, name)
        assert states["OST0003"]["component"]["pin"] == {"ost": 3}
        assert "OST0002/data: lies on OST 1; expected OST 2" in why_not(states["OST0002"])
        assert "'lfs setstripe -c 1 -i 99' was refused" in why_not(states["OST0099"])
        assert "Invalid argument" in why_not(states["OST0099"])
    (outer,) = work.glob(".iosonde-*")
    pools = {place.parent.name.split("@")[1] for place in outer.glob("*/pool-3901")}
    assert pools == {"OST0000", "OST0003", "MDT0001"}
    assert all((place.stat().st_mode & 0o777) == 0o700 for place in outer.iterdir())


def test_a_pool_file_that_lies_elsewhere_is_found_and_its_component_given_up(
    tmp_path: Path,
) -> None:
    work = watched(tmp_path)
    environ = lustre(tmp_path, elsewhere="/000000000000003f 0\n")
    config = components(work, 'name = "m"\nmdt = 1', f'name = "d"\npath = "{work}"')
    with harness.running(tmp_path, config, **environ) as agent:
        states = settled(agent, "m", "d")
        wait_for("the directory to be probed", lambda: probed(agent, "d"))
        assert "000000000000003f: lies on MDT 0; expected MDT 1" in why_not(states["m"])
        assert not probed(agent, "m")


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ("Operation not permitted", "was refused (lfs mkdir: error on"),
        (None, "cannot run 'lfs mkdir -i 1' (No such file or directory"),
    ],
)
def test_without_the_right_or_without_lfs_the_other_components_go_on(
    tmp_path: Path, refusal: str | None, said: str
) -> None:
    work = watched(tmp_path)
    environ = lustre(tmp_path, **({"refuse": refusal} if refusal else {}))
    if refusal is None:
        (tmp_path / "tools/lfs").unlink()
    config = components(work, 'name = "m"\nmdt = 1', 'name = "d"\npath = "d"')
    (work / "d").mkdir()
    with harness.running(tmp_path, config, **environ) as agent:
        why = why_not(settled(agent, "m", "d")["m"])
        wait_for("the directory to be probed", lambda: probed(agent, "d"))
    assert said in why
    assert "not probed: " in harness.run(["now", "-v", "--store", agent.store], expect=None).stdout


def test_a_place_that_is_there_is_not_moved_to_another_server(tmp_path: Path) -> None:
    work = watched(tmp_path)
    environ = lustre(tmp_path)
    other = 'name = "d"\npath = "d"'
    (work / "d").mkdir()
    with harness.running(
        tmp_path, components(work, 'name = "s"\nost = 1', other), **environ
    ) as agent:
        wait_for("the component to be probed", lambda: probed(agent, "s"))
        assert agent.stop() == 0
    with harness.running(
        tmp_path, components(work, 'name = "s"\nost = 2', other), **environ
    ) as agent:
        # What the first agent left is there until the second knows whose the place is.
        wait_for("its refusal", lambda: "not probed: " in str(by_component(agent)["s"]["notes"]))
        assert "lies on OST 1; expected OST 2" in why_not(by_component(agent)["s"])


def test_the_example_of_the_documentation_is_a_configuration(tmp_path: Path) -> None:
    page = (harness.ROOT / "docs/components.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, flags=re.S)
    file = tmp_path / "agent.toml"
    file.write_text(example)

    def config(command: str) -> str:
        done = subprocess.run(
            [harness.AGENT, "config", command, file], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    config("check")
    shown = re.findall(r"^# (\S+) at (\S+): every", config("show"), flags=re.M)
    assert shown == [
        ("/work/OST0000", "/work"),
        ("/work/OST0003", "/work"),
        ("/work/MDT0001", "/work"),
        ("/home/filer1", "/home/a"),
        ("/home/filer2", "/export/b"),
    ]
