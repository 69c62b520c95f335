"""What the gauntlet caught, each in its smallest form."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from gauntlet.replay import Trace, differences, excesses, run, standing_clock

import discreet
from discreet import exact
from discreet.plan.discovery import KeyDiscovery

N = 400
BASE: dict[str, list[Any]] = {
    "id": list(range(N)),
    "g": ["a", "b"] * (N // 2),
    "x": [float(i % 80) for i in range(N)],
    "n": [100 + i % 50 for i in range(N)],
}


def with_person(rows: int, base: dict[str, list[Any]] = BASE, pid: int = 999, **values: Any) -> dict[str, list[Any]]:
    """The table with one person more, whose rows are all alike (or whose lists are given)."""
    told = {"id": pid, "g": "a", "x": 1.0, "n": 120} | values
    return {name: [*column, *(told[name] if isinstance(told[name], list) else [told[name]] * rows)] for name, column in base.items()}


def both(first: Any, second: Any, text: str, *, other: bool = False, epsilon: float = 20, **policy: Any) -> tuple[Trace, Trace]:
    """Ask on one table, and again on its neighbour with every output replayed."""
    with standing_clock():
        sessions = [
            discreet.connect(
                {"t": pa.table(rows) if isinstance(rows, dict) else rows}, epsilon=1000, ledger=":memory:", **({"unit": "id"} | policy)
            )
            for rows in (first, second)
        ]
    recorded = run(sessions[0], lambda session: session.sql(text, other=other).release(epsilon=epsilon))
    return recorded, run(sessions[1], lambda session: session.sql(text, other=other).release(epsilon=epsilon), recorded.calls)


def wrong(first: Any, second: Any, text: str, **policy: Any) -> list[str]:
    a, b = both(first, second, text, **policy)
    return differences(a, b) + excesses(a, b, policy.get("adjacency", "add/remove") == "add/remove")


@pytest.mark.parametrize("huge", [1e300, -1e300, float("inf"), 1e30])
@pytest.mark.parametrize("aggregate", ["AVG(x)", "SUM(x)", "MEDIAN(x)", "STDDEV(x)", "SUM(x * 2)"])
def test_a_huge_value_in_a_column_without_bounds(aggregate: str, huge: float) -> None:
    assert not wrong(BASE, with_person(1, x=huge), f"SELECT {aggregate} AS m FROM t", one_row_per_unit=True)


@pytest.mark.parametrize("huge", [2**63 - 1, -(2**63)])
def test_the_median_of_whole_numbers_without_bounds(huge: int) -> None:
    assert not wrong(BASE, with_person(1, n=huge), "SELECT MEDIAN(n) AS m FROM t", one_row_per_unit=True)


@pytest.mark.parametrize("huge", [2**63 - 1, -(2**63)])
@pytest.mark.parametrize("aggregate", ["AVG(n)", "SUM(n)", "STDDEV(n)", "SUM(n * n)", "SUM(ABS(n))"])
def test_a_huge_whole_number_in_a_column_without_bounds(aggregate: str, huge: int) -> None:
    assert not wrong(BASE, with_person(1, n=huge), f"SELECT {aggregate} AS m FROM t", one_row_per_unit=True)


@pytest.mark.parametrize(
    "text", ["AVG(SQRT(x * 0.7 - 0.07))", "MEDIAN(SQRT(x * 0.7 - 0.07))", "AVG(LN(x * 0.7 - 0.07 + 1e-18))", "SUM(SQRT(x + y - 0.8))"]
)
def test_a_root_or_logarithm_just_beyond_the_end_of_its_range(text: str) -> None:
    base = {"id": [1, 2, 3], "x": [0.5, 0.6, 0.7], "y": [0.8, 0.9, 1.0]}
    more = {"id": [1, 2, 3, 4], "x": [0.5, 0.6, 0.7, 0.1], "y": [0.8, 0.9, 1.0, 0.7]}
    assert not wrong(base, more, f"SELECT {text} AS m FROM t", one_row_per_unit=True, bounds={"x": (0.1, 1), "y": (0.7, 1)})


@pytest.mark.parametrize("per_group", [10, 100, 1024])
@pytest.mark.parametrize("by", ["g", "n", None])  # few groups, many groups, one: each is written in its own way
def test_squares_of_many_rows_at_the_bound(by: str | None, per_group: int) -> None:
    policy: dict[str, Any] = {"bounds": {"x": (0, 500), "n": (100, 200)}, "keys": {"g": ["a", "b"]}}
    text = f"SELECT {by}, VARIANCE(x) AS v FROM t GROUP BY {by}" if by else "SELECT VARIANCE(x) AS v FROM t"
    assert not wrong(BASE, with_person(3 * per_group, x=500.0), text, contributions={"groups": 2, "per_group": per_group}, **policy)


@pytest.mark.slow
def test_squares_of_nine_million_rows_of_one_person() -> None:
    n = 9_000_000
    many = pa.table({"id": np.r_[np.arange(50), np.full(n, 99)], "x": np.r_[np.ones(50), np.full(n, 127.0)]})
    policy: dict[str, Any] = {"bounds": {"x": (-127, 127)}, "contributions": {"groups": 1, "per_group": 2}}
    assert not wrong(many.slice(0, 50), many, "SELECT VARIANCE(x) AS v FROM t", **policy)


def test_rounding_of_many_groups_that_become_one_other_group() -> None:
    """Each hidden group's total is rounded by itself, so 4,096 of them move the "other" cell by 2,048 more than one rounding does."""
    groups, high = 4096, (2**20 - 1) / 2**10
    hidden = [f"hidden {i}" for i in range(groups)]
    base = {"id": list(range(400)), "g": ["a"] * 400, "x": [1.0] * 400, "n": [1] * 400}
    first = with_person(groups, base, pid=7777, g=hidden, x=1 / 2**10)
    second = with_person(groups, first, pid=8888, g=hidden, x=high)
    policy: dict[str, Any] = {"bounds": {"x": (-high, high)}, "contributions": {"rows": 1}, "delta": 0.01, "other": True}
    assert not wrong(first, second, "SELECT g, SUM(x) AS s FROM t GROUP BY g", **policy)


