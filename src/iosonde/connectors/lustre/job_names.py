"""Ids of jobs from the names that Lustre's ``jobid_name`` makes of a site's choice.

::

    4711, 4711:user:host    -> 4711    leading digits up to a sign that ends them
    n001:1000:4711          -> 4711    ``%h:%u:%j``, if each number goes with one field in the middle, its user
    cp.1000, n001:cp        -> itself  no job id in it

In ``%e:%h:%u`` the last number is a user's, who works on several hosts: then no name of the list has an id.
Source: lctl get_param jobid_name, Lustre manual, 12.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FIRST = re.compile(r"(\d{1,15})(?![\w-])")
_LAST = re.compile(r"[A-Za-z][\w.-]*:([\w.-]+):(\d{1,15}(?:_\d{1,10})?)", re.ASCII)
_LEAST = 2


def job_ids(names: Iterable[str]) -> tuple[dict[str, str], int]:
    """Name -> job id of all names of a list, and how many ids are the last field of a name."""
    known = set(names)
    last = {name: found for name in known if (found := _LAST.fullmatch(name))}
    middle: dict[str, set[str]] = {}
    for found in last.values():
        middle.setdefault(found[2], set()).add(found[1])
    if len(middle) < _LEAST or any(len(fields) > 1 for fields in middle.values()):
        last = {}
    return {name: last[name][2] if name in last else _first(name) for name in known}, len(last)


def _first(name: str) -> str:
    found = _FIRST.match(name)
    return found[1] if found else name
