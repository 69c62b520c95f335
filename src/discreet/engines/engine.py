"""An engine reads tables, runs SQL that discreet has generated, and returns private columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.engines.dialect import Dialect
from discreet.errors import EngineError, Invalid
from discreet.private import Private
from discreet.tables.kind import Kind, Value

Columns: TypeAlias = dict[str, NDArray[Any]]
"""int64, float64 or bool where nothing is missing; else objects, as are texts, dates and timestamps, with None for NULL."""

BATCH = 2**18  # rows

FAILED = (
    "the engine failed; its message is withheld because it may contain data. Try the question with dry_run(); "
    "if that works, the data owner should check that the files are complete, readable and unchanged"
)

REOPEN = "this engine was opened before the process forked: connect again in the child process"
UNREADY = "the engine does not answer, or a table has changed since it was opened: check that it exists, then connect again"


@final
@frozen
class SentTable:
    """A table that is sent with a statement, as values and not in its text: its name, and its columns by name, kind and values.

    The values are public, but for the key of a sample, which nobody may see: so they are not in its repr.
    """

    name: str
    columns: tuple[tuple[str, Kind, Sequence[Value | None]], ...] = field(repr=False)


class Engine(ABC):
    """Access to the tables. An error from here says only that something failed, never why, for the reason may contain data."""

    name: str
    version: str
    dialect: Dialect
    tell_owner: Callable[[Exception], object] | None = None  # gets every error of the engine before it is dropped

    @abstractmethod
    def schema(self, table: str) -> dict[str, Kind | None]:
        """The columns of a table, from its stored schema and never from its values; None is a type that is not supported."""

    def untyped(self, table: str) -> tuple[str, ...]:
        """The columns whose types neither the source nor a declaration gives; they are read as texts."""
        return ()

    @abstractmethod
    def batches(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        """Run one SELECT and yield its rows in at least one batch, of about `rows` rows (None: all in one); only `_guarded` calls it."""

    @abstractmethod
    def problem(self) -> str | None:
        """Why no statement could run now, as far as that is known without reading a row; None if no reason is known.

        A broken connection is replaced here. It may raise whatever the engine raises; only `ready` calls it.
        """

    def interrupted(self, error: Exception) -> bool:
        """Whether an error is how this engine reports Ctrl-C; most engines raise KeyboardInterrupt themselves."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Release the tables and the connection."""

    @final
    def ready(self) -> None:
        """Raise EngineError unless a statement could run now; called before anything is paid.

        The message depends on the location and the schema of the tables, never on rows.
        """
        try:
            found = self.problem()
        except Exception as error:
            if is_interrupt(error) or self.interrupted(error):
                raise KeyboardInterrupt from None
            if self.tell_owner is not None:
                self.tell_owner(error)
            found = UNREADY
        if found is not None:
            raise EngineError(f"{found}. Nothing was charged")

    @final
    def run(self, sql: str, given: Sequence[SentTable] = ()) -> Private[Columns]:
        """Run a query over private tables; any failure is the same EngineError."""
        return Private(self._all(sql, given))

    @final
    def stream(self, sql: str, given: Sequence[SentTable] = ()) -> Iterator[Private[Columns]]:
        """Run a query with a long result, in batches; consume it to the end before the next query."""
        for batch in self._guarded(sql, given, BATCH):
            yield Private(batch)

    @final
    def read_public(self, sql: str) -> Columns:
        """Run a query over public tables only; the caller has checked that they are."""
        return self._all(sql, ())

    def _all(self, sql: str, given: Sequence[SentTable]) -> Columns:
        found = list(self._guarded(sql, given, None))
        return found[0] if len(found) == 1 else {name: np.concatenate([batch[name] for batch in found]) for name in found[0]}

    def _guarded(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        """Run a statement. An error of the engine may contain data, so it is dropped: it is not even the context of our own error."""
        running = self.batches(sql, given, rows)
        while True:
            try:
                batch = next(running)
            except StopIteration:
                return
            except Exception as error:
                stopped = is_interrupt(error) or self.interrupted(error)
                said = error if isinstance(error, EngineError) and error.args == (REOPEN,) else None
                if self.tell_owner is not None and not stopped:
                    self.tell_owner(error)
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
    """Whether an error was caused by Ctrl-C: a library may raise its own error while it handles the interrupt."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
