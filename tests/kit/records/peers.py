"""Texts as md-workbench, mdtest and io-probing print them, with numbers that a test knows."""

from __future__ import annotations

HEAD_2019 = """\
Args: ./md-workbench "-P=50" "-D=2" "-I=20" "-R=2" "-T" "--" "-D=/made/tree"
MD-Workbench total objects: 360 workingset size: 1.000 MiB (version: 7f) time: 2026-03-01 12:00:00
\toffset=1
\tinterface=posix
\tobj-per-proc=20
\tprecreate-per-set=50
\tdata-sets=2
\tobject-size=4000
\titerations=2
\twaiting-time=0.000000
\tstonewall-timer=0
\tadaptive-waiting

\troot-dir=/made/tree

"""
TIMES = (0.5e-5, 1e-5, 2e-5, 3e-5, 4e-5, 5e-5, 6e-5)
OPS = ("read", "stat", "create", "delete")


def quantiles(scale: float = 1.0) -> str:
    return "(" + ", ".join(f"{value * scale:.4e}s" for value in TIMES) + ")"


def line(
    phase: str,
    objects: int = 80,
    factor: float | None = None,
    errs: int | None = 0,
    rank: int | None = None,
    digits: int = 1,
    ops: tuple[str, ...] | None = None,
) -> str:
    """A line of 2019: ``objects`` in 0.5 s."""
    ops = ops or {"precreate": ("create",), "benchmark": OPS, "cleanup": ("delete",)}[phase]
    rate = objects / 0.5
    whole = f"min:{0.4:.{digits}f}s mean: {0.45:.{digits}f}s balance:80.0 stddev:0.1 "
    of = {
        "precreate": f"rate:{rate + 8:.1f} iops/s dsets: 4 objects:{objects} rate:8.000 dset/s "
        f"rate:{rate:.1f} obj/s tp:1.5 MiB/s",
        "benchmark": f"rate:{4 * rate:.1f} iops/s objects:{objects} rate:{rate:.1f} obj/s tp:2.5 MiB/s",
        "cleanup": f"rate:{rate + 8:.1f} iops/s objects:{objects} dsets: 4 rate:{rate:.1f} obj/s "
        "rate:8.000 dset/s",
    }[phase]
    text = "" if rank is None else f"{rank}: "
    text += f"{phase} process max:0.50s {whole if rank is None else ''}{of} op-max:6.0000e-05s "
    if factor:
        text += f"waiting_factor:{factor:.2f} "
    if errs is not None:
        text += f"({errs} errs{'!!!' if errs else ''}) "
    return text + " ".join(op + quantiles() for op in ops)


def adaptive() -> str:
    """Two iterations of three waiting factors, with lines of ranks."""
    lines = [line("precreate", 200)]
    for _ in range(2):
        for factor in (0.0, 1 / 16, 4.0):
            lines.append(line("benchmark", 80, factor))
            lines += [line("benchmark", 40, factor, rank=rank) for rank in (0, 1)]
    lines.append(line("cleanup", 200))
    return HEAD_2019 + "\n".join(lines) + "\nTotal runtime: 9s time: 2026-03-01 12:00:09\n"


TEXT_2017 = """\
MD-REAL-IO total objects: 800 workingset size: 2.000 MiB (version: a1@b) time: 2017-05-01 08:00:00
\tinterface=posix
\tobj-per-proc=100
\tprecreate-per-set=100
\tdata-sets=1
\tobject-size=1000
\titerations=3

\troot-dir=/old/tree

precreate 2.5s 80.8 iops/s 2 dset 200 obj 0.800 dset/s 80.0 obj/s 0.1 Mib/s (0 errs)
benchmark 4.0s 200.0 iops/s 200 obj 50.0 obj/s 0.1 Mib/s (0 errs)
benchmark 2.0s 396.0 iops/s 198 obj 99.0 obj/s 0.2 Mib/s (2 errs)
cleanup 1.0s 202.0 iops/s 200 obj 2 dset 200.0 obj/s 2.000 dset/s (0 errs)
Total runtime: 10s time: 2017-05-01 08:00:10
"""

COUNTS = """\
Args: ./md-workbench "-P=100" "-D=1" "-I=10" "-R=1" "--print-detailed-stats" "--" "-D=/made/d"
phase\t\td name\tcreate\tdelete\tob nam\tcreate\tread\tstat\tdelete\tt_inc_b\tt_no_bar\tthp\tmax_t
precreate \t2\t2\t0\t0\t200\t0\t0\t0\t0.200s\t0.100s\t3.50 MiB/s 8.0000e-03
benchmark \t0\t0\t20\t20\t20\t20\t0.030s\t0.020s\t4.50 MiB/s 7.0000e-05
cleanup err\t0\t0\t1\t0\t0\t0\t0\t3
"""

MDTEST = """\
-- started at 03/01/2026 12:00:00 --

mdtest-4.1.0 was launched with 4 total task(s) on 2 node(s)
Command line used: ./mdtest '-n' '10' '-u' '-F' '-w' '100' '-e' '100' '-d' '/made/mdt' '-a' 'POSIX'
Nodemap: 1100
Path                : /made
FS                  : 10.0 GiB   Used FS: 25.5%   Inodes: 1.0 Mi   Used Inodes: 0.5%
4 tasks, 40 files

SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation   per Rank: Max   Min   Mean   per Iteration: Max   Min   Mean   Std Dev
   ---------   ---   ---   ----   ---   ---   ----   -------
   File creation   125.000   100.000   110.000   400.000   400.000   400.000   0.000
   File stat   2000.000   1000.000   1500.000   4000.000   4000.000   4000.000   0.000
   File read   0.000   0.000   0.000   0.000   0.000   0.000   0.000
   Tree removal   50.000   50.000   50.000   50.000   50.000   50.000   0.000

SUMMARY time (in ms/op): (of 1 iterations)
   Operation   per Rank: Max   Min   Mean   per Iteration: Max   Min   Mean   Std Dev
   File creation   2.500   2.000   2.250   2.500   2.500   2.500   0.000
-- finished at 03/01/2026 12:00:01 --
"""

