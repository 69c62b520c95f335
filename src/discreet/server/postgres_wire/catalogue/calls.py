"""Casts, operators and calls of functions in catalogue statements, as the empty database spells them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from discreet.query.parameters import parameter_value
from discreet.query.sql.bind import literal_of
from discreet.server.postgres_wire.catalogue.macros import MACRO_NAMES, PREFIX
from discreet.server.postgres_wire.catalogue.nodes import FUNCTIONS, OPERATORS, SESSION, TYPES
from discreet.server.postgres_wire.sqlstates import NOT_SUPPORTED, Failure

SETTING = "setting_of_session"  # stands for current_setting until the statement runs
# a quote that is not closed takes the rest: looked for again and again, its end would take for ever
_ELEMENTS = re.compile(r'"((?:\\.|[^"\\])*)\\?(?:"|\Z)|([^\s,{}"]+)', re.DOTALL)
_NAMED = {
    "regclass": ("to_regclass", "regclass_name"),
    "regnamespace": ("to_regnamespace", "regnamespace_name"),
    "regtype": ("to_regtype", "format_type"),
}


def unsupported(what: str) -> Failure:
    """The refusal of something that is not on the lists."""
    return Failure(
        NOT_SUPPORTED, f"this catalogue statement uses {what}, which is not supported", "information_schema.columns lists all columns"
    )


def operator(node: exp.Operator) -> exp.Expr:
    """OPERATOR(pg_catalog.~) and the like."""
    said = str(node.args.get("operator")).rsplit(".", 1)[-1]
    if said not in OPERATORS:
        raise unsupported(f"OPERATOR({said[:20]})")
    build, negated = OPERATORS[said]
    found = build(this=node.this, expression=node.expression)
    return exp.Not(this=found) if negated else found


def cast(node: exp.Cast) -> exp.Expr:
    """A cast; those to names and numbers of objects are lookups. NULL where it fails: what a text holds decides no error."""
    name = type_name(node.to)
    plain, inside = name.removesuffix("[]"), node.this
    while isinstance(inside, exp.Paren | exp.TryCast):
        inside = inside.this
    if plain not in TYPES:
        raise unsupported(f"the type {plain[:40]}")
    if name.endswith("[]"):
        if isinstance(inside, exp.Literal):
            return list_of(inside.name)
        if isinstance(inside, exp.Parameter | exp.Column | exp.Array | exp.Anonymous):
            return exp.Paren(this=node.this)  # lists are cast by whoever reads them
    if plain in _NAMED:
        if isinstance(inside, exp.Literal) and inside.name.isdigit():
            return exp.TryCast(this=inside, to=exp.DataType.build("uinteger", dialect="duckdb"))
        to_number, to_name = _NAMED[plain]
        by_name = isinstance(inside, exp.Literal | exp.Parameter | exp.Concat)
        return exp.Anonymous(this=PREFIX + (to_number if by_name else to_name), expressions=[node.this])
    found = exp.DataType.build(TYPES[plain] + name[len(plain) :], dialect="duckdb")
    return exp.TryCast(this=node.this, to=found)


def type_name(to: exp.Expr) -> str:
    """The name of a type, without its schema and its length."""
    if isinstance(to, exp.DataType) and to.this is exp.DataType.Type.ARRAY:
        return f"{type_name(to.expressions[0]) if to.expressions else 'text'}[]"
    if isinstance(to, exp.DataType) and to.this is exp.DataType.Type.USERDEFINED:
        kind = to.args.get("kind")
        return (kind.expression.name if isinstance(kind, exp.Dot) else kind.name if isinstance(kind, exp.Expr) else str(kind)).lower()
    return str(getattr(to.this, "value", to.this)).lower()


def list_of(text: str) -> exp.Expr:
    """A list of texts, from how PostgreSQL writes one: {a,"b"}."""
    pieces = _ELEMENTS.findall(text)
    return exp.Array(expressions=[exp.Literal.string(re.sub(r"\\(.)", r"\1", quoted) or plain) for quoted, plain in pieces])


def called(node: exp.Anonymous) -> exp.Expr:
    """A function that the parser has no class for."""
    name, arguments = str(node.this).lower(), node.expressions
    if name in SESSION:
        return exp.Parameter(this=exp.Var(this=SESSION[name]))
    if name == "current_setting" and arguments:
        return exp.Anonymous(this=SETTING, expressions=arguments[:1])
    if name == "set_config" and len(arguments) > 1:
        if not isinstance(arguments[0], exp.Literal) or arguments[0].name.lower().startswith("discreet."):
            raise Failure(NOT_SUPPORTED, "set_config sets nothing here", "write SET, as in SET discreet.epsilon = 0.1")
        return exp.Paren(this=arguments[1])
    if name in MACRO_NAMES:
        return exp.Anonymous(this=PREFIX + name, expressions=arguments)
    if name not in FUNCTIONS:
        raise unsupported(f"the function {name[:40]}")
    return exp.Anonymous(this=FUNCTIONS[name], expressions=arguments)


def formatted(node: exp.Expr) -> exp.Expr:
    """FORMAT('%I.%I', a, b) as a concatenation."""
    if not isinstance(node.this, exp.Literal):
        raise unsupported("FORMAT of something else than a text")
    given, parts = list(node.expressions), list[exp.Expr]()
    for piece in re.split(r"(%[sIL%])", node.this.name):
        if piece == "%%" or not piece.startswith("%"):
            parts.append(exp.Literal.string(piece.replace("%%", "%")))
        elif not given:
            raise unsupported("FORMAT with too few values")
        else:
            quoting = {"%I": "quote_ident", "%L": "quote_literal"}.get(piece)
            value = given.pop(0)
            parts.append(value if quoting is None else exp.Anonymous(this=PREFIX + quoting, expressions=[value]))
    return exp.Concat(expressions=parts, safe=True, coalesce=True)


def as_table(node: exp.Table) -> exp.Expr:
    """A function in FROM: its values are in a column of its alias, as in PostgreSQL."""
    alias, made = node.args.get("alias"), node.this
    if not isinstance(made, exp.Func):
        raise unsupported("something else than a relation")
    node.set("db", None)
    if not isinstance(alias, exp.TableAlias) or alias.this is None:
        return node
    name = alias.this.name
    if isinstance(made, exp.ExplodingGenerateSeries | exp.GenerateSeries) or (isinstance(made, exp.Anonymous) and made.this == "unnest"):
        if not alias.args.get("columns"):
            alias.set("columns", [exp.to_identifier(name, quoted=True)])
        return node
    return exp.Subquery(this=exp.Select(expressions=[exp.alias_(made.copy(), name, quoted=True)]), alias=alias.copy())


def bound(node: exp.Parameter, value: Any) -> exp.Expr:
    """A value where a parameter is; a list where it is one of several."""
    above = node.parent
    while isinstance(above, exp.Paren | exp.TryCast):
        above = above.parent
    if isinstance(above, exp.Any | exp.Unnest) and isinstance(value, str):
        return list_of(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return exp.Array(expressions=[literal_of(parameter_value(one)) for one in value])
    return literal_of(parameter_value(value))
