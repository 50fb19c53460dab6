"""Live states: one small JSON file a target, replaced by the probe every second.

Only ``json`` and ``os`` are imported here: ``iosonde now`` and ``iosonde check`` live on this
module.

``heard_ns`` is the modification time of the file: the clock of the storage, beside ``written_ns`` of the probe's.
``shipped_ns`` is set in a copy only: when ``iosonde store seal --to`` made it, by the clock of its host.
``namesake_ns`` is when another machine was last seen to write this state (ns, UTC): two have one host name.

Older agents do not say with what they probe (``backend`` to ``file_bytes``, ``budget``, ``keep``): then
these are None.

A state file is foreign input. What is not of the expected type becomes None, control characters in
names are replaced (they would reach a terminal), and a file that cannot be read as a state at all
is reported as a state of its own::

    {"state": "damaged", "host": <folder>, "target": <file stem>, "error": "what is wrong", ...}

so that one bad file never hides the others.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iosonde.engine.opener import opened
from iosonde.engine.reading import reading
from iosonde.engine.versions import other_version
from iosonde.model.text import clean_text

MAX_BYTES = 1 << 20
"""A larger file is not a state."""
SCHEMA_VERSION = 1
ANY = "*"
"""In place of the targets of a host whose folder cannot be listed."""

_TEXT = ("host", "target", "path", "run_id", "state", "boot_id", "backend", "direct", "access")
_INTEGERS = (
    *("schema_version", "written_ns", "shipped_ns", "namesake_ns"),
    *("period_ns", "window_ns", "baseline_trailing_ns"),
    *("pool", "object_bytes", "block_bytes", "file_bytes"),
)
_BUDGET = ("bytes_per_s", "ops_per_s", "cpu_ns_per_s")
_KEEP = ("max_age_ns", "max_bytes", "min_free_bytes", "windows_max_age_ns")
_OP_TEXT = ("op", "state", "last_outcome", "cache", "stage", "alarm")
_OP_COUNTS = ("n_due", "n_seen", "n_lost", "ticks_skipped", "baseline_windows", "epoch")
_OP_NUMBERS = (
    *("latest_ns", "median_ns", "median_lower_ns", "median_upper_ns", "q95_ns", "baseline_ns"),
    *("slowdown", "slowdown_lower", "slowdown_upper"),
    *("stretch_slowdown", "stretch_lower", "stretch_upper"),
    *("tail", "tail_lower", "tail_upper", "lost", "lost_lower", "lost_upper"),
    *("late", "climate"),
    *("alarm_ns", "since_ns", "inflight_ns", "inflight_due_ns", "last_ok_ns"),
)


def read_states(root: Path) -> list[dict[str, Any]]:
    """Every state below ``root/state``, sorted by host and target. No folder: no states.

    A host's folder that cannot be listed is a damaged state of all its targets. Raises OSError: ``root/state`` is none.
    """
    states = []
    for folder in _entries(Path(root) / "state"):
        try:
            paths = _entries(folder)
        except OSError as error:
            place = f"{clean_text(str(folder))}: {error.strerror}"
            states.append(_damaged(folder / ANY, place))
            continue
        for path in paths:
            if path.suffix == ".json" and not path.name.startswith("."):
                state = read_state(path)
                if state is not None:
                    states.append(state)
    return sorted(states, key=lambda state: (state["host"] or "", state["target"] or ""))


def read_state(path: Path) -> dict[str, Any] | None:
    """One state file; None if it has vanished, a ``damaged`` state if it is not one."""
    try:
        with opened(path, MAX_BYTES) as file:
            text = file.read()
            heard_ns = os.fstat(file.fileno()).st_mtime_ns
        return _cleaned(_object(text), path.stem) | {"heard_ns": heard_ns}
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return _damaged(path, f"{clean_text(str(path))}: {clean_text(str(reason))}")


def _object(text: bytes) -> dict[str, Any]:
    """The JSON object that ``text`` is. Raises ValueError in words that ``rust/ask`` uses, too."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(raw, dict):
        raise ValueError("not a JSON object")
    return raw


