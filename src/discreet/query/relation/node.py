"""Relations in which every row belongs to one unit and depends on that unit's rows, and on public tables, alone.

This is the stability argument. Filters, computed columns, joins with public tables, joins of private tables on the unit, stacking,
and aggregation within a unit keep it; nothing else is a node. So however rows multiply, the rows of a unit at the top depend on that unit
alone, and bounding them there bounds its whole contribution (see plan/bounding.py).
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal as Word
from typing import TypeAlias, assert_never, final

from attrs import evolve, frozen

from discreet.errors import Refused
from discreet.query.relation.expr import Column, Expr, Schema, field_of
from discreet.query.relation.field import AS_THEY_ARE, FURTHEST, WHOLE, Field, Interval, native
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Link

Named: TypeAlias = tuple[tuple[str, Expr], ...]


def _named_fields(columns: Named, schema: Schema) -> dict[str, Field]:
    fields = {name: field_of(expr, schema) for name, expr in columns}
    if len(fields) < len(columns):
        raise Refused("two columns have the same name: give them different names with AS")
    return fields


@final
@frozen(slots=False)
class Scan:
    """Read a table; links lead to the table that holds the unit."""

    table: Table
    links: tuple[tuple[Link, Table], ...] = ()

    @cached_property
    def schema(self) -> dict[str, Field]:
        unit = None if self.links else self.table.unit_column
        return {column.name: Field.of(column, unit=column.name == unit) for column in self.table.columns}

    @property
    def private(self) -> bool:
        return self.table.private

    @property
    def has_id(self) -> bool:
        """Whether rows carry the identifier of their unit; else each row is a unit."""
        return self.private and not isinstance(self.table.unit, EachRow)

    @property
    def one_row(self) -> bool:
        """Whether no unit has more than one row."""
        return self.private and (not self.has_id or self.table.one_row)


@final
@frozen(slots=False)
class Where:
    """Keep the rows for which a condition is true."""

    input: Relation
    condition: Expr

    @cached_property
    def schema(self) -> dict[str, Field]:
        if field_of(self.condition, self.input.schema).kind is not Kind.BOOLEAN:
            raise Refused("WHERE needs a condition: write a comparison, as in cost > 10")
        return dict(self.input.schema)

    private = property(lambda self: self.input.private)
    has_id = property(lambda self: self.input.has_id)
    one_row = property(lambda self: self.input.one_row)


@final
@frozen(slots=False)
class Match:
    """Keep the rows that have an equal row in a public relation, or those that have none: IN and EXISTS over public tables.

    `how` "in" compares as SQL's IN does, where NULL is unknown, and takes one pair; "exists" takes any number.
    """

    input: Relation
    public: Relation
    pairs: tuple[tuple[Expr, str], ...]
    how: Word["in", "exists"]
    negated: bool = False

    @cached_property
    def schema(self) -> dict[str, Field]:
        if self.public.private:
            raise Refused("only public tables are searched by IN and EXISTS: join private tables on the unit")
        for expr, column in self.pairs:
            field_of(expr, self.input.schema), self.public.schema[column]
        return dict(self.input.schema)

    private = property(lambda self: self.input.private)
    has_id = property(lambda self: self.input.has_id)
    one_row = property(lambda self: self.input.one_row)


@final
@frozen(slots=False)
class Select:
    """Compute columns; the identifier of the unit is carried along."""

    input: Relation
    columns: Named

    @cached_property
    def schema(self) -> dict[str, Field]:
        return _named_fields(self.columns, self.input.schema)

    private = property(lambda self: self.input.private)
    has_id = property(lambda self: self.input.has_id)
    one_row = property(lambda self: self.input.one_row)


@final
@frozen(slots=False)
class Join:
    """Join on equal columns, and on the unit where both sides are private; column names must be distinct.

    `kind` "left" keeps rows of the left side without a match.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    kind: Word["inner", "left"] = "inner"

    @cached_property
    def schema(self) -> dict[str, Field]:
        from_right = self.right.schema
        if self.kind == "left":
            from_right = {name: evolve(field, nullable=True) for name, field in from_right.items()}
        if set(self.left.schema) & set(from_right):
            raise Refused("two joined tables have a column of the same name: rename one with AS")
        if self.right.private and not self.left.private and self.kind == "left":
            raise Refused("a LEFT JOIN keeps public rows that belong to no unit: put the private table on the left, or use JOIN")
        if self.left.private and self.right.private and not (self.left.has_id and self.right.has_id):
            raise Refused("a table whose unit is the row cannot be joined with private rows: declare the column that names the unit")
        return {**self.left.schema, **from_right}

    @property
    def private(self) -> bool:
        return bool(self.left.private or self.right.private)

    @property
    def has_id(self) -> bool:
        return bool(self.left.has_id or self.right.has_id)

    @property
    def one_row(self) -> bool:
        private, other = (self.left, self.right) if self.left.private else (self.right, self.left)
        if other.private:
            return bool(private.one_row and other.one_row)
        pairs = [(a, b) if other is self.right else (b, a) for a, b in self.on]  # private column, public column
        return bool(private.one_row and any(is_unique(other, b) and _same_kind(private.schema[a], other.schema[b]) for a, b in pairs))


