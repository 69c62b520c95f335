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
from discreet.errors import EngineError
from discreet.private import Private
from discreet.tables.kind import Kind, Value

Columns: TypeAlias = dict[str, NDArray[Any]]
"""int64 for whole numbers, float64, bool; what may be missing, texts, dates and timestamps are objects, with None for what is missing."""

BATCH = 2**18  # rows

FAILED = (
    "the engine failed; what it said is not repeated, for it may contain data. Try the question with dry_run(); "
    "if that works, the owner of the data should check that its files are whole, readable and unchanged"
)


@final
@frozen
class Given:
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
    def batches(self, sql: str, given: Sequence[Given], rows: int | None) -> Iterator[Columns]:
        """Run one SELECT and yield its rows, at least one batch, of about so many rows each (or all in one); only `_guarded` calls it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the tables."""

    @final
    def run(self, sql: str, given: Sequence[Given] = ()) -> Private[Columns]:
        """Run a query over private tables; any failure is the same EngineError."""
        return Private(self._all(sql, given))

    @final
    def stream(self, sql: str, given: Sequence[Given] = ()) -> Iterator[Private[Columns]]:
        """Run a query with a long result, in batches; read it to the end before the next query."""
        for batch in self._guarded(sql, given, BATCH):
            yield Private(batch)

    @final
    def read_public(self, sql: str) -> Columns:
        """Run a query over public tables only, which the caller has made sure of."""
        return self._all(sql, ())

    def _all(self, sql: str, given: Sequence[Given]) -> Columns:
        found = list(self._guarded(sql, given, None))
        return found[0] if len(found) == 1 else {name: np.concatenate([batch[name] for batch in found]) for name in found[0]}

    def _guarded(self, sql: str, given: Sequence[Given], rows: int | None) -> Iterator[Columns]:
        """What the engine says when it fails may contain data, so it is dropped: it is not even the context of our own error."""
        running = self.batches(sql, given, rows)
        while True:
            try:
                batch = next(running)
            except StopIteration:
                return
            except Exception as error:
                said = error if isinstance(error, EngineError) and error.args == (REOPEN,) else None
                del error
            else:
                yield batch
                continue
            raise EngineError(FAILED if said is None else REOPEN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


REOPEN = "this engine was opened before the process forked: connect again in the child"
