"""Values made to hurt × kinds of columns × statistics: columns, types, what is missing and the price are always the same."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet
import discreet.run.outcome as outcome_of
from discreet.errors import NotEnoughData
from discreet.session.release import Release
from discreet.session.session import Session

N, GROUPS = 60, ["a", "b", "nobody's"]
MOST = 2**63 - 1
HARD: dict[str, tuple[Any, Any, list[Any]]] = {  # Arrow type, an ordinary value, and the others
    "double": (
        pa.float64(),
        5.0,
        [math.nan, math.inf, -math.inf, None, -0.0, 5e-324, 2.2e-308, 1e308, -1e308, 1.7976931348623157e308, 1e16 + 2, 0.1],
    ),
    "single": (pa.float32(), 5.0, [math.nan, math.inf, -math.inf, None, -0.0, 1e-45, 3.4028234e38, -3.4028234e38]),
    "whole": (pa.int64(), 5, [MOST, -MOST - 1, None, 0, -1, 2**53 + 1]),
    "small": (pa.int8(), 5, [127, -128, None]),
    "unsigned": (pa.uint64(), 5, [2**64 - 1, 2**63, None]),
    "decimal": (pa.decimal128(38, 6), Decimal(5), [Decimal(10) ** 31, -(Decimal(10) ** 31), Decimal("0.000001"), None]),
    "truth": (pa.bool_(), True, [False, None]),
    "text": (pa.string(), "er", ["", "\x00", "o'brien\"; --", "\U0001f600\u202e", "x" * 70_000, None]),
    "day": (pa.date32(), datetime.date(2024, 2, 29), [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    "moment": (pa.timestamp("us"), datetime.datetime(2024, 2, 29), [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31), None]),
}  # fmt: skip
NUMBERS = ("COUNT(*)", "COUNT(x)", "SUM(x)", "AVG(x)", "VARIANCE(x)", "STDDEV(x)", "MEDIAN(x)", "QUANTILE(x, 0.99)", "MIN(x)", "MAX(x)",
           "SUM(x * 2 + 1)", "AVG(ABS(x))", "COUNT(DISTINCT id)", "COUNTIF(x > 3)", "SUM(CASE WHEN x = x THEN 1 ELSE 0 END)")  # fmt: skip
OTHERS = ("COUNT(*)", "COUNT(x)", "COUNT(DISTINCT x)", "COUNT(DISTINCT id)", "COUNTIF(x IS NULL)", "MODE(g)")
NUMERIC = ("double", "single", "whole", "small", "unsigned", "decimal")
SUMMED_WHOLE = ("COUNT(DISTINCT x)", "SUM(CAST(x AS BIGINT))")


def opened(kind: str, values: list[Any], declared: bool) -> Session:
    table = pa.table(
        {
            "id": pa.array([i // 2 for i in range(len(values))], pa.int64()),
            "g": pa.array([GROUPS[i % 2] for i in range(len(values))], pa.string()),
            "x": pa.array(values, HARD[kind][0]),
        }
    )
    bounds = {"bounds": {"x": (-10, 10)}} if declared and kind in NUMERIC else {}
    return discreet.connect(
        {"t": table}, unit="id", epsilon=1000, delta=0.01, ledger=":memory:", keys={"g": GROUPS}, contributions={"rows": 2}, **bounds
    )


def asked(kind: str, declared: bool) -> str:
    exact = SUMMED_WHOLE if kind in ("whole", "small") and declared else ()
    listed = (*NUMBERS, *exact) if kind in NUMERIC else OTHERS
    return f"SELECT g, {', '.join(f'{text} AS m{i}' for i, text in enumerate(listed))} FROM t GROUP BY g"


def kind_of(release: Release) -> list[Any]:
    """All that may be seen of an answer without reading it: names, order, types, what is missing, whether there are intervals."""
    shown = [(c.name, [type(v).__name__ for v in c.values], c.low is None, c.least, c.most) for c in release.columns]
    return [len(release), *shown, release.epsilon, release.delta, str(release.receipt.loss)]


def finite(release: Release) -> bool:
    numbers = [v for c in release.columns for v in (*c.values, *(c.low or ()), *(c.high or ())) if isinstance(v, int | float)]
    return bool(numbers) and all(math.isfinite(number) for number in numbers)


def answered(kind: str, values: list[Any], declared: bool, where: str = "") -> tuple[list[Any], Release, Fraction]:
    db = opened(kind, values, declared)
    text = asked(kind, declared).replace(" GROUP BY", f" {where} GROUP BY")
    release = db.sql(text).release(epsilon=100, delta="0.001")
    spent = db.spent.epsilon
    assert spent is not None
    return kind_of(release), release, spent


@pytest.fixture(autouse=True)
def nothing_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of groups with too few rows are hidden by counts and intervals that are released; here the values themselves are looked at."""
    monkeypatch.setattr(outcome_of, "too_few", lambda plan, cells: {})
    monkeypatch.setattr(outcome_of, "without_ends", lambda plan, ends: {})


