"""Texts and tables as IOR and IO500 write them, with numbers that a test knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

MIB, GIB = 1 << 20, 1 << 30
BEGAN = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp())
SECRET = "hunter2-not-to-be-stored"
ENVIRONMENT = f"""\
STARTING ENVIRON LOOP
PATH=/usr/bin
AWS_SECRET_ACCESS_KEY={SECRET}
tasks=99
write={SECRET} 1 2 3
api={SECRET}
ENDING ENVIRON LOOP
"""
ENDS = (10.0, 10.0, 10.0, 20.0)
"""Seconds of the ranks' transfers: three are quick, one is slow. Each moves 1 GiB."""
LOSS = 1 - (4 / 20) / (3 / 10 + 1 / 20)
"""What the slow one costs: 1 - 0.2 / 0.35."""
WORDS = ("open start", "open stop", "start", "stop", "close start", "close stop")
OLD = (
    "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n"
)
NEW = OLD.replace("  block", "  IOPS       Latency(s)  block", 1)
VERSIONS = ("2.10.3", "3.0.1", "3.2.1", "4.1.0")


def instants(seconds: float, at: float = BEGAN) -> tuple[float, ...]:
    """The six timers of a rank whose transfer took so long."""
    return (
        at,
        at + 0.001,
        at + 0.001,
        at + 0.001 + seconds,
        at + 0.001 + seconds,
        at + 0.002 + seconds,
    )


def timers(
    access: str,
    ends: Sequence[float] = ENDS,
    version: str = "4.1.0",
    repetition: int = 0,
    at: Sequence[float] | float = BEGAN,
) -> str:
    """Lines of ``-vvv`` of every rank."""
    lines = ""
    for rank, seconds in enumerate(ends):
        begin = at if isinstance(at, int | float) else at[rank]
        for word, when in zip(WORDS, instants(seconds, begin), strict=True):
            head = "" if version == "2.10.3" else f"Test 0: Iter={repetition}, "
            lines += f"{head}Task={rank}, Time={when:.6f}, {access} {word}\n"
    return lines


def row(
    access: str,
    ends: Sequence[float] = ENDS,
    version: str = "4.1.0",
    repetition: int = 0,
    moved: int = 4 * GIB,
    latency: float | None = None,
) -> str:
    """A row of the table of results."""
    total = max(ends) + 0.002
    bw = moved / MIB / total
    more = ""
    if version.startswith("4"):
        mean = min(ends) / 256 if latency is None else latency
        more = f"{moved / (4 * MIB) / max(ends):<10.2f} {mean:<11.6f} "
    return (
        f"{access:<10}{bw:<10.2f} {more}{1048576:<10} {4096:<10.2f} {0.001:<10.6f} {max(ends):<10.2f} "
        f"{0.001:<10.6f} {total:<10.2f} {repetition:<4}\n"
    )


def options(version: str = "4.1.0", more: str = "", shared: bool = False) -> str:
    """What a test was asked for, in the words of a version."""
    place = "single-shared-file" if shared else "file-per-process"
    if version in ("2.10.3", "3.0.1"):
        return (
            "Summary:\n\tapi                = POSIX\n\ttest filename      = /made/f\n"
            f"\taccess             = {place}\n\tpattern            = segmented (1 segment)\n"
            "\tordering in a file = sequential offsets\n\tordering inter file=constant task offsets = 1\n"
            "\tclients            = 4 (2 per node)\n\trepetitions        = 1\n\txfersize           = 4 MiB\n"
            f"\tblocksize          = 1 GiB\n\taggregate filesize = 4 GiB\n{more}\n"
        )
    return (
        "Options: \napi                 : POSIX\napiVersion          : \ntest filename       : /made/f\n"
        f"access              : {place}\ntype                : independent\nsegments            : 1\n"
        "ordering in a file  : sequential\nordering inter file : constant task offset\ntask offset         : 1\n"
        "nodes               : 2\ntasks               : 4\nclients per node    : 2\nrepetitions         : 1\n"
        f"xfersize            : 4 MiB\nblocksize           : 1 GiB\naggregate filesize  : 4 GiB\n{more}\n"
    )


