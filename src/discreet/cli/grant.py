"""`discreet grant`."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.cli.ledger import Place, Witness, find_ledger
from discreet.cli.screen import amount, out
from discreet.errors import Invalid
from discreet.plots.table import format_value
from discreet.session.project import FILE, find_project, read_project


def grant(
    place: Place,
    analyst: Annotated[str, Argument(metavar="NAME", help="The analyst.")],
    epsilon: Annotated[str, Option(metavar="ε", help="How much ε the analyst may spend in all, including what is spent already.")],
    delta: Annotated[str, Option(metavar="δ", help="How much δ the analyst may spend in all.")] = "0",
    every: Annotated[
        str | None, Option(metavar="PERIOD", help="week or month: ε and δ are for each of them (UTC), and what is not spent lapses.")
    ] = None,
    witness: Witness = None,
) -> None:
    """Grant an analyst a part of the budget.

    A second grant replaces the first. With --every the grant renews, below the budget of the data set, which does not. Once anyone has a
    grant, every question names who pays: --analyst NAME, or --analyst owner.
    """
    if find_project(place) is not None and read_project(place)[1].analysts:
        raise Invalid(f"this project's {FILE} declares what analysts may spend: change it there, under [budget.analysts]")
    with closing(find_ledger(place, witness)) as ledger:
        ledger.grant(analyst, epsilon, delta, every)
        allowance = ledger.allowance(analyst)
    granted, left = allowance.granted, allowance.remaining
    period = allowance.period
    often = "in all" if period is None else f"every {period.every}, next on {period.next.start} (UTC)"
    told = f" may spend ε = {amount(granted.epsilon)}, δ = {amount(granted.delta)} {often}; remaining ε = {amount(left.epsilon)}"
    out.print(Text(format_value(analyst) + told))
