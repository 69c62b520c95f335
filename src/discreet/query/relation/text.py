"""Text: patterns, substrings and concatenation. Regular expressions are refused: their cost may depend on a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.number import Fields, Texts
from discreet.tables.kind import Kind

MOST_WILDCARDS = 3


LONGEST, MOST_JOINED = 1000, 16  # characters of each concatenated text, and how many texts


def _texts(fields: Sequence[Field]) -> None:
    if any(field.kind not in (Kind.TEXT, None) for field in fields):
        raise Refused("text is needed, and numbers and dates are not cast to text: use a text column")


def like(fields: Sequence[Field]) -> Field:
    _texts(fields)
    if fields[1].keys is None or len(fields[1].keys) != 1 or fields[1].nullable:  # a column may contain undeclared values
        raise Refused("a pattern must be written as a literal, as in name LIKE 'A%'")
    if str(fields[1].keys[0]).count("%") > MOST_WILDCARDS:
        raise Refused(
            f"a pattern has at most {MOST_WILDCARDS} wildcards %, because the time to match more may depend on a row: use '%word%'"
        )
    return Field(Kind.BOOLEAN, nullable=fields[0].nullable)


def text_to_text(fields: Sequence[Field]) -> Field:
    _texts(fields)
    return Field(Kind.TEXT, nullable=fields[0].nullable)


def length(fields: Sequence[Field]) -> Field:
    _texts(fields)
    return Field(Kind.INTEGER, Interval(Fraction(0), Fraction(2**40), True, False), fields[0].nullable)


def substring(fields: Sequence[Field]) -> Field:
    _texts(fields[:1])
    for place in fields[1:]:
        if (
            place.kind is not Kind.INTEGER
            or place.range is None
            or place.range.low != place.range.high
            or not 1 <= place.range.low <= 10**6
        ):
            raise Refused("SUBSTRING takes literal positions from 1, as in SUBSTRING(zip, 1, 2)")
    return Field(Kind.TEXT, nullable=fields[0].nullable)


def concat(fields: Sequence[Field]) -> Field:
    _texts(fields)
    if len(fields) > MOST_JOINED:
        raise Refused(f"at most {MOST_JOINED} texts are concatenated at once: concatenate fewer")
    return Field(Kind.TEXT, nullable=any(field.nullable for field in fields))


def write_like(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return dialect.like(texts[0], str((fields[1].keys or ("",))[0]))


def write_case(word: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    return lambda dialect, texts, fields, out: dialect.change_case(word, texts[0])


def write_trim(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """Spaces only: engines differ on other whitespace."""
    return f"TRIM(BOTH ' ' FROM {texts[0]})"


def write_starts_with(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    prefix = str((fields[1].keys or ("",))[0])
    return f"(LEFT({texts[0]}, {len(prefix)}) = {dialect.text(prefix)})"


def write_length(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"CAST(LENGTH({texts[0]}) AS {dialect.type_name(Kind.INTEGER)})"


def write_substring(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"SUBSTRING({', '.join(texts)})"


def write_concat(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """The first thousand characters of each, so that nested concatenation cannot exhaust memory."""
    return f"({' || '.join(f'LEFT({text}, {LONGEST})' for text in texts)})"


def value_concat(*values: Any) -> str | None:
    return None if any(value is None for value in values) else "".join(values)
