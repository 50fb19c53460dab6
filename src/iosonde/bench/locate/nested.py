"""Inverse covariance of target effects with nested random effects: targets in servers in router groups.

``Cov = D_o + S (same server) + G (same group)``, each a K x K matrix over K directions. Woodbury's identity level
by level keeps every product linear in the number of targets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints


@dataclass(frozen=True)
class Tree:
    """Server of each target, shape (targets,), and group of each server, shape (servers,); all known."""

    server: Ints
    group: Ints

    def group_of_target(self) -> Ints:
        """Group of each target, shape (targets,)."""
        return self.group[self.server]


def sums(values: Floats, number: Ints, count: int) -> Floats:
    """Sum of ``values`` (rows, ...) by ``number``, shape (count, ...)."""
    out = np.zeros((count, *values.shape[1:]))
    np.add.at(out, number, values)
    return out


class NestedPrecision:
    """Products with the inverse covariance. ``own``: precision of each target alone, shape (targets, K, K).

    A direction without data has zeros there. ``server_cov`` and ``group_cov``: shape (K, K).
    """

    def __init__(self, own: Floats, server_cov: Floats, group_cov: Floats, tree: Tree) -> None:
        self.tree, self.own = tree, own
        one = np.eye(own.shape[1])
        servers, groups = len(tree.group), int(tree.group.max()) + 1
        a = sums(own, tree.server, servers)
        self.m = server_cov @ np.linalg.inv(one + a @ server_cov)
        self.server_info1 = a - a @ self.m @ a
        b = sums(self.server_info1, tree.group, groups)
        self.n = group_cov @ np.linalg.inv(one + b @ group_cov)
        self.group_info1 = b

    def solve(self, x: Floats) -> Floats:
        """The inverse covariance times ``x``, shape (targets, K, columns)."""
        tree = self.tree
        p = self.own @ x
        p = p - self.own @ (self.m @ sums(p, tree.server, len(self.m)))[tree.server]
        of = tree.group_of_target()
        total = self.n @ sums(p, of, len(self.n))
        r = self.own - self.own @ (self.m @ self._server_own())[tree.server]
        return p - r @ total[of]

    def _server_own(self) -> Floats:
        return sums(self.own, self.tree.server, len(self.m))

    def target_info(self) -> Floats:
        """Diagonal blocks, shape (targets, K, K)."""
        tree = self.tree
        first = self.own - self.own @ self.m[tree.server] @ self.own
        r = self.own - self.own @ (self.m @ self._server_own())[tree.server]
        return first - r @ self.n[tree.group_of_target()] @ r.transpose(0, 2, 1)

    def server_info(self) -> Floats:
        """Information of a common effect of a server's targets, shape (servers, K, K)."""
        b = self.server_info1
        return b - b @ self.n[self.tree.group] @ b

    def group_info(self) -> Floats:
        """Information of a common effect of a group's targets, shape (groups, K, K)."""
        c = self.group_info1
        return c - c @ self.n @ c

    def server_with_group(self) -> Floats:
        """Cross information of a server's and its group's effect, shape (servers, K, K)."""
        b, of = self.server_info1, self.tree.group
        return b - b @ self.n[of] @ self.group_info1[of]

    def between_servers(self, one: Ints, other: Ints) -> Floats:
        """Cross information of two servers' effects, shape (pairs, K, K): zero in different groups."""
        b, of = self.server_info1, self.tree.group
        same = (of[one] == of[other])[:, None, None]
        return np.where(same, -b[one] @ self.n[of[one]] @ b[other], 0.0)
