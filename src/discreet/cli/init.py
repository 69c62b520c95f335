"""`discreet init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from discreet.cli import screen
from discreet.cli.destination import write
from discreet.cli.screen import out
from discreet.session.project import init as draft_project
from discreet.session.project import open_project, read_project


def init(
    data: Annotated[list[str], Argument(metavar="DATA", help="The files that hold the tables, their folder, or a database's address.")],
    output: Annotated[str | None, Option(metavar="FILE", help="Where to write it (default: discreet.toml beside the data).")] = None,
    delimiter: Annotated[str | None, Option(metavar="CHARACTER", help="What separates the fields of CSV files, if not commas.")] = None,
    epsilon: Annotated[
        str | None, Option(metavar="NUMBER", help="Also buy a profile of each private table at this price, and fill in the draft.")
    ] = None,
) -> None:
    """Draft a discreet.toml from the schemas of data files.

    Reads no value and overwrites no file, unless a profile is bought with --epsilon.
    """
    place = draft_project(data, output, delimiter)
    out.print("wrote ", Text(str(place)), sep="", soft_wrap=True)
    if epsilon is not None and not _filled_in(place, epsilon):
        return
    out.print("review every line marked CHECK, then ask a first question:")
    tables = read_project(place)[1].tables
    first = next((table for table in tables if table.unit is not None), tables[0])
    line = shlex.join(["discreet", "ask", str(place), f'SELECT COUNT(*) AS n FROM "{first.name}"', "--epsilon", "0.1"])
    out.print(Text(f"  {line}"), soft_wrap=True)


def _filled_in(place: Path, epsilon: str) -> bool:
    """Buy profiles and fill in the draft; False if the draft leaves open who is protected."""
    if "# CHECK: unit =" in place.read_text(encoding="utf-8"):
        again = shlex.join(["discreet", "profile", str(place), "--epsilon", epsilon])
        out.print(Text("nothing was bought: the draft cannot decide who is protected. Decide the lines marked CHECK, then buy it:"))
        out.print(Text(f"  {again}"), soft_wrap=True)
        return False
    with screen.working("opening") as progress, open_project(place) as db:
        text = place.read_text(encoding="utf-8")
        for table in (table for table in read_project(place)[1].tables if table.unit is not None):
            found = db.profile(table.name, epsilon=epsilon, progress=lambda what, share: progress(f"{share:.0%} {what}"))
            text = found.to_toml(text)
        remaining = db.remaining
    write(str(place), text)
    out.print("filled in what was bought: types that a file has not, bounds, keys and limits")
    screen.left(remaining)
    return True
