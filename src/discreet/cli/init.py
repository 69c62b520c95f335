"""`discreet init`."""

from __future__ import annotations

import shlex
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.cli.screen import out
from discreet.session.project import init as draft_project
from discreet.session.project import read_project


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
    tables = read_project(place)[1].tables
    first = next((table for table in tables if table.unit is not None), tables[0])
    line = shlex.join(["discreet", "ask", str(place), f'SELECT COUNT(*) AS n FROM "{first.name}"', "--epsilon", "0.1"])
    out.print(Text(f"  {line}"), soft_wrap=True)
