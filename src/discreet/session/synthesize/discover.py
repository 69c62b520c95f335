"""Which columns a synthetic table has, and as which codes: from what is declared, and for a part of the price from what is not."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid, Refused
from discreet.ledger.receipt import Paid
from discreet.query.relation.field import Field
from discreet.query.relation.node import Relation
from discreet.session.release import Release
from discreet.session.synthesize.codes import Coding, Listed, binned, dated, quoted
from discreet.tables.kind import Kind, Value

BINS = 32  # of a number, unless it is said
CATEGORIES = 1000  # more values than this are no categories
LONGEST = 500  # characters of a category
SHARE = Fraction(1, 10)  # of ε, and half of δ, for what is found, if anything is


@final
@frozen
class Undeclared:
    """What is not declared: columns whose values or bounds must be found, and whether the number of a unit's rows must."""

    values: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    rows: bool = False

    @property
    def questions(self) -> int:
        """How many questions that takes."""
        return len(self.values) + len(self.bounds) + self.rows


@final
@frozen
class Columns:
    """The columns that are synthesised, and what is left out, with the reason."""

    names: tuple[str, ...]
    schema: dict[str, Field] = field(repr=False)
    left_out: tuple[tuple[str, str], ...] = ()


def columns_of(relation: Relation, asked: Sequence[str] | None) -> Columns:
    """All columns but those that name units or moments; or those asked for."""
    schema = relation.schema
    if asked is not None and (isinstance(asked, str) or not isinstance(asked, Sequence) or not all(isinstance(one, str) for one in asked)):
        raise Invalid("columns must be a list of names")
    names, left_out = [], []
    for name in schema if asked is None else asked:
        if name not in schema:
            raise Invalid(f"there is no column {name!r:.80}; there are {', '.join(schema)}")
        reason = _reason(schema[name])
        if reason and asked is not None:
            raise Refused(f"{name} cannot be synthesised: {reason}")
        if reason:
            left_out.append((name, reason))
        else:
            names.append(name)
    if not names:
        raise Refused("no column is left to be synthesised")
    if len(set(names)) != len(names):
        raise Invalid("each column once")
    return Columns(tuple(names), dict(schema), tuple(left_out))


def _reason(column: Field) -> str:
    if column.unit:
        return "it names who is protected"
    if column.kind is Kind.TIMESTAMP:
        return "timestamps are not supported here: convert to a date, with_columns(day=\"DATE_TRUNC('day', at)\")"
    if column.kind is Kind.DATE and not _bounded(column):
        return "it holds dates without bounds: declare bounds={...}"
    if column.kind is None:
        return "it is always NULL"
    return ""


def _bounded(column: Field) -> bool:
    return column.range is not None and column.range.known


def undeclared(columns: Columns, one_row: bool, rows: int | None) -> Undeclared:
    """What must be found before codes are known."""
    values, bounds = [], []
    for name in columns.names:
        column = columns.schema[name]
        if column.keys is not None or column.kind in (Kind.BOOLEAN, Kind.DATE):
            continue
        if column.kind is Kind.TEXT:
            values.append(name)
        elif not _bounded(column):
            bounds.append(name)
    return Undeclared(tuple(values), tuple(bounds), not one_row and rows is None)


@final
@frozen
class Discovered:
    """What was found: values, bounds, the number of a unit's rows that count."""

    values: dict[str, tuple[Value, ...]] = field(factory=dict)
    bounds: dict[str, tuple[Fraction, Fraction]] = field(factory=dict)
    rows: int | None = None


