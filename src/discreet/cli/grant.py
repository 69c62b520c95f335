"""`discreet grant`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.cli.ledger import Place, Witness, find_ledger
from discreet.cli.screen import amount, err, out
from discreet.errors import Invalid
from discreet.extras import require
from discreet.ledger.standing import Allowance
from discreet.plots.table import format_value
from discreet.session.project import FILE, find_project, read_project


def grant(
    place: Place,
    analyst: Annotated[str, Argument(metavar="NAME", help="The analyst.")],
    epsilon: Annotated[
        str | None, Option(metavar="ε", help="How much ε the analyst may spend in all, including what is spent already.")
    ] = None,
    delta: Annotated[str, Option(metavar="δ", help="How much δ the analyst may spend in all.")] = "0",
    every: Annotated[
        str | None, Option(metavar="PERIOD", help="week or month: ε and δ are for each of them (UTC), and what is not spent lapses.")
    ] = None,
    revoke: Annotated[bool, Option("--revoke", help="Take back the grant: nothing more can be spent from it.")] = False,
    witness: Witness = None,
) -> None:
    """Grant an analyst a part of the budget, or take it back with --revoke.

    A second grant replaces the first, and the command says what it was. What was spent stays spent: it counts in every later grant. With
    --every the grant renews, below the budget of the data set, which does not. Once anyone has a grant, every question names who pays:
    --analyst NAME, or --analyst owner.
    """
    if revoke == (epsilon is not None):
        raise Invalid("give --epsilon to grant a budget, or --revoke to take it back")
    if find_project(place) is not None and read_project(place)[1].analysts:
        raise Invalid(f"this project's {FILE} declares what analysts may spend: change it there, under [budget.analysts]")
    who = format_value(analyst)
    with closing(find_ledger(place, witness)) as ledger:
        before = ledger.analysts().get(analyst)
        if epsilon is None:
            ledger.revoke(analyst)
            out.print(Text(f"{who} can spend nothing more{_instead(before)}; what was spent counts in a later grant"), soft_wrap=True)
            return
        ledger.grant(analyst, epsilon, delta, every)
        allowance = ledger.allowance(analyst)
    left = amount(allowance.remaining.epsilon)
    out.print(Text(f"{who} may spend {_told(allowance)}; remaining ε = {left}{_instead(before)}"), soft_wrap=True)
    if _is_unknown(place, analyst):
        told = f"note: the server's accounts have no analyst named {who}: add the account, or take the grant back with --revoke"
        err.print(Text(told, style="yellow"), soft_wrap=True)


def _told(one: Allowance) -> str:
    """A grant in words."""
    often = "in all" if one.period is None else f"every {one.period.every}, next on {one.period.next.start} (UTC)"
    return f"ε = {amount(one.granted.epsilon)}, δ = {amount(one.granted.delta)} {often}"


def _instead(before: Allowance | None) -> str:
    return "" if before is None else f" (before: {_told(before)}; spent ε = {amount(before.spent.epsilon)})"


def _is_unknown(place: str, analyst: str) -> bool:
    """Whether a server has its accounts beside this project, and none is an analyst of this name."""
    project = find_project(place)
    try:
        require("argon2")
    except Invalid:
        return False  # no server runs here
    if project is None:
        return False
    from discreet.server.settings import database_beside
    from discreet.server.store.accounts import Accounts
    from discreet.server.store.database import open_database

    beside = database_beside(project)
    if not Path(beside).exists():
        return False
    with closing(open_database(beside)) as database:
        account = Accounts(database).get(analyst)
    return account is None or account.role != "analyst"
