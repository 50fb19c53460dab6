"""Findings on the agent and its process."""

from __future__ import annotations

import re
from typing import Any

from iosonde.doctor.finding import Findings, size
from iosonde.host.child import Reply
from iosonde.model.units import format_seconds

STALE_NS = 10 * 1_000_000_000
STALE_PERIODS = 5


def judge_heard(found: Findings, states: list[dict[str, Any]], now_ns: int) -> None:
    """A finding per state of this host."""
    for state in states:
        target = state["target"]
        if state["state"] == "damaged":
            found.add("agent-heard", "problem", f"{target}: {state['error']}", target=target)
            continue
        age_ns = now_ns - state["written_ns"]
        age = format_seconds(max(0, age_ns))
        facts = {"target": target, "age_ns": age_ns, "running": state["running"]}
        if not state["running"]:
            says = f"{target}: the probe was stopped {age} ago"
            found.add("agent-heard", "note", says, **facts)
        elif state.get("shipped_ns") is not None:
            says = f"{target}: a shipped copy, written {age} ago; the agent's own store is newer"
            found.add("agent-heard", "note", says, **facts)
        elif age_ns > max(STALE_NS, STALE_PERIODS * (state["period_ns"] or 0)):
            says = f"{target}: nothing heard for {age}; it did not say that it stops"
            found.add("agent-heard", "warning", says, **facts)
        else:
            found.add("agent-heard", "ok", f"{target}: heard of {age} ago", **facts)


def judge_metrics(
    found: Findings, reply: Reply, *, address: str, version: str, now_s: float, running: bool
) -> None:
    """Version, cost and backlog of an agent that listens; a foreground probe does not.

    ``version`` is ours, ``running`` what the store says.
    """
    metrics = reply.facts.get("metrics")
    if metrics is None or metrics["version"] is None:
        reason = reply.facts.get("refused") or reply.error or "no answer"
        reason = reason if metrics is None else "another service"
        says = f"no agent answers at {address} ({reason})"
        says += (
            ": the probe that runs is one in the foreground, or listens elsewhere"
            if running
            else ""
        )
        found.add("agent-version", "note", says, address=address)
        return
    same = metrics["version"] == version
    says = f"agent {metrics['version']} at {address}" + ("" if same else f"; this is {version}")
    level = "ok" if same else "warning"
    found.add("agent-version", level, says, agent=metrics["version"], iosonde=version)
    _cost(found, metrics, now_s)
    waiting, dropped = metrics["waiting_rows"] or 0, metrics["dropped_rows"] or 0
    errors = metrics["store_errors"] or 0
    facts = {"waiting_rows": waiting, "dropped_rows": dropped, "store_errors": errors}
    says = (
        f"{dropped:.0f} rows dropped, {waiting:.0f} wait, {errors:.0f} failed writes to the store"
    )
    level = "problem" if dropped else "warning" if errors or waiting > 10_000 else "ok"
    found.add("agent-rows", level, says, **facts)
    _clock(found, metrics["clock_steps"])


def _clock(found: Findings, steps: float | None) -> None:
    """Finding on clock steps, which older agents do not report."""
    if steps is not None:
        says = f"the clock stepped {steps:.0f} times since the agent began" if steps else "no step"
        found.add("agent-clock", "note" if steps else "ok", says, steps=int(steps))


def _cost(found: Findings, metrics: dict[str, Any], now_s: float) -> None:
    cpu, started, resident = metrics["cpu_s"], metrics["started_s"], metrics["resident_bytes"]
    if cpu is None or started is None or now_s - started < 10:
        return
    share = cpu / (now_s - started)
    level = "ok" if share < 0.05 else "note" if share < 0.25 else "warning"
    says = f"the agent takes {1000 * share:.1f} ms of CPU time each second"
    says += "" if resident is None else f" and {size(resident)} of memory"
    found.add("agent-cost", level, says, cpu_s_per_s=round(share, 6), resident_bytes=resident)


def judge_process(found: Findings, process: dict[str, Any] | None) -> None:
    """Finding on the holder of a place."""
    if process is None:
        return
    pid, program = process["pid"], process["program"]
    theirs, ours = process["mount_namespace"], process["own_mount_namespace"]
    name = program.rpartition("/")[2] if program is not None else process["name"]
    facts = {"pid": pid, "program": program, "process": process["name"]}
    if program is not None and program.endswith(" (deleted)"):
        says = f"process {pid} runs a program file that has been replaced since"
        found.add("agent-process", "warning", says, **facts)
    elif theirs is not None and theirs != ours:
        says = f"process {pid} sees other mounts than this doctor (a container, or a hardened unit)"
        found.add("agent-process", "note", says, **facts)
    elif theirs is not None:
        says = f"process {pid} ({name}) sees the same mounts as this doctor"
        found.add("agent-process", "ok", says, **facts)
    counts = dict(re.findall(r"^(nr_periods|nr_throttled) (\d+)$", process["cpu_stat"] or "", re.M))
    periods, throttled = int(counts.get("nr_periods", 0)), int(counts.get("nr_throttled", 0))
    if periods:
        share = throttled / periods
        level = "warning" if share >= 0.01 else "ok"
        says = f"its CPU quota stopped it in {100 * share:.1f}% of periods"
        found.add("agent-throttled", level, says, throttled=throttled, periods=periods)
