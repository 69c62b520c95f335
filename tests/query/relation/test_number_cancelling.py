"""Numbers that cancel: what is believed of them is a fact, so that nothing overflows on a row that is there."""

from __future__ import annotations

from fractions import Fraction

import polars
import pytest

import discreet
from discreet import Refused
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.private import reveal
from discreet.query.relation.expr import field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.write import write_expr
from discreet.query.sql.pieces import read_expression
from discreet.tables.kind import Kind

SCHEMA = {
    "x": Field(Kind.REAL, Interval(Fraction(-(10**100)), Fraction(10**100)).floats()),
    "y": Field(Kind.REAL, Interval(Fraction(1, 10), Fraction(3, 10)).floats()),
    "n": Field(Kind.INTEGER, Interval(Fraction(2**62), Fraction(2**62 + 2))),
}
ONE_FLOAT = "LEAST(GREATEST(x, 549755813889.0000366), 549755813889.000036600000001)"  # both ends are one float
AWAY = f"((({ONE_FLOAT} - 549755813888.0) - 1.0) - 0.0000366)"


@pytest.mark.parametrize(
    "text", [AWAY, "y * 3 - 0.3", "(n * 1.0) - 4611686018427387904.0", "(y + 1e16) - 1e16", "y / 3 - y", "(x + 1) - x"]
)
@pytest.mark.parametrize("x", [-1e300, -1.0, 0.0, 5e-324, 549755813889.0000366, 1e300])
@pytest.mark.parametrize("y", [0.1, 0.2, 0.3])
def test_ranges_are_facts(text: str, x: float, y: float) -> None:
    frame = polars.DataFrame({"x": [min(max(x, -1e100), 1e100)], "y": [y], "n": [2**62 + 1]})
    believed = field_of(read_expression(text, SCHEMA), SCHEMA).range
    assert believed is not None
    with discreet.connect({"t": frame}, unit=discreet.each_row(), epsilon=1, ledger=":memory:") as db:
        spelled = write_expr(read_expression(text, SCHEMA), SCHEMA, DUCKDB)
        (found,) = reveal(db._engine.run(f"SELECT {spelled} AS v FROM t"))["v"].tolist()
    assert believed.low <= Fraction(found) <= believed.high


def test_an_overflow_in_disguise_is_refused() -> None:
    """Believed to be at most 10⁻¹⁵ it was 3.7·10⁻⁵, and its square times 10³¹⁹ is an error in PostgreSQL, for a row that is there."""
    frame = polars.DataFrame({"id": [1], "x": [0.5], "secret": [7]})
    with discreet.connect({"t": frame}, unit="id", epsilon=1, ledger=":memory:", contributions={"rows": 1}) as db, pytest.raises(Refused):
        db.sql(f"SELECT SUM(CASE WHEN ({AWAY}*{AWAY})*1e99*1e99*1e99*1e22 > 5 THEN 1 ELSE 0 END) AS n FROM t WHERE secret = 7").plan(0.1)
