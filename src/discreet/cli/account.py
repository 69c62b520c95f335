"""`discreet budget`, `discreet grant` and `discreet verify`: what was spent, who may spend, and whether it can be trusted."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from attrs import asdict
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from discreet.address import is_address
from discreet.cli.output import print_json
from discreet.cli.screen import as_text, gauge, out
from discreet.cli.source import find_ledger, is_ledger
from discreet.errors import Invalid, LedgerError
from discreet.ledger.ledger import Ledger
from discreet.ledger.purchases import purchases
from discreet.ledger.standing import Amount
from discreet.plots.table import format_value
from discreet.session.estimate.estimate import Estimate
from discreet.session.project import FILE, find_project, read_project
from discreet.session.receipts import price, verify_receipt
from discreet.session.release import CHANGED, Release, stored_release

Witness = Annotated[str | None, Option("--witness", metavar="FILE", help="The ledger's witness.")]
_RECENT = 20
_SAVED, _PRINTED = {"columns", "confidence", "receipt"}, {"rows", "intervals", "confidence", "repeated", "receipt"}


def budget(
    place: Annotated[str, Argument(metavar="DATA|LEDGER", help="A data file, a discreet.toml, or a ledger.")],
    witness: Witness = None,
    as_json: Annotated[bool, Option("--json", help="As plain values.")] = False,
) -> None:
    """Say what was spent, what remains, and on which questions."""
    ledger = find_ledger(place, witness)
    try:
        told = account(ledger)
    finally:
        ledger.close()
    if as_json:
        print_json(told, indent=2)
        return
    whole, spent, left = (told[name] for name in ("budget", "spent", "remaining"))
    out.print(Text(f"protects {format_value(told['protected'])} ({told['adjacency']})"))
    out.print(Text("budget     "), f"ε = {_amount(whole['epsilon'])}, δ = {_amount(whole['delta'])}", sep="")
    out.print(Text("charged    "), f"ε = {_amount(spent['epsilon'])}, δ = {_amount(spent['delta'])}", sep="")
    share = float(Fraction(whole["epsilon"]) - Fraction(left["epsilon"] or 0))
    out.print(Text("remaining  "), gauge(share, float(Fraction(whole["epsilon"]))), f" ε = {_amount(left['epsilon'])}", sep="")
    if told["analysts"]:
        out.print()
        out.print(_analysts(told["analysts"]))
    if told["history"]:
        out.print()
        out.print(_history(told["history"]))


def grant(
    place: Annotated[str, Argument(metavar="DATA|LEDGER", help="A data file, a discreet.toml, or a ledger.")],
    analyst: Annotated[str, Argument(metavar="NAME", help="Who may spend.")],
    epsilon: Annotated[str, Option(metavar="ε", help="How much she may spend in all; what she has spent counts.")],
    delta: Annotated[str, Option(metavar="δ", help="How much δ she may spend in all.")] = "0",
    witness: Witness = None,
) -> None:
    """Let an analyst spend a part of the budget; grant again to change it. From then on, whoever asks says who it is."""
    if find_project(place) is not None and read_project(place)[1].analysts:
        raise Invalid(f"this project's {FILE} says who may spend how much: change it there, under [budget.analysts]")
    ledger = find_ledger(place, witness)
    try:
        ledger.grant(analyst, epsilon, delta)
        allowance = ledger.allowance(analyst)
    finally:
        ledger.close()
    told, left = _exactly(allowance.granted), _exactly(allowance.remaining)
    out.print(
        Text(format_value(analyst)), f" may spend ε = {_amount(told['epsilon'])}, δ = {_amount(told['delta'])} in all; ", sep="", end=""
    )
    out.print(f"remaining ε = {_amount(left['epsilon'])}")


def account(ledger: Ledger) -> dict[str, Any]:
    """A ledger's state as plain values, exact amounts as text."""
    terms, spent, left = ledger.terms, ledger.spent, ledger.remaining
    return {
        "protected": terms.unit,
        "adjacency": terms.adjacency,
        "budget": {"epsilon": str(terms.epsilon), "delta": str(terms.delta)},
        "spent": _exactly(spent),
        "remaining": _exactly(left),
        "analysts": {
            name: {"granted": _exactly(one.granted), "spent": _exactly(one.spent), "remaining": _exactly(one.remaining)}
            for name, one in ledger.analysts().items()
        },
        "history": history(ledger),
    }


def _exactly(amount: Amount) -> dict[str, str | None]:
    return {"epsilon": None if amount.epsilon is None else str(amount.epsilon), "delta": str(amount.delta)}


def history(ledger: Ledger) -> list[dict[str, Any]]:
    """Every question that was paid for, oldest first."""
    return [
        asdict(one) | {"epsilon": None if one.epsilon is None else str(one.epsilon), "delta": str(one.delta)} for one in purchases(ledger)
    ]