def without_found_ends(seen: list[Any]) -> list[Any]:
    """Where bounds are found, so are the ends between which a mean must lie: they are released."""
    return [part[:3] if isinstance(part, tuple) else part for part in seen]


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "open"])
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.slow if kind == "single" else ()) for kind in HARD])
def test_the_class_of_the_answer(kind: str, declared: bool) -> None:
    _, usual, hard = HARD[kind]
    plain, _, price = answered(kind, [usual] * N, declared)
    for value in hard:
        for values in ([usual] * (N - 1) + [value], [value] * N):
            try:
                seen, release, paid = answered(kind, values, declared)
            except NotEnoughData:  # by what the discovery released
                assert not declared
                continue
            told = f"{str(value)[:20]} in {kind}"
            assert without_found_ends(seen) == without_found_ends(plain), told
            assert not declared or seen == plain, told
            assert paid == price, told
            assert finite(release), told


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "open"])
@pytest.mark.parametrize("kind", HARD)
def test_nobody_at_all(kind: str, declared: bool) -> None:
    """An empty table, a filter that nobody passes and a group that nobody is in look like any other."""
    usual = HARD[kind][1]
    plain, _, price = answered(kind, [usual] * N, declared)
    for values, where in (([], ""), ([usual] * N, "WHERE 1 = 0"), ([usual] * N, "WHERE g = 'nobody''s'"), ([usual], "")):
        try:
            seen, release, paid = answered(kind, values, declared, where)
        except NotEnoughData:
            assert not declared
            continue
        assert without_found_ends(seen) == without_found_ends(plain)
        assert paid == price
        assert finite(release)
        assert [row["g"] for row in release.rows] == GROUPS


def test_declared_bounds_hold_whatever_the_values() -> None:
    """One value of one person moves a sum of bounded values by no more than the bounds, before the noise."""
    for kind in NUMERIC:
        for value in HARD[kind][2]:
            release = answered(kind, [value] * N, True)[1]
            names = dict(zip(NUMBERS, (c.name for c in release.columns[1:]), strict=False))
            for row in release.rows[:2]:
                assert abs(row[names["SUM(x)"]]) <= 10 * 30 + 200
                assert all(-10 <= row[names[text]] <= 10 for text in ("AVG(x)", "MEDIAN(x)", "MIN(x)", "MAX(x)"))


def test_minus_zero_is_zero() -> None:
    """The sign of a zero does not show: not in a group's name, not in what is divided or compared."""
    table = pa.table({"id": list(range(400)), "x": [0.0, -0.0] * 200})
    db = discreet.connect({"t": table}, unit="id", epsilon=1000, ledger=":memory:", bounds={"x": (-1, 1)}, one_row_per_unit=True)
    row = db.ask("SELECT COUNTIF(x = 0) AS same, COUNTIF(x >= 0) AS least, COUNTIF(x < 0) AS below, SUM(x) AS s FROM t", epsilon=400).rows[
        0
    ]
    assert abs(row["same"] - 400) < 5
    assert abs(row["least"] - 400) < 5
    assert row["below"] < 5
    assert abs(row["s"]) < 5
