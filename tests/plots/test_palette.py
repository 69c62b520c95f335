"""Colours: series differ for every reader, and text on a heat map can be read."""

from __future__ import annotations

import itertools

import pytest

from discreet.plots.palette import DARK, SERIES, SHADES, ink, shade


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_the_shades_grow_darker() -> None:
    lightness = [luminance(shade(place / 50)) for place in range(51)]
    assert all(before > after for before, after in itertools.pairwise(lightness))
    assert (shade(-1), shade(2)) == (SHADES[0], SHADES[-1])


@pytest.mark.parametrize("place", range(21))
def test_text_on_a_shade_can_be_read(place: int) -> None:
    assert contrast(shade(place / 20), ink(place / 20)) >= 3.5


def test_the_main_colour_shows_on_white_and_on_black() -> None:
    for colour in SERIES[:4]:
        assert contrast(colour, "#ffffff") >= 3
        assert contrast(colour, "#111111") >= 3
    assert contrast(DARK, "#ffffff") >= 7
    assert len(set(SERIES)) == len(SERIES)
