"""The real agent on real mounts: start it, ask it, kill it."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parents[2]
AGENT = Path(os.environ.get("IOSONDE_AGENT") or ROOT / ".venv/bin/iosonde-agent")
"""The agent under test; ``IOSONDE_AGENT`` names another one."""
IOSONDE = ROOT / ".venv/bin/iosonde"
SECOND = 1_000_000_000


def wait_for(what: str, condition: Any, timeout_s: float = 30.0) -> Any:
    """Poll until ``condition()`` is true; the test fails with ``what`` when it never is."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError(f"waited {timeout_s} s in vain for {what}")


class Agent:
    """One running agent with a store and a configuration of its own."""

    def __init__(
        self, folder: Path, config: str, store: Path | None = None, **environ: str
    ) -> None:
        self.environ = environ
        self.store = store or folder / "store"
        self.config = folder / "agent.toml"
        self.log = folder / "agent.log"
        self.config.write_text(f'store = "{self.store}"\nlisten = "127.0.0.1:0"\n{config}')
        self.process: subprocess.Popen[bytes] | None = None
        self.address: str | None = None

    def start(self, stderr: int | None = None, before: Callable[[], None] | None = None) -> "Agent":
        """Log to ``stderr``, else to the file ``log``; run ``before`` in the process before it becomes the agent."""
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [AGENT, "--config", self.config],
                stderr=log if stderr is None else stderr,
                env={**os.environ, **self.environ},
                preexec_fn=before,  # noqa: PLW1509  (nothing but one system call)
            )
        return self

    def listen(self) -> "Agent":
        """Serve on a port that is known although nobody reads the log."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.config.write_text(self.config.read_text().replace("127.0.0.1:0", self.address))
        return self

    def told(self, words: str) -> bool:
        return words in self.log.read_text()

    def wait_told(self, words: str) -> None:
        """Wait for words of the log, which a thread of its own writes a little later."""
        wait_for(f"the log to say {words!r}", lambda: self.told(words))

    def reload(self, old: str, new: str) -> None:
        """Replace a part of the configuration and ask for it."""
        text = self.config.read_text()
        assert old in text
        self.config.write_text(text.replace(old, new))
        assert self.process is not None
        self.process.send_signal(signal.SIGHUP)

    def oks(self, target: str, op: str = "md_stat") -> float:
        """Operations that ended well so far."""
        return self.metric("iosonde_ops_total", target=target, op=op, result="ok") or 0

    def ready(self, timeout_s: float = 60.0) -> "Agent":
        def answers() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            if self.address is None:
                address = re.search(r"http://(\S+)/metrics", self.log.read_text())
                if not address:
                    return False
                self.address = address[1]
            try:
                return self.get("/-/ready")[0] == 200
            except OSError:
                return False

        wait_for("the agent to be ready", answers, timeout_s)
        return self

    def get(self, path: str, timeout_s: float = 5.0) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=timeout_s) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, name: str, **labels: str) -> float | None:
        """One value of /metrics, or None when it is absent."""
        wanted = {f'{key}="{value}"' for key, value in labels.items()}
        for line in self.get("/metrics")[1].splitlines():
            found = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line)
            if found and found[1] == name and wanted <= set((found[2] or "").split(",")):
                return float(found[3])
        return None

    def states(self) -> list[dict[str, Any]]:
        return [json.loads(file.read_text()) for file in self.store.glob("state/*/*.json")]

    def stop(self, sign: signal.Signals = signal.SIGTERM, timeout_s: float = 20.0) -> int:
        assert self.process is not None
        self.process.send_signal(sign)
        return self.process.wait(timeout_s)

    def processes(self) -> list[int]:
        """The agent and its workers."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [self.process.pid, *(int(pid) for f in children for pid in f.read_text().split())]

    @staticmethod
    def processes_gone(*pids: int) -> bool:
        return not any(Path(f"/proc/{pid}").exists() for pid in pids)

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)


@contextmanager
def running(
    folder: Path, config: str, store: Path | None = None, **environ: str
) -> Iterator[Agent]:
    agent = Agent(folder, config, store, **environ).start()
    try:
        yield agent.ready()
    finally:
        agent.kill()


def target(path: Path, extra: str = "") -> str:
    """A small, quick target."""
    return (
        f'[[target]]\npath = "{path}"\nname = "{path.name}"\nperiod = "100ms"\n'
        f'file_size = "16MiB"\npool = 64\n{extra}\n'
    )


