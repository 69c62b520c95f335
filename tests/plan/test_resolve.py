"""Resolved plans: every mechanism from declared or discovered bounds."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import catalog, steps

from discreet.errors import Refused
from discreet.plan.bounding import Groups, Rows, Single, Votes
from discreet.plan.discovery import Discovered
from discreet.plan.resolve import bound, hypothetical_discoveries, most_groups, resolve, votes
from discreet.query.sql.read import read
from discreet.tables.table import Contributions


def test_how_a_unit_is_bounded() -> None:
    one = read("SELECT dept, COUNT(*) FROM t GROUP BY dept", catalog(each=True))
    keyed, sets, whole = (read(f"SELECT COUNT(*) FROM t {group}", catalog()) for group in ("GROUP BY dept", "GROUP BY ROLLUP (dept)", ""))
    both = Contributions(groups=3, per_group=2)
    assert bound(one, Contributions(rows=3), Discovered(), "laplace") == Single()
    assert bound(keyed, Contributions(rows=3), Discovered(), "laplace") == Rows(3)
    assert bound(keyed, Contributions(), Discovered(limits={"rows": 7}), "laplace") == Rows(7)
    assert bound(keyed, both, Discovered(), "gaussian") == Groups(3, 2, True)
    assert bound(sets, both, Discovered(), "gaussian") == Groups(3, 2, False)  # roots would not bound sums over groups
    assert bound(whole, both, Discovered(), "laplace") == Groups(1, 2)


def test_undiscovered_groups_are_refused() -> None:
    plan = steps("SELECT dept, COUNT(*) FROM t GROUP BY dept", catalog({"rows": 1}, keys=None))
    with pytest.raises(Refused, match="run the plan's discoveries first"):
        resolve(plan, Discovered())
    resolved = resolve(plan, Discovered(groups=(("a",), ("b",))))
    assert (resolved.resolved, resolved.groups, resolved.loss) == (True, (("a",), ("b",)), plan.loss)


def test_imagined_discoveries_fill_every_open_place() -> None:
    plan = steps("SELECT SUM(x) FROM t", catalog(bounds=None))
    found = hypothetical_discoveries(plan, lambda _: 5, lambda _, end: Fraction(9 if end == "high" else -9))
    assert found.limits == {"rows": 5}
    assert sorted(found.bounds.values()) == [-9, 9]
    assert resolve(plan, found).bounding == Rows(5)


def test_votes_need_no_more_groups_than_there_are() -> None:
    assert votes(Single(), 4) == Single()
    assert votes(Rows(5), 0) == Votes(1, 1)
    assert votes(Rows(5), 3).limit == 3  # type: ignore[union-attr]
    assert votes(Rows(5), None).limit == 5  # type: ignore[union-attr]
    assert most_groups(0, None, other=False) == 0
    assert most_groups(1, (("a",), ("b",)), other=True) == 3
    assert most_groups(2, (("a", 1), ("b", 1)), other=False) == 2
    assert most_groups(1, None, other=False) is None
