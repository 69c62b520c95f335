"""Keys as places among listed values: the same cells on every engine, whatever lies outside the lists."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from typing import Any

import pytest
from engines.contract.asked import EngineOf, columns

from discreet.plan.bounding import Groups
from discreet.plan.scaling import Scaled
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Scan
from discreet.query.totals import Total
from discreet.run.source import LISTED, Source
from discreet.run.write import write_totals
from discreet.tables.column import ColumnMetadata as Declared
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

DAYS = [datetime.date(2024, 2, 29), datetime.date(1999, 12, 31), datetime.date(2030, 1, 1)]
KEYS: dict[Kind, tuple[list[Any], list[Any]]] = {  # listed, and others
    Kind.TEXT: (["a", "A", "a ", "é"], ["b", "", None, "(other)"]),
    Kind.INTEGER: ([0, -1, 7], [2**63 - 1, 8, None]),
    Kind.BOOLEAN: ([True], [False, None]),
    Kind.DATE: (DAYS[:2], [DAYS[2], None]),
}


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("kind", KEYS, ids=lambda kind: kind.value)
def test_unlisted_values_are_one_group_of_a_unit(engine_of: EngineOf, kind: Kind, many: bool) -> None:
    """Two keys: one of this kind, one with few values or with more than are written into a statement."""
    rng = random.Random(kind.value)
    first, others = KEYS[kind]
    second = list(range(LISTED + 5)) if many else [1, 2]
    rows = [(rng.randrange(8), rng.choice([*first, *others]), rng.choice([1, 2, 5000, None])) for _ in range(200)]
    units, keys, more = (list(column) for column in zip(*rows, strict=True))
    engine = engine_of({"t": {"u": (Kind.INTEGER, units), "k": (kind, keys), "j": (Kind.INTEGER, more)}})
    declared = (Declared.of("u", Kind.INTEGER), Declared.of("k", kind), Declared.of("j", Kind.INTEGER))
    relation = Scan(Table("t", declared, Person("u")))
    listed = (tuple(first), tuple(second))
    bounding = Groups(2, 3, euclidean=False)
    source = Source(relation, (("k", Column("k")), ("j", Column("j"))), None, engine.dialect, listed=listed)
    statement = write_totals(source, [(Total("rows"), Scaled(0, 1, 1))], bounding)  # type: ignore[arg-type]
    found = columns(engine, statement.text, statement.given)
    got = {(a, b): n for a, b, n in zip(*(found[name].tolist() for name in ("k0", "k1", "s0")), strict=True)}
    assert got == expected(rows, listed, bounding)


def expected(rows: list[tuple[Any, Any, Any]], listed: tuple[tuple[Any, ...], ...], bounding: Groups) -> dict[tuple[int, int], int]:
    """By the definition: unlisted values are together in the place after the last."""

    def place(key: Any, values: tuple[Any, ...]) -> int:
        return values.index(key) if key in values else len(values)

    cells = Counter((u, *map(place, keys, listed)) for u, *keys in rows)
    groups = Counter(u for u, *_ in cells)
    total: Counter[tuple[int, int]] = Counter()
    for (u, a, b), count in cells.items():
        top = bounding.one * bounding.per_group * bounding.limit
        total[a, b] += count * (top // (max(count, bounding.per_group) * max(groups[u], bounding.limit)))
    return dict(total)
