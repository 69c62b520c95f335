"""Keys as places among listed values: the same cells on every engine, whatever lies outside the lists."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from engines.contract.asked import EngineOf, columns
from plan.questions import steps

from discreet.plan.arrangement import Arrangement
from discreet.plan.bounding import Groups
from discreet.plan.found_keys import OpenKeys
from discreet.plan.key_values import OTHER
from discreet.plan.scaling import Scaled
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Scan
from discreet.query.totals import Total
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.source import LISTED, Source
from discreet.run.write import write_capped, write_totals
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata as Declared
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions, Table
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
    source = Source(
        relation, (("k", Column("k")), ("j", Column("j"))), None, engine.dialect, axes=Arrangement.flat_keys(listed, other=True).axes
    )
    statement = write_totals(source, [(Total("rows"), Scaled(0, 1, 1))], bounding)  # type: ignore[arg-type]
    found = columns(engine, statement.text, statement.given)
    got = {(a, b): n for a, b, n in zip(*(found[name].tolist() for name in ("k0", "k1", "s0")), strict=True)}
    assert got == expected(rows, listed, bounding)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("kind", KEYS, ids=lambda kind: kind.value)
def test_a_tree_of_found_keys(engine_of: EngineOf, kind: Kind, many: bool) -> None:
    """A row is in the last node that was found on its way down, or among the others below it; NULL is a value as any other."""
    rng = random.Random(f"tree {kind.value}")
    first, others = KEYS[kind]
    below = [1, 2, None] if not many else [1, 2, None, *range(10, LISTED + 10)]
    found = {(0,): [(key,) for key in (*first, None)], (0, 1): [(first[0], value) for value in below] + [(None, 1)]}
    rows = [(rng.randrange(8), rng.choice([*first, *others]), rng.choice([1, 2, 5000, None])) for _ in range(200)]
    units, keys, more = (list(column) for column in zip(*rows, strict=True))
    engine = engine_of({"t": {"u": (Kind.INTEGER, units), "k": (kind, keys), "j": (Kind.INTEGER, more)}})
    declared = (Declared.of("u", Kind.INTEGER), Declared.of("k", kind), Declared.of("j", Kind.INTEGER))
    named = (("k", Column("k")), ("j", Column("j")))
    tree = OpenKeys(("k", "j"), (None, None), (0, 1)).arrangement(found)
    (axis,) = tree.axes
    bounding = Groups(2, 3, euclidean=False)
    source = Source(Scan(Table("t", declared, Person("u"))), named, None, engine.dialect, axes=tree.axes)
    statement = write_totals(source, [(Total("rows"), Scaled(0, 1, 1))], bounding)  # type: ignore[arg-type]
    counted = columns(engine, statement.text, statement.given)
    got = dict(zip(*(counted[name].tolist() for name in ("k0", "s0")), strict=True))
    leaves = {node: i for i, node in enumerate(tree.nodes[-1])}

    def leaf(key: Any, value: Any) -> int:
        if (key, value) in leaves:
            return leaves[key, value]
        return leaves[key, OTHER] if (key,) in found[0,] else leaves[OTHER, OTHER]

    places = tuple(range(axis.size))
    told = expected([(unit, leaf(key, value), 0) for unit, key, value in rows], (places, (0,)), bounding)
    assert got == {place: total for (place, _), total in told.items()}


def test_a_search_below_what_was_found(engine_of: EngineOf) -> None:
    """Groups of the first key only keep rows to its values; the second key is searched, with NULL."""
    rows = [(unit, key, value) for unit, key in enumerate(["a", "A", "a ", None, "b"] * 3) for value in (1, None)]
    units, keys, more = (list(column) for column in zip(*rows, strict=True))
    engine = engine_of({"t": {"u": (Kind.INTEGER, units), "k": (Kind.TEXT, keys), "j": (Kind.INTEGER, more)}})
    declared = (Declared.of("u", Kind.INTEGER), Declared.of("k", Kind.TEXT), Declared.of("j", Kind.INTEGER))
    relation, named = Scan(Table("t", declared, Person("u"))), (("k", Column("k")), ("j", Column("j")))
    for above in ([("a",), (None,)], [("A",)], []):
        statement = write_capped(Source(relation, named, above, engine.dialect), None, 2, "salt")
        found = columns(engine, statement.text, statement.given)
        got = {(a, b): n for a, b, n in zip(*(found[name].tolist() for name in ("k0", "k1", "s0")), strict=True)}
        assert {(a, None if b is None or b != b else int(b)): n for (a, b), n in got.items()} == {
            (key, value): 3 for (key,) in above for value in (1, None)
        }


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


@pytest.mark.parametrize("sets", ["ROLLUP (dept, age)", "CUBE (dept, age)"])
def test_keys_are_found_and_tables_add_up(engine_of: EngineOf, sets: str) -> None:
    """At a large ε the searches find what is there, NULL and alike spellings too, and the tables are almost exact."""
    units = range(600)
    depts = [("a", "A", "a ", None)[unit % 4] if unit < 590 else f"rare {unit}" for unit in units]
    ages = [None if unit % 3 == 0 else unit % 3 for unit in units]
    values = {"id": (Kind.INTEGER, [*units]), "dept": (Kind.TEXT, depts), "age": (Kind.INTEGER, ages)}
    declared = tuple(Declared.of(name, kind) for name, (kind, _) in values.items())
    known = Catalog((Table("t", declared, Person("id"), Contributions(rows=1)),), "add/remove")
    plan = steps(
        f"SELECT dept, age, GROUPING(dept, age) AS g, COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM t GROUP BY {sets}",
        known,
        epsilon=Fraction(1000),
    )
    shown = {column.name: column.values for column in outcome(execute(plan, engine_of({"t": values})), 0.95)}
    assert shown["p"] == pytest.approx(shown["n"], abs=0.5)
    got = {(g, a, b): n for a, b, g, n in zip(*(shown[name] for name in ("dept", "age", "g", "n")), strict=True) if abs(n) > 0.5}
    told: Counter[Any] = Counter()
    for dept, age in zip(depts, ages, strict=True):
        rare = dept is not None and dept.startswith("rare")
        first, second = OTHER if rare else dept, OTHER if rare and "ROLLUP" in sets else age
        told.update([(0, first, second), (1, first, None), (3, None, None)])
        told.update([(2, None, age)] if "CUBE" in sets else [])
    assert {group: round(n) for group, n in got.items()} == dict(told)
