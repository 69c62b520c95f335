"""The primitives in DuckDB's SQL."""

from __future__ import annotations

from typing import final

from attrs import frozen

from discreet.engines.dialect import BEFORE_1970, Dialect
from discreet.engines.duckdb.parse import parsed
from discreet.tables.kind import Kind


@final
@frozen
class DuckDBDialect(Dialect):
    """DuckDB 2."""

    name: str = "duckdb"
    inline: str = "NOT MATERIALIZED "
    once: str = "MATERIALIZED "
    joins_all: bool = True
    hashes_units: bool = True
    small: str = ""
    types: tuple[str, str, str, str, str, str] = ("BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP")

    def is_number(self, real: str) -> str:
        return f"NOT isnan({real})"

    def shifted(self, total: str, bits: int) -> str:
        divided = f"(({total}) // {2**bits})" if bits else f"({total})"
        return f"CAST(LEAST(GREATEST(COALESCE({divided}, 0), {-(2**62)}), {2**62}) AS BIGINT)"

    def floor_divide(self, whole: str, by: str) -> str:
        return f"({whole} // {by})"

    def bits_set(self, masks: str) -> str:
        return f"CAST(BIT_COUNT(BIT_OR({masks})) AS BIGINT)"

    def microseconds(self, moment: str) -> str:
        return f"(EPOCH_US({moment}) + {BEFORE_1970})"

    def parsed(self, text: str, kind: Kind) -> str:
        return parsed(text, kind)


DUCKDB = DuckDBDialect()
