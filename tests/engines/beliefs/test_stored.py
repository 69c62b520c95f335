"""Whatever type a column is stored in: it is seen as one kind, no value makes an error, and what is declared of it becomes true."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from engines.beliefs import types
from engines.beliefs.believed import Asked, check, run
from engines.beliefs.landing import Landing
from engines.beliefs.stores import ENGINES, Stores

from discreet.engines.engine import Engine
from discreet.relation.expr import Column, Expr, Literal, call
from discreet.relation.node import Scan
from discreet.tables.column import Column as Declared
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
    made = [Declared.of("x", kind), Declared.of("x", kind, nullable=False), Declared.of("x", kind, unique=True)]
    for ends in bounds.get(kind, []):
        made += [Declared.of("x", kind, bounds=ends), Declared.of("x", kind, bounds=ends, nullable=False)]
    return made


def read_in(kind: Kind) -> list[Expr]:
    """A column as it is and in a few expressions of its kind."""
    x = Column("x")
    more = {
        Kind.INTEGER: [call("abs", x), call("to_real", x), call("add", x, x), call("multiply", x, x)],
        Kind.REAL: [call("abs", x), call("exp", call("negate", call("abs", x))), call("multiply", x, x)],
        Kind.TEXT: [call("length", x), call("trim", x), call("concat", x, x), call("upper", x), call("like", x, Literal("%e%"))],
        Kind.DATE: [call("year", x), call("start_of_week", x), call("weekday", x)],
        Kind.TIMESTAMP: [call("year", x), call("hour", x), call("to_date", x), call("start_of_quarter", x)],
        Kind.BOOLEAN: [call("not", x)],
    }
    return [x, call("is_null", x), call("equal", x, x), *more[kind]]


@pytest.mark.parametrize(("engine", "at"), TYPED, ids=[f"{engine}-{TYPES[engine][at].name[:30]}" for engine, at in TYPED])
def test_a_stored_type(engine: str, at: int, landings: dict[str, Landing]) -> None:
    of = TYPES[engine][at]
    with landings[engine].open(of) as opened, landings[engine].open(of, backwards=True) as again:
        assert opened.schema("t")["x"] == of.kind, "seen as another kind"
        if of.kind is None:
            with pytest.raises(Exception, match="x"):
                run(opened, "SELECT x FROM t")
            return
        broken = []
        for declared in variants(of.kind):
            scan = Scan(Table("t", (Declared.of("rid", Kind.INTEGER), declared), EachRow()))
            broken += check(Asked(scan, read_in(of.kind), {}, opened, again)).broken
    assert not broken, "\n".join(broken[:6])


def values(opened: Engine) -> list[Any]:
    with opened:
        found = run(opened, "SELECT rid, x FROM t")
    return [value for _, value in sorted(zip(found["rid"].tolist(), found["x"].tolist(), strict=True))]


@pytest.mark.parametrize(("engine", "at"), TYPED, ids=[f"{engine}-{TYPES[engine][at].name[:30]}" for engine, at in TYPED])
def test_ordinary_values_arrive(engine: str, at: int, landings: dict[str, Landing]) -> None:
    """What a kind can hold is not lost: only what it cannot hold is missing."""
    of = TYPES[engine][at]
    if of.kind not in (Kind.INTEGER, Kind.REAL):
        return
    for text, value in zip([*of.values, None], values(landings[engine].open(of)), strict=True):
        if text is not None and len(text) > 400:
            continue  # beyond all floats
        expected = None if text is None or text == "NaN" else float(text) if "Inf" in text else Fraction(text)
        if of.kind is Kind.INTEGER and expected is not None and not -(2**63) <= expected < 2**63:
            expected = None
        if expected is None:
            assert value is None
        elif of.kind is Kind.INTEGER:
            assert value == expected
        elif abs(expected) < 10**300:
            assert value == pytest.approx(float(expected), rel=1e-7 if of.name in ("FLOAT", "real") else 1e-15, abs=1e-44)
