"""What mechanisms over graphs are given: who is protected, degree limits, and graphs read totally."""

from __future__ import annotations

from typing import Any, Literal

from discreet import exact
from discreet.algorithms.graphs.graph import Graph, check_shape, is_pair, masked_as_none, node_name
from discreet.errors import Invalid

Protects = Literal["edge", "node"]


def protects(value: Protects) -> Protects:
    """Whether neighbours differ in one edge, or in one node with all its edges."""
    if value not in ("edge", "node"):
        raise Invalid('protects must be "edge" (one edge more or less) or "node" (one node with all its edges more or less)')
    return value


def most(value: int) -> int:
    """How many edges of one node count."""
    if (read := exact.whole(value, "most")) > 2**24:
        raise Invalid("most must not be more than 2^24")
    return read


def any_most(value: int | None) -> int | None:
    """How many edges of one node count, where it is said."""
    return None if value is None else most(value)


def nodes(value: int) -> int:
    """The public number of nodes."""
    if (read := exact.whole(value, "nodes")) > 2**20:
        raise Invalid("nodes must not be more than 2^20: ask how many nodes have 1, 2, …, `most` edges, which is as long as `most`")
    return read


def check_edges(answer: Any) -> None:
    """Report plain edges that would be dropped, other than loops; a private graph's are dropped in silence."""
    if isinstance(answer, Graph):
        return
    check_shape(answer)
    if not hasattr(answer, "__len__"):
        raise Invalid("give a Graph, or a list of pairs of names, as in [(1, 2), (2, 3)]")
    if not all(is_pair(pair) and None not in map(node_name, pair) for pair in masked_as_none(answer)):
        raise Invalid("every edge must be a pair of names, as in (1, 2), and no name may be missing")
