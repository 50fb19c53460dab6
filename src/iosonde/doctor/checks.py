"""Every check of the doctor: subject, reason, advice. The one place for all three.

docs/doctor.md holds the same table; a test compares them.
"""

from __future__ import annotations

from typing import NamedTuple


class Check(NamedTuple):
    """Subject of a check, its reason in one sentence, advice if it fails."""

    looks_at: str
    why: str
    advice: str


HOST = {
    "host-clock-source": Check(
        "which clock source the kernel uses",
        "Every sample is the difference of two clock readings.",
        "find out why the TSC was given up ('dmesg | grep -i tsc'); boot with tsc=reliable only "
        "where the hardware is known to be good",
    ),
    "host-clock-cost": Check(
        "the median cost of a clock reading, as seen from Python",
        "A reading that is a system call costs about as much as a cached stat.",
        "see host-clock-source; below a hypervisor, ask for a paravirtual clock",
    ),
    "host-timer": Check(
        "20 sleeps of 5 ms: how late they end (median, longest)",
        "Operations begin when a timer fires: a late timer is response time that no storage caused.",
        "look for other work on this host, for real-time tasks and deep idle states; believe "
        "service time before response time",
    ),
    "host-load": Check(
        "the load average per CPU this process may use",
        "Where tasks queue for CPUs, latency tails are the scheduler's.",
        "probe from a quieter host, or give the agent a CPU share; samples carry the time their "
        "thread waited for a CPU",
    ),
    "host-cpu-pressure": Check(
        "/proc/pressure/cpu: share of the last 10 s in which a task waited for a CPU",
        "It counts waiting itself, which the load average mixes with waiting for disks.",
        "probe from a quieter host, or give the agent a CPU share; a kernel without pressure "
        "information may need psi=1",
    ),
    "host-steal": Check(
        "time that the hypervisor gave to others (/proc/stat), since boot and during this run",
        "Stolen time lengthens operations and is invisible to the guest's scheduler.",
        "ask for an unshared or larger virtual machine; compare hosts before blaming the storage",
    ),
    "host-clock-sync": Check(
        "whether the kernel believes its clock to be synchronised (adjtimex), and how well",
        "Rows of several hosts are compared by their UTC times.",
        "run chrony or another NTP client; chrony needs 'rtcsync' for the kernel to know",
    ),
    "host-memory": Check(
        "memory available on this host, and its swap",
        "A host short of memory drops caches and swaps, which looks like slow storage.",
        "find what holds the memory; probe from a host with room",
    ),
}

TARGET = {
    "target-answers": Check(
        "whether everything asked of the target was answered in time",
        "What holds a harmless question holds users' operations too.",
        "look at the server and the network first; the child left behind ends when the file "
        "system answers, is aborted or is unmounted with 'umount -f'",
    ),
    "target-readable": Check(
        "whether the target is a directory that can be listed",
        "A stale handle or a dead connection looks like a missing directory to many tools.",
        "for ESTALE and ENOTCONN unmount and mount again; for a missing directory correct the "
        "path; for a refused one run the doctor as the user of the probe",
    ),
    "target-mount": Check(
        "whether the target lies on a mount of its own, as /etc/fstab and the mount table say",
        "A target whose mount is missing silently becomes a directory of the local disk.",
        "mount it and restart the probe; if the local disk is what you mean to watch, ignore this",
    ),
    "target-file-system": Check(
        "the type of the file system",
        "Memory, overlays and unmounted automounts are not the storage one thinks of.",
        "watch a directory on the storage itself",
    ),
    "target-read-only": Check(
        "whether it is mounted read-only",
        "Four of six operations write; ext4 and xfs turn read-only after an error.",
        "look into the kernel log for the error, repair, remount",
    ),
    "target-state": Check(
        "what the running probe last said of the target's operations",
        "The doctor only reads: whether creates and writes answer is the probe's to say.",
        "'iosonde now' says since when; then look at the server",
    ),
    "target-device": Check(
        "the block device behind a local file system: rotation, scheduler, write cache",
        "A volatile write cache or an I/O scheduler decides what a small write costs.",
        "for a loop device watch the file system below it; otherwise know it when comparing hosts",
    ),
    "target-space": Check(
        "free space",
        "Allocators slow down on a nearly full file system, and a full one fails creates.",
        "make room; slowness that began with a full file system is explained",
    ),
    "target-inodes": Check(
        "free inodes",
        "Without inodes creates fail although there is space.",
        "delete small files or make the file system anew with more inodes",
    ),
}

