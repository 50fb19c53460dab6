"""Two hosts on this machine: network namespaces with names of their own, and one link between them.

Their files, processes and memory are this machine's; what one MPI process tells another crosses the link (UCX is left
no other way). The reaper removes the namespaces of a test process that was killed.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.harness import wait_for
from tests.kit.reaper import MARK, tag

MPIRUN = Path(sys.executable).with_name("mpirun")
_LINK = "net0"
_TRANSPORT = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": _LINK}
_LAUNCHER = """\
#!/bin/bash
# As mpirun calls ssh: options, the host's address, a command.
while [ "${{1#-}}" != "$1" ]; do shift; done
number=${{1##*.}}; shift
exec ip netns exec {name}n$number unshare --uts bash -c "hostname {name}n$number; exec $*"
"""


class TwoHosts:
    """``names``: of the two, as processes on them see theirs."""

    def __init__(self, folder: Path) -> None:
        name = f"{tag(os.environ[MARK])}{secrets.token_hex(2)}"
        self.names = (f"{name}n1", f"{name}n2")
        self._addresses = ("10.99.7.1", "10.99.7.2")
        self._launcher, self._hosts = folder / "launcher", folder / "hosts"
        self._launcher.write_text(_LAUNCHER.format(name=name))
        self._launcher.chmod(0o755)

    def start(self) -> None:
        """Both hosts and their link. Raises RuntimeError: what this kernel refuses."""
        near, far = self.names
        for name in self.names:
            _ip("netns", "add", name)
        _ip(*f"link add {_LINK} netns {near} type veth peer name {_LINK} netns {far}".split())
        for name, address in zip(self.names, self._addresses, strict=True):
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", _LINK)
            for link in (_LINK, "lo"):
                _ip("-n", name, "link", "set", link, "up")
        wait_for("the link to be up", lambda: all(map(self._is_up, self.names)))

    def close(self) -> None:
        """Remove them, and the link with them."""
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def mpirun(self, ranks_a_host: int, *command: str) -> list[str]:
        """The command line that starts so many processes on each host, itself on the first."""
        lines = [f"{address}:{ranks_a_host}\n" for address in self._addresses]
        self._hosts.write_text("".join(lines))
        words = [f"{name}={value}" for name, value in _TRANSPORT.items()]
        start = [MPIRUN, "-launcher", "ssh", "-launcher-exec", self._launcher, "-f", self._hosts]
        job = ["env", *words, *map(str, start), "-n", str(2 * ranks_a_host), *command]
        own = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', self.names[0]]
        return ["ip", "netns", "exec", self.names[0], *own, *job]

    def crossed_bytes(self) -> int:
        """Bytes that the second host sent so far."""
        return int(self._of_link(self.names[1], "statistics/tx_bytes"))

    def _is_up(self, name: str) -> bool:
        """The kernel says so a moment after both ends were set up; UCX takes no link before."""
        return self._of_link(name, "operstate").strip() == "up"

    def _of_link(self, name: str, what: str) -> str:
        return _run("ip", "netns", "exec", name, "cat", f"/sys/class/net/{_LINK}/{what}")


@contextmanager
def two_hosts(folder: Path) -> Iterator[TwoHosts]:
    """Both, removed whatever way the block ends."""
    hosts = TwoHosts(folder)
    try:
        hosts.start()
        yield hosts
    finally:
        hosts.close()


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
