"""Find a hierarchy among the keys of grouping sets: keys that come from the rows of one public table, as region and city do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from discreet.algorithms.consistent.layout import Layout
from discreet.plan.arrangement import Arrangement
from discreet.plan.key_values import OTHER, Group
from discreet.query.question import Question
from discreet.query.relation.origin import origin
from discreet.tables.kind import Value

PublicValues = Callable[..., tuple[Any, ...]]  # the values of a public table's column, or the rows of several of its columns
Values = Sequence[tuple[Value | None, ...]]


def arrange(question: Question, values: Values, lookup: PublicValues) -> Arrangement:
    """The cells of all grouping sets: with the hierarchy that a public table defines, if every set has its keys from the top down.

    Combinations that no row of that table has are then no cells: nothing is measured for a city in another region.
    """
    if question.statistics_by_set:  # several questions: each shows its own keys alone
        return Arrangement.flat_keys(tuple(values), question.other)
    if question.other:  # a value that is spelled as all others is one of them
        values = [tuple(value for value in listed if value != OTHER) for listed in values]
    found = hierarchy_of(question, lookup)
    return Arrangement.flat_keys(tuple(values), question.other) if found is None else _tree(question, *found, values)


def hierarchy_of(question: Question, lookup: PublicValues) -> tuple[tuple[int, ...], tuple[Group, ...]] | None:
    """The keys that form a tree, the coarsest first, with the rows of their values; None if there is no such tree in every set."""
    for chain, rows in _candidates(question, lookup):
        if all(_from_the_top(chain, rows, places, question.other) for places in question.sets):
            return chain, rows
    return None


def _candidates(question: Question, lookup: PublicValues) -> list[tuple[tuple[int, ...], tuple[Group, ...]]]:
    """Keys of one public table, the coarsest first, with the rows of their values."""
    tables: dict[tuple[str, tuple[str, ...]], list[tuple[int, str]]] = {}
    for place, (_, expr) in enumerate(question.keys):
        found = origin(question.relation, expr)
        if found is not None:
            tables.setdefault((found.table, found.joins), []).append((place, found.column))
    candidates = []
    for (table, _), columns in tables.items():
        if len(columns) > 1:
            rows = lookup(table, *(column for _, column in columns))
            order = sorted(range(len(columns)), key=lambda i: (len({row[i] for row in rows}), i))
            chain = tuple(columns[i][0] for i in order)
            candidates.append((chain, tuple(dict.fromkeys(tuple(row[i] for i in order) for row in rows))))
    return candidates


def _from_the_top(chain: tuple[int, ...], rows: tuple[Group, ...], places: tuple[int, ...], other: bool) -> bool:
    """Whether a set has the chain's keys from the top down.

    A key may be left out if the next one determines it. With a cell of all others none may be: other cities do not determine a region.
    """
    level = max((i + 1 for i, place in enumerate(chain) if place in places), default=0)
    shown = [i for i in range(level) if chain[i] in places]
    if other and len(shown) < level:
        return False
    return len({tuple(row[i] for i in shown) for row in rows}) == len({row[:level] for row in rows})


def _tree(question: Question, chain: tuple[int, ...], rows: tuple[Group, ...], values: Values) -> Arrangement:
    flat = tuple(place for place in range(len(question.keys)) if place not in chain)
    nodes = [tuple(dict.fromkeys(row[:level] for row in rows)) for level in range(len(chain) + 1)]
    kept = tuple(tuple(values[place]) for place in flat)
    if question.other:
        listed = [[node for node in level if OTHER not in node] for level in nodes[1:]]
        return Arrangement.with_others(chain, listed, flat, kept)
    parents = []
    for above, below in pairwise(nodes):
        at = {node: i for i, node in enumerate(above)}
        parents.append(tuple(at[node[:-1]] for node in below))
    return Arrangement(Layout(tuple(parents), tuple(map(len, kept))), chain, flat, tuple(nodes), kept)
