"""The arguments of a chain of steps in Python, checked; and a step as it was typed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from discreet import exact
from discreet.errors import Invalid
from discreet.tables.column import read_bounds
from discreet.tables.kind import Kind

Named = tuple[str | None, str]


def share_of(q: Any) -> Fraction:
    """A share of all rows, for a quantile."""
    if not 0 < (share := exact.rational(q, "q")) < 1 or share.denominator > 10**6:
        raise Invalid("q must lie between 0 and 1, with at most six decimals, for example 0.9")
    return share


def text_of(expression: Any) -> str:
    """An expression, which is text."""
    if not isinstance(expression, str):
        raise Invalid("an expression must be text, such as 'cost > 10'")
    return expression


def named_texts(plain: Iterable[str | Iterable[str]], named: dict[str, str]) -> tuple[Named, ...]:
    """Expressions, given one by one or in lists, and those with names."""
    flat = [text for given in plain for text in (given if isinstance(given, list | tuple) else (given,))]
    return (*((None, text_of(text)) for text in flat), *((name, text_of(text)) for name, text in named.items()))


def joined_columns(on: Any) -> list[tuple[str, str]]:
    """The columns that a join equates, the left one first."""
    found = [on] if isinstance(on, str | tuple) else on
    pairs = [(one, one) if isinstance(one, str) else one for one in found] if isinstance(found, list) else []
    if not pairs or not all(isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(n, str) for n in pair) for pair in pairs):
        raise Invalid("on must be a column, a pair of columns (left, right), or a list of these, as in on='id'")
    return [(a, b) for a, b in pairs]


def bounds_pair(bounds: Any, expression: str | None) -> tuple[Any, Any] | None:
    """Bounds under the same rules as declared ones."""
    if bounds is None:
        return None
    if isinstance(bounds, dict | set | frozenset):
        raise Invalid("bounds must be a pair (lower, upper), as in bounds=(0, 500)")
    read_bounds(Kind.REAL, bounds, (expression or "this")[:80])
    low, high = bounds
    return low, high


def typed_step(word: str, /, *arguments: Any, **named: Any) -> str:
    """One step of the chain as typed, without omitted arguments."""
    parts = [repr(argument) for argument in arguments if argument is not None]
    parts += [f"{name}={value!r}" for name, value in named.items() if value is not None]
    return f"{word}({', '.join(parts)})"
