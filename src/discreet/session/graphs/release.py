"""What came out of a graph question: a count, a histogram of degrees or the sorted degrees, with error and receipt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final, get_args

from attrs import field, frozen

from discreet.algorithms.graphs.arguments import Protects
from discreet.algorithms.graphs.degrees import Degrees
from discreet.algorithms.graphs.plan import WHAT
from discreet.ledger.price import price
from discreet.ledger.receipt import Kind, Receipt
from discreet.loss.promise import GROUPS
from discreet.plots.table import Series
from discreet.session.released import Released
from discreet.session.shape import is_amount, is_number, numbers, require


@final
@frozen(eq=False, repr=False, slots=False)
class GraphRelease(Released):
    """An answer with its error; everything here is public, and costs nothing again.

    `value` is a count, the `Degrees`, or the sorted degrees; `half_width` how far off it may be with the stated confidence (for degrees
    any of the counts "at least"), or None where only the graph itself could tell.
    """

    KINDS: ClassVar[tuple[Kind, ...]] = ("graph",)

    value: Any
    half_width: float | None
    receipt: Receipt
    repeated: bool = field(default=False)

    @property
    def what(self) -> str:
        """What was asked for."""
        return str(self.receipt.request["what"])

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the count lies that the question asks for, with the stated confidence; only of a single count."""
        if self.half_width is None or not isinstance(self.value, int):
            return None
        return max(self.value - self.half_width, 0.0), max(self.value + self.half_width, 0.0)

    @property
    def most(self) -> int | None:
        """How many edges of one node count, if there was a limit."""
        limit: int | None = self.receipt.discovered.get("most", self.receipt.request["most"])
        return limit

    @property
    def series(self) -> tuple[Series, ...]:
        """One count; or for each number of edges how many nodes have at least so many; or the sorted degrees."""
        if isinstance(self.value, Degrees):
            counts = [float(count) for count in self.value.at_least]
            return Series("edges", list(range(1, len(counts) + 1)), is_key=True), self._with_ends("nodes_at_least", counts)
        if isinstance(self.value, list):
            return Series("place", list(range(1, len(self.value) + 1)), is_key=True), Series("degree", self.value)
        return (self._with_ends(self.what, [self.value]),)

    def _with_ends(self, name: str, values: Sequence[Any]) -> Series:
        half = self.half_width
        if half is None:
            return Series(name, values)
        return Series(name, values, [max(value - half, 0.0) for value in values], [max(value + half, 0.0) for value in values])

    def __len__(self) -> int:
        return len(self.series[0].values)

    @property
    def accuracy_notes(self) -> list[str]:
        """How sure the error is."""
        if self.half_width is None:
            return ["its error cannot be told"]
        return [f"± {self.half_width:,.6g} ({self.confidence * 100:g} % of the time)"]

    def answers(self) -> dict[str, Any]:
        """The value and its error, as plain values."""
        return {"value": list(self.value.noisy) if isinstance(self.value, Degrees) else self.value, "half_width": self.half_width}

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> GraphRelease:
        """Read back what `answers` gave."""
        said, half_width, asked = answers["value"], answers["half_width"], receipt.request
        require(half_width is None or is_amount(half_width))
        require(asked["what"] in WHAT and asked["protects"] in get_args(Protects))
        match asked["what"]:
            case "degrees":
                value: Any = Degrees(numbers(said))
            case "degree sequence":
                value = numbers(said)
            case _:
                value = said
                require(is_number(value))
        return cls(value, half_width, receipt, repeated)

    @property
    def groups(self) -> dict[int, Any]:
        """The ε of several edges or nodes together."""
        return {size: size * self.epsilon for size in GROUPS}

    def __repr__(self) -> str:
        protects = self.receipt.request["protects"]
        shown = ("at least 1, 2, … edges: " if self.what == "degrees" else f"{self.what}: ") + self._shown
        error = "its error cannot be told" if self.half_width is None else f"± {self.half_width:,.6g} ({self.confidence * 100:g} %)"
        where = self.receipt.where and f"; {self.receipt.where}"
        cost = f"{price(self.epsilon)} for {self.receipt.protected}{where}"
        group = ", ".join(f"{size}: {price(cost)}" for size, cost in self.groups.items())
        free = "answered before, so free now; it cost " if self.repeated else "cost "
        limit = [] if self.most is None or protects == "edge" else [f"at most {self.most} edges of one node count"]
        return "\n".join([f"{shown} {error}", *limit, free + cost, f"several {protects}s together: {group}"])

    @property
    def _shown(self) -> str:
        match self.value:
            case Degrees():
                return ", ".join(f"{count:,.6g}" for count in self.value.at_least)
            case list():
                return ", ".join(f"{degree:,.6g}" for degree in self.value[:10]) + (" …" if len(self.value) > 10 else "")
            case _:
                return f"{self.value:,}"
