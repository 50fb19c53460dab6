"""Findings on the files of this host's probe."""

from __future__ import annotations

from typing import Any, NamedTuple

from iosonde.doctor.finding import Findings, size
from iosonde.doctor.gather.place import MARK
from iosonde.host.mounts import MEMORY, Mount

OVER_MEMORY = 1.25
"""Ratio of a big file to memory from which on it is "larger than memory"."""
_BUFFERED = ("buffered", "cached", "evicted")


class ProbeFiles(NamedTuple):
    """Files as reported by the running probe; None if it does not report."""

    reads: str | None = None
    """Possible effect of the cache on its latest read."""
    access: str | None = None
    """Access to the big file: direct, buffered or memory."""
    direct: str | None = None
    """Requested use of O_DIRECT: auto, always or never."""
    file_bytes: int | None = None
    object_bytes: int | None = None
    pool: int | None = None


def asked_of(state: dict[str, Any]) -> ProbeFiles:
    """Files as reported in a state; an older agent reports only ``reads``."""
    words = [op["cache"] for op in state["ops"] if op["op"] == "data_read"]
    told = ("access", "direct", "file_bytes", "object_bytes", "pool")
    return ProbeFiles(words[0] if words else None, *(state.get(name) for name in told))


def judge_places(
    found: Findings,
    facts: dict[str, Any],
    mount: Mount | None,
    memory_bytes: int,
    *,
    running: bool,
    asked: ProbeFiles,
) -> dict[str, Any] | None:
    """Judge the places of this host; returns the relevant one, the held one of several.

    ``running``: a probe says that it runs here; ``asked``: what it says of its files.
    """
    places = facts.get("own", [])
    _leftovers(found, facts, places)
    if not places:
        _absent(found, facts, running)
        return None
    place: dict[str, Any] = max(places, key=_held)
    if place.get("error"):
        says = f"{place['path']} cannot be read: {place['error']}"
        found.add("place-present", "note", says, path=place["path"])
        return place
    mark = place.get("mark")
    if mark != MARK:
        says = f"{place['path']} has no mark of this version: {mark!r}"
        found.add("place-present", "warning", says, path=place["path"], mark=mark)
    else:
        says = f"the probe has its files in {place['path']}"
        found.add("place-present", "ok", says, path=place["path"])
    _lock(found, place, running)
    data = place.get("data")
    if data is not None:
        in_memory = (mount is not None and mount.kind in MEMORY) or asked.access == "memory"
        direct = data["direct"] == "granted" and asked.reads not in _BUFFERED
        if asked.access is not None:
            direct = asked.access == "direct"
        if in_memory:
            says = f"the big file ({size(data['size_bytes'])}) lies in memory"
            found.add("bigfile-cache", "problem", says, size_bytes=data["size_bytes"])
        else:
            _big_file(found, data, memory_bytes, direct, asked)
            _cached(found, data, direct)
        _holes(found, data, asked.file_bytes)
    elif running or place.get("pools"):
        found.add("bigfile-cache", "problem", "there is no big file", path=place["path"])
    _pools(found, place, _held(place), asked)
    return place


def _held(place: dict[str, Any]) -> bool:
    return bool((place.get("lock") or {}).get("held"))


def _absent(found: Findings, facts: dict[str, Any], running: bool) -> None:
    closed = facts.get("closed", [])
    if closed:
        says = f"this user may not look into {', '.join(closed)}"
        found.add("place-present", "note", says, closed=closed)
    elif running:
        says = "a probe says that it runs here, and this host has no place below the target"
        found.add("place-covered", "problem", says, running=True)
    else:
        found.add("place-present", "note", "is not probed from this host", running=False)


def _lock(found: Findings, place: dict[str, Any], running: bool) -> None:
    lock = place.get("lock")
    if lock is None or not lock["held"]:
        level = "warning" if running else "note"
        says = "nobody holds the place" + (", and a probe says that it runs" if running else "")
        found.add("place-lock", level, says, held=False)
    else:
        says = f"held by a running probe ({lock['says']})"
        found.add("place-lock", "ok", says, held=True, pid=lock["pid"], lock=lock["says"])


def _leftovers(found: Findings, facts: dict[str, Any], places: list[dict[str, Any]]) -> None:
    left = list(facts.get("loads", []))
    for place in places:
        left += place.get("strangers", [])
        pools = place.get("pools", [])
        left += [f"pool-{pool['object_bytes']}" for pool in pools[:-1]] if len(pools) > 1 else []
    if left:
        says = f"{len(left)} leftovers: {', '.join(left[:5])}{' ...' if len(left) > 5 else ''}"
        found.add("place-leftovers", "note", says, leftovers=left)
    else:
        found.add("place-leftovers", "ok", "no leftovers", leftovers=[])


