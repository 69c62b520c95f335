"""FROM and JOIN: tables by their declared names, subqueries, and which joins keep every row with one unit."""

from __future__ import annotations

from typing import Literal as Word

from attrs import evolve
from sqlglot import exp

from discreet.errors import Refused
from discreet.hints import suggest_and_list
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Join, Relation, Scan, Select
from discreet.query.sql.grouped import row_reader
from discreet.query.sql.kinds import check_joined
from discreet.query.sql.naming import unique
from discreet.query.sql.reader import flat
from discreet.query.sql.refuse import located, only, piece, place, refused
from discreet.query.sql.scope import Body, Context, Scope, ScopedTable, combined, kept, matching, new_name, renamed
from discreet.query.sql.units import names_unit, same_unit
from discreet.tables.kind import Kind


def read_from(select: exp.Select, context: Context) -> tuple[Scope, list[exp.Expr]]:
    """The result of FROM, and the conditions of WHERE that are not join conditions."""
    start = select.args.get("from_")
    if start is None:
        raise refused(select, "a question needs a table", "write SELECT … FROM table")
    only(start, "this")
    where = select.args.get("where")
    if where is not None:
        only(where, "this")
    conditions = [] if where is None else flat(where.this, exp.And)
    rows = read_from_item(start.this, context)
    for join in select.args.get("joins") or []:
        rows, conditions = _joined(rows, join, conditions, context)
    return rows, conditions


def filtered(rows: Scope, conditions: list[exp.Expr], dialect: str) -> Scope:
    """The rows for which all conditions are true."""
    if not conditions:
        return rows
    reader = row_reader(rows, dialect)
    read = [reader.read(condition) for condition in conditions]
    for condition, found in zip(conditions, read, strict=True):
        if found.field.kind not in (Kind.BOOLEAN, None):
            raise refused(condition, "a condition is needed here", "write a comparison, as in cost > 10")
    return evolve(rows, body=kept(rows.body, *(found.expr for found in read)))


# ── one table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_from_item(node: exp.Expr, context: Context) -> Scope:
    """A table or a subquery, under its name in FROM."""
    if isinstance(node, exp.Table):
        only(node, "this", "alias", *(("db", "catalog") if context.dialect == "bigquery" else ()))
        if not isinstance(node.this, exp.Identifier):
            raise refused(node, "table functions and files are not supported", f"name a declared table: {_declared(context)}")
        name, body = _known(node, node.this, context)
    elif isinstance(node, exp.Subquery):
        only(node, "this", "alias")
        name, body = "", context.query(node.this, context)
    else:
        raise refused(node, "FROM takes declared tables and subqueries only", f"name a declared table: {_declared(context)}")
    alias = node.args.get("alias")
    if alias is not None:
        only(alias, "this", "columns")
        name = new_name(alias.this) if alias.this is not None else name
        body = with_columns(node, body, alias.args.get("columns") or [])
    return Scope(body, (ScopedTable(name, tuple((column, column) for column in body.relation.schema)),))


def with_columns(node: exp.Expr, body: Body, columns: list[exp.Expr]) -> Body:
    """The columns under the names listed after an alias."""
    if not columns:
        return body
    names = [new_name(column) for column in columns if isinstance(column, exp.Identifier)]
    if not len(names) == len(set(names)) == len(columns) == len(body.relation.schema):
        raise refused(node, f"there are {len(body.relation.schema)} columns to name", "give each its own name")
    return renamed(body, names)


def _known(node: exp.Table, name: exp.Identifier, context: Context) -> tuple[str, Body]:
    qualified = node.args.get("db") is not None
    named = [] if qualified else matching(name, [(known, (known, body)) for known, body in context.names])
    if named:
        return named[-1]
    if qualified:
        _check_qualified(node)
    tables = matching(name, ((table.name, table) for table in context.catalog.tables))
    if len(tables) != 1:
        raise Refused(f"{piece(node)}{place(node)}: there is no such table; {suggest_and_list(name.name, _names(context))}")
    return tables[0].name, combined(Scan(tables[0], context.catalog.steps_to_unit(tables[0])))


def _check_qualified(node: exp.Table) -> None:
    """project.dataset.table refers to the declared table, unless it is ambiguous: another dataset's table, or a column of one in FROM."""
    for other in node.root().find_all(exp.Table, exp.Subquery, exp.CTE):
        same = isinstance(other, exp.Table) and other.name.lower() == node.name.lower()
        if same and other.args.get("db") is not None and _before(other) != _before(node):
            raise refused(node, "tables of this name are read from two datasets", "use the declared table, by its name alone")
        if other is not node and other.alias_or_name.lower() == _before(node)[0]:
            raise refused(node, "this may also be a column of another table", "name the declared table alone")


def _before(node: exp.Expr) -> list[str]:
    return [part.name.lower() for part in (node.args.get("catalog"), node.args.get("db")) if part is not None]


def _names(context: Context) -> list[str]:
    return [table.name for table in context.catalog.tables]


def _declared(context: Context) -> str:
    return ", ".join(sorted(_names(context)))


# ── joins ────────────────────────────────────────────────────────────────────────────────────────────────────────────

Pairs = list[tuple[str, str]]


