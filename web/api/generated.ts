// Generated from /openapi.json by scripts/types.mjs (`make types`); do not edit.
import type { Ms, UnixMs, UnixS } from "./time.ts";
/**
 * The answers by path.
 */
export interface Answers {
  "api/targets": Target[];
  "api/now": Now;
  "api/series": Series;
  "api/figure": Figure;
  "api/panel": Figure;
  "api/jobs": JobList;
  "api/umami": Umami;
  "api/job": JobBeside | UnknownJob;
  "api/climate": Climate | NoJobs;
  "api/runs": Runs;
  "api/runs/run": Run;
  "api/runs/compare": ComparedRuns;
  "api/why": Why;
  "api/simulate": Simulated;
  "api/load": Load | NoLoad;
  "api/load/jobs": JobLoads;
  "api/status": Status;
  "api/badge": Shield;
  "api/annotations": Annotations;
  "api/about": About;
  "api/about/cost": Costs;
  "api/about/glossary": Glossary;
}
/**
 * A target with what iosonde says about it.
 */
export interface Target {
  host: string;
  target: string;
  /**
   * The name of the state's file; empty: there is none.
   */
  slug: string;
  /**
   * usual, learning, host_busy, slow, lost, failing, hung, stopped, stale, damaged ...
   */
  kind: string;
  severity: "ok" | "info" | "unknown" | "slow" | "hung";
  sentence: string;
  /**
   * The same in two or three words.
   */
  brief: string;
  /**
   * Of the slowest operation that is slow, else of all; null: none has a number.
   */
  slowdown: number | null;
  as_of: UnixMs;
  state: State;
}
/**
 * The probe's live state, as ``iosonde now --format json`` has it; of a damaged one less.
 */
export interface State {
  written: UnixMs | null;
  period: Ms | null;
  window: Ms | null;
  notes: string[];
  ops: OpState[];
}
/**
 * The probe's live state of an operation. All ``_ns`` are nanoseconds.
 */
export interface OpState {
  op: "data_read" | "data_write" | "md_create" | "md_stat" | "md_read" | "md_delete";
  state: string;
  slowdown: number | null;
  slowdown_lower: number | null;
  slowdown_upper: number | null;
  /**
   * Of the whole slow stretch that goes on, as the sentence has it; null: none does.
   */
  stretch_slowdown?: number | null;
  stretch_lower?: number | null;
  stretch_upper?: number | null;
  /**
   * Only some of its operations are slow.
   */
  partly?: boolean;
  latest: Ms | null;
  median: Ms | null;
  baseline: Ms | null;
  /**
   * Age of an operation that has not ended.
   */
  inflight: Ms | null;
  /**
   * When it was due.
   */
  inflight_due: UnixMs | null;
  n_due: number | null;
  n_seen: number | null;
  host_busy: boolean;
}
/**
 * All targets now, the worst first, and their hosts beside each other.
 */
export interface Now {
  as_of: UnixMs;
  summary: string;
  targets: NowTarget[];
  /**
   * Null: no probe runs.
   */
  fleet: Fleet | null;
}
/**
 * What ``iosonde now`` says of a target.
 */
export interface NowTarget {
  host: string;
  target: string;
  kind: string;
  severity: string;
  sentence: string;
}
/**
 * Node or storage: the verdict of hosts x targets.
 */
export interface Fleet {
  sentence: string;
  /**
   * nothing, cell, host, hosts, target, targets, block, everything, undecided, few hosts.
   */
  verdict: string;
  slow_hosts: string[];
  slow_targets: string[];
  slowdown: number | null;
  lower: number | null;
  upper: number | null;
  probability: number;
  targets: string[];
  /**
   * The slowest first.
   */
  rows: FleetRow[];
  clocks: Clock[];
}
/**
 * A host: how slow it sees each of ``targets``.
 */
export interface FleetRow {
  host: string;
  /**
   * Ratios to what is usual; null: ``words`` says why there is none.
   */
  slowdown: (number | null)[];
  /**
   * hung, failing, lost, busy, learning, few, away; empty: a number, or nobody probes.
   */
  words: string[];
}
/**
 * A host whose clock is wrong.
 */
