"""Default names."""

from __future__ import annotations

from discreet.query.relation.expr import Call, Column, Expr
from discreet.query.sql.scope import Scope
from discreet.query.sql.typed import Typed


def unique(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; it is added to `taken`."""
    found, again = name, 1
    while found in taken:
        again += 1
        found = f"{name}_{again}"
    taken.add(found)
    return found


def plain_name(key: Typed, rows: Scope, otherwise: str) -> str:
    """A key's default name: that of its column, or of its outermost function."""
    if isinstance(key.expr, Column):
        inner = key.expr.name
        return next(name for source in rows.sources for name, other in source.columns if other == inner)
    return expression_name(key.expr) if isinstance(key.expr, Call) else otherwise


def expression_name(expr: Expr) -> str:
    """An expression's name: that of its outermost function."""
    return expr.function if isinstance(expr, Call) else "value"


def substituted(expr: Expr, names: dict[str, str]) -> Expr:
    """The expression with its columns renamed."""
    match expr:
        case Column(name):
            return Column(names.get(name, name))
        case Call(function, arguments):
            return Call(function, tuple(substituted(argument, names) for argument in arguments))
        case _:
            return expr
