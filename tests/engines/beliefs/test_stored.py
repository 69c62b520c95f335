"""Whatever type a column is stored in: it is seen as one kind, no value makes an error, and what is declared of it becomes true."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest
from engines.beliefs import types
from engines.beliefs.believed import Asked, check, run
from engines.beliefs.landing import Landing
from engines.beliefs.stores import ENGINES, Stores

from discreet.engines.engine import Engine
from discreet.query.relation.expr import Column, Expr, Literal, call
from discreet.query.relation.node import Scan
from discreet.tables.column import ColumnMetadata as Declared
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow

TYPES = {"duckdb": types.DUCKDB, "postgres": types.POSTGRES, "spark": types.SPARK}
TYPED = [(engine, at) for engine in ENGINES for at in range(len(TYPES[engine]))]


@pytest.fixture(scope="module")
def landings(stores: Stores) -> dict[str, Landing]:
    return {name: Landing(name, stores) for name in ENGINES}


def variants(kind: Kind) -> list[Declared]:
    """Every way of declaring a column that changes how it is read."""
    bounds: dict[Kind, list[Any]] = {
        Kind.INTEGER: [(-3, 2), (0, 2**63 - 1), (5, 6)],
        Kind.REAL: [(-3, 2), (0.1, 0.2), (-1e50, 1e50), (1e-50, 2e-50)],
        Kind.DATE: [("2000-01-01", "2020-01-01")],
    }
    said: list[dict[str, Any]] = [{}, {"nullable": False}, {"unique": True}]
    for ends in bounds.get(kind, []):
        said += [{"bounds": ends}, {"bounds": ends, "nullable": False}]
    return [Declared.of(f"x{place}", kind, **one) for place, one in enumerate(said)]


def read_in(declared: Declared) -> list[Expr]:
    """A column as it is and in a few expressions of its kind."""
    x = Column(declared.name)
    more = {
        Kind.INTEGER: [call("abs", x), call("to_real", x), call("multiply", x, x)],
        Kind.REAL: [call("abs", x), call("exp", call("negate", call("abs", x))), call("multiply", x, x)],
        Kind.TEXT: [call("length", x), call("trim", x), call("concat", x, x), call("upper", x), call("like", x, Literal("%e%"))],
        Kind.DATE: [call("year", x), call("start_of_week", x), call("weekday", x)],
        Kind.TIMESTAMP: [call("year", x), call("hour", x), call("to_date", x), call("start_of_quarter", x)],
        Kind.BOOLEAN: [call("not", x)],
    }
    return [x, call("is_null", x), call("equal", x, x), *more[declared.kind]]


@pytest.mark.parametrize(("engine", "at"), TYPED, ids=[f"{engine}-{TYPES[engine][at].name[:30]}" for engine, at in TYPED])
def test_a_stored_type(engine: str, at: int, landings: dict[str, Landing]) -> None:
    of = TYPES[engine][at]
    declared = variants(of.kind) if of.kind is not None else [Declared.of("x0", Kind.TEXT)]
    with landings[engine].open(of, len(declared)) as opened, landings[engine].open(of, len(declared), backwards=True) as again:
        assert set(opened.schema("t").values()) == {Kind.INTEGER, of.kind}, "seen as another kind"
        if of.kind is None:
            with pytest.raises(Exception, match="x0"):
                run(opened, "SELECT x0 FROM t")
            return
        scan = Scan(Table("t", (Declared.of("rid", Kind.INTEGER), *declared), EachRow()))
        found = check(Asked(scan, [expr for one in declared for expr in read_in(one)], {}, opened, again))
        if of.kind in (Kind.DATE, Kind.TIMESTAMP):
            _check_shown(opened, of)
    assert not found.broken, "\n".join(found.broken[:6])
    if of.kind in (Kind.INTEGER, Kind.REAL):
        _check_arrived(of, found.values[Column("x2")])  # declared unique: whole numbers are read as they are


def _check_shown(engine: Engine, of: types.Type) -> None:
    """The statement of a mode: moments as texts, row by row and after what is missing was left out; each is one that Python can hold."""
    shown = run(
        engine, f"SELECT v, COUNT(*) AS n FROM (SELECT {engine.dialect.shown('x0')} AS v FROM t WHERE x0 IS NOT NULL) AS e GROUP BY v"
    )
    read = datetime.date.fromisoformat if of.kind is Kind.DATE else datetime.datetime.fromisoformat
    assert len({read(text) for text in shown["v"].tolist()}) == len(shown["v"]) > 0


def _check_arrived(of: types.Type, values: list[Any]) -> None:
    """What a kind can hold is not lost: only what it cannot hold is missing."""
    for text, value in zip(of.values, values, strict=False):
        expected = None if text == "NaN" else 1e100 * (-1 if "-" in text else 1) if "Inf" in text or len(text) > 300 else Fraction(text)
        if "0." in text and len(text) > 300:
            expected = 0
        if of.kind is Kind.INTEGER:
            assert value == (expected if expected is not None and -(2**63) <= expected < 2**63 else None)
        elif expected is None:
            assert value is None
        else:
            near = max(-1e100, min(1e100, float(expected)))  # what lies further out counts as this
            assert value == pytest.approx(near, rel=1e-7 if of.name in ("FLOAT", "real") else 1e-15, abs=1e-44)
