"""Which block a unit is in: the same on every engine."""

from __future__ import annotations

import hashlib

from engines.contract.asked import EngineOf, each, listed

from discreet.tables.kind import Kind

NAMES = ["p1", "", "Ünï|=", None, "NULL", "a" * 300]


def test_the_first_digits_of_a_units_hash(engine_of: EngineOf) -> None:
    found = each(engine_of, listed(Kind.TEXT, NAMES), lambda dialect: f"SUBSTR({dialect.hash_order([('x', None)], 'salt')}, 1, 12)")
    spelled = ["NULL" if name is None else f"={name}" for name in NAMES]
    assert found == [hashlib.md5(f"salt|{text}".encode()).hexdigest()[:12] for text in spelled]