export interface Clock {
  host: string;
  offset: Ms;
  error: Ms;
  /**
   * storage or reader.
   */
  against: string;
  sentence: string;
}
/**
 * One target over a range of time, by operation.
 */
export interface Series {
  host: string;
  target: string;
  since: UnixMs;
  until: UnixMs;
  window: Ms;
  as_of: UnixMs;
  /**
   * files of the store that do not count, by path
   */
  left_out: LeftOut[];
  ops: Partial<Record<"data_read" | "data_write" | "md_create" | "md_stat" | "md_read" | "md_delete", OpSeries>>;
}
/**
 * A file of the store that is damaged, or a part of it is.
 */
export interface LeftOut {
  path: string;
  /**
   * What is wrong with it.
   */
  what: string;
  try: string;
}
/**
 * Small multiples as data.
 */
export interface Figure {
  kind: string;
  title: string;
  columns: string[];
  panes: Pane[];
  since_s: UnixS | null;
  until_s: UnixS | null;
  caption: string[];
  /**
   * So many panes in a row stand below each other.
   */
  stack: number;
  levels: string[];
  /**
   * What ``levels`` names along the horizontal axis, where that is not time.
   */
  levels_of: string;
}
/**
 * One small plot.
 */
export interface Pane {
  row: string;
  column: string;
  /**
   * Of the vertical axis: s, x (a ratio), /s ...
   */
  unit: string;
  /**
   * What is drawn; ``mark`` says which kind it is.
   */
  marks: {
    [k: string]: unknown;
  }[];
  /**
   * Operations or intervals in the marks.
   */
  n: number;
  note: string;
  span_s: [UnixS, UnixS] | null;
  /**
   * What stands in it while ``n`` is 0.
   */
  empty: string;
  /**
   * What its horizontal axis counts, where that has numbers.
   */
  across: string;
}
/**
 * Jobs, newest first.
 */
export interface JobList {
  /**
   * All jobs.
   */
  n: number;
  /**
   * Those of the filter.
   */
  total: number;
  jobs: ListedJob[];
  schema_version: number;
}
/**
 * A run of a job in a list; None = not known.
 */
export interface ListedJob {
  job: string;
  /**
   * Distinguishing name if the job has several runs: see ``run_names``.
   */
  run: string;
  step: string;
  motif: string;
  file_system: string;
  start: UnixMs | null;
  end: UnixMs | null;
  performance: number | null;
  /**
   * Unit of the performance: bytes/s, operations/s, or that of the table.
   */
  unit: string;
  fraction_of_peak: number | null;
  user: string;
  account: string;
  name: string;
  nodes: number | null;
  ranks: number | null;
  /**
   * Run time (s); None: still running, or unknown.
   */
  run_s: number | null;
  state: string;
  /**
   * Ratio of its time to the median of its kind (``jobs.table.slowness``).
   */
  slowness: number | null;
  /**
   * ``I/O rate`` or ``run time``; "" if the slowness is unknown.
   */
  slowness_by: string;
  /**
   * The scheduler's id of a job whose ``job`` is another, as of an array's task; "" elsewhere.
   */
  raw_id: string;
  /**
   * The cluster.
   */
  system: string;
}
/**
 * The verdict on a job, as `iosonde explain --format json` has it, and its diagram.
 */
export interface Umami {
  schema_version: number;
  /**
   * may be empty
   */
  file_system: string;
  /**
   * may be empty
   */
  motif: string;
  verdict: string;
  sentence: string;
  evidence: string[];
  rejected: string;
  history: string;
  notes: string[];
  /**
   * Other runs of its kind.
   */
  n_history: number;
  figure: UmamiFigure;
}
/**
 * All rows over one range of time (s since the epoch); ``place``: which run is the job.
 *
 * ``dated``: whether times are known at all. ``gaps``: runs to which no line leads, since nothing ran for weeks
 * before them. ``sentence``: why the job was slow, "" where nobody asked. ``caption``: how to read it, and what to
 * know.
 */
