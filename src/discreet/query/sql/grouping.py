"""SELECT with groups: keys, aggregates, and expressions over them; for questions and for aggregation within a unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, final

from attrs import Factory, define, evolve, frozen
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.question import Sets, grouping_column
from discreet.query.relation.expr import Column, Expr, Literal, columns_of
from discreet.query.relation.field import Field
from discreet.query.sql import aggregates, cases
from discreet.query.sql.aggregates import Aggregate, has_aggregate
from discreet.query.sql.grouping_sets import SETS, read_sets
from discreet.query.sql.naming import expression_name, plain_name, substituted, unique
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import only, refused
from discreet.query.sql.scope import Scope, matching, new_name
from discreet.query.sql.typed import Apply, Typed, column, literal, of_answers, of_rows
from discreet.query.sql.windows import ReadWindow, read_window, renamed_window
from discreet.query.windows import Window
from discreet.tables.kind import Kind

X = TypeVar("X")
MOST_OUTPUTS = 300
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
class _Reading(Generic[X]):
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

    def reader(self, missing: Callable[[exp.Column], Typed]) -> Reader:
        """Read expressions over keys and aggregates."""
        return Reader(cases.CASES, cases.NAMED, self.apply, missing, self._special, self.dialect)

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
        return None if at is None else column(_place("key", at), evolve(self.keys[at].field, nullable=True) if self.sets else self.keys[at].field)

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
        return column(_place("asked", at), made[1])

    def _window(self, node: exp.Window) -> Typed:
        made = read_window(node, self.reader(lambda written: self.alias(written) or _missing(written)))
        at = next((i for i, other in enumerate(self.windows) if other.window == made.window), None)
        if at is None:
            at = len(self.windows)
            self.windows.append(made)
        if any(_is_window(name) for expr in made.window.exprs for name in columns_of(expr)):
            raise refused(node, "a window over another window is not supported", "write SUM(COUNT(*)) OVER (ORDER BY key)")
        return column(_place("window", at), made.field)

    def alias(self, node: exp.Column) -> Typed | None:
        """The output of this name, if there is one."""
        only(node, "this", "table")
        if node.args.get("table") is not None or not isinstance(node.this, exp.Identifier):
            return None
        found = matching(node.this, [(item.alias, i) for i, item in enumerate(self.items) if item.alias is not None])
        if len(found) > 1:
            raise refused(node, "two outputs have this name", "give them different names with AS")
        return self.outputs[found[0]] if found and found[0] < len(self.outputs) else None


def _place(kind: str, at: int) -> str:
    return f"\0{kind} {at}"  # not a name that SQL can contain; replaced when all names are known


def _is_window(name: str) -> bool:
    return name.startswith("\0window ")


def items_of(select: exp.Select) -> list[Item]:
    """The pieces of a SELECT list."""
    found: list[Item] = []
    if len(select.expressions) > MOST_OUTPUTS:
        raise refused(select, f"a question has at most {MOST_OUTPUTS} outputs", "split it into several questions")
    for node in select.expressions:
        if type(node) is exp.Alias:
            only(node, "this", "alias")
            item = Item(node.this, new_name(node.args["alias"]))
            if any(other.alias == item.alias for other in found):
                raise refused(node, "another output has this name", "give them different names with AS")
            found.append(item)
        elif type(node) is exp.Aliases:
            raise refused(node, "one column has several names", "give one name with AS")
        else:
            found.append(Item(node, None))
    return found


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT aggregates."""
    return bool(select.args.get("group") or select.args.get("having") or any(has_aggregate(node) for node in select.expressions))


def listed_groups(select: exp.Select) -> None:
    """SELECT DISTINCT of keys lists groups: it becomes GROUP BY all of them."""
    distinct, items = select.args["distinct"], items_of(select)
    only(distinct, "on")
    if distinct.args.get("on") is not None or is_grouped(select):
        raise refused(
            select,
            "DISTINCT lists groups, and takes neither ON nor aggregates",
            "count the groups, as in SELECT dept, COUNT(*) FROM visits GROUP BY dept, without DISTINCT",
        )
    select.set("distinct", None)
    select.set("group", exp.Group(expressions=[item.node.copy() for item in items]))


def read_grouped(select: exp.Select, rows: Scope, make: Make[X], apply: Apply, dialect: str) -> Grouped[X]:
    """Read SELECT, GROUP BY, HAVING and ORDER BY over these rows."""
    reading: _Reading[X] = _Reading(rows, make, apply, dialect, items_of(select))
    _read_keys(select.args.get("group"), reading)
    inner = reading.reader(_missing)
    for item in reading.items:
        if isinstance(item.node, exp.Star) or (isinstance(item.node.this, exp.Star) and isinstance(item.node, exp.Column)):
            raise refused(
                item.node, "* would show single rows, which are never released", "name the keys and aggregates, as in SELECT dept, COUNT(*)"
            )
        reading.outputs.append(inner.read(item.node))
    having, order = _read_having(select, reading), _read_order(select, reading)
    return _named(reading, having, order)


