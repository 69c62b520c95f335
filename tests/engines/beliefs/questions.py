"""A thousand questions: the gauntlet's in SQL, others over rows protected one by one or through links, and plans of random expressions."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, assert_never

from engines.beliefs.expressions import Maker
from gauntlet.questions import CONTRIBUTIONS, Asked, question

from discreet.errors import Invalid, Refused
from discreet.plan.compile import compile_plan
from discreet.plan.steps import Steps
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr, columns_of, field_of
from discreet.query.relation.node import PerUnit, Relation, Scan, Select, Stack, Where, Within
from discreet.query.statistics.registry import places, registered
from discreet.query.statistics.statistic import Argument, Statistic
from discreet.session.session import Session
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions

DISCRETE = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)
NUMERIC = (Kind.INTEGER, Kind.REAL)


def in_sql(number: int, session: Callable[[str], Session]) -> Steps | None:
    """A question of the gauntlet as a plan, or None if it is refused."""
    asked = question(number)
    return _planned(asked, session(asked.adjacency))


def _planned(asked: Asked, session: Session) -> Steps | None:
    try:
        query = session.sql(asked.text, other=asked.other, contributions=asked.contributions)
        return query.plan(None if "OPTIONS" in asked.text else 8, asked.delta).steps
    except (Refused, Invalid):
        return None


def at_random(number: int, catalog: Catalog, lookup: Any) -> Steps:
    """A plan whose keys, conditions and statistics are random expressions."""
    coin = random.Random(number)
    while True:
        try:
            asked = _question(coin, catalog)
            epsilon, delta = Fraction(coin.choice([2, 8])), Fraction(coin.choice(["0", "0.001", "0.01", "0.01"]))
            return compile_plan(asked, catalog, epsilon, delta, lookup)
        except (Refused, Invalid):
            continue


def _question(coin: random.Random, catalog: Catalog) -> Question:
    relation = _relation(coin, catalog)
    maker = Maker({name: field for name, field in relation.schema.items() if not field.unit}, coin.randrange(2**60))
    if coin.random() < 0.4:
        relation = Where(relation, maker.some((Kind.BOOLEAN,), 2))
    keys = tuple((f"k{i}", _varying(maker, (coin.choice(DISCRETE),), coin.randrange(3))) for i in range(coin.choice([0, 1, 1, 2])))
    statistics = tuple((f"m{i}", _statistic(coin, maker)) for i in range(coin.choice([1, 2, 3])))
    outputs = tuple((name, Column(name)) for name, _ in (*keys, *statistics))
    contributions = Contributions.of(coin.choice(CONTRIBUTIONS)) if relation.has_id else Contributions()
    return Question(relation, keys, statistics, outputs, contributions=contributions, other=bool(keys) and coin.random() < 0.15)


def _relation(coin: random.Random, catalog: Catalog) -> Relation:
    name = coin.choice(["visits", "visits", "visits", "people", "rx", "items", "orders", "events"])
    table = catalog.table(name)
    assert table is not None
    scan: Relation = Scan(table, catalog.steps_to_unit(table))
    maker = Maker({name: field for name, field in scan.schema.items() if not field.unit}, coin.randrange(2**60))
    kind = coin.random()
    if kind < 0.15 and scan.has_id:
        keys = (("g", _varying(maker, DISCRETE, 1)),) if coin.random() < 0.5 else ()
        functions = coin.sample(["count", "count_of", "count_distinct", "sum", "mean", "min", "max"], 3)
        return PerUnit(scan, (), keys, tuple((f"x{i}", _within(function, maker)) for i, function in enumerate(functions)))
    if kind < 0.25 and scan.has_id:
        return Stack((Where(scan, maker.some((Kind.BOOLEAN,), 1)), scan))
    if kind < 0.4:
        columns = tuple((f"x{i}", _varying(maker, tuple(Kind), 2)) for i in range(4))
        return Select(scan, columns)
    return scan


def _within(function: str, maker: Maker) -> Within:
    kinds = {"sum": NUMERIC, "mean": NUMERIC, "min": (*NUMERIC, Kind.DATE, Kind.TEXT, Kind.TIMESTAMP)}
    return Within(function, None if function == "count" else _varying(maker, kinds.get(function.replace("max", "min"), DISCRETE), 1))


def _statistic(coin: random.Random, maker: Maker) -> Statistic:
    """Any registered statistic, of arguments of the kinds it takes."""
    entry = coin.choice(registered())
    spelling = coin.choice(list(entry.spellings))
    kinds = places(entry, spelling)
    left = len(kinds) - coin.randrange(entry.optional + 1)
    return entry.read(spelling, tuple(_argument(kind, coin, maker) for kind in kinds[:left]), maker.schema)


def _argument(argument: Argument, coin: random.Random, maker: Maker) -> Expr | Fraction:
    match argument:
        case Argument.SHARE:
            return Fraction(coin.choice(["0.5", "0.9"]))
        case Argument.NUMBER:
            return _varying(maker, NUMERIC, coin.randrange(3))
        case Argument.REPEATING:
            return _varying(maker, DISCRETE, coin.randrange(3))
        case Argument.CONDITION:
            return _varying(maker, (Kind.BOOLEAN,), coin.randrange(3))
        case Argument.ANY:
            return _varying(maker, tuple(Kind), coin.randrange(3))
        case _:
            assert_never(argument)


def _varying(maker: Maker, kinds: tuple[Kind, ...], depth: int) -> Expr:
    """An expression that reads some column and has a kind."""
    for _ in range(200):
        made = maker.some(kinds, depth)
        if columns_of(made) and field_of(made, maker.schema).kind in kinds:
            return made
    raise Refused("nothing of these kinds")
