"""A dialect of SQLAlchemy 1.4 and 2, for pandas, JupySQL, marimo, Superset: `create_engine("discreet://host/visits?epsilon=0.1")`.

    discreet://host/visits                  a data set of a server, over https; the token is that of the environment (DISCREET_TOKEN),
    discreet://:TOKEN@host/visits           or the password, which SQLAlchemy never shows, or the option token=…
    discreet+http://localhost:8000/visits   the same without TLS, on this machine only
    discreet:///folder/discreet.toml        the tables of a policy, here; four slashes for an absolute path

Options follow a question mark: epsilon, delta, confidence, intervals, cached_only, dialect, analyst. Tables and columns are listed from
what is declared, so an inspector reads no private row and costs nothing.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, final

from sqlalchemy import types
from sqlalchemy.engine import default
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.sql.compiler import IdentifierPreparer

from discreet import dbapi
from discreet.dbapi.connection import Connection
from discreet.dbapi.tables import ListedTable
from discreet.tables.kind import Kind

SCHEMA = "main"  # the one schema: tools ask for a name
_TYPES: dict[Kind, Any] = {
    Kind.BOOLEAN: types.Boolean,
    Kind.INTEGER: types.BigInteger,
    Kind.REAL: types.Float,
    Kind.TEXT: types.String,
    Kind.DATE: types.Date,
    Kind.TIMESTAMP: types.DateTime,
}


@final
class _Names(IdentifierPreparer):
    """Names are written without a schema, because there is one only."""

    def schema_for_object(self, obj: Any) -> None:  # type: ignore[override]  # SQLAlchemy has a function here
        """None, whatever schema a table was given."""


@final
class DiscreetDialect(default.DefaultDialect):
    """Private questions for SQLAlchemy. A column of an answer that has an interval is followed by x_low and x_high."""

    name = "discreet"
    driver = "https"
    default_paramstyle = "qmark"
    preparer: Any = _Names
    supports_statement_cache = True
    supports_native_boolean = True
    supports_alter = False
    supports_sane_rowcount = False
    supports_default_values = False
    div_is_floordiv = False  # a / b divides without a cast
    postfetch_lastrowid = False
    returns_unicode_strings = True  # for 1.4, which else runs questions to find out
    supports_unicode_statements = True
    description_encoding = None
    max_identifier_length = 10_000
    default_schema_name = SCHEMA

    # ── connecting ───────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The DB-API module, as SQLAlchemy 2 asks for it."""
        return dbapi

    @classmethod
    def dbapi(cls) -> ModuleType:  # type: ignore[override]  # 1.4 asks for it under this name, and 2 sets it on the instance
        """The same, as SQLAlchemy 1.4 asks for it."""
        return dbapi

    def create_connect_args(self, url: Any) -> Any:
        """The arguments of `dbapi.connect` from a URL."""
        options = dict(url.query)
        if not url.host or not url.database:
            return [url.database or ""], options
        scheme = "http" if url.drivername.endswith("+http") else "https"
        port = "" if url.port is None else f":{url.port}"
        host = f"[{url.host}]" if ":" in url.host else url.host
        if url.password is not None:
            options.setdefault("token", str(url.password))
        return [f"{scheme}://{host}{port}/{url.database}"], options

    def initialize(self, connection: Any) -> None:
        """Nothing is asked when the first connection is made."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the connection is open; no question is asked."""
        dbapi_connection.require_open()
        return True

    def get_isolation_level_values(self, dbapi_connection: Any) -> Any:
        """There are no transactions."""
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        """Always AUTOCOMMIT."""
        return "AUTOCOMMIT"

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        """Always AUTOCOMMIT."""
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        """Do nothing."""

    def reset_isolation_level(self, dbapi_connection: Any) -> None:
        """Do nothing."""

    # ── what an inspector asks: from what is declared ────────────────────────────────────────────────────────────────

    def get_schema_names(self, connection: Any, **_: Any) -> list[str]:
        """The one schema."""
        return [SCHEMA]

    def get_table_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """The tables."""
        return [table.name for table in self._tables(connection, schema)]

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Whether there is such a table."""
        return table_name in self.get_table_names(connection, schema)

    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> Any:
        """The columns of a table, with their types."""
        return [
            {"name": one.name, "type": _TYPES[one.kind](), "nullable": one.nullable, "default": None, "comment": one.comment}
            for one in self._table(connection, table_name, schema).columns
        ]

    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> Any:
        """Whether the table is public or private."""
        return {"text": self._table(connection, table_name, schema).comment or "private: asked for statistics, never for rows"}

    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> Any:
        """No key is known: whether values are unique is not declared."""
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        """None."""
        return []

    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        """None."""
        return []

    def get_unique_constraints(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        """None."""
        return []

    def get_check_constraints(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        """None."""
        return []

    def get_view_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """None."""
        return []

    def get_temp_table_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """None."""
        return []

    def get_temp_view_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """None."""
        return []

    def get_sequence_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """None."""
        return []

    def _tables(self, connection: Any, schema: str | None) -> tuple[ListedTable, ...]:
        own = getattr(connection.connection, "dbapi_connection", None) or connection.connection
        assert isinstance(own, Connection), "the engine connects with our own module"
        return own.tables() if schema in (None, SCHEMA) else ()

    def _table(self, connection: Any, name: str, schema: str | None) -> ListedTable:
        found = next((table for table in self._tables(connection, schema) if table.name == name), None)
        if found is None:
            raise NoSuchTableError(name)
        return found
