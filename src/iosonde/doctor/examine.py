"""The whole examination: this host, the store, the agent, and every target, each with a time limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from iosonde.doctor.finding import Diagnosis, Findings
from iosonde.doctor.gather.agent import gather_metrics, gather_process
from iosonde.doctor.gather.export import SCHEME, gather_export
from iosonde.doctor.gather.host import gather_host, read
from iosonde.doctor.gather.store import gather_store
from iosonde.doctor.gather.target import gather_device, gather_target
from iosonde.doctor.judge.agent import judge_heard, judge_metrics, judge_process
from iosonde.doctor.judge.export import judge_export
from iosonde.doctor.judge.host import judge_host, meminfo
from iosonde.doctor.judge.options import judge_options
from iosonde.doctor.judge.others import judge_others
from iosonde.doctor.judge.place import ProbeFiles, asked_of, judge_places
from iosonde.doctor.judge.stat import judge_stat
from iosonde.doctor.judge.store import (
    judge_apart,
    judge_durable,
    judge_store,
    judge_store_answer,
    judge_watches,
)
from iosonde.doctor.judge.target import (
    judge_answer,
    judge_device,
    judge_mount,
    judge_space,
    judge_state,
)
from iosonde.host import child as expendable
from iosonde.host.mounts import Mount, missing_mount, mount_of, parse_mountinfo
from iosonde.model.names import slug

DEFAULT_PERIOD_NS = 1_000_000_000
_STORES_NOTHING = "the null backend"


@dataclass(frozen=True, slots=True)
class Request:
    """Subjects of the examination. The store belongs to another room: its readers are arguments."""

    wanted: Sequence[str]
    """Names or paths of watched targets, or directories; none for every watched target."""
    host: str
    store: Path
    read_states: Callable[[Path], list[dict[str, Any]]]
    open_segments: Callable[[Path], Sequence[Path]]
    agent: str
    """Address of the agent's /metrics."""
    version: str
    timeout_s: float
    now_ns: int


@dataclass(frozen=True, slots=True)
class Target:
    """A directory to examine, and its states in the store."""

    name: str
    path: str
    own: list[dict[str, Any]]
    others: list[dict[str, Any]]
    folder: str = ""
    """Name of the probe's folder below ``.iosonde-<uid>``."""

    @property
    def running(self) -> bool:
        """True if a probe of this host reports that it runs here, on real files."""
        return any(state["running"] and not _stores_nothing(state) for state in self.own)

    @property
    def is_export(self) -> bool:
        """True for an NFS export that is not mounted on this host."""
        return self.path.startswith(SCHEME)

    @property
    def asked(self) -> ProbeFiles:
        """File parameters of the running probe; empty if none runs or it does not report them."""
        return asked_of(self.own[0]) if self.running else ProbeFiles()

    @property
    def period_ns(self) -> int:
        """Period of each op."""
        periods = [state["period_ns"] for state in self.own if state["period_ns"]]
        return periods[0] if periods else DEFAULT_PERIOD_NS


def examine(request: Request) -> list[Diagnosis]:
    """All findings: on the host, the store, the agent, then target by target.

    Takes at most two timeouts, whatever hangs.
    """
    host_facts = gather_host()
    mounts = parse_mountinfo(read("/proc/self/mountinfo") or "")
    replies = expendable.ask_all(
        {
            "store": partial(
                gather_store, request.store, request.read_states, request.open_segments
            ),
            "agent": partial(gather_metrics, request.agent),
        },
        request.timeout_s,
    )
    states = replies["store"].facts.get("states", [])
    own = [state for state in states if state["host"] == request.host]
    targets = choose(states, request.wanted, request.host)
    answers = expendable.ask_all(
        {
            target.name: (
                partial(gather_export, target.path)
                if target.is_export
                else partial(gather_target, target.path, target.folder, slug(request.host))
            )
            for target in targets
        },
        request.timeout_s,
    )
    found = judge_host(host_facts, request.host)
    silent = replies["store"].hang is not None  # then what is watched is not known
    watched = [t for t in targets if (t.own or silent) and not t.is_export]
    real = {t.name: answers[t.name].facts.get("real", t.path) for t in watched}
    found += _of_store(request, replies["store"], own, mounts, real)
    found += _of_agent(request, replies["agent"], own)
    memory_bytes = meminfo(host_facts["meminfo"]).get("MemTotal", 0)
    for target in targets:
        found += _of_target(target, answers[target.name], mounts, memory_bytes, request.now_ns)
    return found


