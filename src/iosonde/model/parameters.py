"""Words of parameters that a command and the HTTP API share: the help of one, the description of the other."""

from __future__ import annotations

ONE_HOST = "as seen from this host only"
ONE_TARGET = "name or path of a watched target (default: all)"
FIGURE_WINDOW = "interval (default: 4h; phases: 60s; bursts: what the operations allow)"
PHASE_EXPECTED = (
    "what phases are compared with: usual (default), or the median of all that is stored"
)
JOB = "the job: its id, or the beginning or end of it"
RUN_OF_JOB = "which of its runs: step, motif, or #2 for the second"
HISTORY_LAST = "the latest N runs of the history only"
UMAMI_METRIC = "a row; may be repeated (default: the usual)"
JOB_SEARCH = "only those in which all of these words occur"
ONE_FILE_SYSTEM = "of this file system only"
ONE_MOTIF = "of this motif only"
