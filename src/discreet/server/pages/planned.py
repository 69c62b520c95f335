"""What a page shows of a plan before anybody pays: the error to expect, what it takes, who is protected, and why it is private."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import frozen
from markupsafe import Markup

from discreet.errors import Error
from discreet.exact import short
from discreet.explain.text import sections
from discreet.plots.table import decimals
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.pages.drawing import error_curve
from discreet.server.pages.looking import gauge_of
from discreet.server.pages.rendering import drawing
from discreet.server.server import Server
from discreet.server.store.accounts import Account
from discreet.session.plan import Plan

_AROUND = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))  # times the chosen ε, at which the error is drawn
_DRAWN, _USUAL = 3, 1000  # outputs that are drawn; the size of a group for which they are
_OPEN = ("Who is protected", "Which groups are shown", "Not known without spending", "Notes")  # sections that are not folded


@final
@frozen(eq=False)
class ErrorLine:
    """The error to expect of one output: one number, or one for each size of a group."""

    name: str
    error: str
    sizes: list[tuple[str, str]]
    worst: str


@final
@frozen(eq=False)
class Planned:
    """A plan on a page."""

    title: str
    epsilon: str
    delta: str
    errors: list[ErrorLine]
    drawn: Markup
    budget: dict[str, Any] | None
    admitted: bool
    held: bool  # answered before: free
    seconds: float | None
    leak: float | None
    open: list[tuple[str, list[str]]]
    folded: list[tuple[str, list[str]]]


def planned(server: Server, data: DataSet, account: Account, asked: Asked, size: int | None = None) -> Planned:
    """Plan and forecast; free, and reads no private row."""
    found = server.asking.plan(data, account, asked)
    slot, clock = server.asking.slot(data, asked), server.queue.clock
    told = list(sections(found.explain().facts)) if isinstance(found, Plan) else [(found.title, str(found.explain()).splitlines())]
    errors, drawn = ([], "") if not isinstance(found, Plan) else _errors(server, data, account, asked, found, size)
    return Planned(
        found.title,
        short(found.epsilon),
        short(found.delta),
        errors,
        drawing(drawn),
        gauge_of(data, account, found.epsilon),
        data.allowance(account).admits(found.loss),
        not data.hides(account, found.priced.question) and data.session(account).stored(found) is not None,
        clock.slots[slot] if clock.slots else None,
        None if clock.off else clock.leak(slot),
        [one for one in told if one[0] in _OPEN or not isinstance(found, Plan)],
        [one for one in told if one[0] not in _OPEN and isinstance(found, Plan)],
    )


def _errors(server: Server, data: DataSet, account: Account, asked: Asked, plan: Plan, size: int | None) -> tuple[list[ErrorLine], str]:
    forecast = plan.error(size=size)
    lines = [_line(name, width, forecast.worst.get(name), name in forecast.ranks) for name, width in forecast.items()]
    at: dict[Fraction, Any] = {plan.epsilon: forecast}
    for times in _AROUND:
        if times != 1:
            try:
                moved = Asked(asked.chain, "release", asked.price | {"epsilon": plan.epsilon * times})
                at[plan.epsilon * times] = server.asking.plan(data, account, moved).error(size=size)
            except Error:  # too small or too large for this question
                continue
    drawn = []
    for name, width in [(one, width) for one, width in forecast.items() if width is not None][:_DRAWN]:
        points = [(float(epsilon), _one(at[epsilon].get(name))) for epsilon in sorted(at)]
        of = f", groups of {_usual(width):,}" if isinstance(width, dict) else ""
        drawn.append(error_curve(name, [(e, w) for e, w in points if w is not None], float(plan.epsilon), of))
    return lines, "".join(drawn)


def _usual(widths: dict[int, float]) -> int:
    return _USUAL if _USUAL in widths else sorted(widths)[len(widths) // 2]


def _one(width: Any) -> float | None:
    return float(width[_usual(width)]) if isinstance(width, dict) else None if width is None else float(width)


def _line(name: str, width: Any, worst: Any, ranks: bool) -> ErrorLine:
    unit = " ranks or votes" if ranks else ""
    if width is None:
        return ErrorLine(name, "unknown until its bounds are discovered", [], "")
    if isinstance(width, dict):
        return ErrorLine(name, "", [(f"{size:,} rows", _half(half) + unit) for size, half in width.items()], "")
    far = f"at worst {_half(worst)}" if isinstance(worst, float) and worst > 1.1 * width else ""
    return ErrorLine(name, _half(width) + unit, [], far)


def _half(width: float) -> str:
    return f"± {width:,.{min(decimals(width), 6)}f}"
