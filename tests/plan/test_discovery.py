"""One discovery: its candidates, where the search stops, and the range that follows."""

from __future__ import annotations

from fractions import Fraction

from discreet.mechanisms.partition_selection import PartitionSelection, WeightedGaussianSelection
from discreet.mechanisms.streams.sparse_vector import ThresholdAnswer
from discreet.plan.discovery import LIMITS, KeyDiscovery, LimitDiscovery, resolved_range, stopped
from discreet.query.relation.field import Interval


def outcomes(above_at: int) -> list[ThresholdAnswer]:
    return [ThresholdAnswer(above=i == above_at) for i in range(above_at + 1)]


def test_the_search_stops_at_the_first_candidate_above_or_at_the_last() -> None:
    assert stopped(outcomes(3), 29) == 3
    assert stopped([], 29) == 28
    limit = LimitDiscovery("rows", Fraction(1), "add/remove")
    assert limit.read(outcomes(0)) == 1
    assert limit.read(outcomes(8)) == LIMITS[8] == 10
    assert limit.mechanism.threshold < 0
    assert limit.loss.epsilon == 1


def test_keys_by_the_selection_that_shows_smaller_groups() -> None:
    assert isinstance(KeyDiscovery(Fraction(1), Fraction(1, 10**6), 1, "s").mechanism, PartitionSelection)
    assert isinstance(KeyDiscovery(Fraction(1), Fraction(1, 10**6), 100, "s").mechanism, WeightedGaussianSelection)
    replaced = KeyDiscovery(Fraction(1), Fraction(1, 10**6), 1, "s", adjacency="replace-one")
    assert replaced.mechanism.epsilon == Fraction(1, 2)
    assert (replaced.loss.epsilon, replaced.loss.delta) == (1, Fraction(1, 10**6))


def test_ranges_are_never_empty() -> None:
    wide = Interval(Fraction(-(10**6)), Fraction(10**6), False, False)
    assert resolved_range(wide, {"low": Fraction(1), "high": Fraction(9)}) == Interval(Fraction(1), Fraction(9))
    assert resolved_range(wide, {"low": Fraction(9), "high": Fraction(1)}) == Interval(Fraction(0), Fraction(1))
    known = Interval(Fraction(5), Fraction(10**6), True, False)
    assert resolved_range(known, {"high": Fraction(2)}) == Interval(Fraction(5), Fraction(6))


def test_a_narrow_range_is_widened_without_changing_its_signs() -> None:
    """Numbers of both signs need other totals on a sample than those of one sign, which are planned from the declared range."""
    tiny, least = Fraction(1, 10**9), Fraction(1, 2**20)
    assert resolved_range(Interval(Fraction(0), tiny), {}) == Interval(Fraction(0), least)
    assert resolved_range(Interval(-tiny, Fraction(0)), {}) == Interval(-least, Fraction(0))
