"""The primitives in PostgreSQL's SQL.

PostgreSQL raises on underflow where other engines give 0: for a product, quotient or exponential of floats that is too close to 0. So the
same computation on scaled numbers decides first whether the result would round to 0. Texts are compared bytewise ("C"), whatever the
collation of the database.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import inf, nextafter
from typing import final

from attrs import frozen

from discreet.engines.dialect import BEFORE_1970, Dialect
from discreet.errors import Refused
from discreet.tables.kind import Kind

_LONGEST_NAME = 63  # bytes; PostgreSQL truncates longer names, which would make two of them equal
_LEAST = Fraction(1, 2**1075)  # a magnitude of at most this rounds to 0
_NEGLIGIBLE = -100  # e^this is 0 on any grid, and times any grid step it is still a normal float


@final
@frozen
class PostgresDialect(Dialect):
    """PostgreSQL 14 to 18."""

    name: str = "postgres"
    inline: str = "NOT MATERIALIZED "
    once: str = "MATERIALIZED "
    joins_all: bool = False
    hashes_units: bool = False
    small: str = ""
    types: tuple[str, str, str, str, str, str] = ("BOOLEAN", "BIGINT", "DOUBLE PRECISION", "TEXT", "DATE", "TIMESTAMP")

    # ── literals ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def identifier(self, name: str) -> str:
        if len(name.encode()) > _LONGEST_NAME:
            name = f"~#{hashlib.sha256(name.encode()).hexdigest()[:48]}"
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        if "\x00" in value or value.encode("utf-8", "ignore").decode() != value:
            raise Refused("PostgreSQL has no texts with the character NUL or a lone surrogate: remove it")
        quoted = value.replace("'", "''")
        return f"(CAST('{quoted}' AS TEXT) COLLATE \"C\")"

    def real(self, value: Fraction) -> str:
        return f"CAST('{float(value)!r}' AS DOUBLE PRECISION)"

    # ── reals ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def is_number(self, real: str) -> str:
        return f"({real} <> CAST('NaN' AS DOUBLE PRECISION))"

    def times(self, a: str, b: str) -> str:
        far, scale, least = self._power(-500), self._power(600), self._power(1200 - 1075)
        plain = f"ABS(__v.a) >= 1 OR ABS(__v.b) >= 1 OR (ABS(__v.a) >= {far} AND ABS(__v.b) >= {far})"
        return self._unless_underflow("__v.a * __v.b", plain, f"ABS((__v.a * {scale}) * (__v.b * {scale})) > {least}", a, b)

    def over(self, a: str, b: str) -> str:
        up, down, least = self._power(525), self._power(-525), self._power(1050 - 1075)
        plain = f"ABS(__v.b) <= 1 OR ABS(__v.a) >= {self._power(-50)}"
        return self._unless_underflow("__v.a / __v.b", plain, f"ABS((__v.a * {up}) / (__v.b * {down})) > {least}", a, b)

    def _unless_underflow(self, result: str, plain: str, scaled: str, a: str, b: str) -> str:
        """The result if it cannot underflow, by a simple test (`plain`) or one on scaled numbers; else 0.

        The arguments are named in a subquery, so that nesting does not repeat them; OFFSET stops the planner from inlining them.
        """
        zero = f"WHEN __v.a IS NOT NULL AND __v.b IS NOT NULL THEN {self.real(Fraction(0))}"
        chosen = f"CASE WHEN {plain} THEN {result} WHEN {scaled} THEN {result} {zero} END"
        return f"(SELECT {chosen} FROM (SELECT {a} AS a, {b} AS b OFFSET 0) AS __v)"

    def scaled(self, real: str, factor: Fraction) -> str:
        """A float times a positive constant; it must not raise on underflow."""
        by = self.real(factor)
        if factor >= 1:
            return f"({real} * {by})"
        least = nextafter(float(_LEAST / Fraction(float(factor))), inf) if factor.numerator > 1 else float(_LEAST / factor)
        some = f"WHEN ABS({real}) > {self.real(Fraction(least))} THEN {real} * {by}"
        return f"(CASE {some} WHEN {real} IS NOT NULL THEN {self.real(Fraction(0))} END)"

    def exp(self, real: str) -> str:
        return f"(CASE WHEN {real} < {_NEGLIGIBLE} THEN {self.real(Fraction(0))} ELSE EXP({real}) END)"

    def _power(self, exponent: int) -> str:
        return self.real(Fraction(2) ** exponent)

    # ── integers ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def shifted(self, total: str, bits: int) -> str:
        divided = f"DIV(CAST({total} AS NUMERIC), {2**bits})" if bits else f"({total})"
        return f"CAST(LEAST(GREATEST(COALESCE({divided}, 0), {-(2**62)}), {2**62}) AS BIGINT)"

    def floor_divide(self, whole: str, by: str) -> str:
        return f"(CAST({whole} AS BIGINT) / {by})"

    def bits_set(self, masks: str) -> str:
        return f"BIT_COUNT(CAST(BIT_OR(CAST({masks} AS BIGINT)) AS BIT(64)))"

    def extreme(self, word: str, text: str, kind: Kind | None) -> str:
        if kind is Kind.BOOLEAN:
            word = {"MIN": "BOOL_AND", "MAX": "BOOL_OR"}[word]
        return f"{word}({text})"

    # ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def like(self, text: str, pattern: str) -> str:
        return f"({text} LIKE {self.text(pattern)} ESCAPE '')"

    def change_case(self, word: str, text: str) -> str:
        # "C" would change ASCII letters only
        return f'({word}(({text}) COLLATE "default") COLLATE "C")'

    def _sha256(self, text: str) -> str:
        return f"SHA256(CONVERT_TO({text}, 'UTF8'))"

    def _digits(self, digits: str) -> str:
        return f"DECODE('{digits}', 'hex')"  # bytes are compared like their digits

    # ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def microseconds(self, moment: str) -> str:
        return f"(CAST(EXTRACT(EPOCH FROM {moment}) * 1000000 AS BIGINT) + {BEFORE_1970})"

    # ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def same(self, a: str, b: str, kind: Kind | None) -> str:
        some = _SOME.get(kind or Kind.TEXT, "''")
        return f"(COALESCE({a}, {some}) = COALESCE({b}, {some}) AND ({a} IS NULL) = ({b} IS NULL))"


_SOME = {
    Kind.BOOLEAN: "FALSE",
    Kind.INTEGER: "0",
    Kind.REAL: "0",
    Kind.TEXT: "''",
    Kind.DATE: "DATE '2000-01-01'",
    Kind.TIMESTAMP: "TIMESTAMP '2000-01-01'",
}

POSTGRES = PostgresDialect()
