"""Words of parameters that a command and the HTTP API share: the help of one, the description of the other."""

from __future__ import annotations

ONE_HOST = "samples of one host only"
ONE_TARGET = "name or path of a watched target (default: all)"
FIGURE_WINDOW = "interval (default: 4h; phases: 60s; bursts: what the operations allow)"
PHASE_EXPECTED = "reference of phases: usual (default), or the median of all samples"
JOB = "the job: its id, or the beginning or end of it"
RUN_OF_JOB = "one of its runs: step, motif, or #2 for the second"
HISTORY_LAST = "latest N runs of the history only"
UMAMI_METRIC = "a row; may be repeated (default: the usual)"
JOB_SEARCH = "jobs with all of these words only"
ONE_FILE_SYSTEM = "one file system only"
ONE_MOTIF = "one motif only"
