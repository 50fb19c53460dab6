"""``iosonde report --mail``: a week of all targets beside the week before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path


class MailAnswer(NamedTuple):
    """A mail, plain text of 72 columns."""

    subject: str
    body: str

    def text(self, to: str | None = None) -> str:
        """Subject and body; with ``to`` a message with headers to that address, for ``sendmail -t``."""
        if to is None:
            return f"Subject: {self.subject}\n\n{self.body}"
        from email.message import EmailMessage

        message = EmailMessage()
        message["To"] = to
        message["Subject"] = self.subject
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(self.body)
        return message.as_string()


def mail(root: Path, until_ns: int, zone: tzinfo | None = None, seed: int = 0) -> MailAnswer:
    """The seven days before ``until_ns`` beside the seven before them, times in ``zone``. Raises StoreError.

    ``seed``: of the permutations in tests of what comes back.
    """
    import numpy as np

    from iosonde.weather.digest.digest import WEEK_NS, digest
    from iosonde.weather.digest.words import body, subject
    from iosonde.weather.events.answers import event_log
    from iosonde.weather.store import Store

    log = event_log(root, (until_ns - 2 * WEEK_NS, until_ns))
    found = digest(Store(root), until_ns, zone, np.random.default_rng(seed), log.events)
    return MailAnswer(subject(found, zone), body(found, zone))
