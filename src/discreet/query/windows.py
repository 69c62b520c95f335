"""Windows over released rows: ranks, neighbours, running totals and shares; free, because they read released values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from attrs import frozen

from discreet.query.post import evaluate, in_order, in_row_order, tame
from discreet.query.relation.expr import Expr, Literal

AGGREGATES = ("sum", "avg", "min", "max", "count")
PLACES = ("lag", "lead", "first", "last")  # the value of one other row
RANKS = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile")
Row = Mapping[str, Any]


@final
@frozen
class Window:
    """A function of the released rows of a partition, in an order.

    `frame` has the first and last row, relative to the current one; None is unbounded. Without a frame it is the whole partition, or with
    an order all rows up to the current one and those equal to it.
    """

    function: str
    argument: Expr | None = None
    partition: tuple[Expr, ...] = ()
    order: tuple[tuple[Expr, bool], ...] = ()  # expression, and whether descending
    frame: tuple[int | None, int | None] | None = None
    count: int = 1  # the distance of LAG and LEAD, the parts of NTILE
    default: Literal | None = None  # where LAG and LEAD find no row

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """All expressions over keys and statistics."""
        return (*(() if self.argument is None else (self.argument,)), *self.partition, *(expr for expr, _ in self.order))

    def frames(self, rows: Sequence[Row], kept: Sequence[int]) -> dict[int, Frame]:
        """The frame of each row that is kept."""
        parts: dict[tuple[Any, ...], list[int]] = {}
        for at in kept:
            parts.setdefault(tuple(evaluate(expr, rows[at]) for expr in self.partition), []).append(at)
        found: dict[int, Frame] = {}
        for members in parts.values():
            members = in_row_order(members, rows, self.order)
            equal = [tuple(evaluate(expr, rows[at]) for expr, _ in self.order) for at in members]
            first, rank = 0, 0
            for place, at in enumerate(members):
                if place == 0 or equal[place] != equal[place - 1]:
                    first, rank = place, rank + 1
                    last = place
                    while last + 1 < len(members) and equal[last + 1] == equal[place]:
                        last += 1
                found[at] = Frame(members, place, *self._ends(place, last, len(members)), first, last, rank)
        return found

    def _ends(self, place: int, last: int, size: int) -> tuple[int, int]:
        if self.frame is None:
            return 0, (last if self.order else size - 1) + 1
        low, high = self.frame
        return max(0 if low is None else place + low, 0), min(size if high is None else place + high + 1, size)

    def values(self, rows: Sequence[Row], kept: Sequence[int]) -> list[Any]:
        """The value in each row; NULL in rows that are not kept."""
        inside = [None if self.argument is None else evaluate(self.argument, row) for row in rows]
        frames = self.frames(rows, kept)
        return [tame(self._of_frame(frames[at], inside)) if at in frames else None for at in range(len(rows))]

    def _of_frame(self, frame: Frame, inside: Sequence[Any]) -> Any:
        if self.function in RANKS:
            return self._rank(frame)
        if self.function in PLACES:
            other = self.other(frame)
            return (None if self.default is None else evaluate(self.default, {})) if other is None else inside[other]
        if self.argument is None:
            return len(frame.rows)
        some = [inside[at] for at in frame.rows if inside[at] is not None]
        if self.function in ("sum", "avg"):  # the key of the group of all others is a text
            some = [value for value in some if isinstance(value, int | float)]
        match self.function:
            case "count":
                return len(some)
            case "sum":
                return sum(some) if some else None
            case "avg":
                return sum(some) / len(some) if some else None
        return (min if self.function == "min" else max)(some, key=in_order) if some else None

    def _rank(self, frame: Frame) -> int | float:
        size = len(frame.members)
        match self.function:
            case "row_number":
                return frame.place + 1
            case "rank":
                return frame.first + 1
            case "dense_rank":
                return frame.rank
            case "percent_rank":
                return frame.first / (size - 1) if size > 1 else 0.0
            case "cume_dist":
                return (frame.last + 1) / size
        each, more = divmod(size, self.count)  # NTILE: the first parts have one row more
        longer = more * (each + 1)
        return (frame.place // (each + 1) if frame.place < longer else more + (frame.place - longer) // max(each, 1)) + 1

    def other(self, frame: Frame) -> int | None:
        """The row whose value is shown."""
        match self.function:
            case "lag" | "lead":
                at = frame.place + (self.count if self.function == "lead" else -self.count)
                return frame.members[at] if 0 <= at < len(frame.members) else None
        rows = frame.rows
        return None if not rows else rows[0] if self.function == "first" else rows[-1]

    def weights(self, frame: Frame, inside: Sequence[Any]) -> dict[int, float] | None:
        """The value as a sum of weight × argument over rows; None where it is not one."""
        if self.function in ("lag", "lead", "first", "last"):
            other = self.other(frame)
            return {} if other is None else {other: 1.0}
        some = [at for at in frame.rows if isinstance(inside[at], int | float)]
        if self.function not in ("sum", "avg"):
            return None
        return dict.fromkeys(some, 1.0 if self.function == "sum" else 1.0 / max(len(some), 1))


@final
@frozen
class Frame:
    """A row's place in its partition, its frame, and the rows equal to it in the order."""

    members: Sequence[int]
    place: int
    start: int
    stop: int
    first: int
    last: int
    rank: int

    @property
    def rows(self) -> Sequence[int]:
        """The rows of the frame, in order."""
        return self.members[self.start : max(self.stop, self.start)]
