"""How an engine spells the few primitives on which exactness and totality rest."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import assert_never, final

from attrs import frozen

from discreet.tables.kind import Kind, Value


class Dialect(ABC):
    """SQL text for primitives; everything else is plain SQL that all engines share."""

    __slots__ = ()

    name: str
    inline: str  # what keeps a WITH that is read twice from being written out in between

    @abstractmethod
    def type_name(self, kind: Kind) -> str:
        """The engine's type for a kind."""

    @abstractmethod
    def is_number(self, real: str) -> str:
        """Whether a float is neither NaN nor NULL."""

    @abstractmethod
    def hash_order(self, columns: list[str], salt: str) -> str:
        """A well-mixed order on rows, the same for equal rows, fixed by the salt."""

    @abstractmethod
    def shifted(self, total: str, bits: int) -> str:
        """A large whole total divided by 2^bits, off by less than 1, moved to ±2^62 if it lies beyond, as a 64-bit number."""

    @abstractmethod
    def isqrt(self, whole: str) -> str:
        """⌊√whole⌋ for 0 ≤ whole ≤ 2^50."""

    @abstractmethod
    def floor_divide(self, whole: str, by: str) -> str:
        """⌊whole/by⌋ for whole ≥ 0 and by > 0."""

    @abstractmethod
    def bits_set(self, masks: str) -> str:
        """An aggregate: how many of 62 bits are set in any of the masks, as a 64-bit number."""

    def identifier(self, name: str) -> str:
        """A name, quoted."""
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """A text literal."""
        return "'" + value.replace("'", "''") + "'"

    def literal(self, value: Value | None) -> str:
        """A literal of any kind."""
        match value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return str(value) if value >= 0 else f"({value})"
            case Fraction():
                return self.real(value)
            case str():
                return self.text(value)
            case datetime.datetime():
                return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
            case datetime.date():
                return f"DATE '{value.isoformat()}'"
        assert_never(value)

    def real(self, value: Fraction) -> str:
        """A real literal: the nearest float, spelled so that it reads back the same."""
        return f"CAST({float(value)!r} AS {self.type_name(Kind.REAL)})"


@final
@frozen
class DuckDBDialect(Dialect):
    """DuckDB 1.2 to 2."""

    name: str = "duckdb"
    inline: str = "NOT MATERIALIZED "

    def type_name(self, kind: Kind) -> str:
        match kind:
            case Kind.BOOLEAN:
                return "BOOLEAN"
            case Kind.INTEGER:
                return "BIGINT"
            case Kind.REAL:
                return "DOUBLE"
            case Kind.TEXT:
                return "VARCHAR"
            case Kind.DATE:
                return "DATE"
            case Kind.TIMESTAMP:
                return "TIMESTAMP"
            case _:
                assert_never(kind)

    def is_number(self, real: str) -> str:
        return f"NOT isnan({real})"

    def hash_order(self, columns: list[str], salt: str) -> str:
        return f"hash({self.text(salt)}, {', '.join(columns)})"

    def shifted(self, total: str, bits: int) -> str:
        divided = f"(({total}) // {2**bits})" if bits else f"({total})"
        return f"CAST(LEAST(GREATEST(COALESCE({divided}, 0), {-(2**62)}), {2**62}) AS BIGINT)"

    def isqrt(self, whole: str) -> str:
        # √ is correctly rounded; below 2^50 it cannot round up to a whole number that the true root does not reach
        return f"CAST(FLOOR(SQRT(CAST({whole} AS DOUBLE))) AS BIGINT)"

    def floor_divide(self, whole: str, by: str) -> str:
        return f"({whole} // {by})"

    def bits_set(self, masks: str) -> str:
        return f"CAST(BIT_COUNT(BIT_OR({masks})) AS BIGINT)"


DUCKDB = DuckDBDialect()
