"""An engine: reads tables, runs the SQL that we wrote ourselves, and gives private columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.engines.dialect import Dialect
from discreet.errors import EngineError, Invalid
from discreet.private import Private
from discreet.tables.kind import Kind, Value

Columns: TypeAlias = dict[str, NDArray[Any]]
"""int64 for whole numbers, float64, bool; what may be missing, texts, dates and timestamps are objects, with None for what is missing."""

BATCH = 2**18  # rows

FAILED = (
    "the engine failed; what it said is not repeated, for it may contain data. Try the question with dry_run(); "
    "if that works, the owner of the data should check that its files are whole, readable and unchanged"
)

REOPEN = "this engine was opened before the process forked: connect again in the child"
UNREADY = "the engine does not answer, or a table is not as it was when it was opened: check that it is there, then connect again"


@final
@frozen
class PublicTable:
    """A table of public values that goes to the engine with a statement: its name, and its columns by name, kind and values."""

    name: str
    columns: tuple[tuple[str, Kind, Sequence[Value | None]], ...]


class Engine(ABC):
    """Where the tables are; nothing that goes wrong here may say more than that it went wrong."""

    name: str
    version: str
    dialect: Dialect

    @abstractmethod
    def schema(self, table: str) -> dict[str, Kind | None]:
        """The columns of a table, by its declared schema and never by its values; None is a type that we do not use."""

    @abstractmethod
    def batches(self, sql: str, given: Sequence[PublicTable], rows: int | None) -> Iterator[Columns]:
        """Run one SELECT and yield its rows, at least one batch, of about so many rows each (or all in one); only `_guarded` calls it."""

    @abstractmethod
    def problem(self) -> str | None:
        """Why no statement could be run now, as far as that is known without reading a row; None if nothing is known to be in the way.

        A connection that broke is replaced here. It may raise whatever the engine raises; only `ready` calls it.
        """

    def interrupted(self, error: Exception) -> bool:
        """Whether an error is how this engine says that somebody pressed Ctrl-C; most raise KeyboardInterrupt themselves."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Let go of the tables."""

    @final
    def ready(self) -> None:
        """Raise EngineError unless a statement could be run now; called before anything is paid.

        What it says depends on where the tables are and on their schemas, never on rows.
        """
        try:
            found = self.problem()
        except Exception as error:
            if is_interrupt(error) or self.interrupted(error):
                raise KeyboardInterrupt from None
            found = UNREADY
        if found is not None:
            raise EngineError(f"{found}. Nothing was charged")

    @final
    def run(self, sql: str, given: Sequence[PublicTable] = ()) -> Private[Columns]:
        """Run a query over private tables; any failure is the same EngineError."""
        return Private(self._all(sql, given))

    @final
    def stream(self, sql: str, given: Sequence[PublicTable] = ()) -> Iterator[Private[Columns]]:
        """Run a query with a long result, in batches; read it to the end before the next query."""
        for batch in self._guarded(sql, given, BATCH):
            yield Private(batch)

    @final
    def read_public(self, sql: str) -> Columns:
        """Run a query over public tables only, which the caller has made sure of."""
        return self._all(sql, ())

    def _all(self, sql: str, given: Sequence[PublicTable]) -> Columns:
        found = list(self._guarded(sql, given, None))
        return found[0] if len(found) == 1 else {name: np.concatenate([batch[name] for batch in found]) for name in found[0]}

    def _guarded(self, sql: str, given: Sequence[PublicTable], rows: int | None) -> Iterator[Columns]:
        """What the engine says when it fails may contain data, so it is dropped: it is not even the context of our own error."""
        running = self.batches(sql, given, rows)
        while True:
            try:
                batch = next(running)
            except StopIteration:
                return
            except Exception as error:
                stopped = is_interrupt(error) or self.interrupted(error)
                said = error if isinstance(error, EngineError) and error.args == (REOPEN,) else None
                del error
            else:
                yield batch
                continue
            if stopped:
                raise KeyboardInterrupt
            raise EngineError(FAILED if said is None else REOPEN)

    @final
    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("an engine holds a connection and cannot be copied or pickled: open one where it is needed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error stands for Ctrl-C: a library may raise one of its own while it handles the interrupt."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