def _analysts(told: dict[str, Any]) -> Table:
    """Who may spend how much; what remains is what the data set's budget admits too."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("analyst", "granted ε", "charged ε", "remaining ε"):
        table.add_column(name)
    for name, amounts in told.items():
        table.add_row(Text(format_value(name)), *(_amount(amounts[which]["epsilon"]) for which in ("granted", "spent", "remaining")))
    return table


def _history(rows: list[dict[str, Any]]) -> Table:
    """The latest spends; the question takes what is left of a line."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", expand=True, caption_justify="left")
    shown = [
        (str(row["entry"]), row["at"][:19].replace("T", " "), _amount(row["epsilon"]), _amount(row["delta"])) for row in rows[-_RECENT:]
    ]
    for place, name in enumerate(("entry", "when (UTC)", "ε", "δ")):
        table.add_column(name, min_width=max(len(name), *(len(row[place]) for row in shown)), no_wrap=True)
    table.add_column("asked", overflow="ellipsis", no_wrap=True, ratio=1)
    for cells, row in zip(shown, rows[-_RECENT:], strict=True):
        asked = " ".join("".join(c if c.isprintable() else " " for c in row["asked"]).split()) or "(in Python)"
        table.add_row(*cells, Text(asked) if row["answered"] else Text(f"(paid, not answered) {asked}", style="yellow"))
    if len(rows) > _RECENT:
        table.caption = f"the last {_RECENT} of {len(rows):,}; all with --json"
    return table


def _amount(text: str | None) -> str:
    return "∞" if text is None else price(Fraction(text))


def verify(
    place: Annotated[str, Argument(metavar="RECEIPT|LEDGER", help="What `ask --save` wrote, or a ledger.")],
    ledger: Annotated[
        str | None, Option(metavar="FILE", help="Check a receipt against the ledger, or the data file, that it was paid from.")
    ] = None,
    witness: Witness = None,
) -> None:
    """Check that a ledger, or a receipt with its answers, is what was written."""
    if is_address(place) or is_ledger(Path(place)):
        _verify_ledger(place, witness)
        return
    opened = None if ledger is None else find_ledger(ledger, witness)
    try:
        receipt, answers = _verify_receipt(Path(place), opened)
    finally:
        if opened is not None:
            opened.close()
    out.print(f"[green]sound[/green]: ε = {_amount(receipt['epsilon'])}, δ = {_amount(receipt['delta'])}, protecting ", end="")
    out.print(Text(format_value(receipt["protected"])))
    where = f"paid in ledger entry {receipt['ledger']['sequence']}"
    if opened is None:
        out.print("checked: the receipt is whole, and what was done costs no more than it says")
        out.print(f"the answers are NOT checked against a ledger, nor that this was {where}: give --ledger to check that too")
    elif answers:
        out.print(f"checked: {where}, and these are the very answers that the ledger holds")
    else:
        out.print(f"checked: {where}; there are no answers in this file, so none were checked")


def _verify_ledger(place: str, witness: str | None) -> None:
    ledger = find_ledger(place, witness)
    try:
        report = ledger.verify()
    finally:
        ledger.close()
    out.print(f"[green]sound[/green]: {report.entries:,} entries, {report.spends:,} spends, {report.releases:,} releases")
    if report.repriced:
        out.print(f"{report.repriced:,} spends would be priced otherwise by this version")
    out.print("watched by its witness" if report.witnessed else "no witness: an older copy put in its place would not be noticed")


def _verify_receipt(path: Path, ledger: Ledger | None) -> tuple[dict[str, Any], bool]:
    """The receipt in a file that was found good, and whether there are answers with it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError):
        raise Invalid(f"{path} is neither a ledger nor JSON that `ask --save` or `Release.save` wrote") from None
    if not isinstance(found, dict):
        raise Invalid("this is not a receipt")
    if "receipt" not in found:
        verify_receipt(found, ledger)
        return found, False
    if "value" in found:
        estimate = Estimate.open(path)
        if json.loads(estimate.to_text()) != found:
            raise Invalid("something stands beside the value and its receipt that is not checked: take it out")
        estimate.verify(ledger)
        return estimate.receipt, True
    _require_known(found)
    if "columns" in found:
        release = Release.open(path)
        release.verify(ledger)
        return release.receipt, True
    receipt: dict[str, Any] = found["receipt"]
    if not isinstance(receipt, dict):
        raise Invalid("this is not a receipt")
    verify_receipt(receipt, ledger)
    if ledger is not None:
        held = json.loads(as_text(stored_release(receipt, ledger)))
        if any(value != held[name] for name, value in found.items() if name != "repeated"):
            raise LedgerError(CHANGED)
    return receipt, "rows" in found


def _require_known(found: dict[str, Any]) -> None:
    """Nothing may stand beside the answers that would not be checked."""
    known = _SAVED if "columns" in found else _PRINTED
    if unknown := set(found) - known:
        raise Invalid(f"this is not what `ask` wrote: {', '.join(sorted(map(format_value, unknown)))} cannot be checked, so take it out")
