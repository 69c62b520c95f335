"""Figures for tests: drawn, and checked for text that is cut off or that overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from discreet.plots.figure import draw_release
from discreet.plots.table import Series

BELOW = "± is a 95 % interval for the noise; it excludes bias from clipping and from contribution limits · cost ε = 0.5 (ledger entry 3)"


def key(name: str, values: Sequence[Any], **said: Any) -> Series:
    return Series(name, values, is_key=True, **said)


def amounts(name: str, values: Sequence[Any], half: float = 5.0, **said: Any) -> Series:
    """A column with intervals around its values."""
    ends = [(None, None) if value is None else (value - half, value + half) for value in values]
    return Series(name, values, [low for low, _ in ends], [high for _, high in ends], **said)


def drawn(keys: Sequence[Series], columns: Sequence[Series], rows: int, **options: Any) -> Figure:
    """The figure, laid out as it is when written to a file, with all of its text inside."""
    figure = draw_release(keys, columns, rows, BELOW, **options)
    assert isinstance(figure, Figure)
    check_text(figure)
    return figure


def check_text(figure: Figure) -> None:
    """No text reaches outside the figure."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    outside = figure.bbox.padded(1.0)
    for text in texts(figure):
        box = text.get_window_extent(canvas.get_renderer())  # type: ignore[no-untyped-call]
        assert outside.x0 <= box.x0 <= box.x1 <= outside.x1, text
        assert outside.y0 <= box.y0 <= box.y1 <= outside.y1, text


def texts(figure: Figure) -> Iterator[Text]:
    """All text that is shown; ticks beyond the limits of their axis are not, nor those of axes that are switched off."""
    hidden = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.majorTicks, *axis.minorTicks)
        for label in (tick.label1, tick.label2)
        if not axes.axison or not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            yield text


def labels(texts: Sequence[Text]) -> list[str]:
    return [text.get_text() for text in texts]
