"""Synthetic tables: planned, ordered, looked at, downloaded."""

from __future__ import annotations

from server.pages.people import Person

ORDER = {"table": "visits", "column": ["cost", "dept"], "epsilon": "1"}


def test_a_table_is_planned_ordered_and_downloaded(ann: Person) -> None:
    assert "Order one" in ann.get("/d/clinic/synthetic").text
    assert "synthetic visits, 2 columns" in ann.send("/d/clinic/synthetic", **ORDER, do="plan").text
    page = ann.answered(str(ann.send("/d/clinic/synthetic", **ORDER, do="order").url))
    for said in ("Synthetic table", "How good it is", "2 of 2 columns were measured", "marginal", "Parquet"):
        assert said in page.text
    assert ann.get(f"{page.url}/answer.csv").text.startswith("cost,dept\n")
    assert ann.get(f"{page.url}/answer.parquet").content[:4] == b"PAR1"
    assert "synthetic table of visits: cost, dept" in ann.get("/d/clinic/synthetic").text


def test_what_cannot_be_made_is_told_on_the_page(ann: Person) -> None:
    for fields in ({"column": []}, {"table": "none"}, {"epsilon": "x"}, {"column": ["nothing"]}):
        page = ann.send("/d/clinic/synthetic", **(ORDER | fields), do="order")
        assert page.status_code == 400
        assert 'role="alert"' in page.text
