"""The agent as a daemon: its configuration, its service manager, its logs, its text file."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kit.harness import AGENT, Agent, running, target, wait_for

ENVIRON = {key: value for key, value in os.environ.items() if key != "NOTIFY_SOCKET"}


def ask(*arguments: Any, **environ: str) -> tuple[int, str, str]:
    """Run the agent to its end: exit code, stdout, stderr."""
    done = subprocess.run(
        [AGENT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=ENVIRON | environ,
    )
    assert "panicked" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def write(folder: Path, main: str, **drop_ins: str) -> Path:
    file = folder / "agent.toml"
    file.write_text(main)
    (folder / "agent.d").mkdir(exist_ok=True)
    for name, text in drop_ins.items():
        (folder / "agent.d" / f"{name}.toml").write_text(text)
    return file


class Managed(Agent):
    """An agent with a service manager that listens."""

    def __init__(self, folder: Path, config: str, **environ: str) -> None:
        super().__init__(folder, config)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(folder / "notify"))
        self.manager.setblocking(False)
        self.heard: list[str] = []
        self.environ = ENVIRON | {"NOTIFY_SOCKET": str(folder / "notify")} | environ

    def start(self) -> "Managed":
        with self.log.open("wb") as log:
            command = [AGENT, "--config", self.config]
            self.process = subprocess.Popen(command, stderr=log, env=self.environ)
        return self

    def wait_heard(self, word: str, times: int = 1) -> None:
        def enough() -> bool:
            try:
                while True:
                    self.heard.append(self.manager.recv(4096).decode())
            except BlockingIOError:
                return sum(word in message for message in self.heard) >= times

        wait_for(f"{times} times {word}", enough)

    def reload(self) -> None:
        already = sum("RELOADING=1" in message for message in self.heard)
        assert self.process is not None
        self.process.send_signal(signal.SIGHUP)
        self.wait_heard("RELOADING=1", already + 1)
        self.wait_heard("READY=1", already + 2)


@contextmanager
def managed(folder: Path, config: str, **environ: str) -> Iterator[Managed]:
    agent = Managed(folder, config, **environ)
    try:
        agent.start().wait_heard("READY=1")
        yield agent
    finally:
        agent.kill()
        agent.manager.close()


def test_check_prints_every_problem_with_its_place(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        'windw = "60s"\n[[target]]\npath = "/a"\npool = 1\n',
        more='[[target]]\npath = "${NOT_SET}"\n',
    )
    code, out, err = ask("config", "check", file)
    assert (code, out) == (2, "")
    assert f"{tmp_path}/agent.d/more.toml:2: the environment variable `NOT_SET` is not set" in err
    code, out, err = ask("config", "check", file, NOT_SET="/b")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"{file}:1: unknown key `windw`; did you mean `window`?",
        f"{file}:4: target `/a`: pool must be 16 to 10 000 000 files",
        "2 problems",
    ]


def test_a_start_tells_every_problem_too(tmp_path: Path) -> None:
    main = 'window = "soon"\n[[target]]\npath = "/a"\npool = 0\n[[target]]\npath = "b"\nperiod = "0s"\n'
    file = write(tmp_path, main)
    _, _, told = ask("config", "check", file)
    problems = told.splitlines()[:-1]
    assert len(problems) >= 3, told
    code, _, err = ask("--config", file)
    assert code == 2
    lines = err.splitlines()
    assert len(lines) == len(problems)
    for line, problem in zip(lines, problems, strict=True):
        assert "level=error" in line
        assert problem.replace('"', '\\"') in line


def test_making_files_takes_few_lines(tmp_path: Path) -> None:
    """Two targets whose files take a while: a line a part, and none where nothing is made."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    config = "".join(target(tmp_path / name) for name in ("one", "two"))
    with managed(tmp_path, config.replace("16MiB", "64MiB")) as agent:
        assert agent.stop() == 0
        log = agent.log.read_text()
    assert 1 <= log.count("making its") <= 4, log
    assert " 0 of 0 " not in log
    with running(tmp_path, config.replace("16MiB", "64MiB")) as again:
        assert again.stop() == 0
        assert "making its" not in again.log.read_text()