export interface UmamiFigure {
  title: string;
  subtitle: string;
  times_s: UnixS[];
  place: number;
  since_s: UnixS;
  until_s: UnixS;
  dated: boolean;
  rows: UmamiRow[];
  caption: string[];
  gaps: number[];
  sentence: string;
}
/**
 * One metric. ``values`` (n,), ``value``, ``low``, ``high``, ``ticks``, box and outliers are in ``unit``.
 *
 * ``box``: None where there are too few others for one; then all are outliers. ``role``: the class's word,
 * which names the colour. ``rank``: where the value stands, in words.
 */
export interface UmamiRow {
  metric: string;
  label: string;
  lines: string[];
  unit: string;
  role: string;
  sign: string;
  value: number | null;
  value_text: string;
  rank: string;
  tied: boolean;
  n: number;
  flags: string[];
  values: (number | null)[];
  low: number;
  high: number;
  ticks: number[];
  tick_texts: string[];
  box: BoxMark | null;
  outliers: number[];
}
/**
 * The box of the history: whiskers and quartiles.
 */
export interface BoxMark {
  low: number;
  q25: number;
  q50: number;
  q75: number;
  high: number;
}
/**
 * A job beside the storage and the load of its time.
 */
export interface JobBeside {
  /**
   * Only a scheduler recorded it: it has no diagram.
   */
  scheduled: boolean;
  job: string;
  run: number;
  runs: number;
  begin: UnixMs | null;
  end: UnixMs | null;
  going_on: boolean;
  sentence: string;
  about: string[];
  run_time: string[];
  own_io: string[];
  /**
   * The slowest target first.
   */
  storage: SaidStorage[];
  events: JobEvent[];
  load: SaidCourse | null;
  known: true;
}
/**
 * A target while a job ran, as ``iosonde explain --format json`` has it, with its sentence; lengths in s.
 */
export interface SaidStorage {
  target: string;
  hosts: string[];
  window_s: number;
  slow_s: number;
  clear_s: number;
  unknown_s: number;
  unprobed_s: number;
  host_busy_s: number;
  told_level: number | null;
  at: LevelTime[];
  ops: OpSlowTime[];
  stretches: SlowTime[];
  sentence: string;
}
/**
 * Slow time at a level or above, with its bounds; lengths in s.
 */
export interface LevelTime {
  level: number;
  slow_s: number;
  least_s: number;
  most_s: number;
}
/**
 * Slow time of an operation.
 */
export interface OpSlowTime {
  op: "data_read" | "data_write" | "md_create" | "md_stat" | "md_read" | "md_delete";
  slow_s: number;
  /**
   * Typical slowdown; null: the operation did not answer.
   */
  typ: number | null;
  answered: boolean;
}
/**
 * A slow stretch.
 */
export interface SlowTime {
  begin: UnixMs;
  end: UnixMs;
}
/**
 * An event while a job ran.
 */
export interface JobEvent {
  id: string;
  host: string;
  target: string;
  begin: UnixMs;
  end: UnixMs | null;
  text: string;
}
/**
 * Operations per second in cells of a job's time; null: nothing was recorded then.
 */
export interface SaidCourse {
  sentence: string;
  begin: UnixMs;
  step: Ms;
  own_per_s: (number | null)[];
  /**
   * Of all nodes.
   */
  all_per_s: (number | null)[];
  share: number;
}
/**
 * Neither a probe nor a scheduler says what the job met.
 */
export interface UnknownJob {
  sentence: string;
  known: false;
}
/**
 * Lasting changes, events and climates of jobs; what is drawn; which run each dot is.
 */
export interface Climate {
  /**
   * All jobs, whatever is asked.
   */
  n: number;
  file_systems: string[];
  motifs: string[];
  sentence: string;
  since: UnixMs;
  until: UnixMs;
  changes: Change[];
  events: ClimateEvent[];
  too_short: string[][];
  series: ClimateSeries[];
  climates: Climates[];
  figure: ClimateFigure;
  /**
   * Of each series (job, run) of every run.
   */
  runs: [string, string][][];
}
/**
 * A lasting change; ``before`` and ``after`` are medians, fractions of the best run.
 */
