"""A small clinic that is served: an owner, two analysts with budgets, and an auditor, each with a token."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import uvicorn
from attrs import frozen

from discreet.server.app import application
from discreet.server.clock import Clock
from discreet.server.logs import Log
from discreet.server.server import Server
from discreet.server.settings import Settings

POLICY = """
[budget]
epsilon = 10
delta = 1e-6

[tables.visits]
source = "visits.parquet"
unit = "person"
contributions = { rows = 4 }

[tables.visits.columns.cost]
bounds = [0, 500]

[tables.visits.columns.dept]
keys = ["eyes", "heart", "skin"]
"""
COUNT = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"
QUICK = Clock(first=0.05, longest=60.0)


@frozen(eq=False)
class Served:
    """A server and the tokens of its accounts."""

    server: Server
    folder: Path
    tokens: dict[str, str]

    def header(self, account: str, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[account]}", **more}


def write_clinic(folder: Path, rows: int = 2000, policy: str = POLICY) -> Path:
    """A folder with a policy and a table; the same rows every time."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    polars.DataFrame(
        {
            "person": rng.integers(0, rows // 4, rows),
            "cost": rng.gamma(2.0, 50.0, rows).round(2),
            "dept": rng.choice(["eyes", "heart", "skin"], rows),
        }
    ).write_parquet(folder / "visits.parquet")
    (folder / "discreet.toml").write_text(policy)
    return folder / "discreet.toml"


def make_server(folder: Path, clock: Clock = QUICK, log: Log | None = None, database: str | None = None, **settings: Any) -> Served:
    """A server of one clinic, with accounts: owner, ann and bob (ε = 3 each), eve, who audits."""
    policy = write_clinic(folder / "clinic")
    server = Server(Settings({"clinic": policy}, database or str(folder / "server.db"), clock=clock, rows=2000.0, **settings), log)
    server.owner_link()
    for name, role in (("ann", "analyst"), ("bob", "analyst"), ("eve", "auditor")):
        server.accounts.add(name, role, "owner")  # type: ignore[arg-type]
    data = next(iter(server.datasets))
    for name in ("ann", "bob"):
        data.ledger.grant(name, 3, "1e-7")
    tokens = {name: server.tokens.add(name, "tests", "all", 1, None, "owner")[1] for name in ("owner", "ann", "bob", "eve")}
    return Served(server, folder, tokens)


def asked(sql: str = COUNT, epsilon: float | str = 0.1, **price: Any) -> dict[str, Any]:
    """The body of a request for a release."""
    return {"request": [["sql", [sql], {}]], "price": {"epsilon": epsilon, **price}}


@contextlib.contextmanager
def listening(server: Server) -> Iterator[str]:
    """Serve on a free port of this machine, in a thread; the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = uvicorn.Server(uvicorn.Config(application(server), host="127.0.0.1", port=port, log_config=None, access_log=False))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join(timeout=30)