MOUNT = {
    "mount-atime": Check(
        "strictatime, relatime or noatime",
        "With strict access times every read is also a write of metadata.",
        "mount with relatime or noatime",
    ),
    "mount-sync": Check(
        "sync and dirsync",
        "Then every write, or every create and delete, waits for the device.",
        "know it when comparing; mount without it unless it is meant",
    ),
    "local-barriers": Check(
        "ext4 and xfs: barriers, data= mode",
        "Without barriers a flush returns before data is safe: fast, and lost on a power cut.",
        "mount with barriers unless the write cache has a battery",
    ),
    "nfs-hard": Check(
        "nfs: hard or soft, timeo and retrans",
        "Hard mounts wait for a dead server for ever; soft ones fail operations and may lose writes.",
        "mount hard; where soft is meant keep timeo x retrans well above the deadline of the probe",
    ),
    "nfs-version": Check(
        "nfs: version and transport",
        "Versions differ in locks, opens and round trips; UDP loses large transfers.",
        "mount with vers=4.1 or later over TCP",
    ),
    "nfs-connections": Check(
        "nfs: nconnect",
        "All of a host's operations on a server share its connections: small ones queue behind "
        "large ones.",
        "where users' bulk transfers slow metadata, try nconnect=4",
    ),
    "nfs-attributes": Check(
        "nfs: actimeo, acregmax, noac, lookupcache, nocto",
        "The attribute cache decides whether a stat asks the server.",
        "noac and actimeo=0 also make writes synchronous: compare only with clients mounted alike",
    ),
    "fs-cache": Check(
        "nfs and ceph: fsc",
        "With FS-Cache a read may come from this host's disk.",
        "mount without fsc, or keep O_DIRECT on (it bypasses FS-Cache)",
    ),
    "lustre-locks": Check(
        "lustre: flock, localflock or noflock",
        "Without flock nothing stops two probes from sharing one place.",
        "mount with flock or localflock, or take care that one probe runs a host",
    ),
    "lustre-statfs": Check(
        "lustre: lazystatfs",
        "Without it a single dead OST hangs df and every statfs.",
        "mount with lazystatfs",
    ),
    "ceph-async": Check(
        "ceph: wsync or nowsync",
        "With asynchronous creates md_create and md_delete return before the MDS has been asked.",
        "mount with wsync to time the MDS",
    ),
    "smb-cache": Check(
        "smb: cache= and actimeo",
        "A lease lets the client answer reads and stats without the server.",
        "know it when comparing; cache=none asks the server each time",
    ),
    "fuse-daemon": Check(
        "fuse: max_read, and that the daemon's caches are not visible from outside",
        "A user-space daemon may cache attributes and data for as long as it likes.",
        "read the daemon's own options: attribute and entry timeouts, direct_io, kernel_cache",
    ),
    "parallel-servers": Check(
        "lustre, beegfs, gpfs: that the big file lies on some of the servers only",
        "A slow server that holds no part of it is not seen.",
        "'lfs getstripe', 'beegfs-ctl --getentryinfo' or 'mmlsattr -L' on the file data; watch "
        "directories pinned to the other servers as further targets",
    ),
}

PLACE = {
    "place-present": Check(
        "whether this host's probe has its directory below the target, and its mark",
        "Operations without a probe have no verdict.",
        "'iosonde probe DIR' watches it, or a [[target]] of the agent; a place that this user may "
        "not read needs the doctor to run as the user of the probe",
    ),
    "place-covered": Check(
        "whether a probe that says it runs here has no place here",
        "Somebody mounted over the directory after the probe began: it measures what lies below.",
        "restart the probe so that it opens the target anew",
    ),
    "place-lock": Check(
        "who holds the place (the kernel's lock table; no lock is taken)",
        "One probe at a time uses a place; a second one is refused.",
        "start the agent if nothing is meant to be stopped",
    ),
    "place-leftovers": Check(
        "files of iosonde that nothing uses any more: of loads, of pools of another size",
        "They take space, and a load that still runs slows what is measured.",
        "if no 'iosonde demo' runs, delete the directories named .iosonde-load-*; strangers in the "
        "place are left alone by the probe and better moved away",
    ),
    "bigfile-cache": Check(
        "whether reads of the big file reach the storage: O_DIRECT granted, or larger than memory",
        "A big file that fits into memory is read from memory.",
        'set direct = "auto", or file_size above 1.25 x memory',
    ),
    "bigfile-holes": Check(
        "holes, unwritten, shared and compressed extents of the big file; its size, as it was made",
        "The storage answers a read of a hole, or of an extent never written, without reading.",
        "stop the probe, delete the file data and start again: it is filled anew; switch "
        "compression and deduplication off for the place",
    ),
    "bigfile-cached": Check(
        "how much of the big file is in the page cache now (cachestat, else mincore)",
        "Buffered reads of that share are memory, not storage; direct ones must first drop it.",
        "find who reads the file (backup, virus scanner, indexer) and exclude .iosonde-*",
    ),
    "pool-whole": Check(
        "the number of small files, against what the probe keeps, and the size of 16 of them",
        "The pool's size is part of what a create or stat costs.",
        "stop and start the probe: it repairs its pool",
    ),
    "pool-cached": Check(
        "how many of 16 small files are in the page cache",
        "Small reads of cached files measure memory and the open, not the data servers.",
        "compare md_read only with itself; a larger pool, or a longer period, lets the cache forget",
    ),
    "stat-cache": Check(
        "whether this client can answer a stat itself: attribute cache, locks, inode cache",
        "A stat from the client's cache says nothing of the metadata server.",
        "enlarge pool until pool / 3 x period exceeds the cache's time, or take md_create and "
        "md_delete for the metadata server's latency",
    ),
    "other-probes": Check(
        "places of other hosts and users below the target, and their load",
        "Probes are load too, and each must know of the others.",
        "many hosts need a longer period each; one probe a client class is enough",
    ),
    "abandoned-places": Check(
        "places of other hosts and users that nobody has written to for a day",
        "Each holds a big file and a pool that nobody uses.",
        "if that host no longer probes, delete its directory",
    ),
}