export interface Change {
  /**
   * may be empty
   */
  file_system: string;
  /**
   * may be empty
   */
  motif: string;
  at: UnixMs;
  earliest: UnixMs;
  latest: UnixMs;
  before: number;
  after: number;
  ratio: number | null;
  n_before: number;
  n_after: number;
  /**
   * What the jobs themselves did differently afterwards.
   */
  own: {
    [k: string]: unknown;
  }[];
  /**
   * Share of false discoveries at which it is still found.
   */
  q: number;
  sentence: string;
}
/**
 * Changes that may have been at one instant.
 */
export interface ClimateEvent {
  at: UnixMs;
  earliest: UnixMs;
  latest: UnixMs;
  sentence: string;
  along: string[];
  changes: Change[];
}
/**
 * All runs of a file system and motif.
 */
export interface ClimateSeries {
  /**
   * may be empty
   */
  file_system: string;
  /**
   * may be empty
   */
  motif: string;
  segments: Segment[];
}
/**
 * Runs between two changes; ``median`` is a fraction of the best run of all time.
 */
export interface Segment {
  start: UnixMs;
  end: UnixMs;
  n: number;
  median: number;
  of_own_peak_ratio: number | null;
}
/**
 * Climates of a file system.
 */
export interface Climates {
  /**
   * may be empty
   */
  file_system: string;
  sentence: string;
  regimes: Regime[];
}
/**
 * A stretch of days of one climate.
 */
export interface Regime {
  sentence: string;
}
/**
 * All columns over the range of time of what is drawn (s since the epoch).
 *
 * ``y_label``: what all panes count. ``caption``: how to read it, and the events.
 */
export interface ClimateFigure {
  title: string;
  motifs: string[];
  columns: ClimateColumn[];
  since_s: UnixS;
  until_s: UnixS;
  caption: string[];
  y_label: string;
}
/**
 * A file system: its climates, and a pane for each row's motif; None where it has too few runs of it.
 *
 * ``place``: which one of ``Climate.regimes``, whose stretches are ``bands``.
 */
export interface ClimateColumn {
  place: number;
  file_system: string;
  bands: ClimateBand[];
  panes: (ClimatePane | null)[];
}
/**
 * A climate; ``climate``: number of its name, so that one that came back looks the same.
 */
export interface ClimateBand {
  name: string;
  climate: number;
  start_s: UnixS;
  end_s: UnixS;
}
/**
 * A series. ``times_s``, ``values`` (n,): begin and fraction of peak of each run.
 *
 * ``series``: which one of ``Climate.series``; its segments and changes are ``levels`` and ``shifts``.
 */
export interface ClimatePane {
  series: number;
  motif: string;
  times_s: UnixS[];
  values: (number | null)[];
  levels: LevelMark[];
  shifts: ShiftMark[];
}
/**
 * A segment: its median, with the middle half of runs about ``mad`` around it.
 */
export interface LevelMark {
  start_s: UnixS;
  end_s: UnixS;
  median: number;
  mad: number;
}
/**
 * A change at ``at_s``, somewhere between ``earliest_s`` and ``latest_s``.
 */
export interface ShiftMark {
  at_s: UnixS;
  earliest_s: UnixS;
  latest_s: UnixS;
  rose: boolean;
}
/**
 * There are no jobs at all.
 */
export interface NoJobs {
  n: number;
}
/**
 * The newest runs of those that match.
 */
export interface Runs {
  /**
   * Runs of the target and range, of any kind.
   */
  n: number;
  /**
   * Those that match.
   */
  total: number;
  kinds: string[];
  targets: string[];
  runs: ListedRun[];
}
/**
 * A run of a list. ``headline``: its rates in words; ``finished``: it was written whole.
 */
export interface ListedRun {
  run: string;
  kind: string;
  target: string;
  host: string;
  source: string;
  ranks: number | null;
  began: UnixMs;
  finished: boolean;
  headline: string;
}
/**
 * A run, as `iosonde report RUN` says it.
 */
