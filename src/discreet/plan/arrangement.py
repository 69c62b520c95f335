"""How the cells of all grouping sets are arranged, and which tables are measured so that they add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple, final

from attrs import evolve, frozen

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.strategy import strategy, total_variance
from discreet.plan.bounding import Bounding, Groups
from discreet.plan.goal import Goal
from discreet.plan.key_values import OTHER, Combinations, Group, KeyValues, values_of
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Literal, call
from discreet.query.relation.node import Relation, Where
from discreet.query.totals import Total, Totals
from discreet.tables.kind import Value


class Numbered(NamedTuple):
    """Groups of some keys, given by their places, each with its cell on an axis."""

    places: tuple[int, ...]
    groups: KeyValues
    cells: Sequence[int]


class Axis(NamedTuple):
    """One of the numbers that say where a row's cell is: that of the first of these groups which it is in, or else the last of all."""

    numbered: tuple[Numbered, ...]
    size: int


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
    other: bool = False  # whether each key (below each node) has one more value, for all that are not listed: then no row is left out
    goal: Goal | None = None  # of a batch; else it is the question's own

    @classmethod
    def flat_keys(cls, values: tuple[tuple[Value | None, ...], ...], other: bool = False) -> Arrangement:
        """Keys that do not depend on each other."""
        places = tuple(range(len(values)))
        return cls.with_others((), (), places, values) if other else cls(Layout((), tuple(map(len, values))), (), places, (((),),), values)

    @classmethod
    def with_others(
        cls, chain: tuple[int, ...], levels: Sequence[Sequence[Group]], flat: tuple[int, ...], values: Sequence[Sequence[Value | None]]
    ) -> Arrangement:
        """Listed nodes, level by level below the root, and listed values; below each node, and of each other key, a cell of all others."""
        nodes: list[tuple[Group, ...]] = [((),)]
        parents: list[tuple[int, ...]] = []
        for listed in levels:
            children: dict[Group, list[Group]] = {}
            for node in listed:
                children.setdefault(node[:-1], []).append(node)
            below = [(i, child) for i, node in enumerate(nodes[-1]) for child in (*children.get(node, ()), (*node, OTHER))]
            parents.append(tuple(i for i, _ in below))
            nodes.append(tuple(child for _, child in below))
        shown = tuple((*listed, OTHER) for listed in values)
        return cls(Layout(tuple(parents), tuple(map(len, shown))), chain, flat, tuple(nodes), shown, other=True)

    def table(self, places: tuple[int, ...]) -> Table:
        """The table of a grouping set, given by the places of its keys."""
        level = max((i + 1 for i, place in enumerate(self.chain) if place in places), default=0)
        return Table(level, tuple(i for i, place in enumerate(self.flat) if place in places))

    @property
    def finest(self) -> tuple[int, ...]:
        """The set of all keys."""
        return tuple(range(len(self.chain) + len(self.flat)))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """How a row's cell is numbered, where none is left out: the last node that is not of others, then the other keys' values."""
        found = [] if not self.chain else [self._of_nodes()]
        for place, values in zip(self.flat, self.values, strict=True):
            listed = values[:-1]  # the last stands for all others
            found.append(Axis((Numbered((place,), Combinations((listed,)), range(len(listed))),), len(values)))
        return tuple(found)

    def within(self, places: tuple[int, ...]) -> Arrangement:
        """The cells of one set that has the hierarchy's keys from the top down, as if it had been asked by itself."""
        table = self.table(places)
        chain, flat = (
            tuple(places.index(place) for place in some) for some in (self.chain[: table.level], [self.flat[i] for i in table.flat])
        )
        layout = Layout(self.layout.parents[: table.level], tuple(self.layout.sizes[i] for i in table.flat))
        values = tuple(self.values[i] for i in table.flat)
        return Arrangement(layout, chain, flat, self.nodes[: table.level + 1], values, self.other)

    def _of_nodes(self) -> Axis:
        """Every listed node has the cell of all others below it; on the last level its own."""
        leaves = {node: cell for cell, node in enumerate(self.nodes[-1])}
        depth, numbered = len(self.chain), []
        for level in range(depth, 0, -1):
            listed = tuple(node for node in self.nodes[level] if OTHER not in node)
            cells = tuple(leaves[(*node, *(OTHER for _ in range(depth - level)))] for node in listed)
            numbered.append(Numbered(self.chain[:level], listed, cells))
        return Axis(tuple(numbered), len(leaves))

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


