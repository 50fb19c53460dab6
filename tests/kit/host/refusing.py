"""A kernel that refuses a system call: a seccomp filter for a process that is about to begin."""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Callable

NUMBERS = {"x86_64": {"flock": 73}, "aarch64": {"flock": 32}}
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def refusing(call: str, errno: int) -> Callable[[], None]:
    """What makes ``call`` fail with ``errno`` in the process that calls it, and in its children."""
    number = NUMBERS[platform.machine()][call]
    program = [(_LOAD, 0, 0, 0), (_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno)]
    program.append((_RETURN, 0, 0, _ALLOW))
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    libc = ctypes.CDLL(None, use_errno=True)

    def install() -> None:
        lines = ctypes.create_string_buffer(code)
        header = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(lines))
        for option in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, header, 0, 0)):
            if libc.prctl(*option):
                raise OSError(ctypes.get_errno(), "prctl")

    return install