def test_check_of_a_good_file_and_of_none(tmp_path: Path) -> None:
    file = write(tmp_path, '[[target]]\npath = "/a"\n')
    code, out, err = ask("config", "check", file)
    assert (code, out.splitlines()[0], err) == (0, f"{file}: ok", "")
    assert "first start: a file of 1GiB with O_DIRECT, at most a tenth of the room at 64.000" in out
    code, _, err = ask("--config", file, "--check")
    assert code == 0
    assert "ok" in err
    code, _, err = ask("config", "check", tmp_path / "none.toml")
    assert code == 2
    assert "config init" in err
    assert ask("config", "chekc")[0] == 2


def test_show_gives_what_holds_and_reads_back(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        'host = "${WHO}"\n[probe]\nperiod = "1s"\n[[target]]\npath = "/a"\n'
        '[[target.component]]\nname = "OST0003"\nost = 3\n',
        one='[probe]\nperiod = "2s"\n[[target]]\npath = "/b"\nbudget = { ops = 1 }\n',
    )
    code, shown, err = ask("config", "show", file, WHO="login2")
    assert (code, err) == (0, "")
    assert 'host = "login2"' in shown
    assert "# /a/OST0003 at /a: every 2s\n#   3.000 ops/s, 1.004 MiB/s" in shown
    assert "# /b at /b: every 6s (2s was asked for; the budget allows no more)" in shown
    assert f"{tmp_path}/agent.d/one.toml" in shown.splitlines()[0]
    again = write(tmp_path, shown, one="")
    assert ask("config", "show", again)[1].splitlines()[1:] == shown.splitlines()[1:]


def test_check_says_what_a_first_start_writes(tmp_path: Path) -> None:
    text = '[[target]]\npath = "/a"\nspread = "1h"\nbudget = { bytes = "3MiB" }\n'
    out = ask("config", "check", write(tmp_path, text))[1]
    assert "at 3.000 MiB/s (341 s), begun within 1h by a hash of the host" in out
    out = ask("config", "check", write(tmp_path, text + 'file_size = "32MiB"\n'))[1]
    assert "a file of 32MiB at 3.000 MiB/s (11 s)\n" in out


