"""The owner's report: right about the truth, marked private wherever it is shown, and out of reach of everybody else."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from matplotlib.figure import Figure

import discreet
from discreet.errors import Invalid
from discreet.session.remote import wire
from discreet.session.remote.session import RemoteSession
from discreet.session.session import Session
from discreet.session.synthesize.owner_report import OwnerReport, owner_report
from discreet.session.synthesize.report import association

SOURCE = Path(discreet.__file__).parent
N = 4000


def people() -> polars.DataFrame:
    """Smoking follows from age; the town has nothing to do with either; one in a hundred lives elsewhere."""
    place = np.arange(N)
    town = np.where(place % 100 == 7, "Rome", np.array(["Delft", "Gouda", "Leiden"])[place * 31 % 7 % 3])
    return polars.DataFrame({"id": place, "age": 20 + place * 7919 % 60, "smokes": place * 7919 % 60 > 30, "town": town})


@pytest.fixture(scope="module")
def made() -> discreet.Synthetic:
    with connected() as db:
        return db.synthesize("people", epsilon=8)


def connected() -> discreet.Session:
    declared: dict[str, Any] = {"bounds": {"age": (20, 79)}, "keys": {"town": ["Delft", "Gouda", "Leiden"]}, "not_null": ["age", "smokes"]}
    return discreet.connect({"people": people()}, unit="id", one_row_per_unit=True, epsilon=10, delta=1e-6, ledger=":memory:", **declared)


@pytest.fixture(scope="module")
def report(made: discreet.Synthetic) -> OwnerReport:
    return owner_report(made, people())


def test_errors_are_those_of_the_truth(made: discreet.Synthetic, report: OwnerReport) -> None:
    """Computed again, with polars, from the rows as values."""
    real = people().filter(polars.col("town") != "Rome")
    assert (report.records, report.elsewhere) == (real.height, N // 100)
    by_name = {one.marginal: one for one in (*report.columns, *report.pairs)}
    for names in (("town",), ("age", "smokes")):
        found = [
            dict(zip(counted.select(names).rows(), counted["len"] / counted["len"].sum(), strict=True))
            for counted in (frame.group_by(names).len() for frame in (real, made.to_polars()))
        ]
        off = sum(abs(found[0].get(key, 0) - found[1].get(key, 0)) for key in found[0].keys() | found[1].keys())
        assert by_name[names].error == pytest.approx(off, abs=1e-9)
    table = np.array(real.select("age", "smokes").to_numpy(), int)
    true = association(np.histogram2d(table[:, 0], table[:, 1], bins=[np.arange(20, 81), 2])[0])
    assert by_name["age", "smokes"].association == pytest.approx(true)
    assert by_name["age", "smokes"].rows_association == pytest.approx(true, abs=0.1)
    assert true > 0.9


def test_a_table_of_the_real_rows_has_no_error(made: discreet.Synthetic) -> None:
    """Synthetic rows given as the real ones: every error is 0, so an error is of rows and not of the comparison."""
    report = owner_report(made, made.to_polars())
    assert max(one.error for one in (*report.columns, *report.pairs)) == pytest.approx(0, abs=1e-12)
    assert max(one.apart for one in report.pairs) == pytest.approx(0, abs=1e-12)


def test_noise_explains_what_was_measured_and_nothing_else(report: OwnerReport) -> None:
    """All was measured here; with enough budget the errors are about those of noise."""
    assert all(one.noise is not None and one.error <= 4 * one.noise + 0.01 for one in (*report.columns, *report.pairs))
    assert report.not_measured == ()
    with connected() as db:
        columns_alone = owner_report(db.synthesize("people", epsilon=8, workload=1), people())
    assert set(columns_alone.not_measured) == {("age", "smokes"), ("age", "town"), ("smokes", "town")}
    worst = max(columns_alone.pairs, key=lambda one: one.error)
    assert worst.marginal == ("age", "smokes")
    assert "3 of 3 pairs, not measured" in str(columns_alone)
    assert "by the model alone: age × smokes" in str(columns_alone)


@pytest.mark.parametrize("as_given", [lambda t: t.to_pandas(), lambda t: t.to_arrow(), lambda t: t.to_dict(as_series=False)])
def test_any_data_frame_will_do(made: discreet.Synthetic, report: OwnerReport, as_given: Any) -> None:
    assert owner_report(made, as_given(people())) == report


def test_what_cannot_be_compared(made: discreet.Synthetic) -> None:
    with pytest.raises(Invalid, match="no column 'smokes'"):
        owner_report(made, people().drop("smokes"))
    with pytest.raises(Invalid, match="none of these rows"):
        owner_report(made, people().filter(polars.col("town") == "Rome"))
    with pytest.raises(Invalid, match="different lengths"):
        owner_report(made, {"age": [20, 30], "smokes": [True], "town": ["Delft", "Gouda"]})


# ── marked ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_private_wherever_it_is_shown(report: OwnerReport, tmp_path: Path) -> None:
    assert repr(report) == str(report)
    assert str(report).startswith("PRIVATE: ")
    assert report._repr_html_().index("PRIVATE") < report._repr_html_().index("<table>")
    assert report.to_html(tmp_path / "report.html") is None
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>PRIVATE: " in page
    assert all(row["private"] is True for row in report.rows)
    assert {row["marginal"] for row in report.rows} == {"age", "smokes", "town", "age × smokes", "age × town", "smokes × town"}
    figure = report.plot()
    assert isinstance(figure, Figure)
    assert figure.get_suptitle().startswith("PRIVATE: ")
    report.plot(tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_it_is_not_pickled(report: OwnerReport) -> None:
    with pytest.raises(Invalid, match="private"):
        pickle.dumps(report)


# ── out of reach ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_that_serves_others_knows_it() -> None:
    """No other module imports it (one names it): sessions, the wire, servers, agents and commands cannot be asked for it."""
    knowing = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if "owner_report" in path.read_text(encoding="utf-8")}
    assert knowing == {"session/synthesize/owner_report.py", "session/synthesize/report.py"}
    assert "owner_report" not in wire.FIRST | wire.builder_methods()
    for session in (Session, RemoteSession, discreet.Synthetic):
        assert not any("owner" in name and "report" in name for name in dir(session))


def test_it_needs_the_real_rows_and_no_connection(made: discreet.Synthetic, report: OwnerReport, tmp_path: Path) -> None:
    """A table that was saved, opened where there is no session: what was released does not lead to the truth."""
    made.save(tmp_path / "made.json")
    opened = discreet.Synthetic.open(tmp_path / "made.json")
    assert owner_report(opened, people()) == report
    with pytest.raises(TypeError):
        owner_report(opened)  # type: ignore[call-arg]


def test_the_public_report_stays_public(made: discreet.Synthetic) -> None:
    """The analyst's report is the same whatever the real rows are: it is made from what was released."""
    assert "PRIVATE" not in str(made.report()) + str(made.report().to_html())
    assert made.report() == discreet.Synthetic.from_text(made.to_text()).report()
    assert isinstance(pandas.DataFrame(made.report().rows), pandas.DataFrame)
