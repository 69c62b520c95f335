"""What is believed of expressions, held against what an engine gives for every row."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import evolve, field, frozen, mutable
from engines.beliefs.awkward import KEYED, sorts
from engines.beliefs.expressions import calls, spelled
from engines.beliefs.reach import allowed

from discreet.engines.engine import Columns, Engine
from discreet.plan.discovery import resolved_range
from discreet.plan.range_discovery import TOP
from discreet.query.grid import UNWEIGHTED, grid
from discreet.query.relation.expr import Expr, Literal, columns_of, field_of
from discreet.query.relation.field import Field
from discreet.query.relation.node import Relation
from discreet.query.relation.write import write_expr, write_relation
from discreet.query.totals import Factor, Total
from discreet.run.discovery import log_place
from discreet.run.values import write_value
from discreet.tables.kind import Kind

PYTHON: dict[Kind, type] = {
    Kind.BOOLEAN: bool,
    Kind.INTEGER: int,
    Kind.REAL: float,
    Kind.TEXT: str,
    Kind.DATE: datetime.date,
    Kind.TIMESTAMP: datetime.datetime,
}
SCANNED = {"spark": 6}  # every so many expressions: each is a scan


@mutable
class Found:
    """How many values were looked at, and what was not as believed."""

    evaluations: int = 0
    broken: list[str] = field(factory=list)
    values: dict[Expr, list[Any]] = field(factory=dict)  # by row, in the order of their numbers


@frozen
class Asked:
    """Expressions over a relation that has rows numbered by `rid`; `rows` are as they are stored, in the order of their numbers."""

    relation: Relation
    expressions: Sequence[Expr]
    rows: Mapping[str, Sequence[Any]]
    engine: Engine
    again: Engine | None = None  # the same rows in another order, in other pieces
    spare: Fraction = Fraction(0)  # of a range's size, beside rounding

    def sql(self, expressions: Sequence[Expr]) -> str:
        schema, dialect = self.relation.schema, self.engine.dialect
        names = [f"x{place}" for place in range(len(expressions))]
        below = [f"{write_expr(expr, schema, dialect)} AS {name}" for name, expr in zip(names, expressions, strict=True)]
        placed = [f"{text} AS {name}" for place, expr in enumerate(expressions) for name, text in self._placed(expr, place).items()]
        inside = f"SELECT {', '.join(['rid', *below])} FROM ({write_relation(self.relation, dialect)}) AS t"
        return f"SELECT {', '.join(['rid', *names, *placed])} FROM ({inside}) AS e"

    def _placed(self, expr: Expr, place: int) -> dict[str, str]:
        """A number as it is counted, summed, and searched for bounds."""
        believed = field_of(expr, self.relation.schema)
        if believed.kind is None or not believed.kind.numeric:
            return {}
        dialect, column = self.engine.dialect, f"x{place}"
        schema = self.relation.schema
        made = {f"{name}{place}": write_value(stat, {expr: column}, schema, dialect) for name, stat in stats(expr, believed).items()}
        return made | {f"l{place}": log_place(column, dialect)}

    def passing(self, expressions: Sequence[Expr]) -> str:
        """Which rows pass each condition, and how many groups each other expression makes; the same expressions in other places."""
        schema, dialect = self.relation.schema, self.engine.dialect
        inside, parts = f"({write_relation(self.relation, dialect)}) AS t", ["SELECT 0 AS x, 0 AS n"]
        for place, expr in list(enumerate(expressions, 1))[:: SCANNED.get(self.engine.name, 1)]:
            text, kind = write_expr(expr, schema, dialect), field_of(expr, schema).kind
            if kind is Kind.BOOLEAN:
                parts.append(f"SELECT {place} AS x, COUNT(*) AS n FROM {inside} WHERE {text}")
            elif kind is not Kind.REAL:
                parts.append(f"SELECT {place} AS x, COUNT(*) AS n FROM (SELECT COUNT(*) AS c FROM {inside} GROUP BY {text}) AS g")
        return " UNION ALL ".join(parts)


def stats(expr: Expr, believed: Field) -> dict[str, Total]:
    """The totals of a number, where they are not refused."""
    assert believed.range is not None
    far = Fraction(2**40)
    ends = {"low": max(believed.range.low, -far), "high": min(believed.range.high, far)}
    found = resolved_range(believed.range, {end: at for end, at in ends.items() if not getattr(believed.range, f"{end}_known")})
    try:
        on = grid(evolve(believed, range=found), found, UNWEIGHTED.alone, centred=True)
    except Exception:  # bounds too close together are refused
        return {}
    return {"s": Total("product", factors=(Factor(expr, on),)), "c": Total("present", expr)}


def check(asked: Asked) -> Found:
    """Run expressions on an engine and say what is not as believed."""
    found = Found()
    columns = _run(asked.engine, asked, asked.expressions, found)
    if columns is None:
        return found
    for place, expr in enumerate(asked.expressions):
        values = columns[f"x{place}"]
        found.evaluations += len(values)
        found.values[expr] = values.tolist()
        for belief, offending in _broken(expr, asked, columns, place).items():
            found.broken.append(_said(belief, expr, asked, offending))
    if asked.again is not None:
        second = _run(asked.again, asked, asked.expressions[::-1], found)
        if second is not None:
            _compare(asked, columns, second, found)
    _check_passing(asked, found)
    return found


def _run(engine: Engine, asked: Asked, expressions: Sequence[Expr], found: Found) -> Columns | None:
    """The columns in the order of the rows' numbers, or None and what raised an error."""
    try:
        columns = run(engine, asked.sql(expressions))
    except Exception as error:
        found.broken += [
            _said(f"totality: {_raised(engine, asked.sql([expr])) or error}", expr, asked, "") for expr in culprits(engine, asked)
        ]
        if not found.broken:
            found.broken.append(f"totality, of many together: {error}")
        return None
    order = np.argsort(columns["rid"])
    return {name: values[order] for name, values in columns.items()}


