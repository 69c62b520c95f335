"""All engines keep the same units for the same key."""

from __future__ import annotations

import datetime
import hashlib
from typing import Any

import pytest
from engines.contract.asked import EngineOf, listed, rows

from discreet.engines.engine import SentTable
from discreet.tables.kind import Kind

KEY = "00112233445566778899aabbccddeeff"
BELOW = "3" + 15 * "0"  # three in sixteen
UNITS: dict[Kind, list[Any]] = {
    Kind.INTEGER: [0, -1, 7, 2**62, -(2**62), *range(100, 160)],
    Kind.TEXT: ["", "a", "A", "a ", " a", "é", "e\u0301", "日本", "o'clock", "x|y", "%_", *(f"p{i}" for i in range(50))],
    Kind.DATE: [datetime.date(2024, 2, 29) + datetime.timedelta(days=31 * i) for i in range(60)],
    Kind.TIMESTAMP: [datetime.datetime(2024, 2, 29, 1, 2, 3) + datetime.timedelta(hours=31 * i) for i in range(60)],
}


def _in_sample(unit: Any) -> bool:
    text = unit.isoformat(sep=" ") if isinstance(unit, datetime.datetime) else str(unit)
    return hashlib.sha256(f"{KEY}{text}".encode()).hexdigest() < BELOW


@pytest.mark.parametrize("kind", list(UNITS))
def test_the_sample_follows_from_the_key_and_the_units(engine_of: EngineOf, kind: Kind) -> None:
    engine = engine_of(listed(kind, UNITS[kind]))
    condition = engine.dialect.in_sample("x", kind, "(SELECT k FROM __sample)", BELOW)
    key = SentTable("__sample", (("k", Kind.TEXT, (KEY,)),))
    found = [i for (i,) in rows(engine, f"SELECT i FROM t WHERE {condition}", [key])]
    assert found == [i for i, unit in enumerate(UNITS[kind]) if _in_sample(unit)]
    assert 0 < len(found) < len(UNITS[kind])