STORE = {
    "store-answers": Check(
        "whether the store folder answers in time",
        "'now', 'check' and the page read it.",
        "keep the store on a local disk",
    ),
    "store-watches": Check(
        "whether the store holds states of this host, and whether they can be read",
        "Nobody is warned by a probe that does not run.",
        "start the agent, or name the right folder (--store) or host (--host)",
    ),
    "store-apart": Check(
        "whether the store lies on a file system that is watched",
        "A hang of the target then takes the record of the hang with it.",
        "move the store to a local disk",
    ),
    "store-durable": Check(
        "the type of the file system below the store",
        "A record in memory is gone after a reboot, and with it what is usual.",
        "keep the store on a local disk, /var/lib/iosonde for example",
    ),
    "store-space": Check(
        "free space of the store",
        "Rows wait in memory while the store is full, and are dropped at last.",
        "make room, or move old days of samples/ elsewhere",
    ),
    "store-spool": Check(
        "closed spool segments older than 2 h",
        "Unsealed rows take five times the space and make every question slow.",
        "run 'iosonde store seal' from a timer, or keep 'iosonde serve' running",
    ),
    "store-retention": Check(
        "bytes and days of samples, how long the free space will last at that rate, what the agent keeps",
        "A record without an end fills its disk some day.",
        "give the agent a limit: days or size in the [keep] of its configuration",
    ),
    "store-private": Check(
        "tables that name users, jobs or applications and that every user may read",
        "Earlier versions made them so, and what is made in a folder has its permissions.",
        "chmod -R o= STORE/TABLE for each of them",
    ),
    "store-names": Check(
        "whether two machines write states under one host name",
        "Their states replace each other, and their samples count as one host's.",
        'set host = "..." in the configuration of each agent, and restart it',
    ),
    "store-clock": Check(
        "states and segments that come from the future, and whose clock differs from the storage's",
        "A clock that was set back makes two samples of one instant; hosts are compared by time.",
        "see host-clock-sync; rows written before the step keep their times",
    ),
}

AGENT = {
    "agent-heard": Check(
        "when each target's state was last written",
        "An old state is no news, and no news is not good news.",
        "look at the agent's log ('systemctl status iosonde-agent') and start it",
    ),
    "agent-version": Check(
        "the version of the running agent, from its /metrics",
        "Agent and reader should be of one version.",
        "upgrade and restart the agent; if it listens elsewhere, say so with --agent",
    ),
    "agent-cost": Check(
        "processor time and memory of the agent since it started",
        "A probe must stay negligible.",
        "lengthen the period, or watch fewer targets from this host",
    ),
    "agent-rows": Check(
        "rows that wait, were dropped or failed to reach the store",
        "What is dropped is gone.",
        "see store-space and store-answers",
    ),
    "agent-clock": Check(
        "how often the wall clock stepped while the agent ran, from its /metrics",
        "Rows before and after a step disagree about when something happened; no latency does.",
        "see host-clock-sync; a clock that is slewed instead of stepped keeps rows in order",
    ),
    "agent-process": Check(
        "the process that holds a place: its program file, its mount namespace",
        "A replaced program or another view of the mounts makes this report one of something else.",
        "restart the agent; or run the doctor inside: 'nsenter -t PID -m iosonde doctor'",
    ),
    "agent-throttled": Check(
        "how often the agent's control group had used up its CPU quota",
        "A throttled agent is late, and lateness looks like latency.",
        "raise CPUQuota of the unit",
    ),
}

CHECKS: dict[str, Check] = HOST | TARGET | MOUNT | PLACE | STORE | AGENT
