"""Migrate a ledger in PostgreSQL, in one transaction; the old tables are kept in a schema beside the new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger import postgres_schema as ddl
from discreet.ledger.address import split_address
from discreet.ledger.chain import Entry
from discreet.ledger.postgres import PostgresStorage
from discreet.ledger.postgres_server import connect_to_server, require_durable, try_or_explain
from discreet.ledger.storage import Storage

_COLUMNS = "sequence, kind, body, previous, at, hash"


Carry = Callable[[int, Sequence[Entry], Sequence[Any], Storage], int]


def migrate_database(address: str, carry: Carry, older: Sequence[int]) -> tuple[int, str, int]:
    """Convert a ledger of an older format; return the number of new entries, the schema of the old ledger and its format."""
    target, schema = split_address(address)
    connection = connect_to_server(target)
    require_durable(connection)
    storage = PostgresStorage(address, create=True)
    storage.use(connection)
    try:
        connection.execute(ddl.begin_writing(30.0))
        about = try_or_explain(lambda: connection.execute(f"SELECT application, version FROM {schema}.about FOR UPDATE").fetchall())
        version = next((one for one in older if about == [(ddl.APPLICATION, one)]), None)
        if version is None:
            raise LedgerError(f"this is not a ledger of format {' or '.join(map(str, older))}, and was not changed: check the address")
        old = f"{schema}_format{version}"
        rows = connection.execute(f"SELECT {_COLUMNS} FROM {schema}.entries ORDER BY sequence").fetchall()
        state = connection.execute(f"SELECT sequence, head, filter FROM {schema}.state").fetchall()
        connection.execute(f"ALTER SCHEMA {schema} RENAME TO {old}")
        connection.execute(f"CREATE SCHEMA {schema}")
        for statement in ddl.statements(schema):
            connection.execute(statement)
        count = carry(version, [Entry(*row) for row in rows], state, storage)
        connection.execute("COMMIT")
    except LedgerError:
        raise
    except Exception:
        raise LedgerError("the database refused the migration, and nothing was changed: run it as the owner of the tables") from None
    finally:
        connection.close()  # which rolls back what was not committed
    return count, old, version
