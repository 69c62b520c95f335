"""A server that was started with a folder of data files without a policy, and accounts of all roles."""

from __future__ import annotations

from pathlib import Path

import polars
from server.clinic import QUICK, Served

from discreet.server.server import Server
from discreet.server.settings import Settings

ODD = '<img src=x onerror="alert(1)">'


def new_clinic(folder: Path) -> Served:
    """Two files in a folder, a file beside the folder, and accounts of all roles."""
    clinic = folder / "clinic"
    (clinic / "more").mkdir(parents=True)
    frame = polars.DataFrame({"patient_id": [1, 1, 2, 3], ODD: ["a", "b", "a", "b"], "cost": [10.0, 20.0, 30.0, 40.0]})
    frame.write_parquet(clinic / "visits.parquet")
    (clinic / "more" / "rooms.csv").write_text("room;floor\n1;2\n")
    (folder / "elsewhere.csv").write_text("secret\n1\n")
    server = Server(Settings({}, str(clinic / "discreet.server"), clock=QUICK, rows=2000.0, folders={"clinic": clinic}))
    server.owner_link()
    server.accounts.add("ann", "analyst", "owner")
    server.accounts.add("eve", "auditor", "owner")
    return Served(server, folder, {})
