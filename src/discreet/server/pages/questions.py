"""A form for people who do not write SQL: pick what to measure, by which groups and of which rows, and the SQL is written for them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from discreet.errors import Error, Invalid
from discreet.server.access import ASKING, Caller, by_login
from discreet.server.datasets import DataSet
from discreet.server.outcome import as_outcome
from discreet.server.pages.asking import EPSILON, ask
from discreet.server.pages.forms import Fields, Posted, posted
from discreet.server.pages.looking import dataset_of
from discreet.server.pages.rendering import render
from discreet.session.about import quoted
from discreet.session.synthesize.codes import literal
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table

router = APIRouter(include_in_schema=False)
Asker = Annotated[Caller, Depends(by_login(*ASKING))]
Sent = Annotated[Posted, Depends(posted(*ASKING))]
OF_NUMBERS = {"avg": ("mean of", "AVG", "mean"), "sum": ("sum of", "SUM", "total"), "median": ("median of", "MEDIAN", "median")}
TESTS = {
    "=": "is",
    "<>": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "null": "is missing",
    "not null": "is there",
}
FILTERS = 3
_STEPS = {"day", "week", "month", "quarter", "year"}


@router.get("/d/{name}/question")
def question_page(request: Request, name: str, caller: Asker, table: str | None = None) -> Response:
    """The form, for one table."""
    return _page(request, caller, dataset_of(request, caller.account, name), table)


@router.post("/d/{name}/question")
def question(request: Request, name: str, sent: Sent) -> Response:
    """The page on which the question that was put together is planned and asked."""
    data = dataset_of(request, sent.caller.account, name)
    try:
        sql = written(_table(data, sent.fields.text("table", 1000)), sent.fields)
    except Error as error:
        return _page(request, sent.caller, data, sent.fields.text("table", 1000), as_outcome(error), 400)
    return ask(request, sent.caller, data, sql, sent.fields.text("epsilon", 50) or EPSILON)


def written(table: Table, fields: Fields) -> str:
    """The SQL of what was picked; names and values are quoted, whatever they contain."""
    measure = _measure(table, fields.text("measure", 1000))
    tests = [test for place in range(FILTERS) if (test := _test(table, fields, place))]
    group = _group(table, fields)
    lines = [f"SELECT {group + ', ' if group else ''}{measure}", f"FROM {quoted(table.name)}"]
    lines += [f"WHERE {' AND '.join(tests)}"] if tests else []
    lines += ["GROUP BY 1"] if group else []
    return "\n".join(lines)


def _measure(table: Table, picked: str) -> str:
    if picked in ("", "rows"):
        return "COUNT(*) AS n"
    if picked == "units" and table.unit_column is not None:
        return f"COUNT(DISTINCT {quoted(table.unit_column)}) AS n"
    what, _, name = picked.partition(":")
    if what not in OF_NUMBERS:
        raise Invalid("choose what to measure from the list")
    _, function, output = OF_NUMBERS[what]
    return f"{function}({quoted(_column(table, name).name)}) AS {output}"


def _group(table: Table, fields: Fields) -> str:
    name = fields.text("group", 1000)
    if not name:
        return ""
    column, step = _column(table, name), fields.text("step", 50)
    if column.kind.numeric and step:
        width = fields.number("step")
        return f"FLOOR({quoted(name)} / {width}) * {width} AS {quoted(name)}"
    if column.kind in (Kind.DATE, Kind.TIMESTAMP) and step:
        if step not in _STEPS:
            raise Invalid(f"dates are grouped by one of {', '.join(sorted(_STEPS))}")
        return f"DATE_TRUNC('{step}', {quoted(name)}) AS {quoted(name)}"
    return quoted(name)


def _test(table: Table, fields: Fields, place: int) -> str:
    name, test, typed = fields.text(f"column{place}", 1000), fields.text(f"test{place}"), fields.text(f"value{place}", 1000)
    if not name:
        return ""
    column = _column(table, name)
    if test not in TESTS:
        raise Invalid("choose how to compare from the list")
    if test in ("null", "not null"):
        return f"{quoted(name)} IS {test.upper()}"
    return f"{quoted(name)} {test} {_value(column, fields, f'value{place}', typed)}"


def _value(column: ColumnMetadata, fields: Fields, field: str, typed: str) -> str:
    """A value as SQL reads it, by the type of its column."""
    if column.kind.numeric:
        return fields.number(field)
    if column.kind is Kind.BOOLEAN:
        if typed.lower() not in ("true", "false", "yes", "no"):
            raise Invalid(f"{column.name} is true or false")
        return "TRUE" if typed.lower() in ("true", "yes") else "FALSE"
    return literal(column.kind.read(typed, column.name))


def _column(table: Table, name: str) -> ColumnMetadata:
    found = table.column(name)
    if found is None:
        raise Invalid("choose a column from the list")
    return found


def _table(data: DataSet, name: str) -> Table:
    found = data.catalog.table(name)
    if found is None or not found.private:
        raise Invalid("choose a table from the list")
    return found


def _page(request: Request, caller: Caller, data: DataSet, table: str | None, problem: Any = None, status: int = 200) -> Response:
    private = [one for one in data.catalog.tables if one.private]
    chosen = next((one for one in private if one.name == table), private[0] if private else None)
    columns = [] if chosen is None else [one for one in chosen.columns if one.name != chosen.unit_column]
    return render(
        request,
        "question.html",
        caller,
        status,
        data={"name": data.name},
        tab="question",
        tables=[one.name for one in private],
        table=chosen,
        columns=columns,
        numbers=[one for one in columns if one.kind.numeric],
        measures=OF_NUMBERS,
        tests=TESTS,
        filters=range(FILTERS),
        epsilon=EPSILON,
        problem=problem,
    )
