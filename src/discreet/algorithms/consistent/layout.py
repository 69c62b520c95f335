"""The cells of the finest table, as a tree of levels times flat keys, and the tables that are sums over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import prod
from typing import NamedTuple, TypeVar, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)


class Table(NamedTuple):
    """A table that is a sum over the finest one: its level of the tree (0: the root alone), and its flat keys, in order."""

    level: int
    flat: tuple[int, ...]

    def within(self, other: Table) -> bool:
        """Whether it can be summed from another."""
        return self.level <= other.level and set(self.flat) <= set(other.flat)

    def meet(self, other: Table) -> Table:
        """The finest table that can be summed from both."""
        return Table(min(self.level, other.level), tuple(sorted(set(self.flat) & set(other.flat))))


@final
@frozen(slots=False)
class Layout:
    """The cells of the finest table: every node of the tree's last level, with every combination of the flat keys' values.

    `parents` has, for each level below the root, the place of every node's parent on the level above. Without a hierarchy there is only the
    root.

    >>> cities = Layout(((0, 0), (0, 0, 1)), (2,))  # two regions with two cities and one, by sex
    >>> cities.shape(Table(2, (0,))), cities.shape(Table(1, ())), cities.shape(Table(0, ()))
    ((3, 2), (2,), (1,))
    """

    parents: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]  # of the flat keys

    @property
    def finest(self) -> Table:
        """The table of all cells."""
        return Table(len(self.parents), tuple(range(len(self.sizes))))

    def nodes(self, level: int) -> int:
        """The number of nodes on a level."""
        return len(self.parents[level - 1]) if level else 1

    def shape(self, table: Table) -> tuple[int, ...]:
        """The number of nodes, and of values of each flat key."""
        return (self.nodes(table.level), *(self.sizes[i] for i in table.flat))

    def cells(self, table: Table) -> int:
        """The number of cells of a table."""
        return prod(self.shape(table))

    def beside(self, table: Table) -> int:
        """The number of finest cells, at one node, that are summed into each cell of a table."""
        return prod(size for i, size in enumerate(self.sizes) if i not in table.flat)

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], ...]:
        """The parents as arrays."""
        return tuple(np.array(level, np.int64) for level in self.parents)

    def summed(self, cells: NDArray[Number], table: Table) -> NDArray[Number]:
        """A table, summed from all cells of the finest one."""
        gone = tuple(i + 1 for i in range(len(self.sizes)) if i not in table.flat)
        found: NDArray[Number] = cells.reshape(self.shape(self.finest)).sum(axis=gone)
        for edges, level in zip(reversed(self.edges), range(len(self.parents), 0, -1), strict=True):
            if level <= table.level:
                break
            found = self.up(found, edges, self.nodes(level - 1))
        return found

    def ancestors(self, level: int) -> NDArray[np.int64]:
        """The place of every last node's ancestor on a level."""
        found = np.arange(self.nodes(len(self.parents)))
        for edges in reversed(self.edges[level:]):
            found = edges[found]
        return found

    def down(self, values: NDArray[Number], table: Table) -> NDArray[Number]:
        """The values of a table, repeated at every last node below each of its nodes; the axis of a key that it sums over has size 1."""
        return values.reshape(self.spread(table))[self.ancestors(table.level)]

    @staticmethod
    def up(values: NDArray[Number], edges: NDArray[np.int64], nodes: int) -> NDArray[Number]:
        """The sums of every node's children."""
        found = np.zeros((nodes, *values.shape[1:]), values.dtype)
        np.add.at(found, edges, values)
        return found

    def spread(self, table: Table) -> tuple[int, ...]:
        """The shape of a table among all flat keys: 1 for those that it does not have."""
        return (self.nodes(table.level), *(size if i in table.flat else 1 for i, size in enumerate(self.sizes)))


def closed(tables: Iterable[Table]) -> tuple[Table, ...]:
    """The tables and all that can be summed from several of them: nothing else is worth measuring."""
    found = set(tables)
    open_ = list(found)
    while open_:
        one = open_.pop()
        for new in {one.meet(other) for other in found} - found:
            found.add(new)
            open_.append(new)
    return tuple(sorted(found, key=lambda table: (-table.level - len(table.flat), table)))


def dimensions(layout: Layout, tables: Iterable[Table]) -> Mapping[tuple[int, ...], int]:
    """The flat keys of tables and of what they have in common, each with the dimension of what it adds to smaller ones."""
    flats = {table.flat for table in closed(Table(0, table.flat) for table in tables)}
    found: dict[tuple[int, ...], int] = {}
    for flat in sorted(flats, key=lambda one: (len(one), one)):
        below = sum(size for other, size in found.items() if set(other) < set(flat))
        found[flat] = prod(layout.sizes[i] for i in flat) - below
    return found
