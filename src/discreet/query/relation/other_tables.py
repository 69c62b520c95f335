"""The same relation over changed tables: with other bounds, or with none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import assert_never

from attrs import evolve

from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where
from discreet.tables.table import Table


def with_tables(relation: Relation, changed: Callable[[Table], Table]) -> Relation:
    """The relation with every table that it reads replaced; those that `Match` compares with stay."""
    inside = partial(with_tables, changed=changed)
    match relation:
        case Scan(table):
            return evolve(relation, table=changed(table))
        case Where() | Match() | Select() | PerUnit():
            return evolve(relation, input=inside(relation.input))
        case Join():
            return evolve(relation, left=inside(relation.left), right=inside(relation.right))
        case Stack(inputs):
            return Stack(tuple(map(inside, inputs)))
        case _:
            assert_never(relation)