def samples(store: Path) -> duckdb.DuckDBPyConnection:
    """Every sample of a store, through the product's own export, as table ``samples``."""
    file = store / "all.parquet"
    run(["export", "samples", "--store", store, "-o", file])
    return duckdb.connect().execute(f"create view samples as from read_parquet('{file}')")


def run(arguments: list[Any], expect: int | None = 0) -> subprocess.CompletedProcess[str]:
    """The real ``iosonde`` command."""
    done = subprocess.run(
        [IOSONDE, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TZ": "UTC", "NO_COLOR": "1"},
    )
    assert expect is None or done.returncode == expect, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@contextmanager
def loop_ext4(folder: Path, size_mib: int = 256) -> Iterator[Path]:
    """A fresh ext4 on a loop device whose image lies in memory; unfrozen and unmounted at the end."""
    image = Path("/dev/shm") / f"iosonde-{os.getpid()}-{folder.name}.img"
    mount = folder / "ext4"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(size_mib << 20)
    try:
        lazy = "lazy_itable_init=0,lazy_journal_init=0"
        subprocess.run(
            ["mkfs.ext4", "-q", "-F", "-E", lazy, image], check=True, capture_output=True
        )
        subprocess.run(["mount", "-o", "loop", image, mount], check=True, capture_output=True)
        try:
            yield mount
        finally:
            subprocess.run(["fsfreeze", "-u", mount], check=False, capture_output=True)
            wait_for("the unmount", lambda: unmounted(mount))
    finally:
        image.unlink(missing_ok=True)


@contextmanager
def four_disks(folder: Path, size_mib: int, name: str = "fs") -> Iterator[list[Path]]:
    """Four file systems of their own, one of which may be slowed down (see ``throttle``)."""
    with ExitStack() as stack:
        found = []
        for number in range(4):
            one = folder / f"{name}{number}"
            one.mkdir()
            found.append(stack.enter_context(loop_ext4(one, size_mib)))
        yield found


def device_of(mount: Path) -> str:
    """Major and minor number of what a file system lies on, as control groups write them."""
    number = mount.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


class Fuse:
    """A file system in user space; while its server is stopped nothing on it answers."""

    def __init__(self, server: subprocess.Popen[bytes], mount: Path) -> None:
        self.server, self.mount = server, mount

    def freeze(self) -> None:
        self.server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.server.send_signal(signal.SIGCONT)


def serve(source: Path, mount: Path) -> subprocess.Popen[bytes]:
    """A server that passes a directory through FUSE, uncached."""
    options = "direct_io,attr_timeout=0,entry_timeout=0,negative_timeout=0"
    return subprocess.Popen(["bindfs", "-f", "-o", options, source, mount])


@contextmanager
def fuse(folder: Path, name: str = "fuse") -> Iterator[Fuse]:
    """A directory of ``folder`` passed through FUSE, uncached."""
    source, mount = folder / f"{name}-source", folder / name
    source.mkdir()
    mount.mkdir()
    server = serve(source, mount)
    try:
        wait_for("the mount", lambda: os.path.ismount(mount))
        yield Fuse(server, mount)
    finally:
        server.send_signal(signal.SIGCONT)
        wait_for("the unmount", lambda: unmounted(mount))
        server.wait(20)


@contextmanager
def throttled(device: str) -> Iterator[Path]:
    """A cgroup whose processes can be slowed down on a block device (see ``throttle``)."""
    group = Path("/sys/fs/cgroup/blkio") / f"iosonde-{os.getpid()}-{device.replace(':', '-')}"
    group.mkdir()
    try:
        yield group
    finally:
        wait_for("the cgroup to be empty", lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def throttle(group: Path, device: str, bytes_per_s: int) -> None:
    """Limit reads and writes of the group on a device; 0 ends it."""
    for way in ("read", "write"):
        (group / f"blkio.throttle.{way}_bps_device").write_text(f"{device} {bytes_per_s}\n")


def unmounted(mount: Path) -> bool:
    return subprocess.run(["umount", mount], check=False, capture_output=True).returncode == 0


@contextmanager
def tmpfs(folder: Path, options: str) -> Iterator[Path]:
    """A tmpfs of its own, for full and read-only file systems."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield folder
    finally:
        wait_for("the unmount", lambda: unmounted(folder))
