"""The same for a ledger in PostgreSQL: one transaction, after which the old tables lie in a schema beside the new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger import postgres_schema as walls
from discreet.ledger.address import divided
from discreet.ledger.chain import Entry
from discreet.ledger.postgres import PostgresStorage
from discreet.ledger.postgres_server import attempt, connected, require_durable
from discreet.ledger.storage import Storage

_COLUMNS = "sequence, kind, body, previous, at, hash"


Copy = Callable[[Iterable[Entry], Sequence[Any], Storage], int]


def migrate_database(address: str, copied: Copy, before: int) -> tuple[int, str]:
    """Make a ledger of the format before one of this format; how many entries that made, and the schema of the old one."""
    target, schema = divided(address)
    old = f"{schema}_format{before}"
    connection = connected(target)
    require_durable(connection)
    storage = PostgresStorage(address, create=True)
    storage.use(connection)
    try:
        connection.execute(walls.begin_writing(30.0))
        about = attempt(lambda: connection.execute(f"SELECT application, version FROM {schema}.about FOR UPDATE").fetchall())
        if about != [(walls.APPLICATION, before)]:
            raise LedgerError(f"this is no ledger of format {before}: there is nothing to migrate. It was left as it is.")
        rows = connection.execute(f"SELECT {_COLUMNS} FROM {schema}.entries ORDER BY sequence").fetchall()
        state = connection.execute(f"SELECT sequence, head, filter FROM {schema}.state").fetchall()
        connection.execute(f"ALTER SCHEMA {schema} RENAME TO {old}")
        connection.execute(f"CREATE SCHEMA {schema}")
        for statement in walls.statements(schema):
            connection.execute(statement)
        count = copied([Entry(*row) for row in rows], state, storage)
        connection.execute("COMMIT")
    except LedgerError:
        raise
    except Exception:
        raise LedgerError("the database did not carry out the migration: nothing was changed. Run it as the owner of the tables.") from None
    finally:
        connection.close()  # which rolls back whatever was not committed
    return count, old
