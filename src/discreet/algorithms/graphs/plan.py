"""The plan of a graph question, decided before any data is read: mechanisms, loss, error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.arguments import Protects
from discreet.algorithms.graphs.degrees import DegreeHistogram, DegreeSequence
from discreet.algorithms.graphs.edges import EdgeCount
from discreet.algorithms.graphs.projection import DegreeBound
from discreet.algorithms.graphs.triangles import TriangleCount
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.loss.notions import Pure
from discreet.mechanisms.laplace import Laplace
from discreet.noise.bits import SystemBits
from discreet.private import Private

What = Literal["edges", "degrees", "triangles", "degree sequence"]
WHAT: tuple[What, ...] = ("edges", "degrees", "triangles", "degree sequence")
Counting = EdgeCount | DegreeHistogram | DegreeSequence | TriangleCount

_BOUND = Fraction(1, 2)  # share of ε for the choice of the degree limit
_WIDTH = Fraction(1, 10)  # share of ε for the local sensitivity of triangles


def _what(value: What) -> What:
    if value not in WHAT:
        raise Invalid(f"the statistic must be one of {', '.join(WHAT)}")
    return value


@final
@frozen(kw_only=True)
class GraphPlan:
    """A question to a graph and its price; it holds no data.

    >>> plan = GraphPlan(what="edges", protects="node", epsilon=1, most=10)
    >>> plan.error(), plan.loss.epsilon_at(0)
    (30.0, 1.0)
    """

    what: What = field(converter=_what)
    protects: Protects = field(converter=arguments.protects)
    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    most: int | None = field(default=None, converter=arguments.any_most)
    nodes: int | None = field(default=None)

    def __attrs_post_init__(self) -> None:
        if self.what == "degrees" and self.most is None:
            raise Invalid("degrees need the largest degree to report: pass most=20")
        if self.what == "degree sequence" and (self.protects == "node" or self.most is not None):
            raise Invalid(
                "a degree sequence needs edge protection and nodes=, the public number of nodes, and no most: use degrees instead"
            )
        if (self.what == "degree sequence") != (self.nodes is not None):
            raise Invalid("a degree sequence needs the public number of nodes, nodes=1000; the other statistics do not take nodes")
        self.mechanism(2)  # raises if a parameter is missing

    @property
    def delta(self) -> Fraction:
        """Always 0: every mechanism here is purely private."""
        return Fraction(0)

    @property
    def bound(self) -> DegreeBound | None:
        """The private choice of the degree limit, if one is needed and was not given."""
        if self.protects == "edge" or self.most is not None or self.what != "edges":
            return None
        return DegreeBound(epsilon=self.epsilon * _BOUND, count_epsilon=self.epsilon * (1 - _BOUND))

    @property
    def width(self) -> Laplace | None:
        """The noise for the local sensitivity of triangles, from which the interval is computed; None where it is not released."""
        is_released = self.what == "triangles" and self.protects == "edge"
        return Laplace(epsilon=self.epsilon * _WIDTH, whole=True) if is_released else None

    def mechanism(self, found: int | None = None) -> Counting:
        """The counting mechanism, given the degree limit if that is chosen first."""
        match self.what:
            case "edges":
                left = self.epsilon if self.bound is None else self.epsilon - self.bound.epsilon
                return EdgeCount(epsilon=left, protects=self.protects, most=self.most if self.bound is None else found)
            case "degrees":
                return DegreeHistogram(epsilon=self.epsilon, protects=self.protects, most=self.most or 1)
            case "triangles":
                left = self.epsilon if self.width is None else self.epsilon - self.width.epsilon
                return TriangleCount(epsilon=left, protects=self.protects, most=self.most)
            case "degree sequence":
                return DegreeSequence(epsilon=self.epsilon, nodes=self.nodes or 0)

    @property
    def loss(self) -> Loss:
        """The loss for one edge, or one node."""
        if self.bound is not None:
            return Pure(self.epsilon)  # the parts depend on the chosen limit; their sum does not
        return self.mechanism().loss if self.width is None else self.mechanism().loss + self.width.loss

    def groups(self) -> dict[int, Fraction]:
        """The ε of a group of edges or nodes."""
        return {size: size * self.epsilon for size in (2, 5, 10)}

    def error(self, confidence: Number = 0.95, *, most: int | None = None, common: int | None = None, nodes: int | None = None) -> float:
        """The largest error of the answer, with this confidence, before any data is read.

        For triangles the error depends on the graph: give the largest number of common neighbours of two nodes (`common`), or the number of
        nodes (`nodes`). If the degree limit is chosen privately, give `most` for the error at that limit.
        """
        mechanism = self.mechanism(arguments.most(most) if most is not None else None) if self._is_known(most) else None
        if mechanism is None:
            raise Invalid("the degree limit is chosen with the answer: pass most=8 for the error at that limit")
        if not isinstance(mechanism, TriangleCount):
            return mechanism.error(confidence)
        size = common if self.protects == "edge" else nodes
        if size is None:
            needed = "common=20, the most common neighbours of two nodes" if self.protects == "edge" else "nodes=1000, the number of nodes"
            raise Invalid(f"the error of triangles depends on the graph: pass {needed}")
        return mechanism.error(confidence, exact.whole(size, "the size", least=0))

    def _is_known(self, most: int | None) -> bool:
        return self.bound is None or most is not None

    def release(self, graph: Private[Any], confidence: Fraction) -> tuple[Any, float | None, int | None]:
        """The answer, its error bound (None if it cannot be computed), and the degree limit if one was chosen."""
        bits = SystemBits()
        found = None if self.bound is None else self.bound.release(graph, bits)
        mechanism = self.mechanism(found)
        answer: Any = mechanism.release(graph, bits)
        if self.width is not None:
            half = (1 - confidence) / 2  # half of the failure probability for the width, half for the noise
            noisy = int(self.width.release(graph.map(lambda private: private.most_common_neighbours()), bits))
            widest = max(0, noisy + int(self.width.error(1 - half)))
            return answer, mechanism.error(1 - half, widest), found
        return answer, None if self.what == "triangles" else mechanism.error(confidence), found

    def explain(self) -> str:
        """The steps of the plan, in words."""
        lines = [f"{self.what} with {self.protects} protection, ε = {float(self.epsilon):g}"]
        if self.bound is not None:
            lines.append(f"choose a limit on the edges of one node, among {_listed(self.bound.bounds)}: ε = {float(self.bound.epsilon):g}")
        if self.protects == "node" and self.most is not None:
            limit = "nodes with more edges are left out" if self.what == "triangles" else "further edges of a node are left out"
            lines.append(f"at most {self.most} edges per node: {limit}, a downward bias of unknown size")
        if self.width is not None:
            lines.append(f"measure the local sensitivity, for the interval: ε = {float(self.width.epsilon):g}")
        groups = ", ".join(f"{size} {self.protects}s ε = {float(price):g}" for size, price in self.groups().items())
        return "\n".join([*lines, f"group privacy: {groups}"])


def _listed(bounds: tuple[int, ...]) -> str:
    return ", ".join(map(str, bounds)) if len(bounds) < 5 else f"{bounds[0]}, {bounds[1]}, {bounds[2]} … {bounds[-1]}"