export interface Run {
  title: string;
  subtitle: string;
  headline: string;
  /**
   * Whether the headline or a finding is bad news.
   */
  slow: boolean;
  rates: Table;
  notes: string[];
  /**
   * null: the store has no transfers of it.
   */
  components: RunComponents | null;
  cautions: string[];
  parameters: [string, string][];
  machine: [string, string][];
  /**
   * How to repeat it.
   */
  command: string | null;
  pictures: RunPicture[];
}
/**
 * A table as people read it.
 */
export interface Table {
  head: string[];
  rows: string[][];
}
/**
 * Which component is slow, and what the run cannot tell.
 */
export interface RunComponents {
  say: string[];
  findings: Table;
  limits: string[];
}
/**
 * A picture that can be asked for.
 */
export interface RunPicture {
  name: string;
  title: string;
  caption: string[];
}
/**
 * Run B as seen from run A.
 */
export interface ComparedRuns {
  say: string[];
  table: Table;
  /**
   * How the runs differ; may be empty.
   */
  note: string;
}
/**
 * Why it is slow.
 */
export interface Why {
  schema_version: number;
  verdict: string;
  sentence: string;
  /**
   * A line a link.
   */
  evidence: string[];
  /**
   * The same with how each link stands.
   */
  lines: LinkLine[];
  event: string | null;
  links: Links;
  looked: LookedAt;
  /**
   * Other targets that were slow in the stretch.
   */
  others: string[];
  annotation: AlertNote;
}
/**
 * A line of the evidence, its link apart.
 */
export interface LinkLine {
  /**
   * A name of ``links``, ``beside``, or empty.
   */
  link: string;
  standing: "found" | "ruled out" | "not known";
  text: string;
}
/**
 * All links.
 */
export interface Links {
  slowness: Link_Slowness_;
  recurrence: LinkDictStr__Any__;
  component: LinkDictStr__Any__;
  load: Link_LoadFact_;
  host: LinkDictStr__Any__;
  change: LinkDictStr__Any__;
  remedy: LinkDictStr__Any__;
}
export interface Link_Slowness_ {
  standing: "found" | "ruled out" | "not known";
  /**
   * Why it is not known.
   */
  reason: string | null;
  /**
   * Numbers and names; docs/why.md.
   */
  fact: Slowness | null;
}
/**
 * The slow stretch.
 */
export interface Slowness {
  host: string;
  target: string;
  op: "data_read" | "data_write" | "md_create" | "md_stat" | "md_read" | "md_delete";
  begin: UnixMs;
  /**
   * Null: it goes on.
   */
  end: UnixMs | null;
  seen_until: UnixMs;
}
export interface LinkDictStr__Any__ {
  standing: "found" | "ruled out" | "not known";
  /**
   * Why it is not known.
   */
  reason: string | null;
  /**
   * Numbers and names; docs/why.md.
   */
  fact: {
    [k: string]: unknown;
  } | null;
}
export interface Link_LoadFact_ {
  standing: "found" | "ruled out" | "not known";
  /**
   * Why it is not known.
   */
  reason: string | null;
  /**
   * Numbers and names; docs/why.md.
   */
  fact: LoadFact | null;
}
/**
 * Jobs whose load explains the slowdown, the largest first.
 */
export interface LoadFact {
  culprits: Culprit[];
}
/**
 * A job whose load explains the slowdown, or all jobs of a user or an account together.
 */
export interface Culprit {
  by: "job" | "user" | "account";
  /**
   * Empty where it is no single job.
   */
  job: string;
}
/**
 * What was looked at.
 */
export interface LookedAt {
  targets: string[];
  hosts: string[];
  begin: UnixMs;
  end: UnixMs;
  /**
   * Targets of which nothing was judged.
   */
  dark: string[];
  /**
   * Those of them whose baseline was still learning.
   */
  learning: string[];
  not_judged: Unjudged[];
  /**
   * Parts that are slow beside others like them, where no stretch was slow.
   */
  peers: Peer[];
}
/**
 * An interval that was not judged.
 */
