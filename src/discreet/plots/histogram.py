"""A small histogram of noisy counts: one line for a terminal, or a drawing for an HTML page. Neither needs matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, final

from attrs import frozen

from discreet.errors import Invalid
from discreet.plots import svg
from discreet.plots.palette import BLUE, FAINT
from discreet.plots.table import decimals
from discreet.plots.ticks import edge_label, round_ticks, spaced, tick_label

_BLOCKS = "▁▂▃▄▅▆▇█"
_UNCERTAIN = "·"  # of a bin that noise alone may have made
_APART, _BEYOND = 8.0, 14.0  # pixels between the bins and what lies below or above them, and how wide that is drawn
SMALL = 10.0


@final
@frozen
class Histogram:
    """Bins with noisy counts. A count may be None; the first or the last edge may be infinite: what lies beyond is drawn apart."""

    edges: tuple[Any, ...]  # numbers or dates, one more than counts
    counts: tuple[float | None, ...]
    halves: tuple[float, ...]  # half-widths of the intervals; 0 where there is none

    @classmethod
    def of(cls, edges: Sequence[Any], counts: Sequence[float | None], halves: Sequence[float] | float | None = None) -> Histogram:
        """Check the sizes; one half-width may stand for all bins."""
        if not counts or len(edges) != len(counts) + 1:
            raise Invalid(f"{len(counts)} bins have {len(counts) + 1} edges, not {len(edges)}: give one more edge than counts")
        each = list(halves) if isinstance(halves, Sequence) else [halves or 0.0] * len(counts)
        if len(each) != len(counts):
            raise Invalid(f"{len(counts)} bins need as many half-widths, not {len(each)}: give one for each, or one number for all")
        return cls(tuple(edges), tuple(counts), tuple(float(half) for half in each))

    @property
    def is_below(self) -> bool:
        """Whether the first bin has no lower edge."""
        return _is_infinite(self.edges[0]) and len(self.counts) > 1

    @property
    def is_above(self) -> bool:
        """Whether the last bin has no upper edge."""
        return _is_infinite(self.edges[-1]) and len(self.counts) > 1

    @property
    def inner(self) -> range:
        """The bins with two edges."""
        return range(int(self.is_below), len(self.counts) - int(self.is_above))

    def is_uncertain(self, place: int) -> bool:
        """Whether noise alone may have made this count."""
        count = self.counts[place]
        return count is not None and 0 < self.halves[place] >= abs(count)

    def digits(self, place: int) -> int:
        """The number of decimals of a bin's count and half-width; whole counts stay whole."""
        count, half = self.counts[place], self.halves[place]
        return 0 if not half or half >= 10 or (count is not None and float(count).is_integer() and half >= 1) else decimals(half)

    def label(self, place: int) -> str:
        """The bin's range, count and half-width in words."""
        count, half = self.counts[place], self.halves[place]
        digits = self.digits(place)
        value = "no count" if count is None else f"{count:,.{digits}f}" if half else tick_label(count)
        return f"{self._range(place)}: {value}{f' ± {half:,.{digits}f}' if half and count is not None else ''}"

    def _range(self, place: int) -> str:
        low, high = self.edges[place], self.edges[place + 1]
        if _is_infinite(low):
            return f"below {edge_label(high)}"
        return f"{edge_label(low)} or more" if _is_infinite(high) else f"{edge_label(low)} … {edge_label(high)}"

    def coarser(self, most: int) -> Histogram:
        """Neighbouring bins joined until at most `most` lie inside; half-widths add like those of independent noise."""
        each = math.ceil(len(self.inner) / most)
        if each <= 1:
            return self
        starts = list(self.inner)[::each]
        parts = [range(start, min(start + each, self.inner.stop)) for start in starts]
        parts = [range(1)] * self.is_below + parts + [range(self.inner.stop, self.inner.stop + 1)] * self.is_above
        counts = [[self.counts[place] for place in part] for part in parts]
        return Histogram(
            (*(self.edges[part.start] for part in parts), self.edges[-1]),
            tuple(None if set(some) == {None} else sum(one for one in some if one is not None) for some in counts),
            tuple(math.hypot(*(self.halves[place] for place in part)) for part in parts),
        )


def text_histogram(
    edges: Sequence[Any], counts: Sequence[float | None], halves: Sequence[float] | float | None = None, most: int = 32
) -> str:
    """One line for a terminal: a block for each bin between its edges, what the tallest stands for, and a block as tall as the error.

    A bin that noise alone may have made is a dot. Bins are joined until there are at most `most`.

    >>> text_histogram([0, 20, 40, 60, 80], [120, 340, 55, 3], 12)
    '0 ▕▃█▁·▏ 80  █ 340  ▁ ± 12'
    >>> text_histogram([-math.inf, 0, 1, 2, math.inf], [5, 10, 20, 0])
    '< 0 ▂ ▕▄█▏   ≥ 2  █ 20'
    """
    bars = Histogram.of(edges, counts, halves).coarser(most)
    top = max([1e-300, *(count for count in bars.counts if count is not None and math.isfinite(count))])
    blocks = [_block(bars, place, top) for place in range(len(bars.counts))]
    inside = "".join(blocks[place] for place in bars.inner)
    left = f"< {edge_label(bars.edges[1])} {blocks[0]} " if bars.is_below else f"{edge_label(bars.edges[0])} "
    right = f" {blocks[-1]} ≥ {edge_label(bars.edges[-2])}" if bars.is_above else f" {edge_label(bars.edges[-1])}"
    tallest = max(range(len(blocks)), key=lambda place: bars.counts[place] or 0.0)
    half, digits = bars.halves[tallest], bars.digits(tallest)
    said = f"█ {top:,.{digits}f}" if top > 1e-300 else "nothing counted"
    error = f"  {_level(half / top)} ± {half:,.{digits}f}" if half else ""
    return f"{left}▕{inside}▏{right}  {said}{error}"


