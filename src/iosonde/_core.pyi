"""The Rust core as Python sees it. Imported only by the engine, host, statistics and rooms.

Buffers are C-contiguous and native-endian: any object with the buffer protocol whose items are int64 (``q``)
or float64 (``d``) goes in, ``bytes`` come out (``numpy.frombuffer`` reads them without a copy).
Null int64 is ``-2**63``; null float64 is NaN.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, final

from typing_extensions import Buffer

__version__: str

class SpoolError(Exception):
    """A spool file is not one of ours, of another version, or damaged before its tail."""

class ProbeError(Exception):
    """A target cannot be probed; the text says what happened, what was expected and what to try."""

class NfsError(Exception):
    """An NFS server cannot be used; arguments: the text, the errno that says the same, what to try."""

class BucketError(Exception):
    """A server of buckets says no, or nothing; arguments: the text, the HTTP status or 0, whether to ask again."""

class ConfigError(Exception):
    """A configuration is wrong; the text names the place and suggests what was meant."""

class SpoolHeader(TypedDict):
    schema_version: int
    run_id: str
    host: str
    seed: int
    segment: int
    opened_ns: int
    targets: list[SpoolTarget]

class SpoolTarget(TypedDict):
    name: str
    period_ns: int
    size_bytes: list[int]
    """One a op, in the order of ``OPS``."""

class SpoolChunk(TypedDict):
    header: SpoolHeader
    rows: int
    columns: dict[str, bytes]
    """due_ns began_ns ended_ns offset_bytes control_runq_ns: int64; target, outcome: uint16; op, cache: uint8.
    ``target`` indexes ``header['targets']``, ``op`` indexes ``OPS``, ``cache`` indexes ``CACHES``;
    ``outcome`` indexes ``outcome_names``."""
    outcome_names: list[str]
    next_offset: int
    torn: str | None
    """Why reading stopped before the end of the file, or None: the rows before it are good."""

class WindowsChunk(TypedDict):
    host: str
    target: str
    period_ns: int
    window_ns: int
    rows: int
    columns: dict[str, bytes]
    """op: uint8; start_ns n_due n_seen: int64; the statistics of windows.toml and ``unqueued_q50_ns``:
    float64, NaN = null."""
    torn: str | None

OPS: list[str]
CACHES: list[str]

def read_spool(path: str, offset: int = 0) -> SpoolChunk:
    """Every whole frame of a segment from byte ``offset`` on (0 = the beginning). Raises SpoolError, OSError."""

def read_windows(
    path: str,
    since_ns: int | None = None,
    until_ns: int | None = None,
    target: str | None = None,
) -> WindowsChunk:
    """Kept windows of one file that start in [since, until); none if the file is not ``target``'s.

    Raises SpoolError, OSError.
    """

def quantile_ranks(n: int, q: float) -> tuple[int, int, int] | None:
    """1-based ranks (lower, point, upper) of the 0 < q < 1 quantile of n values: nearest rank and the 95 %
    binomial order-statistic interval. None below the smallest n that has a two-sided interval.
    """

def minimum_count(q: float) -> int:
    """The smallest n for which ``quantile_ranks`` answers."""

def window_statistics(service_ns: Buffer) -> dict[str, int | float | None]:
    """The live agent's statistics of one window: n_seen, mean_ns, min_ns, q25_ns, q25_lower_ns ... max_ns."""

def trailing_median(start_ns: Buffer, median_ns: Buffer, trailing_ns: int) -> bytes:
    """Baseline of every window (float64, NaN = learning): the median of the medians of windows that started in
    [start - trailing_ns, start). ``start_ns`` ascending, ``median_ns`` with null for windows without one.
    """

def young_baselines(start_ns: Buffer, medians: Sequence[Buffer], trailing_ns: int) -> bytes:
    """Baseline and error of every window of a first hour (float64 pairs, NaN = learning): the median of the windows so
    far that were not slow. ``medians``: lower end, median, upper end, with nulls.
    """

def error_over(version: Buffer, length_ns: int) -> float | None:
    """Standard error of ``ln typ`` of a stretch as on ordinary days; None: not known yet. ``version``: a row."""

def quantile_bounds(n: int, q: float) -> tuple[int, int, int]:
    """1-based ranks (lower, point, upper); an end that n is too small for is 0. ValueError unless 0 < q < 1."""

def share_interval(hits: int, n: int) -> tuple[float, float] | None:
    """The 95 % interval of a share (Clopper and Pearson 1934), None for n = 0."""

