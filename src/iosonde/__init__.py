"""iosonde: the weather station for shared storage.

Rust measures (``iosonde._core``), Python thinks, the browser draws. Importing this package does
nothing but name it: every command imports only the layers it needs.

In Python and notebooks (docs/python.md)::

    import iosonde

    station = iosonde.open()                          # a store: probes, servers, jobs
    jobs = iosonde.read_jobs("jobs.csv")              # or a table with a row a job
    jobs.explain("4711")
    iosonde.simulate("figure-5.toml", {"storage.queue": 5}).plot()
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from typing import Any

    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from iosonde.notebook.arguments import Mappings, Paths, Zone
    from iosonde.notebook.job_tables import Peak
    from iosonde.notebook.jobs import Jobs
    from iosonde.notebook.queue import Simulation
    from iosonde.notebook.station import Station

__version__ = "0.1.0"
__all__ = ["__version__", "open", "read_jobs", "simulate"]


def open(store: str | PathLike[str] | None = None) -> Station:
    """A store, to ask and to import into; nothing is read yet.

    ``store``: its folder; None: $IOSONDE_STORE, else ~/.local/state/iosonde, as for the command. One that is not
    there yet is empty. ``s3://bucket/prefix``, ``A,B`` and ``/shared/*``: what probes wrote there, to read; a bucket is
    fetched now.
    Raises UsageError (it is a file, another address), StoreError (nothing can be fetched).
    """
    from iosonde.notebook.station import opened

    return opened(store)


def read_jobs(
    tables: Paths | DataFrame,
    *,
    mapping: Mappings = (),
    system: str = "",
    zone: Zone = None,
    peak: Peak = "max",
) -> Jobs:
    """The jobs of tables (CSV, Parquet, JSON lines, a data frame; a row a job), cleaned, with what follows from their
    columns.

    ``mapping``: TOML files, folders of them, or dicts of the same form, that say what columns mean (docs/correlate.md);
    none: pytokio's ``summarize_job`` and other known tables are recognised. ``system``: file system of a table that
    names none. ``zone``: of clock times without one (None: this machine's, noted). ``peak``: what is 100% of a kind,
    as ``Station.jobs`` takes it. ``notes`` of the answer: what was left out, why.
    Raises UsageError (mapping, zone), InputFileError (unreadable, no rows).
    """
    from iosonde.notebook.job_tables import of_tables

    return of_tables(tables, mapping, system, zone, peak)


def simulate(scenario: str | PathLike[str], fields: Mapping[str, Any] | None = None) -> Simulation:
    """The storage queue of a scenario file (docs/simulate.md), simulated.

    ``fields``: values in place of the file's, by path: ``{"storage.queue": 5}``. The answer has ``plot()``, and
    ``clients``, ``reads`` and ``phases`` as tables. Raises UsageError (a field), InputFileError (the file).
    """
    from iosonde.notebook.queue import simulated

    return simulated(scenario, fields or {})
