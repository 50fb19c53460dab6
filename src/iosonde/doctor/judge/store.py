"""Findings on a store folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.doctor.finding import Findings, size
from iosonde.engine.states import namesakes
from iosonde.host.child import Reply
from iosonde.host.clocks import clock_offsets
from iosonde.host.mounts import MEMORY, OVERLAY, Mount, mount_of
from iosonde.model.units import DAY_NS, format_seconds

UNSEALED_NS = 2 * 3600 * 1_000_000_000
AHEAD_NS = 5 * 1_000_000_000
ENOUGH_DAYS = 30


def judge_store_answer(found: Findings, reply: Reply) -> bool:
    """True if it answered; a missing folder has answered too."""
    if reply.hang is not None:
        hang = reply.hang
        where = f"; wchan {hang.wchan}" if hang.wchan else ""
        says = f"does not answer: {hang.trying} for {hang.seconds:.1f} s{where}"
        found.add("store-answers", "problem", says, trying=hang.trying, wchan=hang.wchan)
        return False
    took_s = round(reply.took_ns / 1e9, 3)
    if reply.error is not None:
        found.add("store-answers", "problem", reply.error, took_s=took_s)
        return False
    found.add("store-answers", "ok", f"answered in {took_s:.2f} s", took_s=took_s)
    return True


def judge_watches(
    found: Findings, facts: dict[str, Any], host: str, own: Sequence[dict[str, Any]]
) -> None:
    """Finding on states of this host in the store."""
    states = facts.get("states", [])
    hosts = sorted({str(state["host"]) for state in states})
    if not facts.get("exists"):
        found.add("store-watches", "note", "the folder does not exist, so no probe runs", hosts=[])
    elif own:
        says = f"holds states of {host}: {', '.join(str(state['target']) for state in own[:5])}"
        found.add("store-watches", "ok", says, hosts=hosts)
    elif hosts:
        says = f"holds no state of {host}, but of {', '.join(hosts[:5])}"
        found.add("store-watches", "note", says, hosts=hosts)
    else:
        found.add("store-watches", "note", "holds no state, so no probe runs", hosts=[])


def judge_apart(
    found: Findings, path: str, mounts: Sequence[Mount], targets: dict[str, str]
) -> None:
    """Judge separation from targets. ``path`` of the store and those of the targets are real; as written if it
    hangs.
    """
    mount = mount_of(mounts, path)
    if mount is None or not targets:
        return
    shared = [name for name, path in targets.items() if _same(mount, mount_of(mounts, path))]
    if shared:
        says = f"lies on the same file system ({mount.point}) as the target {', '.join(shared)}"
        found.add("store-apart", "problem", says, mount_point=mount.point, targets=shared)
    else:
        says = f"lies on {mount.point} ({mount.kind}), apart from every target"
        found.add("store-apart", "ok", says, mount_point=mount.point, targets=[])


def judge_durable(found: Findings, path: str, mounts: Sequence[Mount]) -> None:
    """Judge durability: memory is lost with the host; a container's layer with the container."""
    mount = mount_of(mounts, path)
    if mount is None:
        return
    gone = "the next boot" if mount.kind in MEMORY else "its container"
    if mount.kind in MEMORY | OVERLAY:
        says = f"lies on {mount.kind}: it ends with {gone}"
        found.add("store-durable", "warning", says, file_system=mount.kind)
    else:
        found.add("store-durable", "ok", f"lies on {mount.kind}", file_system=mount.kind)


def _same(one: Mount, other: Mount | None) -> bool:
    return other is not None and one.device == other.device


def judge_store(
    found: Findings, facts: dict[str, Any], now_ns: int, own: Sequence[dict[str, Any]] = ()
) -> None:
    """Judge free space, spool, days and clock. ``own``: this host's states, which give the agent's retention."""
    space = facts.get("space")
    if space is None:
        return
    free, total = space["free_bytes"], space["total_bytes"]
    share = free / total if total else 1.0
    level = "problem" if share < 0.01 else "warning" if share < 0.05 else "ok"
    found.add(
        "store-space",
        level,
        f"{size(free)} free of {size(total)} ({100 * share:.0f}%)",
        free_bytes=free,
        total_bytes=total,
    )
    _spool(found, facts.get("spool", []), now_ns)
    kept = [state["keep"] for state in own if state["running"] and state.get("keep")]
    _days(found, facts.get("days", {}), free, kept[0] if kept else None)
    _open(found, facts.get("open", []))
    _names(found, facts.get("states", []))
    _clock(found, facts, now_ns)


