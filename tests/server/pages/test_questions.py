"""The form writes SQL that can be planned, whatever names and values contain."""

from __future__ import annotations

import html
import re

import pytest
from server.pages.people import Person

from discreet.errors import Invalid
from discreet.server.pages.forms import Fields
from discreet.server.pages.questions import written
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person as Unit

TABLE = Table(
    "my visits",
    (
        ColumnMetadata("who", Kind.INTEGER),
        ColumnMetadata('a"b', Kind.TEXT),
        ColumnMetadata("day", Kind.DATE),
        ColumnMetadata("ok", Kind.BOOLEAN),
        ColumnMetadata("cost", Kind.REAL),
    ),
    Unit("who"),
)


def sql(**fields: str) -> str:
    return written(TABLE, Fields({name: [text] for name, text in fields.items()}))


def test_names_and_values_are_quoted() -> None:
    assert sql(measure="units") == 'SELECT COUNT(DISTINCT who) AS n\nFROM "my visits"'
    assert sql(measure="rows", group='a"b') == 'SELECT "a""b", COUNT(*) AS n\nFROM "my visits"\nGROUP BY 1'
    found = sql(measure="avg:cost", column0='a"b', test0="=", value0="it's", column1="day", test1=">=", value1="2026-01-31")
    assert found == "SELECT AVG(cost) AS mean\nFROM \"my visits\"\nWHERE \"a\"\"b\" = 'it''s' AND day >= DATE '2026-01-31'"
    assert "ok = TRUE" in sql(column0="ok", test0="=", value0="yes")
    assert "cost IS NOT NULL" in sql(column2="cost", test2="not null")
    assert "FLOOR(cost / 0.5) * 0.5 AS cost" in sql(group="cost", step="0,5")
    assert "DATE_TRUNC('month', day) AS day" in sql(group="day", step="month")


@pytest.mark.parametrize(
    "fields",
    [
        {"measure": "drop:cost"},
        {"measure": "avg:nothing"},
        {"group": "nothing"},
        {"group": "cost", "step": "1; DROP"},
        {"group": "day", "step": "'x"},
        {"column0": "cost", "test0": "OR 1=1", "value0": "1"},
        {"column0": "cost", "test0": "=", "value0": "1 OR 1"},
        {"column0": "ok", "test0": "=", "value0": "maybe"},
        {"column0": "day", "test0": "=", "value0": "tomorrow"},
    ],
)
def test_what_is_not_on_the_list_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        sql(**fields)


def test_the_question_lands_on_the_ask_page_with_its_plan(ann: Person) -> None:
    assert "how many different person" in ann.get("/d/clinic/question").text
    page = ann.send(
        "/d/clinic/question", table="visits", measure="avg:cost", group="dept", column0="cost", test0=">", value0="10", epsilon="0.5"
    ).text
    text = re.search(r"(?s)<textarea[^>]*>\s*(.*?)</textarea>", page)
    assert text is not None
    assert html.unescape(text.group(1)) == "SELECT dept, AVG(cost) AS mean\nFROM visits\nWHERE cost > 10\nGROUP BY 1"
    assert "mean: expected error" in page
    assert ann.send("/d/clinic/question", table="none").status_code == 400
