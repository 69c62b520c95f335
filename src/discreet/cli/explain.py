"""`discreet explain`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from discreet.cli import screen
from discreet.cli.data import DataOptions
from discreet.cli.destination import require_writable, write
from discreet.cli.options import grouped
from discreet.cli.output import AsJson, print_json
from discreet.cli.question import QuestionOptions


@grouped
def explain(
    data: DataOptions,
    question: QuestionOptions,
    as_json: AsJson = False,
    html: Annotated[str | None, Option(metavar="FILE", help="Write an HTML page instead.")] = None,
) -> None:
    """Explain what a question would do, cost and err, and why it is private.

    Reads no row and spends nothing.
    """
    require_writable("--html", html)
    with data.open(question.analyst) as db:
        query = question.query(db)
        explained = query.plan(question.price(query), question.question_delta).explain()
    if html is not None:
        write(html, explained.to_html())
    elif as_json:
        print_json(explained.to_json(), indent=2)
    else:
        screen.explained(explained)
