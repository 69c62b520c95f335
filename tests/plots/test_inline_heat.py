"""Inline heat maps: shaded cells with their values and errors as hints."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

from plots.drawings import hints, nodes, read, texts
from plots.figures import amounts, key

from discreet.plots.inline import inline_svg
from discreet.plots.palette import SHADES


def heat(down: int, across: int) -> ET.Element:
    both = list(itertools.product(range(down), range(across)))
    keys = [key("d", [f"diagnosis {i}" for i, _ in both]), key("a", [f"a long name of a ward {j}" for _, j in both])]
    (one,) = read(inline_svg([*keys, amounts("n", [10 * i for i in range(len(both))])], len(both)))
    return one


def test_cells_are_shaded_and_named() -> None:
    one = heat(9, 7)
    cells = nodes(one, "rect")[: 9 * 7]
    assert (cells[0].attrib["fill"], cells[-1].attrib["fill"]) == (SHADES[0], SHADES[-1])
    assert hints(one)[-1] == "diagnosis 8 · a long name of a ward 6: 620 ± 5"
    assert "620" in texts(one)
    assert "0 ~" in texts(one)
    assert texts(one)[-1] == "n: ± 5.0 in most cells"


def test_small_cells_have_hints_only_and_turned_labels() -> None:
    one = heat(14, 12)
    assert "620" not in texts(one)
    assert sum("rotate" in node.attrib.get("transform", "") for node in nodes(one, "text")) == 12


def test_large_grids_count_what_is_left_out() -> None:
    one = heat(20, 16)
    assert texts(one)[-1].startswith("d: the 15 largest, and 5 more values; a: the 15 largest")
