"""The gallery: every kind of plot is drawn from made-up data, and no text is cut off."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from plots.drawings import read
from plots.figures import check_text

from discreet.plots.layout import Bars, Binned, Grid, Lines, layout_of

SCRIPT = Path(__file__).parents[2] / "examples" / "gallery.py"
KINDS = {
    "bars": Bars, "histogram": Binned, "floors": Binned, "grouped": Grid, "heat": Grid, "dates": Lines, "lines": Lines, "panels": Bars,
    "means": Bars, "many": Bars, "one_row": Bars, "empty": Bars,
}  # fmt: skip


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def releases(gallery: ModuleType) -> Any:
    found = gallery.releases()
    assert set(found) == set(KINDS)
    return found


def test_each_question_gets_its_layout(releases: Any) -> None:
    for kind, release in releases.items():
        numbers = [series for series in release.series if not series.is_key]
        layout = layout_of([series for series in release.series if series.is_key], numbers[0], len(release))
        assert isinstance(layout, KINDS[kind]), kind


def test_no_text_of_any_figure_is_cut_off(releases: Any) -> None:
    for release in releases.values():
        check_text(release.plot(units={"cost": "€", "age": "years"}))
        read(release._repr_html_()[release._repr_html_().index("<div") :].replace("&nbsp;", " "))
