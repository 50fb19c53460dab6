"""A host whose CPU is hogged, and all that iosonde says of storage there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from iosonde.cli import main
from tests.kit.harness import Agent

HOGS = 12
DOORS = ("now", "check", "events", "slowdown", "metrics", "why")
_BAD = ("slow", "lost", "failing", "hung")
_METRIC = re.compile(r"(iosonde_\w+)\{([^}]*)\} (\S+)")
_LOST_AT = 0.05


def one_cpu() -> int:
    """The CPU that is hogged: the last one, so that others keep the first."""
    return max(os.sched_getaffinity(0))


def stay(cpu: int) -> None:
    """Keep this process, and those it starts, on a CPU."""
    os.sched_setaffinity(0, {cpu})


@contextmanager
def hogs(cpu: int, number: int = HOGS) -> Iterator[None]:
    """So many busy loops on a CPU, which ends with them."""
    loop = ["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]
    running = [subprocess.Popen(loop) for _ in range(number)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


class Said(NamedTuple):
    """What one door said at one look: whether it blames storage, whether it names the host, and its words."""

    door: str
    blames: bool
    host: bool
    text: str


def ask(*words: str) -> tuple[int, str]:
    """The exit code of ``iosonde WORDS`` in this process, and what it printed."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main.main(list(words))
    return code, raw.getvalue().decode()


def listen(agent: Agent, since_ns: int) -> list[Said]:
    """What every door says of the storage of an agent since an instant."""
    store, since = ["--store", str(agent.store)], ["--since", f"@{since_ns // 1_000_000_000}"]
    found = json.loads(ask("now", "--json", *store)[1])["targets"]
    said = [Said("now", any(_bad(one) for one in found), _names_host(found), _sentences(found))]
    code, text = ask("check", *store)
    said.append(Said("check", code in (1, 2), "host is busy" in text, text.split("|")[0].strip()))
    events = json.loads(ask("events", "--json", *since, *store)[1])
    noted = [one for one in events["events"] if one["began_ns"] >= since_ns]
    mine = noted + [one for one in events["slow"] if _reaches(one["end_ns"], since_ns)]
    said.append(Said("events", bool(mine), False, _sentences(mine)))
    slow = json.loads(ask("slowdown", "--json", *since, *store)[1])
    spans = [one for one in slow["spans"] if not one["host_busy"]] + slow["lost"] + slow["hung"]
    host = slow["late"] + [one for one in slow["spans"] if one["host_busy"]]
    said.append(Said("slowdown", bool(spans), bool(host), _sentences(spans or host)))
    said.append(_metrics(agent.get("/metrics")[1]))
    why = json.loads(ask("why", "--json", "--no-model", *store)[1])
    said.append(_why(why, since_ns))
    return said


def _bad(one: dict[str, Any]) -> bool:
    return one["kind"] in _BAD


def _reaches(end_ns: int | None, since_ns: int) -> bool:
    """What began earlier counts as long as it goes on."""
    return end_ns is None or end_ns > since_ns


def _names_host(found: list[dict[str, Any]]) -> bool:
    return any(one["kind"] == "host_busy" for one in found)


def _sentences(found: list[dict[str, Any]]) -> str:
    return "; ".join(str(one.get("sentence", one)) for one in found)


def _metrics(page: str) -> Said:
    bad, host = [], False
    for name, labels, value in _METRIC.findall(page):
        number = float(value)
        unwell = any(f'state="{word}"' in labels for word in ("slow", "failing", "hung"))
        limit = {
            "iosonde_state": 1.0 if unwell else 2.0,
            "iosonde_lost_ratio": _LOST_AT,
            "iosonde_alarm": 1.0,
        }
        if name in limit and number >= limit[name]:
            bad.append(f"{name}{{{labels}}} {value}")
        host |= name == "iosonde_host_busy" and number == 1
    return Said("metrics", bool(bad), host, "; ".join(bad))


def _why(answer: dict[str, Any], since_ns: int) -> Said:
    slow = answer["links"]["slowness"]["fact"] or {}
    host = answer["verdict"] == "this host" or slow.get("kind") == "host_busy"
    mine = bool(slow) and _reaches(slow["end_ns"], since_ns)
    return Said("why", mine and not host, mine and host, answer["sentence"])


def agent_on(cpu: int, folder: Path, config: str) -> Agent:
    """An agent that is kept, with its workers, on a CPU."""
    folder.mkdir(parents=True, exist_ok=True)
    return Agent(folder, config).start(before=lambda: stay(cpu))
