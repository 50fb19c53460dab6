"""Plan from the options of ``iosonde bench metadata``; contradicting ones are refused."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from iosonde.bench.metadata.answers import PHASES, AdaptivePlan, Plan, Spec, parse_place
from iosonde.model.errors import UsageError
from iosonde.model.runs import RunRow
from iosonde.model.units import format_size

MoreMeasurements = Callable[[Sequence[RunRow], int], int]
_MOST_RUNS = 1000
_LARGEST = 1 << 30
"""Most bytes of an object."""
_ONLY = {"shared": "bulk", "read-only": "cycle", "one-by-one": "cycle", "waiting": "cycle"}
"""Options specific to one pattern."""


def plan(
    args: argparse.Namespace,
    environ: Mapping[str, str],
    more: MoreMeasurements,
    seed: int,
    samples: Path | None,
) -> Plan:
    """Plan from the options. Raises UsageError for contradicting ones."""
    places = tuple(parse_place(text, environ, args.endpoint) for text in args.place)
    phases = _phases(args)
    _check_together(args, phases)
    if args.endpoint is not None and all(place.kind != "s3" for place in places):
        raise UsageError("--endpoint is for s3://BUCKET/PREFIX", expected="such a place")
    specs = tuple(_specs(args, seed))
    repetitions = args.repetitions or (3 if args.pattern == "cycle" else 1)
    if repetitions > 1 and "create" in phases and "delete" not in phases:
        raise UsageError(
            f"-R {repetitions} would create the same objects again",
            expected="the phase delete too, or -R 1",
        )
    adaptive = None
    if args.adaptive:
        adaptive = AdaptivePlan(args.measurements or 5, _no_more if args.measurements else more)
    made = Plan(
        places, tuple(args.ranks), specs, phases, repetitions, args.waiting, adaptive, samples
    )
    if len(made) > _MOST_RUNS:
        raise UsageError(f"these are {len(made)} runs", expected=f"at most {_MOST_RUNS}")
    return made


def _check_together(args: argparse.Namespace, phases: Sequence[str]) -> None:
    """Refuse options that would be ignored or misunderstood beside others. Raises UsageError."""
    if args.adaptive and (args.pattern != "cycle" or "benchmark" not in phases):
        raise UsageError("--adaptive is for the benchmark phase of --pattern cycle")
    if args.adaptive and args.waiting:
        raise UsageError("--adaptive chooses T itself", expected="either --adaptive or -T")
    if args.adaptive and args.repetitions is not None:
        raise UsageError("-R is not for --adaptive", expected="--measurements K of each T")
    if args.measurements is not None and not args.adaptive:
        raise UsageError("--measurements is for --adaptive", expected="-R, or --adaptive too")
    if args.stonewall == 0:
        raise UsageError(
            "--stonewall after no time measures nothing", expected="-w TIME, as in 30s"
        )
    if args.wear_out is not None and args.stonewall is None:
        raise UsageError("--wear-out without --stonewall", expected="-w TIME too")
    if args.wear_out and args.wear_out < args.stonewall:
        raise UsageError("--wear-out would end before --stonewall", expected="a later time")
    for name, pattern in _ONLY.items():
        if getattr(args, name.replace("-", "_")) and args.pattern != pattern:
            raise UsageError(f"--{name} is for --pattern {pattern}")
    if (args.size or 0) > _LARGEST:
        raise UsageError(
            f"objects of {format_size(args.size)}", expected=f"at most {format_size(_LARGEST)}"
        )


def _no_more(_rows: Sequence[RunRow], _measurements: int) -> int:
    """No further measurements than requested."""
    return 0


def _phases(args: argparse.Namespace) -> tuple[str, ...]:
    every = PHASES[args.pattern]
    wanted = every if args.phases is None else args.phases
    for phase in wanted:
        if phase not in every and phase != "cleanup":
            raise UsageError(
                f"--pattern {args.pattern} has no phase {phase!r}",
                expected="one or more of " + ",".join(every),
            )
    ordered = tuple(p for p in (*every, "cleanup") if p in wanted)
    kept = {"cleanup", "delete"} if args.keep else set()
    left = tuple(dict.fromkeys(phase for phase in ordered if phase not in kept))
    if not left:
        raise UsageError("no phase remains", expected="a phase besides cleanup, or no --keep")
    return left


def _specs(args: argparse.Namespace, seed: int) -> list[Spec]:
    """All combinations; I and P are paired if both are lists."""
    objects: list[int | None] = args.objects or [None]
    wanted: list[int | None] = args.iterations or [None]
    together = len(objects) > 1 and len(wanted) > 1
    if together and len(objects) != len(wanted):
        raise UsageError(
            f"-I has {len(wanted)} values and -P {len(objects)}",
            expected="as many of each: they go together",
        )
    pairs = zip(wanted, objects, strict=True) if together else itertools.product(wanted, objects)
    wear_out = None
    if args.wear_out is not None:
        wear_out = args.wear_out or 10 * args.stonewall
    return [
        Spec(
            data_sets=data_sets,
            objects=each_objects,
            size_bytes=args.size,
            iterations=iterations,
            offset=args.offset,
            pattern=args.pattern,
            shared=args.shared,
            one_by_one=args.one_by_one,
            random_order=args.order == "random",
            verify=args.verify,
            read_only=args.read_only,
            fsync=args.fsync,
            direct=args.direct,
            limit_ns=args.stonewall,
            wear_out_ns=wear_out,
            seed=seed if args.seed is None else args.seed,
            max_errors=args.max_errors,
            faults=tuple(args.fault),
        )
        for (iterations, each_objects), data_sets in itertools.product(
            list(pairs), args.data_sets or [None]
        )
    ]
