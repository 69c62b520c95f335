"""OVER (…) on the aggregates of a grouped question: windows over released rows."""

from __future__ import annotations

from typing import final

from attrs import evolve, frozen
from sqlglot import exp

from discreet.query.relation.expr import Expr, Literal
from discreet.query.relation.field import Field
from discreet.query.sql.durations import unwrapped
from discreet.query.sql.literals import number
from discreet.query.sql.naming import substituted
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import only, piece, refused
from discreet.query.sql.typed import Typed
from discreet.query.windows import RANKS, Window
from discreet.tables.kind import Kind

_AGGREGATES: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Count: "count"}
_PLACES: dict[type[exp.Expr], str] = {exp.Lag: "lag", exp.Lead: "lead", exp.FirstValue: "first", exp.LastValue: "last"}
_RANKS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank",
    exp.CumeDist: "cume_dist",
    exp.Ntile: "ntile",
}
_FURTHEST = 10**6


@final
@frozen
class ReadWindow:
    """A window, the field of its value, and its default name."""

    window: Window
    field: Field
    name: str


def read_window(node: exp.Window, reader: Reader) -> ReadWindow:
    """Read a window over the rows of a grouped question."""
    only(node, "this", "partition_by", "order", "spec", "over")
    inner = node.this
    partition = tuple(reader.read(part).expr for part in node.args.get("partition_by") or [])
    order = _order(node.args.get("order"), reader)
    frame = _frame(node.args.get("spec"), bool(order))
    argument, count, default = _inside(node, inner, reader)
    function = {**_AGGREGATES, **_PLACES, **_RANKS}[type(inner)]
    if not order and (function in RANKS or function in _PLACES.values()):
        raise refused(node, "this window needs an order", f"write {piece(inner)} OVER (ORDER BY key)")
    if function in RANKS or function in ("lag", "lead"):
        frame = None
    window = Window(function, None if argument is None else argument.expr, partition, order, frame, count, default)
    return ReadWindow(window, _field(function, argument), function if function in RANKS else f"{function}_over")


def renamed_window(window: Window, names: dict[str, str]) -> Window:
    """The window with its columns renamed."""
    return evolve(
        window,
        argument=None if window.argument is None else substituted(window.argument, names),
        partition=tuple(substituted(expr, names) for expr in window.partition),
        order=tuple((substituted(expr, names), descending) for expr, descending in window.order),
    )


def _field(function: str, argument: Typed | None) -> Field:
    if function in ("percent_rank", "cume_dist", "avg"):
        return Field(Kind.REAL, nullable=True)
    if argument is None or function in RANKS or function == "count":
        return Field(Kind.INTEGER, nullable=True)
    return Field(argument.field.kind, nullable=True)


def _inside(node: exp.Window, inner: exp.Expr, reader: Reader) -> tuple[Typed | None, int, Literal | None]:
    """The argument, a literal number, and a default."""
    if type(inner) in _AGGREGATES:
        only(inner, "this", "big_int")
        if isinstance(inner.this, exp.Star):
            only(inner.this)
            return None, 1, None
        argument = reader.read(inner.this)
        if type(inner) in (exp.Sum, exp.Avg) and (argument.field.kind is None or not argument.field.kind.numeric):
            raise refused(node, "numbers are added over rows", "write SUM(COUNT(*)) OVER (ORDER BY key)")
        return argument, 1, None
    if type(inner) in _PLACES:
        only(inner, "this", "offset", "default")
        argument, written = reader.read(inner.this), inner.args.get("default")
        default = None if written is None else reader.read(written)
        if default is not None and not (isinstance(default.expr, Literal) and _same_kind(default, argument)):
            raise refused(
                node,
                "the default of LAG and LEAD is a literal of the same type as their argument",
                "write LAG(COUNT(*), 1, 0) OVER (ORDER BY key)",
            )
        found = default.expr if default is not None and isinstance(default.expr, Literal) else None
        return argument, _whole(node, inner.args.get("offset"), 1), found
    if type(inner) is exp.Ntile:
        only(inner, "this")
        count = _whole(node, inner.this, 0)
        if count < 1:
            raise refused(node, "NTILE takes a number of parts", "write NTILE(4) OVER (ORDER BY COUNT(*))")
        return None, count, None
    if type(inner) in _RANKS:
        only(inner)
        return None, 1, None
    raise refused(
        node,
        "this function is not known over released rows",
        "use SUM, AVG, MIN, MAX, COUNT, LAG, LEAD, FIRST_VALUE, LAST_VALUE, ROW_NUMBER, RANK, DENSE_RANK or NTILE, as in "
        "SUM(COUNT(*)) OVER (ORDER BY key)",
    )


def _same_kind(default: Typed, argument: Typed) -> bool:
    """Whether a column can hold both."""
    kinds = default.field.kind, argument.field.kind
    return None in kinds or kinds[0] is kinds[1] or all(kind is not None and kind.numeric for kind in kinds)


def _whole(node: exp.Expr, written: exp.Expr | None, otherwise: int) -> int:
    if written is None:
        return otherwise
    value = unwrapped(written)
    found = number(value) if isinstance(value, exp.Literal) and not value.is_string else None
    if not isinstance(found, int) or found > _FURTHEST:
        raise refused(node, "this takes a literal whole number", "write LAG(COUNT(*), 1) OVER (ORDER BY key)")
    return found


def _order(node: exp.Order | None, reader: Reader) -> tuple[tuple[Expr, bool], ...]:
    if node is None:
        return ()
    only(node, "expressions")
    found: list[tuple[Expr, bool]] = []
    for ordered in node.expressions:
        only(ordered, "this", "desc", "nulls_first")
        value = reader.read(ordered.this)
        if isinstance(value.expr, Literal):
            raise refused(ordered, "a window is not ordered by a constant", "write ORDER BY key, or ORDER BY COUNT(*) DESC")
        if ordered.args.get("nulls_first") and value.field.nullable:
            found.append((reader.call(ordered, "is_null", value).expr, True))
        found.append((value.expr, bool(ordered.args.get("desc"))))
    return tuple(found)


def _frame(spec: exp.WindowSpec | None, ordered: bool) -> tuple[int | None, int | None] | None:
    if spec is None:
        return None
    only(spec, "kind", "start", "start_side", "end", "end_side")
    start = _end(spec, spec.args.get("start"), spec.args.get("start_side"), "PRECEDING")
    end = _end(spec, spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"), "FOLLOWING")
    if spec.args.get("kind") == "ROWS":
        return start, end
    if (start, end) == (None, None):
        return None, None
    if (start, end) == (None, 0) and ordered:
        return None
    raise refused(spec, "frames are counted in rows", "write ROWS BETWEEN 6 PRECEDING AND CURRENT ROW")


def _end(spec: exp.WindowSpec, written: exp.Expr | str | None, side: str | None, outwards: str) -> int | None:
    """An end of a frame as a distance; None is unbounded on its own side."""
    if written == "CURRENT ROW" and not side:
        return 0
    if written == "UNBOUNDED" and side == outwards:
        return None
    if isinstance(written, exp.Expr) and side in ("PRECEDING", "FOLLOWING"):
        return _whole(spec, written, 0) * (1 if side == "FOLLOWING" else -1)
    raise refused(spec, "this frame is not known", "write ROWS BETWEEN 6 PRECEDING AND CURRENT ROW")