@pytest.mark.parametrize("q", [0.01, 0.5, 0.9, 0.99])
def test_replacing_a_person_moves_two_groups_quantiles(q: float) -> None:
    policy: dict[str, Any] = {"bounds": {"x": (0, 100)}, "keys": {"g": ["a", "b"]}, "adjacency": "replace-one", "one_row_per_unit": True}
    assert not wrong(
        with_person(1, g="a", x=90.0), with_person(1, g="b", x=90.0), f"SELECT g, QUANTILE(x, {q}) AS q FROM t GROUP BY g", **policy
    )


@pytest.mark.parametrize("contributions", [{"rows": 1}, {"rows": 8}, {"groups": 3, "per_group": 1}], ids=str)
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_discovered_groups_are_paid_for(adjacency: str, contributions: dict[str, int]) -> None:
    """Replacing is a removal and an addition: two steps of (ε′, δ′) are (2ε′, δ′(1 + e^ε′)), and that must be within the find's price."""
    db = discreet.connect(
        {"t": pa.table(BASE)}, unit="id", epsilon=10, delta=0.01, ledger=":memory:", adjacency=adjacency, contributions=contributions
    )
    plan = db.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g").plan(epsilon=1)
    (find,) = [find for find in plan.steps.discoveries if isinstance(find, KeyDiscovery)]
    once = find.mechanism
    if adjacency == "add/remove":
        assert once.epsilon <= find.epsilon
        assert once.delta <= find.delta
    else:
        assert 2 * once.epsilon <= find.epsilon
        assert exact.upper(exact.ball(once.delta) * (1 + exact.ball(once.epsilon).exp())) <= find.delta * Fraction(10**9 + 1, 10**9)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM t JOIN p ON t.g = p.g",
        "SELECT r, COUNT(*) AS n FROM t JOIN p ON t.g = p.g GROUP BY r",
        "SELECT COUNT(*) AS n FROM (SELECT g FROM t UNION ALL SELECT g FROM t)",
    ],
)
def test_protected_rows_that_become_several(text: str) -> None:
    """Where each row is protected by itself and may become several, the question is refused before anything is paid."""
    tables = {"t": pa.table({"g": ["a", "b"]}), "p": pa.table({"g": ["a", "a"], "r": ["u", "v"]})}
    db = discreet.connect(tables, unit=discreet.each_row(), public=["p"], epsilon=10, delta=0.01, ledger=":memory:")
    with pytest.raises(discreet.Refused):
        db.sql(text).release(epsilon=1)
    assert db.spent.epsilon == 0


