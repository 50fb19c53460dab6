"""What is in deploy/: the systemd units, and the scripts for NHC, login and Slurm, run against stores made here."""

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import put
from tests.kit.harness import AGENT, IOSONDE, ROOT, Agent, target, wait_for
from tests.kit.samples.makers import SECOND, state, with_ops

DEPLOY = ROOT / "deploy"
UNITS = DEPLOY / "systemd"
NHC, MOTD = DEPLOY / "nhc/iosonde.nhc", DEPLOY / "motd/90-iosonde"
PROLOG, TASK = DEPLOY / "slurm/prolog.d/iosonde.sh", DEPLOY / "slurm/taskprolog.sh"
SCRIPTS = [NHC, MOTD, PROLOG, TASK]


def shell(script: str, store: Path, **environ: Any) -> tuple[int, str, str]:
    """Run a line of bash as a login or a scheduler would: exit code, stdout, stderr."""
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={"PATH": os.environ["PATH"], "TZ": "UTC", "IOSONDE": str(IOSONDE)}
        | {"IOSONDE_STORE": str(store), "IOSONDE_MOTD_SCRIPT": str(MOTD)}
        | {key: str(value) for key, value in environ.items()},
    )
    return done.returncode, done.stdout, done.stderr


def nhc(store: Path, options: str = "", **environ: Any) -> tuple[int, str, str]:
    return shell(f". {NHC}; check_fs_latency -s {store} {options}", store, **environ)


def store(folder: Path, word: str) -> Path:
    """A store whose one target is ``word`` now."""
    now = time.time_ns()
    fresh = {"written_ns": now}
    op: dict[str, Any] = {"state": word}
    if word == "slow":
        op |= {"slowdown": 3.1, "slowdown_lower": 2.8, "slowdown_upper": 3.4, "since_ns": now}
    if word == "hung":
        op |= {"inflight_ns": 60 * SECOND, "inflight_due_ns": now - 60 * SECOND}
    if word == "learning":
        op |= {"slowdown": None, "baseline_ns": None, "baseline_windows": 0}
    names = [one["op"] for one in state()["ops"]] if word == "learning" else ["md_create"]
    changed = with_ops(**dict.fromkeys(names, op))
    put(folder, work=changed | fresh | {"state": word})
    return folder


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound_and_say_how_to_install_them(script: Path) -> None:
    head = script.read_text()[:2000]
    assert "# Install:" in head
    assert "# Costs:" in head
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.service
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_without_a_warning(script: Path) -> None:
    subprocess.run(["shellcheck", "-s", "bash", "-e", "SC1091", script], check=True)


@pytest.mark.parametrize(
    ("word", "options", "code"),
    [
        ("ok", "", 0),
        ("slow", "", 0),
        ("slow", "-f warning", 1),
        ("hung", "", 1),
        ("hung", "-j 1 /work", 1),
        ("learning", "", 0),
        ("learning", "-u", 1),
        ("ok", "/nowhere", 0),
        ("ok", "-u /nowhere", 1),
        ("ok", "-t soon", 1),
        ("ok", "-j 08", 1),
        ("ok", "-x", 1),
    ],
)
def test_nhc_is_silent_or_one_error(tmp_path: Path, word: str, options: str, code: int) -> None:
    found, out, err = nhc(store(tmp_path, word), options)
    assert (found, err) == (code, "")
    assert out == "" if code == 0 else re.fullmatch(r"ERROR: check_fs_latency: [^|\n]+\n", out)


def test_nhc_uses_the_words_of_the_check(tmp_path: Path) -> None:
    said = nhc(store(tmp_path, "hung"))[1]
    assert "IOSONDE CRITICAL - creates on /work have been hanging" in said
    inside = f'die() {{ echo "$1 $2"; }}; . {NHC}; check_fs_latency -s {tmp_path}'
    assert shell(inside, tmp_path)[1].startswith("1 check_fs_latency:  IOSONDE CRITICAL")


def test_a_missing_iosonde_is_an_error_for_nhc_only(tmp_path: Path) -> None:
    code, out, _ = nhc(store(tmp_path, "ok"), IOSONDE="/nowhere/iosonde")
    assert code == 1
    assert "is it installed?" in out
    for script in (MOTD, PROLOG):
        assert shell(str(script), tmp_path, IOSONDE="/nowhere/iosonde") == (0, "", "")


@pytest.mark.parametrize(
    ("command", "code", "word"),
    [
        (f". {NHC}; check_fs_latency -t 1", 1, "did not answer within 1 s"),
        (str(MOTD), 0, ""),
        (f"IOSONDE_MOTD=always {MOTD}", 0, "no news"),
        (f"IOSONDE_DRAIN_ON=hung {PROLOG}", 0, ""),
    ],
)
def test_a_command_that_hangs_is_left_behind(
    tmp_path: Path, command: str, code: int, word: str
) -> None:
    """Opening a FIFO blocks, and so does this command, whatever signal it gets short of SIGKILL."""
    gate, stuck = tmp_path / "gate", tmp_path / "stuck"
    os.mkfifo(gate)
    stuck.write_text(f"#!/bin/bash\ntrap '' TERM INT HUP PIPE\nread -r _ < {gate}\n")
    stuck.chmod(0o755)
    found, out, _ = shell(command, tmp_path, IOSONDE=stuck)
    gate.open("w").close()
    assert (found, bool(out)) == (code, bool(word))
    assert word in out


