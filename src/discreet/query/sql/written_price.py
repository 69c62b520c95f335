"""The price that a question's text states: in a comment such as /* epsilon=0.1 */, or in its privacy clause."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import final

from attrs import field, frozen
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # as its own documentation imports them

from discreet import exact
from discreet.errors import Invalid, Refused

NAMES = ("epsilon", "delta", "confidence")
_PRICE = re.compile(rf"\b({'|'.join(NAMES)})\b\s*[=:]", re.IGNORECASE)
_WHOLE = re.compile(
    rf"\s*(?:discreet\s*:?\s*)?((?:{'|'.join(NAMES)})\s*=\s*[0-9.eE/+-]+(?:\s*[,;]?\s*(?:{'|'.join(NAMES)})\s*=\s*[0-9.eE/+-]+)*)\s*;?\s*",
    re.IGNORECASE,
)
_EACH = re.compile(r"(\w+)\s*=\s*([0-9.eE/+-]+)")
_EXAMPLE = "write it like /* epsilon=0.1 */ or /* epsilon=0.1, delta=1e-6 */"


@final
@frozen
class WrittenPrice:
    """The amounts that comments state, and the names that the privacy clause states itself."""

    comment: dict[str, Fraction] = field(factory=dict)
    clause: frozenset[str] = frozenset()


def written_price(text: str, dialect: str = "duckdb") -> WrittenPrice:
    """Find the price in a text; one that cannot be read is refused, for another price would be paid instead.

    >>> written_price("/* epsilon=0.1 */ SELECT COUNT(*) FROM visits").comment
    {'epsilon': Fraction(1, 10)}
    """
    if _PRICE.search(text) is None:
        return WrittenPrice()
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
    except (SqlglotError, ValueError):
        return WrittenPrice()  # whoever reads the question says what is wrong
    clause = _clause(tokens)
    return WrittenPrice(price_in_comments((comment for token in tokens for comment in token.comments), clause), clause)


def price_in_comments(comments: Iterable[str], clause: frozenset[str] = frozenset()) -> dict[str, Fraction]:
    """The amounts that comments state, without their marks; Refused if one cannot be read, or is stated twice or by the clause too."""
    found: dict[str, Fraction] = {}
    for comment in comments:
        for name, amount in _amounts(comment):
            if found.setdefault(name, amount) != amount:
                raise Refused(f"comments state {name} twice, with different values: keep one")
    if both := sorted(clause & found.keys()):
        raise Refused(f"{both[0]} is stated in a comment and in OPTIONS(…): keep one")
    return found


def _amounts(comment: str) -> list[tuple[str, Fraction]]:
    if _PRICE.search(comment) is None:
        return []
    whole = _WHOLE.fullmatch(" ".join(comment.split()))  # blanks can stand in so many places that long ones would take for ever
    if whole is None:
        raise Refused(f"a comment states a price that cannot be read: {_EXAMPLE}")
    try:
        return [(name.lower(), exact.rational(amount)) for name, amount in _EACH.findall(whole[1])]
    except Invalid:
        raise Refused(f"a comment states a price that cannot be read: {_EXAMPLE}") from None


def _clause(tokens: list[Token]) -> frozenset[str]:
    """The amounts that WITH DIFFERENTIAL_PRIVACY OPTIONS(…) states; whether it is well formed is decided when the question is read."""
    starts = [
        i for i, one in enumerate(tokens) if one.text.upper() == "DIFFERENTIAL_PRIVACY" and tokens[i - 1].token_type is TokenType.WITH
    ]
    if not starts:
        return frozenset()
    inside = itertools.takewhile(lambda token: token.token_type is not TokenType.R_PAREN, tokens[starts[0] :])
    pairs = itertools.pairwise(inside)
    return frozenset(name.text.lower() for name, equals in pairs if equals.token_type is TokenType.EQ and name.text.lower() in NAMES)
