"""Catalogue statements: parsed, checked against lists of what may occur, and written anew for the empty database.

Tools ask PostgreSQL's own tables which tables and columns there are. Such a statement reads relations of the catalogue only, or it looks
at a table in a way that gives no rows (LIMIT 0). Every class of node, every function and every type in it must be on the lists of
`nodes.py`; the SQL that runs is written from the tree, and the text of the client never reaches a database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import sqlglot
from attrs import frozen
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.query.sql.bind import literal_of
from discreet.query.sql.parameters import place_of
from discreet.server.postgres_wire.catalogue.calls import (
    SETTING,
    as_table,
    bound,
    called,
    cast,
    formatted,
    operator,
    type_name,
    unsupported,
)
from discreet.server.postgres_wire.catalogue.macros import PREFIX
from discreet.server.postgres_wire.catalogue.nodes import FUNCTION_COLUMNS, NODES, SESSION
from discreet.server.postgres_wire.catalogue.relations import LETTERS, relations
from discreet.server.postgres_wire.catalogue.rows import FILLED, PUBLIC, SCHEMAS
from discreet.server.postgres_wire.sqlstates import NO_RELATION, NOT_SUPPORTED, Failure
from discreet.server.postgres_wire.types import INT8, TEXT, TEXTS

_LONGEST = 100_000  # characters
_DEEPEST = 300  # nodes below one another
_CATALOGUE = ("pg_catalog", "information_schema")


@final
@frozen(eq=False)
class CatalogueStatement:
    """A statement that may run on the empty database; `certainly_empty` if it reads a relation that has no rows here."""

    tree: exp.Expr
    types: tuple[int, ...]  # of its parameters
    names: tuple[str, ...]
    certainly_empty: bool

    def sql(self, values: Sequence[Any] | None, session: Mapping[str, str | None]) -> str:
        """The SQL that runs, with these parameters (NULL if there are none yet), and what is known about the session."""
        tree = self.tree.copy()
        for node in list(tree.find_all(exp.Parameter)):
            place = place_of(node)
            value = session.get(node.name) if place is None else None if values is None else values[place - 1]
            node.replace(bound(node, value))
        for call in list(tree.find_all(exp.Anonymous)):
            if call.this == SETTING:
                name = call.find(exp.Literal)
                call.replace(literal_of(None if name is None else session.get(f"setting {name.name.lower()}")))
        return str(tree.sql("duckdb", comments=False))


def read_catalogue(text: str, tables: Collection[str]) -> CatalogueStatement | None:
    """The statement, if it is about the catalogue; None if it is not, or cannot be read, and is to be taken for a question."""
    if len(text) > _LONGEST:
        return None
    try:
        parsed = sqlglot.parse(text, dialect="postgres")
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        return None
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        return None
    tree = parsed[0]
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    read = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    own = [table for table in read if not _is_catalogue(table) and table.name.lower() not in ctes]
    if own and not (all(_is_of(table, tables) for table in own) and _has_no_rows(tree)):
        return None
    try:
        return _rewritten(tree, ctes, {table.lower(): table for table in tables})
    except RecursionError:
        raise Failure(NOT_SUPPORTED, "this statement is nested too deeply") from None


def _is_catalogue(table: exp.Table) -> bool:
    schema = table.text("db").lower()
    return schema in _CATALOGUE or (not schema and ("pg_catalog", table.name.lower()) in relations())


def _is_of(table: exp.Table, tables: Collection[str]) -> bool:
    return table.text("db").lower() in ("", "public") and table.name.lower() in {name.lower() for name in tables}


def _has_no_rows(tree: exp.Query) -> bool:
    """Whether a statement can have no rows, whatever is in its tables: LIMIT 0, or WHERE FALSE without an aggregate."""
    limit, where = tree.args.get("limit"), tree.args.get("where")
    if isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal) and limit.expression.name == "0":
        return True
    if where is None or tree.find(exp.AggFunc) is not None:
        return False
    match where.this:
        case exp.Boolean():
            return not where.this.this
        case exp.EQ():
            sides = (where.this.this, where.this.expression)
            return all(isinstance(side, exp.Literal) for side in sides) and sides[0] != sides[1]
        case exp.NEQ():
            return isinstance(where.this.this, exp.Literal) and where.this.this == where.this.expression
    return False


# ── checking and rewriting ───────────────────────────────────────────────────────────────────────────────────────────


def _rewritten(tree: exp.Query, ctes: set[str], tables: Mapping[str, str]) -> CatalogueStatement:
    if any(node.depth > _DEEPEST for node in tree.walk()):
        raise Failure(NOT_SUPPORTED, "this statement is nested too deeply")
    names, types = tuple(_output_name(item) for item in _outputs(tree)), _parameter_types(tree)
    empty = _certainly_empty(tree, ctes)
    try:
        _rewrite(tree, ctes, tables)
    except Failure:
        if not empty:
            raise
        tree = exp.select(*(exp.alias_(exp.Null(), name, quoted=True) for name in names or ("?column?",))).where(exp.false())
    return CatalogueStatement(tree, types, names, empty)


def _rewrite(tree: exp.Query, ctes: set[str], tables: Mapping[str, str]) -> None:
    _name_outputs(tree)
    for node in reversed(list(tree.walk())):  # what is inside comes first
        replaced = _replaced(node, ctes, tables)
        if replaced is not node and node.parent is not None:
            node.replace(replaced)


def _parameter_types(tree: exp.Query) -> tuple[int, ...]:
    """The types of $1, $2, …: a list where one of several is meant, a number where a number is compared, else text."""
    found: dict[int, int] = {}
    for node in tree.find_all(exp.Parameter):
        above, cast_to = node.parent, ""
        while isinstance(above, exp.Paren | exp.Cast):
            cast_to = type_name(above.to) if isinstance(above, exp.Cast) and not cast_to else cast_to
            above = above.parent
        column = above.find(exp.Column) if isinstance(above, exp.Predicate) and not cast_to else None
        letter = "" if column is None else LETTERS.get(column.name.lower(), "")
        is_list = isinstance(above, exp.Any) or cast_to.endswith("[]")
        number = cast_to in ("oid", "int", "integer", "int4", "int8", "bigint", "int2", "smallint") or letter in ("o", "i", "l")
        place = place_of(node)
        if place is None:
            raise unsupported("a parameter without a number")
        found[place] = TEXTS if is_list else INT8 if number else TEXT
    return tuple(found.get(place, TEXT) for place in range(1, max(found, default=0) + 1))


def _replaced(node: exp.Expr, ctes: set[str], tables: Mapping[str, str]) -> exp.Expr:
    """What stands for a node; a Failure if it may not occur."""
    node.comments = None
    if not isinstance(node, NODES):
        raise unsupported(node.key.upper())
    match node:
        case exp.Identifier():
            return node if node.args.get("quoted") else exp.to_identifier(node.name.lower(), quoted=True)
        case exp.Table() if isinstance(node.this, exp.Identifier):
            _point_to(node, ctes, tables)
        case exp.Table():
            return as_table(node)
        case exp.Format():
            return formatted(node)
        case exp.CurrentSchemas():
            return exp.Anonymous(this=f"{PREFIX}current_schemas", expressions=[exp.true()])
        case exp.Column():
            if node.text("db").lower() in (*_CATALOGUE, "public"):
                node.set("db", None)
            if node.args.get("catalog") is not None or node.args.get("db") is not None:
                raise unsupported("a name of more than two parts")
            if not node.text("table") and node.name.lower() in SESSION and not node.this.args.get("quoted"):
                return exp.Parameter(this=exp.Var(this=SESSION[node.name.lower()]))
        case exp.Dot():
            if (
                isinstance(node.this, exp.Identifier)
                and node.this.name in _CATALOGUE
                and isinstance(node.expression, exp.Func | exp.Parameter)
            ):
                return node.expression
            if not isinstance(node.parent, exp.DataType):
                raise unsupported("a name of more than two parts")
        case exp.ByteString():  # E'…'
            return exp.Literal.string(node.name.replace("\\n", "\n").replace("\\t", "\t"))
        case exp.Collate():
            return exp.Paren(this=node.this)
        case exp.Operator():
            return operator(node)
        case exp.Cast():
            return cast(node)
        case exp.EQ() | exp.NEQ() if node.this.name in FUNCTION_COLUMNS and node.expression == exp.Literal.number(0):
            node.set("expression", exp.Literal.string("-"))  # functions have names here, and numbers there
        case exp.Div() if isinstance(node.expression, exp.Literal) and node.expression.is_int:
            return exp.IntDiv(this=node.this, expression=node.expression)
        case exp.Anonymous():
            return called(node)
        case exp.Func() if type(node).__name__.lower() in SESSION:
            return exp.Parameter(this=exp.Var(this=SESSION[type(node).__name__.lower()]))
    return node


def _point_to(table: exp.Table, ctes: set[str], tables: Mapping[str, str]) -> None:
    """Let a name in FROM mean the relation of that name in the empty database; a Failure if there is none."""
    schema, name = table.text("db").lower(), table.name.lower()
    if table.args.get("catalog") is not None:
        table.set("catalog", None)
    if not schema and name in ctes:
        return
    if schema in ("", "public") and name in tables and ("pg_catalog", name) not in relations():
        table.set("db", exp.to_identifier(PUBLIC, quoted=True))
        return
    schema = schema or "pg_catalog"
    if (schema, name) not in relations():
        raise Failure(NO_RELATION, f'relation "{name[:60]}" does not exist', "information_schema.tables lists those that there are")
    table.set("this", exp.to_identifier(name, quoted=True))
    table.set("db", exp.to_identifier(SCHEMAS[schema], quoted=True))


# ── names of outputs, as PostgreSQL gives them ───────────────────────────────────────────────────────────────────────


def _outputs(tree: exp.Expr) -> list[exp.Expr]:
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    return list(tree.expressions) if isinstance(tree, exp.Select) else []


def _name_outputs(tree: exp.Expr) -> None:
    for item in _outputs(tree):
        if not isinstance(item, exp.Alias | exp.Star) and not (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            name = _output_name(item)
            item.replace(exp.alias_(item.copy(), name, quoted=True))


def _output_name(item: exp.Expr) -> str:
    match item:
        case exp.Alias() | exp.Column():
            return item.alias_or_name if item.this.args.get("quoted") or isinstance(item, exp.Alias) else item.name.lower()
        case exp.Paren():
            return _output_name(item.this)
        case exp.Dot():
            return _output_name(item.expression)
        case exp.Cast():
            inside = _output_name(item.this)
            return type_name(item.to) if inside == "?column?" else inside
        case exp.Subquery():
            inner = _outputs(item)
            return _output_name(inner[0]) if inner else "?column?"
        case exp.Case():
            return "case"
        case exp.Anonymous():
            return str(item.this).lower()
        case exp.Func():
            known = {
                "CurrentVersion": "version",
                "CurrentSchema": "current_schema",
                "CurrentDatabase": "current_database",
                "CurrentCatalog": "current_catalog",
            }
            return known.get(type(item).__name__, item.sql_name().lower())
    return "?column?"


def _certainly_empty(tree: exp.Expr, ctes: set[str]) -> bool:
    """Whether every arm of a statement joins a relation that has no rows here, so that it has none.

    It has one all the same where it aggregates without GROUP BY.
    """
    if isinstance(tree, exp.SetOperation):
        return _certainly_empty(tree.this, ctes) and _certainly_empty(tree.expression, ctes)
    if not isinstance(tree, exp.Select) or (tree.find(exp.AggFunc) is not None and tree.args.get("group") is None):
        return False
    joins, source = tree.args.get("joins") or (), tree.args.get("from_")
    if any(join.side in ("RIGHT", "FULL") for join in joins):  # they keep rows without a match on their left
        return False
    read = ([] if source is None else [source.this]) + [join.this for join in joins if not join.side]
    return any(_is_empty(one, ctes) for one in read)


def _is_empty(source: exp.Expr, ctes: set[str]) -> bool:
    if isinstance(source, exp.Subquery):
        return _certainly_empty(source.this, ctes)
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier) or source.name.lower() in FILLED | ctes:
        return False
    return (source.text("db").lower() or "pg_catalog", source.name.lower()) in relations()
