"""How the cells of all grouping sets are arranged, and which tables are measured so that they add up."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import final

from attrs import evolve, frozen

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.strategy import strategy, total_variance
from discreet.plan.bounding import Bounding, Groups
from discreet.plan.key_values import Combinations, Group, KeyValues
from discreet.query.question import Question
from discreet.query.totals import Total
from discreet.tables.kind import Value


@final
@frozen
class Arrangement:
    """The cells of a question with grouping sets: the nodes of a hierarchy of keys, if there is one, times the values of the other keys.

    `nodes` has the values of the hierarchy's keys, level by level; the first level is the root, which has none.
    """

    layout: Layout
    chain: tuple[int, ...]  # the places of the hierarchy's keys among those of the question, the coarsest first
    flat: tuple[int, ...]  # the places of the others
    nodes: tuple[tuple[Group, ...], ...]
    values: tuple[tuple[Value | None, ...], ...]  # of the other keys

    @classmethod
    def flat_keys(cls, values: tuple[tuple[Value | None, ...], ...]) -> Arrangement:
        """Keys that do not depend on each other."""
        return cls(Layout((), tuple(map(len, values))), (), tuple(range(len(values))), (((),),), values)

    def table(self, places: tuple[int, ...]) -> Table:
        """The table of a grouping set, given by the places of its keys."""
        level = max((i + 1 for i, place in enumerate(self.chain) if place in places), default=0)
        return Table(level, tuple(i for i, place in enumerate(self.flat) if place in places))

    @property
    def finest(self) -> tuple[int, ...]:
        """The set of all keys."""
        return tuple(range(len(self.chain) + len(self.flat)))

    def groups(self, places: tuple[int, ...]) -> KeyValues:
        """The groups of a set, in the order of its table's cells, as values of its keys in the question's order."""
        table = self.table(places)
        if not self.chain:
            return Combinations(tuple(self.values[i] for i in table.flat))
        order = (*self.chain[: table.level], *(self.flat[i] for i in table.flat))
        at = [order.index(place) for place in places]
        cells = ((*node, *rest) for node in self.nodes[table.level] for rest in product(*(self.values[i] for i in table.flat)))
        return tuple(tuple(cell[i] for i in at) for cell in cells)


def is_linear(total: Total) -> bool:
    """Whether a total of a coarser group is the sum of those of its parts: not if units or distinct values are counted once in a group."""
    return total.form not in ("units", "distinct")


def restricted(question: Question, places: tuple[int, ...]) -> Question:
    """The question about one grouping set."""
    return evolve(question, keys=tuple(question.keys[place] for place in places), sets=())


def table_shares(arrangement: Arrangement, question: Question, gaussian: bool, bounding: Bounding) -> Mapping[Table, float]:
    """The share of the budget of each table that is measured."""
    return strategy(arrangement.layout, _asked(arrangement, question), gaussian, finest_cost=finest_cost(gaussian, bounding))


def weighed(
    weights: Mapping[Total, float], arrangement: Arrangement | None, question: Question, gaussian: bool, bounding: Bounding
) -> dict[Total, float]:
    """The weights of totals when the budget is split, in proportion to the variance of all their cells at the same price."""
    if arrangement is None:
        return dict(weights)
    asked, cost = _asked(arrangement, question), finest_cost(gaussian, bounding)
    together = total_variance(arrangement.layout, table_shares(arrangement, question, gaussian, bounding), asked, gaussian, cost)
    apart = sum(map(arrangement.layout.cells, asked)) * len(asked) ** (1 if gaussian else 2)
    return {total: weight * (together if is_linear(total) else apart) for total, weight in weights.items()}


def _asked(arrangement: Arrangement, question: Question) -> tuple[Table, ...]:
    return tuple(map(arrangement.table, question.sets))


def finest_cost(gaussian: bool, bounding: Bounding) -> float:
    """The squared sensitivity of the finest table, relative to the others': with units in k groups, ℓ₂ is √k there, and k in sums."""
    return 1 / bounding.groups if gaussian and isinstance(bounding, Groups) else 1.0


def as_fractions(shares: Mapping[Table, float]) -> dict[Table, Fraction]:
    """The same shares as exact numbers that add up to 1."""
    found = {table: Fraction(int(share * 10**6), 10**6) for table, share in shares.items()}
    largest = max(found, key=lambda table: found[table])
    found[largest] += 1 - sum(found.values(), Fraction(0))
    return found
