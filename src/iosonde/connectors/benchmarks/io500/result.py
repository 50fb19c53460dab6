"""Readers for IO500's ``result.txt``, ``result_summary.txt``, standard output and ``config.ini``.

::

    [RESULT]       ior-easy-write        0.157694 GiB/s : time 6.378 seconds [INVALID]
    [SCORE ] Bandwidth 0.488160 GiB/s : IOPS 16.709050 kiops : TOTAL 2.855993 [INVALID]
    [RESULT-invalid] BW   phase 1  ior_easy_write  21.350 GB/s : time 301.95 seconds        (2017 to 2019)

``result.txt`` has a section a phase with ``t_start``, ``exe``, ``score``, ``t_delta``, ``t_end`` and, of writes,
``throughput-stonewall`` or ``rate-stonewall``; a comment ``; ERROR INVALID why`` belongs to the phase it stands in.
"""

from __future__ import annotations

import re
from pathlib import Path

from iosonde.connectors.benchmarks.io500.found import Io500, Io500Phase
from iosonde.connectors.lines import NUMBER, Warn, bad, read_lines, shown

RESULT = re.compile(r"(?:config-hash\s+= [0-9A-Fa-f]{4,16}|t_delta\s+= \d)")
SUMMARY = re.compile(r"IO500 version |\[(?:RESULT|SCORE|      )[^\]]{0,12}\]\s+\S")
CONFIG = re.compile(r"(?:timestamp-datadir|timestamp-resultdir)\s*=")
_SECTION = re.compile(r"\[([A-Za-z0-9-]{1,40})\]")
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,30})\s*=\s?(.*)")
_PHASE = re.compile(
    rf"\[(RESULT|      )([^\]]{{0,12}})\]\s+(?:(?:BW|IOPS)\s+phase\s+\S+\s+)?([A-Za-z][\w-]{{1,40}})\s+({NUMBER})\s+"
    rf"(GiB/s|GB/s|kIOPS|kiops|IOPS)\s*:\s*time\s+({NUMBER})\s+seconds(.*)"
)
_SCORE = re.compile(
    rf"\[(SCOREX?)([^\]]{{0,12}})\]\s+Bandwidth\s+({NUMBER}) (?:GiB/s|GB/s)\s*:\s*IOPS\s+({NUMBER}) kiops\s*:\s*"
    rf"TOTAL\s+({NUMBER})(.*)"
)
_VERSION = re.compile(r"IO500 version (\S{0,60}) ?\((\w{1,20})\)")
_ERROR = re.compile(r"(?:; ?)?ERROR INVALID (?:\([^)]{0,60}\) )?(.*)")
_WARNING = re.compile(r"(?:; ?)?WARNING (?:\([^)]{0,60}\) )?(.*)")
_LONGEST, _MOST = 300, 50
_WANTED = "a row such as '[RESULT] ior-easy-write 0.157 GiB/s : time 6.3 seconds'"
_NUMBERS = ("nproc", "found", "total-files", "maxOpTime", "scoreIteration0", "maxOpTime0")


def read_result(path: Path, warn: Warn) -> Io500:
    """Read ``result.txt``. Malformed lines are reported. Raises InputFileError."""
    found, section = Io500(), ""
    for line in read_lines(path, warn):
        text = line.text.strip()
        phase = found.phase(section) if section and _is_phase(section) else None
        if not text:
            continue
        if match := _SECTION.fullmatch(text):
            section = match[1]
            if _is_phase(section):
                found.phase(section).ended = False
        elif text.startswith(";"):
            _comment(found, phase, text)
        elif match := _PAIR.fullmatch(text):
            good = _pair(found, phase, section, match[1], match[2].strip())
            if not good or not (line.ended or match[1] == "t_end"):
                warn(
                    bad(
                        path,
                        line.number,
                        f"{match[1]} is {shown(match[2])}",
                        "a whole number or time",
                    )
                )
        else:
            warn(bad(path, line.number, f"the line is {shown(text)}", "NAME = VALUE"))
    return found


def _is_phase(section: str) -> bool:
    return section not in ("run", "SCORE", "SCOREX")


def _comment(found: Io500, phase: Io500Phase | None, text: str) -> None:
    if match := _ERROR.match(text):
        reasons = found.invalid if phase is None else phase.invalid
        if len(reasons) < _MOST:
            reasons.append(_plain(match[1]))
    elif (match := _WARNING.match(text)) and phase is not None and len(phase.warnings) < _MOST:
        phase.warnings.append(_plain(match[1]))
    elif text.startswith("; START ") and found.began is None:
        found.began = text.removeprefix("; START ").strip()