def _cleaned(raw: dict[str, Any], slug: str) -> dict[str, Any]:
    version = _integer(raw.get("schema_version"))
    if version != SCHEMA_VERSION:
        raise ValueError(other_version(version, SCHEMA_VERSION))
    state: dict[str, Any] = {name: _text(raw.get(name)) for name in _TEXT}
    state |= {name: _integer(raw.get(name)) for name in _INTEGERS}
    missing = [
        name
        for name in ("host", "target", "state", "written_ns", "period_ns")
        if state[name] is None
    ]
    if missing:
        raise ValueError(f"{missing[0]} is missing or of the wrong type")
    state["component"] = _component(raw.get("component"))
    state |= {"budget": _numbers(raw, "budget", _BUDGET), "keep": _numbers(raw, "keep", _KEEP)}
    ops, notes = raw.get("ops"), raw.get("notes")
    state["slug"] = slug
    state["running"] = raw.get("running") is True
    state["notes"] = (
        [clean_text(n) for n in notes if isinstance(n, str)] if isinstance(notes, list) else []
    )
    cleaned = (
        [_cleaned_op(op) for op in ops if isinstance(op, dict)] if isinstance(ops, list) else []
    )
    state["ops"] = [op for op in cleaned if op["op"] is not None]
    health = raw.get("health")
    for op, told in zip(cleaned, health if isinstance(health, list) else [], strict=False):
        op.update(_cleaned_health(told if isinstance(told, dict) else {}))
    state["error"] = None
    return state


def _numbers(
    raw: dict[str, Any], name: str, members: tuple[str, ...]
) -> dict[str, int | float | None] | None:
    """A table of limits, each None where there is none; None where the state has no such table."""
    table = raw.get(name)
    return {key: _number(table.get(key)) for key in members} if isinstance(table, dict) else None


def _component(raw: object) -> dict[str, Any] | None:
    """Which server (``name``) of which target (``of``) a state is about, and what keeps files on it."""
    if not isinstance(raw, dict):
        return None
    name, of, pin = _text(raw.get("name")), _text(raw.get("of")), raw.get("pin")
    if name is None or of is None:
        return None
    kind = next((kind for kind in ("ost", "mdt") if isinstance(pin, dict) and kind in pin), None)
    index = _integer(pin[kind]) if isinstance(pin, dict) and kind else None
    return {"name": name, "of": of, "kind": kind if index is not None else None, "index": index}


def _cleaned_op(raw: dict[str, Any]) -> dict[str, Any]:
    op: dict[str, Any] = {name: _text(raw.get(name)) for name in _OP_TEXT}
    op |= {name: _integer(raw.get(name)) or 0 for name in _OP_COUNTS}
    op |= {name: _number(raw.get(name)) for name in _OP_NUMBERS}
    op |= {name: raw.get(name) is True for name in ("host_busy", "partly")}
    return op | _cleaned_health({})


def _cleaned_health(raw: dict[str, Any]) -> dict[str, Any]:
    """Whether the operation answers, and in which kernel function the stuck one waits."""
    evidence = raw.get("evidence")
    evidence = evidence if isinstance(evidence, dict) else {}
    return {"breaker": _text(raw.get("breaker")), "wchan": _text(evidence.get("wchan"))}


def _damaged(path: Path, error: str) -> dict[str, Any]:
    nothing: dict[str, Any] = dict.fromkeys((*_TEXT, *_INTEGERS))
    return nothing | {
        "host": clean_text(path.parent.name),
        "target": clean_text(path.stem),
        "slug": path.stem,
        "component": None,
        "budget": None,
        "keep": None,
        "state": "damaged",
        "heard_ns": None,
        "running": False,
        "notes": [],
        "ops": [],
        "error": error,
    }


def _text(value: object) -> str | None:
    return clean_text(value) if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(2**63) <= value < 2**63 else None


def _number(value: object) -> int | float | None:
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return _integer(value)


def _entries(folder: Path) -> list[Path]:
    reading(folder)
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def remove_files(files: Iterable[Path]) -> list[Path]:
    """States and what goes with them, those that were there; folders that are empty then go, too."""
    gone = []
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
            gone.append(file)
        with contextlib.suppress(OSError):
            file.parent.rmdir()
    return gone
