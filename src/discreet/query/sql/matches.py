"""IN (SELECT …) and EXISTS (SELECT …) over public tables, as conditions of WHERE."""

from __future__ import annotations

from typing import Literal as Word

from attrs import evolve
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.node import Match
from discreet.query.sql.durations import unwrapped
from discreet.query.sql.grouped import row_reader
from discreet.query.sql.grouping import is_grouped
from discreet.query.sql.kinds import check_joined
from discreet.query.sql.refuse import located, only, piece, refused
from discreet.query.sql.scope import Body, Context, Scope, combined
from discreet.query.sql.sources import filtered, read_from, split_pairs


def kept_rows(rows: Scope, conditions: list[exp.Expr], context: Context) -> Scope:
    """The rows for which all conditions of WHERE are true, IN and EXISTS over public tables among them."""
    plain, searches = [], []
    for condition in conditions:
        search = _search(condition)
        if search is None:
            plain.append(condition)
        else:
            searches.append(search)
    rows = filtered(rows, plain, context.dialect)
    for node, negated in searches:
        rows = _in(rows, node, negated, context) if isinstance(node, exp.In) else _exists(rows, node, negated, context)
    return rows


def _search(condition: exp.Expr) -> tuple[exp.In | exp.Exists, bool] | None:
    negated, node = False, unwrapped(condition)
    while type(node) is exp.Not:
        only(node, "this")
        negated, node = not negated, unwrapped(node.this)
    if isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None):
        return node, negated
    return None


def _in(rows: Scope, node: exp.In, negated: bool, context: Context) -> Scope:
    only(node, "this", "query")
    value, inside = row_reader(rows, context.dialect).read(node.this), node.args["query"]
    public = context.query(inside, context)
    if len(public.relation.schema) != 1:
        raise refused(node, "IN compares with one column", "select that column alone, as in x IN (SELECT id FROM sites)")
    [(name, field)] = public.relation.schema.items()
    if public.relation.private:
        raise _private(node, name, piece(unwrapped(inside).this if isinstance(inside, exp.Subquery) else inside), piece(node.this), negated)
    check_joined(node, (piece(node.this), value.field.kind), (name, field.kind))
    return _matched(rows, node, public, ((value.expr, name),), "in", negated)


def _exists(rows: Scope, node: exp.Exists, negated: bool, context: Context) -> Scope:
    only(node, "this")
    select = unwrapped(node.this)
    while isinstance(select, exp.Subquery):
        only(select, "this")
        select = select.this
    if not isinstance(select, exp.Select) or is_grouped(select):
        raise refused(node, "EXISTS takes a plain SELECT", "write EXISTS (SELECT 1 FROM sites WHERE sites.id = visits.site_id)")
    only(select, "expressions", "from_", "joins", "where")
    if any(not isinstance(item, exp.Literal | exp.Star | exp.Column) for item in select.expressions):
        raise refused(node, "what EXISTS selects is not shown", "write EXISTS (SELECT 1 FROM …)")
    inner, conditions = read_from(select, context)
    pairs, rest = split_pairs(rows, inner, conditions)
    if not pairs:
        raise refused(
            node, "EXISTS needs an equality of a column of each side", "write EXISTS (SELECT 1 FROM sites WHERE sites.id = site_id)"
        )
    if inner.relation.private:
        a, b = pairs[0]
        where = f" WHERE {' AND '.join(piece(condition) for condition in rest)}" if rest else ""
        raise _private(node, b, f"SELECT {b} FROM {piece(select.args['from_'].this)}{where}", a, negated)
    for a, b in pairs:
        check_joined(node, (a, rows.relation.schema[a].kind), (b, inner.relation.schema[b].kind))
    public = filtered(inner, rest, context.dialect).body
    return _matched(rows, node, public, tuple((Column(a), b) for a, b in pairs), "exists", negated)


def _matched(
    rows: Scope, node: exp.Expr, public: Body, pairs: tuple[tuple[Expr, str], ...], how: Word["in", "exists"], negated: bool
) -> Scope:
    try:
        return evolve(rows, body=combined(Match(rows.relation, public.relation, pairs, how, negated), rows.body, public))
    except Refused as error:
        raise located(node, error) from None


def _private(node: exp.Expr, column: str, select: str, value: str, negated: bool) -> Refused:
    """The refusal of a private table, with the join on the unit that asks the same."""
    if negated:
        counted = select.replace(f"SELECT {column}", f"SELECT {column}, COUNT(*) AS n", 1)
        instead = f"LEFT JOIN ({counted} GROUP BY {column}) AS other ON other.{column} = {value} WHERE other.n IS NULL"
    else:
        instead = f"JOIN ({select} GROUP BY {column}) AS other ON other.{column} = {value}"
    return refused(node, "only public tables are searched by IN and EXISTS; private ones are joined on the unit", f"write … {instead}")