def _spool(found: Findings, spool: list[dict[str, int]], now_ns: int) -> None:
    old = [segment for segment in spool if now_ns - segment["written_ns"] > UNSEALED_NS]
    held = sum(segment["bytes"] for segment in old)
    facts = {"segments": len(old), "bytes": held}
    if old:
        age = format_seconds(now_ns - min(segment["written_ns"] for segment in old))
        says = f"{len(old)} segments ({size(held)}) wait to be sealed, the oldest for {age}"
        found.add("store-spool", "warning", says, **facts)
    else:
        found.add("store-spool", "ok", "no segment waits long for sealing", **facts)


def _days(
    found: Findings, days: dict[str, int], free_bytes: int, kept: dict[str, Any] | None
) -> None:
    if not days:
        return
    held = sum(days.values())
    daily = held / len(days)
    left = free_bytes / daily if daily else float("inf")
    limits = _limits(kept) if kept is not None else []
    level = "note" if left < ENOUGH_DAYS and not limits else "ok"
    says = f"{len(days)} days since {min(days)} hold {size(held)}"
    says += f"; at {size(daily)} a day there is room for " + (
        f"{left:.0f} more" if left < 3650 else "years"
    )
    if limits:
        says += f"; the agent keeps {' and '.join(limits)}"
    elif kept is not None:
        says += f"; the agent has no limit, and leaves {size(kept['min_free_bytes'] or 0)} free"
    facts = {"days": len(days), "bytes": held, "oldest": min(days)}
    found.add("store-retention", level, says, **facts, kept=kept)


def _open(found: Findings, tables: Sequence[str]) -> None:
    """Judge permissions: folders of an earlier version stay open, and new files in them are open, too."""
    if tables:
        says = f"every user may read {', '.join(tables)}: names of users, jobs and applications"
        found.add("store-private", "warning", says, tables=list(tables))
    else:
        says = "tables that name users, jobs or applications are not open to everybody"
        found.add("store-private", "ok", says, tables=[])


def _limits(kept: dict[str, Any]) -> list[str]:
    """Retention limits of the agent."""
    age_ns, most = kept["max_age_ns"], kept["max_bytes"]
    limits = [] if age_ns is None else [f"{age_ns / DAY_NS:g} days"]
    return limits if most is None else [*limits, f"at most {size(most)}"]


def _names(found: Findings, states: Sequence[dict[str, Any]]) -> None:
    twice = namesakes(states)
    if twice:
        says = f"two machines write states as {', '.join(twice[:5])}"
        found.add("store-names", "warning", says, hosts=twice)
    else:
        found.add("store-names", "ok", "every host has a name of its own", hosts=[])


def _clock(found: Findings, facts: dict[str, Any], now_ns: int) -> None:
    written = [state["written_ns"] for state in facts.get("states", [])]
    written += [segment["written_ns"] for segment in facts.get("spool", [])]
    ahead = [when - now_ns for when in written if when is not None and when > now_ns + AHEAD_NS]
    wrong = clock_offsets(facts.get("states", []), now_ns)
    if wrong:
        worst = wrong[0]
        way = "ahead of" if worst.offset_ns > 0 else "behind"
        says = (
            f"the clock of {worst.host} is {format_seconds(abs(worst.offset_ns))} {way} the {worst.against}'s"
            + (f", and {len(wrong) - 1} more hosts disagree" if len(wrong) > 1 else "")
        )
        offsets = {one.host: one.offset_ns for one in wrong}
        found.add("store-clock", "warning", says, files=len(ahead), offsets_ns=offsets)
    elif ahead:
        says = (
            f"{len(ahead)} states or segments were written up to {format_seconds(max(ahead))} "
            "from now: a clock was set back, or hosts disagree"
        )
        found.add("store-clock", "warning", says, files=len(ahead), ahead_max_ns=max(ahead))
    else:
        found.add("store-clock", "ok", "no timestamps in the future", files=0)
