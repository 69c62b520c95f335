"""Drawings of the console: a gauge of a budget, and the error to expect as ε moves. Texts are escaped where they are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from discreet.plots import svg
from discreet.plots.histogram import SMALL
from discreet.plots.palette import BLUE, ORANGE
from discreet.plots.table import decimals
from discreet.plots.ticks import round_ticks, tick_label

_WIDE, _HIGH = 320.0, 132.0
_BAR = 12.0


def gauge(spent: Any, granted: Any, asking: Any = None) -> str:
    """A bar of what was spent and, in another colour, what a request would take; empty where the budget is infinite."""
    if spent is None or granted is None or not granted:
        return ""
    whole = float(granted)
    used = min(float(spent) / whole, 1.0) * _WIDE
    parts = [svg.box(0, 0, _WIDE, _BAR, "currentColor", opacity=0.12), svg.box(0, 0, used, _BAR, BLUE, f"spent: ε = {float(spent):.4g}")]
    title = f"{float(spent):.3g} of ε = {whole:.3g} spent"
    if asking is not None:
        wide = min(float(asking) / whole * _WIDE, _WIDE - used)
        parts.append(svg.box(used, 0, max(wide, 1.5), _BAR, ORANGE, f"this request: ε = {float(asking):.4g}"))
        title += f", this request takes up to {float(asking):.3g}"
    return svg.drawing(_WIDE, _BAR, title, parts).replace("<svg ", '<svg preserveAspectRatio="none" ', 1)  # as wide as its place


def error_curve(name: str, points: Sequence[tuple[float, float]], now: float, of: str = "") -> str:
    """The half-width of an output's intervals over ε, with the chosen ε marked; ε on a logarithmic axis."""
    if len(points) < 2:
        return ""
    most = max(width for _, width in points)
    first, last = (math.log(epsilon) for epsilon in (points[0][0], points[-1][0]))
    marks = [mark for mark in round_ticks(0.0, most, 4) if mark <= most * 1.1]
    left = max(svg.text_width(f"± {tick_label(mark, most)}", SMALL) for mark in marks or [0.0]) + 10
    right, top, bottom = _WIDE - 14, 26.0, _HIGH - 22

    def x(epsilon: float) -> float:
        return left + (math.log(epsilon) - first) / ((last - first) or 1.0) * (right - left)

    def y(width: float) -> float:
        return bottom - width / (most * 1.08 or 1.0) * (bottom - top)

    title = f"{name}: expected error{of}"
    parts = [svg.write(2, 13, svg.shortened(title, _WIDE - 4), extra=' font-weight="600"')]
    for mark in marks:
        parts += [svg.line(left, y(mark), right, y(mark)), svg.write(left - 5, y(mark) + 3.5, f"± {tick_label(mark, most)}", "end", SMALL)]
    along = " ".join(f"{svg.number(x(e))},{svg.number(y(w))}" for e, w in points)
    parts.append(f'<polyline points="{along}" fill="none" stroke="{BLUE}" stroke-width="1.8"/>')
    for epsilon, width in points:
        said = f"ε = {epsilon:.3g}: ± {width:,.{decimals(width)}f}"
        chosen = epsilon == now
        parts.append(svg.dot(x(epsilon), y(width), 4.6 if chosen else 2.2, ORANGE if chosen else BLUE, said))
        parts.append(svg.write(x(epsilon), bottom + 16, f"{epsilon:.3g}", "middle", SMALL, ' font-weight="600"' if chosen else ""))
    parts.append(svg.write(2, bottom + 16, "ε", "start", SMALL))
    return svg.drawing(_WIDE, _HIGH, title, parts)
