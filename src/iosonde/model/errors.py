"""Every error that iosonde raises on purpose.

::

    IosondeError                  what happened; expected ...; try ...
    ├── UsageError                the request itself is wrong (exit code 2)
    │   ├── UnitError             a size, duration, time or range that cannot be read
    │   └── ConfigError           a probe's configuration is wrong
    ├── StoreError                the store folder cannot be read or written
    │   ├── DamagedFileError      one file of the store is not what it should be
    │   └── SealError             a spool segment could not become Parquet (it is kept)
    ├── NothingMeasuredError      the store holds no samples for this question
    ├── InputFileError            a file of another tool is not what it should be (good rows before it count)
    ├── MissingPartError          a part of iosonde is not installed
    └── MeasureError              a directory cannot be probed or loaded

The text is for people: one line, no traceback, no trailing full stop.
"""

from __future__ import annotations

from iosonde.model.advice import Spelling, Text, command_line, spelled


class IosondeError(Exception):
    """An error that the user can understand.

    ``what`` says what happened (with file and place), ``expected`` what would have been right,
    ``hint`` what to try. The two last ones are left out of the text when empty; where they name an
    argument or a command they are an ``Advice``, which every door spells in its own way.
    """

    exit_code = 1

    def __init__(self, what: str, *, expected: Text = "", hint: Text = "") -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.hint = hint

    def text(self, spelling: Spelling) -> str:
        """Message on one line, with arguments and commands as a door spells them."""
        expected, hint = spelled(self.expected, spelling), spelled(self.hint, spelling)
        parts = [
            self.what,
            f"expected {expected}" if expected else "",
            f"try {hint}" if hint else "",
        ]
        return "; ".join(part for part in parts if part)

    def __str__(self) -> str:
        return self.text(command_line)


class UsageError(IosondeError):
    """A wrong request: an unknown op, a window of zero, contradicting options."""

    exit_code = 2


class UnitError(UsageError):
    """A malformed size, duration, time or threshold range."""


class ConfigError(UsageError):
    """A wrong probe configuration; the text is the core's."""


class StoreError(IosondeError):
    """A store folder that cannot be read or written."""


class DamagedFileError(StoreError):
    """A damaged file of the store."""


class DamagedFileWarning(UserWarning):
    """A damaged file of the store was skipped; the others were read."""


class SealError(StoreError):
    """A spool segment that could not be turned into Parquet. The segment is kept."""


class NothingMeasuredError(IosondeError):
    """No samples in the store for this question."""


class InputFileError(IosondeError):
    """A malformed file of another tool; rows before the named place were emitted."""


class MissingPartError(IosondeError):
    """An optional part of iosonde that is not installed."""


class MeasureError(IosondeError):
    """A directory that cannot be probed, or not be put under load."""
