"""The ledger: durable debits each second and how long one takes, in a file and in a database, from one client and from eight at once."""

from __future__ import annotations

import secrets
import statistics
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from environments import Company, running
from places import postgres
from report import Report, Table, duration
from timing import Unmeasured

CLIENTS = (1, 8)
DEBITS = 400  # of all clients together, in each turn
TURNS = 3


def run(company: Company, rounds: int) -> Report:
    """Measure both; each turn begins a new ledger."""
    with tempfile.TemporaryDirectory(prefix="benchmark-ledger-") as folder, postgres() as uri:
        places: dict[str, Callable[[], str]] = {
            "SQLite": lambda: str(Path(folder) / secrets.token_hex(8)),
            "PostgreSQL": lambda: f"{uri}?ledger=l{secrets.token_hex(8)}",
        }
        rows = [[name, str(clients), *_cells(place, clients)] for name, place in places.items() for clients in CLIENTS]
    return Report([_table(rows)])


def _table(rows: list[list[str]]) -> Table:
    return Table(
        "The ledger: durable debits",
        ["ledger", "clients", "debits a second", "median", "slowest of 100"],
        rows,
        [
            f"the best of {TURNS} turns with {DEBITS} debits in all, each turn in a new ledger; clients are processes of their own",
            "both on the same disk, both synchronous; a server on another host adds its round trips",
        ],
        labels=2,
    )


def _cells(place: Callable[[], str], clients: int) -> list[str]:
    try:
        turns = [_turn(place(), clients) for _ in range(TURNS)]
    except Unmeasured as failure:
        return [str(failure), "–", "–"]
    rate, each = max(turns)
    return [f"{rate:,.0f}", duration(statistics.median(each)), duration(statistics.quantiles(each, n=100)[-1])]


def _turn(place: str, clients: int) -> tuple[float, list[float]]:
    """Debits each second of all clients together, and the seconds of each."""
    with ExitStack() as open_things, ThreadPoolExecutor(clients) as threads:
        processes = [open_things.enter_context(running(None, "discreet_debits.py")) for _ in range(clients)]
        for process in processes:  # opening is not in the time
            process.ask(f"1 {place}")
        answers = list(threads.map(lambda process: process.ask(f"{DEBITS // clients} {place}"), processes))
    return DEBITS / max(answer["seconds"] for answer in answers), [seconds for answer in answers for seconds in answer["value"]]
