"""All small data sets, who is next to whom, and everything that so many changes reach: by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations_with_replacement

from discreet.mechanisms.sensitivity import Adjacency

Data = tuple[int, ...]


def all_data(points: int, most: int) -> list[Data]:
    """Every multiset of up to so many records among the points."""
    return [data for size in range(most + 1) for data in combinations_with_replacement(range(points), size)]


@cache
def neighbours(data: Data, points: int, adjacency: Adjacency) -> frozenset[Data]:
    """What one change makes of the data, in order."""
    fewer = {data[:i] + data[i + 1 :] for i in range(len(data))}
    if adjacency == "replace-one":
        return frozenset(tuple(sorted((*rest, new))) for rest in fewer for new in range(points)) - {data}
    return frozenset(fewer | {tuple(sorted((*data, new))) for new in range(points)})


@cache
def within(data: Data, points: int, adjacency: Adjacency, changes: int) -> frozenset[Data]:
    """Everything at most so many changes away."""
    if not changes:
        return frozenset({data})
    near = within(data, points, adjacency, changes - 1)
    return near | frozenset(other for one in near for other in neighbours(one, points, adjacency))


def local_sensitivity(data: Data, points: int, adjacency: Adjacency, changes: int, value: Callable[[Data], int]) -> int:
    """The largest jump between neighbours of which one is at most so many changes away."""
    return max(
        abs(value(one) - value(other)) for one in within(data, points, adjacency, changes) for other in neighbours(one, points, adjacency)
    )
