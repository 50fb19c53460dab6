"""A binary Darshan log to records, by pydarshan's library, with every return value checked.

The library is C: with a damaged log it can end the process. Only ``darshan_worker`` calls this.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from iosonde.connectors.darshan.library import library, names
from iosonde.connectors.darshan.records import (
    MODULES,
    MOST_RECORDS,
    STREAMS,
    LogHeader,
    Module,
    Records,
    instant,
    program_of,
    ranks_of,
)
from iosonde.model.errors import InputFileError

_BLOCK = 1024
_MOST_STRIPES = 1 << 20
_COMMAND_BYTES = 8192
EXPECTED = "a whole Darshan log"


class ModuleInfo(NamedTuple):
    """Location of a module in a log."""

    number: int
    partial: bool


class RawLog:
    """An open log. ``path`` is for messages."""

    def __init__(self, path: str, handle: Any) -> None:
        self.path, self._handle = path, handle
        self._ffi, self._lib = library()
        self.run = self._run()
        self.mounts = self._mounts()
        self.modules = self._modules()
        self.run.partial = {name for name, info in self.modules.items() if info.partial}
        self.names = self._names()

    def bad(self, what: str) -> InputFileError:
        """Error about this log."""
        return InputFileError(f"{self.path}: {what}", expected=EXPECTED)

    def _run(self) -> LogHeader:
        ffi, lib = self._ffi, self._lib
        job = ffi.new("struct darshan_job *")
        if lib.darshan_log_get_job(self._handle, job) < 0:
            raise self.bad("the job record of the log is unreadable")
        command = ffi.new("char[]", _COMMAND_BYTES)
        if lib.darshan_log_get_exe(self._handle, command) < 0:
            raise self.bad("the name of the program cannot be read")
        seconds = ffi.new("double *")
        timed = lib.darshan_log_get_job_runtime(self._handle, job[0], seconds) >= 0
        one = job[0]
        version = ffi.string(ffi.cast("char *", self._handle), 8).decode("ascii", "replace")
        return LogHeader(
            version=version,
            program=program_of(ffi.string(command).decode("utf-8", "replace")),
            user=str(one.uid),
            job_id=str(one.jobid),
            ranks=ranks_of(one.nprocs, self.path),
            start_ns=instant(one.start_time_sec, one.start_time_nsec),
            end_ns=instant(one.end_time_sec, one.end_time_nsec),
            run_s=seconds[0] if timed and 0 <= seconds[0] < 1e9 else None,
        )

    def _mounts(self) -> list[tuple[bytes, bytes]]:
        """Mount points and types of file systems, in the log's order (longest first)."""
        ffi, lib = self._ffi, self._lib
        table, count = ffi.new("struct darshan_mnt_info **"), ffi.new("int *")
        if lib.darshan_log_get_mounts(self._handle, table, count) < 0:
            raise self.bad("the table of mounts cannot be read")
        entries = table[0]
        found = [
            (ffi.string(entries[i].mnt_path), ffi.string(entries[i].mnt_type))
            for i in range(count[0])
        ]
        lib.darshan_free(entries)
        return found

    def _modules(self) -> dict[str, ModuleInfo]:
        ffi, lib = self._ffi, self._lib
        table, count = ffi.new("struct darshan_mod_info **"), ffi.new("int *")
        lib.darshan_log_get_modules(self._handle, table, count)
        found = {}
        for i in range(count[0]):
            entry = table[0][i]
            if entry.name != ffi.NULL:
                name = ffi.string(entry.name).decode("ascii", "replace")
                found[name] = ModuleInfo(entry.idx, bool(entry.partial_flag))
        lib.darshan_free(table[0])
        return found

    def _names(self) -> dict[int, bytes]:
        """Hash of a file -> its path."""
        ffi, lib = self._ffi, self._lib
        table, count = ffi.new("struct darshan_name_record **"), ffi.new("int *")
        lib.darshan_log_get_name_records(self._handle, table, count)
        entries, string, free = table[0], ffi.string, lib.darshan_free
        found = {}
        for i in range(count[0]):
            entry = entries[i]
            name = entry.name
            found[entry.id] = string(name)
            free(name)
        lib.darshan_free(entries)
        return found

    def records(self, module: str, wanted: Module | None = None) -> Iterator[Records]:
        """Yield records of a module in blocks, without STDIO's streams. ``wanted``: other counters than the default.

        Raises InputFileError.
        """
        info = self.modules.get(module)
        if info is None:
            return
        ffi, lib = self._ffi, self._lib
        about = wanted or MODULES[module]
        words = ffi.sizeof(about.struct) // 8
        block = np.empty((_BLOCK, words), dtype=np.int64)
        start = ffi.cast("char *", ffi.from_buffer(block))
        place = ffi.new("void **")
        get, handle, index = lib.darshan_log_get_record, self._handle, info.number
        take = self._taker(module, about)
        total, answer = 0, 1
        while answer > 0 and total <= MOST_RECORDS:
            n = 0
            while n < _BLOCK:
                place[0] = start + n * words * 8
                answer = get(handle, index, place)
                if answer < 1:
                    break
                n += 1
            total += n
            if n:
                yield take(block[:n])
        if answer < 0:
            raise self.bad(f"the records of {module} break off after {total}")
        if answer > 0:
            raise self.bad(f"{module} has more than {MOST_RECORDS} records")
        if total and not self.names:
            raise self.bad("the table of file names cannot be read")

    def _taker(self, module: str, about: Module) -> Callable[[Any], Records]:
        """Converter from raw words (n, words) to records."""
        whole, floats = _columns(about)
        streams = module == "STDIO"
        of_stream = [number for number, name in self.names.items() if name in STREAMS]

        def take(raw: Any) -> Records:
            ids, ranks = raw[:, 0].view(np.uint64), raw[:, 1]
            values = np.concatenate((raw[:, whole], raw.view(np.float64)[:, floats]), axis=1)
            if streams and of_stream:
                keep = ~np.isin(ids, np.array(of_stream, dtype=np.uint64))
                return Records(module, ids[keep], ranks[keep], values[keep])
            return Records(module, ids.copy(), ranks.copy(), values)

        return take

    def osts(self) -> dict[str, list[int]]:
        """Path -> OSTs of the log's files on Lustre. Raises InputFileError."""
        found: dict[str, list[int]] = {}
        for number, osts in self.stripes():
            found[self.names.get(number, b"?").decode("utf-8", "replace")] = osts
        return found

    def stripes(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the hash of each Lustre file, and its OSTs in ascending order. Raises InputFileError."""
        info = self.modules.get("LUSTRE")
        if info is None:
            return
        ffi, lib, total = self._ffi, self._lib, 0
        while True:
            place = ffi.new("void **")
            answer = lib.darshan_log_get_record(self._handle, info.number, place)
            if answer < 1:
                break
            record = ffi.cast("struct darshan_lustre_record *", place[0])
            if not 0 <= record.num_stripes <= _MOST_STRIPES:
                raise self.bad(f"a file of {record.num_stripes} stripes")
            ids = ffi.unpack(record.ost_ids, record.num_stripes) if record.num_stripes else []
            number = record.base_rec.id
            lib.darshan_free(place[0])
            total += 1
            # A stripe of a layout that was never written has no OST yet: -1.
            yield number, sorted({ost for ost in ids if ost >= 0})
        if answer < 0:
            raise self.bad(f"the records of LUSTRE break off after {total}")


@functools.cache
def _columns(about: Module) -> tuple[list[int], list[int]]:
    """Positions of the wanted integers and floats in a record, in words of 8 bytes."""
    ffi, _ = library()
    fields = dict(ffi.typeof(about.struct).fields)
    whole_at, floats_at = fields["counters"].offset // 8, fields["fcounters"].offset // 8
    whole = {name: whole_at + i for i, name in enumerate(names(about.prefix))}
    floats = {name: floats_at + i for i, name in enumerate(names(about.prefix, floats=True))}
    wanted = about.counters
    return (
        [whole[name] for name in wanted if not name.startswith("F_")],
        [floats[name] for name in wanted if name.startswith("F_")],
    )


@contextmanager
def opened(path: str) -> Iterator[RawLog]:
    """Open a log. Raises InputFileError. After an error the library's state is undefined."""
    ffi, lib = library()
    handle = lib.darshan_log_open(path.encode("utf-8", "surrogateescape"))
    if handle == ffi.NULL:
        raise InputFileError(f"{path}: no Darshan log that can be read", expected=EXPECTED)
    yield RawLog(path, handle)
    lib.darshan_log_close(handle)
