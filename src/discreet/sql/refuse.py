"""Refusals that name the piece, say why, and say what would work; and the check that no part of a piece went unread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from discreet.errors import Refused

T = TypeVar("T")
BOUNDED = "DISCREET_BOUNDED_"  # how an aggregate with named bounds is spelled for the parser, which would count its arguments
_WORDS = {  # arguments of parsed nodes that are not called what people write
    "db": "a schema before the name",
    "catalog": "a catalog before the name",
    "method": "NATURAL, ASOF or POSITIONAL",
    "pivots": "PIVOT",
    "windows": "WINDOW",
    "kind": "AS STRUCT, AS VALUE and the like",
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
_LONGEST = 80  # characters of the user's own text that a message repeats


def piece(node: exp.Expr) -> str:
    """A piece of the question as it was written, shortened."""
    try:
        text = " ".join(node.sql(node.root().meta.get("dialect"), comments=False, unsupported_level=ErrorLevel.IGNORE).split())
    except Exception:  # the parser's library spells it, and may fail on a piece it did not expect
        text = node.key.upper()
    text = text.replace(BOUNDED, "")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def place(node: exp.Expr) -> str:
    """Where the piece stands, if its tokens still know."""
    for part in node.walk():
        if "line" in part.meta:
            start = part.meta["col"] - (part.meta["end"] - part.meta["start"])
            return f" (line {part.meta['line']}, column {max(start, 1)})"
    return ""


def refused(node: exp.Expr, why: str, instead: str) -> Refused:
    """The error for a piece that has no place here."""
    return Refused(f"{piece(node)}{place(node)}: {why}; {instead}")


def located(node: exp.Expr, error: Refused) -> Refused:
    """A refusal from the rules of expressions, with the piece it speaks of."""
    return Refused(f"{piece(node)}{place(node)}: {error}")


def is_set(value: Any) -> bool:
    """Whether an argument of a parsed node says anything."""
    return value is not None and value is not False and value != [] and value != ""


def only(node: exp.Expr, *read: str) -> None:
    """Refuse a node that says more than these arguments: what is not read is not ignored."""
    for name, value in node.args.items():
        if name not in read and is_set(value):
            word = _WORDS.get(name, name.strip("_").upper().replace("_", " "))
            raise refused(node, f"{word} is not understood here", f"leave {word} out")


def closed(read: Callable[[], T]) -> T:
    """Read something; what is nested too deeply, or has a form that no case expected, is refused like anything else."""
    try:
        return read()
    except RecursionError:
        raise Refused("this question is nested too deeply: name its parts with WITH") from None
    except (AttributeError, TypeError, KeyError, IndexError, AssertionError, SqlglotError):
        raise Refused(
            "this question has a form that is not understood: write it as SELECT keys, aggregates FROM table GROUP BY keys"
        ) from None