def head(version: str = "4.1.0", command: str = "-a POSIX -F -t 4m -b 1g -vvv -o /made/f") -> str:
    """How a log begins; the times are of BEGAN in UTC."""
    told = "Run began: " if version == "2.10.3" else "Began               : "
    said = "Command line used: " if version == "2.10.3" else "Command line        : "
    machine = "Machine: Linux n1\n" if version == "2.10.3" else "Machine             : Linux n1\n"
    when = "Sun Mar  1 12:00:00 2026\n"
    test = (
        f"Test 0 started: {when}"
        if version in ("2.10.3", "3.0.1")
        else f"TestID              : 0\nStartTime           : {when}"
    )
    title = f"IOR-{version}: MPI Coordinated Test of Parallel I/O\n"
    return f"{title}{told}{when}{said}ior {command}\n{machine}{ENVIRONMENT}{test}"


def log(version: str = "4.1.0", *, ends: Sequence[float] = ENDS, timed: bool = True) -> str:
    """A whole log of a write and a read by four ranks."""
    text = head(version) + options(version) + (NEW if version.startswith("4") else OLD)
    for access, at in (("write", BEGAN), ("read", BEGAN + 100)):
        minute, second = divmod(at - BEGAN, 60)
        when = f"Sun Mar  1 12:0{minute}:{second:02} 2026"
        text += f"Commencing {access} performance test: {when}\n"
        if timed:
            text += timers(access, ends, version, at=at)
        text += row(access, ends, version)
    total = max(ends) + 0.002
    bw = 4096 / total
    text += f"\nMax Write: {bw:.2f} MiB/sec ({bw * 1.048576:.2f} MB/sec)\nMax Read:  {bw:.2f} MiB/sec (1.00 MB/sec)\n"
    return text + "\nFinished            : Sun Mar  1 12:03:00 2026\n"


def wear_out(pairs: Sequence[int], most: int, seconds: float = 5.0) -> str:
    """A log with a time limit and wear-out: how far ranks were at the limit, and how far all went."""
    mean = sum(pairs) / len(pairs) * 4 * MIB / GIB
    text = head(command="-a POSIX -F -t 4m -b 1g -D 5 -O stoneWallingWearOut=1 -v -o /made/f")
    text += options(more="stonewallingTime    : 5\nstoneWallingWearOut : 1\n") + NEW
    text += (
        f"stonewalling pairs accessed min: {min(pairs)} max: {max(pairs)} -- min data: "
        f"{min(pairs) * 4 * MIB / GIB:.1f} GiB mean data: {mean:.1f} GiB time: {seconds:.1f}s\n"
    )
    return text + row("write", moved=most * 4 * 4 * MIB)


def as_json(nested: bool = False) -> str:
    """A summary in JSON of two repetitions."""
    results = [
        {
            "access": access,
            "bwMiB": 4096 / 20.0,
            "blockKiB": 1048576.0,
            "xferKiB": 4096.0,
            "iops": 51.2,
            "latency": 0.0391,
            "openTime": 0.0,
            "wrRdTime": 20.0,
            "closeTime": 0.001,
            "totalTime": 20.0,
        }
        for _ in range(2)
        for access in ("write", "read")
    ]
    test = {
        "TestID": 0,
        "StartTime": "Sun Mar  1 12:00:00 2026",
        "Path": "/made/f",
        "Parameters": {
            "testFileName": "/made/f",
            "transferSize": 4 * MIB,
            "blockSize": GIB,
            "segmentCount": 1,
        },
        "Options": {
            "api": "POSIX",
            "access": "file-per-process",
            "tasks": 4,
            "repetitions": 2,
            "segments": 1,
        },
        "Results": [results[:2], results[2:]] if nested else results,
    }
    whole = {
        "Version": "4.1.0",
        "Began": "Sun Mar  1 12:00:00 2026",
        "Command line": "ior -F -t 4m -b 1g -o /made/f",
        "Machine": "Linux n1",
        "tests": [test],
        "summary": [],
        "Finished": "Sun Mar  1 12:00:05 2026",
    }
    return json.dumps(whole, indent=2) + "\n"


CSV = """\
access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter
write,204.8000,51.2000,0.0391,1048576.0000,4096.0000,0.0000,19.9000,0.0010,20.0000,4,0
read,409.6000,102.4000,0.0195,1048576.0000,4096.0000,0.0001,9.9000,0.0010,10.0000,4,0
"""
RANKS_HEADER = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n"


