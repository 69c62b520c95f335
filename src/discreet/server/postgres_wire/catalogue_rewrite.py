"""Catalogue statements: parsed, checked against lists of what may occur, and written anew for the empty database.

Tools ask PostgreSQL's own tables which tables and columns there are. Only a statement whose relations are all relations of the catalogue is
one, or a look at a table that cannot have rows (LIMIT 0). Every class of node, every function and every type that occurs must be listed
here; the SQL that runs is written from the tree, and its text never reaches a database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import sqlglot
from attrs import frozen
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.query.sql.parameters import literal_of, place_of
from discreet.server.postgres_wire.catalogue_macros import MACRO_NAMES, PREFIX
from discreet.server.postgres_wire.catalogue_nodes import FUNCTIONS, NODES, OPERATORS, SESSION, TYPES
from discreet.server.postgres_wire.catalogue_relations import relations
from discreet.server.postgres_wire.catalogue_rows import FILLED, PUBLIC, SCHEMAS
from discreet.server.postgres_wire.sqlstates import NOT_SUPPORTED, Failure

_LONGEST = 100_000  # characters
_DEEPEST = 300  # nodes below one another
_CATALOGUE = ("pg_catalog", "information_schema")


@final
@frozen(eq=False)
class CatalogueStatement:
    """A statement that may run on the empty database; `certainly_empty` if it reads a relation that has no rows here."""

    tree: exp.Expr
    parameters: int
    names: tuple[str, ...]
    certainly_empty: bool

    def sql(self, values: Sequence[Any] | None, session: Mapping[str, str | None]) -> str:
        """The SQL that runs, with these parameters (NULL if there are none yet), and what is known about the session."""
        tree = self.tree.copy()
        for node in list(tree.find_all(exp.Parameter)):
            place = place_of(node)
            value = session.get(node.name) if place is None else None if values is None else values[place - 1]
            node.replace(literal_of(value))
        return str(tree.sql("duckdb", comments=False))


def read_catalogue(text: str, tables: Collection[str]) -> CatalogueStatement | None:
    """The statement, if it is about the catalogue; None if it is not, or cannot be read: then it is taken for a question."""
    if len(text) > _LONGEST:
        return None
    try:
        parsed = sqlglot.parse(text, dialect="postgres")
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        return None
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        return None
    tree = parsed[0]
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    read = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    mine = [table for table in read if not _is_catalogue(table) and table.name.lower() not in named]
    if mine and not (all(_is_of(table, tables) for table in mine) and _has_no_rows(tree)):
        return None
    try:
        return _rewritten(tree, named, {table.lower(): table for table in tables})
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


def _rewritten(tree: exp.Query, named: set[str], tables: Mapping[str, str]) -> CatalogueStatement:
    nodes = list(tree.walk())
    if any(node.depth > _DEEPEST for node in nodes):
        raise Failure(NOT_SUPPORTED, "this statement is nested too deeply")
    names = tuple(_output_name(item) for item in _outputs(tree))
    empty = _certainly_empty(tree, named)
    _name_outputs(tree)
    for node in reversed(list(tree.walk())):  # what is inside comes first
        replaced = _replaced(node, named, tables)
        if replaced is not node and node.parent is not None:
            node.replace(replaced)
    places = [place_of(node) for node in tree.find_all(exp.Parameter)]
    return CatalogueStatement(tree, max((place for place in places if place is not None), default=0), names, empty)


def _replaced(node: exp.Expr, named: set[str], tables: Mapping[str, str]) -> exp.Expr:
    """What stands for a node; a Failure if it may not occur."""
    node.comments = None
    if not isinstance(node, NODES):
        raise _unsupported(node.key.upper())
    match node:
        case exp.Identifier():
            return node if node.args.get("quoted") else exp.to_identifier(node.name.lower(), quoted=True)
        case exp.Table() if isinstance(node.this, exp.Identifier):
            _place(node, named, tables)
        case exp.Table():
            if not isinstance(node.this, exp.Func | exp.Parameter):
                raise _unsupported("something else than a relation")
            node.set("db", None)
        case exp.Column():
            if node.text("db").lower() in (*_CATALOGUE, "public"):
                node.set("db", None)
            if node.args.get("catalog") is not None or node.args.get("db") is not None:
                raise _unsupported("a name of more than two parts")
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
                raise _unsupported("a name of more than two parts")
        case exp.ByteString():  # E'…'
            return exp.Literal.string(node.name.replace("\\n", "\n").replace("\\t", "\t"))
        case exp.Collate():
            return node.this
        case exp.Operator():
            return _operator(node)
        case exp.Cast():
            return _cast(node)
        case exp.Anonymous():
            return _called(node)
        case exp.Func() if type(node).__name__.lower() in SESSION:
            return exp.Parameter(this=exp.Var(this=SESSION[type(node).__name__.lower()]))
    return node


def _place(table: exp.Table, named: set[str], tables: Mapping[str, str]) -> None:
    """Let a table name stand for the relation of the empty database."""
    schema, name = table.text("db").lower(), table.name.lower()
    if table.args.get("catalog") is not None:
        table.set("catalog", None)
    if not schema and name in named:
        return
    if schema in ("", "public") and name in tables and ("pg_catalog", name) not in relations():
        table.set("db", exp.to_identifier(PUBLIC, quoted=True))
        return
    schema = schema or "pg_catalog"
    if (schema, name) not in relations():
        raise Failure("42P01", f'relation "{name[:60]}" does not exist', "information_schema.tables lists those that there are")
    table.set("this", exp.to_identifier(name, quoted=True))
    table.set("db", exp.to_identifier(SCHEMAS[schema], quoted=True))


def _operator(node: exp.Operator) -> exp.Expr:
    said = str(node.args.get("operator")).rsplit(".", 1)[-1]
    if said not in OPERATORS:
        raise _unsupported(f"OPERATOR({said[:20]})")
    build, negated = OPERATORS[said]
    found = build(this=node.this, expression=node.expression)
    return exp.Not(this=found) if negated else found


def _cast(node: exp.Cast) -> exp.Expr:
    to = node.to
    name = _type_name(to)
    plain = name.removesuffix("[]")
    if plain not in TYPES:
        raise _unsupported(f"the type {plain[:40]}")
    if plain.startswith("reg"):
        named = isinstance(node.this, exp.Literal | exp.Parameter) or (
            isinstance(node.this, exp.Cast) and isinstance(node.this.this, exp.Parameter)
        )
        functions = {"regclass": ("to_regclass", "regclass_name"), "regnamespace": ("to_regnamespace", "regnamespace_name")}
        to_oid, to_name = functions.get(plain, ("to_regtype", "format_type"))
        if plain not in ("regclass", "regnamespace", "regtype"):
            return exp.Cast(this=node.this, to=exp.DataType.build("text", dialect="duckdb"))
        if isinstance(node.this, exp.Literal) and node.this.name.isdigit():
            return exp.Cast(this=node.this, to=exp.DataType.build("uinteger", dialect="duckdb"))
        return exp.Anonymous(this=PREFIX + (to_oid if named else to_name), expressions=[node.this])
    if name.endswith("[]") and isinstance(node.this, exp.Column | exp.Paren):
        return node.this
    found = exp.DataType.build(TYPES[plain] + name[len(plain) :], dialect="duckdb")
    return exp.Cast(this=node.this, to=found)


def _type_name(to: exp.Expr) -> str:
    """The name of a type, without its schema and its length."""
    if isinstance(to, exp.DataType) and to.this is exp.DataType.Type.ARRAY:
        return f"{_type_name(to.expressions[0]) if to.expressions else 'text'}[]"
    if isinstance(to, exp.DataType) and to.this is exp.DataType.Type.USERDEFINED:
        kind = to.args.get("kind")
        return (kind.expression.name if isinstance(kind, exp.Dot) else kind.name if isinstance(kind, exp.Expr) else str(kind)).lower()
    if isinstance(to, exp.DataType):
        return str(to.this.value).lower()
    return to.name.lower()


def _called(node: exp.Anonymous) -> exp.Expr:
    name = str(node.this).lower()
    arguments = node.expressions
    if name in SESSION:
        return exp.Parameter(this=exp.Var(this=SESSION[name]))
    if name in ("current_setting", "set_config"):
        if not arguments or not isinstance(arguments[0], exp.Literal):
            raise _unsupported(name)
        if name == "set_config":
            return arguments[1] if len(arguments) > 1 else exp.Null()
        return exp.Parameter(this=exp.Var(this=f"setting {arguments[0].name.lower()}"))
    if name in MACRO_NAMES:
        return exp.Anonymous(this=PREFIX + name, expressions=arguments)
    if name not in FUNCTIONS:
        raise _unsupported(f"the function {name[:40]}")
    return exp.Anonymous(this=FUNCTIONS[name], expressions=arguments)


def _unsupported(what: str) -> Failure:
    return Failure(
        NOT_SUPPORTED, f"this catalogue statement uses {what}, which is not supported", "information_schema.columns lists all columns"
    )


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
            return _type_name(item.to) if inside == "?column?" else inside
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


def _certainly_empty(tree: exp.Expr, named: set[str]) -> bool:
    """Whether every arm of a statement joins a relation that has no rows here, so that it has none; without aggregates that make one."""
    if isinstance(tree, exp.SetOperation):
        return _certainly_empty(tree.this, named) and _certainly_empty(tree.expression, named)
    if not isinstance(tree, exp.Select) or tree.find(exp.AggFunc) is not None and tree.args.get("group") is None:
        return False
    inner = [join.this for join in tree.args.get("joins") or () if join.side in ("", "RIGHT") or join.kind == "INNER"]
    source = tree.args.get("from_")
    read = ([] if source is None else [source.this]) + inner
    return any(isinstance(one, exp.Table) and _is_catalogue(one) and one.name.lower() not in FILLED | named for one in read)
