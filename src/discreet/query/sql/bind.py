"""Parameters of a question in SQL: `?` and `$1` by position, `:name` and `$name` by name.

The text is parsed with a placeholder for each, and the parsed tree then receives a literal in its place. So a value can be nothing but a
literal: no name, no keyword, no second statement.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import final

from attrs import frozen
from sqlglot import exp
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # as its own documentation imports them

from discreet.errors import Refused
from discreet.query.parameters import Values
from discreet.tables.kind import Value

_PREFIX = "discreet_parameter_"  # of the names of placeholders in the parsed tree
_NEXT = ""  # the name of ?, which stands for the next position


@final
@frozen
class Bound:
    """The tokens of a question, with a placeholder for each parameter; and the value of each placeholder."""

    tokens: list[Token]
    values: dict[str, Value | None]

    def fill(self, tree: exp.Expr) -> exp.Expr:
        """The parsed tree with literals instead of placeholders."""
        return tree.transform(self._literal) if self.values else tree

    def _literal(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Placeholder) or node.name not in self.values:
            return node
        return literal_of(self.values[node.name])


def bind(tokens: list[Token], values: Values | None) -> Bound:
    """Number the placeholders of a question; Refused unless each has a value, and each value a placeholder."""
    found: list[Token] = []
    bound: dict[str, Value | None] = {}
    at, position, used = 0, 0, set[str | int]()
    while at < len(tokens):
        name, length = _placeholder(tokens, at, values)
        if name is None:
            found.append(tokens[at])
            at += 1
            continue
        if name == _NEXT:
            name, position = position, position + 1
        own = f"{_PREFIX}{len(bound)}"
        bound[own] = _value_of(values, name, "".join(token.text for token in tokens[at : at + length]))
        used.add(name)
        found += [_like(tokens[at], TokenType.COLON, ":"), _like(tokens[at], TokenType.VAR, own)]
        at += length
    _require_all_used(values, used)
    return Bound(found, bound)


def _placeholder(tokens: Sequence[Token], at: int, values: Values | None) -> tuple[str | int | None, int]:
    """The name or position of the placeholder that begins here, and how many tokens it has; None if none begins."""
    token, following = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
    if token.token_type is TokenType.PLACEHOLDER:
        return _NEXT, 1
    if following is None or following.start != token.end + 1:
        return None, 1
    if token.token_type is TokenType.PARAMETER and following.token_type is TokenType.NUMBER and following.text.isdigit():
        return int(following.text) - 1, 2
    begins = token.token_type is TokenType.PARAMETER or (token.token_type is TokenType.COLON and isinstance(values, dict))
    return (following.text, 2) if begins and following.text.isidentifier() else (None, 1)


def _value_of(values: Values | None, name: str | int, written: str) -> Value | None:
    if values is None:
        raise Refused(f"{written[:40]} stands for a parameter, and none was given: pass parameters=[…], or write the value")
    if isinstance(values, dict):
        if isinstance(name, int):
            raise Refused("parameters are given by name: write :name instead of ?, or pass a list")
        if name not in values:
            raise Refused(f"the parameter {name[:40]} has no value: give one, as in {{{name[:40]!r}: 1}}")
        return values[name]
    if isinstance(name, str):
        raise Refused("parameters are given by position: write ? instead of :name, or pass a dict")
    if not 0 <= name < len(values):
        raise Refused(f"the question has more parameters than values ({len(values)}): give one for each")
    return values[name]


def _require_all_used(values: Values | None, used: set[str | int]) -> None:
    """Refuse a list with values that no placeholder uses; a dict may hold more than one question needs."""
    if isinstance(values, tuple) and len(used) < len(values):
        raise Refused(f"{len(values)} values were given, and the question has {len(used)} parameters: write ? for each value")


def literal_of(value: Value | None) -> exp.Expr:
    """The tree of a value, as if it had been written as a literal."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() | Fraction():
            text = f"{abs(value)}.0" if isinstance(value, Fraction) and value.denominator == 1 else str(abs(value))
            size = exp.Literal.number(text)
            return exp.Neg(this=size) if value < 0 else size
        case str():
            return exp.Literal.string(value)
        case datetime.datetime():
            return _moment(value.isoformat(" "), exp.DType.TIMESTAMPNTZ)
        case datetime.date():
            return _moment(value.isoformat(), exp.DType.DATE)


def _moment(text: str, kind: exp.DType) -> exp.Cast:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType(this=kind, nested=False))


def _like(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)
