"""A release: how it looks, and every way to take it elsewhere."""

from __future__ import annotations

import csv
import datetime
import io
import json
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from matplotlib.figure import Figure
from session.clinic import DEPARTMENTS, clinic, visits
from session.served import policy, remote_session

from discreet.errors import Invalid
from discreet.ledger.receipt import Paid, PricedRequest, Receipt
from discreet.loss.leaves import Pure
from discreet.run.output_column import OutputColumn
from discreet.session.release import Release

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost, MEDIAN(cost) AS middle FROM visits GROUP BY dept"
ASKED = {"keys": [["k", {}]], "outputs": [["k", {"is": "Column", "name": "k"}], ["n", {"is": "Column", "name": "m"}]]}


def receipt(asked: dict[str, Any] = ASKED, delta: str = "0", **said: Any) -> Receipt:
    priced = PricedRequest("question", asked, Fraction(1, 2), Fraction(delta), "each patient_id", "add/remove", "policy", "1")
    return Receipt(priced, (Paid(priced.question, Pure(Fraction(1, 2)), 3, "hash"),), **said)


RECEIPT = receipt()


def opened(where: str) -> Any:
    """The clinic, here or on a server."""
    said = {"bounds": {"cost": (0, 500)}, "keys": {"dept": DEPARTMENTS}, "contributions": {"rows": 3}}
    toml = policy("visits", unit="patient_id", epsilon=10, delta=1e-6, **said)
    return clinic() if where == "local" else remote_session({"visits": visits()}, toml)


@pytest.fixture(scope="module", params=["local", "remote"])
def release(request: pytest.FixtureRequest) -> Any:
    with opened(request.param) as db:
        return db.sql(SQL).release(1)


def test_it_prints_values_with_errors_and_what_it_cost(release: Release) -> None:
    lines = repr(release).splitlines()
    assert lines[0].split() == ["dept", "visits", "mean_cost", "middle"]
    assert [line.split()[0] for line in lines[2:5]] == ["er", "ward", "lab"]
    assert all(" ± " in line for line in lines[2:4])
    assert "cost ε = 1 (ledger entry 1)" in lines
    assert any(
        line.startswith("± is a 95 % interval for the noise; it excludes bias from clipping cost to 0 … 500 and from") for line in lines
    )


def test_an_empty_group_is_too_small_to_tell(release: Release) -> None:
    row = next(line for line in repr(release).splitlines() if line.startswith("lab"))
    assert "~" in row
    assert "the interval contains 0" in repr(release)


@pytest.mark.parametrize("where", ["local", "remote"])
def test_a_repeat_says_that_it_is_free(where: str) -> None:
    with opened(where) as db:
        first, again = (db.sql(SQL).release(1) for _ in range(2))
    assert "answered before, so free now (it cost ε = 1; ledger entry 1)" in repr(again)
    assert "answered before" not in repr(first)
    assert first.rows == again.rows


@pytest.mark.parametrize("where", ["local", "remote"])
def test_a_dry_run_says_what_it_is(where: str) -> None:
    with opened(where) as db:
        assert "dry run on mock data: no private row was read and nothing was charged" in repr(db.sql(SQL).dry_run())


def test_keys_are_told_from_numbers(release: Release) -> None:
    assert release.keys == ("dept",)
    assert [series.is_key for series in release.series] == [True, False, False, False]


def test_notebooks_get_a_page_with_nothing_unescaped() -> None:
    release = Release((OutputColumn("k", ["<script>"]), OutputColumn("n", [5], None, 2.0)), RECEIPT)
    assert "<script>" not in release._repr_html_()
    assert "&lt;script&gt;" in release._repr_html_()
    assert "5 <span" in release._repr_html_()


