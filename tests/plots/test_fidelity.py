"""How faithful a synthetic table is: bars of columns, a triangle of pairs, associations beside a diagonal."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from plots.figures import check_text

from discreet.errors import Invalid
from discreet.plots.fidelity import MOST_COLUMNS, Mark, draw_fidelity
from discreet.session.synthesize.owner_report import PRIVATE


def marks(names: list[str]) -> tuple[list[Mark], list[Mark]]:
    """Columns with errors of 1 %, 2 %, …; pairs with those of their columns added up; the last pair was not measured."""
    columns = [Mark((name,), 0.01 * (i + 1), 0.015) for i, name in enumerate(names)]
    pairs = [Mark((a, b), 0.01 * (i + j + 2), 0.02, 0.5, 0.4) for (i, a), (j, b) in combinations(enumerate(names), 2)]
    return columns, [*pairs[:-1], *(one._replace(noise=None) for one in pairs[-1:])]


def drawn(names: list[str], warning: str = "") -> Figure:
    figure = draw_fidelity(*marks(names), reference="model", title="how faithful", warning=warning)
    assert isinstance(figure, Figure)
    return figure


def test_bars_noise_and_pairs_are_where_they_belong() -> None:
    bars, heat, associations = drawn(["a", "b", "c"]).axes[:3]
    assert [bar.get_width() for bar in bars.patches] == pytest.approx([0.01, 0.02, 0.03])
    assert list(bars.lines[0].get_xdata()) == [0.015] * 3
    values = np.ma.filled(heat.images[0].get_array(), np.nan)
    assert values == pytest.approx(np.array([[0.03, np.nan], [0.04, 0.05]]), nan_ok=True)
    assert heat.get_xticklabels()[1].get_text() == "b"
    assert heat.get_yticklabels()[1].get_text() == "c"
    assert (list(heat.lines[0].get_xdata()), list(heat.lines[0].get_ydata())) == ([1], [1])  # b × c was not measured
    assert [len(line.get_xdata()) for line in associations.lines] == [2, 2, 1]  # the diagonal, measured, not measured


def test_a_pair_without_an_error_is_blank() -> None:
    columns, pairs = marks(["a", "b"])
    figure = draw_fidelity(columns, [pairs[0]._replace(error=None, noise=None)], reference="model", title="t")
    assert isinstance(figure, Figure)
    assert np.isnan(np.ma.filled(figure.axes[1].images[0].get_array(), np.nan)).all()


def test_one_column_has_no_pairs() -> None:
    assert len(drawn(["a"]).axes) == 1


def test_a_warning_is_above_and_below() -> None:
    figure = drawn(["a", "b"], "PRIVATE: do not publish")
    assert figure.get_suptitle() == "PRIVATE: do not publish\nhow faithful"
    assert figure.get_supxlabel().endswith("PRIVATE: do not publish")
    assert "PRIVATE" not in drawn(["a", "b"]).get_suptitle() + drawn(["a", "b"]).get_supxlabel()


def test_many_columns_are_not_all_drawn() -> None:
    figure = drawn([f"column {i}" for i in range(MOST_COLUMNS + 3)])
    assert "3 more columns are not drawn" in figure.get_supxlabel()
    assert len(figure.axes[0].patches) == MOST_COLUMNS


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["$\\frac{", "b" * 200, *"cdefgh"]])
def test_no_text_is_cut_off(names: list[str]) -> None:
    check_text(drawn(names, PRIVATE))


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    assert draw_fidelity(*marks(["a", "b"]), tmp_path / "plot.png", reference="model", title="t") is None
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(Invalid, match=r"\.png, \.svg, \.pdf"):
        draw_fidelity(*marks(["a", "b"]), "plot.exe", reference="model", title="t")
    with pytest.raises(Invalid, match="nothing to draw"):
        draw_fidelity([], [], reference="model", title="t")