def test_init_writes_a_valid_file_and_overwrites_none(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    assert ask("config", "init", file)[0] == 0
    text = file.read_text()
    assert ask("config", "check", file)[0] == 0
    file.write_text("precious")
    code, _, err = ask("config", "init", file)
    assert (code, file.read_text()) == (1, "precious")
    assert "left as it is" in err
    assert ask("config", "init", "-") == (0, text, "")
    assert "make its folder first" in ask("config", "init", tmp_path / "no" / "agent.toml")[2]


def test_the_service_manager_is_kept_informed(tmp_path: Path) -> None:
    config = f'flush = "50ms"\n{target(tmp_path)}'
    with managed(tmp_path, config, WATCHDOG_USEC="200000") as agent:
        assert any("STATUS=watching 1 target" in message for message in agent.heard)
        agent.wait_heard("WATCHDOG=1", 5)
        assert agent.stop() == 0
        agent.wait_heard("STOPPING=1")


def test_a_watchdog_of_another_process_is_not_fed(tmp_path: Path) -> None:
    config = f'flush = "50ms"\n{target(tmp_path)}'
    environ = {"WATCHDOG_USEC": "200000", "WATCHDOG_PID": "1"}
    with managed(tmp_path, config, **environ) as agent:
        wait_for("rows", lambda: list(agent.store.glob("spool/*/*")))
        assert agent.stop() == 0
        agent.wait_heard("STOPPING=1")
        assert not any("WATCHDOG" in message for message in agent.heard)


def test_reload_says_what_it_found_and_a_wrong_file_changes_nothing(tmp_path: Path) -> None:
    with managed(tmp_path, target(tmp_path)) as agent:
        good = agent.config.read_text()
        agent.reload()
        agent.wait_told("reloaded: nothing changed")
        agent.config.write_text(good + "pool = 99 99")
        agent.reload()
        agent.wait_told(f"not reloaded, nothing changed: {agent.config}:")
        (tmp_path / "agent.d").mkdir()
        (tmp_path / "agent.d" / "x.toml").write_text(target(tmp_path / "other"))
        agent.config.write_text(good)
        agent.reload()
        agent.wait_told("target other is new")
        assert agent.stop() == 0


def test_a_flood_in_the_log_is_cut_short(tmp_path: Path) -> None:
    with managed(tmp_path, target(tmp_path)) as agent:
        agent.config.write_text("nonsense")
        for _ in range(8):
            agent.reload()
        assert agent.stop() == 0
        log = agent.log.read_text()
        assert log.count("not reloaded") == 5
        assert 'kind=reload msg="suppressed 3 more of these"' in log


def test_log_as_json_lines(tmp_path: Path) -> None:
    with managed(tmp_path, f'log = "json"\n{target(tmp_path)}') as agent:
        assert agent.stop() == 0
        lines = [json.loads(line) for line in agent.log.read_text().splitlines()]
    assert all(line["level"] in ("info", "warn", "error") and line["msg"] for line in lines)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", line["time"]) for line in lines)
    code, _, err = ask("--config", write(tmp_path, f'log = "json"\n{target(tmp_path / "no")}'))
    assert (code, json.loads(err.splitlines()[-1])["level"]) == (1, "error")


def test_the_journal_stamps_its_lines_itself(tmp_path: Path) -> None:
    config = write(tmp_path, f'listen = "off"\n{target(tmp_path / "no")}')
    read, write_end = os.pipe()
    here = os.fstat(write_end)
    environ = ENVIRON | {"JOURNAL_STREAM": f"{here.st_dev}:{here.st_ino}"}
    process = subprocess.Popen([AGENT, "--config", config], stderr=write_end, env=environ)
    os.close(write_end)
    with os.fdopen(read) as log:
        lines = log.read().splitlines()
    assert process.wait(30) == 1
    assert lines
    assert all(re.match(r'level=\w+ (\w+=\S+ )*msg=".*"$', line) for line in lines), lines


def listening(pid: int) -> set[str]:
    """Sockets of a process that wait for connections over TCP."""
    own = {str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [
        row for table in Path("/proc/net").glob("tcp*") for row in table.read_text().splitlines()
    ]
    fields = [row.split() for row in rows]
    return own & {f"socket:[{row[9]}]" for row in fields if row[3] == "0A"}


def test_listen_off_opens_no_port(tmp_path: Path) -> None:
    with managed(tmp_path, target(tmp_path)) as agent:
        assert agent.process is not None
        assert listening(agent.process.pid)
        assert agent.stop() == 0
        text = agent.config.read_text().replace("127.0.0.1:0", "off")
        agent.config.write_text(text)
        agent.heard.clear()
        agent.start().wait_heard("READY=1")
        assert not listening(agent.process.pid)
        assert "http://" not in agent.log.read_text()
        assert agent.stop() == 0


@pytest.mark.service
def test_the_textfile_is_whole_replaced_and_gone_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    folder.mkdir()
    file = folder / "iosonde.prom"
    with managed(tmp_path, f'textfile = "{file}"\n{target(tmp_path)}') as agent:
        wait_for("the text file", file.exists)
        first = file.stat().st_ino

        def replaced() -> str:
            page = file.read_text()
            last = page.splitlines()[-1]
            assert last.startswith("process_start_time_seconds "), "half a page"
            found = "iosonde_op_duration_seconds_count" in page and file.stat().st_ino != first
            return page if found else ""

        page = wait_for("a new page", replaced, 30)
        done = subprocess.run(
            ["promtool", "check", "metrics"],
            input=page,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert agent.stop() == 0
    assert list(folder.iterdir()) == []


def test_a_textfile_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    with managed(tmp_path, f'textfile = "/proc/nowhere/x.prom"\n{target(tmp_path)}') as agent:
        wait_for("a warning", lambda: "cannot write /proc/nowhere/x.prom" in agent.log.read_text())
        wait_for("rows", lambda: list(agent.store.glob("spool/*/*")))
        assert agent.stop() == 0


def test_a_stretched_period_is_said(tmp_path: Path) -> None:
    config = target(tmp_path, "budget = { ops = 30 }")
    with managed(tmp_path, config) as agent:
        agent.wait_told(f'target={tmp_path.name} msg="probed every 0.2 s instead of 0.1 s')
        assert agent.stop() == 0
