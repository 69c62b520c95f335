"""The made-up hospital, served: an owner, two analysts with budgets, and a link for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.hospital import POLICY, TABLES
from discreet.engines.duckdb.generate import write_tables
from discreet.session.project import FILE

if TYPE_CHECKING:
    from discreet.server.server import Server

_ANALYSTS = {"ann": "1.5", "bob": "1"}  # their budgets, of ε = 3 in all


def write_hospital(folder: Path) -> Path:
    """The tables and the policy of the demonstration, in a folder that names the data set."""
    place = folder / "hospital"
    place.mkdir(parents=True, exist_ok=True)
    if not (place / FILE).exists():
        write_tables(place, TABLES)
        (place / FILE).write_text(POLICY, encoding="utf-8")
    return place / FILE


def add_analysts(server: Server, say: Callable[[str], None]) -> None:
    """Two analysts with a part of the budget each; how they choose their passwords."""
    known = {account.name for account in server.accounts.all()}
    for data in server.datasets:
        for name, epsilon in _ANALYSTS.items():
            if name not in known:
                server.accounts.add(name, "analyst", "owner")
                data.ledger.grant(name, epsilon, "2e-7")
            if not any(account.name == name and account.has_password for account in server.accounts.all()):
                link = f"{server.settings.address}/welcome/{server.accounts.link(name, 'owner')}"
                say(f"{name} may spend ε = {epsilon}, and chooses a password at {link}")
