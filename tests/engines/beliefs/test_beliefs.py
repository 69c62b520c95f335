"""What is believed of every expression is true on every engine: kind, range, NULL, NaN, public keys, and the same again; nothing raises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve
from engines.beliefs import awkward
from engines.beliefs.believed import Asked, check, differing
from engines.beliefs.expressions import SHAPES, Maker, calls, expressions
from engines.beliefs.sharp import SHARP as CHOSEN
from engines.beliefs.stores import Stores

from discreet.engines.engine import Engine
from discreet.errors import Refused
from discreet.query.relation.expr import Column, Expr, call, field_of
from discreet.query.relation.functions import FUNCTIONS
from discreet.query.relation.node import PerUnit, Scan, Within
from discreet.tables.kind import Kind

SCAN, OWNED = Scan(awkward.TABLE), Scan(awkward.OWNED)


def admitted(made: Sequence[Expr]) -> list[Expr]:
    """Those that are not refused: of numbers that cancel, the true range may be too wide for what is asked."""
    found = []
    for expr in made:
        with suppress(Refused):
            field_of(expr, SCAN.schema)
            found.append(expr)
    assert len(found) > len(made) / 2
    return found


SHARP = {name: admitted(made) for name, made in CHOSEN.items()}
TOGETHER = 40  # expressions in one statement
QUICK = {"duckdb": range(2), "postgres": range(2), "spark": range(1)}
SLOW = {"duckdb": range(100, 140), "postgres": range(100, 140), "spark": range(100, 112)}
UNITS = 9
Twice = tuple[Engine, Engine]
Rows = dict[str, list[object]]


class Held:
    """Looks at expressions on an engine: what is believed is true, and every value is the same as on the first engine."""

    def __init__(self, twice: Twice, first: Engine, rows: Rows) -> None:
        self.twice, self.first, self.rows, self.evaluations = twice, first, rows, 0

    def __call__(self, made: Sequence[Expr]) -> None:
        found = check(Asked(SCAN, made, self.rows, *self.twice))
        self.evaluations += found.evaluations
        broken = found.broken
        if self.twice[0].name != self.first.name:
            broken = broken + differing(self.twice[0].name, check(Asked(SCAN, made, self.rows, self.first)).values, found.values, self.rows)
        assert not broken, f"{len(broken)} beliefs are broken\n" + "\n".join(broken[:8])


@pytest.fixture
def held(twice: Twice, first: Engine, rows: Rows) -> Held:
    return Held(twice, first, rows)


@pytest.mark.parametrize("group", SHARP)
def test_where_engines_are_known_to_differ(group: str, held: Held) -> None:
    held(SHARP[group])


@pytest.mark.slow
@pytest.mark.parametrize("group", SHARP)
def test_compiled_as_for_users(group: str, held: Held) -> None:
    """Spark compiles what it runs, a few expressions at a time here; the other tests have it interpret them, which is quicker."""
    if held.twice[0].name != "spark":
        pytest.skip("only Spark compiles")
    for engine in held.twice:
        Stores.interpret(engine, on=False)
    try:
        for start in range(0, len(SHARP[group]), 10):
            held(SHARP[group][start : start + 10])
    finally:
        for engine in held.twice:
            Stores.interpret(engine)


def test_random_expressions(held: Held) -> None:
    for seed in QUICK[held.twice[0].name]:
        held(expressions(SCAN.schema, seed, TOGETHER))
    assert held.evaluations >= 3_000


@pytest.mark.slow
def test_random_expressions_at_length(held: Held) -> None:
    for seed in SLOW[held.twice[0].name]:
        held(expressions(SCAN.schema, seed, TOGETHER))
    print(f"\n{held.twice[0].name}: {held.evaluations:,} evaluations, 0 broken beliefs")
    assert held.evaluations >= 100_000


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


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))])
def test_aggregates_within_a_unit(seed: int, twice: Twice, first: Engine) -> None:
    per_unit = PerUnit(OWNED, ("rid",), (), aggregates(seed, 36))
    # sums are taken on a grid of 2^-40 of the range, so a mean may pass its end by half of that
    asked = Asked(per_unit, [Column(name) for name, _ in per_unit.aggregates], {}, *twice, spare=Fraction(1, 2**39))
    found = check(asked)
    broken = found.broken
    if twice[0].name != first.name:
        broken = broken + differing(
            twice[0].name, check(evolve(asked, engine=first, again=None)).values, found.values, {"rid": range(UNITS)}
        )
    assert not broken, "\n".join(broken[:8])


# ── the test itself ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_function_is_reached() -> None:
    assert set(SHAPES) == set(FUNCTIONS)
    counted: dict[str, int] = {}
    for seed in QUICK["duckdb"]:
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
def test_a_wrong_rule_is_caught(what: str, first: Engine, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    belief, name, argument, changes = WRONG[what]
    asked = Asked(SCAN, [call(name, argument)], rows, first)
    assert not check(asked).broken
    wrongly(monkeypatch, name, **changes)
    broken = check(asked).broken
    assert any(line.startswith(f"duckdb: {belief}") for line in broken), broken
    assert all("expression" in line and "SQL" in line and "believed" in line for line in broken)


SPELLED = {
    "NaN": ("sqrt", "CAST('nan' AS DOUBLE)"),
    "totality": ("sqrt", "CAST({} AS INTEGER)"),
    "determinism": ("sqrt", "CASE WHEN random() < 0.5 THEN CAST({} AS DOUBLE) ELSE 1 END"),
}


@pytest.mark.parametrize("belief", SPELLED)
def test_a_wrong_spelling_is_caught(belief: str, first: Engine, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text = SPELLED[belief]
    asked = Asked(SCAN, [call(name, call("abs", Column("open")))], rows, first, first)
    monkeypatch.setitem(FUNCTIONS, name, evolve(FUNCTIONS[name], write=lambda dialect, texts, fields, out: text.format(texts[0])))
    assert any(line.startswith(f"duckdb: {belief}") for line in check(asked).broken)


def test_another_value_is_caught(first: Engine, rows: Rows) -> None:
    values = check(Asked(SCAN, [Column("r"), Column("s")], rows, first)).values
    other = {expr: list(found) for expr, found in values.items()}
    assert not differing("postgres", values, other, rows)
    place = other[Column("r")].index(0.5)
    other[Column("r")][place] = math.nextafter(0.5, 1)
    [line] = differing("postgres", values, other, rows)
    assert "expression r" in line
