"""Conversations: opened, asked, closed."""

from __future__ import annotations

from server.pages.people import Person

from discreet.server.pages.shown import ShownCell, ShownTable
from discreet.server.pages.talking import _with_sources

OPEN = {"table": "visits", "column": ["cost", "dept"], "epsilon": "2", "accuracy": "500"}


def test_a_conversation_answers_and_the_same_question_is_free(ann: Person, bob: Person) -> None:
    assert "Before you spend" in ann.send("/d/clinic/talk", **OPEN, do="plan").text
    page = ann.send("/d/clinic/talk", **OPEN, do="open")
    assert "/talk/" in str(page.url), page.text
    address = str(page.url).removeprefix("http://testserver")
    for _ in range(2):
        page = ann.send(address, value1=["0", "1"], low0="10", high0="100")
        assert page.status_code == 200
    assert "measured for this question" in page.text
    assert "asked before, so free" in page.text
    assert "cached" not in page.text
    assert "the mean of cost" in page.text
    assert ann.send(address, mean="cost").status_code == 200
    assert ann.send(address, value1="99").status_code == 400
    assert ann.send(address, low0="x").status_code == 400
    assert bob.get(address).status_code == bob.get("/talk/none").status_code == 404
    assert address in ann.get("/d/clinic/talk").text
    ann.send(f"{address}/close")
    assert ann.get(address).status_code == 404


def test_what_cannot_be_opened_is_told_on_the_page(ann: Person) -> None:
    for fields in ({"column": []}, {"table": "none"}, {"accuracy": "x"}, {"accuracy": "0"}):
        assert ann.send("/d/clinic/talk", **(OPEN | fields), do="open").status_code == 400


def test_an_answer_that_was_not_tested_says_so() -> None:
    values = [("hypothesis", "± 5"), ("hypothesis", ""), ("posterior", "± 2")]
    table = ShownTable([], [[ShownCell("count"), ShownCell("9", error), ShownCell(source)] for source, error in values], "", [], "")
    told = [row[2].value for row in _with_sources(table).rows]
    assert [("not tested" in one, "tested against the data" in one) for one in told] == [(False, True), (True, False), (False, False)]