def rank_table(access: str = "write", ends: Sequence[float] = ENDS, each: int = GIB) -> str:
    """A table of ranks."""
    lines = [
        f"{access},{r},{s + 0.002:.10e},{s:.10e},{each / (s + 0.002):.10e},{each / s:.10e}\n"
        for r, s in enumerate(ends)
    ]
    return RANKS_HEADER + "".join(lines)


def ops(seconds: float, n: int = 256, size: int = 4 * MIB) -> str:
    """Operations of a rank, one after the other, of the same length."""
    each = seconds / n
    lines = [f"{i * each:.8e},{each:.8e},{size / each:.6e}\n" for i in range(n)]
    return "time,runtime,tp\n" + "".join(lines)


RESULT = """\
[run]
procs           = 4
version         = v9
config-hash     = 6DD060A2
mode            = standard
; START 2026-03-01 12:00:00
; ERROR INVALID stonewall-time 5s != 300s


[ior-easy-write]
t_start         = 2026-03-01 12:00:00
exe             = ./ior -g -o /made/data/ior-easy/ior_file_easy -t 4m -b 1g -F -w -D 5 -O stoneWallingWearOut=1 -a POSIX
throughput-stonewall = 0.30
; ERROR INVALID Runtime is smaller than expected minimum runtime
score           = 0.200000
t_delta         = 20.1000
t_end           = 2026-03-01 12:00:20

[mdtest-easy-write]
t_start         = 2026-03-01 12:00:21
exe             = ./mdtest -n 5000 -d /made/data/mdtest-easy -C -W 5
rate-stonewall  = 6.000000
score           = 5.000000
t_delta         = 6.0000
t_end           = 2026-03-01 12:00:27

[timestamp]
t_start         = 2026-03-01 12:00:27
t_delta         = 0.0000
t_end           = 2026-03-01 12:00:27

[find]
t_start         = 2026-03-01 12:00:27
exe             = ./pfind /made/data
found           = 178
total-files     = 26003
score           = 90.000000
t_delta         = 0.3000
t_end           = 2026-03-01 12:00:28

[ior-easy-read]
t_start         = 2026-03-01 12:00:28
exe             = ./ior -o /made/data/ior-easy/ior_file_easy -t 4m -b 1g -F -r -R -a POSIX
score           = 0.400000
t_delta         = 10.0000

[SCORE]
MD              = 21.213203
BW              = 0.282843
SCORE           = 2.449490 [INVALID]
hash            = D7D94DC7
; END 2026-03-01 12:01:00
"""
SUMMARY = """\
IO500 version v9 (standard)
ERROR INVALID (src/phase_dbg.c:15) stonewall-time 5s != 300s
ERROR INVALID (src/main.c:490) Runtime is smaller than expected minimum runtime
[RESULT]       ior-easy-write        0.200000 GiB/s : time 20.100 seconds [INVALID]
[RESULT]    mdtest-easy-write        5.000000 kIOPS : time 6.000 seconds
[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds
[RESULT]                 find       90.000000 kIOPS : time 0.300 seconds
[SCORE ] Bandwidth 0.282843 GiB/s : IOPS 21.213203 kiops : TOTAL 2.449490 [INVALID]
"""
SUMMARY_2018 = """\
[RESULT] BW   phase 1            ior_easy_write               21.350 GB/s : time 301.95 seconds
[RESULT-invalid] IOPS phase 1         mdtest_easy_write               60.000 kiops : time 30.00 seconds
[SCORE-invalid] Bandwidth 5.1 GB/s : IOPS 43.1 kiops : TOTAL 14.8
"""
FIND = """\
runtime: 2.000000 rate: 13001.500000
rank, errors, unknown, found, total, checked, job steal msgs received, work items send
0, 0, 0, 100, 20000, 24000, 853237, 909183
1, 1, 0, 78, 6003, 0, 847151, 20982
"""
CONFIG = """\
[global]
datadir = /made/data
timestamp-datadir = FALSE
api = POSIX
drop-caches = FALSE
drop-caches-cmd = sudo -n bash -c "secret"

[debug]
stonewall-time = 5
"""
ALL = {
    "ior.txt": log(),
    "ior.json": as_json(),
    "summary.csv": CSV,
    "ior-ranks.csv": rank_table(),
    "op-0-00000.csv": ops(10.0),
    "result.txt": RESULT,
    "result_summary.txt": SUMMARY,
    "find.csv": FIND,
    "config.ini": CONFIG,
}
"""A small file of each kind."""
