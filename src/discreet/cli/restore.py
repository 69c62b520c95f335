"""`discreet restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from discreet.cli.backup import Database, Policies
from discreet.cli.screen import out
from discreet.extras import require


def restore(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="What `discreet backup` wrote.")],
    policies: Policies,
    database: Database = None,
    older: Annotated[
        bool, Option("--older", help="Restore even if a witness knows of more: what was spent or revoked since is forgotten.")
    ] = False,
) -> None:
    """Put a backup in its place, with the server stopped; what is there now is kept beside it."""
    require("argon2", "server")
    from discreet.server.datasets import named
    from discreet.server.restore import restore as put_back
    from discreet.server.settings import database_beside

    found = named(policies)
    for line in put_back(folder, found, database or database_beside(next(iter(found.values()))), older):
        out.print(line, markup=False, soft_wrap=True)
