"""SELECT with groups: keys, aggregates, and expressions over them; for questions and for aggregation within a unit."""

from __future__ import annotations

from typing import TypeVar

from sqlglot import exp

from discreet.query.relation.expr import Literal, columns_of
from discreet.query.sql.aggregates import has_aggregate
from discreet.query.sql.grouped import Grouped, Item, Make, Reading, is_window, missing, named
from discreet.query.sql.grouping_sets import SETS, read_sets
from discreet.query.sql.refuse import is_set, only, piece, refused
from discreet.query.sql.scope import Scope, matching, new_name
from discreet.query.sql.typed import Apply, Typed, of_answers

X = TypeVar("X")
MOST_OUTPUTS = 300


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
    reading: Reading[X] = Reading(rows, make, apply, dialect, items_of(select))
    _read_keys(select.args.get("group"), reading)
    inner = reading.reader(missing)
    for item in reading.items:
        if isinstance(item.node, exp.Star) or (isinstance(item.node.this, exp.Star) and isinstance(item.node, exp.Column)):
            raise refused(
                item.node, "* would show single rows, which are never released", "name the keys and aggregates, as in SELECT dept, COUNT(*)"
            )
        reading.outputs.append(inner.read(item.node))
    having, order = _read_having(select, reading), _read_order(select, reading)
    return named(reading, having, order)


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_keys(group: exp.Group | None, reading: Reading[X]) -> None:
    if group is None:
        return
    for word in ("rollup", "cube"):
        if is_set(group.args.get(word)):  # GROUP BY a, b WITH ROLLUP
            keys = ", ".join(map(piece, group.expressions)) or "dept, sex"
            raise refused(group, f"WITH {word.upper()} is not supported", f"write GROUP BY {word.upper()}({keys})")
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


def _read_key(node: exp.Expr, reading: Reading[X]) -> Typed:
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


def _at(node: exp.Literal, reading: Reading[X]) -> exp.Expr:
    """The output at a position."""
    if not node.name.isdigit() or not 1 <= int(node.name[:9]) <= len(reading.items):
        raise refused(node, "there is no output at this position", f"use 1 to {len(reading.items)}, or a name")
    return reading.items[int(node.name) - 1].node


def _key_or_alias(node: exp.Column, reading: Reading[X]) -> exp.Expr:
    named = (
        [] if node.args.get("table") else matching(node.this, [(item.alias, item.node) for item in reading.items if item.alias is not None])
    )
    if not named:
        return node
    if len(named) > 1:
        raise refused(node, "two outputs have this name", "give them different names with AS")
    if reading.rows.candidates(node) and reading.row.read(node).expr != (
        None if has_aggregate(named[0]) or named[0].find(exp.Grouping, exp.GroupingId) else reading.row.read(named[0]).expr
    ):
        raise refused(
            node,
            "both a column and an output have this name, and dialects differ on which one GROUP BY uses",
            "give the output another name",
        )
    return named[0]


# ── post-processing ──────────────────────────────────────────────────────────────────────────────────────────────────


def _read_having(select: exp.Select, reading: Reading[X]) -> Typed | None:
    having = select.args.get("having")
    if having is None:
        return None
    only(having, "this")

    found = reading.reader(lambda node: reading.alias(node) or missing(node)).read(having.this)
    if having.find(exp.Window) is not None or any(is_window(name) for name in columns_of(found.expr)):
        raise refused(having, "HAVING comes before windows", "order by the window and write LIMIT 10, as in ORDER BY rank LIMIT 10")
    return found


def _read_order(select: exp.Select, reading: Reading[X]) -> tuple[tuple[Typed, bool], ...]:
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
                lambda c: reading.alias(c) or missing(c)
            ).read(node)
        if isinstance(value.expr, Literal):
            continue
        if ordered.args.get("nulls_first") and value.field.nullable:  # NULL comes last unless NULLS FIRST is written
            found.append((reading.apply("is_null", [value]), True))
        found.append((value, bool(ordered.args.get("desc"))))
    return tuple(found)
