"""A real NFS server, nfs-ganesha, in a network namespace of its own, behind a link or a processor of set speed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

_NFS, _MOUNT = 12049, 12050
_CONFIGURATION = """
NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = {nfs}; MNT_Port = {mount}; Bind_addr = 0.0.0.0; Enable_NLM = false;
                  Enable_RQUOTA = false; Enable_UDP = false; mount_path_pseudo = false; }}
EXPORT_DEFAULTS {{ SecType = sys; Squash = No_Root_Squash; PrivilegedPort = false; Access_Type = RW; Protocols = 3;
                   Transports = TCP; }}
EXPORT {{ Export_Id = 1; Path = "{folder}"; Pseudo = "/vfs"; FSAL {{ Name = VFS; }} }}
"""
_PATIENCE_S = 60.0


def missing() -> str:
    """What is not there to run it; empty when all is."""
    programs = ("ganesha.nfsd", "rpcbind", "ip", "tc", "nsenter")
    gone = [name for name in programs if shutil.which(name) is None]
    if os.geteuid() != 0:
        gone.append("root")
    return ", ".join(gone)


class Ganesha:
    """The server with its namespace; everything goes with ``close``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, f"ios{os.getpid() % 100_000}"
        self.export = folder / "export"
        self.export.mkdir()
        self.address = f"10.77.{os.getpid() % 250}.1"
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"nfs://{self.address}:{_NFS}{self.export}?mountport={_MOUNT}"

    def start(self, rate: str) -> None:
        """``rate``: of the link's answers, as tc writes it."""
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
        limit = f"qdisc add dev {name}b root tbf rate {rate} burst 4kb latency 20s"
        _run("ip", "netns", "exec", name, "tc", *limit.split())
        configuration = self.folder / "ganesha.conf"
        configuration.write_text(_CONFIGURATION.format(nfs=_NFS, mount=_MOUNT, folder=self.export))
        self._spawn("rpcbind", "-f", "-w")
        log, pid = self.folder / "ganesha.log", self.folder / "ganesha.pid"
        self._spawn(
            "ganesha.nfsd", "-F", "-f", configuration, "-L", log, "-p", pid, "-N", "NIV_EVENT"
        )
        give_up = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if not self.alive() or time.monotonic() > give_up:
                said = log.read_text(errors="replace")[-2000:] if log.exists() else ""
                raise RuntimeError(f"ganesha did not start:\n{said}")
            time.sleep(0.05)

    def _spawn(self, *words: object) -> None:
        inside = ["ip", "netns", "exec", self.name, *map(str, words)]
        with (self.folder / "output").open("ab") as output:
            self._processes.append(
                subprocess.Popen(inside, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            )

    def _answers(self) -> bool:
        import socket

        try:
            socket.create_connection((self.address, _NFS), 1).close()
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


def _run(*words: str) -> None:
    subprocess.run(words, capture_output=True, check=True)