def run(engine: Engine, sql: str) -> Columns:
    """All rows, with the engine's own words where it fails."""
    [*batches] = engine.batches(sql, (), None)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def culprits(engine: Engine, asked: Asked) -> list[Expr]:
    """Which expressions raise an error by themselves."""
    return [expr for expr in asked.expressions if _raised(engine, asked.sql([expr])) is not None]


def _raised(engine: Engine, sql: str) -> str | None:
    try:
        run(engine, sql)
    except Exception as error:
        return str(error).splitlines()[0][:300]
    return None


def _said(belief: str, expr: Expr, asked: Asked, offending: str) -> str:
    believed = field_of(expr, asked.relation.schema)
    text = write_expr(expr, asked.relation.schema, asked.engine.dialect)
    lines = [f"{asked.engine.name}: {belief}", f"expression {spelled(expr)}", f"believed {believed}", f"SQL {text}"]
    return "\n    ".join([*lines, *([f"offending {offending}"] if offending else [])])


# ── one expression ───────────────────────────────────────────────────────────────────────────────────────────────────


def _broken(expr: Expr, asked: Asked, columns: Columns, place: int) -> dict[str, str]:
    believed = field_of(expr, asked.relation.schema)
    values = columns[f"x{place}"].tolist()
    here = [value for value in values if value is not None]
    wrong: dict[str, list[Any]] = {
        "kind": [value for value in here if type(value) is not PYTHON[believed.kind or Kind.TEXT]],
        "NaN": [value for value in here if isinstance(value, float) and math.isnan(value)],
        "nullability": [] if believed.nullable else [value for value in values if value is None],
        "range": _outside(expr, believed, here, asked),
        "public keys": _undeclared(expr, believed, values, asked),
    }
    for name, stat in (stats(expr, believed) if f"c{place}" in columns else {}).items():
        placed = columns.get(f"{name}{place}", np.empty(0)).tolist()
        wrong[f"total {stat.form}"] = [value for value in placed if type(value) is not int or abs(value) > stat.most]
    if f"l{place}" in columns:
        pairs = zip(values, columns[f"l{place}"].tolist(), strict=True)
        wrong["log place"] = [at for value, at in pairs if (at is None) != (value is None) or (at is not None and abs(at) > TOP)]
    return {belief: sorts(offending) for belief, offending in wrong.items() if offending}


