"""What mechanisms over graphs are given: who is protected, degree limits, and graphs read totally."""

from __future__ import annotations

from typing import Any, Literal

from discreet import exact
from discreet.errors import Invalid
from discreet.graphs.graph import Graph

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
    return exact.whole(value, "nodes")


def check_edges(answer: Any) -> None:
    """Report plain edges that are no pairs; a private graph's are dropped in silence."""
    if isinstance(answer, Graph):
        return
    if isinstance(answer, dict | set | str | bytes) or not hasattr(answer, "__len__") or not hasattr(answer, "__iter__"):
        raise Invalid("give a Graph, or a list of pairs of names, as in [(1, 2), (2, 3)]")
    if any(not hasattr(pair, "__len__") or isinstance(pair, str) or len(pair) != 2 or any(end is None for end in pair) for pair in answer):
        raise Invalid("every edge must be a pair of names, and no name may be missing")
