"""`discreet verify`."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.address import is_address
from discreet.cli.ledger import Witness, find_ledger, is_ledger
from discreet.cli.screen import as_text, out
from discreet.errors import Invalid, LedgerError
from discreet.ledger.ledger import Ledger
from discreet.ledger.price import amount
from discreet.ledger.receipt import STATEFUL, Receipt, verify_receipt
from discreet.plots.table import format_value
from discreet.session.project import find_project
from discreet.session.release import Release
from discreet.session.released import CHANGED
from discreet.session.saved import open_release

_PRINTED = {"rows", "intervals", "confidence", "repeated", "receipt"}
_NO_RECEIPT = "this is not a receipt: give a file that `discreet ask --save` wrote"


def verify(
    place: Annotated[
        str,
        Argument(
            metavar="RECEIPT|FOLDER|LEDGER",
            help="What `discreet ask --save` or `--json` wrote, a folder of such files, a ledger or a project.",
        ),
    ],
    ledger: Annotated[
        str | None, Option(metavar="PLACE", help="Check a receipt against the ledger (or the data, or the project) that paid for it.")
    ] = None,
    witness: Witness = None,
) -> None:
    """Verify that a ledger, or a receipt with its answers, is unchanged."""
    if is_address(place) or is_ledger(Path(place)):
        _verify_ledger(place, witness)
        return
    if find_project(place) is not None:
        _verify_ledger(place, witness)
        return
    with nullcontext() if ledger is None else closing(find_ledger(ledger, witness)) as opened:
        if Path(place).is_dir():
            _verify_folder(Path(place), opened)
            return
        receipt, has_answers = _verify_receipt(Path(place), opened)
    paid = f": ε = {amount(receipt.epsilon)}, δ = {amount(receipt.delta)}, protecting "
    out.print(Text.assemble(("sound", "green"), paid, format_value(receipt.protected)))
    entry = "paid" if receipt.sequence is None else f"paid in ledger entry {receipt.sequence}"
    if opened is None:
        out.print("checked: the receipt is unchanged, and what was done costs no more than it states")
        out.print(f"the answers are NOT checked against a ledger, nor that this was {entry}: give --ledger to check that too")
    elif has_answers:
        out.print(f"checked: {entry}, and these are the very answers that the ledger holds")
    else:
        out.print(f"checked: {entry}; there are no answers in this file, so none were checked")


def _verify_ledger(place: str, witness: str | None) -> None:
    with closing(find_ledger(place, witness)) as ledger:
        report = ledger.verify()
    out.print(f"[green]sound[/green]: {report.entries:,} entries, {report.spends:,} spends, {report.releases:,} releases")
    if report.received:
        out.print(f"analysts were charged for {report.received:,} answers that somebody else had paid for")
    if report.repriced:
        out.print(f"{report.repriced:,} spends would be priced differently by this version")
    out.print("checked against its witness" if report.witnessed else "no witness: an older copy put in its place would not be noticed")


def _verify_folder(folder: Path, ledger: Ledger | None) -> None:
    """Verify every receipt in a folder; all problems at once."""
    files = sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())
    if not files:
        raise Invalid(f"there is no receipt in {folder}: give a folder of .json files that `discreet ask --save` wrote, or one such file")
    wrong = []
    for path in files:
        try:
            receipt, _ = _verify_receipt(path, ledger)
            out.print(Text.assemble(("sound", "green"), f" {path.name}: ε = {amount(receipt.epsilon)}, δ = {amount(receipt.delta)}"))
        except (Invalid, LedgerError) as problem:
            wrong.append(f"{path.name}: {problem}")
    if wrong:
        raise LedgerError(f"{len(wrong)} of {len(files)} files are not sound: {'; '.join(wrong)}")
    checked = "against the ledger" if ledger is not None else "but not against a ledger: give --ledger to check that too"
    out.print(f"{len(files):,} receipts checked, {checked}")


def _verify_receipt(path: Path, ledger: Ledger | None) -> tuple[Receipt, bool]:
    """The receipt in a file, once it is verified, and whether there are answers with it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError):
        raise Invalid(f"{path} is neither a ledger nor a receipt: give a file that `discreet ask --save` or `Release.save` wrote") from None
    if not isinstance(found, dict):
        raise Invalid(_NO_RECEIPT)
    if "receipt" not in found:
        return verify_receipt(found, ledger), False
    if "answers" in found:
        release = open_release(path)
        release.verify(ledger)
        return release.receipt, release.receipt.kind not in STATEFUL
    if unknown := set(found) - _PRINTED:
        raise Invalid(f"`discreet ask` did not write {', '.join(sorted(map(format_value, unknown)))}, which cannot be checked: take it out")
    receipt = verify_receipt(found["receipt"], ledger)
    if ledger is not None:
        stored = Release.from_text(receipt.stored_text(ledger))
        held = json.loads(as_text(stored.without_entries() if receipt.sequence is None else stored))
        if any(value != held[name] for name, value in found.items() if name != "repeated"):
            raise LedgerError(CHANGED)
    return receipt, "rows" in found