def test_frames_have_the_columns_and_their_ends(release: Release) -> None:
    names = [
        "dept",
        "visits",
        "visits_low",
        "visits_high",
        "mean_cost",
        "mean_cost_low",
        "mean_cost_high",
        "middle",
        "middle_low",
        "middle_high",
    ]
    assert list(release.to_pandas().columns) == names
    assert release.to_polars().columns == names
    assert release.to_arrow().column_names == names
    assert release.to_polars(intervals=False).columns == ["dept", "visits", "mean_cost", "middle"]
    assert release.to_polars()["visits"].to_list() == [row["visits"] for row in release]
    assert release.to_polars()["visits_low"].to_list() == [ends["visits"][0] for ends in release.intervals]


def test_an_output_called_like_an_end_is_reported() -> None:
    release = Release((OutputColumn("n", [1], None, 2.0), OutputColumn("n_low", [5])), RECEIPT)
    with pytest.raises(Invalid, match="intervals=False"):
        release.to_columns()
    assert release.to_columns(intervals=False) == {"n": [1], "n_low": [5]}


def test_csv_as_text_and_as_a_file(release: Release, tmp_path: Path) -> None:
    text = release.to_csv()
    assert text is not None
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["dept"] for row in rows] == ["er", "ward", "lab"]
    assert float(rows[0]["visits"]) == release.rows[0]["visits"]
    assert release.to_csv(tmp_path / "a.csv") is None
    assert (tmp_path / "a.csv").read_text() == text


def test_what_is_saved_is_read_back(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "a.json")
    again = Release.open(tmp_path / "a.json")
    assert again.rows == release.rows
    assert again.intervals == release.intervals
    assert again.receipt == release.receipt
    assert json.loads((tmp_path / "a.json").read_text())["receipt"]["epsilon"] == "1"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"columns": 3}', "\x00"])
def test_what_is_no_release_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(Invalid, match="not a release"):
        Release.open(tmp_path / "a.json")
    with pytest.raises(Invalid, match="cannot be read"):
        Release.open(tmp_path / "missing.json")


def test_a_plot_of_a_repeated_answer_says_what_it_cost(release: Release) -> None:
    told = [text.get_text() for text in evolve(release, repeated=True).plot().texts]
    assert any("cost ε" in one for one in told)
    assert not any("answered before" in one for one in told)


