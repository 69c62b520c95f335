"""Refusals that name the part of the query, the reason and an alternative; and the check that no argument of a node went unread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from discreet.errors import Error, Refused, WrongType
from discreet.tables.table import Table
from discreet.tables.untyped import missing_types

T = TypeVar("T")
BOUNDED = "DISCREET_BOUNDED"  # wraps an aggregate with named bounds, because the parser checks the number of its arguments
_WORDS = {  # how people write arguments of parsed nodes
    "db": "a schema before the name",
    "catalog": "a catalog before the name",
    "method": "NATURAL, ASOF or POSITIONAL",
    "pivots": "PIVOT",
    "windows": "WINDOW",
    "kind": "AS STRUCT or AS VALUE",
    "when": "AT",
    "locks": "FOR UPDATE",
    "hints": "WITH (…)",
    "limit_options": "PERCENT or WITH TIES",
    "expressions": "a further argument",
    "expression": "a further argument",
    "count": "a second argument",
    "laterals": "LATERAL",
    "operation_modifiers": "a modifier of SELECT",
}
_LONGEST = 80  # characters of the user's own text that a message quotes


def piece(node: exp.Expr) -> str:
    """A part of the query as it was written, shortened."""
    try:
        text = _spelled(_as_written(node), node.root().meta.get("dialect"))
    except Exception:  # the parser's library writes it, and may fail on an unexpected node
        text = node.key.upper()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _spelled(node: exp.Expr, dialect: str | None) -> str:
    return " ".join(node.sql(dialect, comments=False, unsupported_level=ErrorLevel.IGNORE).split())


def _as_written(node: exp.Expr) -> exp.Expr:
    """The node with named bounds back inside their aggregates."""
    dialect = node.root().meta.get("dialect")

    def inside(part: exp.Expr) -> exp.Expr:
        if not is_bounded(part):
            return part
        aggregate, *named = (_spelled(inner, dialect) for inner in part.expressions)
        return exp.Var(this=f"{aggregate.removesuffix(')')}, {', '.join(named)})")

    return node.transform(inside) if any(map(is_bounded, node.walk())) else node


def is_bounded(node: exp.Expr | None) -> bool:
    """Whether this is an aggregate with named bounds, see tokens.py."""
    return isinstance(node, exp.Anonymous) and node.this == BOUNDED


def place(node: exp.Expr) -> str:
    """The line and column of a node, if its tokens have them."""
    for part in node.walk():
        if "line" in part.meta:
            start = part.meta["col"] - (part.meta["end"] - part.meta["start"])
            return f" (line {part.meta['line']}, column {max(start, 1)})"
    return ""


def refused(node: exp.Expr, why: str, instead: str) -> Refused:
    """The refusal of a node, with the reason and an alternative."""
    return Refused(f"{piece(node)}{place(node)}: {why}; {instead}")


def mistyped(node: exp.Expr, why: str, instead: str) -> WrongType:
    """The refusal of a node because of the type of a column."""
    return WrongType(str(refused(node, why, instead)))


def located(node: exp.Expr, error: Refused) -> Refused:
    """A refusal by a type rule, with the node it refers to."""
    return type(error)(f"{piece(node)}{place(node)}: {error}")


def is_set(value: Any) -> bool:
    """Whether an argument of a parsed node is set."""
    return value is not None and value is not False and value != [] and value != ""


def only(node: exp.Expr, *read: str) -> None:
    """Refuse a node with other arguments than these: nothing is ignored."""
    for name, value in node.args.items():
        if name not in read and is_set(value):
            word = _WORDS.get(name, name.strip("_").upper().replace("_", " "))
            raise refused(node, f"{word} is not supported here", f"leave {word} out")


def closed(read: Callable[[], T], tables: Iterable[Table] = ()) -> T:
    """Call a reader; input that is nested too deeply, or has an unexpected form, is refused.

    Where a type is wrong, all columns of these tables whose types nobody declared are asked for.
    """
    try:
        return read()
    except WrongType as error:
        asked = missing_types(tables)
        raise WrongType(f"{error}. {asked}" if asked else str(error)) from None
    except Error:
        raise
    except RecursionError:
        raise Refused("this question is nested too deeply: name its parts with WITH") from None
    except (AttributeError, TypeError, ValueError, KeyError, IndexError, AssertionError, SqlglotError):
        raise Refused("this form of query is not supported: write it as SELECT keys, aggregates FROM table GROUP BY keys") from None
