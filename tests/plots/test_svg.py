"""Pieces of SVG: escaped, closed, with finite coordinates."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from discreet.plots import svg

HOSTILE = '</text><script>alert(1)</script>"&\x1b[31m\u202e'


def test_every_piece_escapes_its_text() -> None:
    parts = [svg.write(1, 2, HOSTILE), svg.box(0, 0, 5, 5, "#000000", HOSTILE), svg.dot(1, 1, 2, "#000000", HOSTILE)]
    drawn = svg.drawing(10, 10, HOSTILE, parts)
    assert "<script" not in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    texts = [node.text for node in ET.fromstring(drawn).iter() if node.text]
    assert len(texts) == 4
    assert all("<script>alert(1)</script>" in text for text in texts)


def test_boxes_have_no_negative_size() -> None:
    assert 'width="0" height="0"' in svg.box(0, 0, -1, -2, "#000000")


def test_an_error_bar_has_caps_that_are_shorter_than_itself() -> None:
    assert svg.whisker((10, 90), 5, upright=False).count("M") == 3
    assert 'd="M10 4.5L10 5.5' in svg.whisker((10, 11), 5, upright=False)
    assert 'd="M2 10L8 10' in svg.whisker((10, 90), 5, upright=True)


def test_texts_are_shortened_to_fit() -> None:
    short = svg.shortened("Ω" * 100, 80)
    assert short.endswith("…")
    assert svg.text_width(short) <= 80
    assert svg.shortened("日本", 1000) == "日本"
