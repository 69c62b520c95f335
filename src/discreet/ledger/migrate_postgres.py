"""Migrate a ledger in PostgreSQL, in one transaction; the old tables are kept in a schema beside the new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger import postgres_schema as ddl
from discreet.ledger.address import split_address
from discreet.ledger.chain import Entry
from discreet.ledger.postgres import PostgresStorage
from discreet.ledger.postgres_server import connect_to_server, require_durable, try_or_explain
from discreet.ledger.storage import Storage

_COLUMNS = "sequence, kind, body, previous, at, hash"


Copy = Callable[[Iterable[Entry], Sequence[Any], Storage], int]


def migrate_database(address: str, copied: Copy, before: int) -> tuple[int, str]:
    """Convert a ledger of the previous format; return the number of new entries, and the schema of the old ledger."""
    target, schema = split_address(address)
    old = f"{schema}_format{before}"
    connection = connect_to_server(target)
    require_durable(connection)
    storage = PostgresStorage(address, create=True)
    storage.use(connection)
    try:
        connection.execute(ddl.begin_writing(30.0))
        about = try_or_explain(lambda: connection.execute(f"SELECT application, version FROM {schema}.about FOR UPDATE").fetchall())
        if about != [(ddl.APPLICATION, before)]:
            raise LedgerError(f"this is not a ledger of format {before}, and was not changed: check the address")
        rows = connection.execute(f"SELECT {_COLUMNS} FROM {schema}.entries ORDER BY sequence").fetchall()
        state = connection.execute(f"SELECT sequence, head, filter FROM {schema}.state").fetchall()
        connection.execute(f"ALTER SCHEMA {schema} RENAME TO {old}")
        connection.execute(f"CREATE SCHEMA {schema}")
        for statement in ddl.statements(schema):
            connection.execute(statement)
        count = copied([Entry(*row) for row in rows], state, storage)
        connection.execute("COMMIT")
    except LedgerError:
        raise
    except Exception:
        raise LedgerError("the database refused the migration, and nothing was changed: run it as the owner of the tables") from None
    finally:
        connection.close()  # which rolls back what was not committed
    return count, old
