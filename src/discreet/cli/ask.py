"""`discreet ask`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from discreet.cli import screen
from discreet.cli.data import DataOptions
from discreet.cli.destination import FileOptions
from discreet.cli.options import grouped
from discreet.cli.output import AsJson, print_json
from discreet.cli.question import QuestionOptions
from discreet.errors import Invalid


@grouped
def ask(
    data: DataOptions,
    question: QuestionOptions,
    files: FileOptions,
    as_json: AsJson = False,
    as_csv: Annotated[
        bool, Option("--csv", metavar="", help="Print CSV with intervals; an apostrophe is put before texts like =1+1.")
    ] = False,
) -> None:
    """Ask a question, pay for it from the budget, and print the answer with its error.

    The same question again is free.
    """
    if as_json and as_csv:
        raise Invalid("--json and --csv exclude each other: leave out one of them")
    files.require()  # before anything is paid
    with screen.working("opening") as progress, data.open(question.analyst) as db:
        query = question.query(db)
        price = question.price(query)
        release = query.release(price, question.question_delta, confidence=question.confidence, progress=progress)
        remaining = db.remaining
    if as_json:
        print_json(screen.plain_values(release))
    elif as_csv:
        print(release.to_csv(), end="")
    else:
        screen.show(release)
        screen.left(remaining)
    files.write(release)
