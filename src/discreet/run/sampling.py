"""The sample of a run: one fresh secret key, which decides for every unit, and is dropped when the run ends."""

from __future__ import annotations

from fractions import Fraction

from discreet.engines.dialect import Dialect
from discreet.engines.engine import SentTable
from discreet.noise.bits import SystemBits
from discreet.query.relation.node import Relation, unit_kind
from discreet.query.relation.write import UNIT, write_relation
from discreet.tables.kind import Kind

SAMPLED = "__sampled"  # the rows of the sample, in a statement
_KEY, _BITS = "__sample", 64


def sampled_rows(relation: Relation, rate: Fraction, dialect: Dialect) -> str:
    """A SELECT of a relation's rows whose units are in the sample; the key comes in a table that is sent with the statement.

    A unit is kept where the first 64 bits of SHA-256(key, identifier) are below ⌊q·2⁶⁴⌋: all of its rows or none, in every statement that
    gets this key and on every engine. The probability is at most q, for which the plan pays, and less by 2⁻⁶⁴ at most. Hashing is what
    takes time, so where units have many rows and the engine groups quickly, each unit is hashed once.

    Assumes. SHA-256 of a secret key of 128 bits and an identifier is a pseudorandom function of the identifier. Different units have
        different texts, and equal ones the same, which is why identifiers are never floats.
    """
    rows, below = f"({write_relation(relation, dialect)}) AS t", f"{int(rate * 2**_BITS):0{_BITS // 4}x}"

    def kept(unit: str) -> str:
        return dialect.in_sample(unit, unit_kind(relation), f"(SELECT k FROM {_KEY})", below)

    if relation.one_row or not dialect.hashes_units:
        return f"SELECT * FROM {rows} WHERE {kept(UNIT)}"
    # of an aggregate, or the planner would test every row before it groups them
    return f"SELECT * FROM {rows} WHERE {UNIT} IN (SELECT {UNIT} FROM {rows} GROUP BY {UNIT} HAVING {kept(f'MIN({UNIT})')})"


def draw_key() -> SentTable:
    """A fresh key, in a table that is sent with every statement of one run: never in a statement's text, and never stored."""
    bits = SystemBits()
    return SentTable(_KEY, (("k", Kind.TEXT, (f"{bits.word():016x}{bits.word():016x}",)),))
