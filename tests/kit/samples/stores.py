"""Stores whose truth is known: a probe on simulated clocks, with faults on a schedule."""

import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from iosonde import _core
from iosonde.serve import app
from iosonde.serve.run import Server, bind, in_thread, serving
from iosonde.weather.seal import seal

SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
HOST = "login2"
NOW = 1_795_003_000 * SECOND // HOUR * HOUR + 50 * MINUTE
"""When the simulations end (2026-11-18), ten minutes before segments rotate."""
LATENCY = {
    "sigma": 0.35,
    "data_read": "3ms",
    "data_write": "5ms",
    "md_create": "900us",
    "md_stat": "120us",
    "md_read": "600us",
    "md_delete": "700us",
}


def target(name: str, faults: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "path": name,
        "name": name,
        "backend": "null",
        "latency": LATENCY,
        "fault": faults or [],
        **more,
    }


def config(root: Path, *targets: dict[str, Any], window: str = "60s", host: str = HOST) -> str:
    return json.dumps(
        {"store": str(root), "host": host, "seed": 7, "window": window, "target": list(targets)}
    )


def simulate(
    root: Path, duration_ns: int, *targets: dict[str, Any], end_ns: int = NOW, **more: Any
) -> None:
    _core.simulate(config(root, *targets, **more), end_ns - duration_ns, duration_ns)


def say_it_runs(root: Path, written_ns: int) -> None:
    """Let the states that the simulation left look like those of a probe that still runs."""
    for path in root.glob("state/*/*.json"):
        state = json.loads(path.read_text())
        states = [op["state"] for op in state["ops"]]
        state |= {"running": True, "written_ns": written_ns}
        state["state"] = "slow" if "slow" in states else "ok"
        path.write_text(json.dumps(state))


def seal_first(root: Path) -> None:
    """Seal the oldest segment only; the others stay spool."""
    oldest, *others = sorted(root.glob("spool/*/*.spool"))
    assert others, "one segment is not enough for this"
    for path in others:
        path.rename(path.with_suffix(".aside"))
    assert len(seal(root)) == 1
    for path in others:
        path.with_suffix(".aside").rename(path)
    assert not oldest.exists()


def copy_prefix(whole: Path, part: Path, share: float) -> None:
    """The store ``part`` as it was when a share of the bytes of ``whole`` had been written."""
    for source in whole.glob("spool/*/*.spool"):
        to = part / source.relative_to(whole)
        to.parent.mkdir(parents=True, exist_ok=True)
        data = source.read_bytes()
        to.write_bytes(data[: int(len(data) * share)])
    if not (part / "state").exists() and (whole / "state").exists():
        shutil.copytree(whole / "state", part / "state")


@contextmanager
def running(root: Path, port: int = 0, **options: Any):
    """A real server over ``root`` on the loopback (port 0: a free one): its address and itself."""
    bound = bind("127.0.0.1", port)
    server: Server = serving(app.create(root, **options))
    thread = in_thread(server, bound)
    address = f"http://127.0.0.1:{bound.getsockname()[1]}"
    try:
        yield address, server
    finally:
        server.stop()
        thread.join(10)
        bound.close()
        assert not thread.is_alive(), "the server did not end"


def events(response: httpx2.Response):
    """(event, data, id) of a stream of server-sent events."""
    name, data, number = "", "", ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif field == "id":
            number = value
        elif not line and name:
            yield name, json.loads(data), number
            name, data, number = "", "", ""