def test_plots_draw_all_numbers_or_those_named(release: Release, tmp_path: Path) -> None:
    whole = release.plot()
    assert whole.get_suptitle() == "visits, mean_cost, middle by dept"
    assert [axes.get_xlabel() for axes in whole.axes] == ["number of rows", "mean of cost", "median of cost"]
    assert release.plot(column="middle").get_suptitle() == "middle by dept"
    assert len(release.plot(column=["visits", "middle"], title="Two").axes) == 2
    assert release.plot(units={"cost": "€"}).axes[1].get_xlabel() == "mean of cost (€)"
    release.plot(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1000
    with pytest.raises(Invalid, match="there are visits, mean_cost, middle"):
        release.plot(column="nope")


def test_plots_are_drawn_into_axes(release: Release) -> None:
    axes = Figure().add_subplot()
    assert release.plot(ax=axes, title="Visits") is axes
    assert axes.get_title(loc="left") == "Visits"
    assert len(axes.patches) == 3


def test_groups_in_an_order_that_was_asked_for_are_cut_from_its_end() -> None:
    asked = ASKED | {"order": [["k", True]]}
    columns = OutputColumn("k", ["a", "b", "c"]), OutputColumn("n", [1, 2, 3], None, 2.0)
    assert "the first 2 groups, and 1 more group" in Release(columns, receipt(asked)).plot(most=2).get_supxlabel()
    assert "the 2 largest by n, and 1 more group" in Release(columns, RECEIPT).plot(most=2).get_supxlabel()


def test_pages_show_drawings_beside_the_table(release: Release) -> None:
    page = release._repr_html_()
    assert page.count("<svg") == 3
    assert page.index("</table>") < page.index("<svg")


def test_large_releases_print_quickly() -> None:
    size = 100_000
    release = Release((OutputColumn("k", list(range(size))), OutputColumn("n", [float(i) for i in range(size)], None, 2.0)), RECEIPT)
    began = time.perf_counter()
    text, page = repr(release), release._repr_html_()
    assert time.perf_counter() - began < 1.0
    assert "… 99,940 rows are not shown …" in text
    assert "… 99,800 rows are not shown …" in page


@pytest.mark.parametrize("keys", [[2020, 2021, "(other)"], [datetime.date(2024, 1, 1), None, "(other)"]])
def test_numbers_and_dates_beside_other_become_texts(keys: list[Any]) -> None:
    release = Release((OutputColumn("k", keys), OutputColumn("n", [1, 2, 3], None, 2.0)), RECEIPT)
    texts = [None if key is None else str(key) for key in keys]
    assert release.to_arrow()["k"].to_pylist() == texts
    assert release.to_polars()["k"].to_list() == texts
    assert list(release.to_pandas()["k"].astype(object).where(lambda k: k.notna(), None)) == texts
    assert release.rows[0]["k"] == keys[0]


@pytest.mark.parametrize("where", ["local", "remote"])
def test_integer_keys_with_other_on_the_whole_road(where: str) -> None:
    with opened(where) as db:
        release = db.sql("SELECT year, COUNT(*) AS n FROM visits GROUP BY year", other=True).release(2)
    assert release.to_arrow()["year"].to_pylist()[-1] == "(other)"


def test_files_that_cannot_be_written_are_reported(release: Release, tmp_path: Path) -> None:
    for write in (release.save, release.to_csv, release.plot):
        with pytest.raises(Invalid, match="cannot be written"):
            write(tmp_path / "no" / "a.png")


def test_csv_holds_no_formulas_unless_wished() -> None:
    keys = ["=1+1", "+x", "-x", "@x", "\tx", "x=1", "x;=1+1"]
    release = Release((OutputColumn("k", keys), OutputColumn("n", [-1.5] * 7, None, 2.0)), RECEIPT)

    def read(text: str | None) -> list[list[str]]:
        return [row[:2] for row in csv.reader(io.StringIO(text))][1:]

    harmless = ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "x=1", "x;'=1+1"]  # where commas are decimal, a semicolon begins a cell
    assert read(release.to_csv()) == [[key, "-1.5"] for key in harmless]
    assert read(release.to_csv(formulas=True)) == [[key, "-1.5"] for key in keys]


def test_the_small_print_says_what_was_found_and_what_it_means() -> None:
    said = receipt(
        discovered={"limits": {"rows": 5}, "bounds": {"cost": {"low": "0", "high": "440"}}},
        notes=("MAX(cost) is the 0.99 quantile <b>\x1b",),
    )
    release = Release((OutputColumn("k", ["a"]), OutputColumn("n", [5], None, 2.0)), said)
    found = "discovered privately: at most 5 rows per unit; cost clipped to 0 … 440; rows of heavier contributors are down-weighted"
    assert release.small_print[1:3] == ["MAX(cost) is the 0.99 quantile <b>\\x1b", found]
    assert found in repr(release)
    assert found in release._repr_html_()
    assert "<b>" not in release._repr_html_()
    assert release.plot().get_supxlabel().replace("\n", " ") == f"{release.small_print[0]} · cost ε = 0.5 (ledger entry 3)"


@pytest.mark.parametrize(
    ("asked", "delta", "said"),
    [
        ({}, "1/1000", "(no group is large enough to be shown)"),
        ({}, "0", "(no rows)"),
        ({"having": {"is": "Literal"}}, "1/1000", "(no rows)"),
        ({"limit": 0}, "1/1000", "(no rows)"),
        ({"limit": 5, "having": None}, "1/1000", "(no group is large enough to be shown)"),
    ],
)
def test_an_empty_release_says_why(asked: dict[str, Any], delta: str, said: str) -> None:
    release = Release((OutputColumn("k", []), OutputColumn("n", [], None, 2.0)), receipt(ASKED | asked, delta))
    assert said in repr(release).splitlines()
    assert said in release._repr_html_()
