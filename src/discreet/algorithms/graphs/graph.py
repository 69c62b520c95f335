"""A simple undirected graph, built from pairs of names, with its edges in an order that no other edge or node affects."""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, final
from uuid import UUID

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.errors import Invalid

Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_WEDGES = 1 << 22  # pairs of edges examined at a time
_NONE: Integers = np.empty(0, np.int64)


@final
@frozen(eq=False, repr=False)
class Graph:
    """The edges of a simple undirected graph: loops are dropped, duplicates and directions are ignored.

    `ends` has one row of two node numbers per edge, and the rows are in the *canonical order*: by a hash of the two names, then by the
    names. Which of two edges comes first depends on these two alone, so it is the same whatever else is in the graph. Nodes are numbered in
    the order of their names (whole numbers, then texts). Only nodes with an edge are nodes here: removing a node removes all that it
    contributed.

    Pairs are tuples, lists, arrays or sets of two names. Names are read one by one: numbers of any type by value; texts, bytes, dates,
    timestamps, UUIDs and tuples of these by type and content. So two names are the same node if and only if Python holds them equal. A pair
    is dropped if a name is missing (None, NaN, masked, or not equal to itself) or of another type, for which equality cannot be decided.

    >>> triangle = Graph.of([("ann", "bob"), ("bob", "ann"), ("bob", "cy"), ("cy", "ann"), ("cy", "cy")])
    >>> triangle.size, triangle.nodes, triangle.degrees.tolist(), triangle.triangles()
    (3, 3, [2, 2, 2], 1)
    """

    ends: Integers = field()
    nodes: int

    @classmethod
    def of(cls, edges: Any) -> Graph:
        """Read a list of pairs, an array with two columns, or a graph; entries that are not pairs are dropped."""
        if isinstance(edges, Graph):
            return edges
        check_shape(edges)
        edges = masked_as_none(edges)
        if isinstance(edges, np.ndarray):
            if edges.ndim != 2 or edges.shape[1] != 2:
                raise Invalid("an array of edges must have two columns, as in numpy.array([(1, 2), (2, 3)])")
            return cls.of_columns(edges[:, 0], edges[:, 1])
        pairs = [tuple(pair) for pair in edges if is_pair(pair)]
        return cls.of_columns(_objects([a for a, _ in pairs]), _objects([b for _, b in pairs]))

    @classmethod
    def of_columns(cls, source: NDArray[Any], target: NDArray[Any]) -> Graph:
        """Read two columns of names of equal length."""
        size = len(source)
        codes, hashes = _numbered(np.concatenate([_column(source), _column(target)]) if size else np.empty(0, object))
        a, b = codes[:size], codes[size:]
        real = (a >= 0) & (b >= 0) & (a != b)
        low, high = np.minimum(a, b)[real], np.maximum(a, b)[real]
        single = np.unique(low * max(len(hashes), 1) + high)
        low, high = np.divmod(single, max(len(hashes), 1))
        order = np.lexsort((high, low, _mixed(hashes[low] ^ _mixed(hashes[high] + np.uint64(1)))))
        return cls._compact(np.stack([low[order], high[order]], axis=1))

    @classmethod
    def _compact(cls, ends: Integers) -> Graph:
        """Number the nodes that have an edge, in their previous order."""
        seen, codes = np.unique(ends, return_inverse=True)
        ours = codes.reshape(-1, 2).astype(np.int64)
        ours.flags.writeable = False
        return cls(ours, len(seen))

    def keep(self, chosen: NDArray[np.bool_]) -> Graph:
        """The subgraph of the chosen edges."""
        return Graph._compact(self.ends[chosen])

    # ── exact answers ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def size(self) -> int:
        """The number of edges."""
        return len(self.ends)

    @property
    def degrees(self) -> Integers:
        """The degree of each node."""
        return np.bincount(self.ends.ravel(), minlength=self.nodes).astype(np.int64)

    def at_least(self, most: int) -> Integers:
        """The number of nodes with at least 1, 2, …, `most` edges."""
        by_degree = np.bincount(np.minimum(self.degrees, most), minlength=most + 1)
        return np.cumsum(by_degree[:0:-1])[::-1].astype(np.int64)

    def triangles(self) -> int:
        """The number of triples of nodes that are all connected to each other.

        Each edge points from the node with fewer edges to the other, so no node has more than √(2m) outgoing edges, and each triangle is
        found once, from its lowest corner.
        """
        rank = np.empty(self.nodes, np.int64)
        rank[np.argsort(self.degrees, kind="stable")] = np.arange(self.nodes)
        ends = np.sort(rank[self.ends], axis=1)
        keys = np.sort(ends[:, 0] * max(self.nodes, 1) + ends[:, 1])
        tails, heads = np.divmod(keys, max(self.nodes, 1))
        first = np.searchsorted(tails, np.arange(self.nodes + 1))
        fan = first[heads + 1] - first[heads] if self.size else _NONE  # outgoing edges at the head of each edge
        found, done, ends = 0, 0, np.cumsum(fan)
        while done < self.size:
            stop = max(done + 1, int(np.searchsorted(ends, (ends[done - 1] if done else 0) + _WEDGES, side="right")))
            part = np.repeat(np.arange(done, stop), fan[done:stop])
            step = np.arange(len(part)) - np.repeat(np.cumsum(fan[done:stop]) - fan[done:stop], fan[done:stop])
            wanted = tails[part] * self.nodes + heads[first[heads[part]] + step]
            place = np.minimum(np.searchsorted(keys, wanted), self.size - 1)
            found, done = found + int((keys[place] == wanted).sum()), stop
        return found

    def most_common_neighbours(self) -> int:
        """The largest number of common neighbours of two nodes, connected or not.

        Nodes are visited by decreasing degree. Two nodes have at most as many common neighbours as either has neighbours, so the search
        stops early.
        """
        both = np.concatenate([self.ends, self.ends[:, ::-1]])
        both = both[np.argsort(both[:, 0], kind="stable")]
        first, near, degrees, best = np.searchsorted(both[:, 0], np.arange(self.nodes + 1)), both[:, 1], self.degrees, 0
        for node in np.argsort(-degrees, kind="stable").tolist():
            if degrees[node] <= best:
                break
            mine = near[first[node] : first[node + 1]]
            seen = np.bincount(np.concatenate([near[first[other] : first[other + 1]] for other in mine.tolist()]), minlength=self.nodes)
            seen[node] = 0
            best = max(best, int(seen.max()))
        return best

    def __repr__(self) -> str:
        return "Graph(…)"  # the size may be private


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def check_shape(edges: Any) -> None:
    """Reject what cannot be a list of pairs, by its type and never by its contents."""
    if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
        raise Invalid("edges must be pairs of names, as in [(1, 2), (2, 3)]")
    if not isinstance(edges, np.ndarray) and any(
        hasattr(edges, name) for name in ("columns", "to_numpy", "__array__", "__arrow_c_stream__")
    ):
        raise Invalid(
            "a data frame is not a list of pairs: open it with discreet.graph(frame, source=…, target=…), or pass "
            "list(zip(frame['source'], frame['target']))"
        )


