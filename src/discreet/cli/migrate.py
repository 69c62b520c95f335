"""`discreet migrate`: a ledger of the format before, made one of this format."""

from __future__ import annotations

from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.cli.screen import out
from discreet.ledger import migrate as migration


def migrate(
    place: Annotated[str, Argument(metavar="LEDGER", help="A ledger's file, or its address in PostgreSQL.")],
    witness: Annotated[str | None, Option("--witness", metavar="FILE", help="The ledger's witness, if it has one.")] = None,
) -> None:
    """Make a ledger of the format before one of this format; the old one is kept beside it, closed."""
    done = migration.migrate(place, witness)
    out.print(f"migrated {done.entries:,} entries and verified them; the old ledger is kept as ", Text(done.old), sep="")
    out.print("receipts from before are verified against the old ledger, by the version that wrote it")
