"""iosonde report --mail: a week of all targets compared with the week before, as a mail."""

from __future__ import annotations

from iosonde.cli.shared import options
from iosonde.model.errors import UsageError
from iosonde.weather import answers
from iosonde.weather.store import Store

_SEED = 0


def add_mail(parser: options.Parser) -> None:
    """Add --mail and --to."""
    told = "plain text of the last seven days, for a mail, instead of the page"
    parser.add_argument("--mail", action="store_true", help=told)
    told = "with --mail: a message with headers to this address, for 'sendmail -t'"
    parser.add_argument("--to", metavar="ADDRESS", help=told)


def write_mail(store: Store, until_ns: int, to: str | None) -> None:
    """Print a week of all targets compared with the week before. Raises UsageError: ``to`` is no address."""
    if to is not None and not (to.isprintable() and "@" in to.strip("@")):
        raise UsageError(f"{to!r} is no address", expected="NAME@HOST")
    head, text = answers.digest(store, until_ns, _SEED, options.local_zone())
    body = f"Subject: {head}\n\n{text}" if to is None else _message(to, head, text)
    options.put_text(body, None)


def _message(to: str, subject: str, text: str) -> str:
    from email.message import EmailMessage

    message = EmailMessage()
    message["To"] = to
    message["Subject"] = subject
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message.as_string()
