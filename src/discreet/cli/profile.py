"""`discreet profile`."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from discreet.cli import screen
from discreet.cli.data import DataOptions
from discreet.cli.destination import require_writable, write
from discreet.cli.options import grouped
from discreet.cli.question import Analyst, QuestionDelta


@grouped
def profile(
    data: DataOptions,
    epsilon: Annotated[str, Option(metavar="NUMBER", help="The price: the ε to spend on all columns together.")],
    table: Annotated[str | None, Option(metavar="TABLE", help="The table, if there are several private ones.")] = None,
    question_delta: QuestionDelta = None,
    html: Annotated[str | None, Option(metavar="FILE", help="Write the profile as a page, with a histogram of each column.")] = None,
    save: Annotated[str | None, Option(metavar="FILE", help="Save the profile with its receipt, as JSON.")] = None,
    toml: Annotated[
        str | None, Option(metavar="FILE", help="Write a draft policy with the bounds, keys and limits that were found.")
    ] = None,
    analyst: Analyst = None,
) -> None:
    """Release ranges, values, sizes and limits of all columns once; every later question uses them at no further cost.

    The types of a CSV file's columns are found too, unless --type gives them. The same profile again is free.
    """
    for option, file in (("--html", html), ("--save", save), ("--toml", toml)):
        require_writable(option, file)  # before anything is paid
    with screen.working("opening") as progress, data.open(analyst) as db:
        found = db.profile(table, epsilon=epsilon, delta=question_delta, progress=lambda what, share: progress(f"{share:.0%} {what}"))
        remaining = db.remaining
    screen.out.print(repr(found), highlight=False, markup=False, soft_wrap=True)
    screen.left(remaining)
    if save is not None:
        found.save(save)
    if html is not None:
        write(html, found.to_html())
    if toml is not None:
        write(toml, found.to_toml())