export interface Unjudged {
  host: string;
  /**
   * Null: all targets of the host.
   */
  target: string | null;
  /**
   * Null: all operations.
   */
  op: string | null;
  begin: UnixMs;
  /**
   * Null: it lasts.
   */
  end: UnixMs | null;
  /**
   * learning, few_operations, long_step, no_probe, damaged or other_baseline.
   */
  reason: string;
  /**
   * Length of the windows that a provisional baseline rests on; null: nothing was judged.
   */
  learned: Ms | null;
  /**
   * Length of windows, or of history, that a judgement would need.
   */
  needs: Ms | null;
  sentence: string;
}
/**
 * A part that is slow beside parts like it, however long.
 */
export interface Peer {
  host: string;
  target: string;
  op: string;
  /**
   * What they share: host, target, or a parent in an imported table of parts; ``shared_name`` is its name.
   */
  shared: string;
  shared_name: string;
  /**
   * The others.
   */
  peers: number;
  ratio: number;
  lower: number;
  upper: number;
  /**
   * Of ``blocks`` of ``block_s`` each.
   */
  slow_blocks: number;
  blocks: number;
  block_s: number;
  /**
   * Null: it was so in all that is known.
   */
  since: UnixMs | null;
  sentence: string;
}
/**
 * What an alert carries.
 */
export interface AlertNote {
  summary: string;
  description: string;
  verdict: string;
}
/**
 * A storage queue and its clients, simulated.
 */
export interface Simulated {
  sentence: string;
  say: string[];
  table: Table;
  ticks: number;
  bin_ticks: number;
  /**
   * Room for operations of all clients; null: each client has a queue of its own.
   */
  queue: number | null;
  /**
   * Operations in the storage, the most in each bin.
   */
  most_waiting: number[];
  clients: ClientTrace[];
}
/**
 * What the storage did for one process, a number a bin of ``bin_ticks``.
 */
export interface ClientTrace {
  name: string;
  /**
   * Executed reads, as a share of what the storage can execute.
   */
  reads: number[];
  /**
   * Executed writes, likewise.
   */
  writes: number[];
  /**
   * Of the reads that ended in the bin; null: none did.
   */
  longest_read_ticks: (number | null)[];
}
/**
 * Who did how many operations in a range; /api/load/cells has the rates by cell.
 */
export interface Load {
  /**
   * Columns that did something, in the answer or not.
   */
  n: number;
  /**
   * Grows whenever the store is read anew.
   */
  version: number;
  by: string;
  noun: string;
  nouns: string;
  /**
   * Whether aliases stand for names.
   */
  hashed: boolean;
  sentence: string;
  recorded: Recorded;
  begin: UnixMs;
  step: Ms;
  cells: number;
  /**
   * All operations recorded, jobs' or not.
   */
  ops: number;
  most_per_s: number;
  half: number | null;
  columns: LoadColumn[];
  totals: Totals;
  band: LoadBand | null;
  /**
   * Jobs that could not be placed, and why.
   */
  left_out: string[];
}
/**
 * From when to when nodes recorded, and how long a record is.
 */
export interface Recorded {
  begin: UnixMs;
  end: UnixMs;
  step: Ms;
}
/**
 * The same with the largest rate of a record's length.
 */
export interface LoadColumn {
  /**
   * may be empty
   */
  name: string;
  ops: number;
  /**
   * Of all operations recorded then, 0 to 1.
   */
  share: number;
  most_per_s: number;
}
/**
 * How long the total rate was between two edges.
 */
export interface Totals {
  edges_per_s: number[];
  seconds: number[];
}
/**
 * The time in which the total was within two limits, and who did how much then.
 */
export interface LoadBand {
  low_per_s: number;
  high_per_s: number;
  seconds: number;
  share_of_time: number;
  ops: number;
  /**
   * How many of the largest make more than half; null: all of them do not.
   */
  half: number | null;
  ranked: LoadPart[];
}
/**
 * What one of the columns did.
 */
