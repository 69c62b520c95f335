"""Colours of figures: told apart by colour-blind readers, and readable on light and on dark pages."""

from __future__ import annotations

# After Okabe and Ito: these differ in lightness as well as in hue.
BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER = "#2a78b8", "#d55e00", "#009e73", "#b8609a", "#56b4e9", "#b8860b"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY)
DARK, GREY, RULE = "#0b1c2d", "#74808c", "#7f8c9845"
ON_PALE = "#10202f"  # text on the pale shades of a heat map; it stays dark where a page turns DARK into a light ink
FAINT = 0.38  # opacity of a bar whose interval contains 0
BAND = 0.2  # opacity of an error band
SHADES = ("#eef4fa", "#cfe1f2", "#9fc6e4", "#62a2cf", "#2a78b8", "#174f86", "#0b2f57")  # of a heat map, from least to most


def shade(share: float) -> str:
    """The colour of a heat map at a share between 0 and 1 of its range.

    >>> shade(0.0), shade(1.0), shade(0.5)
    ('#eef4fa', '#0b2f57', '#62a2cf')
    """
    place = min(max(share, 0.0), 1.0) * (len(SHADES) - 1)
    lower = min(int(place), len(SHADES) - 2)
    ends = [[int(SHADES[i][k : k + 2], 16) for k in (1, 3, 5)] for i in (lower, lower + 1)]
    mixed = [round(a + (b - a) * (place - lower)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink(share: float) -> str:
    """The colour of text on that shade."""
    return "#ffffff" if share > 0.55 else ON_PALE
