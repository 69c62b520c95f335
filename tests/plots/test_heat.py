"""Heat maps: a cell for each pair, written while there is room."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from plots.figures import amounts, drawn, key, labels

from discreet.plots.table import Series


def heat(down: int, across: int, **said: Any) -> Figure:
    both = list(itertools.product(range(down), range(across)))
    keys = [key("d", [f"diagnosis {i}" for i, _ in both]), key("a", [f"a long name of a ward {j}" for _, j in both])]
    return drawn(keys, [amounts("n", [3 * i for i in range(len(both))], **said)], len(both))


def test_cells_are_values_from_zero() -> None:
    figure = heat(10, 7)
    axes = figure.axes[0]
    (image,) = axes.images
    assert image.get_array().shape == (10, 7)
    assert image.get_clim() == (0, 3 * 69)
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("d", "a")
    assert labels(axes.texts)[:2] == ["0 ~\n± 5", "3 ~\n± 5"]
    assert labels(axes.texts)[-1] == "207\n± 5"
    assert "~ the interval contains 0" in figure.get_supxlabel()
    assert "in most cells" not in figure.get_supxlabel()


def test_small_cells_have_their_error_below() -> None:
    figure = heat(20, 18)
    assert labels(figure.axes[0].texts) == ["~", "~"]  # 0 ± 5 and 3 ± 5
    assert "n: ± 5.0 in most cells" in figure.get_supxlabel()


def test_means_are_shaded_from_the_least() -> None:
    axes = heat(10, 7, is_place=True).axes[0]
    assert axes.images[0].get_clim() == (0, 207)
    both = list(itertools.product(range(10), range(7)))
    keys = [key("d", [str(i) for i, _ in both]), key("a", [f"a{j}" for _, j in both])]
    shifted = Series("m", [100.0 + i for i in range(70)], is_place=True)
    assert drawn(keys, [shifted], 70).axes[0].images[0].get_clim() == (100, 169)


def test_pairs_that_were_not_released_stay_blank() -> None:
    both = [(i, j) for i, j in itertools.product(range(10), range(7)) if i != j]
    keys = [key("d", [f"d{i}" for i, _ in both]), key("a", [f"a{j}" for _, j in both])]
    axes = drawn(keys, [amounts("n", [5] * len(both))], len(both)).axes[0]
    assert int(np.isnan(np.asarray(axes.images[0].get_array().filled(np.nan))).sum()) == 7
    assert len(axes.texts) == len(both)


def test_long_numbers_are_not_squeezed_into_cells() -> None:
    both = list(itertools.product(range(10), range(7)))
    keys = [key("d", [f"d{i}" for i, _ in both]), key("a", [f"a{j}" for _, j in both])]
    figure = drawn(keys, [amounts("n", [12_345_678_901_234 + i for i in range(70)])], 70)
    assert not figure.axes[0].texts
    assert "in most cells" in figure.get_supxlabel()
