"""A real NFS server, nfs-ganesha, in a network namespace of its own, behind a link or a processor of set speed."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path

from tests.kit.reaper import MARK, tag

_NUMBERS = itertools.count()
_NFS, _MOUNT = 12049, 12050
_CONFIGURATION = """
NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = {nfs}; MNT_Port = {mount}; Bind_addr = 0.0.0.0; Enable_NLM = false;
                  Enable_RQUOTA = false; Enable_UDP = false; mount_path_pseudo = false; }}
EXPORT_DEFAULTS {{ SecType = sys; Squash = No_Root_Squash; PrivilegedPort = false; Access_Type = RW; Protocols = 3;
                   Transports = TCP; }}
EXPORT {{ Export_Id = 1; Path = "{folder}"; Pseudo = "/vfs"; FSAL {{ Name = VFS; }} }}
"""
_PATIENCE_S = 60.0
_CPU = Path("/sys/fs/cgroup/cpu")
_QUOTA_US = 1000
"""The kernel grants no less at a time."""


def missing() -> str:
    """What is not there to run it; empty when all is."""
    programs = ("ganesha.nfsd", "rpcbind", "ip", "tc", "nsenter")
    gone = [name for name in programs if shutil.which(name) is None]
    if os.geteuid() != 0:
        gone.append("root")
    return ", ".join(gone)


def quota_missing() -> str:
    """Why a processor's share cannot be set; empty when it can."""
    return "" if (_CPU / "cpu.cfs_quota_us").exists() else "/sys/fs/cgroup/cpu (version 1)"


class Ganesha:
    """The server with its namespace; everything goes with ``close``."""

    def __init__(self, folder: Path) -> None:
        # A watcher removes what begins so, should this process be killed.
        run = os.environ.get(MARK) or uuid.uuid4().hex
        self.folder, self.name = folder, f"{tag(run)}{next(_NUMBERS) % 1000}"
        self.export = folder / "export"
        self.run = folder / "run"
        self.export.mkdir()
        self.run.mkdir()
        self.address = f"10.77.{os.getpid() % 250}.1"
        self.group = _CPU / self.name
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"nfs://{self.address}:{_NFS}{self.export}?mountport={_MOUNT}"

    def start(
        self, rate: str | None = None, share: float | None = None, secure: bool = False
    ) -> None:
        """``rate``: of the link's answers, as tc writes it. ``share``: of one processor. ``secure``: the export demands
        source ports below 1024.
        """
        name, near = self.name, self.address.removesuffix("1") + "2"
        _run("ip", "netns", "add", name)
        _run(
            "ip",
            "link",
            "add",
            f"{name}a",
            "type",
            "veth",
            "peer",
            "name",
            f"{name}b",
            "netns",
            name,
        )
        _run("ip", "addr", "add", f"{near}/24", "dev", f"{name}a")
        _run("ip", "link", "set", f"{name}a", "up")
        for words in (
            f"addr add {self.address}/24 dev {name}b",
            f"link set {name}b up",
            "link set lo up",
        ):
            _run("ip", "-n", name, *words.split())
        if rate is not None:
            limit = f"qdisc add dev {name}b root tbf rate {rate} burst 4kb latency 20s"
            _run("ip", "netns", "exec", name, "tc", *limit.split())
        configuration = self.folder / "ganesha.conf"
        text = _CONFIGURATION.format(nfs=_NFS, mount=_MOUNT, folder=self.export)
        if secure:
            text = text.replace("PrivilegedPort = false", "PrivilegedPort = true")
        configuration.write_text(text)
        self._spawn("rpcbind", "-f", "-w")
        # Ganesha registers its ports once, at its start.
        self._wait_for("rpcbind", 111)
        log, pid = self.folder / "ganesha.log", self.folder / "ganesha.pid"
        self._spawn(
            "ganesha.nfsd", "-F", "-f", configuration, "-L", log, "-p", pid, "-N", "NIV_EVENT"
        )
        self._wait_for("ganesha", _NFS, log)
        if share is not None:
            self._limit(share)

    def _limit(self, share: float) -> None:
        """Give the server so much of one processor, once it has started."""
        self.group.mkdir()
        (self.group / "cpu.cfs_period_us").write_text(str(int(_QUOTA_US / share)))
        (self.group / "cpu.cfs_quota_us").write_text(str(_QUOTA_US))
        (self.group / "cgroup.procs").write_text(str(self.pid))

    @property
    def pid(self) -> int:
        """Process of ganesha: ``ip netns exec`` becomes what it runs."""
        return self._processes[-1].pid

    def freeze(self) -> None:
        """Stop it: nothing is answered until ``thaw``."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def _spawn(self, *words: object) -> None:
        # Sockets and locks in /run are our own, too: a network namespace alone shares them with other servers.
        private = 'mount --bind "$0" /run && exec "$@"'
        inside = ["ip", "netns", "exec", self.name, "sh", "-c", private, str(self.run)]
        with (self.folder / "output").open("ab") as output:
            self._processes.append(
                subprocess.Popen(
                    [*inside, *map(str, words)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
            )

    def _wait_for(self, what: str, port: int, log: Path | None = None) -> None:
        """Return once it takes connections."""
        give_up = time.monotonic() + _PATIENCE_S
        while not self._answers(port):
            if not self.alive() or time.monotonic() > give_up:
                written = log if log and log.exists() else self.folder / "output"
                said = written.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{what} did not start:\n{said}")
            time.sleep(0.05)

    def _answers(self, port: int) -> bool:
        import socket

        try:
            socket.create_connection((self.address, port), 1).close()
        except OSError:
            return False
        return True

    def alive(self) -> bool:
        return all(process.poll() is None for process in self._processes)

    def close(self) -> None:
        for process in reversed(self._processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self._processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        subprocess.run(["ip", "link", "del", f"{self.name}a"], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True, check=False)
        if self.group.is_dir():
            self.group.rmdir()


def _run(*words: str) -> None:
    subprocess.run(words, capture_output=True, check=True)
