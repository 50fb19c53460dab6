"""Storage systems of the sizes of the paper: targets, servers, router groups, failover pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iosonde.model.arrays import Ints
from iosonde.model.transfers import Topology

SIZES = (18, 112, 144, 360, 1440)
"""OSTs: figure 3, figure 8, figure 5, a half of figure 10, figure 10."""


@dataclass(frozen=True)
class System:
    """Numbers of parents: ``oss`` of each OST (osts,), ``group`` and ``pair`` of each server (servers,)."""

    oss: Ints
    group: Ints
    pair: Ints

    @property
    def osts(self) -> int:
        """How many targets there are."""
        return len(self.oss)

    def groups(self) -> Ints:
        """Router group of each OST."""
        return self.group[self.oss]

    def topology(self) -> Topology:
        """As names."""
        return Topology(
            {
                "ost": {ost(o): server(s) for o, s in enumerate(self.oss.tolist())},
                "oss": {server(s): f"group{g:02d}" for s, g in enumerate(self.group.tolist())},
                "pair": {server(s): f"pair{p:02d}" for s, p in enumerate(self.pair.tolist())},
            }
        )


def ost(number: int) -> str:
    """A target's name."""
    return f"OST{number:04d}"


def server(number: int) -> str:
    """A server's name."""
    return f"oss{number:03d}"


def system(osts: int) -> System:
    """Groups of three servers of one parity; cabinets of 14 servers end with two groups of one (112 OSTs)."""
    each = 3 if osts == 18 else 4
    oss = np.arange(osts) // each
    number = np.arange(oss[-1] + 1)
    group = 2 * (number // 6) + number % 2
    if osts == 112:
        inside = number % 14
        group = 6 * (number // 14) + np.where(
            inside < 12, 2 * (inside // 6) + inside % 2, inside - 8
        )
    elif osts == 18:
        group = number // 3
    return System(oss.astype(np.int64), group.astype(np.int64), (number // 2).astype(np.int64))
