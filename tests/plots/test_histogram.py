"""Small histograms: a line for a terminal and a drawing for a page, from edges, counts and half-widths."""

from __future__ import annotations

import datetime
import itertools
import math
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.plots.histogram import Histogram, svg_histogram, text_histogram
from discreet.plots.palette import FAINT

SVG = "{http://www.w3.org/2000/svg}"
EDGES = [-math.inf, 0, 10, 20, 30, math.inf]


def nodes(drawn: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(drawn).iter(SVG + tag))


def number(node: ET.Element, name: str) -> float:
    return float(node.attrib[name])


def test_the_line_has_a_block_for_each_bin_and_the_error() -> None:
    assert text_histogram([0, 10, 20, 30], [400.0, 200.0, 100.0], [20.0, 20.0, 20.0]) == "0 ▕█▄▂▏ 30  █ 400  ▁ ± 20"


def test_the_line_marks_what_noise_alone_may_have_made() -> None:
    assert "▕█·· ▏" in text_histogram([0, 1, 2, 3, 4], [100, 9, -9, None], 10)


def test_the_line_keeps_both_ends_apart() -> None:
    assert text_histogram(EDGES, [50, 100, 50, 25, 100], 1).startswith("< 0 ▄ ▕█▄▂▏ █ ≥ 30  █ 100")


def test_a_tall_error_is_drawn_as_tall_as_the_bar() -> None:
    assert text_histogram([0, 1], [3.0], 50.0).endswith("█ 3  █ ± 50")


@pytest.mark.parametrize("counts", [[0, 0], [None, None], [-1.0, 0]])
def test_a_line_without_counts_says_so(counts: list[Any]) -> None:
    assert "nothing counted" in text_histogram([0, 1, 2], counts)


def test_many_bins_are_joined_and_their_errors_added() -> None:
    joined = Histogram.of([-math.inf, *range(101), math.inf], [7, *[1] * 100, 8], 3.0).coarser(25)
    assert joined.counts == (7, *[4] * 25, 8)
    assert joined.halves == (3.0, *[6.0] * 25, 3.0)
    assert joined.edges == (-math.inf, *range(0, 101, 4), math.inf)
    assert len(text_histogram(range(101), [1] * 100, most=10).split("▕")[1].split("▏")[0]) == 10


def test_the_drawing_has_a_bar_and_an_error_bar_for_each_bin() -> None:
    drawn = svg_histogram(EDGES, [5, 100, 40, 3, 20], 10, title="age")
    bars = nodes(drawn, "rect")
    assert len(bars) == len(nodes(drawn, "path")) == 5
    heights = [number(bar, "height") for bar in bars]
    assert heights[1] == max(heights)
    assert heights[2] / heights[1] == pytest.approx(0.4, abs=0.01)
    assert [bar.attrib.get("fill-opacity") for bar in bars] == [f"{FAINT:g}", None, None, f"{FAINT:g}", None]
    ends = {number(bar, "y") + number(bar, "height") for bar in bars}
    assert max(ends) - min(ends) < 0.2  # every bar begins at 0
    hints = [node.text for node in nodes(drawn, "title")]
    assert hints[0] == "age"
    assert hints[1:3] == ["below 0: 5 ± 10", "0 … 10: 100 ± 10"]
    assert hints[-1] == "30 or more: 20 ± 10"


def test_what_lies_beyond_the_edges_is_drawn_apart() -> None:
    bars = nodes(svg_histogram(EDGES, [1, 1, 1, 1, 1]), "rect")
    gaps = [number(b, "x") - number(a, "x") - number(a, "width") for a, b in itertools.pairwise(bars)]
    assert min(gaps[0], gaps[-1]) > 5
    assert max(gaps[1:-1]) < 2


def test_negative_counts_hang_below_zero() -> None:
    down, up = nodes(svg_histogram([0, 1, 2], [-10, 10], 2), "rect")
    assert number(down, "y") == pytest.approx(number(up, "y") + number(up, "height"), abs=0.2)


@pytest.mark.parametrize(
    ("edges", "counts"),
    [
        (list(range(0, 1_000_000_001, 100_000_000)), [3e9] * 10),
        ([datetime.date(2024, month, 1) for month in range(1, 13)], list(range(11))),
        ([-math.inf, -1_000_000.5, 1_000_000.5, math.inf], [1, 2, 3]),
        ([2.0**k for k in range(-20, 21)], [1] * 40),
        ([0, 1], [None]),
        ([0, 1], [math.inf]),
    ],
)
@pytest.mark.parametrize("width", [160.0, 340.0])
def test_no_label_is_cut_off_and_none_overlap(edges: list[Any], counts: list[Any], width: float) -> None:
    texts = nodes(svg_histogram(edges, counts, 1.0, title="t" * 200, width=width), "text")
    spans: dict[str, list[tuple[float, float]]] = {}
    for node in texts:
        size = 0.55 * number(node, "font-size") * len(node.text or "")
        start = number(node, "x") - {"start": 0, "middle": size / 2, "end": size}[node.attrib["text-anchor"]]
        assert start >= -0.5
        assert start + size <= width + 0.5
        spans.setdefault(node.attrib["y"], []).append((start, start + size))
    for row in spans.values():
        row.sort()
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(row))


def test_titles_are_escaped() -> None:
    assert "<script" not in svg_histogram([0, 1], [1], title="<script>alert(1)</script>")


def test_sizes_that_do_not_match_are_refused() -> None:
    with pytest.raises(Invalid, match="2 bins have 3 edges, not 2"):
        text_histogram([0, 1], [1, 2])
    with pytest.raises(Invalid, match="2 bins need as many half-widths, not 3"):
        svg_histogram([0, 1, 2], [1, 2], [1, 2, 3])
    with pytest.raises(Invalid, match="give one more edge than counts"):
        text_histogram([0], [])