def _big_file(
    found: Findings, data: dict[str, Any], memory_bytes: int, direct: bool, asked: ProbeFiles
) -> None:
    large, granted, reads = data["size_bytes"], data["direct"], asked.reads
    over = memory_bytes > 0 and large >= OVER_MEMORY * memory_bytes
    facts = {
        "size_bytes": large,
        "memory_bytes": memory_bytes,
        "direct": granted,
        "direct_asked": asked.direct,
        "access": asked.access,
        "cache_of_reads": reads,
    }
    if direct:
        says = f"the big file ({size(large)}) is read past the cache: O_DIRECT is granted"
        found.add("bigfile-cache", "ok", says, **facts)
        return
    if over:
        says = f"the big file ({size(large)}) is larger than memory ({size(memory_bytes)})"
        found.add("bigfile-cache", "ok", says, **facts)
        return
    refused = "not used" if granted == "granted" else f"refused ({granted})"
    if asked.direct == "never":
        refused = 'switched off (direct = "never")'
    says = (
        f"the big file ({size(large)}) fits into memory ({size(memory_bytes)}) and O_DIRECT is "
        f"{refused}"
    )
    if reads == "evicted":
        says += "; the probe drops from the cache what it has read"
    found.add("bigfile-cache", "note" if reads == "evicted" else "warning", says, **facts)


def _holes(found: Findings, data: dict[str, Any], made_bytes: int | None) -> None:
    large, allocated, extents = data["size_bytes"], data["allocated_bytes"], data["extents"] or {}
    faults = []
    if allocated < 0.9 * large:
        faults.append(f"only {size(allocated)} of {size(large)} are allocated (holes, compression)")
    if made_bytes is not None and made_bytes != large:
        faults.append(f"it has {size(large)}, the running probe made it {size(made_bytes)}")
    for name in ("unwritten", "shared", "encoded"):
        if extents.get(f"{name}_bytes"):
            faults.append(f"{size(extents[f'{name}_bytes'])} of its extents are {name}")
    says = "; ".join(faults) or "the big file has no holes and shares nothing"
    if not faults and not extents:
        says = "the big file has no holes; of its extents this file system does not tell"
    level = "warning" if faults else "ok"
    found.add("bigfile-holes", level, says, size_bytes=large, allocated_bytes=allocated, **extents)


def _cached(found: Findings, data: dict[str, Any], direct: bool) -> None:
    cached, large = data["cached_bytes"], data["size_bytes"]
    if cached is None or large == 0:
        return
    share = cached / large
    facts = {"cached_bytes": cached, "size_bytes": large, "asked": data["cached_by"]}
    says = f"{100 * share:.0f}% of the big file is in the page cache"
    if direct:
        level = "note" if share >= 0.05 else "ok"
        says += ", which direct reads bypass" if level == "ok" else ": somebody else reads it"
    else:
        level = "warning" if share >= 0.10 else "ok"
    found.add("bigfile-cached", level, says, **facts)


def _pools(found: Findings, place: dict[str, Any], held: bool, asked: ProbeFiles) -> None:
    pools = place.get("pools", [])
    own = [pool for pool in pools if asked.object_bytes in (None, pool["object_bytes"])]
    if not own:
        level = "problem" if held else "note"
        found.add("pool-whole", level, "there is no pool of small files", files=0)
        return
    pool = max(own, key=lambda one: one["files"])
    facts = {name: pool[name] for name in ("files", "object_bytes", "sampled", "broken")}
    says = f"{pool['files']} small files of {pool['object_bytes']} bytes"
    least, most = _files_expected(asked.pool)
    astray = not least <= pool["files"] <= most
    if astray and asked.pool is not None:
        says += f"; the running probe keeps {asked.pool}"
    if pool["broken"]:
        says += f"; {pool['broken']} of {pool['sampled']} looked at have another size"
    if pool["strangers"]:
        says += f"; {pool['strangers']} strangers among them"
    level = "warning" if pool["broken"] or astray else "ok"
    found.add("pool-whole", level, says, **facts, asked=asked.pool, strangers=pool["strangers"])
    if pool["sampled"]:
        says = f"{pool['cached']} of {pool['sampled']} small files are in the page cache"
        level = "note" if 2 * pool["cached"] >= pool["sampled"] else "ok"
        found.add("pool-cached", level, says, cached=pool["cached"], sampled=pool["sampled"])


def _files_expected(asked: int | None) -> tuple[int, float]:
    """Tolerated range of the number of files while a create or delete hangs, with one in creation."""
    if asked is None:
        return 16, float("inf")
    margin = max(asked // 4, 8) + 1
    return asked - margin, asked + margin