def _block(bars: Histogram, place: int, top: float) -> str:
    count = bars.counts[place]
    if count is None or not math.isfinite(count):
        return " "
    if bars.is_uncertain(place):
        return _UNCERTAIN
    return _level(count / top) if count > 0 else " "


def _level(share: float) -> str:
    return _BLOCKS[min(max(round(min(share, 1.0) * len(_BLOCKS)) - 1, 0), len(_BLOCKS) - 1)]


def _is_infinite(edge: Any) -> bool:
    return isinstance(edge, float) and math.isinf(edge)


# ── as a drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def svg_histogram(
    edges: Sequence[Any],
    counts: Sequence[float | None],
    halves: Sequence[float] | float | None = None,
    *,
    title: str = "",
    width: float = 340.0,
    height: float = 130.0,
) -> str:
    """A drawing for an HTML page: a bar from 0 for each bin with its error bar, edges below, what lies beyond the edges apart.

    All bins are equally wide, so a logarithmic grid is drawn as one. Bars that noise alone may have made are pale.
    """
    bars = Histogram.of(edges, counts, halves)
    low, high = _extent(bars)
    marks = round_ticks(low, high, 4)
    first, last = (0.0 if infinite else svg.text_width(edge_label(edge), SMALL) / 2 for edge, infinite in _ends(bars))
    left = max([6.0, first - 6, *(svg.text_width(tick_label(mark), SMALL) for mark in marks)]) + 8
    top, bottom, right = (22.0 if title else 8.0), height - 20.0, width - max(last, 4.0) - 2
    outside = bars.is_below + bars.is_above
    step = (right - left - outside * (_BEYOND + _APART)) / len(bars.inner)

    def span(place: int) -> tuple[float, float]:
        start = left + bars.is_below * (_BEYOND + _APART)
        if place in bars.inner:
            return start + (place - bars.inner.start) * step, step
        return (left, _BEYOND) if place < bars.inner.start else (right - _BEYOND, _BEYOND)

    def place_y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    parts = [svg.write(2, 12, svg.shortened(title, width - 4), extra=' font-weight="600"')] if title else []
    for mark in marks:
        y = place_y(mark)
        parts += [svg.line(left, y, right, y), svg.write(left - 5, y + 3.5, tick_label(mark), "end", SMALL)]
    for place, count in enumerate(bars.counts):
        if count is not None and math.isfinite(count):
            parts += _bar(bars, place, span(place), place_y)
    parts.append(svg.line(left, place_y(0), right, place_y(0), 'stroke="currentColor" stroke-opacity=".6"'))
    parts += _edge_labels(bars, span, height - 5)
    return svg.drawing(width, height, title or "histogram", parts)


def _ends(bars: Histogram) -> tuple[tuple[Any, bool], tuple[Any, bool]]:
    return (bars.edges[0], bars.is_below), (bars.edges[-1], bars.is_above)


def _extent(bars: Histogram) -> tuple[float, float]:
    some = [(count, half) for count, half in zip(bars.counts, bars.halves, strict=True) if count is not None and math.isfinite(count)]
    low = min([0.0, *(count - half if count < 0 else 0.0 for count, half in some)])
    high = max([0.0, *(count + half for count, half in some)])
    return low, (high if high > low else low + 1.0)


def _bar(bars: Histogram, place: int, across: tuple[float, float], y: Callable[[float], float]) -> list[str]:
    x, step = across
    count, half = bars.counts[place] or 0.0, bars.halves[place]
    gap, tip, zero = min(1.0, step * 0.1), y(count), y(0)
    pale = FAINT if bars.is_uncertain(place) else 1.0
    drawn = svg.box(x + gap / 2, min(zero, tip), step - gap, abs(zero - tip), BLUE, bars.label(place), pale)
    lowest = count - half if count < 0 else max(count - half, 0.0)  # no one is counted less than 0 times
    return [drawn, svg.whisker((y(lowest), y(count + half)), x + step / 2, True, min(3.0, step / 3))] if half else [drawn]


def _edge_labels(bars: Histogram, span: Callable[[int], tuple[float, float]], y: float) -> list[str]:
    """The edges below the bins, as many as fit; what lies beyond them is marked below its own bar."""
    inner = bars.inner
    places = [*inner, inner.stop]
    labels = [edge_label(bars.edges[place]) for place in places]
    room = span(inner.start)[1] / svg.text_width("0", SMALL)
    every = spaced(
        labels if not bars.is_above else [label + " " * (len(label) // 2) for label in labels], room
    )  # the last ends at its edge
    parts = []
    for place, label in list(zip(places, labels, strict=True))[::every]:
        x = span(place)[0] if place < inner.stop else sum(span(place - 1))
        anchor = "start" if bars.is_below and place == inner.start else "end" if bars.is_above and place == inner.stop else "middle"
        parts.append(svg.write(x, y, label, anchor, SMALL))
    beyond = [(0, "<")] * bars.is_below + [(len(bars.counts) - 1, "≥")] * bars.is_above
    return parts + [svg.write(span(place)[0] + span(place)[1] / 2, y, mark, "middle", SMALL) for place, mark in beyond]
