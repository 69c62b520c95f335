"""Arguments of the graph mechanisms: the privacy unit, degree limits, and checks of plain edge lists."""

from __future__ import annotations

from typing import Any, Literal

from discreet import exact
from discreet.algorithms.graphs.graph import Graph, check_shape, is_pair, masked_as_none, node_name
from discreet.errors import Invalid

Protects = Literal["edge", "node"]


def protects(value: Protects) -> Protects:
    """Whether neighbouring graphs differ in one edge, or in one node with all its edges."""
    if value not in ("edge", "node"):
        raise Invalid('protects must be "edge" (add or remove one edge) or "node" (add or remove one node with all its edges)')
    return value


def most(value: int) -> int:
    """The largest number of edges of one node that are used."""
    if (read := exact.whole(value, "most")) > 2**24:
        raise Invalid("most must be at most 2^24: choose a smaller degree limit")
    return read


def any_most(value: int | None) -> int | None:
    """The same, where it is given."""
    return None if value is None else most(value)


def nodes(value: int) -> int:
    """The public number of nodes."""
    if (read := exact.whole(value, "nodes")) > 2**20:
        raise Invalid("nodes must be at most 2^20: for a larger graph release DegreeHistogram(epsilon=…, most=…), whose size is most")
    return read


def check_edges(answer: Any) -> None:
    """Reject a plain edge list with entries that would be dropped, other than loops; a private graph's entries are dropped silently."""
    if isinstance(answer, Graph):
        return
    check_shape(answer)
    if not hasattr(answer, "__len__"):
        raise Invalid("give a Graph or a list of pairs of names, as in [(1, 2), (2, 3)]")
    if not all(is_pair(pair) and None not in map(node_name, pair) for pair in masked_as_none(answer)):
        raise Invalid("every edge must be a pair of names without missing values, as in (1, 2): leave out the others")
