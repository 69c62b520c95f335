"""All engines keep the same units for the same key."""

from __future__ import annotations

import datetime
import hashlib
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve
from engines.contract.asked import EngineOf, listed, rows
from plan.questions import catalog, steps

from discreet.engines.engine import SentTable
from discreet.run.execute import total_statements
from discreet.tables.kind import Kind

KEY = "00112233445566778899aabbccddeeff"
GIVEN = SentTable("__sample", (("k", Kind.TEXT, (KEY,)),))
RATE = Fraction(1, 4)
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
    found = [i for (i,) in rows(engine, f"SELECT i FROM t WHERE {condition}", [GIVEN])]
    assert found == [i for i, unit in enumerate(UNITS[kind]) if _in_sample(unit)]
    assert 0 < len(found) < len(UNITS[kind])


@pytest.mark.parametrize("limits", [{"rows": 2}, {"groups": 1, "per_group": 2}, {"groups": 2, "per_group": 1}])
def test_totals_of_a_sample_are_those_of_its_units(engine_of: EngineOf, limits: dict[str, int]) -> None:
    """The statement of a question on a sample counts what the same question counts on a table of these units alone."""
    ids = [i // 3 for i in range(600)]
    plan = steps("SELECT dept, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT id) AS u FROM t GROUP BY dept", catalog(limits))
    part = evolve(plan, question=evolve(plan.question, sample=RATE))
    below = f"{int(RATE * 2**64):016x}"
    chosen = {unit for unit in ids if hashlib.sha256(f"{KEY}{unit}".encode()).hexdigest() < below}
    engine = engine_of({"t": _columns(ids), "few": _columns([unit for unit in ids if unit in chosen])})
    for (_, whole), (_, sample) in zip(total_statements(plan, engine.dialect), total_statements(part, engine.dialect), strict=True):
        few = whole.text.replace(engine.dialect.identifier("t"), engine.dialect.identifier("few"))
        assert few != whole.text
        assert rows(engine, sample.text, [GIVEN]) == rows(engine, few)


def _columns(ids: list[int]) -> dict[str, tuple[Kind | str, list[Any]]]:
    depts = ["abc"[unit * 7 % 5 % 3] for unit in ids]
    return {
        "id": (Kind.INTEGER, ids),
        "dept": (Kind.TEXT, depts),
        "x": (Kind.REAL, [float(unit % 90) for unit in ids]),
        "age": (Kind.INTEGER, [unit % 80 for unit in ids]),
    }
