"""The C library inside pydarshan, without its package, which imports pandas and takes a second."""

from __future__ import annotations

import functools
import importlib.util
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from iosonde.model.errors import MissingPartError


class Library(NamedTuple):
    """``ffi`` (cffi) and ``lib``, libdarshan-util of the same version as the declarations."""

    ffi: Any
    lib: Any


def there() -> bool:
    """True if pydarshan is installed."""
    return importlib.util.find_spec("darshan") is not None


def missing() -> MissingPartError:
    """Error for a missing pydarshan."""
    return MissingPartError(
        "Darshan logs are read by pydarshan, which is missing",
        hint="pip install 'iosonde[darshan]', or the text of darshan-parser",
    )


@functools.cache
def library() -> Library:
    """Load the library once. Raises MissingPartError: not installed, or not loadable."""
    if not there():
        raise missing()
    try:
        return _alone() or _whole()
    except Exception as error:
        raise MissingPartError(
            f"pydarshan does not load: {error}", hint="pip install --force-reinstall darshan"
        ) from error


def _alone() -> Library | None:
    """Load it from two files of pydarshan; None if their layout is unknown."""
    spec = importlib.util.find_spec("darshan")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    try:
        declarations = _file(home / "backend" / "api_def_c.py").load_darshan_header()
        ffi = import_module("cffi").FFI()
        ffi.cdef(declarations)
        lib = _file(home / "discover_darshan.py").find_utils(ffi, None)
        version = ffi.string(lib.darshan_log_get_lib_version()).decode()
    except Exception:
        return None
    # Declarations of another version would read the wrong bytes.
    if version.split(".")[:3] != metadata.version("darshan").split(".")[:3]:
        return None
    return Library(ffi, lib)


def _whole() -> Library:
    backend: Any = import_module("darshan.backend.cffi_backend")
    return Library(backend.ffi, backend.libdutil)


def _file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_iosonde_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def names(module: str, *, floats: bool = False) -> tuple[str, ...]:
    """Names of a module's counters (``posix``, ``mpiio``, ``stdio``) without its prefix, in their order."""
    ffi, lib = library()
    table = getattr(lib, f"{module}_{'f_' if floats else ''}counter_names")
    end = f"{module}_{'F_' if floats else ''}NUM_INDICES".upper()
    found: list[str] = []
    while (name := ffi.string(table[len(found)]).decode()) != end:
        found.append(name.removeprefix(f"{module}_".upper()))
    return tuple(found)
