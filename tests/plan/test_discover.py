"""Which discoveries a question needs, and their shares of its price."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import catalog

from discreet.errors import Refused
from discreet.plan.discover import counts_units_only, open_limits, plan_discoveries
from discreet.plan.discovery import KeyDiscovery, LimitDiscovery
from discreet.plan.range_discovery import RangeDiscovery
from discreet.query.sql.read import read
from discreet.tables.table import Contributions

BY_DEPT = "SELECT dept, COUNT(*) FROM t GROUP BY dept"


@pytest.mark.parametrize(
    ("sql", "limits", "found"),
    [
        ("SELECT COUNT(*) FROM t", {}, ["rows"]),
        ("SELECT COUNT(*) FROM t", {"rows": 3}, []),
        (BY_DEPT, {"groups": 3}, ["per_group"]),
        (BY_DEPT, {"per_group": 3}, ["groups"]),
        ("SELECT COUNT(DISTINCT id) FROM t", {}, []),
        ("SELECT dept, COUNT(DISTINCT id) FROM t GROUP BY dept", {}, ["groups"]),
    ],
)
def test_open_limits(sql: str, limits: dict[str, int], found: list[str]) -> None:
    assert open_limits(read(sql, catalog()), Contributions.of(limits or None)) == found


def test_units_are_counted_once() -> None:
    assert counts_units_only(read("SELECT COUNT(DISTINCT id) FROM t", catalog()))
    assert not counts_units_only(read("SELECT COUNT(DISTINCT id), COUNT(*) FROM t", catalog()))


def test_limits_come_first_and_all_together_take_half_at_most() -> None:
    question = read("SELECT dept, SUM(x), MODE(dept) FROM t GROUP BY dept", catalog(keys=None, bounds=None))
    found = plan_discoveries(question, "add/remove", Contributions(), ((),), Fraction(1), Fraction(1, 10**6))
    assert [type(one) for one in found] == [LimitDiscovery, KeyDiscovery, KeyDiscovery, RangeDiscovery]
    assert sum(one.epsilon for one in found) == Fraction(1, 2)
    assert sum(one.delta for one in found) == Fraction(1, 2 * 10**6)


def test_candidates_of_a_mode_need_a_delta() -> None:
    with pytest.raises(Refused, match="delta above 0: declare"):
        plan_discoveries(read("SELECT MODE(dept) FROM t", catalog(keys=None)), "add/remove", Contributions(), (), Fraction(1), Fraction(0))
