"""A cursor: a question is asked at the price of its text or of its connection, and its answers are fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias, final

from discreet.dbapi.errors import InterfaceError, NotSupportedError, OperationalError, translated
from discreet.dbapi.settings import Settings
from discreet.dbapi.statement import Statement
from discreet.dbapi.tables import AnySession
from discreet.dbapi.types import type_code
from discreet.query.parameters import Parameters
from discreet.session.release import Release

ColumnDescription: TypeAlias = tuple[str, str | None, None, None, None, None, None]  # its name and type code; PEP 249 has five more
NOT_STORED = (
    "this connection gives stored answers only, and there is none to this question at this price: ask it once with cached_only=False, "
    "or state the price at which it was asked"
)


class Connected(Protocol):
    """What a cursor needs of its connection."""

    session: AnySession
    settings: Settings

    def plan(self, operation: str, parameters: Parameters = None) -> Any:
        """What would happen at the price of this question."""

    def shown(self, name: str) -> str:
        """A setting, or a part of the budget, as text."""

    def require_open(self) -> None:
        """Raise InterfaceError after `close`."""


@final
class Cursor:
    """Ask and fetch. `release` is the answer itself, with its receipt; None after a statement that is no question."""

    def __init__(self, connection: Connected) -> None:
        self.connection, self.arraysize, self.lastrowid = connection, 1, None
        self.description: tuple[ColumnDescription, ...] | None = None
        self.release: Release | None = None
        self._rows: list[tuple[Any, ...]] | None = None
        self._at, self._closed = 0, False

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def execute(self, operation: str, parameters: Parameters = None) -> Cursor:
        """Ask a question, and pay unless it was answered before. SET, SHOW and EXPLAIN are free.

        The price is that of the text (a comment /* epsilon=0.1 */ or OPTIONS), else that of the connection.
        """
        self._forget()
        with translated():
            self._carry_out(Statement.read(operation), parameters)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Any]) -> None:
        """Not supported: each question has a price, so ask one at a time."""
        raise NotSupportedError("each question has a price: call execute for each, or ask for groups with GROUP BY")

    def _carry_out(self, statement: Statement, parameters: Parameters) -> None:
        connection, settings = self.connection, self.connection.settings
        match statement.verb:
            case "ask":
                self.release = self._ask(statement.text, parameters, settings)
                self._hold(self.release.to_columns(settings.intervals))
            case "explain":
                self._hold({"explanation": str(connection.plan(statement.text, parameters).explain()).splitlines()})
            case "set":
                connection.settings = settings.changed(statement.text, statement.value)
            case "show":
                self._hold({statement.text: [connection.shown(statement.text)]})
            case "probe":
                self._hold({"1": [1]})
            case "nothing":
                pass

    def _ask(self, text: str, parameters: Parameters, settings: Settings) -> Release:
        session, price = self.connection.session, settings.price_of(text)
        if not settings.cached_only:
            return session.ask(text, parameters, dialect=settings.dialect, **price)
        found = session.sql(text, parameters, dialect=settings.dialect).stored(**price)
        if found is None:
            raise OperationalError(NOT_STORED)
        return found

    def _hold(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Keep rows to be fetched, and describe their columns."""
        self.description = tuple((name, type_code(values), None, None, None, None, None) for name, values in columns.items())
        self._rows = list(zip(*columns.values(), strict=True))

    def _forget(self) -> None:
        if self._closed:
            raise InterfaceError("this cursor is closed: make another with connection.cursor()")
        self.connection.require_open()
        self.description, self.release, self._rows, self._at = None, None, None, 0

    # ── fetching ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def rowcount(self) -> int:
        """How many rows the answer has; -1 if there is none."""
        return -1 if self._rows is None else len(self._rows)

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last."""
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows, `arraysize` if no number is given."""
        found = self._answer[self._at : self._at + (self.arraysize if size is None else size)]
        self._at += len(found)
        return found

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return self.fetchmany(len(self._answer))

    @property
    def _answer(self) -> list[tuple[Any, ...]]:
        if self._closed or self._rows is None:
            raise InterfaceError("there is no answer to fetch: execute a question first")
        return self._rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchone, None)

    # ── what PEP 249 asks for besides ────────────────────────────────────────────────────────────────────────────────

    def setinputsizes(self, sizes: Any) -> None:
        """Do nothing."""

    def setoutputsize(self, size: Any, column: Any = None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Forget the answer."""
        self._closed, self._rows, self.release = True, None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