def masked_as_none(values: Any) -> Any:
    """An array with None in place of masked entries; anything else unchanged."""
    if not np.ma.isMaskedArray(values):
        return values
    shown = np.array(values.data, object)
    shown[np.ma.getmaskarray(values)] = None
    return shown


def is_pair(pair: Any) -> bool:
    """Whether an entry is read as an edge; other entries are dropped."""
    if isinstance(pair, np.ndarray):
        return bool(pair.shape == (2,))
    return isinstance(pair, tuple | list | set | frozenset) and len(pair) == 2


def _objects(values: list[Any]) -> NDArray[Any]:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """An array of whole numbers unchanged; anything else as objects, with None in place of masked entries."""
    values = masked_as_none(values)
    return values if values.dtype.kind == "i" else values.astype(object)


def _numbered(values: NDArray[Any]) -> tuple[Integers, Hashes]:
    """A number for each name (−1 if missing), and the hash of each number's name. Numbers increase with names."""
    if values.dtype.kind == "i":
        wholes, codes = np.unique(values.astype(np.int64), return_inverse=True)
        return codes.astype(np.int64), _mixed(wholes.astype(np.uint64))
    known: dict[tuple[type, Any], int | str | None] = {}
    names: list[int | str | None] = []
    for value in values.tolist():
        if type(value) is str or type(value) is int:  # equal values of other types may have different texts
            if (type(value), value) not in known:
                known[type(value), value] = node_name(value)
            names.append(known[type(value), value])
        else:
            names.append(node_name(value))
    seen = set(names) - {None}
    wholes_seen = sorted(name for name in seen if isinstance(name, int))
    texts = sorted(name for name in seen if isinstance(name, str))
    place = {name: code for code, name in enumerate([*wholes_seen, *texts])}
    codes = np.array([place.get(name, -1) if name is not None else -1 for name in names], np.int64)
    digests = [int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") for text in texts]
    hashes = np.concatenate([_mixed(np.array(wholes_seen, np.int64).astype(np.uint64)), np.array(digests, np.uint64)])
    return codes, hashes


def node_name(value: Any) -> int | str | None:
    """One name: a 64-bit whole number, a text that states its type and value, or None if it is missing."""
    if value is None or value is np.ma.masked:
        return None
    try:
        if isinstance(value, str):
            return f"text {str.__str__(value)}"  # an enumeration member equals its value
        if isinstance(value, int | float | Fraction | Decimal | np.integer | np.floating | np.bool_):
            if value != value:
                return None
            if isinstance(value, float | Decimal | np.floating) and math.isinf(value):
                return f"number {float(value)}"
            number = Fraction(*value.as_integer_ratio()) if not isinstance(value, np.integer | np.bool_) else Fraction(int(value))
            return int(number) if number.denominator == 1 and -(2**63) <= number < 2**63 else f"number {number}"
        return _other_name(value) if value == value else None  # missing values of other libraries do not equal themselves
    except Exception:  # an unreadable name is missing; an error would reveal something about it
        return None


def _other_name(value: Any) -> str | None:
    """The text of a name that is neither number nor text: one text for all equal values, or None if there is no such text."""
    match value:
        case tuple():
            parts = [node_name(part) for part in value]
            return None if None in parts else f"tuple {parts!r}"
        case bytes() | bytearray():
            return f"bytes {bytes(value).hex()}"
        case UUID():
            return f"uuid {value.hex}"
        case datetime.datetime():  # also pandas timestamps, with nanoseconds; with a time zone, equality is by instant
            zone = "" if value.utcoffset() is None else " in UTC"
            local = value.astimezone(datetime.UTC).replace(tzinfo=None) if zone else value
            return f"moment {local.isoformat()}{zone}"
        case datetime.date():
            return f"day {value.isoformat()}"
    return None  # including numpy.datetime64, which may equal a date and a timestamp that are not equal to each other


def _mixed(words: Hashes) -> Hashes:
    """A bijective hash of 64-bit words (the finaliser of splitmix64)."""
    x = words + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)
