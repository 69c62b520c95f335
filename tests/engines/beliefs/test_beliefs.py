"""What is believed of every expression is true on every engine: kind, range, NULL, NaN, public keys, and the same again; nothing raises."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve
from engines.beliefs import awkward
from engines.beliefs.believed import Asked, Found, check
from engines.beliefs.expressions import SHAPES, Maker, calls, expressions
from engines.beliefs.sharp import SHARP
from engines.beliefs.stores import Stores

from discreet.engines.engine import Engine
from discreet.errors import Refused
from discreet.relation.expr import Column, Expr, call
from discreet.relation.functions import FUNCTIONS
from discreet.relation.node import PerUnit, Scan, Within
from discreet.tables.kind import Kind

SCAN, OWNED = Scan(awkward.TABLE), Scan(awkward.OWNED)
TOGETHER = 40  # expressions in one statement
QUICK, SLOW = range(2), {"duckdb": range(100, 140), "postgres": range(100, 130), "spark": range(100, 112)}
Twice = tuple[Engine, Engine]
Rows = dict[str, list[object]]


def held(found: Found) -> None:
    assert not found.broken, f"{len(found.broken)} beliefs are broken\n" + "\n".join(found.broken[:8])


def of(twice: Twice, made: Sequence[Expr], rows: Rows) -> Asked:
    return Asked(SCAN, made, rows, *twice)


@pytest.mark.parametrize("group", SHARP)
def test_where_engines_are_known_to_differ(group: str, twice: Twice, rows: Rows) -> None:
    held(check(of(twice, SHARP[group], rows)))


@pytest.mark.slow
@pytest.mark.parametrize("group", SHARP)
def test_compiled_as_for_users(group: str, twice: Twice, rows: Rows) -> None:
    """Spark compiles what it runs, a few expressions at a time here; the other tests have it interpret them, which is quicker."""
    if twice[0].name != "spark":
        pytest.skip("only Spark compiles")
    for engine in twice:
        Stores.interpret(engine, on=False)
    try:
        for start in range(0, len(SHARP[group]), 10):
            held(check(of(twice, SHARP[group][start : start + 10], rows)))
    finally:
        for engine in twice:
            Stores.interpret(engine)


@pytest.mark.parametrize("seed", QUICK)
def test_random_expressions(seed: int, twice: Twice, rows: Rows) -> None:
    found = check(of(twice, expressions(SCAN.schema, seed, TOGETHER), rows))
    held(found)
    assert found.evaluations >= 3_000


@pytest.mark.slow
def test_random_expressions_at_length(twice: Twice, rows: Rows) -> None:
    found = Found()
    for seed in SLOW[twice[0].name]:
        part = check(of(twice, expressions(SCAN.schema, seed, TOGETHER), rows))
        found.evaluations += part.evaluations
        found.broken += part.broken
    print(f"\n{twice[0].name}: {found.evaluations} evaluations, {len(found.broken)} broken beliefs")
    held(found)
    assert found.evaluations >= 100_000


def aggregates(seed: int, count: int) -> tuple[tuple[str, Within], ...]:
    """Aggregates within a unit, of random expressions."""
    maker = Maker({name: field for name, field in OWNED.schema.items() if name != "who"}, seed)
    made: list[tuple[str, Within]] = []
    while len(made) < count:
        function = ("count_of", "count_distinct", "sum", "mean", "min", "max")[len(made) % 6]
        kinds = (Kind.INTEGER, Kind.REAL) if function in ("sum", "mean") else tuple(Kind)
        within = Within(function, maker.some(kinds, maker.coin.randrange(3)))
        try:
            if PerUnit(OWNED, ("rid",), (), (("x", within),)).schema["x"].kind is not None:
                made.append((f"a{len(made)}", within))
        except Refused:
            continue
    return (*made, ("all", Within("count")))


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_aggregates_within_a_unit(seed: int, twice: Twice) -> None:
    per_unit = PerUnit(OWNED, ("rid",), (), aggregates(seed, 36))
    # sums are taken on a grid of 2^-40 of the range, so a mean may pass its end by half of that
    held(check(Asked(per_unit, [Column(name) for name, _ in per_unit.aggregates], {}, *twice, spare=Fraction(1, 2**39))))


# ── the test itself ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_function_is_reached() -> None:
    assert set(SHAPES) == set(FUNCTIONS)
    counted: dict[str, int] = {}
    for seed in QUICK:
        for expr in expressions(SCAN.schema, seed, TOGETHER):
            for inner in calls(expr):
                counted[inner.function] = counted.get(inner.function, 0) + 1
    assert set(counted) == set(FUNCTIONS)


def wrongly(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Have something false believed of a function."""
    right = FUNCTIONS[name]

    def rule(fields: Any) -> Any:
        return evolve(right.rule(fields), **{key: made(right.rule(fields)) for key, made in changes.items()})

    monkeypatch.setitem(FUNCTIONS, name, evolve(right, rule=rule))


def _shrunk(low: int | None = None, high: int | None = None) -> Any:
    def change(field: Any) -> Any:
        ends = {"low": Fraction(low)} if low is not None else {}
        return evolve(field.range, **(ends | ({"high": Fraction(high)} if high is not None else {})))

    return change


WRONG = {
    "abs is at least 1": ("range", "abs", Column("r"), {"range": _shrunk(low=1)}),
    "abs of whole numbers is at least 1": ("range", "abs", Column("i"), {"range": _shrunk(low=1)}),
    "texts have at most 3 characters": ("range", "length", Column("s"), {"range": _shrunk(high=3)}),
    "ln is below 2": ("range", "ln", Column("p"), {"range": _shrunk(high=2)}),
    "roots are never missing": ("nullability", "sqrt", Column("wee"), {"nullable": lambda _: False}),
    "lengths are real": ("kind", "length", Column("s"), {"kind": lambda _: Kind.REAL}),
    "there are three quarters": ("public keys", "quarter", Column("d"), {"keys": lambda _: (1, 2, 3)}),
    "weekdays end on Friday": ("range", "weekday", Column("d"), {"range": _shrunk(high=5)}),
    "months are days": ("kind", "month", Column("d"), {"kind": lambda _: Kind.DATE}),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_rule_is_caught(what: str, twice: Twice, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    belief, name, argument, changes = WRONG[what]
    expr = call(name, argument)
    assert not check(of(twice, [expr], rows)).broken
    wrongly(monkeypatch, name, **changes)
    broken = check(of(twice, [expr], rows)).broken
    assert any(line.startswith(f"{twice[0].name}: {belief}") for line in broken), broken
    assert all("expression" in line and "SQL" in line and "believed" in line for line in broken)
