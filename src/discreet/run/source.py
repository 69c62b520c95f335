"""The rows that a question reads: unit, keys and values, kept to the public groups where these are known."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.engines.engine import SentTable
from discreet.plan.arrangement import Axis, Numbered
from discreet.plan.key_values import KeyValues, key_column, values_of
from discreet.plan.steps import Steps
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.node import Named, Relation
from discreet.query.relation.write import UNIT, write_expr, write_relation
from discreet.run.sampling import SAMPLED
from discreet.tables.kind import Kind, Value

LISTED = 1000  # the most values written into a statement; more are sent as a table
_SENT = (Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)  # kinds that can be sent as a table


@final
@frozen
class Source:
    """The rows of a question: its relation and keys, kept to the public groups where these are known.

    With `other` no row is left out: the one key is then a group's place among the public ones, or the place after them all, so that rows of
    other groups are together before anything is bounded or rounded. With `axes` a row has its number on each of them instead of its keys.
    Groups may be of the first keys only: the others are then not kept to anything.
    """

    relation: Relation
    keys: Named
    groups: KeyValues | None
    dialect: Dialect
    other: bool = False
    axes: tuple[Axis, ...] = ()
    sample: Fraction | None = None  # the share of units to which rows are kept, which are then a table of their own

    @classmethod
    def of(cls, plan: Steps, dialect: Dialect) -> Source:
        """The rows that a plan reads; with an "other" group none are left out."""
        if plan.axes is not None:
            return cls(plan.question.relation, plan.question.keys if plan.axes else (), None, dialect, axes=plan.axes)
        return cls(plan.question.relation, plan.question.keys, plan.groups, dialect, plan.question.other, sample=plan.question.sample)

    @property
    def key_names(self) -> list[str]:
        return ["k0"] if self.other else [f"k{i}" for i in range(len(self.axes or self.keys))]

    @property
    def key_kinds(self) -> list[Kind | None]:
        """The kinds of the keys as rows have them."""
        return [Kind.INTEGER for _ in self.key_names] if self._numbered else self._kinds

    @property
    def cells(self) -> KeyValues | None:
        """The groups as rows have them."""
        return tuple((i,) for i in range(len(self.groups or ()) + 1)) if self.other else self.groups

    @property
    def given(self) -> tuple[SentTable, ...]:
        """The public groups as tables sent with the statement, where they are too many to be written into it."""
        if self._numbered:
            return tuple(one.table for axis in self._numbered for one in axis.numberings if one.is_sent)
        found = []
        for place, kind in enumerate(self._kinds[: self._kept]):
            values = self._values(place)
            if len(values) > LISTED and kind in _SENT and _without_gaps(values, kind) is None:
                found.append(SentTable(f"__given{place}", (("v", kind, values),)))
        return tuple(found)

    def rows(self, exprs: Sequence[tuple[str, Expr]] = (), values: Sequence[tuple[str, str]] = (), condition: str | None = None) -> str:
        """SELECT unit, keys, and the expressions under their names; or values and a condition over these names.

        Values may repeat an expression, so it is computed once, in the inner SELECT.
        """
        schema, dialect = self.relation.schema, self.dialect
        keys = [write_expr(expr, schema, dialect) for _, expr in self.keys]
        inside = f"({write_relation(self.relation, dialect)}) AS t" if self.sample is None else f"{SAMPLED} AS t"
        for axis in self._numbered:
            inside += "".join(one.joined(keys, self.dialect) for one in axis.numberings)
        keys = [axis.place for axis in self._numbered] or keys
        unit = [UNIT] if self.relation.has_id else []
        shown = [*unit, *(f"{key} AS {name}" for name, key in zip(self.key_names, keys, strict=True))]
        shown += [f"{write_expr(expr, schema, dialect)} AS {name}" for name, expr in exprs]
        kept = self._within_groups()
        where = f" WHERE {' AND '.join(kept)}" if kept else ""
        below = f"SELECT {', '.join(shown) or '1 AS __nothing'} FROM {inside}{where}"
        if not values and condition is None:
            return below
        above = ", ".join([*unit, *self.key_names, *(f"{text} AS {name}" for name, text in values)])
        return f"SELECT {above} FROM ({below}) AS e" + (f" WHERE {condition}" if condition else "")

    def transported(self, prefix: str = "") -> list[str]:
        """The keys as they leave the engine: dates and times as text, because engines' calendars differ from Python's."""
        if self._numbered:
            return [f"{prefix}{name} AS {name}" for name in self.key_names]
        shown = []
        for name, kind in zip(self.key_names, self._kinds, strict=True):
            text = f"{prefix}{name}"
            shown.append(f"{self.dialect.shown(text) if kind in (Kind.DATE, Kind.TIMESTAMP) else text} AS {name}")
        return shown

    # ── the public groups ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _kinds(self) -> list[Kind | None]:
        return [field_of(expr, self.relation.schema).kind for _, expr in self.keys]

    @property
    def _numbered(self) -> list[_NumberedAxis]:
        """The numbers that stand for keys: of whole groups, or on each axis."""
        axes, kinds = self.axes, self._kinds
        if self.other:
            groups = self.groups or ()
            axes = (Axis((Numbered(tuple(range(len(kinds))), groups, range(len(groups))),), len(groups) + 1),)
        found, number = [], 0
        for axis in axes:
            numberings = []
            for one in axis.numbered:
                if one.groups:
                    of = tuple(kinds[place] for place in one.places)
                    numberings.append(_Numbering(f"g{number}", f"__groups{number}", one.places, of, one.groups, one.cells))
                    number += 1
            found.append(_NumberedAxis(tuple(numberings), axis.size))
        return found

    @property
    def _kept(self) -> int:
        """How many of the first keys the groups are of."""
        return len(next(iter(self.groups or ()), self.keys))

    def _values(self, place: int) -> list[Value]:
        """The values of one key in the public groups, where these leave out any rows."""
        if self.groups is None or self.other or self.relation.one_row:
            return []  # with one row for each unit no contribution is lost: rows outside are dropped when groups are counted
        return [value for value in dict.fromkeys(values_of(self.groups, place)) if value is not None]

    def _within_groups(self) -> list[str]:
        """Keep each key to its public values, so that rows outside do not consume a unit's contribution."""
        if self.groups is None or self.other or self.relation.one_row:
            return []
        sent = {table.name: table for table in self.given}
        kept = []
        for place, (_, expr) in enumerate(self.keys[: self._kept]):
            text = write_expr(expr, self.relation.schema, self.dialect)
            values = self._values(place)
            if ends := _without_gaps(values, self._kinds[place]):
                tests = [f"{text} BETWEEN {' AND '.join(map(self.dialect.literal, ends))}"]
            elif table := sent.get(f"__given{place}"):
                tests = [f"{text} IN (SELECT {_typed('v', table.columns[0][1], self.dialect)} FROM {table.name})"]
            else:
                tests = [f"{text} IN ({', '.join(map(self.dialect.literal, values))})"] if values else []
            tests += [f"{text} IS NULL"] if None in values_of(self.groups, place) else []
            kept.append(f"({' OR '.join(tests)})" if tests else "FALSE")  # no group was discovered
        return kept


