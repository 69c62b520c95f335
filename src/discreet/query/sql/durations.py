"""INTERVAL literals: months, and days and times, which are exact."""

from __future__ import annotations

from typing import final

from attrs import frozen
from sqlglot import exp

from discreet.query.sql.refuse import only, refused

DAY = 86_400_000_000  # microseconds
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_TIMES = {"week": 7 * DAY, "day": DAY, "hour": DAY // 24, "minute": DAY // 1440, "second": 10**6, "millisecond": 1000, "microsecond": 1}
_INSTEAD = "write INTERVAL 90 DAY"


@final
@frozen
class Duration:
    """A length of time: months, which differ in length, or microseconds."""

    months: int = 0
    microseconds: int = 0

    @property
    def days(self) -> int | None:
        """Whole days, if it is that."""
        return self.microseconds // DAY if not self.months and self.microseconds % DAY == 0 else None

    def times(self, factor: int) -> Duration:
        return Duration(self.months * factor, self.microseconds * factor)


def unwrapped(node: exp.Expr) -> exp.Expr:
    """A node without its parentheses."""
    while type(node) is exp.Paren:
        only(node, "this")
        node = node.this
    return node


def duration(node: exp.Expr | None) -> Duration | None:
    """The duration that a node denotes, if it is an INTERVAL, or a multiple of one."""
    if node is None:
        return None
    node = unwrapped(node)
    if type(node) is exp.Neg:
        inside = duration(node.this)
        return None if inside is None else inside.times(-1)
    if type(node) is exp.Mul:
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if (found := duration(one)) is not None:
                return found.times(_whole(node, other))
        return None
    if type(node) is not exp.Interval:
        return None
    only(node, "this", "unit")
    unit = node.args.get("unit")
    if not isinstance(unit, exp.Var) or node.this is None:
        raise refused(node, "an interval has one number and one unit", _INSTEAD)
    return in_unit(node, unit.name, _whole(node, node.this))


def _whole(node: exp.Expr, written: exp.Expr) -> int:
    sign, value = 1, unwrapped(written)
    if type(value) is exp.Neg:
        sign, value = -1, unwrapped(value.this)
    text = value.name if isinstance(value, exp.Literal) else ""
    if text[:1] in ("-", "+"):
        sign, text = (-sign if text[0] == "-" else sign), text[1:]
    if not text.isdecimal() or len(text) > 12:
        raise refused(node, "the number of an interval is a literal whole number", _INSTEAD)
    return sign * int(text)


def in_unit(node: exp.Expr, unit: str, count: int) -> Duration:
    """So many of a unit."""
    name = unit_name(unit)
    if name in _MONTHS:
        return Duration(months=count * _MONTHS[name])
    if name in _TIMES:
        return Duration(microseconds=count * _TIMES[name])
    raise refused(node, f"{unit[:20].upper()} is not a unit of time here", f"{_INSTEAD}, or a WEEK, MONTH, YEAR, HOUR, MINUTE or SECOND")


def unit_name(unit: str) -> str:
    """A unit of time in the singular."""
    name = unit.strip().lower()
    return name[:-1] if name.endswith("s") else name