TEXT_2016 = """\
MD-REAL-IO total objects: 160 (version: c3@d) time: 2016-05-01 08:00:00
\toffset=1
\tinterface=posix
\tobj-per-proc=10
\tprecreate-per-set=30
\tdata-sets=2
\tobject-size=3900
\titerations=1
\tstart-index=0
\tprocess-reports

\troot-dir=/old/tree

precreate 3.0s 4 dset 120 obj 1.333 dset/s 40.0 obj/s 0.1 Mib/s (0 errs)
benchmark 2.0s 40 obj 20.0 obj/s 0.1 Mib/s (0 errs)
0: benchmark 1.6s 20 obj 12.5 obj/s 0.1 Mib/s (0 errs)
1: benchmark 2.0s 20 obj 10.0 obj/s 0.1 Mib/s (0 errs)
cleanup 4.0s 120 obj 4 dset 30.0 obj/s 1.000 dset/s (0 errs)
Total runtime: 9s time: 2016-05-01 08:00:09
"""
"""Without the size of the working set, and with no rate of all operations."""

MDTEST_2017 = """\
-- started at 05/01/2017 08:00:00 --

mdtest-1.9.3 was launched with 4 total task(s) on 2 node(s)
Command line used: /bin/mdtest -v -F -w 100 -i 2 -d /old/mdt -n 10
4 tasks, 40 files
V-1: main: * iteration 1 *
V-1: main:   Tree creation     :          0.020 sec,         50.000 ops/sec
V-1:   File creation     :          0.400 sec,        100.000 ops/sec
V-1: main: * iteration 2 *
V-1:   File creation     :          0.200 sec,        200.000 ops/sec

SUMMARY: (of 2 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   File creation     :        200.000        100.000        150.000         50.000
   Tree creation     :         50.000         50.000         50.000          0.000

-- finished at 05/01/2017 08:00:10 --
"""

RANKS = """\
rank,items,rate-File creation,time-File creation,rate-File stat,time-File stat,rate-Tree removal,time-Tree removal
all,10,1.0000000000e+02,2.0000000000e-01,,,5.0000000000e+01,2.0000000000e-02
0,,1.0000000000e+02,1.0000000000e-01,,
1,,5.0000000000e+01,2.0000000000e-01,,
all,10,2.0000000000e+02,1.0000000000e-01,,,,
0,,1.0000000000e+02,1.0000000000e-01,,
"""


def probing(rounds: int = 5, start: int = 1_790_000_000, ranks: int = 1) -> str:
    """Rounds a second apart (the third a second late), whose middle quantiles are not initialised."""
    text = (
        'Args: ./io-probing "-P=20" "-D=1" "-I=1" "-R=-1" "-2"\n'
        "MD-REAL-IO total objects: 19 workingset size: 0.1 MiB (version: x) time: 2026-09-21 14:13:20\n"
        "\tra-size=65536\n\tobject-size=2000\n\troot-dir=/made/probed\n\n"
    )
    for place in range(rounds):
        stamp = start + place + (place >= 2)
        ok = 1e-3 * (place + 1)
        seven = f"({ok:.4e}s, 4.5862e-41s, {ok:.4e}s, 0.0000e+00s, 1.1e+30s, -nans, {ok:.4e}s)"
        text += f"start\ntimestamp {stamp}\n"
        text += "benchmark process max:0.00s min:0.0s mean: 0.0s balance:100.0 stddev:-nan rate:100.0 iops/s "
        text += "objects:1 rate:25.0 obj/s tp:1.0 MiB/s op-max:1.0e-03s (0 errs) "
        text += " ".join(op + seven.replace("1.1e+30s", "9.9e-05s") for op in OPS) + "\n"
        offsets = " ".join(str(65536 * (rank + place)) for rank in range(ranks))
        text += f"write {0.002 * ranks:.9f} rnd_offsets( {offsets} )\n"
        text += f"read {0.004 * ranks:.9f} rnd_offsets( {offsets} )\nend\n\n"
    return text


PRECREATE = (
    'Args: ./io-probing "-P=20" "-D=1" "-I=1" "-1"\nstart\ntimestamp 0\n'
    + line("precreate", 20)
    + "end\n\nTotal runtime: 1s time: 2026-09-21 14:13:19\n"
)
ALL = {
    "adaptive.txt": adaptive(),
    "2017.txt": TEXT_2017,
    "counts.txt": COUNTS,
    "mdtest.txt": MDTEST,
    "mdtest-2017.txt": MDTEST_2017,
    "ranks.csv": RANKS,
    "probing.txt": probing(),
    "precreate.txt": PRECREATE,
    "p-File creation-00000.csv": "time,runtime,tp\n1e-5,2e-5,5.0e+06\n4e-5,3e-5,3.3e+06\n",
}
"""A small file of each dialect."""
