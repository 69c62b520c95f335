"""Data sets of a server: `--server URL` or DISCREET_SERVER says which server, DISCREET_TOKEN who asks."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from discreet import exact
from discreet.errors import Invalid

SERVER = "DISCREET_SERVER"
Server = Annotated[
    str | None,
    Option(metavar="URL", help=f"A server whose data set DATA names (or {SERVER}); the token is read from DISCREET_TOKEN."),
]


def address_of(data: str, server: str | None) -> str | None:
    """The address of a data set on a server; None if DATA is on this machine.

    DATA may be an address itself. With --server it is the name of a data set there; with DISCREET_SERVER too, unless there is such a file.
    """
    if data.lower().startswith(("https://", "http://")):
        if server is not None:
            raise Invalid("DATA is an address already: leave out --server, or give the name of a data set")
        return data
    if server is not None:
        if not data.isidentifier():
            raise Invalid(
                "with --server, DATA is the name of a data set there: write for example discreet ask visits … --server https://host"
            )
        return f"{server.rstrip('/')}/{data}"
    usual = os.environ.get(SERVER)
    return f"{usual.rstrip('/')}/{data}" if usual and data.isidentifier() and not Path(data).exists() else None


def remote_account(db: Any) -> dict[str, Any]:
    """The state of an account's budget as plain values, as `discreet budget` shows it."""
    about, budget = db.about, db.budget
    amounts = {name: {"epsilon": budget[name]["epsilon"], "delta": budget[name]["delta"]} for name in ("granted", "spent", "remaining")}
    return {
        "protected": about["protects"],
        "adjacency": about["adjacency"],
        "budget": amounts["granted"],
        "spent": amounts["spent"],
        "remaining": amounts["remaining"],
        "remaining_means": budget["remaining"]["meaning"],
        "renews": budget.get("renews"),
        "analysts": {},
        "history": [
            {"entry": "", "received": False} | one | {name: _exactly(one[name]) for name in ("epsilon", "delta")} for one in db.history()
        ],
    }


def _exactly(amount: float) -> str | None:
    return None if math.isinf(amount) else str(exact.rational(amount))
