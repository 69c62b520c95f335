"""GROUP BY ROLLUP, CUBE and GROUPING SETS: the keys, and which of them each set has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, product

from sqlglot import exp

from discreet.query.question import MOST_SETS, Sets
from discreet.query.sql.refuse import only, refused
from discreet.query.sql.typed import Typed

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
Nodes = tuple[exp.Expr, ...]


def read_sets(group: exp.Group, read_key: Callable[[exp.Expr], Typed]) -> tuple[list[Typed], Sets]:
    """The keys of all sets, and the sets as their places; a single set is an ordinary GROUP BY and has no places."""
    keys: list[Typed] = []
    sets: list[tuple[int, ...]] = []
    for nodes in _product(group, [_sets(node) for node in group.expressions]):
        places = []
        for node in nodes:
            key = read_key(node)
            if key.expr not in [known.expr for known in keys]:
                keys.append(key)
            places.append([known.expr for known in keys].index(key.expr))
        sets.append(tuple(sorted(set(places))))
    found = tuple(dict.fromkeys(sets))
    return keys, found if len(found) > 1 else ()


def _sets(node: exp.Expr) -> list[Nodes]:
    """The sets that one piece of GROUP BY stands for, the largest first."""
    match node:
        case exp.Rollup():
            parts = _parts(node)
            return [_joined(parts[:length]) for length in range(len(parts), -1, -1)]
        case exp.Cube():
            parts = _parts(node)
            if 2 ** len(parts) > MOST_SETS:
                raise _too_many(node)
            chosen = [places for length in range(len(parts), -1, -1) for places in combinations(range(len(parts)), length)]
            return [_joined(parts[place] for place in places) for places in chosen]
        case exp.GroupingSets():
            only(node, "expressions")
            return [nodes for part in node.expressions for nodes in _sets(part)]
    return [_part(node)]


def _parts(node: exp.Rollup | exp.Cube) -> list[Nodes]:
    only(node, "expressions")
    if not node.expressions:
        raise refused(node, "it has no keys", "write GROUP BY ROLLUP(region, city)")
    return [_part(part) for part in node.expressions]


def _part(node: exp.Expr) -> Nodes:
    """A key, or several in parentheses, which belong together."""
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
        raise refused(node, "grouping sets are nested within GROUPING SETS only", "list the sets, as in GROUPING SETS ((a, b), (a), ())")
    if not isinstance(node, exp.Tuple):
        return (node,)
    only(node, "expressions")
    return tuple(node.expressions)


def _joined(parts: Iterable[Nodes]) -> Nodes:
    return tuple(node for part in parts for node in part)


def _product(group: exp.Group, pieces: list[list[Nodes]]) -> Iterable[Nodes]:
    count = 1
    for sets in pieces:
        count *= len(sets)
        if count > MOST_SETS:
            raise _too_many(group)
    return (_joined(chosen) for chosen in product(*pieces))


def _too_many(node: exp.Expr) -> Exception:
    return refused(node, f"a question has at most {MOST_SETS} grouping sets", "write GROUPING SETS ((a, b), (a)) with those that you need")
