"""A killed test process leaves no server behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.harness import wait_for

ROOT = Path(__file__).resolve().parents[2]
STARTS = """
import signal
from tests.kit.reaper import reaper
from tests.kit.servers.loopback import Postgresql, Versitygw
with reaper() as mark:
    servers = [Versitygw(), Postgresql()]
    for server in servers:
        server.start()
    print(mark, *(server.port for server in servers), servers[0].folder.parent, flush=True)
    signal.pause()
"""

NAMESPACE = """
import signal, subprocess, sys
from pathlib import Path
from tests.kit.reaper import reaper, tag
with reaper() as mark:
    name = tag(mark) + "0"
    run = lambda *words: subprocess.run(words, check=True)
    run("ip", "netns", "add", name)
    run("ip", "link", "add", name + "a", "type", "veth", "peer", "name", name + "b", "netns", name)
    server = subprocess.Popen(["ip", "netns", "exec", name, "sleep", "1000"])
    print(name, server.pid, flush=True)
    signal.pause()
"""


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_servers_die_with_a_killed_test_process():
    with subprocess.Popen(
        [sys.executable, "-c", STARTS], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        _, *ports, folder = tests.stdout.readline().split()
        assert all(listens(int(port)) for port in ports)
        assert Path(folder).is_dir()
        tests.send_signal(signal.SIGKILL)
        assert tests.wait(30) == -signal.SIGKILL
    wait_for("the servers to be gone", lambda: not any(listens(int(port)) for port in ports))
    wait_for("their folder to be gone", lambda: not Path(folder).exists())


def test_a_network_namespace_goes_with_a_killed_test_process():
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("no network namespace can be made; expected iproute2 and root")
    with subprocess.Popen(
        [sys.executable, "-c", NAMESPACE], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        name, pid = tests.stdout.readline().split()
        left = [
            Path("/run/netns") / name,
            Path("/sys/class/net") / f"{name}a",
            Path("/proc") / pid,
        ]
        assert all(each.exists() for each in left)
        tests.send_signal(signal.SIGKILL)
        assert tests.wait(30) == -signal.SIGKILL
    wait_for("all of it to be gone", lambda: not any(each.exists() for each in left))