def unit_kind(relation: Relation) -> Kind | None:
    """The kind of the unit identifiers of a relation's rows; None where rows have none."""
    match relation:
        case Scan(table, links):
            holder = links[-1][1] if links else table
            column = None if not relation.has_id or holder.unit_column is None else holder.column(holder.unit_column)
            return None if column is None else column.kind
        case Where(below) | Match(below) | Select(below) | PerUnit(below):
            return unit_kind(below)
        case Join(left, right):
            return unit_kind(left if left.has_id else right)
        case Stack(inputs):
            return unit_kind(inputs[0])
        case _:
            assert_never(relation)


def _same_kind(a: Field, b: Field) -> bool:
    """Whether an engine compares two columns exactly; numbers of different kinds are compared as floats, which lose digits."""
    return a.kind == b.kind and a.kind in AS_THEY_ARE


def is_unique(relation: Relation, column: str) -> bool:
    """Whether a column of a public relation is declared to have no value twice."""
    match relation:
        case Scan(table):
            found = table.column(column)
            return found is not None and found.unique
        case Where(below) | Match(below):
            return is_unique(below, column)
        case Select(below, columns):
            source = dict(columns).get(column)
            return isinstance(source, Column) and is_unique(below, source.name)
        case _:
            return False


@final
@frozen(slots=False)
class Stack:
    """UNION ALL of relations with the same columns."""

    inputs: tuple[Relation, ...]

    @cached_property
    def schema(self) -> dict[str, Field]:
        first, *rest = (relation.schema for relation in self.inputs)
        merged = dict(first)
        for other in rest:
            if list(other) != list(first):
                raise Refused("UNION ALL needs the same columns, by name and order, on both sides")
            for name, field in other.items():
                merged[name] = _either(merged[name], field, name)
        if len({relation.private for relation in self.inputs}) > 1 or len({relation.has_id for relation in self.inputs}) > 1:
            raise Refused("UNION ALL cannot mix public rows, which belong to no unit, with private rows: use tables of one sort")
        if len({unit_kind(relation) for relation in self.inputs}) > 1:
            raise Refused("the two sides identify their units by values of different types, so units cannot be matched: declare one type")
        return merged

    private = property(lambda self: self.inputs[0].private)
    has_id = property(lambda self: self.inputs[0].has_id)

    @property
    def one_row(self) -> bool:
        return False


