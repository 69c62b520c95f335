"""Votes for the most popular value are the same whole numbers on every engine."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from typing import Any

import pytest
from engines.contract.asked import EngineOf, columns

from discreet.plan.bounding import Votes
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Scan
from discreet.run.source import Source
from discreet.run.write import write_votes
from discreet.tables.column import ColumnMetadata as Declared
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

DAYS = [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]
VALUES: dict[Kind, list[Any]] = {
    Kind.TEXT: ["a", "A", "a ", "", "é", None],
    Kind.INTEGER: [0, -1, 2**63 - 1, -(2**63), None],
    Kind.BOOLEAN: [True, False, None],
    Kind.DATE: DAYS,
}
GROUPS = ["x", "X", "y", None]


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.value)
def test_each_unit_votes_once_for_each_value(engine_of: EngineOf, kind: Kind) -> None:
    rng = random.Random(kind.value)
    rows = [(rng.choice([*range(9), None]), rng.choice([*GROUPS, "z"]), rng.choice(VALUES[kind])) for _ in range(300)]
    rows += [(10, "x", VALUES[kind][0])] * 40
    units, keys, values = (list(column) for column in zip(*rows, strict=True))
    engine = engine_of({"t": {"u": (Kind.INTEGER, units), "k": (Kind.TEXT, keys), "x": (kind, values)}})
    declared = (Declared.of("u", Kind.INTEGER), Declared.of("k", Kind.TEXT), Declared.of("x", kind))
    relation = Scan(Table("t", declared, Person("u")))
    shown = engine.dialect.shown("__e0") if kind is Kind.DATE else "__e0"
    for how in (Votes(1, 1024), Votes(2, 1024), Votes(3, 7)):
        statement = write_votes(
            Source(relation, (("k", Column("k")),), tuple((key,) for key in GROUPS), engine.dialect), Column("x"), shown, how
        )
        found = columns(engine, statement.text, statement.given)
        got = {(k, v): w for k, v, w in zip(*(found[name].tolist() for name in ("k0", "v", "w")), strict=True)}
        assert got == expected(rows, how)
    statement = write_votes(Source(relation, (), None, engine.dialect), Column("x"), shown, Votes(1, 1))
    found = columns(engine, statement.text)
    ballots = {(u, sent(v)) for u, _, v in rows if u is not None and v is not None}
    assert dict(zip(found["v"].tolist(), found["w"].tolist(), strict=True)) == Counter(v for _, v in ballots)


def sent(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def expected(rows: list[tuple[Any, Any, Any]], how: Votes) -> dict[tuple[Any, Any], int]:
    """By the definition."""
    ballots = {(u, k, sent(v)) for u, k, v in rows if u is not None and v is not None and k in GROUPS}
    groups = Counter(u for u, _ in {(u, k) for u, k, _ in ballots})
    total: Counter[tuple[Any, Any]] = Counter()
    for u, k, v in ballots:
        total[k, v] += how.one * how.limit // max(groups[u], how.limit)
    return dict(total)
