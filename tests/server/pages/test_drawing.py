"""Gauges and curves are well-formed SVG whose texts are escaped."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

from discreet.server.pages.drawing import error_curve, gauge

HOSTILE = "<script>&\"'"


def test_a_gauge_shows_what_was_spent_and_what_a_request_takes() -> None:
    drawn = gauge(Fraction(1), Fraction(4), Fraction(1, 2))
    assert "1 of ε = 4 spent, this request takes up to 0.5" in drawn
    wide = [float(box.get("width", "0")) for box in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}rect")]
    assert wide == [320, 80, 40]
    full = ElementTree.fromstring(gauge(Fraction(9), Fraction(4), Fraction(1)))
    assert all(float(box.get("x", "0")) + float(box.get("width", "0")) <= 322 for box in full.iter("{http://www.w3.org/2000/svg}rect"))
    assert gauge(None, Fraction(4)) == gauge(Fraction(1), None) == ""


def test_a_curve_marks_the_chosen_epsilon_and_escapes_names() -> None:
    drawn = error_curve(HOSTILE, [(0.1, 100.0), (0.2, 50.0), (0.4, 25.0)], 0.2)
    ElementTree.fromstring(drawn)
    assert "<script>" not in drawn
    assert "ε = 0.2: ± 50" in drawn
    assert error_curve("n", [(0.1, 3.0)], 0.1) == ""
