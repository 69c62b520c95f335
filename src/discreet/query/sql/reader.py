"""Read expressions: every node class has its own case, and a node without one is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, final

from attrs import frozen
from sqlglot import exp

from discreet.errors import Refused
from discreet.hints import closest
from discreet.query.sql.refuse import located, piece, place, refused
from discreet.query.sql.typed import Apply, Typed

Case: TypeAlias = Callable[[Any, "Reader"], Typed]


@final
@frozen
class Reader:
    """How expressions are read in one clause of a question: its names, and its rule for applying a function.

    `special` is tried first on every node: it recognises keys and aggregates.
    """

    cases: Mapping[type[exp.Expr], Case]
    named: Mapping[str, Case]
    apply: Apply
    column: Callable[[exp.Column], Typed]
    special: Callable[[exp.Expr], Typed | None]
    dialect: str

    def read(self, node: exp.Expr | None) -> Typed:
        """Read one node."""
        if node is None:
            raise Refused("a part of this expression is missing: write it out")
        found = self.special(node)
        if found is not None:
            return found
        if type(node) is exp.Column:
            return self.column(node)
        if type(node) is exp.Anonymous:
            return self._named(node)
        case = self.cases.get(type(node))
        if case is None:
            raise unknown(node, self.named)
        return case(node, self)

    def call(self, node: exp.Expr, function: str, *arguments: Typed) -> Typed:
        """Apply a function for a node, which the message names if a rule refuses."""
        try:
            return self.apply(function, arguments)
        except Refused as error:
            raise located(node, error) from None

    def _named(self, node: exp.Anonymous) -> Typed:
        case = self.named.get(str(node.this).upper()) if isinstance(node.this, str) else None
        if case is None:
            raise unknown(node, self.named)
        return case(node, self)


def unknown(node: exp.Expr, named: Mapping[str, Case]) -> Refused:
    """The refusal of a node without a case, with the nearest known name."""
    if isinstance(node, exp.Exists):
        return refused(
            node,
            "EXISTS is a condition of WHERE by itself, beside others with AND",
            "write WHERE EXISTS (SELECT 1 FROM sites WHERE sites.id = visits.site_id), or join that table",
        )
    if isinstance(node, exp.Subquery | exp.Query):
        return refused(
            node,
            "a subquery inside an expression would read rows of many units at once",
            "join the table instead, on the unit if it is private",
        )
    if isinstance(node, exp.Window):
        return refused(node, "a window over rows combines rows of many units; over the groups of a question it is free", _grouped(node))
    if isinstance(node, exp.RegexpLike | exp.RegexpILike | exp.RegexpExtract | exp.RegexpReplace | exp.SimilarTo):
        return refused(
            node, "regular expressions are not supported, because their cost may depend on a row", "use LIKE 'A%' with a literal pattern"
        )
    if isinstance(node, exp.Interval):
        return refused(node, "an interval is added to a date, or compared with a difference", "write day + INTERVAL 90 DAY")
    if isinstance(node, exp.Func):
        if isinstance(node, _OUTSIDE) or node.name.upper() in _OUTSIDE_NAMES:
            return refused(node, "clocks, random numbers and session values are not part of the data", "write a literal instead")
        name = str(node.this) if isinstance(node, exp.Anonymous) else node.sql_name()
        near = closest(name, [*named, *_KNOWN])
        hint = f"did you mean {near}?" if near else "use arithmetic, CASE, COALESCE, ROUND, WIDTH_BUCKET, LIKE, EXTRACT or similar"
        return Refused(f"{name.upper()[:40]} in {piece(node)}{place(node)}: this function is not supported; {hint}")
    return refused(node, f"{node.key.upper()} is not supported", "use comparisons, arithmetic, CASE or COALESCE")


def _grouped(window: exp.Window) -> str:
    """The grouped question that asks for a window's aggregate."""
    keys = ", ".join(piece(part) for part in window.args.get("partition_by") or [])
    start = window.root().find(exp.From)
    table = piece(start.this) if start is not None else "table"
    asked = piece(window.this) if isinstance(window.this, exp.Count | exp.Sum | exp.Avg) else "COUNT(*)"
    if not keys:
        return f"write SELECT {asked} FROM {table}"
    return f"write SELECT {keys}, {asked} AS n, SUM(COUNT(*)) OVER () AS total FROM {table} GROUP BY {keys}"


_OUTSIDE = (exp.Rand, exp.Randn, exp.Uuid, exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentUser)
_OUTSIDE_NAMES = {"NOW", "TODAY", "RANDOM", "RAND", "GETDATE", "CLOCK_TIMESTAMP", "SETSEED", "VERSION", "CURRENT_USER"}
_KNOWN = (
    *(
        "ABS",
        "AVG",
        "CEIL",
        "COALESCE",
        "CONCAT",
        "COUNT",
        "COUNTIF",
        "DATE_DIFF",
        "DATE_TRUNC",
        "DAY",
        "DAYOFWEEK",
        "EXP",
        "EXTRACT",
        "FLOOR",
        "GREATEST",
    ),
    *(
        "HOUR",
        "IF",
        "LEAST",
        "LEFT",
        "LENGTH",
        "LN",
        "LOWER",
        "MAX",
        "MEDIAN",
        "MIN",
        "MINUTE",
        "MODE",
        "MONTH",
        "NULLIF",
        "PERCENTILE_CONT",
    ),
    *(
        "POWER",
        "QUANTILE",
        "QUARTER",
        "ROUND",
        "SQRT",
        "STARTS_WITH",
        "STDDEV",
        "STRFTIME",
        "SUBSTRING",
        "SUM",
        "TRIM",
        "TRUNC",
        "UPPER",
        "VARIANCE",
    ),
    *("WIDTH_BUCKET", "YEAR", "CLAMP"),
)


def flat(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The parts of a chain such as a AND b AND c, without recursion."""
    parts: list[exp.Expr] = []
    open_: list[Any] = [node]
    while open_:
        part = open_.pop()
        while type(part) is exp.Paren and type(part.this) in (exp.Paren, kind):
            part = part.this
        if type(part) is kind:
            open_ += [part.args.get("expression"), part.this]
        else:
            parts.append(part)
    return parts
