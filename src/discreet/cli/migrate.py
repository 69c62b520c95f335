"""`discreet migrate`."""

from __future__ import annotations

from typing import Annotated

from rich.text import Text
from typer import Argument

from discreet.cli.ledger import Witness
from discreet.cli.screen import out
from discreet.ledger import migrate as migration


def migrate(
    place: Annotated[str, Argument(metavar="LEDGER", help="A ledger's file, or its address in PostgreSQL.")],
    witness: Witness = None,
) -> None:
    """Convert a ledger of an older format to the current one.

    The old ledger is kept beside the new one, and is closed: nothing can be spent from it.
    """
    done = migration.migrate(place, witness)
    out.print(f"migrated and verified {done.entries:,} entries; the old ledger is kept as ", Text(done.old), sep="", soft_wrap=True)
    if done.keeps_receipts:
        out.print("its entries are unchanged: older receipts and the witness, if there is one, stay valid", soft_wrap=True)
    else:
        out.print("verify older receipts against the old ledger, with the version that wrote them")