export interface LoadPart {
  /**
   * may be empty
   */
  name: string;
  ops: number;
  /**
   * Of all operations recorded then, 0 to 1.
   */
  share: number;
}
/**
 * There are no operations of nodes beside jobs.
 */
export interface NoLoad {
  n: number;
  sentence: string;
}
/**
 * Runs of a column in a range.
 */
export interface JobLoads {
  /**
   * Runs that ran then.
   */
  total: number;
  /**
   * Some of them, the largest first.
   */
  jobs: JobLoad[];
}
/**
 * A run of a job in [begin, end) of a question. ``mean_per_s``, ``most_per_s``: operations, the largest cell's.
 */
export interface JobLoad {
  job_id: string;
  user: string;
  account: string;
  name: string;
  begin: UnixMs;
  end: UnixMs;
  nodes: number;
  ops: number;
  mean_per_s: number;
  most_per_s: number;
}
/**
 * How storage is now.
 */
export interface Status {
  as_of: UnixMs;
  /**
   * The worst of all that match; unknown where nothing is watched.
   */
  severity: "ok" | "info" | "unknown" | "slow" | "hung";
  /**
   * Of the worst.
   */
  sentence: string;
  /**
   * How many targets are how; empty where there is only one.
   */
  summary: string;
  /**
   * null: fewer than two hosts watch, or one target or host is asked for.
   */
  fleet: FleetVerdict | null;
  /**
   * Targets by severity.
   */
  counts: {
    [k: string]: number;
  };
  /**
   * Targets that match.
   */
  total: number;
  /**
   * A page of them, the worst first.
   */
  targets: StatusTarget[];
}
/**
 * Whether it is one node or the storage, as /api/now has it with its matrix.
 */
export interface FleetVerdict {
  sentence: string;
  verdict: string;
}
/**
 * A target as seen from a host.
 */
export interface StatusTarget {
  host: string;
  target: string;
  severity: "ok" | "info" | "unknown" | "slow" | "hung";
  /**
   * The verdict.
   */
  kind: string;
  sentence: string;
  /**
   * The same in two or three words.
   */
  brief: string;
  /**
   * Of the worst operation that is slow; null: none is, or nobody knows.
   */
  slowdown: number | null;
  as_of: UnixMs;
}
/**
 * A badge as shields.io reads it.
 */
export interface Shield {
  schemaVersion: number;
  label: string;
  message: string;
  color: string;
}
/**
 * The newest events of a range, the oldest of them first.
 */
export interface Annotations {
  /**
   * Events that match.
   */
  total: number;
  annotations: Annotation[];
  /**
   * A sentence a reason of what was not judged in the range.
   */
  not_judged: string[];
  /**
   * A sentence a part that is slow beside parts like it, however long.
   */
  peers: string[];
}
/**
 * An event as dashboards mark it.
 */
export interface Annotation {
  /**
   * What /api/why takes as an event; null: it is no slow stretch and no hang.
   */
  id: string | null;
  time: UnixMs;
  /**
   * null: it lasts, or nobody saw its end.
   */
  timeEnd: UnixMs | null;
  title: string;
  /**
   * The sentence of the event; of those that why is asked of, its answer, a line a link.
   */
  text: string;
  tags: string[];
  kind: string;
  host: string;
  target: string | null;
  /**
   * The operation that was slow or hung; null: the event is about the whole target or host.
   */
  op: ("data_read" | "data_write" | "md_create" | "md_stat" | "md_read" | "md_delete") | null;
}
/**
 * What the server says of itself.
 */
export interface About {
  version: string;
  /**
   * files of the store that do not count, by path
   */
  left_out: LeftOut[];
  /**
   * Its path; its name alone where names are hashed.
   */
  store: string;
  /**
   * Names of users, accounts and jobs: shown, or hashed.
   */
  names: string;
  /**
   * The plural noun of each operation.
   */
  op_words: Partial<Record<"data_read" | "data_write" | "md_create" | "md_stat" | "md_read" | "md_delete", string>>;
  slow_at: number;
  slow_lower_at: number;
  baseline_trailing: Ms;
}
/**
 * What all running probes ask for.
 */