def host_held_up(late: int, due: int) -> bool:
    """Whether the probing host was busy that alone began so many of the due operations late, or never."""

def student_shares(t: Buffer, freedom: Buffer) -> bytes:
    """Share of Student's variable (float64) below each t (float64) with so many degrees of freedom (float64).

    NaN where either is NaN or the degrees are not above 0. ValueError unless as long as each other.
    """

def student_quantile(probability: float, freedom: float) -> float:
    """What Student's variable is below with a probability. ValueError unless 0 < p < 1 and degrees above 0."""

STAGES: list[str]
ALARM_CAUSES: list[str]
FEWER_HITS: float
FLOOR_NS: float

_Histograms = tuple[Buffer, Buffer, Buffer]
"""Offsets (int64, rows + 1), buckets (uint16, ascending in a row), counts (uint32)."""

def guard(
    series: Buffer,
    columns: tuple[Buffer, Buffer, Buffer],
    service: _Histograms,
    response: _Histograms,
    reference: Buffer | None = None,
) -> dict[str, bytes]:
    """Judge ten-minute intervals of one or more series as the live probe would have.

    ``series``: offsets (int64) of each series among the rows. ``columns``: start_ns, n_due, n_lost
    (int64), ascending in start within a series. An empty response histogram says that responses are
    the service times. ``reference``: one expectation (40 floats, NaN = none) a series.

    A row: typ tail lost with _lower _upper (float64), flagged stage epoch (int64). A version:
    version_series _from_ns _stage _epoch (int64) _climate (float64), versions (40 float64: 19 levels,
    q99, n, hit_share, mu_1, mu_2, sigma_1, sigma_2, 3 limits of the detectors, their null rates: 3 shares, 3
    dispersions, typ, its error, lost). A lasting change: change_series _epoch _began_ns
    (int64) _factor (float64).
    """

def triples(
    levels: Buffer, tails: Buffer, counts: Buffer, which: Buffer, versions: Buffer
) -> dict[str, bytes]:
    """typ, tail, lost with _lower, _upper (float64) of n windows; NaN = missing.

    ``levels``: n x 19 x 3 float64 (lower, point, upper) of service time; ``tails``: n x 2 x 3 of
    the response quantiles .90 and .95; ``counts``: n x 4 int64 (n, n_response, n_due, n_lost);
    ``which``: the row of ``versions`` (x 40) that each window is compared with, -1 for none.
    """

def histogram_levels(histograms: _Histograms) -> dict[str, bytes]:
    """``levels``: n x 21 x 3 float64 (lower, point, upper): 19 levels, then quantiles .90 and .95."""

def expectations(histograms: _Histograms) -> dict[str, bytes]:
    """``versions`` (rows x 40 float64, see ``guard``): what each histogram makes one expect; NaN if empty."""

def mode_shifts(histograms: _Histograms, which: Buffer, versions: Buffer) -> dict[str, bytes]:
    """hit_share, hit, miss (float64) of each; NaN below 60 rows or where one mode is expected."""

def alarms(
    due_ns: Buffer,
    service_ns: Buffer,
    response_ns: Buffer,
    lost: Buffer,
    which: Buffer,
    versions: Buffer,
) -> dict[str, bytes]:
    """Alarms over samples ascending in due_ns (int64; null = -2**63).

    raised_ns, cause (int64), peak, peak_tail, cleared_ns (float64): one row when an alarm is raised
    (cleared_ns NaN) and one when it is over. ``which`` as in ``triples``, one a sample.
    """

def onset(due_ns: Buffer, service_ns: Buffer, baseline_ns: float, slowdown: float) -> int | None:
    """Index of the first sample of the slow stretch that the last sample belongs to, or None."""

def slow_windows(median_ns: Buffer, lower_ns: Buffer, baseline_ns: Buffer) -> bytes:
    """One byte a window (float64 columns, NaN = unknown): 1 where its slowdown is slow."""

def young_slow_windows(slowdown: Buffer, lower: Buffer, upper: Buffer, error: Buffer) -> bytes:
    """One byte a window (float64 columns, NaN = unknown): 1 where it is slow against a young baseline."""

def control_level(bimodal: bool) -> float:
    """The level at which service times with and without the wait for a CPU are compared."""

