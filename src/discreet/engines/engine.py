"""An engine: reads tables, runs the SQL that we wrote ourselves, and gives private columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self, TypeAlias

from numpy.typing import NDArray

from discreet.private import Private
from discreet.tables.kind import Kind

Columns: TypeAlias = dict[str, NDArray[Any]]
"""int64 for whole numbers, float64, bool; what may be missing, texts, dates and timestamps are objects, with None for what is missing."""

FAILED = (
    "the engine failed; what it said is not repeated, for it may contain data. Try the question with dry_run(); "
    "if that works, the owner of the data should check that its files are whole, readable and unchanged"
)


class Engine(ABC):
    """Where the tables are; nothing that goes wrong here may say more than that it went wrong."""

    name: str
    version: str

    @abstractmethod
    def schema(self, table: str) -> dict[str, Kind | None]:
        """The columns of a table, by its declared schema and never by its values; None is a type that we do not use."""

    @abstractmethod
    def run(self, sql: str) -> Private[Columns]:
        """Run a query over private tables; any failure is the same EngineError."""

    @abstractmethod
    def read_public(self, sql: str) -> Columns:
        """Run a query over public tables only, which the caller has made sure of."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the tables."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