def _either(a: Field, b: Field, name: str) -> Field:
    if a.unit != b.unit:
        raise Refused(f"UNION ALL: column {name} names the unit on one side only: select the unit on both sides")
    if a.kind != b.kind and None not in (a.kind, b.kind):
        raise Refused(f"UNION ALL: column {name} has different types on the two sides: make whole numbers real with CAST(x AS DOUBLE)")
    ranges = [found for field in (a, b) if (found := field.range or native(field.kind)) is not None]
    keys = None if a.keys is None or b.keys is None else tuple(dict.fromkeys((*a.keys, *b.keys)))
    interval = ranges[0].union(ranges[-1]) if ranges else None
    return Field(a.kind or b.kind, interval, a.nullable or b.nullable, keys, a.unit, a.progression.union(b.progression))


@final
@frozen
class Within:
    """An aggregate within one unit: count, count_of, count_distinct, sum, mean, min or max of an expression."""

    function: str
    expr: Expr | None = None


@final
@frozen(slots=False)
class PerUnit:
    """Aggregate each unit's own rows, by keys if there are any; `units` are the columns that show the unit itself."""

    input: Relation
    units: tuple[str, ...]
    keys: Named
    aggregates: tuple[tuple[str, Within], ...]

    @cached_property
    def schema(self) -> dict[str, Field]:
        if not self.input.has_id:
            raise Refused("the unit is the row, so there is nothing to aggregate within a unit: declare the column that names the unit")
        unit = next(field for field in self.input.schema.values() if field.unit) if self.units else Field(None)
        fields = dict.fromkeys(self.units, unit) | _named_fields(self.keys, self.input.schema)
        for name, aggregate in self.aggregates:
            if name in fields:
                raise Refused("two columns have the same name: give them different names with AS")
            fields[name] = within_field(aggregate, self.input.schema)
        return fields

    @property
    def private(self) -> bool:
        return True

    @property
    def has_id(self) -> bool:
        return True

    @property
    def one_row(self) -> bool:
        return not self.keys


def within_field(aggregate: Within, schema: Schema) -> Field:
    """Infer the field of an aggregate within a unit."""
    below = None if aggregate.expr is None else field_of(aggregate.expr, schema)
    if below is not None and below.unit and aggregate.function != "count_of":
        raise Refused("the column that names the protected unit may only be counted: write COUNT(DISTINCT unit)")
    match aggregate.function:
        case "count" | "count_of" | "count_distinct":
            return Field(Kind.INTEGER, Interval(WHOLE * 0, WHOLE, True, False))
        case "min" | "max" if below is not None and below.kind is not None and below.kind is not Kind.BOOLEAN:
            return Field(below.kind, below.range, True, below.keys, progression=below.progression)
        case "sum" | "mean" if below is not None and below.kind is not None and below.kind.numeric and below.range is not None:
            if aggregate.function == "mean":
                return Field(Kind.REAL, below.range.floats(), True)
            low = below.range.low >= 0 and below.range.low_known
            high = below.range.high <= 0 and below.range.high_known
            return Field(Kind.REAL, Interval(FURTHEST * (0 if low else -1), FURTHEST * (0 if high else 1), low, high).floats(), True)
    raise Refused(f"{aggregate.function.upper()} within a unit does not take this kind of column: use a number")


Relation: TypeAlias = Scan | Where | Match | Select | Join | Stack | PerUnit


def size(relation: Relation) -> int:
    """The number of relations in it, repeated ones included."""
    match relation:
        case Scan():
            return 1
        case Where(below) | Select(below) | PerUnit(below):
            return 1 + size(below)
        case Match(left, right) | Join(left, right):
            return 1 + size(left) + size(right)
        case Stack(inputs):
            return 1 + sum(map(size, inputs))
        case _:
            assert_never(relation)


def check_private(relation: Relation) -> None:
    """Refuse rows that cannot be bounded by unit: of public tables alone, or of row units where one row may become several.

    Every pipeline begins with this check: bounding, blocks, days and marginals rely on it.
    """
    if not relation.private:
        raise Refused("this reads public tables only, which need no protection: use the engine directly")
    if not relation.has_id and not relation.one_row:
        raise Refused(
            "the unit is the row, and here one row may become several: declare that the joined column is unique in the "
            "public table, or declare the column that names the unit"
        )