def test_login_hears_of_trouble_only(tmp_path: Path) -> None:
    assert shell(str(MOTD), store(tmp_path / "ok", "ok")) == (0, "", "")
    assert shell(str(MOTD), store(tmp_path / "new", "learning")) == (0, "", "")
    asked = shell(str(MOTD), tmp_path / "ok", IOSONDE_MOTD="always")[1]
    assert asked.startswith("storage: ok /work is as usual")
    code, out, err = shell(str(MOTD), store(tmp_path / "hung", "hung"))
    assert (code, err) == (0, "")
    assert re.fullmatch(r"storage: hung creates on /work have been hanging [^\n]+\n", out)
    both = store(tmp_path / "both", "hung")
    put(
        both,
        other=with_ops(md_create={"state": "failing"})
        | {"target": "/b", "written_ns": time.time_ns()},
    )
    assert shell(str(MOTD), both)[1].endswith("; 1 more: iosonde now\n")


@pytest.mark.parametrize(
    ("word", "environ", "code"),
    [
        ("ok", {"IOSONDE_DRAIN_ON": "hung"}, 0),
        ("slow", {"IOSONDE_DRAIN_ON": "hung"}, 0),
        ("hung", {}, 0),
        ("hung", {"IOSONDE_DRAIN_ON": "hung"}, 1),
        ("hung", {"IOSONDE_DRAIN_ON": "hung", "IOSONDE_TARGETS": "/work"}, 1),
        ("hung", {"IOSONDE_DRAIN_ON": "hung", "IOSONDE_TARGETS": "/nowhere"}, 0),
    ],
)
def test_prolog_fails_only_when_told_to(
    tmp_path: Path, word: str, environ: dict[str, str], code: int
) -> None:
    found, out, err = shell(str(PROLOG), store(tmp_path, word), **environ)
    assert (found, err) == (code, "")
    assert ("hanging" in out) == (word == "hung" and environ.get("IOSONDE_TARGETS") != "/nowhere")


def test_task_prolog_prints_for_the_first_task(tmp_path: Path) -> None:
    hung = store(tmp_path, "hung")
    assert shell(str(TASK), hung)[1].startswith("print storage: hung creates")
    assert shell(str(TASK), hung, SLURM_PROCID=1) == (0, "", "")


@pytest.mark.service
@pytest.mark.parametrize("name", ["iosonde-agent", "iosonde-seal", "iosonde-digest"])
def test_units_are_valid_and_hardened(tmp_path: Path, name: str) -> None:
    for unit in [*UNITS.glob("*.service"), *UNITS.glob("*.timer")]:
        text = unit.read_text().replace("/usr/bin/iosonde", str(AGENT.parent / "iosonde"))
        text = text.replace("/etc/default/iosonde", "/dev/null")
        (tmp_path / unit.name).write_text(text)
    unit = tmp_path / f"{name}.service"
    command = ["systemd-analyze", "security", "--no-pager", "--offline=true"]
    done = subprocess.run([*command, unit], capture_output=True, text=True, check=True)
    score = re.search(r"Overall exposure level .*: ([0-9.]+)", done.stdout)
    assert score is not None
    assert float(score[1]) <= 3.0
    files = sorted(tmp_path.glob("iosonde-*"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def allowed_calls() -> set[str]:
    """System calls that the unit's filter lets through, by the sets of this systemd."""
    listing = subprocess.run(
        ["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True
    ).stdout
    sets: dict[str, set[str]] = {}
    for line in listing.splitlines():
        if line.startswith("@"):
            members = sets.setdefault(line.strip(), set())
        elif line.startswith("    ") and not line.strip().startswith("#"):
            members.add(line.strip())

    def calls(name: str) -> set[str]:
        if not name.startswith("@"):
            return {name}
        return set().union(*(calls(member) for member in sets[name]))

    found: set[str] = set()
    for line in (UNITS / "iosonde-agent.service").read_text().splitlines():
        if line.startswith("SystemCallFilter="):
            words = line.partition("=")[2]
            named = set().union(*(calls(word) for word in words.lstrip("~").split()))
            found = found - named if words.startswith("~") else found | named
    return found


@pytest.mark.service
def test_the_agent_makes_only_calls_that_its_unit_allows(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    agent = Agent(tmp_path, f'textfile = "{tmp_path}/x.prom"\n{target(tmp_path)}')
    process = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", trace, AGENT, "--config", agent.config],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"NOTIFY_SOCKET": "@nobody", "WATCHDOG_USEC": "100000"},
    )
    try:
        wait_for("rows", lambda: list(agent.store.glob("spool/*/*")))
        wait_for("deletes", lambda: "unlinkat" in trace.read_text())
    finally:
        pid = int(trace.read_text().split()[0])
        os.kill(pid, 15)
        assert process.wait(30) == 0
    made = set(re.findall(r"^\d+ +([a-z0-9_]+)\(", trace.read_text(), re.MULTILINE))
    assert {"pwrite64", "openat", "sendto"} <= made
    # What systemd does not know yet answers "not there", which the agent can handle.
    assert made - allowed_calls() <= {"cachestat", "syscall_0x1c3"}