@final
@frozen
class _NumberedAxis:
    """A row's number on an axis: that of the first numbering which has its group, or the last."""

    numberings: tuple[_Numbering, ...]
    size: int

    @property
    def place(self) -> str:
        places = [f"{one.alias}.__place" for one in self.numberings]
        return f"COALESCE({', '.join([*places, str(self.size - 1)])})" if places else str(self.size - 1)


@final
@frozen
class _Numbering:
    """The number of each row's group among public ones, or NULL; `at` are the places of its keys."""

    alias: str
    name: str
    at: tuple[int, ...]
    kinds: tuple[Kind | None, ...]
    groups: KeyValues
    numbers: Sequence[int]

    @property
    def is_sent(self) -> bool:
        """Whether the groups are too many to be written into a statement."""
        return len(self.groups) > LISTED and all(kind in _SENT for kind in self.kinds)

    @property
    def table(self) -> SentTable:
        keys = [(f"__k{i}", kind or Kind.TEXT, key_column(self.groups, i)) for i, kind in enumerate(self.kinds)]
        return SentTable(self.name, (*keys, ("__place", Kind.INTEGER, self.numbers)))

    def joined(self, keys: Sequence[str], dialect: Dialect) -> str:
        """The groups joined to rows with these keys; rows of other groups stay."""
        names = [f"__k{i}" for i in range(len(self.at))]
        pairs = zip(self.at, names, self.kinds, strict=True)
        same = " AND ".join(dialect.same(keys[at], f"{self.alias}.{name}", kind) for at, name, kind in pairs)
        if self.is_sent:
            typed = [f"{_typed(name, kind, dialect)} AS {name}" for name, kind, _ in self.table.columns]
            numbered = f"(SELECT {', '.join(typed)} FROM {self.name}) AS {self.alias}"
        else:
            numbered = numbered_groups(self.groups, names, self.kinds, "__place", self.numbers, dialect, self.alias)
        return f" LEFT JOIN {numbered} ON {same}"


def _typed(name: str, kind: Kind, dialect: Dialect) -> str:
    return f"CAST({name} AS {dialect.type_name(kind)})"


def _without_gaps(values: Sequence[Value], kind: Kind | None) -> tuple[Value, Value] | None:
    """The ends of consecutive whole numbers, which are tested faster than a list."""
    wholes = [value for value in values if isinstance(value, int)]
    if kind is not Kind.INTEGER or not wholes or len(wholes) < len(values) or max(wholes) - min(wholes) != len(set(wholes)) - 1:
        return None
    return min(wholes), max(wholes)


def numbered_groups(
    groups: KeyValues,
    names: Sequence[str],
    kinds: Sequence[Kind | None],
    extra: str,
    numbers: Sequence[int],
    dialect: Dialect,
    alias: str = "g",
) -> str:
    """The groups as a table, each with a number of its own."""

    def literal(key: Value | None, kind: Kind | None) -> str:
        # a column of bare NULLs would be text
        return dialect.literal(key) if key is not None or kind is None else f"CAST(NULL AS {dialect.type_name(kind)})"

    rows = (", ".join([*map(literal, group, kinds), str(n)]) for group, n in zip(groups, numbers, strict=True))
    return f"(VALUES {', '.join(f'({row})' for row in rows)}) AS {alias}({', '.join([*names, extra])})"
