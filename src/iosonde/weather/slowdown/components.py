"""Findings about servers of one target, seen side by side: that is what pinning is for.

Light imports only: ``iosonde check`` runs through here.
"""

from __future__ import annotations

from collections import defaultdict

from iosonde.weather.slowdown.findings import Finding

_BAD = ("slow", "lost", "failing", "hung")


def compared(findings: list[Finding]) -> list[Finding]:
    """The same findings; a bad one about a server also knows which others are as usual.

    ``evidence["usual_beside"]``: their names, sorted.
    """
    usual: dict[tuple[str, str], list[str]] = defaultdict(list)
    for finding in findings:
        component = finding.evidence.get("component")
        if component and finding.kind == "usual":
            usual[finding.host, component["of"]].append(component["name"])
    return [_beside(finding, usual) for finding in findings]


def _beside(finding: Finding, usual: dict[tuple[str, str], list[str]]) -> Finding:
    component = finding.evidence.get("component")
    if not component or finding.kind not in _BAD:
        return finding
    names = sorted(usual.get((finding.host, component["of"]), []))
    return finding._replace(evidence={**finding.evidence, "usual_beside": names})
