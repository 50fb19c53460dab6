"""iosonde digest: a week of all targets beside the week before, as a mail."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.model.errors import UsageError
from iosonde.weather import answers
from iosonde.weather.store import Store

EXAMPLES = """\
  iosonde digest                                              the last seven days
  iosonde digest --until 2026-11-16T00:00                     the seven days before
  iosonde digest --to storage@example.org | sendmail -t       from cron, or the timer in deploy/systemd
"""
_SEED = 0


def main(arguments: Sequence[str]) -> int:
    """Print the text, or a message for a mail program."""
    parser = options.Parser("digest", "A week of all targets as a mail in plain text.", EXAMPLES)
    parser.add_argument("--until", metavar="TIME", help="end of the week (default: now)")
    parser.add_argument(
        "--to", metavar="ADDRESS", help="a mail with headers to this address, for 'sendmail -t'"
    )
    parser.add_store()
    args = parser.parse(arguments)
    args.since = None
    now_ns = options.now_ns()
    until_ns = min(options.time_range(args, now_ns)[1] or now_ns, now_ns)
    if args.to is not None and not (args.to.isprintable() and "@" in args.to.strip("@")):
        raise UsageError(f"{args.to!r} is no address", expected="NAME@HOST")
    store = Store(options.store_root(args))
    head, text = answers.digest(store, until_ns, _SEED, options.local_zone())
    if args.to is None:
        options.put_text(f"Subject: {head}\n\n{text}", None)
    else:
        options.put_text(_message(args.to, head, text), None)
    return 0


def _message(to: str, subject: str, text: str) -> str:
    from email.message import EmailMessage

    message = EmailMessage()
    message["To"] = to
    message["Subject"] = subject
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message.as_string()