def _joined(rows: Scope, join: exp.Join, conditions: list[exp.Expr], context: Context) -> tuple[Scope, list[exp.Expr]]:
    only(join, "this", "on", "using", "side", "kind")
    side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or (kind == "OUTER" and not side):
        raise refused(
            join, "only JOIN and LEFT JOIN are supported", "swap the tables and use LEFT JOIN, or write an inner JOIN … ON a.id = b.id"
        )
    right = read_from_item(join.this, context)
    if any(source.name == right.sources[0].name and source.name for source in rows.sources):
        raise refused(join, "two tables have the same name here", "give them aliases, as in visits AS a JOIN visits AS b")
    if side == "LEFT":
        return _left(rows, right, join, context), conditions
    if join.args.get("on") is not None:
        only(join, "this", "on", "side", "kind")
        pairs, rest = split_pairs(rows, right, flat(join.args["on"], exp.And))
        return filtered(joined_on(rows, right, pairs, join), rest, context.dialect), conditions
    if join.args.get("using"):
        pairs = _using(rows, right, join)
        return _merged(joined_on(rows, right, pairs, join), len(rows.sources), pairs), conditions
    pairs, rest = split_pairs(rows, right, conditions)
    return joined_on(rows, right, pairs, join), rest


def _left(rows: Scope, right: Scope, join: exp.Join, context: Context) -> Scope:
    if join.args.get("using"):
        pairs = _using(rows, right, join)
        return _merged(joined_on(rows, right, pairs, join, "left"), len(rows.sources), pairs)
    if join.args.get("on") is None:
        raise refused(join, "a LEFT JOIN needs its condition", "write LEFT JOIN … ON a.id = b.id")
    pairs, rest = split_pairs(rows, right, flat(join.args["on"], exp.And))
    for condition in rest:
        if any(rows.candidates(column) for column in condition.find_all(exp.Column)):
            raise refused(
                condition, "a LEFT JOIN takes equalities and conditions on its right table alone", "move this to WHERE, or use JOIN"
            )
    return joined_on(rows, filtered(right, rest, context.dialect), pairs, join, "left")


def split_pairs(rows: Scope, right: Scope, conditions: list[exp.Expr]) -> tuple[Pairs, list[exp.Expr]]:
    """Equalities between the two sides, and all other conditions."""
    pairs: Pairs = []
    rest: list[exp.Expr] = []
    for condition in conditions:
        pair = _pair(rows, right, condition)
        if pair is None:
            rest.append(condition)
        elif pair not in pairs:
            pairs.append(pair)
    return pairs, rest


def _pair(rows: Scope, right: Scope, condition: exp.Expr) -> tuple[str, str] | None:
    while type(condition) is exp.Paren:
        condition = condition.this
    if type(condition) is not exp.EQ or type(condition.this) is not exp.Column or type(condition.expression) is not exp.Column:
        return None
    for a, b in ((condition.this, condition.expression), (condition.expression, condition.this)):
        left_a, right_a, left_b, right_b = rows.candidates(a), right.candidates(a), rows.candidates(b), right.candidates(b)
        if len(left_a) == 1 and not right_a and len(right_b) == 1 and not left_b:
            return left_a[0], right_b[0]
    return None


def _using(rows: Scope, right: Scope, join: exp.Join) -> Pairs:
    names = [exp.Column(this=name) for name in join.args["using"]]
    return [(rows.find(name), right.find(name)) for name in names]


def _merged(rows: Scope, before: int, pairs: Pairs) -> Scope:
    """Hide the columns that USING merged into the left ones."""
    merged = {b for _, b in pairs}
    hidden = {inner for source in rows.sources[before:] for name, inner in source.columns if name in merged}
    return evolve(rows, hidden=rows.hidden | hidden)


def joined_on(rows: Scope, right: Scope, pairs: Pairs, join: exp.Join, kind: Word["inner", "left"] = "inner") -> Scope:
    """The join itself, the right side's columns renamed where names collide."""
    if not pairs:
        raise refused(join, "this join has no condition that equates a column of each side", "write JOIN … ON a.id = b.id")
    left = rows.relation
    for a, b in pairs:
        check_joined(join, (a, left.schema[a].kind), (b, right.relation.schema[b].kind))
    if left.private and right.relation.private:
        pairs = _on_unit(left, right.relation, pairs, join)
    taken = set(left.schema)
    apart = {name: unique(name, taken) for name in right.relation.schema}
    body = right.body
    if any(name != inner for name, inner in apart.items()):
        body = body.grown(Select(body.relation, tuple((inner, Column(name)) for name, inner in apart.items())))
    try:
        joined = combined(Join(left, body.relation, tuple((a, apart[b]) for a, b in pairs), kind), rows.body, body)
    except Refused as error:
        raise located(join, error) from None
    source = ScopedTable(right.sources[0].name, tuple((name, apart[inner]) for name, inner in right.sources[0].columns))
    return Scope(joined, (*rows.sources, source), rows.hidden)


def _on_unit(left: Relation, right: Relation, pairs: Pairs, join: exp.Join) -> Pairs:
    """Private tables are joined on the unit; the node adds that condition itself, so equalities of the unit are left out."""
    if not any(same_unit(left, a, right, b) for a, b in pairs):
        raise refused(
            join,
            "two private tables are joined only on the column that names the protected unit, or on a declared link",
            f"add {_unit_name(left)} = {_unit_name(right)} to the condition",
        )
    both = [(names_unit(left, a), names_unit(right, b)) for a, b in pairs]
    if any(left.schema[a].unit != right.schema[b].unit for a, b in pairs if not same_unit(left, a, right, b)):
        raise refused(join, "the unit is compared with another column", "compare it with the unit of the other table")
    return [pair for pair, units in zip(pairs, both, strict=True) if units != (True, True)]


def _unit_name(relation: Relation) -> str:
    return next((name for name, field in relation.schema.items() if field.unit), "its unit")
