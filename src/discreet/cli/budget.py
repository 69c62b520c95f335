"""`discreet budget`."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from typing import Any

from attrs import asdict
from rich.table import Table
from rich.text import Text

from discreet.cli.ledger import Place, Witness, find_ledger
from discreet.cli.output import AsJson, print_json
from discreet.cli.remote import Server, address_of, remote_account
from discreet.cli.screen import amount, gauge, out
from discreet.ledger.ledger import Ledger
from discreet.ledger.purchases import purchases
from discreet.ledger.standing import Amount
from discreet.plots.table import format_value
from discreet.session.connect import connect

_RECENT = 20


def budget(place: Place, witness: Witness = None, server: Server = None, as_json: AsJson = False) -> None:
    """Show what was spent, what remains, and which questions were paid for."""
    if (address := address_of(place, server)) is not None:
        with connect(address) as db:
            told = remote_account(db)
    else:
        with closing(find_ledger(place, witness)) as ledger:
            told = account(ledger)
    if as_json:
        print_json(told, indent=2)
        return
    whole, spent, left = (told[name] for name in ("budget", "spent", "remaining"))
    out.print(Text(f"protects {format_value(told['protected'])} ({told['adjacency']})"))
    out.print(Text(f"budget     ε = {_amount(whole['epsilon'])}, δ = {_amount(whole['delta'])}"))
    bar = gauge(float(Fraction(spent["epsilon"] or whole["epsilon"])), float(Fraction(whole["epsilon"])))
    out.print(Text(f"charged    ε = {_amount(spent['epsilon'])}, δ = {_amount(spent['delta'])}  ").append_text(bar))
    out.print(Text(f"remaining  ε = {_amount(left['epsilon'])}, δ = {_amount(left['delta'])}"))
    out.print(Text(f"           {told['remaining_means']}"), soft_wrap=True)
    if told.get("renews"):
        out.print(Text(f"renews     {told['renews']} (UTC)"))
    if told["analysts"]:
        out.print()
        out.print(_analysts(told["analysts"]))
    if told["history"]:
        out.print()
        out.print(_history(told["history"]))


def account(ledger: Ledger) -> dict[str, Any]:
    """The state of a ledger as plain values, with exact amounts as text."""
    terms = ledger.terms
    return {
        "protected": terms.unit,
        "adjacency": terms.adjacency,
        "budget": {"epsilon": str(terms.epsilon), "delta": str(terms.delta)},
        "spent": _exactly(ledger.spent),
        "remaining": _exactly(ledger.remaining),
        "remaining_means": ledger.remaining.meaning,
        "analysts": {
            name: {
                "granted": _exactly(one.granted),
                "spent": _exactly(one.spent),
                "remaining": _exactly(one.remaining),
                "renews": None if one.period is None else {"every": one.period.every, "next": one.period.next.start.isoformat()},
            }
            for name, one in ledger.analysts().items()
        },
        "history": [asdict(one) | _exactly(Amount(one.epsilon, one.delta)) for one in purchases(ledger)],
    }


def _exactly(one: Amount) -> dict[str, str | None]:
    return {"epsilon": None if one.epsilon is None else str(one.epsilon), "delta": str(one.delta)}


def _amount(text: str | None) -> str:
    return amount(None if text is None else Fraction(text))


def _analysts(told: dict[str, Any]) -> Table:
    """Who may spend how much; what remains is also limited by the budget of the data set."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    renewing = any(amounts["renews"] for amounts in told.values())
    for name in ("analyst", "granted ε", "charged ε", "remaining ε", *(["renews (UTC)"] if renewing else [])):
        table.add_column(name)
    for name, amounts in told.items():
        renews = amounts["renews"]
        often = [f"every {renews['every']}, next {renews['next']}" if renews else "never"] if renewing else []
        spent = (_amount(amounts[which]["epsilon"]) for which in ("granted", "spent", "remaining"))
        table.add_row(Text(format_value(name)), *spent, *often)
    return table


def _history(rows: list[dict[str, Any]]) -> Table:
    """The latest questions; the text of a question takes the rest of the line."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", expand=True, caption_justify="left")
    shown = [
        (str(row["entry"]), row["at"][:19].replace("T", " "), _amount(row["epsilon"]), _amount(row["delta"])) for row in rows[-_RECENT:]
    ]
    for place, name in enumerate(("entry", "when (UTC)", "ε", "δ")):
        table.add_column(name, min_width=max(len(name), *(len(row[place]) for row in shown)), no_wrap=True)
    table.add_column("asked", overflow="ellipsis", no_wrap=True, ratio=1)
    for cells, row in zip(shown, rows[-_RECENT:], strict=True):
        asked = " ".join("".join(c if c.isprintable() else " " for c in row["asked"]).split()) or "(in Python)"
        asked = f"(received by {format_value(row['analyst'])}) {asked}" if row["received"] else asked
        table.add_row(*cells, Text(asked) if row["answered"] else Text(f"(paid, not answered) {asked}", style="yellow"))
    if len(rows) > _RECENT:
        table.caption = f"the last {_RECENT} of {len(rows):,} questions; --json lists all of them"
    return table
