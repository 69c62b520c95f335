"""Figures in files: the format is checked before anything is drawn, and a file that cannot be written is an error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from discreet.errors import Invalid
from discreet.plots.save import check_format, save_or_return


def test_without_a_path_the_figure_is_returned() -> None:
    figure = Figure()
    check_format(None)
    assert save_or_return(figure, None, dpi=50) is figure


@pytest.mark.parametrize("name", ["plot.PNG", "a.b.svg", "plot.pdf"])
def test_known_endings_are_written(tmp_path: Path, name: str) -> None:
    check_format(tmp_path / name)
    assert save_or_return(Figure(), tmp_path / name, dpi=50) is None
    assert (tmp_path / name).stat().st_size > 100


@pytest.mark.parametrize("name", ["plot.exe", "plot", "png"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="give a path with one of these endings"):
        check_format(name)


def test_a_folder_that_does_not_exist_is_an_invalid_path(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"cannot be written: check that its folder exists and is writable"):
        save_or_return(Figure(), tmp_path / "nowhere" / "plot.png", dpi=50)