def host_busy_windows(
    slowdown: Buffer,
    unqueued: Buffer,
    late_ns: Buffer,
    middle_ns: Buffer,
    host_ns: tuple[Buffer, Buffer],
) -> bytes:
    """One byte a window (float64 columns, NaN = unknown): 1 where the probing host explains it.

    ``host_ns``: median and 0.9 quantile of began - due over all operations of the target.
    """

SEVERITIES: tuple[str, ...]
BASELINE_WINDOWS: int
CLIMATE_AT: float
LOST_AT: float

def live_findings(states: list[dict[str, Any]], now_ns: int) -> list[tuple[Any, ...]]:
    """Of each state (``engine.states``) the fields of ``Finding``; ``ops`` holds those of ``OpVerdict``.

    What is missing or of another type in a state counts as None.
    """

def current_states(
    states: list[dict[str, Any]], now_ns: int, kept: set[tuple[str, str]]
) -> list[bool]:
    """Of each state whether it says something about now; ``kept``: (host, target) that count however old."""

def sentences(
    findings: Sequence[tuple[Any, ...]], offset_s: Callable[[int], int] | None
) -> list[str]:
    """The sentence of each ``Finding``. ``offset_s``: second (UTC) -> how far clocks are ahead; None: the system's.

    Raises ValueError, TypeError (a row that is no finding), and what ``offset_s`` raises.
    """

STATE_BYTES: int
"""A larger file is not a state."""

def read_states(root: Path, reading: Callable[[Path], None] | None) -> list[dict[str, Any]]:
    """Every state of a store, sorted by host and target; ``reading`` hears of each path before it is opened.

    Raises OSError (path and reason): the folder of states cannot be listed.
    """

def read_state(path: Path) -> dict[str, Any] | None:
    """One state file; None if it has vanished, a ``damaged`` state if it is not one."""

def namesakes(states: list[dict[str, Any]]) -> list[str]:
    """Names of hosts that two machines have, sorted, of what ``read_states`` gives."""

def say_namesake(host: str) -> str:
    """What is said of one of them."""

def summary(seen: Sequence[tuple[str, str, str]]) -> str:
    """How many are slow, of (host, target, severity)."""

def worst_first(seen: Sequence[tuple[str, float | None, str, str]]) -> list[int]:
    """Places of (severity, slowdown, host, target), the worst first."""

def check_ranges(warning: str | None, critical: str | None) -> tuple[str, str]:
    """Ranges of the plugin, the usual ones for None. Raises ValueError: one is none, or the warning comes last."""

def check_states(
    states: list[dict[str, Any]],
    now_ns: int,
    warning: str | None,
    critical: str | None,
    verbose: bool,
) -> tuple[int, str]:
    """Code and text of the plugin for one or more states. Raises ValueError as ``check_ranges`` does."""

@final
class Probe:
    """One running probe over several targets."""

    def __init__(self, config_json: str, worker: str | None = None) -> None:
        """Same keys as the agent's TOML file; ``worker`` is the agent's binary, whose processes do the
        operations (None: threads of this process do). Raises ConfigError.
        """
    def prepare(self, progress: Callable[[str, str, int, int], bool]) -> list[str]:
        """Make pools and big files. ``progress(target, what, done_bytes, all_bytes)`` returns False to stop.
        Returns notes for people. Raises ProbeError only if no target can be probed; the others are notes.
        """
    def start(self) -> None: ...
    def snapshot(self) -> str:
        """JSON: list of target states, as written to the state folder."""
    def recent(self, target: str, op: str, n: int) -> bytes:
        """The last n response times, float64 ns, NaN for ops that failed."""
    def stop(self) -> str:
        """End the schedule, flush, return the summary as JSON. Idempotent."""

@final
class Load:
    """A load of our own on a directory: ``kind`` is ``writer`` or ``create_delete``."""

    def __init__(self, directory: str, kind: str, threads: int = 1) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> dict[str, Any]:
        """began_ns, ended_ns (UTC), ops, bytes, median_ns (int or None), error (str or None); its files are removed."""

@final
class NfsProgress:
    """What can be seen and said while ``NfsSession.point`` goes on in another thread."""

    def __init__(self) -> None: ...
    def stop(self) -> None:
        """Ask for the end; answers are awaited for two seconds more."""
    def so_far(self) -> tuple[int, int, int]:
        """Writes and reads that were answered, longest read in ns."""

def export_space(address: str, limit_ms: int) -> tuple[int, int, int, int]:
    """Room of ``nfs://HOST/EXPORT?...``: bytes in all and free, files in all and free. Raises NfsError."""

