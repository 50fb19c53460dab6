"""``/api/status``, ``/api/badge``, ``/badge.svg``, ``/api/annotations``: for portals, dashboards, other pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from starlette.responses import Response

from iosonde.model.units import format_time
from iosonde.serve import wire
from iosonde.serve.answers import MEDIA_TYPES, JsonBody, json_answer, json_body
from iosonde.serve.params import RefusalError
from iosonde.serve.status.annotations import annotated, explain_newest
from iosonde.serve.status.badge import COLORS, badge
from iosonde.serve.status.query import (
    AnnotationsQuery,
    PlaceQuery,
    StatusQuery,
)
from iosonde.weather.events import answers
from iosonde.weather.slowdown.answers import counts, summary

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.serve.privacy.pseudonyms import Pseudonyms
    from iosonde.serve.shared import Shared
    from iosonde.serve.targets import Targets
    from iosonde.weather.slowdown.answers import TargetVerdict

_NOBODY = "no probe"


class StatusRoutes:
    """Handlers of the routes. ``shared`` has the threads of quick questions, ``of_events`` that of events."""

    def __init__(
        self,
        targets: Targets,
        shared: Shared,
        of_events: Shared,
        clock: Callable[[], int],
        *,
        names: Pseudonyms,
    ) -> None:
        self._targets = targets
        self._shared = shared
        self._of_events = of_events
        self._clock = clock
        self._names = names

    async def status(self, request: Request, query: Annotated[StatusQuery, Query()]) -> Response:
        """Current verdicts, the worst target first: for portals and scripts."""
        return json_answer(request, await self._shared.answer(query, lambda: self._status(query)))

    async def shield(self, request: Request, query: Annotated[PlaceQuery, Query()]) -> Response:
        """A badge in the format of shields.io."""
        label, message, severity, _ = await self._badge(query)
        body = {"schemaVersion": 1, "label": label, "message": message, "color": COLORS[severity]}
        return json_answer(request, JsonBody(wire.dumps(body), None))

    async def badge(self, query: Annotated[PlaceQuery, Query()]) -> Response:
        """A badge as a picture; other sites may show it, but not read it."""
        text = badge(*await self._badge(query))
        headers = {"cache-control": "no-store", "cross-origin-resource-policy": "cross-origin"}
        return Response(text, media_type=MEDIA_TYPES["svg"], headers=headers)

    async def annotations(
        self, request: Request, query: Annotated[AnnotationsQuery, Query()]
    ) -> Response:
        """Events of a range, for dashboards."""
        span = query.span_ns(self._clock())
        answer = await self._of_events.answer(query, lambda: self._annotations(query, span))
        return json_answer(request, answer)

    def _found(
        self, query: PlaceQuery, zone: tzinfo | None, states: list[dict[str, Any]]
    ) -> list[TargetVerdict]:
        """Matching targets, the worst first. Raises RefusalError: an unknown one."""
        every = self._targets.verdicts(zone, self._clock(), states)
        found = [
            one
            for one in every
            if query.target in (None, one.finding.target) and query.host in (None, one.finding.host)
        ]
        if not found and (query.target or query.host):
            known = sorted({one.finding.target for one in every})[:10]
            raise RefusalError(
                f"there is no target {(query.target or query.host or '')[:100]!r}",
                expected=", ".join(known) or "a target that was watched",
                status=404,
            )
        return sorted(
            found, key=lambda one: (-one.rank, -(one.slowdown or 0.0), one.finding.target)
        )

    def _status(self, query: StatusQuery) -> JsonBody:
        states = self._targets.states()
        found = self._found(query, query.zone, states)
        worst = found[0] if found else None
        body = {
            "as_of_ns": self._clock(),
            "severity": worst.finding.severity if worst else "unknown",
            "sentence": worst.sentence if worst else _NOBODY,
            "summary": summary(found) if len(found) > 1 else "",
            "fleet": None
            if query.target or query.host
            else self._targets.fleet(self._clock(), states),
            "counts": counts(found),
            "total": len(found),
            "targets": [_row(one) for one in query.part(found)],
        }
        return json_body(wire.dumps(body))

    async def _badge(self, query: PlaceQuery) -> tuple[str, str, str, str]:
        """Label, message, severity, title."""
        key = ("badge", query)
        return await self._shared.answer(key, lambda: self._in_brief(query))

    def _in_brief(self, query: PlaceQuery) -> tuple[str, str, str, str]:
        found = self._found(query, None, self._targets.states())
        label = query.target or "storage"
        if not found:
            return label, _NOBODY, "unknown", _NOBODY
        worst, now = found[0], self._clock()
        when = format_time(worst.finding.at_ns, now, seconds=True)
        title = f"{worst.sentence} (as of {when}, from {worst.finding.host})"
        return label, worst.brief, worst.finding.severity, title

    def _annotations(self, query: AnnotationsQuery, span: tuple[int, int]) -> JsonBody:
        root, now = self._targets.root, self._clock()
        log = answers.event_log(root, span)
        wanted = () if query.target is None else (query.target,)
        found = answers.events(
            root, log, span, now, targets=wanted, host=query.host, zone=query.zone
        )
        every = annotated(found.marks())
        told = list(query.part(every[::-1]))[::-1]
        if query.why:
            explain_newest(told, query.why, lambda event: self._why(event, query, now))
        body = {
            "total": len(every),
            "annotations": told,
            "not_judged": found.not_judged(),
            "peers": found.peers.sentences(),
        }
        return json_body(wire.dumps(body))

    def _why(self, event: str, query: AnnotationsQuery, now_ns: int) -> dict[str, str]:
        from iosonde.serve.privacy.why import aliased_why
        from iosonde.why.answers import WhyQuestion, why

        question = WhyQuestion(event=event, zone=query.zone, model=False)
        found = aliased_why(why(self._targets.root, question, now_ns), self._names)
        return found.annotation()


def _row(one: TargetVerdict) -> dict[str, Any]:
    finding = one.finding
    return {
        "host": finding.host,
        "target": finding.target,
        "severity": finding.severity,
        "kind": finding.kind,
        "sentence": one.sentence,
        "as_of_ns": finding.at_ns,
        "brief": one.brief,
        "slowdown": one.slowdown,
    }