def restricted(question: Question, at: int, groups: KeyValues | None) -> Question:
    """The question about one grouping set, with the statistics asked for it; over the rows of these groups of all keys, if given."""
    keys = tuple(question.keys[place] for place in question.sets[at])
    if groups is not None:
        summed_over = [place for place in range(len(question.keys)) if place not in question.sets[at]]
        question = evolve(question, relation=_listed(question, groups, summed_over))
    if not question.statistics_by_set:
        return evolve(question, keys=keys, sets=(), other=False)
    names = question.statistics_by_set[at]
    statistics = tuple((name, one) for name, one in question.statistics if name in names)
    outputs = tuple((name, Column(name)) for name in names)
    return evolve(question, keys=keys, statistics=statistics, outputs=outputs, sets=(), statistics_by_set=(), other=False)


def question_of_set(question: Question, at: int) -> Question:
    """The question about one of its grouping sets; the question itself, if it has none."""
    return restricted(question, at, None) if question.sets else question


def _listed(question: Question, groups: KeyValues, places: list[int]) -> Relation:
    """The rows whose keys at these places have listed values: those that are in the tables that add up."""
    relation = question.relation
    for place in places:
        expr, values = question.keys[place][1], dict.fromkeys(values_of(groups, place))
        some = [Literal(value) for value in values if value is not None]
        tests = [call("in", expr, *some)] if some else []
        tests += [call("is_null", expr)] if None in values else []
        if tests:
            relation = Where(relation, tests[0] if len(tests) == 1 else call("or", *tests))
    return relation


def sets_needing(question: Question, total: Total, of: Totals) -> tuple[int, ...]:
    """The grouping sets for which a total is needed."""
    if not question.statistics_by_set:
        return tuple(range(len(question.sets)))
    needing = {name for name, one in question.additive.items() if total in one.needs(of)}
    return tuple(at for at, names in enumerate(question.statistics_by_set) if needing & set(names))


def table_shares(
    arrangement: Arrangement, question: Question, gaussian: bool, bounding: Bounding, sets: tuple[int, ...] | None = None
) -> Mapping[Table, float]:
    """The share of the budget of each table that is measured, for these grouping sets or for all."""
    chosen = range(len(question.sets)) if sets is None else sets
    tables = {at: arrangement.table(question.sets[at]) for at in chosen}
    asked, errors = goal_of(arrangement, question).rows(arrangement.layout, tables)
    return strategy(arrangement.layout, asked, errors, gaussian, finest_cost(gaussian, bounding))


def goal_of(arrangement: Arrangement, question: Question) -> Goal:
    """What the shares are chosen for: the goal of a batch, or the question's own."""
    return arrangement.goal or Goal.of(question)


def weights_by_variance(
    weights: Mapping[Total, float], arrangement: Arrangement | None, question: Question, gaussian: bool, bounding: Bounding, of: Totals
) -> dict[Total, float]:
    """The weights of totals when the budget is split, in proportion to the weighted variance of all their cells at the same price."""
    if arrangement is None:
        return dict(weights)
    found, cost, goal = {}, finest_cost(gaussian, bounding), goal_of(arrangement, question)
    for total, weight in weights.items():
        sets = sets_needing(question, total, of)
        asked = tuple(arrangement.table(question.sets[at]) for at in sets)
        each = [goal.weight(at) for at in sets]
        if is_linear(total):
            shares = table_shares(arrangement, question, gaussian, bounding, sets)
            found[total] = weight * total_variance(arrangement.layout, shares, asked, gaussian, cost, each)
        else:
            cells = sum(one * arrangement.layout.cells(table) for table, one in zip(asked, each, strict=True))
            found[total] = weight * cells * len(asked) ** (1 if gaussian else 2)
    return found


def finest_cost(gaussian: bool, bounding: Bounding) -> float:
    """The squared sensitivity of the finest table, relative to the others': with units in k groups, ℓ₂ is √k there, and k in sums."""
    return 1 / bounding.groups if gaussian and isinstance(bounding, Groups) else 1.0


def as_fractions(shares: Mapping[Table, float]) -> dict[Table, Fraction]:
    """The same shares as exact numbers that add up to 1."""
    found = {table: Fraction(int(share * 10**6), 10**6) for table, share in shares.items()}
    largest = max(found, key=lambda table: found[table])
    found[largest] += 1 - sum(found.values(), Fraction(0))
    return found
