"""Every system call of one thread of another process, by ptrace, with the path or file that it is about.

    python -m tests.kit.host.tracing THREAD FILE     the tracer: appends each call that is new as ``name<TAB>path``

The list of what a thread may do that must never wait for storage, for a reader or for another process: HARMLESS.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.harness import ROOT, wait_for

_SEIZE, _INTERRUPT, _SYSCALL, _INFO = 0x4206, 0x4207, 24, 0x420E
_GOOD, _WALL, _TRAP = 1, 0x40000000, 5 | 0x80
_ENTRY = 1

# Numbers of x86_64. One that is missing here has no name, and so is not harmless.
_BY_FILE = {
    0: "read", 1: "write", 3: "close", 5: "fstat", 8: "lseek", 16: "ioctl", 17: "pread64", 18: "pwrite64",
    20: "writev", 44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 72: "fcntl", 73: "flock",
    74: "fsync", 75: "fdatasync", 77: "ftruncate", 138: "fstatfs", 217: "getdents64",
}  # fmt: skip
_BY_PATH = {
    2: 0, 4: 0, 6: 0, 21: 0, 76: 0, 82: 0, 83: 0, 87: 0, 89: 0, 137: 0,
    257: 1, 258: 1, 262: 1, 263: 1, 264: 1, 267: 1, 316: 1, 332: 1, 439: 1,
}  # fmt: skip
_NAMES = _BY_FILE | {
    2: "open", 4: "stat", 6: "lstat", 7: "poll", 9: "mmap", 10: "mprotect", 11: "munmap", 12: "brk",
    13: "rt_sigaction", 14: "rt_sigprocmask", 15: "rt_sigreturn", 21: "access", 24: "sched_yield",
    25: "mremap", 28: "madvise",
    32: "dup", 35: "nanosleep", 39: "getpid", 53: "socketpair", 56: "clone", 57: "fork", 58: "vfork",
    59: "execve", 60: "exit", 61: "wait4", 62: "kill", 76: "truncate", 82: "rename", 83: "mkdir",
    87: "unlink", 89: "readlink", 131: "sigaltstack", 137: "statfs", 157: "prctl", 186: "gettid",
    202: "futex", 219: "restart_syscall", 228: "clock_gettime", 230: "clock_nanosleep", 247: "waitid",
    257: "openat", 258: "mkdirat", 262: "newfstatat", 263: "unlinkat", 264: "renameat", 267: "readlinkat",
    271: "ppoll", 273: "set_robust_list", 316: "renameat2", 318: "getrandom", 319: "memfd_create",
    332: "statx", 334: "rseq", 424: "pidfd_send_signal", 434: "pidfd_open", 435: "clone3", 439: "faccessat2",
}  # fmt: skip

HARMLESS = {
    # Time, memory, and other threads of the same process.
    "futex", "clock_nanosleep", "clock_gettime", "restart_syscall", "sched_yield", "getrandom", "gettid",
    "getpid", "mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    "rseq", "set_robust_list", "prctl", "exit",
    # Memory that is shared with workers, sockets to them, and what became of them (WNOHANG).
    "memfd_create", "socketpair", "wait4", "waitid", "kill", "pidfd_send_signal",
}  # fmt: skip
_OWN_FILES = re.compile(r"(socket|pipe|anon_inode):.*|/memfd:iosonde.*")
_KERNEL_FILES = re.compile(r"/proc/.*|/sys/dev/block/.*|/dev/kmsg")
ON_OWN_FILES = {
    "sendto",
    "recvfrom",
    "write",
    "read",
    "close",
    "fcntl",
    "ioctl",
    "ftruncate",
    "fstat",
}
ON_KERNEL_FILES = {
    "openat",
    "read",
    "close",
    "lseek",
    "fstat",
    "statx",
    "getdents64",
    "fcntl",
    "readlink",
}


def is_harmless(call: str, path: str) -> bool:
    """Whether a call can wait for nobody but this host's kernel. A pipe may wait for its reader."""
    return (
        call in HARMLESS
        or (call in ON_OWN_FILES and bool(_OWN_FILES.fullmatch(path)) and "pipe:" not in path)
        or (call in ON_KERNEL_FILES and bool(_KERNEL_FILES.fullmatch(path)))
    )


@contextmanager
def traced(pid: int, thread: str, file: Path) -> Iterator[Callable[[], set[tuple[str, str]]]]:
    """Trace the thread of that name from soon after it begins; yields what returns the calls seen, each once."""
    file.touch()
    number = wait_for(f"a thread {thread}", lambda: _thread(pid, thread))
    tracer = subprocess.Popen(
        [sys.executable, "-m", "tests.kit.host.tracing", str(number), str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    def calls() -> set[tuple[str, str]]:
        lines = file.read_text().splitlines()
        return {(call, path) for call, _, path in (line.partition("\t") for line in lines)}

    try:
        wait_for("the first call", lambda: calls() or tracer.poll() is not None)
        assert tracer.poll() is None
        yield calls
    finally:
        # The kernel lets go of what a tracer that is gone had traced.
        tracer.kill()
        tracer.wait()


def _thread(pid: int, name: str) -> int | None:
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    return None


class _Info(ctypes.Structure):
    _fields_ = (
        ("op", ctypes.c_uint8),
        ("arch", ctypes.c_uint32),
        ("ip", ctypes.c_uint64),
        ("sp", ctypes.c_uint64),
        ("nr", ctypes.c_uint64),
        ("args", ctypes.c_uint64 * 6),
        ("rest", ctypes.c_uint64 * 4),
    )


def _trace(thread: int, file: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)

    def ptrace(request: int, address: int = 0, data: int = 0) -> None:
        if libc.ptrace(request, thread, address, data) < 0:
            raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")

    ptrace(_SEIZE, 0, _GOOD)
    ptrace(_INTERRUPT)
    info, seen = _Info(), set()
    with file.open("a", buffering=1) as out:
        while True:
            _, status = os.waitpid(thread, _WALL)
            if not os.WIFSTOPPED(status):
                return
            stop, signal = os.WSTOPSIG(status), 0
            if stop == _TRAP:
                ptrace(_INFO, ctypes.sizeof(info), ctypes.addressof(info))
                if info.op == _ENTRY and (call := _call(thread, info)) not in seen:
                    seen.add(call)
                    out.write("\t".join(call) + "\n")
            elif status >> 16 == 0:
                signal = stop
            ptrace(_SYSCALL, 0, signal)


def _call(thread: int, info: _Info) -> tuple[str, str]:
    number, path = info.nr, ""
    try:
        if number in _BY_FILE:
            path = _link(thread, info)
        elif number in _BY_PATH:
            with Path(f"/proc/{thread}/mem").open("rb") as memory:
                memory.seek(info.args[_BY_PATH[number]])
                path = memory.read(256).partition(b"\0")[0].decode(errors="replace")
            if not path:  # of an open file
                path = _link(thread, info)
    except OSError as error:
        path = str(error.strerror)
    return _NAMES.get(number, f"call {number}"), re.sub(r"\d+", "N", path)


def _link(thread: int, info: _Info) -> str:
    """The open file that the first argument names."""
    return str(Path(f"/proc/{thread}/fd/{ctypes.c_int(info.args[0]).value}").readlink())


if __name__ == "__main__":
    _trace(int(sys.argv[1]), Path(sys.argv[2]))
