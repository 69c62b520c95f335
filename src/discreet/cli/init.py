"""`discreet init`."""

from __future__ import annotations

from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.cli.screen import out
from discreet.session.project import init as draft_project


def init(
    data: Annotated[list[str], Argument(metavar="DATA", help="The files that hold the tables, their folder, or a database's address.")],
    output: Annotated[str | None, Option(metavar="FILE", help="Where to write it (default: discreet.toml beside the data).")] = None,
) -> None:
    """Draft a discreet.toml from the schemas of data files.

    Reads no value and overwrites no file.
    """
    place = draft_project(data, output)
    out.print("wrote ", Text(str(place)), sep="", soft_wrap=True)
    out.print("review every line marked CHECK, then ask a first question:")
    out.print("  discreet ask ", Text(str(place)), ' "SELECT COUNT(*) AS n FROM …" --epsilon 0.1', sep="", soft_wrap=True)
