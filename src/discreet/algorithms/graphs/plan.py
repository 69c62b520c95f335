"""What is decided about a question to a graph before anything is read: mechanisms, price, error."""

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

_FINDING = Fraction(1, 2)  # of ε, for how many edges of one node count
_WIDTH = Fraction(1, 10)  # of ε, for how wide the noise on triangles was


def _what(value: What) -> What:
    if value not in WHAT:
        raise Invalid(f"ask for one of {', '.join(WHAT)}")
    return value


@final
@frozen(kw_only=True)
class GraphPlan:
    """A question to a graph at its price; it holds no data.

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
            raise Invalid("say up to how many edges nodes are told apart: most=20")
        if self.what == "degree sequence" and (self.protects == "node" or self.most is not None):
            raise Invalid("sorted degrees are for protected edges and a public number of nodes, nodes=…: ask for degrees instead")
        if (self.what == "degree sequence") != (self.nodes is not None):
            raise Invalid("sorted degrees need the public number of nodes, nodes=…, and nothing else does")
        self.mechanism(2)  # or it says what is missing

    @property
    def delta(self) -> Fraction:
        """Nothing here needs a δ."""
        return Fraction(0)

    @property
    def bound(self) -> DegreeBound | None:
        """How it is found how many edges of one node count, where it was not said."""
        if self.protects == "edge" or self.most is not None or self.what != "edges":
            return None
        return DegreeBound(epsilon=self.epsilon * _FINDING, count_epsilon=self.epsilon * (1 - _FINDING))

    @property
    def width(self) -> Laplace | None:
        """How it is told how wide the noise was, where that depends on the graph and can be told."""
        told = self.what == "triangles" and self.protects == "edge"
        return Laplace(epsilon=self.epsilon * _WIDTH, whole=True) if told else None

    def mechanism(self, found: int | None = None) -> Counting:
        """What counts, given how many edges of one node count where that is found first."""
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
        """What it costs one edge, or one node."""
        if self.bound is not None:
            return Pure(self.epsilon)  # the parts depend on what is found, and come to this whatever that is
        return self.mechanism().loss if self.width is None else self.mechanism().loss + self.width.loss

    def groups(self) -> dict[int, Fraction]:
        """The ε of a group of edges or nodes together."""
        return {size: size * self.epsilon for size in (2, 5, 10)}

    def error(self, confidence: Number = 0.95, *, most: int | None = None, common: int | None = None, nodes: int | None = None) -> float:
        """How far off the answer may be, with this confidence, before anything is read.

        For triangles it depends on the graph: say how many neighbours two nodes have in common at most (`common`), or how many nodes there
        are (`nodes`). Where it is found how many edges of one node count, say `most` to see the error at that.
        """
        mechanism = self.mechanism(arguments.most(most) if most is not None else None) if self._is_known(most) else None
        if mechanism is None:
            raise Invalid("how many edges of one node count is found with the answer: say most=8 to see the error at that, or ask with it")
        if not isinstance(mechanism, TriangleCount):
            return mechanism.error(confidence)
        size = common if self.protects == "edge" else nodes
        if size is None:
            needed = (
                "common=20, the most neighbours two nodes have in common" if self.protects == "edge" else "nodes=1000, how many there are"
            )
            raise Invalid(f"the error of triangles depends on the graph: say {needed}")
        return mechanism.error(confidence, exact.whole(size, "the size", least=0))

    def _is_known(self, most: int | None) -> bool:
        return self.bound is None or most is not None

    def release(self, graph: Private[Any], confidence: Fraction) -> tuple[Any, float | None, int | None]:
        """The answer, how far off it may be (None if that cannot be told), and how many edges of one node counted if that was found."""
        bits = SystemBits()
        found = None if self.bound is None else self.bound.release(graph, bits)
        mechanism = self.mechanism(found)
        answer: Any = mechanism.release(graph, bits)
        if self.width is not None:
            half = (1 - confidence) / 2  # so often may the width be told too small, and as often the noise be larger
            told = int(self.width.release(graph.map(lambda private: private.most_common_neighbours()), bits))
            widest = max(0, told + int(self.width.error(1 - half)))
            return answer, mechanism.error(1 - half, widest), found
        return answer, None if self.what == "triangles" else mechanism.error(confidence), found

    def explain(self) -> str:
        """What will happen, in words."""
        lines = [f"{self.what} of a graph that protects each {self.protects}, for ε = {float(self.epsilon):g}"]
        if self.bound is not None:
            lines.append(
                f"first, for ε = {float(self.bound.epsilon):g}: how many edges of one node count, among {_listed(self.bound.bounds)}"
            )
        if self.protects == "node" and self.most is not None:
            limit = "nodes with more edges do not count" if self.what == "triangles" else "further edges of a node do not count"
            lines.append(f"at most {self.most} edges of one node: {limit}, which is a bias downwards of unknown size")
        if self.width is not None:
            lines.append(f"and for ε = {float(self.width.epsilon):g}: how wide the noise is")
        together = ", ".join(f"{size} {self.protects}s ε = {float(price):g}" for size, price in self.groups().items())
        return "\n".join([*lines, f"together: {together}"])


def _listed(bounds: tuple[int, ...]) -> str:
    return ", ".join(map(str, bounds)) if len(bounds) < 5 else f"{bounds[0]}, {bounds[1]}, {bounds[2]} … {bounds[-1]}"