def _outside(expr: Expr, believed: Field, values: list[Any], asked: Asked) -> list[Any]:
    if believed.range is None:
        return []
    if believed.kind is Kind.REAL:
        possible = allowed(expr, asked.relation.schema)
        spare = possible.magnitude * asked.spare
        low, high = float(possible.low - spare), float(possible.high + spare)
        return [value for value in values if not low <= value <= high]
    numbers = ((value, value.toordinal() if isinstance(value, datetime.date) else value) for value in values)
    return [value for value, number in numbers if not believed.range.contains(Fraction(number))]


def _undeclared(expr: Expr, believed: Field, values: list[Any], asked: Asked) -> list[Any]:
    """Values outside the public keys, in rows whose own columns hold what was declared; NULL makes no group unless it is said to."""
    keys = believed.public_keys
    if keys is None or not asked.rows:
        return []
    keyed = [name for name in columns_of(expr) if name in KEYED]
    as_declared = [all(asked.rows[name][row] in (KEYED[name] or ()) for name in keyed) for row in range(len(values))]
    allowed = set(keys)
    return [value for value, regular in zip(values, as_declared, strict=True) if regular and value is not None and value not in allowed]


# ── the same again ───────────────────────────────────────────────────────────────────────────────────────────────────


def same(a: Any, b: Any) -> bool:
    """Whether two engines' values are one value; 0.0 and −0.0 are, whatever bits they have."""
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)))


def _compare(asked: Asked, first: Columns, second: Columns, found: Found) -> None:
    for place, expr in enumerate(asked.expressions):
        there = len(asked.expressions) - 1 - place
        pairs = list(zip(first[f"x{place}"].tolist(), second[f"x{there}"].tolist(), strict=True))
        offending = [value for pair in pairs if not same(*pair) for value in pair]
        if offending:
            found.broken.append(_said("determinism", expr, asked, sorts(offending)))


def _check_passing(asked: Asked, found: Found) -> None:
    columns = run(asked.engine, asked.passing(asked.expressions))
    counted = dict(zip(columns["x"].tolist(), columns["n"].tolist(), strict=True))
    for place, expr in enumerate(asked.expressions, 1):
        values, kind = found.values[expr], field_of(expr, asked.relation.schema).kind
        if place in counted and counted[place] != (values.count(True) if kind is Kind.BOOLEAN else len(set(values))):
            word = "as a condition it is another" if kind is Kind.BOOLEAN else "it makes other groups"
            found.broken.append(_said(f"determinism: {word}", expr, asked, f"{counted[place]} instead"))


def stored(table: pa.Table) -> dict[str, list[Any]]:
    """The rows as they are stored, in the order of their numbers."""
    return {name: table[name].to_pylist() for name in table.column_names}


# ── on another engine ────────────────────────────────────────────────────────────────────────────────────────────────


def differing(name: str, first: Mapping[Expr, list[Any]], found: Mapping[Expr, list[Any]], rows: Mapping[str, Sequence[Any]]) -> list[str]:
    """Where another engine gave other values than the first."""
    wrong = []
    for expr, values in found.items():
        pairs = zip(first[expr], values, _comparable(expr, rows), strict=True)
        if offending := [value for a, b, counts in pairs if counts and not same(a, b) for value in (a, b)]:
            wrong.append(f"{name}: other values than DuckDB\n    expression {spelled(expr)}\n    offending {sorts(offending)[:600]}")
    return wrong


def _comparable(expr: Expr, rows: Mapping[str, Sequence[Any]]) -> list[bool]:
    """Where values must be the same: the cases of letters beyond ASCII are each engine's own."""
    count = len(rows["rid"])
    if not any(call.function in ("lower", "upper") for call in calls(expr)):
        return [True] * count
    if any(isinstance(one, Literal) and not str(one.value).isascii() for call in calls(expr) for one in call.arguments):
        return [False] * count
    return [all(str(rows[name][row]).isascii() for name in columns_of(expr)) for row in range(count)]
