"""Real servers on free ports of loopback, each in a folder of its own."""

from __future__ import annotations

import abc
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from obstore.store import S3Store

from tests.kit.programs import program
from tests.kit.reaper import MARK, memory_folder

BUILT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iosonde" / "servers"
VERSITYGW = BUILT / "versitygw-v1.8.0"
FERRETDB = BUILT / "ferretdb-v1.24.2"
START_S = 120.0
"""A loaded machine takes its time."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fast_folder(prefix: str) -> Path:
    """A folder in memory where there is one: tests wait for no disk."""
    folder = memory_folder(os.environ.get(MARK, str(os.getpid())))
    folder.mkdir(exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=folder))


def stopped(pid: int) -> bool:
    """Whether all threads of a process are."""
    states = [
        path.read_text().rpartition(")")[2][1] for path in Path(f"/proc/{pid}/task").glob("*/stat")
    ]
    return set(states) == {"T"}


class Server(abc.ABC):
    """A process that listens on ``port`` after ``start``, keeps its data over ``stop``, and is gone after ``close``."""

    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @abc.abstractmethod
    def command(self) -> list[str]: ...

    def environment(self) -> dict[str, str]:
        return {}

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment()},
                start_new_session=True,
            )
        give_up = time.monotonic() + START_S
        while not self.ready():
            if self._process.poll() is not None or time.monotonic() > give_up:
                said = (self.folder / "log").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{self.name} did not start:\n{said}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def freeze(self, frozen: bool) -> None:
        """Let it hold its connections and answer nothing."""
        assert self._process is not None
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        all_of_it = (pid, *map(int, children))
        for one in all_of_it:
            os.kill(one, signal.SIGSTOP if frozen else signal.SIGCONT)
        # Threads on other processors stop a moment later.
        give_up = time.monotonic() + START_S
        while any(stopped(one) != frozen for one in all_of_it):
            assert time.monotonic() < give_up, "it does not stop or go on"
            time.sleep(0.001)

    def close(self) -> None:
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


class Versitygw(Server):
    """An S3 server over a folder."""

    name = "versitygw"
    access, secret, bucket = "iosonde-tests", "a-secret-of-tests", "bench"

    def __init__(self) -> None:
        super().__init__(fast_folder("s3"))
        (self.folder / "data" / self.bucket).mkdir(parents=True)

    def command(self) -> list[str]:
        if not VERSITYGW.exists():
            raise FileNotFoundError(
                f"{VERSITYGW}: not found; expected it built: try scripts/services"
            )
        address = f"127.0.0.1:{self.port}"
        return [str(VERSITYGW), "--quiet", "--port", address, "posix", str(self.folder / "data")]

    def environment(self) -> dict[str, str]:
        return {"ROOT_ACCESS_KEY": self.access, "ROOT_SECRET_KEY": self.secret}

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def by_obstore(self) -> S3Store:
        """A client of somebody else's making."""
        return S3Store(
            self.bucket,
            endpoint=self.endpoint,
            region="us-east-1",
            access_key_id=self.access,
            secret_access_key=self.secret,
            client_options={"allow_http": True},
        )

    @property
    def environ(self) -> dict[str, str]:
        """What a user would have set."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": self.access,
            "AWS_SECRET_ACCESS_KEY": self.secret,
        }


class Ferretdb(Server):
    """A server of MongoDB's protocol over SQLite."""

    name = "ferretdb"

    def __init__(self) -> None:
        super().__init__(fast_folder("mongodb"))
        (self.folder / "data").mkdir()

    def command(self) -> list[str]:
        if not FERRETDB.exists():
            raise FileNotFoundError(
                f"{FERRETDB}: not found; expected it built: try scripts/services"
            )
        return [str(FERRETDB), f"127.0.0.1:{self.port}", str(self.folder / "data")]

    @property
    def uri(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}"


class Postgresql(Server):
    """PostgreSQL with a password, on loopback only."""

    name = "postgresql"
    user, password = "bench", "a-password-of-tests"

    def __init__(self) -> None:
        super().__init__(fast_folder("postgresql"))
        self._data = self.folder / "data"
        secret = self.folder / "secret"
        secret.write_text(self.password)
        if os.geteuid() == 0:
            owner = pwd.getpwnam(self._account())
            for path in (self.folder, secret):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        made = subprocess.run(
            [
                *self._as_nobody(),
                str(program("initdb")),
                *("-D", str(self._data), "-U", self.user, f"--pwfile={secret}"),
                *("-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        if made.returncode != 0:
            raise RuntimeError(f"initdb: {made.stdout}{made.stderr}")

    @staticmethod
    def _account() -> str:
        """PostgreSQL refuses to be root."""
        names = {entry.pw_name for entry in pwd.getpwall()}
        return "postgres" if "postgres" in names else "nobody"

    def _as_nobody(self) -> list[str]:
        if os.geteuid() != 0:
            return []
        owner = pwd.getpwnam(self._account())
        ids = (f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups")
        return ["setpriv", *ids, "--"]

    def command(self) -> list[str]:
        settings = (
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
            "max_connections=20",
            "shared_buffers=16MB",
            "dynamic_shared_memory_type=mmap",
        )
        options = [word for setting in settings for word in ("-c", setting)]
        return [*self._as_nobody(), str(program("postgres")), "-D", str(self._data), *options]

    def ready(self) -> bool:
        asked = [str(program("pg_isready")), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """SIGTERM would wait for our own connections: ask for a fast shutdown."""
        super().stop(signal.SIGINT if how == signal.SIGTERM else how)

    def close(self) -> None:
        """A postmaster that is killed leaves shared memory behind; SIGQUIT ends it at once and tidily."""
        self.stop(signal.SIGQUIT)
        super().close()

    @property
    def uri(self) -> str:
        return f"postgresql://{self.user}:{self.password}@127.0.0.1:{self.port}/postgres"
