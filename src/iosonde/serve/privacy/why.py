"""Aliases in an answer to ``why``: for jobs, their users, and runs named after a log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from iosonde.serve.privacy.paths import aliased_run

if TYPE_CHECKING:
    from iosonde.serve.privacy.pseudonyms import Pseudonyms
    from iosonde.why.answers import WhyAnswer
    from iosonde.why.links import Culprit, Link, Links, LoadEvidence, Parts, Remedy


def aliased_why(found: WhyAnswer, names: Pseudonyms) -> WhyAnswer:
    """The answer with aliases, if the policy requires them."""
    if not names.hashed:
        return found
    links: Links = replace(
        found.links,
        component=_component(found.links.component, names),
        load=_load(found.links.load, names),
        remedy=_remedy(found.links.remedy, names),
    )
    return replace(found, links=links)


def _component(link: Link[Parts], names: Pseudonyms) -> Link[Parts]:
    if link.fact is None:
        return link
    slow = tuple(replace(one, run=aliased_run(one.run, names)) for one in link.fact.slow)
    return replace(link, fact=replace(link.fact, slow=slow))


def _load(link: Link[LoadEvidence], names: Pseudonyms) -> Link[LoadEvidence]:
    if link.fact is None:
        return link

    def alias(one: Culprit) -> Culprit:
        return replace(
            one,
            job=names.of("job", one.job),
            user=names.of("user", one.user),
            account=names.of("account", one.account),
        )

    culprits, dismissed = (
        tuple(map(alias, some)) for some in (link.fact.culprits, link.fact.dismissed)
    )
    return replace(link, fact=replace(link.fact, culprits=culprits, dismissed=dismissed))


def _remedy(link: Link[Remedy], names: Pseudonyms) -> Link[Remedy]:
    if link.fact is None:
        return link
    job = names.of("job", link.fact.without_job)
    return replace(link, fact=replace(link.fact, without_job=job))
