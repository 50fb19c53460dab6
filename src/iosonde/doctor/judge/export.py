"""Findings on an NFS export that is probed from user space."""

from __future__ import annotations

from iosonde.doctor.finding import Findings
from iosonde.doctor.judge.target import judge_space
from iosonde.host.child import Reply


def judge_export(found: Findings, reply: Reply) -> None:
    """Findings on answers of the server, on mounting, and on free space."""
    if reply.hang is not None:
        says = f"does not answer: {reply.hang.trying} for {reply.hang.seconds:.1f} s"
        waited_s = round(reply.hang.seconds, 3)
        found.add("target-answers", "problem", says, trying=reply.hang.trying, waited_s=waited_s)
        return
    took_s = reply.took_ns / 1e9
    error = reply.error or reply.facts.get("error")
    if error is not None:
        remedy = reply.facts.get("remedy") or ""
        says = f"{error}; {remedy}" if remedy else str(error)
        found.add("target-answers", "problem", says, took_s=took_s, error=reply.facts.get("errno"))
        return
    level = "ok" if took_s < 1 else "note"
    found.add("target-answers", level, f"mounted and answered in {took_s:.2f} s", took_s=took_s)
    says = "NFSv3 from user space: no mount and no cache of this host is in the way"
    found.add("target-file-system", "ok", says, file_system="nfs")
    judge_space(found, reply.facts["space"])