@pytest.mark.parametrize(
    "moment",
    [
        datetime.datetime(2024, 1, 1, 12, 30, 0, 500_000),
        datetime.datetime(2024, 1, 1),
        datetime.datetime(2024, 1, 1, 0, 0, 0, 1),
    ],
)
def test_groups_of_moments_with_fractions_of_a_second(moment: datetime.datetime) -> None:
    table = pa.table({"id": list(range(400)), "at": [moment] * 400})
    db = discreet.connect({"t": table}, unit="id", epsilon=100, delta=0.01, ledger=":memory:", one_row_per_unit=True)
    (row,) = db.sql("SELECT at, COUNT(*) AS n FROM t GROUP BY at").release(epsilon=50).rows
    assert row["at"] == moment
    assert abs(row["n"] - 400) < 20
    declared = discreet.connect({"t": table}, unit="id", epsilon=100, ledger=":memory:", one_row_per_unit=True, keys={"at": [moment]})
    (row,) = declared.sql("SELECT at, COUNT(*) AS n FROM t GROUP BY at").release(epsilon=50).rows
    assert abs(row["n"] - 400) < 20


@pytest.mark.parametrize("rest", ["AVG(x)", "MEDIAN(n)", "MODE(n)"])
def test_no_group_is_large_enough_to_be_shown(rest: str) -> None:
    first, second = (dict(BASE, g=[f"{letter}{i}" for i in range(N)]) for letter in "gh")
    a, b = both(first, second, f"SELECT g, {rest} AS m FROM t GROUP BY g", delta=1e-6, contributions={"rows": 1}, epsilon=1)
    assert (a.error, b.error) == (None, None)
    assert (a.rows, b.rows) == ("[]", "[]")


def test_ordering_by_a_key_beside_the_other_group() -> None:
    a, _ = both(
        BASE, BASE, "SELECT n, COUNT(*) AS c FROM t GROUP BY n ORDER BY n", other=True, bounds={"n": (100, 109)}, one_row_per_unit=True
    )
    assert a.error is None


def test_units_are_counted_where_only_groups_are_limited() -> None:
    a, _ = both(BASE, BASE, "SELECT COUNT(DISTINCT id) AS c FROM t", contributions={"groups": 5})
    assert a.error is None


def test_a_bound_too_small_for_a_float() -> None:
    policy: dict[str, Any] = {"bounds": {"x": (Fraction(1, 10**400), 1)}, "one_row_per_unit": True}
    with pytest.raises(discreet.PolicyError, match="10\\^-50"):
        both(BASE, BASE, "SELECT AVG(LN(x)) AS m FROM t", **policy)


def spent_or_answered(text: str, **price: Any) -> bool:
    """Whether it was answered, or refused before anything was paid."""
    db = discreet.connect(
        {"t": pa.table(BASE)}, unit="id", epsilon=10, delta=0.01, ledger=":memory:", bounds={"x": (0, 80)}, one_row_per_unit=True
    )
    try:
        return len(db.sql(text).release(**price)) > 0
    except discreet.Error:
        return db.spent.epsilon == 0


@pytest.mark.parametrize("text", ["SELECT GREATEST(COUNT(*)) AS n FROM t", "SELECT LEAST(SUM(x)) AS n FROM t"])
def test_the_least_of_one_statistic(text: str) -> None:
    assert spent_or_answered(text, epsilon=1)


@pytest.mark.parametrize("text", ["SELECT COUNT(*) AS n FROM t", "SELECT AVG(x) AS m FROM t"])
@pytest.mark.parametrize("confidence", ["0.99999999999999999999"])
def test_a_confidence_that_floats_do_not_have(text: str, confidence: str) -> None:
    assert spent_or_answered(text, epsilon=1, confidence=confidence)