export interface Costs {
  /**
   * Of all together; empty: none runs.
   */
  sentence: string;
  /**
   * Probes that run.
   */
  total: number;
  probes: SaidCost[];
}
/**
 * What a probe asks of its storage, with its sentence; null: its state does not say.
 */
export interface SaidCost {
  host: string;
  target: string;
  period: Ms | null;
  ops_per_s: number | null;
  bytes_per_s: number | null;
  stored_bytes: number | null;
  budget: {
    [k: string]: number;
  };
  sentence: string;
}
/**
 * The glossary of the documentation.
 */
export interface Glossary {
  /**
   * Empty: this copy was installed without its page.
   */
  sections: Section[];
}
/**
 * Words of one subject.
 */
export interface Section {
  title: string;
  words: Word[];
}
/**
 * A word and its meaning; code stands in backquotes.
 */
export interface Word {
  word: string;
  meaning: string;
}
/**
 * Cells that are not empty, as columns: bin of time, bin of latency (``edges_ns[i]`` on), operations.
 */
export interface CellCounts {
  time: number[];
  latency: number[];
  /**
   * number of operations
   */
  count: number[];
}
/**
 * Exact counts on a grid, where there are too many operations to list.
 */
export interface Cells {
  origin: UnixMs;
  step: Ms;
  /**
   * Edges of the latency bins.
   */
  edges: Ms[];
  ok: CellCounts;
  failed: CellCounts;
  n_without_latency: number;
}
/**
 * Every error answer.
 */
export interface Error {
  error: Problem;
}
/**
 * What is wrong.
 */
export interface Problem {
  /**
   * What happened.
   */
  what: string;
  /**
   * What would have been right; may be empty.
   */
  expected: string;
  /**
   * What to try; may be empty.
   */
  try: string;
}
/**
 * One operation; ``points`` or ``cells``, or neither where only windows are asked for.
 */
export interface OpSeries {
  points: Points | null;
  cells: Cells | null;
  n_points: number | null;
  stretches: Stretch[];
  windows: Windows;
}
/**
 * Single operations as columns, by due instant.
 */
export interface Points {
  due: UnixMs[];
  /**
   * null: there is none
   */
  response: (Ms | null)[];
  /**
   * null: there is none
   */
  service: (Ms | null)[];
  /**
   * ok, the error's name, timeout, skipped or pending.
   */
  outcome: string[];
  /**
   * Ended well, but could not begin when it was due: a user waited for its response time.
   */
  held_up: boolean[];
}
/**
 * A slow stretch of an operation, as ``iosonde events`` has it; its begin and end do not depend on the range.
 */
export interface Stretch {
  start: UnixMs;
  end: UnixMs;
  slowdown: number | null;
  slowdown_lower: number | null;
  slowdown_upper: number | null;
  n: number;
  ongoing: boolean;
  /**
   * The probe stopped then, while it went on.
   */
  unknown_since: UnixMs | null;
}
/**
 * Windows with at least one operation as columns, by start.
 */
export interface Windows {
  start: UnixMs[];
  /**
   * number of operations
   */
  n_due: number[];
  /**
   * number of operations
   */
  n_seen: number[];
  /**
   * null: there is none
   */
  q50: (Ms | null)[];
  /**
   * null: there is none
   */
  q50_lower: (Ms | null)[];
  /**
   * null: there is none
   */
  q50_upper: (Ms | null)[];
  /**
   * null: there is none
   */
  q90: (Ms | null)[];
  /**
   * null: there is none
   */
  max: (Ms | null)[];
  /**
   * null: there is none
   */
  baseline: (Ms | null)[];
  /**
   * slowdown, a ratio; null: there is none
   */
  slowdown: (number | null)[];
  /**
   * slowdown, a ratio; null: there is none
   */
  slowdown_lower: (number | null)[];
  /**
   * slowdown, a ratio; null: there is none
   */
  slowdown_upper: (number | null)[];
  slow: boolean[];
  /**
   * Slow only because the probing host was busy.
   */
  host_busy: boolean[];
}
