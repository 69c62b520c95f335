"""The report of a synthetic table: from released numbers only, with what was not measured named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from session.synthesize import clinic

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import fit_tree
from discreet.errors import Invalid
from discreet.session.synthesize.report import MOST, association, fidelity, looked_at

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2})
PAIR = np.array([300.0, 100, 50, 50, 100, 400])


def measured() -> list[NoisyMeasurement]:
    counts = [PAIR.reshape(2, 3).sum(axis=1), PAIR.reshape(2, 3).sum(axis=0), np.array([500.0, 500])]
    return [*(NoisyMeasurement((i,), values, 5.0) for i, values in enumerate(counts)), NoisyMeasurement((0, 1), PAIR, 5.0)]


def codes(count: int = 1000) -> list[np.ndarray]:
    """Rows as the pair was measured, and a column by itself."""
    cells = np.repeat(np.arange(6), (PAIR * count / 1000).astype(int))
    return [cells // 3, cells % 3, np.arange(len(cells)) % 2]


def test_distances_noise_and_what_was_not_measured() -> None:
    model = fit_tree(DOMAIN, measured())
    report = fidelity(DOMAIN, measured(), False, model, codes())
    by_name = {one.marginal: one for one in report.pairs}
    assert report.not_measured == (("a", "c"), ("b", "c"))
    assert "by the model alone: a × c, b × c" in str(report)
    assert by_name["a", "b"].explained
    alone = np.sqrt(2 / np.pi) * 5 * 6 / 1000  # of the pair; its columns, measured too, make it smaller
    noise = by_name["a", "b"].noise
    assert noise is not None
    assert 0.6 * alone < noise < 0.8 * alone
    assert by_name["a", "b"].rows_association == pytest.approx(association(PAIR.reshape(2, 3)), abs=1e-9)
    assert {row["marginal"] for row in report.rows} == {"a", "b", "c", "a × b", "a × c", "b × c"}


def test_rows_that_are_wrong_are_named() -> None:
    """Rows in which a never varies; as many or fewer rows than records do not matter by themselves."""
    model, wrong = fit_tree(DOMAIN, measured()), [np.zeros(1000, np.int64), *codes()[1:]]
    assert "farther from what was measured than noise explains: a, a × b" in str(fidelity(DOMAIN, measured(), False, model, wrong))
    fewer = fidelity(DOMAIN, measured(), False, model, codes(100))
    assert all(one.explained is not False for one in (*fewer.columns, *fewer.pairs))


def test_association() -> None:
    assert association(np.outer([1.0, 2, 3], [4.0, 5])) == pytest.approx(0, abs=1e-9)
    assert association(np.diag([1.0, 2, 3])) == pytest.approx(1)
    assert association(np.zeros((2, 2))) == 0


def test_a_table_on_a_session_reports_without_reading() -> None:
    """After the session is closed there is nothing to read, and the report is there."""
    with clinic.session() as db:
        made = db.synthesize("visits", 5, 1e-4, columns=["dept", "urgent"], workload=2)
    report = made.report()
    assert [one.marginal for one in report.columns] == [("dept",), ("urgent",)]
    assert "no real row was read" in str(report)


def test_a_page_a_figure_and_a_table_in_notebooks(tmp_path: Path) -> None:
    """All that it shows is in the report; names are escaped."""
    domain = Domain.of({"<b>": 2, "b": 3, "c": 2})
    report = fidelity(domain, measured(), False, fit_tree(domain, measured()), codes())
    assert repr(report) == str(report)
    assert "&lt;b&gt; × b" in report._repr_html_()
    assert "not measured" in report._repr_html_()
    assert "<b> × b" not in report._repr_html_()
    assert report.to_html(tmp_path / "report.html") is None
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.to_html()
    with pytest.raises(Invalid, match="cannot be written"):
        report.to_html(tmp_path / "nowhere" / "report.html")
    figure = report.plot()
    assert isinstance(figure, Figure)
    assert [len(line.get_xdata()) for line in figure.axes[2].lines] == [2, 1, 2]  # the diagonal, one measured pair, two others


def test_pairs_that_are_not_looked_at_are_counted() -> None:
    """Of 30 columns there are 435 pairs."""
    domain = Domain.of({f"c{i}": 2 for i in range(30)})
    looked, left_out = looked_at(domain)
    assert (len(looked), left_out, len(set(looked))) == (MOST, 435 - MOST, MOST)
    assert looked_at(Domain.of({"a": 2})) == ([], 0)
