"""Pieces of SVG drawings for HTML pages. Every text is escaped; lines and text take the page's colour, so dark pages work."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from discreet.plots.table import printable, width

FONT = 11.0  # pixels
_CHARACTER = 0.58  # width of one character, as a share of the size of the font
SOFT = 'stroke="currentColor" stroke-opacity=".22"'


def number(value: float) -> str:
    """A coordinate, with one decimal.

    >>> number(12.0), number(3.14159), number(-0.01)
    ('12', '3.1', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text_width(text: str, size: float = FONT) -> float:
    """About how many pixels a text takes; rather too many than too few."""
    return width(text) * size * _CHARACTER


def shortened(text: str, room: float, size: float = FONT) -> str:
    """The text, with its end replaced by … if it does not fit into `room` pixels.

    >>> shortened("emergency", 200), shortened("emergency department", 60)
    ('emergency', 'emergenc…')
    """
    shown = printable(text)
    if text_width(shown, size) <= room:
        return shown
    while shown and text_width(shown + "…", size) > room:
        shown = shown[:-1]
    return shown + "…"


def write(x: float, y: float, text: str, anchor: str = "start", size: float = FONT, extra: str = "") -> str:
    """Text at a point; `anchor` is start, middle or end."""
    words = escape(printable(text))
    return (
        f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" font-size="{number(size)}" fill="currentColor"{extra}>{words}</text>'
    )


def line(x1: float, y1: float, x2: float, y2: float, style: str = SOFT) -> str:
    """A straight line."""
    return f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" {style}/>'


def box(x: float, y: float, wide: float, high: float, fill: str, hint: str = "", opacity: float = 1.0) -> str:
    """A filled rectangle; `hint` is shown when the pointer is over it."""
    faint = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    told = f"<title>{escape(printable(hint))}</title>" if hint else ""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(max(wide, 0))}" height="{number(max(high, 0))}" '
        f'fill="{fill}"{faint}>{told}</rect>'
    )


def dot(x: float, y: float, radius: float, fill: str, hint: str = "") -> str:
    """A filled circle."""
    told = f"<title>{escape(printable(hint))}</title>" if hint else ""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}">{told}</circle>'


def whisker(along: tuple[float, float], across: float, upright: bool, cap: float = 3.0) -> str:
    """An error bar from one end to the other, with caps; a short one has none."""
    low, high = along
    cap = min(cap, abs(high - low) / 2)
    ends = [(low, across - cap, low, across + cap), (high, across - cap, high, across + cap), (low, across, high, across)]
    path = "".join(
        f"M{number(b)} {number(a)}L{number(d)} {number(c)}" if upright else f"M{number(a)} {number(b)}L{number(c)} {number(d)}"
        for a, b, c, d in ends
    )
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.1" stroke-opacity=".85"/>'


def drawing(wide: float, high: float, title: str, parts: Sequence[str]) -> str:
    """The drawing as an element of a page; the title is what a screen reader says."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{number(wide)}" height="{number(high)}" '
        f'viewBox="0 0 {number(wide)} {number(high)}" font-family="system-ui,sans-serif">'
        f"<title>{escape(printable(title))}</title>{''.join(parts)}</svg>"
    )