@final
class NfsSession:
    """A mounted NFSv3 export with a directory of ours on it. Every method raises NfsError.

    ``ports``: of NFS, of MOUNT (None asks the port mapper), of the port mapper. ``caller``: uid, gid, and whether
    source ports are below 1024 (None: where this user may). ``run``: a seed, and who measures, for the lock.
    """

    directory: str

    def __init__(
        self,
        host: str,
        path: str,
        ports: tuple[int | None, int | None, int],
        caller: tuple[int, int, bool | None],
        limit_ms: int,
        run: tuple[int, str],
    ) -> None: ...
    def prepare(self, bytes: int, filled: Callable[[int], object]) -> bool:
        """Make the directory and two files of so many bytes. ``filled`` gets how many are there; a false answer ends
        it, and the result is False then.
        """
    def point(
        self,
        progress: NfsProgress,
        load: tuple[int, float, int, bool],
        times_ns: tuple[int, int, int, int],
    ) -> dict[str, Any]:
        """``load``: connections, writes a second (inf: as many as go), most under way at once, stable.
        ``times_ns``: duration, period of the reads (0: none), ceiling, patience. Counts as numbers; int64 columns
        latency_ns (a write each), probe_due_ns, probe_sent_ns, probe_ended_ns (0: none), probe_errno (a read each).
        """
    def clean(self) -> None:
        """Remove files and directory, and unmount."""

@final
class NfsServer:
    """An NFSv3 server on loopback with one service thread (ns an operation; 0: none) and a bounded queue."""

    port: int

    def __init__(
        self, service_ns: int, queue: int, port: int = 0, most_bytes: int = 2**30
    ) -> None: ...
    def executed(self) -> tuple[int, int, int, int]:
        """WRITEs and READs that were executed, operations in the queue, names below the export."""
    def close(self) -> None:
        """End it; idempotent."""

def simulate(config_json: str, start_ns: int, duration_ns: int) -> str:
    """Run a probe on simulated clocks, from ``start_ns`` (UTC) on, as fast as the CPU goes, and write its spool and
    state. Only ``backend = "null"`` with faults makes sense. Returns the summary as JSON.
    """

class BenchError(Exception):
    """A benchmark cannot go on. ``args``: what happened, and whether the request was wrong."""

@final
class Metadata:
    """The ranks ``first..first + count`` of a metadata benchmark; they connect at once.

    Orders and answers are JSON (``metadata::team::Order`` of the core). Give an order, ``wait`` until it is answered,
    take the ``answers``.
    """

    def __init__(
        self,
        parameters: str,
        place: str | Callable[[], Any],
        first: int,
        count: int,
        faults: str,
    ) -> None: ...
    def order(self, order: str) -> None: ...
    def wait(self, milliseconds: int) -> bool:
        """Whether every rank has answered; waits at most this long for the next answer."""
    def answers(self) -> list[str | None]:
        """By rank, None from one that has not answered. Raises BenchError with the first error."""
    def read(self) -> str:
        """How far each rank is: planned, ended, failed, open (op and ns, or null)."""
    def so_far(self) -> str:
        """What each rank's operations amount to, as of the last call; null the first time."""
    def close(self, milliseconds: int) -> None:
        """The ranks end and let go what they hold; waits at most this long for each."""
    def stop(self) -> None:
        """Every rank ends after its step."""
    def resume(self) -> None:
        """Take that back."""
    def rows(self, at: int) -> dict[str, bytes] | None:
        """Rows of the last phase of the at-th rank: began_ns since the phase began, latency_ns, op, outcome (int64).
        None while it is at work.
        """

class Bandwidth:
    """The ranks ``first..first + count`` of a bandwidth benchmark on a directory; None: on nothing.

    Orders and answers are JSON (``bandwidth::team::Order`` of the core), as those of ``Metadata``.
    """

    def __init__(self, parameters: str, place: str | None, first: int, count: int) -> None: ...
    def order(self, order: str) -> None: ...
    def wait(self, milliseconds: int) -> bool:
        """Whether every rank has answered; waits at most this long for the next answer."""
    def answers(self) -> list[str | None]:
        """By rank, None from one that has not answered. Raises BenchError with the first error."""
    def read(self) -> str:
        """How far each rank is: planned, ended, failed, open (op and ns, or null)."""
    def so_far(self) -> str:
        """What each rank's transfers amount to, as of the last call; null the first time."""
    def close(self, milliseconds: int) -> None:
        """The ranks end and let go what they hold; waits at most this long for each."""
    def stop(self) -> None:
        """Every rank ends after its transfer."""
    def resume(self) -> None:
        """Take that back."""
    def records(self, at: int) -> dict[str, Any] | None:
        """Of the last phase of the at-th rank: open_begin_ns ... close_end_ns (UTC; the least int64 = missing), bytes,
        first_bin (since the epoch), left_out_bytes, and as int64 bins and mismatches (offsets).
        None while it is at work.
        """

