"""Tables of the contract in Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from engines.contract.places import ZONE, Place, Stored

from discreet.engines.engine import Engine
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.engine import Spark
from discreet.tables.kind import Kind

_ARROW = dict(zip(Kind, (pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.date32(), pa.timestamp("us")), strict=True))
_ODD = {
    "spark.sql.session.timeZone": ZONE,
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}


class InSpark(Place):
    """DataFrames of a session."""

    zoned = "TIMESTAMP_LTZ"

    def __init__(self, spark: Any) -> None:
        self._user = spark.newSession()
        for name, value in _ODD.items():
            self._user.conf.set(name, value)
        self._opened: list[Engine] = []

    def open(self, tables: Stored) -> Engine:
        engine = Spark.open({name: self._frame(columns) for name, columns in tables.items()})
        self._opened.append(engine)
        return engine

    def _frame(self, columns: Mapping[str, tuple[Kind | str, Sequence[Any]]]) -> Any:
        types = {name: kind if isinstance(kind, str) else SPARK.type_name(kind) for name, (kind, _) in columns.items()}
        table = pa.table(
            {name: pa.array(values, pa.string() if isinstance(kind, str) else _ARROW[kind]) for name, (kind, values) in columns.items()}
        )
        plain = {name: "STRING" if isinstance(columns[name][0], str) else types[name] for name in columns}
        frame = self._user.createDataFrame(table, ", ".join(f"{SPARK.identifier(name)} {kind}" for name, kind in plain.items()))
        return frame.selectExpr(*(f"CAST({SPARK.identifier(name)} AS {kind}) AS {SPARK.identifier(name)}" for name, kind in types.items()))

    def close(self) -> None:
        for engine in self._opened:
            engine.close()