def _plain(text: str) -> str:
    return "".join(c for c in text.strip()[:_LONGEST] if c.isprintable()) or "INVALID"


def _pair(found: Io500, phase: Io500Phase | None, section: str, name: str, value: str) -> bool:
    """Store a key and its value; False for a malformed value."""
    number = float(value) if re.fullmatch(NUMBER, value) else None
    if phase is None:
        return _of_run(found, section, name, value, number)
    if name == "exe":
        phase.command = value[:4000]
    elif name == "t_start":
        phase.began = value[:40]
    elif name == "t_end":
        phase.ended = True
    elif name in ("t_delta", "score", "throughput-stonewall", "rate-stonewall") or name in _NUMBERS:
        if number is None or number > 1e15:
            return False
        if name == "t_delta":
            phase.seconds = number
        elif name == "score":
            phase.score, phase.unit = number, "GiB/s" if phase.bandwidth else "kIOPS"
        elif name.endswith("-stonewall"):
            phase.stonewall = number
        else:
            phase.values[name.replace("-", "_")] = number
    return True


def _of_run(found: Io500, section: str, name: str, value: str, number: float | None) -> bool:
    if section in ("SCORE", "SCOREX"):
        score = found.scores.setdefault(section, {})
        names = {"MD": "md_kiops", "BW": "bw_gib_per_s", "SCORE": "score"}
        if name in names:
            match = re.fullmatch(rf"({NUMBER})(\s*\[INVALID\])?", value)
            if match is None or float(match[1]) > 1e15:
                return False
            score[names[name]] = float(match[1])
            if match[2]:
                score["invalid"] = True
        elif name == "hash":
            score["hash"] = _plain(value)
    elif name == "procs":
        if number is None or not 0 < number < 2**31:
            return False
        found.procs = int(number)
    elif name in ("version", "mode", "config-hash") and value:
        setattr(found, name.replace("-", "_"), _plain(value)[:60])
    return True


def read_summary(path: Path, warn: Warn) -> Io500:
    """Read a summary or a run's standard output. Malformed rows are reported. Raises InputFileError."""
    found, waiting, warned = Io500(), list[str](), list[str]()
    for line in read_lines(path, warn):
        text = line.text.rstrip()
        if match := _PHASE.match(text):
            name = match[3].replace("_", "-")
            phase = found.phase(name)
            phase.score, phase.seconds = float(match[4]), float(match[6])
            phase.unit = "GiB/s" if match[5] in ("GiB/s", "GB/s") else "kIOPS"
            if match[5] == "IOPS":
                phase.score /= 1000
            invalid = "INVALID" in match[7] or "invalid" in match[2]
            phase.invalid = waiting or (["INVALID"] if invalid else [])
            phase.warnings, waiting, warned = warned, [], []
        elif match := _SCORE.match(text):
            values = zip(("bw_gib_per_s", "md_kiops", "score"), match.groups()[2:5], strict=True)
            score = {name: float(value) for name, value in values}
            invalid = "INVALID" in match[6] or "invalid" in match[2]
            found.scores[match[1]] = score | ({"invalid": True} if invalid else {})
        elif match := _VERSION.match(text):
            found.version, found.mode = match[1] or None, match[2]
        elif (match := _ERROR.match(text)) and len(waiting) < _MOST:
            waiting.append(_plain(match[1]))
        elif (match := _WARNING.match(text)) and len(warned) < _MOST:
            warned.append(_plain(match[1]))
        elif SUMMARY.match(text) and not text.startswith("IO500 version"):
            warn(bad(path, line.number, f"the row is {shown(text)}", _WANTED))
    found.invalid = waiting
    for name in [name for name in found.phases if name == "timestamp"]:
        del found.phases[name]
    return found


def read_config(path: Path, warn: Warn) -> Io500:
    """Read options of ``config.ini`` that change results; skip paths and commands. Raises InputFileError."""
    found, section = Io500(), ""
    for line in read_lines(path, warn):
        text = line.text.strip()
        if match := _SECTION.fullmatch(text):
            section = match[1]
        elif match := _PAIR.fullmatch(text):
            wanted = {
                ("global", "api"): "api",
                ("global", "drop-caches"): "drop_caches",
                ("debug", "stonewall-time"): "stonewall_s",
            }
            name = wanted.get((section, match[1]))
            value = match[2].strip()
            if name and re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", value):
                found.options[name] = {"TRUE": True, "FALSE": False}.get(value.upper(), value)
                if name == "stonewall_s" and value.isdecimal():
                    found.options[name] = int(value)
    return found
