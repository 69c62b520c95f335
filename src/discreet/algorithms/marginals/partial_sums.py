"""All marginals of a large array in a few passes, and their transpose: columns are grouped, and partial sums are shared.

Columns are packed into groups of at most some number of codes. The marginal of all columns of a clique's groups contains the clique's own;
there are few of them, and they are small. They are computed by a tree: at each group the array is kept as it is, for the cliques that have
the group, and summed, for those that do not. A sum is smaller by the size of its group, so nearly all of the cost is a handful of passes
over the array, however many marginals there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import NamedTuple, TypeAlias, final

from discreet.algorithms.marginals.arrays import Array, Arrays, Floats

Clique: TypeAlias = tuple[int, ...]
_CAPS = tuple(2**k for k in range(1, 11))  # codes of a group that are tried
_HOST, _EACH = 0.4, 10**5  # the cost of an operation on a table beside that of reading a cell, and that of a table by itself


class Leaf(NamedTuple):
    """A marginal: the sum of what is left."""

    place: int
    before: int
    among: int


class Branch(NamedTuple):
    """A group: kept for some marginals, if any, and summed for the others."""

    before: int
    among: int
    after: int
    kept: Branch | Leaf | None
    summed: Branch | Leaf


@final
class PartialSums:
    """Marginals of an array with some axes, by a tree of shared sums, and the sum of functions of some axes each as an array.

    >>> import numpy as np
    >>> from discreet.algorithms.marginals.arrays import NumpyArrays
    >>> sums = PartialSums((2, 3, 2), [(0, 2), (1,)])
    >>> [table.tolist() for table in sums.marginals(NumpyArrays(12), np.arange(12.0))]
    [[6.0, 9.0, 24.0, 27.0], [14.0, 22.0, 30.0]]
    """

    def __init__(self, sizes: Sequence[int], cliques: Sequence[Clique]) -> None:
        self._sizes, self._count = tuple(sizes), len(cliques)
        self._tree = self._split([(place, clique) for place, clique in enumerate(cliques)], 0, 1)

    def _split(self, wanted: list[tuple[int, Clique]], at: int, before: int) -> Branch | Leaf:
        """The tree for cliques, none of which contains another, of which the axes before `at` are decided."""
        if not wanted[0][1]:
            return Leaf(wanted[0][0], before, prod(self._sizes[at:]))
        first = min(clique[0] for _, clique in wanted)
        if first > at:
            return Branch(before, prod(self._sizes[at:first]), prod(self._sizes[first:]), None, self._split(wanted, first, before))
        size = self._sizes[at]
        kept = self._split([(place, clique[1:]) for place, clique in wanted if clique[0] == at], at + 1, before * size)
        rest = [(place, clique) for place, clique in wanted if clique[0] != at]
        return Branch(before, size, prod(self._sizes[at + 1 :]), kept, self._split(rest, at + 1, before)) if rest else kept

    @property
    def cost(self) -> int:
        """The number of cells that are read for all marginals."""

        def cost(node: Branch | Leaf) -> int:
            if isinstance(node, Leaf):
                return node.before * node.among
            return node.before * node.among * node.after + (cost(node.kept) if node.kept else 0) + cost(node.summed)

        return cost(self._tree)

    def marginals(self, arrays: Arrays, array: Array) -> list[Floats]:
        """The marginal of each clique, as one vector in double precision."""
        found: list[Floats | None] = [None] * self._count

        def visit(node: Branch | Leaf, now: Array) -> None:
            if isinstance(node, Leaf):
                found[node.place] = arrays.take(arrays.sum(now, node.before, node.among, 1)).astype("f8")
                return
            if node.kept is not None:
                visit(node.kept, now)
            visit(node.summed, arrays.sum(now, node.before, node.among, node.after))

        visit(self._tree, array)
        return [table for table in found if table is not None]

    def spread(self, arrays: Arrays, tables: Sequence[Floats]) -> Array:
        """The transpose: for each cell, the sum of what the tables of the cliques have for it."""

        def visit(node: Branch | Leaf) -> Array:
            if isinstance(node, Leaf):
                return arrays.repeat(arrays.put(tables[node.place]), node.before, node.among, 1)
            if node.kept is None:
                return arrays.repeat(visit(node.summed), node.before, node.among, node.after)
            sums = visit(node.kept)
            arrays.add(sums, visit(node.summed), node.before, node.among, node.after)
            return sums

        return visit(self._tree)


class Grouping(NamedTuple):
    """Columns in groups, the maximal sets of groups that some cliques need, and what one pass over all marginals costs."""

    groups: tuple[Clique, ...]
    sets: tuple[Clique, ...]
    tree_cost: int  # cells that are read
    table_cost: int  # operations on tables
    table_cells: int

    @property
    def cost(self) -> float:
        """All of it, in cells read."""
        return self.tree_cost + _HOST * self.table_cost + _EACH * len(self.sets)

    @property
    def order(self) -> tuple[int, ...]:
        """The columns, group by group."""
        return tuple(i for group in self.groups for i in group)

    def columns(self, place: int) -> tuple[int, ...]:
        """The columns of one of the sets, in their order."""
        return tuple(i for group in self.sets[place] for i in self.groups[group])


def group_columns(sizes: Sequence[int], cliques: Collection[Clique]) -> Grouping:
    """The grouping with the least predicted cost; it depends on sizes and cliques only."""
    return _best_grouping(tuple(sizes), frozenset(cliques))


@lru_cache(32)
def _best_grouping(sizes: tuple[int, ...], cliques: frozenset[Clique]) -> Grouping:
    tried: dict[tuple[Clique, ...], Grouping] = {}
    for cap in _CAPS:
        groups = _packed(sizes, cap)
        if groups not in tried:
            tried[groups] = _grouping(sizes, groups, cliques)
        if len(tried[groups].sets) == 1:
            break
    return min(tried.values(), key=lambda one: one.cost)


def _grouping(sizes: Sequence[int], groups: tuple[Clique, ...], cliques: Iterable[Clique]) -> Grouping:
    home = {i: place for place, group in enumerate(groups) for i in group}
    sets = {tuple(sorted({home[i] for i in clique})) for clique in cliques} | {(place,) for place in range(len(groups))}
    contained = {part for one in sets for k in range(len(one)) for part in combinations(one, k)}
    maximal = tuple(sorted(sets - contained))
    each = [prod(sizes[i] for i in group) for group in groups]
    tables = [(prod(each[g] for g in one), sum(each[g] for g in one)) for one in maximal]
    work = sum(cells * total for cells, total in tables)
    return Grouping(groups, maximal, PartialSums(each, maximal).cost, work, sum(cells for cells, _ in tables))


def _packed(sizes: Sequence[int], cap: int) -> tuple[Clique, ...]:
    """Columns in groups of at most `cap` codes, the largest group first: sums of it are the smallest; a larger column is alone."""
    groups: list[tuple[int, list[int]]] = []
    for i in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
        for place, (codes, group) in enumerate(groups):
            if codes * sizes[i] <= cap:
                groups[place] = (codes * sizes[i], [*group, i])
                break
        else:
            groups.append((sizes[i], [i]))
    return tuple(tuple(sorted(group)) for _, group in sorted(groups, key=lambda one: (-one[0], one[1])))
