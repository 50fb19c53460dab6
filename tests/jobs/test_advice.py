"""An error names arguments and actions as values; every door spells them in its own way."""

from __future__ import annotations

import pytest

from iosonde.jobs.correlate.answers import correlate
from iosonde.jobs.table.which_job import found_job
from iosonde.model.advice import TABLE, Action, Advice, Argument, Spelling, command_line
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.notebook.arguments import python
from iosonde.serve.errors import page
from tests.kit.jobs.jobs_made import table

NAMELESS = table({"own_bytes": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        (command_line, "--with METRIC, or --mapping"),
        (python, "y=METRIC, or mapping="),
        (page, "--with METRIC, or an import with a mapping"),
    ],
)
def test_each_door_has_its_own_words(spelling: Spelling, words: str) -> None:
    with pytest.raises(UsageError, match="has no I/O performance") as error:
        correlate(NAMELESS, "fraction_of_peak_ratio")
    assert error.value.text(spelling).endswith(f"; try {words}")


def test_the_command_line_is_what_str_gives() -> None:
    advice = Advice("another ", Argument("file_system", "NAME"), ", or ", Action("import"))
    assert str(advice) == "another --file-system NAME, or 'iosonde import'"
    error = NothingMeasuredError("nothing", expected=Advice(TABLE), hint="this")
    assert str(error) == "nothing; expected TABLE; try this"
    assert error.text(python) == "nothing; expected iosonde.read_jobs(); try this"


@pytest.mark.parametrize(
    ("of_store", "words"),
    [(True, "'iosonde jobs --search 70'"), (False, "'iosonde jobs TABLE --search 70'")],
)
def test_a_job_that_is_not_there_is_searched_for(of_store: bool, words: str) -> None:
    jobs = table({"own_bytes": [1.0, 2.0]}, job_id=["701", "702"])
    with pytest.raises(UsageError) as error:
        found_job(jobs, "70", lambda _: None, of_store=of_store)
    assert words.replace("70'", "WORDS'") in str(error.value)
    assert "the search of jobs" in error.value.text(page)
