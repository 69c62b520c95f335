"""Drawings for tests: read as XML, and checked for text that is cut off."""

from __future__ import annotations

import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
_CHARACTER = 0.55  # about the width of a character in the fonts of browsers, as a share of their size


def read(drawn: str) -> list[ET.Element]:
    """The drawings of a page, each checked."""
    found = list(ET.fromstring(f"<div>{drawn}</div>").iter(SVG + "svg"))
    for one in found:
        check_text(one)
    return found


def nodes(drawing: ET.Element, tag: str) -> list[ET.Element]:
    return list(drawing.iter(SVG + tag))


def texts(drawing: ET.Element) -> list[str]:
    return [node.text or "" for node in nodes(drawing, "text")]


def hints(drawing: ET.Element) -> list[str]:
    """What is shown when the pointer is over a mark; the first is the title of the drawing."""
    return [node.text or "" for node in nodes(drawing, "title")]


def number(node: ET.Element, name: str) -> float:
    return float(node.attrib[name])


def check_text(drawing: ET.Element) -> None:
    """No text reaches outside the drawing."""
    wide, high = number(drawing, "width"), number(drawing, "height")
    for node in nodes(drawing, "text"):
        size = _CHARACTER * number(node, "font-size") * len(node.text or "")
        x, y = number(node, "x"), number(node, "y")
        before = {"start": 0.0, "middle": size / 2, "end": size}[node.attrib["text-anchor"]]
        if "rotate(-90" in node.attrib.get("transform", ""):
            assert y + before <= high + 1, node.text  # turned, it ends at the top
            continue
        assert x - before >= -1, node.text
        assert x - before + size <= wide + 1, node.text
        assert 8 <= y <= high, node.text
