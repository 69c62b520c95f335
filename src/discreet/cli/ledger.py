"""Finding the ledger of a project, of a data file, or at an address."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from discreet.address import is_address
from discreet.errors import Invalid
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.session.project import FILE, find_project, ledger_of, open_project, read_project

Place = Annotated[str, Argument(metavar="DATA|LEDGER", help="A discreet.toml or its folder, a data file, or a ledger.")]
Witness = Annotated[str | None, Option(metavar="FILE", help="The witness file of the ledger.")]
_SQLITE = b"SQLite format 3\x00"


def find_ledger(place: str, witness: str | None = None) -> Ledger:
    """Open the ledger of a project or of a data file, or the ledger itself."""
    if find_project(place) is not None:
        path, policy = read_project(place)
        ledger, declared = ledger_of(policy, path)
        if ledger == ":memory:":
            raise Invalid(
                f"this project's ledger is in memory, so each process has its own: "
                f'name a file in {FILE}, under [ledger], such as path = "discreet.ledger"'
            )
        if not is_address(ledger) and not Path(ledger).exists():
            open_project(place).close()  # creates it, as the first question would
        return open_ledger(ledger, witness=witness or declared)
    if is_address(place):
        return open_ledger(place, witness=witness)
    beside = Path(f"{os.path.abspath(place) if Path(place).is_dir() else place}.ledger")
    if not is_ledger(Path(place)) and not beside.exists():
        if not Path(place).exists() and not glob.has_magic(place):
            raise Invalid(f"there is nothing at {place}: name a data file, a {FILE} or its folder, or a ledger")
        raise Invalid(
            f"there is no ledger at {place} and none beside it, because no budget was declared yet: "
            f"write a {FILE} with `discreet init {place}`, or ask a first question with --unit and --budget"
        )
    return open_ledger(place if is_ledger(Path(place)) else beside, witness=witness)


def is_ledger(path: Path) -> bool:
    """Whether a file is a ledger, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
