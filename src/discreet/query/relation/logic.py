"""Conditions and CASE, in SQL's three-valued logic."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation.field import Field, native
from discreet.query.relation.number import Fields, Texts, as_kind
from discreet.query.relation.progression import EVERY, union
from discreet.tables.kind import Kind

COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "equal": ("=", operator.eq),
    "not_equal": ("<>", operator.ne),
    "less": ("<", operator.lt),
    "less_equal": ("<=", operator.le),
    "greater": (">", operator.gt),
    "greater_equal": (">=", operator.ge),
}


def _named(field: Field) -> str:
    return field.kind.value if field.kind else "NULL"


def common_kind(fields: Sequence[Field]) -> Kind | None:
    """The one kind that all arguments have, whole and real numbers together being real; a bare NULL has any."""
    kinds = {field.kind for field in fields if field.kind is not None}
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    if len(kinds) > 1:
        raise Refused(
            f"values of different kinds cannot be mixed: {' and '.join(sorted(k.value for k in kinds))}; nothing is cast silently: use CAST"
        )
    return kinds.pop() if kinds else None


def _condition(nullable: bool) -> Field:
    return Field(Kind.BOOLEAN, nullable=nullable)


def compare(fields: Sequence[Field]) -> Field:
    common_kind(fields)
    return _condition(any(field.nullable for field in fields))


def _conditions(fields: Sequence[Field]) -> None:
    for field in fields:
        if field.kind not in (Kind.BOOLEAN, None):
            raise Refused(f"a condition is needed here, not {_named(field)}: write a comparison")


def connective(fields: Sequence[Field]) -> Field:
    _conditions(fields)
    return _condition(any(field.nullable for field in fields))


def negation(fields: Sequence[Field]) -> Field:
    _conditions(fields)
    return _condition(fields[0].nullable)


def is_null(fields: Sequence[Field]) -> Field:
    return _condition(False)


def member(fields: Sequence[Field]) -> Field:
    common_kind(fields)
    return _condition(any(field.nullable for field in fields))


def _either(fields: Sequence[Field]) -> Field:
    """Any one of several values."""
    kind = common_kind(fields)
    some = [field for field in fields if field.kind is not None]
    ranges = [found for field in some if (found := field.range or native(field.kind)) is not None]
    interval = None
    if kind in (Kind.INTEGER, Kind.REAL, Kind.DATE) and ranges:
        interval = ranges[0]
        for other in ranges[1:]:
            interval = interval.union(other)
    keys = None
    if some and kind is not Kind.REAL and all(field.keys is not None for field in some):
        keys = tuple(dict.fromkeys(key for field in some for key in field.keys or ()))
    numbers = union(field.progression for field in some) if kind is Kind.INTEGER else EVERY
    return Field(kind, interval, any(field.nullable for field in fields), keys, progression=numbers)


def case(fields: Sequence[Field]) -> Field:
    """condition, value, condition, value, …, else."""
    if len(fields) % 2 == 0:
        raise Refused("CASE needs a value for each condition: write CASE WHEN a THEN b ELSE c END")
    _conditions(fields[:-1:2])
    return _either([*fields[1:-1:2], fields[-1]])


def coalesce(fields: Sequence[Field]) -> Field:
    return evolve(_either(fields), nullable=all(field.nullable for field in fields))


# ── SQL ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _alike(dialect: Dialect, texts: Texts, fields: Fields) -> list[str]:
    """Arguments in their common kind; only numbers ever need a cast."""
    kind = common_kind(fields)
    mixed = kind is Kind.REAL and any(field.kind is Kind.INTEGER for field in fields)
    return [as_kind(dialect, text, kind) if mixed else text for text in texts]


def write_comparison(symbol: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    def write(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
        a, b = _alike(dialect, texts, fields)
        return f"({a} {symbol} {b})"

    return write


def write_connective(word: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    return lambda dialect, texts, fields, out: f"({f' {word} '.join(texts)})"


def write_not(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"(NOT {texts[0]})"


def write_is_null(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"({texts[0]} IS NULL)"


def write_in(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    value, *listed = _alike(dialect, texts, fields)
    return f"({value} IN ({', '.join(listed)}))"


def _values(dialect: Dialect, texts: Texts, out: Field) -> list[str]:
    return [as_kind(dialect, text, out.kind) if out.kind else text for text in texts]


def write_case(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    values = _values(dialect, [*texts[1:-1:2], texts[-1]], out)
    tests = [
        as_kind(dialect, text, Kind.BOOLEAN) if of.kind is None else text for text, of in zip(texts[:-1:2], fields[:-1:2], strict=True)
    ]
    branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in zip(tests, values[:-1], strict=True))
    return f"(CASE {branches} ELSE {values[-1]} END)"


def write_coalesce(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"COALESCE({', '.join(_values(dialect, texts, out))})"


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def value_and(*values: Any) -> bool | None:
    return False if any(v is False for v in values) else None if any(v is None for v in values) else True


def value_or(*values: Any) -> bool | None:
    return True if any(v is True for v in values) else None if any(v is None for v in values) else False


def value_not(value: Any) -> bool | None:
    return None if value is None else not value


def value_in(value: Any, *listed: Any) -> bool | None:
    return None if value is None else True if value in [v for v in listed if v is not None] else None if None in listed else False


def value_case(*values: Any) -> Any:
    for condition, value in zip(values[:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


def value_coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
