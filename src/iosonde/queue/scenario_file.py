"""A scenario from a TOML file. Every error names the file, the line and the field."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import UnitError, UsageError
from iosonde.model.units import parse_duration
from iosonde.queue.fields import Place, Table
from iosonde.queue.scenario import (
    DISCIPLINES,
    ORDERS,
    SERVICES,
    TIMES,
    ArrivalProcess,
    Cache,
    ParameterSweep,
    Process,
    Scenario,
    Storage,
)

if TYPE_CHECKING:
    from pathlib import Path

_MOST_CLIENTS, _MOST_TICKS = 10_000, 10**15
Setting = tuple[str, Any]
"""A field by its path (``storage.queue``) and the value that replaces the file's."""


def read_scenario(path: Path, settings: Sequence[Setting] = ()) -> Scenario:
    """The scenario of a file, with ``settings`` in place of its fields. Raises UsageError, OSError."""
    text = path.read_bytes()
    try:
        decoded = text.decode("utf-8")
        tree = tomllib.loads(decoded)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error}", hint="docs/simulate.md") from error
    return scenario_of(tree, Place(str(path), decoded), settings)


def scenario_of(tree: dict[str, Any], place: Place, settings: Sequence[Setting] = ()) -> Scenario:
    """Scenario from a parsed file. Raises UsageError."""
    for name, value in settings:
        _set(tree, name, value, place)
    top = Table("", tree, place)
    scenario = Scenario(
        ticks=top.whole("ticks", 1, most=_MOST_TICKS),
        storage=_storage(top.table("storage")),
        clients=_clients(top),
        title=top.text("title", ""),
        order=top.word("order", ORDERS, "random"),
        seed=top.whole("seed", 0, 1, most=2**53),
        bin_ticks=top.whole("bin_ticks", 1, 0),
        tick_s=_tick(top),
        sweep=_sweep(top.optional("sweep")),
    )
    top.nothing_else()
    bins = -(-scenario.ticks // scenario.trace_bin_ticks) * len(scenario.clients)
    if bins > 20_000_000:
        raise top.wrong("bin_ticks", f"at most 20 million bins of all clients, not {bins}")
    return scenario


def _set(tree: dict[str, Any], name: str, value: Any, place: Place) -> None:
    """Replace a field: ``storage.queue``, ``process.2.pattern`` (from 1 on)."""
    at: Any = tree
    *folders, last = name.split(".")
    for folder in folders:
        if isinstance(at, list) and folder.isdecimal() and 0 < int(folder) <= len(at):
            at = at[int(folder) - 1]
        elif isinstance(at, dict) and folder in at:
            at = at[folder]
        elif isinstance(at, dict) and folder in ("storage", "cache"):
            at = at.setdefault(folder, {})
        else:
            raise UsageError(f"{place.file} has no {folder!r} for {name}", hint="storage.queue")
    if isinstance(at, list) and last.isdecimal() and 0 < int(last) <= len(at):
        at[int(last) - 1] = value
    elif isinstance(at, dict):
        at[last] = value
    else:
        raise UsageError(f"{name} is no field of {place.file}", hint="storage.queue")


def _storage(table: Table) -> Storage:
    service = table.word("service", SERVICES, "slots")
    values = table.numbers("values") if service == "values" else ()
    whole = service == "slots"
    ticks = table.number("service_ticks", 1, 1.0 if values else None, whole=whole)
    storage = Storage(
        service_ticks=ticks,
        queue=table.whole_or("queue", 1, "unlimited"),
        service=service,
        variation=table.number("variation", 0.001, 1.0) if service == "lognormal" else 1.0,
        values=values,
        servers=table.whole("servers", 1, 1, most=100_000),
        discipline=table.word("discipline", DISCIPLINES, "fifo"),
        cache=_cache(table.optional("cache")),
    )
    table.nothing_else()
    return storage


def _cache(table: Table | None) -> Cache | None:
    if table is None:
        return None
    writes = table.whole("writes", 1)
    high = table.whole("high", 1, writes)
    low = table.whole("low", 0, 0)
    if high > writes:
        raise table.wrong("high", f"at most writes = {writes}")
    if low >= high:
        raise table.wrong("low", f"less than high = {high}")
    table.nothing_else()
    return Cache(writes, high, low)


def _clients(top: Table) -> tuple[Process | ArrivalProcess, ...]:
    clients: list[Process | ArrivalProcess] = []
    for table in top.tables("process"):
        pattern = table.wholes("pattern", 4, "[D0, R, D1, W]: ticks, reads, ticks, writes")
        if not any(pattern):
            raise table.wrong("pattern", "a number above 0")
        weight = table.whole("weight", 1, 1, most=1_000_000)
        for name in _names(table, "P", len(clients)):
            clients.append(Process(name, (pattern[0], pattern[1], pattern[2], pattern[3]), weight))
        table.nothing_else()
    for table in top.tables("arrivals"):
        stream = _arrivals(table)
        for name in _names(table, "stream ", len(clients)):
            clients.append(ArrivalProcess(name, **stream))
        table.nothing_else()
    if not clients:
        raise top.wrong("process", "at least one [[process]] or [[arrivals]]")
    if len(clients) > _MOST_CLIENTS:
        raise top.wrong("process", f"at most {_MOST_CLIENTS} clients, not {len(clients)}")
    return tuple(clients)


def _names(table: Table, prefix: str, before: int) -> list[str]:
    count = table.whole("count", 1, 1, most=_MOST_CLIENTS)
    name = table.text("name", "")
    if name:
        return [name] if count == 1 else [f"{name} {number}" for number in range(1, count + 1)]
    return [f"{prefix}{before + number}" for number in range(1, count + 1)]


def _arrivals(table: Table) -> dict[str, Any]:
    times = table.word("times", TIMES, "poisson")
    stream: dict[str, Any] = {
        "op": table.word("op", ("read", "write"), None),
        "times": times,
        "batch": table.whole("batch", 1, 1, most=1_000_000),
        "lose": table.word("when_full", ("wait", "lose"), "wait") == "lose",
        "weight": table.whole("weight", 1, 1, most=1_000_000),
    }
    if times != "at":
        return stream | {"every_ticks": table.number("every_ticks", 0.001)}
    at = np.array(table.wholes("at", None, "ticks, ascending"), dtype=np.int64)
    if (np.diff(at) < 0).any():
        raise table.wrong("at", "ticks, ascending")
    return stream | {"at": at}


def _tick(top: Table) -> float | None:
    text = top.text("tick", "")
    if not text:
        return None
    try:
        return parse_duration(text) / 1e9
    except UnitError as error:
        raise top.wrong("tick", "a duration such as '250us'") from error


def _sweep(table: Table | None) -> ParameterSweep | None:
    if table is None:
        return None
    sweep = ParameterSweep(
        table.text("parameter"), table.anything("values"), table.whole("seeds", 1, 1)
    )
    table.nothing_else()
    return sweep
