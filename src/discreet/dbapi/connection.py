"""A connection to private tables, here or behind a server: one session, and the price of a question that states none."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self, final

from discreet.dbapi import errors
from discreet.dbapi.cursor import Cursor
from discreet.dbapi.errors import InterfaceError, translated
from discreet.dbapi.settings import Settings
from discreet.dbapi.tables import AnySession, ListedTable, listed_tables
from discreet.errors import Invalid
from discreet.query.parameters import Parameters
from discreet.session.connect import connect as connect_session
from discreet.session.remote.session import RemoteSession
from discreet.session.session import Session


def connect(
    data: str | os.PathLike[str] | AnySession, *, token: str | None = None, analyst: str | None = None, **options: Any
) -> Connection:
    """Connect to a data set of a server ("https://host/visits"), to the tables of a `discreet.toml`, or to an open session.

    `token` (or the environment variable DISCREET_TOKEN) says who asks a server; `analyst` who asks here, where analysts have budgets of
    their own. Options: `epsilon` and `delta`, the price of a question that states none; `confidence` of intervals; `intervals=False` leaves
    out the columns x_low and x_high; `cached_only=True` gives stored answers only and never pays; `dialect` of the SQL.
    """
    with translated():
        settings = Settings()
        for name, value in options.items():
            settings = settings.changed(name, value)
        if isinstance(data, Session | RemoteSession):
            return Connection(data, settings, owned=False)
        if not os.fspath(data):
            raise Invalid("the address names no data set: it looks like https://host/visits, or is the path of a discreet.toml")
        return Connection(connect_session(data, token=token, analyst=analyst), settings)


@final
class Connection:
    """A session with settings. There are no transactions: what was paid stays paid, so `commit` and `rollback` do nothing."""

    Warning: ClassVar = errors.Warning
    Error: ClassVar = errors.Error
    InterfaceError: ClassVar = errors.InterfaceError
    DatabaseError: ClassVar = errors.DatabaseError
    DataError: ClassVar = errors.DataError
    OperationalError: ClassVar = errors.OperationalError
    IntegrityError: ClassVar = errors.IntegrityError
    InternalError: ClassVar = errors.InternalError
    ProgrammingError: ClassVar = errors.ProgrammingError
    NotSupportedError: ClassVar = errors.NotSupportedError
    autocommit = True

    def __init__(self, session: AnySession, settings: Settings, *, owned: bool = True) -> None:
        self.session, self.settings = session, settings
        self._owned, self._closed = owned, False  # whether closing this closes the session

    def cursor(self) -> Cursor:
        """A new cursor."""
        self.require_open()
        return Cursor(self)

    def execute(self, operation: str, parameters: Parameters = None) -> Cursor:
        """A new cursor with the answer to a question."""
        return self.cursor().execute(operation, parameters)

    # ── looking, which is free ───────────────────────────────────────────────────────────────────────────────────────

    def tables(self) -> tuple[ListedTable, ...]:
        """The tables and columns, as they are declared."""
        self.require_open()
        return listed_tables(self.session)

    def plan(self, operation: str, parameters: Parameters = None) -> Any:
        """What would happen at the price of this question; reads no private row and spends nothing."""
        self.require_open()
        with translated():
            price = self.settings.price_of(operation)
            return self.session.sql(operation, parameters, dialect=self.settings.dialect).plan(**price)

    def shown(self, name: str) -> str:
        """A setting as text, or what remains or was spent of the budget."""
        amounts = {"remaining": lambda: self.session.remaining, "spent": lambda: self.session.spent}
        return amounts[name]().written if name in amounts else self.settings.shown(name)

    # ── what PEP 249 asks for besides ────────────────────────────────────────────────────────────────────────────────

    def require_open(self) -> None:
        """Raise InterfaceError after `close`."""
        if self._closed:
            raise InterfaceError("this connection is closed: connect again")

    def commit(self) -> None:
        """Do nothing: every payment is durable before data is read."""
        self.require_open()

    def rollback(self) -> None:
        """Do nothing: what was paid and received cannot be taken back."""
        self.require_open()

    def close(self) -> None:
        """Close the session, unless it was open before."""
        if self._owned and not self._closed:
            self.session.close()
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Connection({self.session!r})" if not self._closed else "Connection(closed)"