def outcome_name(code: int) -> str:
    """What an outcome of ``Metadata.rows`` is called."""

def conformance(
    place: str | Callable[[], Any], stranger: Callable[[bool], None] | None = None
) -> list[tuple[str, str | None]]:
    """The suite of the backends on a place: a location in JSON, or what makes a Python store.

    ``stranger(True)`` puts something of somebody else where the root would be, ``stranger(False)`` takes
    it away. Every check's name and what was wrong; None if nothing was. Raises ConfigError for a location
    that cannot be read.
    """

@final
class QueueSimulation:
    """A storage queue and its clients (``iosonde.queue.scenario`` says what each field means).

    ``run``: ticks, bin_ticks, random, seed, most_records. ``storage``: service, service_ticks, variation, values
    (float64), servers, queue (None = unlimited), discipline, cache (writes, high, low) or None. A client: weight and
    either pattern (D0, R, D1, W), or pattern None with op, times, every_ticks, at (int64), batch, lose. Raises
    ValueError for what cannot be simulated.
    """

    def __new__(
        cls, run: dict[str, Any], storage: dict[str, Any], clients: list[dict[str, Any]]
    ) -> QueueSimulation: ...
    def advance(self, steps: int) -> bool:
        """Simulate at most so many ticks in which something changes; whether time is up."""

    def now(self) -> int:
        """Ticks that are done."""

    def account(self) -> dict[str, Any]:
        """What happened until now, in ticks.

        int64, one a client: reads writes_stored writes_executed blocked_read_ticks blocked_write_ticks cycles lost
        read_ticks longest_read_ticks median_read_ticks q99_read_ticks. int64, clients x bins: trace_reads trace_writes
        trace_stored trace_longest; trace_length: bins. Of each read: read_client read_due read_ended (int64); of each
        phase: phase_client phase_began phase_ended (int64) phase_writes (uint8). Numbers: bins clients unrecorded
        busy_ticks inside_ticks.
        """

@final
class Ping:
    """Files of its own in a directory (``.iosonde-<uid>/ping-<seed>``), and operations on them.

    Raises BenchError: the directory cannot be used.
    """

    def __init__(self, directory: str, block_bytes: int, object_bytes: int, seed: int) -> None: ...
    def access(self) -> str:
        """How blocks reach the storage: direct, buffered or memory."""

    def run(self, op: str) -> tuple[int, int, int]:
        """Nanoseconds; bytes, or names of a listing; error number, 0 when it ended well."""

    def remove(self) -> None:
        """Remove everything it made. Raises OSError."""

def clean(directory: str, remove: bool) -> list[tuple[Path, str, int, int, bool, bool, int]]:
    """Marked directories of this user below one; with ``remove`` those that nobody holds go.

    Of each its path, first line of its mark, files, bytes, whether it is held, whether it was removed, the error number
    of what could not be. Raises BenchError: the directory cannot be read.
    """

@final
class Bucket:
    """A bucket of an S3 server. Keys and prefixes are whole; no request takes longer than ``seconds``.

    Raises ValueError: no address; BucketError; OSError: a file.
    """

    def __new__(
        cls, endpoint: str, region: str, name: str, key_id: str, secret: str, token: str | None
    ) -> Bucket: ...
    def page(
        self, prefix: str, token: str | None, seconds: int
    ) -> tuple[list[tuple[str, int, str]], str | None]:
        """Key, bytes and time (ISO 8601) of objects, and the token of the next page."""
    def get(self, key: str, most: int, seconds: int) -> bytes:
        """An object of at most ``most`` bytes."""
    def fetch(self, key: str, path: str, size: int, seconds: int) -> None:
        """An object of ``size`` bytes into a file that is there."""
    def put(self, key: str, content: bytes, seconds: int) -> None:
        """Bytes as an object."""
    def send(self, key: str, path: str, seconds: int) -> None:
        """A file as an object."""

def end_with_parent() -> None:
    """Let the kernel kill this process when the thread that forked it ends. Raises OSError."""
