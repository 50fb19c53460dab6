"""Descriptions of parameters that a command's help and the HTTP API share."""

from __future__ import annotations

ONE_HOST = "samples of one host only"
ONE_TARGET = "name or path of a watched target (default: all)"
FIGURE_WINDOW = (
    "interval (default: what suits the range; phases: 60s; bursts: what the operations allow)"
)
PHASE_EXPECTED = "reference of phases: usual (default), or the median of all samples"
JOB = "the job: its id as users write it (4711, 4711_7, 600+1), or the beginning or end of it"
RUN_OF_JOB = "one of its runs: step, motif, or #2 for the second"
HISTORY_LAST = "latest N runs of the history only"
UMAMI_METRIC = "a row; repeatable (default: the usual)"
UMAMI_RUNS = "runs drawn"
UMAMI_ROWS = "rows drawn, none that repeats another"
JOB_SEARCH = "jobs with all of these words only"
ONE_FILE_SYSTEM = "one file system only"
ONE_MOTIF = "one motif only"
JOBS_SINCE = "jobs that ran at this time or later"
JOBS_UNTIL = "jobs that began before this time"
JOBS_OF_USER = "jobs of one user only"
JOBS_OF_ACCOUNT = "jobs of one account only"
JOBS_OF_NODE = "jobs that had this node only"
JOBS_SLOW = "jobs that took 1.5 times as long as others of their kind, or longer"
JOBS_SORT = "time: newest first; slowness: slowest first"
