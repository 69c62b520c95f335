"""What is public about columns beside their declarations: values, edges or bounds, given, bought with a profile or discovered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.query.canonical import plain
from discreet.session.synthesize.codes import Binned, Listed
from discreet.session.synthesize.edges import Cut, Edge, cut
from discreet.tables.kind import Kind, Value

Coding: TypeAlias = Listed | Binned | Cut
CATEGORIES = 1000  # more values than this are no categories


@final
@frozen
class Domains:
    """Values of categories (others share one code), edges of bins, bounds of numbers, and how many rows of a unit count.

    Whatever is here must be public: given by a person, or released before. A column has at most one of values, edges and bounds. Of edges
    that were found, `beyond` bounds the share of rows that lie outside, with confidence 0.95.
    """

    values: dict[str, tuple[Value, ...]] = field(factory=dict)
    bounds: dict[str, tuple[Fraction, Fraction]] = field(factory=dict)
    rows: int | None = None
    edges: dict[str, tuple[Edge, ...]] = field(factory=dict)
    beyond: dict[str, float] = field(factory=dict)

    @classmethod
    def given(cls, edges: Mapping[str, Sequence[Any]] | None, kinds: Mapping[str, Kind | None]) -> Domains:
        """Edges as people write them, for columns of these kinds."""
        if edges is None:
            return cls()
        if not isinstance(edges, Mapping):
            raise Invalid('edges must be a dict of columns, such as {"age": [0, 18, 65, 120]}')
        if missing := [name for name in edges if name not in kinds]:
            raise Invalid(f"edges are given for {missing[0]!r:.80}, which is no column here: there are {', '.join(kinds)}")
        return cls(edges={name: cut(name, kinds[name], said, True).edges for name, said in edges.items()})

    def __or__(self, other: Domains) -> Domains:
        """Both; where both know a column, the other one."""
        beyond = {name: share for name, share in self.beyond.items() if not other.knows(name)} | other.beyond
        return Domains(self.values | other.values, self.bounds | other.bounds, other.rows or self.rows, self.edges | other.edges, beyond)

    def knows(self, name: str) -> bool:
        """Whether the codes of a column follow."""
        return name in self.values or name in self.bounds or name in self.edges

    @property
    def told(self) -> dict[str, Any]:
        """As plain values, which identify a question."""
        parts: dict[str, Mapping[str, Any]] = {"values": self.values, "bounds": self.bounds, "edges": self.edges}
        return {what: {name: plain(held) for name, held in sorted(by_name.items())} for what, by_name in parts.items()} | {
            "rows": self.rows
        }
