"""What is read of one SELECT with groups: its keys, aggregates and outputs; and their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, final

from attrs import Factory, define, evolve, frozen
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.question import Sets, grouping_column
from discreet.query.relation.expr import Column, Expr, columns_of
from discreet.query.relation.field import Field
from discreet.query.sql import aggregates, cases
from discreet.query.sql.aggregates import Aggregate, has_aggregate
from discreet.query.sql.naming import expression_name, plain_name, substituted, unique
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import only, refused
from discreet.query.sql.scope import Scope, matching
from discreet.query.sql.typed import Apply, Typed, column, literal, of_answers, of_rows
from discreet.query.sql.windows import ReadWindow, read_window, renamed_window
from discreet.query.windows import Window
from discreet.tables.kind import Kind

X = TypeVar("X")
Make = Callable[[Aggregate, Reader], tuple[X, Field, str]]  # the aggregate, its field, and its default name


def row_reader(rows: Scope, dialect: str) -> Reader:
    """Read expressions over these rows."""
    return expression_reader(rows.column, dialect)


def expression_reader(columns: Callable[[exp.Column], Typed], dialect: str) -> Reader:
    """Read expressions over single rows, in which there are no aggregates."""

    def no_aggregates(node: exp.Expr) -> None:
        if aggregates.parse(node) is not None:
            raise refused(
                node,
                "aggregates are allowed in SELECT, HAVING and ORDER BY only",
                "aggregate in a subquery by the unit, or move it to HAVING",
            )

    return Reader(cases.CASES, cases.NAMED, of_rows, columns, no_aggregates, dialect)


@final
@frozen
class Item:
    """One piece of a SELECT list and the name it was given."""

    node: exp.Expr
    alias: str | None


@final
@frozen
class Grouped(Generic[X]):
    """Keys, what is asked of each group, and what is shown: expressions over the names of both."""

    keys: tuple[tuple[str, Typed], ...]
    asked: tuple[tuple[str, X], ...]
    outputs: tuple[tuple[str, Typed], ...]
    having: Typed | None
    order: tuple[tuple[Typed, bool], ...]
    windows: tuple[tuple[str, Window], ...] = ()
    sets: Sets = ()


@final
@define
class Reading(Generic[X]):
    """The state of reading one SELECT."""

    rows: Scope
    make: Make[X]
    apply: Apply
    dialect: str
    items: list[Item]
    keys: list[Typed] = Factory(list)
    sets: Sets = ()
    asked: list[tuple[X, Field, str]] = Factory(list)
    windows: list[ReadWindow] = Factory(list)
    outputs: list[Typed] = Factory(list)

    @property
    def row(self) -> Reader:
        return row_reader(self.rows, self.dialect)

    def reader(self, otherwise: Callable[[exp.Column], Typed]) -> Reader:
        """Read expressions over keys and aggregates."""
        return Reader(cases.CASES, cases.NAMED, self.apply, otherwise, self._special, self.dialect)

    def _special(self, node: exp.Expr) -> Typed | None:
        if isinstance(node, exp.Literal):
            return None
        if isinstance(node, exp.Window) and self.apply is of_answers:
            return self._window(node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._grouping(node)
        found = aggregates.parse(node)
        if found is not None:
            return self._ask(found)
        return None if has_aggregate(node) else self._key(node)

    def _key(self, node: exp.Expr) -> Typed | None:
        if not self.keys:
            return None
        try:
            written = self.row.read(node).expr
        except Refused:
            return None
        at = next((i for i, key in enumerate(self.keys) if key.expr == written), None)
        if at is None:
            return None
        field = self.keys[at].field
        return column(place("key", at), evolve(field, nullable=True) if self.sets else field)

    def _grouping(self, node: exp.Grouping | exp.GroupingId) -> Typed:
        """GROUPING(a, b): a bit for each key, set in the rows of grouping sets without it."""
        only(node, "expressions")
        found = literal(0)
        for written in node.expressions:
            key = self._key(written)
            if key is None or not isinstance(key.expr, Column):
                raise refused(node, "GROUPING takes keys of GROUP BY", "write GROUPING(dept) with GROUP BY ROLLUP(dept)")
            bit = column(key.expr.name.replace("key", "grouping"), Field(Kind.INTEGER)) if self.sets else literal(0)
            found = bit if found == literal(0) else self.apply("add", [self.apply("multiply", [found, literal(2)]), bit])
        return found

    def _ask(self, aggregate: Aggregate) -> Typed:
        made = self.make(aggregate, self.row)
        at = next((i for i, other in enumerate(self.asked) if other[0] == made[0]), None)
        if at is None:
            at = len(self.asked)
            self.asked.append(made)
        return column(place("asked", at), made[1])

    def _window(self, node: exp.Window) -> Typed:
        made = read_window(node, self.reader(lambda written: self.alias(written) or missing(written)))
        at = next((i for i, other in enumerate(self.windows) if other.window == made.window), None)
        if at is None:
            at = len(self.windows)
            self.windows.append(made)
        if any(is_window(name) for expr in made.window.exprs for name in columns_of(expr)):
            raise refused(node, "a window over another window is not supported", "write SUM(COUNT(*)) OVER (ORDER BY key)")
        return column(place("window", at), made.field)

    def alias(self, node: exp.Column) -> Typed | None:
        """The output of this name, if there is one."""
        only(node, "this", "table")
        if node.args.get("table") is not None or not isinstance(node.this, exp.Identifier):
            return None
        found = matching(node.this, [(item.alias, i) for i, item in enumerate(self.items) if item.alias is not None])
        if len(found) > 1:
            raise refused(node, "two outputs have this name", "give them different names with AS")
        return self.outputs[found[0]] if found and found[0] < len(self.outputs) else None


def place(kind: str, at: int) -> str:
    """A placeholder for a name, until all names are known."""
    return f"\0{kind} {at}"  # not a name that SQL can contain; replaced when all names are known


def is_window(name: str) -> bool:
    """Whether a placeholder is that of a window."""
    return name.startswith("\0window ")


def missing(node: exp.Column) -> Typed:
    """Refuse a column that is neither aggregated nor a key."""
    raise refused(
        node, "this column is neither aggregated nor in GROUP BY", f"add it to GROUP BY, or aggregate it, as in AVG({node.name[:40]})"
    )


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _default_name(expr: Expr) -> str:
    return "grouping" if any(name.startswith("\0grouping ") for name in columns_of(expr)) else expression_name(expr)


def named(reading: Reading[X], having: Typed | None, order: tuple[tuple[Typed, bool], ...]) -> Grouped[X]:
    """Name keys and aggregates after the outputs that show them, else by default."""
    key_names = [plain_name(key, reading.rows, f"key_{i}") for i, key in enumerate(reading.keys, 1)]
    defaults = {place("key", i): name for i, name in enumerate(key_names)} | {
        place("asked", i): made[2] for i, made in enumerate(reading.asked)
    }
    defaults |= {place("window", i): made.name for i, made in enumerate(reading.windows)}
    taken = {item.alias for item in reading.items if item.alias is not None}
    shown: list[str] = []
    final: dict[str, str] = {}
    for item, output in zip(reading.items, reading.outputs, strict=True):
        at = output.expr.name if isinstance(output.expr, Column) and output.expr.name in defaults else None
        name = item.alias or unique(defaults[at] if at else _default_name(output.expr), taken)
        shown.append(name)
        if at is not None:
            final.setdefault(at, name)
    for at, name in defaults.items():
        if at not in final:
            final[at] = unique(name, taken)

    final |= {place("grouping", i): grouping_column(final[place("key", i)]) for i in range(len(reading.keys))}

    def told(typed: Typed) -> Typed:
        return evolve(typed, expr=substituted(typed.expr, final))

    return Grouped(
        tuple((final[place("key", i)], key) for i, key in enumerate(reading.keys)),
        tuple((final[place("asked", i)], made[0]) for i, made in enumerate(reading.asked)),
        tuple((name, told(output)) for name, output in zip(shown, reading.outputs, strict=True)),
        None if having is None else told(having),
        tuple((told(value), descending) for value, descending in order),
        tuple((final[place("window", i)], renamed_window(made.window, final)) for i, made in enumerate(reading.windows)),
        reading.sets,
    )