def choose(states: Sequence[dict[str, Any]], wanted: Sequence[str], host: str) -> list[Target]:
    """The targets requested; by default those of this host, else of any. Touches no path."""
    watched = [state for state in states if state["path"]]
    ours = [state for state in watched if state["host"] == host] or watched
    asked: dict[tuple[str, str], str] = {}
    if not wanted:
        asked = {_place(state, host): state["target"] for state in reversed(ours)}
        asked = dict(reversed(asked.items()))
    for word in wanted:
        known = [s for s in ours if word in (s["target"], s["path"], _whole(s))]
        if known:
            asked |= {_place(state, host): state["target"] for state in known}
        else:
            path = word if word.startswith(SCHEME) else os.path.abspath(word)  # noqa: PTH100 - pathlib does not take .. out
            at = [s for s in ours if s["path"] == path]
            asked |= {_place(s, host): s["target"] for s in at} or {(path, slug(host)): path}
    targets = []
    for (path, folder), name in asked.items():
        own = [s for s in watched if s["host"] == host and _place(s, host) == (path, folder)]
        others = [s for s in watched if s["path"] == path and s["host"] != host]
        shown = path.partition("?")[0] if path.startswith(SCHEME) else path
        title = name if name == shown else f"{name} ({shown})"
        targets.append(Target(title, path, own, others, folder))
    return targets


def _place(state: dict[str, Any], host: str) -> tuple[str, str]:
    """Location of the probe's files from a state: path and folder."""
    component = state.get("component") or {}
    server = f"@{slug(component['name'])}" if component.get("kind") else ""
    return state["path"], slug(host) + server


def _whole(state: dict[str, Any]) -> str | None:
    """Target that a state's server belongs to."""
    component = state.get("component")
    return str(component["of"]) if component else None


def _stores_nothing(state: dict[str, Any]) -> bool:
    if state.get("backend") is not None:
        return bool(state["backend"] == "null")
    return any(note.startswith(_STORES_NOTHING) for note in state["notes"])


def _of_store(
    request: Request,
    reply: expendable.Reply,
    own: list[dict[str, Any]],
    mounts: Sequence[Mount],
    real: dict[str, str],
) -> list[Diagnosis]:
    found = Findings(f"store {request.store}")
    answered = judge_store_answer(found, reply)
    lies_at = reply.facts.get("real", os.path.abspath(request.store))  # noqa: PTH100
    judge_apart(found, lies_at, mounts, real)
    judge_durable(found, lies_at, mounts)
    if answered:
        judge_watches(found, reply.facts, request.host, own)
        judge_store(found, reply.facts, request.now_ns, own)
    return found.all


def _of_agent(
    request: Request, reply: expendable.Reply, own: list[dict[str, Any]]
) -> list[Diagnosis]:
    found = Findings(f"agent on {request.host}")
    judge_heard(found, own, request.now_ns)
    running = any(state["running"] for state in own)
    now_s = request.now_ns / 1e9
    judge_metrics(
        found,
        reply,
        address=request.agent,
        version=request.version,
        now_s=now_s,
        running=running,
    )
    return found.all


def _of_target(
    target: Target,
    reply: expendable.Reply,
    mounts: Sequence[Mount],
    memory_bytes: int,
    now_ns: int,
) -> list[Diagnosis]:
    found = Findings(f"target {target.name}")
    if target.is_export:
        judge_export(found, reply)
        judge_state(found, next(iter(target.own), None))
        return found.all
    facts = reply.facts
    path = facts.get("real", target.path)
    mount, root = mount_of(mounts, path), mount_of(mounts, "/")
    missing = missing_mount(read("/etc/fstab") or "", mounts, path)
    if any(map(_stores_nothing, target.own)):
        says = "the null backend stores nothing: there is no file system to look at"
        found.add("target-file-system", "note", says)
        return found.all
    answered = judge_answer(found, reply, mount)
    judge_state(found, next(iter(target.own), None))
    if "real" not in facts and mount == root:
        return found.all  # where it really lies is not known
    judge_mount(found, path, mount, root, missing)
    if mount is not None:
        judge_options(found, mount)
        judge_device(found, gather_device(mount.device, mount.source))
    if "space" in facts:
        judge_space(found, facts["space"])
    if not answered:
        return found.all
    place = judge_places(
        found, facts, mount, memory_bytes, running=target.running, asked=target.asked
    )
    judge_stat(found, mount, place, target.period_ns)
    judge_others(found, facts, target.others, target.own, now_ns)
    pid = ((place or {}).get("lock") or {}).get("pid")
    judge_process(found, gather_process(pid) if pid else None)
    return found.all