@final
@frozen
class Questions:
    """What is asked for what is open, each for an equal part of (ε, δ): values by a count of each, bounds and rows by sums and counts."""

    things: Undeclared
    table: str
    schema: Collection[str]
    epsilon: Fraction
    delta: Fraction

    @property
    def each(self) -> Fraction:
        """The ε of one question."""
        return self.epsilon / self.things.questions

    @property
    def mass(self) -> Fraction:
        """The δ of a question for values."""
        return self.delta / len(self.things.values) if self.things.values else Fraction(0)

    @property
    def names(self) -> tuple[str, str]:
        """Names that no column has, for a value and for a number."""
        return _free("value", self.schema), _free("number", self.schema)

    @property
    def priced(self) -> list[tuple[str, Fraction, Fraction]]:
        """Every question with its price."""
        texts = [(self.values_of(name), self.mass) for name in self.things.values]
        texts += [(text, Fraction(0)) for text in [*map(self.bounds_of, self.things.bounds), *([self.rows] if self.things.rows else [])]]
        return [(text, self.each, mass) for text, mass in texts]

    def values_of(self, name: str) -> str:
        """The values of a column."""
        value, number = self.names
        return f"SELECT {quoted(name)} AS {value}, COUNT(*) AS {number} FROM {quoted(self.table)} GROUP BY {value}"

    def bounds_of(self, name: str) -> str:
        """The bounds of a column."""
        return f"SELECT SUM({quoted(name)}) AS {self.names[1]} FROM {quoted(self.table)}"

    @property
    def rows(self) -> str:
        """How many rows of a unit count."""
        return f"SELECT COUNT(*) AS {self.names[1]} FROM {quoted(self.table)}"


def discover(questions: Questions, answer: Callable[[int], Release]) -> tuple[Discovered, list[Paid]]:
    """Ask for what is not declared, one question after the other; what was discovered, and the payments for it."""
    things, value = questions.things, questions.names[0]
    told = [answer(place) for place in range(things.questions)]
    columns = [*things.values, *things.bounds, *(["rows"] if things.rows else [])]
    values, bounds, rows = {}, {}, None
    for place, (name, found) in enumerate(zip(columns, told, strict=True)):
        if place < len(things.values):
            values[name] = tuple(row[value] for row in found.rows if _is_category(row[value]))[:CATEGORIES]
        elif place < len(things.values) + len(things.bounds):
            bounds[name] = _ends(found.receipt.discovered["bounds"])
        else:
            rows = int(found.receipt.discovered["limits"].get("rows", 1))
    return Discovered(values, bounds, rows), [paid for found in told for paid in found.receipt.payments]


def _free(word: str, schema: Collection[str]) -> str:
    """A name that no column has."""
    while word in {name.lower() for name in schema}:
        word += "_"
    return word


def _is_category(value: Any) -> bool:
    """What cannot be written into a question is not a category of its own."""
    return value is not None and not (isinstance(value, str) and (len(value) > LONGEST or "\x00" in value))


def _ends(told: dict[str, dict[str, str]]) -> tuple[Fraction, Fraction]:
    ends = next(iter(told.values()), {})
    low, high = Fraction(ends.get("low", ends.get("lower", "0"))), Fraction(ends.get("high", ends.get("upper", "1")))
    return (low, high) if low < high else (low, low + 1)


def codings_of(columns: Columns, found: Discovered, bins: int = BINS) -> tuple[Coding, ...]:
    """Each column's codes."""
    return tuple(_coding(name, columns.schema[name], found, bins) for name in columns.names)


def _coding(name: str, column: Field, found: Discovered, bins: int) -> Coding:
    keys = found.values.get(name, column.keys)
    if keys is not None:
        values = tuple(value for value in keys if value is not None)
        if len(values) > CATEGORIES:
            raise Refused(f"{name} has {len(values):,} values, and a category has at most {CATEGORIES}: group them first, or leave it out")
        assert column.kind is not None
        return Listed(name, column.kind, values, True)
    if column.kind is Kind.BOOLEAN:
        return Listed(name, Kind.BOOLEAN, (False, True), column.nullable)
    if column.kind is Kind.DATE:
        assert column.range is not None
        ends = [datetime.date.fromordinal(int(end)) for end in (column.range.low, column.range.high)]
        return dated(name, ends[0], ends[1], 2 * bins, column.nullable)
    assert column.kind is not None
    if name in found.bounds:
        low, high = found.bounds[name]
    else:
        assert column.range is not None
        low, high = column.range.low, column.range.high
    most = max(bins, 2 * bins if column.kind is Kind.INTEGER and high - low < 2 * bins else bins)
    return binned(name, column.kind, low, high, most, column.nullable)
