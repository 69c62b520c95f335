"""Connections to the PostgreSQL server of a ledger: which servers are accepted, and what their errors mean."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from discreet.errors import LedgerError
from discreet.ledger.history import untrusted

TESTED = range(14, 19)  # major versions of PostgreSQL

# Without these a server may lose confirmed commits. A failed fsync must stop it (data_sync_retry), for a second one may succeed falsely.
DURABLE = {"fsync": "on", "full_page_writes": "on", "data_sync_retry": "off"}
# Unless the address overrides them: a host that is down is detected and not waited for.
_DEFAULTS = {
    "connect_timeout": "10", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "30000",
    "application_name": "discreet",
}  # fmt: skip

_FAILURES = (psycopg.Error, OSError, UnicodeError)

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")


@contextmanager
def cancelled_after(connection: Connection, patience: float) -> Iterator[None]:
    """Cancel the block if it takes too long; the timeouts of the server do not apply during a commit."""
    timer = threading.Timer(patience, lambda: try_or_explain(connection.cancel_safe))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def connect_to_server(address: str) -> Connection:
    """Connect, or raise that the server cannot be reached."""

    def work() -> Connection:
        given: dict[str, Any] = _DEFAULTS | conninfo_to_dict(address) | {"client_encoding": "utf8"}
        return psycopg.connect(**given, autocommit=True, prepare_threshold=None)  # connection poolers do not support prepared statements

    connection = try_or_explain(work)
    if isinstance(connection, LedgerError):
        raise unreachable()
    return connection


def require_durable(connection: Connection) -> None:
    """Refuse a server of an untested version, one that may lose a commit, and a standby."""
    if connection.info.server_version // 10_000 not in TESTED:
        raise LedgerError(f"the database of a ledger must be PostgreSQL {TESTED[0]} to {TESTED[-1]}: use a server of one of these versions")
    wanted = ", ".join(f"current_setting('{name}')" for name in DURABLE)
    found = try_or_explain(lambda: connection.execute(f"SELECT pg_is_in_recovery(), {wanted}"))
    if isinstance(found, LedgerError):
        raise found
    standby, *settings = found.fetchall()[0]
    if standby:
        raise LedgerError("the database of the ledger is a standby, which is read-only: give the address of the primary server")
    for (name, wanted), value in zip(DURABLE.items(), settings, strict=True):
        if value != wanted:
            raise LedgerError(f"the database of the ledger has {name} = {value}, with which a debit could be lost: set it to {wanted}")


def try_or_explain(work: Callable[[], Result]) -> Result | LedgerError:
    """The result of `work`, or our error; returned and not raised, so that the error of the driver is not chained to it."""
    try:
        return work()
    except _FAILURES as error:
        return as_ledger_error(error)


def unreachable() -> LedgerError:
    """The error for a server that does not answer."""
    return LedgerError(
        "the database of the ledger cannot be reached: check its address, that it is running and that this role may connect. "
        "Nothing was spent and nothing was released."
    )


def as_ledger_error(error: Exception) -> LedgerError:
    """Our error for one of the driver before a commit, with what to do; the message of the driver is not repeated."""
    code = getattr(error, "sqlstate", None) or "08000"
    match code[:2]:
        case _ if code in ("55P03", "57014", "40001", "40P01"):
            return LedgerError("the ledger is busy: others locked it for too long. Nothing was spent and nothing was released. Ask again.")
        case _ if code in ("42501", "25006"):
            return LedgerError(
                "the ledger cannot be used by this role: grant it USAGE on the schema, SELECT and INSERT on entries, SELECT, INSERT and "
                "UPDATE on state and about, and these and DELETE on leases. Nothing was spent or released."
            )
        case "08" | "57" | "28" | "3D" | "25":
            return unreachable()
        case "53" | "58":
            return LedgerError(
                "the database of the ledger is out of space or failing. Nothing was released. Free space or repair it, then ask again."
            )
        case _:
            return untrusted("PostgreSQL cannot read it, or rejected a write that violates its constraints")
