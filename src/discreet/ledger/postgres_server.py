"""A connection to the PostgreSQL server that keeps a ledger: which servers will do, and what to say of their errors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from discreet.errors import LedgerError
from discreet.ledger.history import distrust

TESTED = range(14, 19)  # major versions of PostgreSQL

# Without these a server may lose what it has confirmed. A failed fsync must stop it (data_sync_retry), for a second one may lie.
DURABLE = {"fsync": "on", "full_page_writes": "on", "data_sync_retry": "off"}
# Where the address does not say otherwise: a host that is gone is noticed, and not waited for.
_DEFAULTS = {
    "connect_timeout": "10", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "30000",
    "application_name": "discreet",
}  # fmt: skip

_FAILURES = (psycopg.Error, OSError, UnicodeError)

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")


@contextmanager
def impatience(connection: Connection, patience: float) -> Iterator[None]:
    """Ask the server to give up if the block takes too long; its own timeouts do not count while it commits."""
    timer = threading.Timer(patience, lambda: attempt(connection.cancel_safe))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def connected(address: str) -> Connection:
    """Connect, or say that the server cannot be reached."""

    def work() -> Connection:
        given: dict[str, Any] = _DEFAULTS | conninfo_to_dict(address) | {"client_encoding": "utf8"}
        return psycopg.connect(**given, autocommit=True, prepare_threshold=None)  # prepared statements and poolers do not go together

    connection = attempt(work)
    if isinstance(connection, LedgerError):
        raise unreachable()
    return connection


def require_durable(connection: Connection) -> None:
    """Refuse a server that was not tested, that may lose a commit, or that only follows another one."""
    if connection.info.server_version // 10_000 not in TESTED:
        raise LedgerError(f"the ledger's database must be PostgreSQL {TESTED[0]} to {TESTED[-1]}: keep the ledger in one of these")
    wanted = ", ".join(f"current_setting('{name}')" for name in DURABLE)
    found = attempt(lambda: connection.execute(f"SELECT pg_is_in_recovery(), {wanted}"))
    if isinstance(found, LedgerError):
        raise found
    standby, *settings = found.fetchall()[0]
    if standby:
        raise LedgerError("the ledger's database is a standby, which cannot be written: give the address of the primary server")
    for (name, wanted), value in zip(DURABLE.items(), settings, strict=True):
        if value != wanted:
            raise LedgerError(f"the ledger's database has {name} = {value}, with which a debit could be lost: set it to {wanted}")


def attempt(work: Callable[[], Result]) -> Result | LedgerError:
    """What work gives, or what to say instead; given back and not raised, so that the driver's own error is not chained to it."""
    try:
        return work()
    except _FAILURES as error:
        return explained(error)


def unreachable() -> LedgerError:
    """The error for a server that does not answer."""
    return LedgerError(
        "the ledger's database cannot be reached: check its address, that it is running and that this role may connect to it. "
        "Nothing was spent and nothing was released."
    )


def explained(error: Exception) -> LedgerError:
    """Say what to do about an error of the driver's before a commit; its own words are not repeated."""
    code = getattr(error, "sqlstate", None) or "08000"
    match code[:2]:
        case _ if code in ("55P03", "57014", "40001", "40P01"):
            return LedgerError("the ledger is busy: others kept it for too long. Nothing was spent and nothing was released. Ask again.")
        case _ if code in ("42501", "25006"):
            return LedgerError(
                "the ledger cannot be used by this role: let it use the schema, read and insert entries, read, insert and update the state "
                "and the row about the ledger, and do all of these and delete on leases. Nothing was spent or released."
            )
        case "08" | "57" | "28" | "3D" | "25":
            return unreachable()
        case "53" | "58":
            return LedgerError(
                "the ledger's database is out of room or failing. Nothing was released. Make room or repair it, then ask again."
            )
        case _:
            return distrust("PostgreSQL cannot read it, or stopped a write that breaks its rules")
