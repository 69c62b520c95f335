"""`discreet backup`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from discreet.cli.screen import out
from discreet.extras import require

Policies = Annotated[list[Path], Argument(metavar="POLICY…", help="The discreet.toml of each data set, or its folder.")]
Database = Annotated[
    str | None,
    Option(metavar="PLACE", envvar="DISCREET_DATABASE", help="The server's database, if it is not beside the first policy."),
]


def backup(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="A new folder for the backup.")],
    policies: Policies,
    database: Database = None,
) -> None:
    """Copy ledgers, their witnesses and the server's accounts, consistently, while they are in use; verify the copies."""
    require("argon2", "server")
    from discreet.server.backup import back_up
    from discreet.server.datasets import named
    from discreet.server.settings import database_beside

    found = named(policies)
    made = back_up(folder, found, database or database_beside(next(iter(found.values()))))
    for name, chain in made.ledgers.items():
        where = "verified" if chain.file else "in PostgreSQL: verified, and to be backed up there"
        out.print(f"{name}: {chain.length:,} entries, {where}", markup=False)
    if made.audit is not None:
        where = "verified" if made.audit.file else "in PostgreSQL: verified, and to be backed up there"
        out.print(f"accounts: {made.audit.length:,} events of the audit log, {where}", markup=False)
    out.print(f"written to {folder}; keep it where only the owner can read it", markup=False, soft_wrap=True)
