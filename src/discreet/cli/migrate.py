"""`discreet migrate`: a ledger of the format before, made one of this format."""

from __future__ import annotations

from typing import Annotated

from rich.text import Text
from typer import Argument

from discreet.cli.screen import out
from discreet.ledger import migrate as migration


def migrate(place: Annotated[str, Argument(metavar="LEDGER", help="A ledger's file, or its address in PostgreSQL.")]) -> None:
    """Make a ledger of the format before one of this format; the old one is kept beside it. Nobody may use it meanwhile."""
    done = migration.migrate(place)
    out.print(f"migrated {done.entries:,} entries and verified them; the old ledger is kept as ", Text(done.old), sep="")
    out.print("a witness belongs to the old chain: give --witness a new file from now on")