def _missing(node: exp.Column) -> Typed:
    raise refused(
        node, "this column is neither aggregated nor in GROUP BY", f"add it to GROUP BY, or aggregate it, as in AVG({node.name[:40]})"
    )


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_keys(group: exp.Group | None, reading: _Reading[X]) -> None:
    if group is None:
        return
    only(group, "expressions", "all")
    if any(isinstance(node, SETS) for node in group.expressions):
        if reading.apply is not of_answers:
            raise refused(group, "grouping sets within a unit are not supported", "write GROUP BY with columns, and ROLLUP outside")
        reading.keys, reading.sets = read_sets(group, lambda node: _read_key(node, reading))
        return
    if group.args.get("all"):
        only(group, "all")
        found = [reading.row.read(item.node) for item in reading.items if not has_aggregate(item.node) and not item.node.find(exp.Window)]
        found = [key for key in found if not isinstance(key.expr, Literal)]
    else:
        found = [_read_key(node, reading) for node in group.expressions]
    for key in found:
        if key.expr not in [other.expr for other in reading.keys]:
            reading.keys.append(key)


def _read_key(node: exp.Expr, reading: _Reading[X]) -> Typed:
    while type(node) is exp.Paren:
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string:
        node = _at(node, reading)
    elif isinstance(node, exp.Column):
        node = _key_or_alias(node, reading)
    if has_aggregate(node):
        raise refused(node, "GROUP BY takes columns, not aggregates", "aggregate within the unit in a subquery first")
    key = reading.row.read(node)
    if isinstance(key.expr, Literal):
        raise refused(node, "a constant cannot be a group key", "leave it out of GROUP BY")
    return key


def _at(node: exp.Literal, reading: _Reading[X]) -> exp.Expr:
    """The output at a position."""
    if not node.name.isdigit() or not 1 <= int(node.name[:9]) <= len(reading.items):
        raise refused(node, "there is no output at this position", f"use 1 to {len(reading.items)}, or a name")
    return reading.items[int(node.name) - 1].node


def _key_or_alias(node: exp.Column, reading: _Reading[X]) -> exp.Expr:
    named = (
        [] if node.args.get("table") else matching(node.this, [(item.alias, item.node) for item in reading.items if item.alias is not None])
    )
    if not named:
        return node
    if len(named) > 1:
        raise refused(node, "two outputs have this name", "give them different names with AS")
    if reading.rows.candidates(node) and reading.row.read(node).expr != (
        None if has_aggregate(named[0]) else reading.row.read(named[0]).expr
    ):
        raise refused(
            node,
            "both a column and an output have this name, and dialects differ on which one GROUP BY uses",
            "give the output another name",
        )
    return named[0]


# ── post-processing ──────────────────────────────────────────────────────────────────────────────────────────────────


def _read_having(select: exp.Select, reading: _Reading[X]) -> Typed | None:
    having = select.args.get("having")
    if having is None:
        return None
    only(having, "this")

    def named(node: exp.Column) -> Typed:
        return reading.alias(node) or _missing(node)

    found = reading.reader(named).read(having.this)
    if having.find(exp.Window) is not None or any(_is_window(name) for name in columns_of(found.expr)):
        raise refused(having, "HAVING comes before windows", "order by the window and write LIMIT 10, as in ORDER BY rank LIMIT 10")
    return found


def _read_order(select: exp.Select, reading: _Reading[X]) -> tuple[tuple[Typed, bool], ...]:
    order = select.args.get("order")
    if order is None:
        return ()
    only(order, "expressions")
    found = []
    for ordered in order.expressions:
        only(ordered, "this", "desc", "nulls_first")
        node = ordered.this
        if isinstance(node, exp.Literal) and not node.is_string:
            _at(node, reading)
            value = reading.outputs[int(node.name) - 1]
        else:
            value = (reading.alias(node) if isinstance(node, exp.Column) else None) or reading.reader(
                lambda c: reading.alias(c) or _missing(c)
            ).read(node)
        if isinstance(value.expr, Literal):
            continue
        if ordered.args.get("nulls_first") and value.field.nullable:  # NULL comes last unless NULLS FIRST is written
            found.append((reading.apply("is_null", [value]), True))
        found.append((value, bool(ordered.args.get("desc"))))
    return tuple(found)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _default_name(expr: Expr) -> str:
    return "grouping" if any(name.startswith("\0grouping ") for name in columns_of(expr)) else expression_name(expr)


def _named(reading: _Reading[X], having: Typed | None, order: tuple[tuple[Typed, bool], ...]) -> Grouped[X]:
    """Name keys and aggregates after the outputs that show them, else by default."""
    key_names = [plain_name(key, reading.rows, f"key_{i}") for i, key in enumerate(reading.keys, 1)]
    defaults = {_place("key", i): name for i, name in enumerate(key_names)} | {
        _place("asked", i): made[2] for i, made in enumerate(reading.asked)
    }
    defaults |= {_place("window", i): made.name for i, made in enumerate(reading.windows)}
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

    final |= {_place("grouping", i): grouping_column(final[_place("key", i)]) for i in range(len(reading.keys))}

    def told(typed: Typed) -> Typed:
        return evolve(typed, expr=substituted(typed.expr, final))

    return Grouped(
        tuple((final[_place("key", i)], key) for i, key in enumerate(reading.keys)),
        tuple((final[_place("asked", i)], made[0]) for i, made in enumerate(reading.asked)),
        tuple((name, told(output)) for name, output in zip(shown, reading.outputs, strict=True)),
        None if having is None else told(having),
        tuple((told(value), descending) for value, descending in order),
        tuple((final[_place("window", i)], renamed_window(made.window, final)) for i, made in enumerate(reading.windows)),
        reading.sets,
    )
