"""Results of statements; and the columns of an answer, known before it is asked for: they follow from the plan alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, assert_never, final

from attrs import frozen

from discreet.errors import Refused
from discreet.plan.steps import Steps
from discreet.query.post import smooth
from discreet.query.question import Question, grouping_column
from discreet.query.relation.expr import Call, Column, Expr, columns_of, field_of
from discreet.query.relation.expr import Literal as Constant
from discreet.query.relation.field import Field
from discreet.query.sql.typed import Typed, of_answers
from discreet.query.statistics.percentile import Percentile
from discreet.query.windows import Window
from discreet.server.postgres_wire.types import FLOAT8, TEXT, TYPES, Type, type_of
from discreet.session.release import Release
from discreet.tables.kind import Kind

Part: TypeAlias = Literal["values", "low", "high"]
# what these give may have more than 64 bits, which would be found out only after the question was paid for
_GROWING, _ROUNDING = ("add", "subtract", "multiply"), ("floor", "ceil", "truncate", "round", "modulo")
_WHOLE = ("row_number", "rank", "dense_rank", "ntile", "count")


@final
@frozen
class ResultColumn:
    """A column of a result."""

    name: str
    type: Type


@final
@frozen
class AnswerColumn:
    """A column of an answer: the values of an output, or the lower or upper ends of their intervals."""

    name: str
    type: Type
    output: str
    part: Part


@final
@frozen
class Result:
    """What a statement gives: rows, and its command tag, as in SELECT 3. Without columns it gives no rows."""

    tag: str
    columns: tuple[ResultColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()  # which clients show, or keep beside the rows


def answer_columns(steps: Steps, intervals: bool) -> tuple[AnswerColumn, ...]:
    """The columns of the answer to a question; with intervals, `x` is followed by `x_low` and `x_high` where it may have some."""
    question, found = steps.question, list[AnswerColumn]()
    fields, with_others = _fields(steps), _keys_with_others(steps)
    for name, expr in question.outputs:
        kind = Kind.TEXT if columns_of(expr) & with_others else _kind(expr, fields)
        found.append(AnswerColumn(name, type_of(kind), name, "values"))
        if intervals and _has_interval(expr, question):
            found.append(AnswerColumn(f"{name}_low", TYPES[FLOAT8], name, "low"))
            found.append(AnswerColumn(f"{name}_high", TYPES[FLOAT8], name, "high"))
    if len({column.name for column in found}) < len(found):
        raise Refused("an output has the same name as an interval's end; rename it, or SET discreet.intervals = off")
    return tuple(found)


def answer_rows(release: Release, columns: Sequence[AnswerColumn]) -> list[tuple[Any, ...]]:
    """The rows of an answer; an end that is not known is NULL."""
    outputs = {column.name: column for column in release.columns}
    empty = [None] * len(release)
    found = [_of_type(column.type, getattr(outputs[column.output], column.part) or empty) for column in columns]
    return list(zip(*found, strict=True))


def _of_type(of: Type, values: Sequence[Any]) -> Sequence[Any]:
    """The values as a type writes them: those of a text column as text."""
    return [value if value is None else str(value) for value in values] if of.oid == TEXT else values


def _keys_with_others(steps: Steps) -> set[str]:
    """Keys of numbers, dates or truth values that may also have the value (other), so that what shows them is text."""
    question = steps.question
    if not question.other and steps.open_keys is None:
        return set()
    return {name for name, expr in question.keys if field_of(expr, question.schema).kind is not Kind.TEXT}


def _fields(steps: Steps) -> dict[str, Field]:
    """Keys, statistics and windows by name. A count is whole where it is known beforehand that rows carry no weights."""
    question = steps.question
    found = {name: field_of(expr, question.schema) for name, expr in question.keys}
    for name, statistic in question.additive.items():
        counted = None if steps.available_totals is None else statistic.counted(steps.available_totals)
        whole = counted is not None and not question.sets and all(one.unit == 1 for one in steps.totals if one.total == counted)
        found[name] = Field(Kind.INTEGER if whole else Kind.REAL, nullable=True)
    for name, chosen in question.selected.items():
        found[name] = chosen.answer(question.schema)
    if question.sets:
        found |= {grouping_column(name): Field(Kind.INTEGER) for name, _ in question.keys}
    for name, window in question.windows:
        found[name] = Field(_window_kind(window, found), nullable=True)
    return found


def _window_kind(window: Window, fields: dict[str, Field]) -> Kind | None:
    if window.function in _WHOLE:
        return Kind.INTEGER
    kind = None if window.argument is None else _kind(window.argument, fields)
    return Kind.REAL if kind is Kind.INTEGER or window.function in ("sum", "avg", "percent_rank", "cume_dist") else kind


def _kind(expr: Expr, fields: dict[str, Field]) -> Kind | None:
    """The kind of an expression over released values, by the rules by which it was read."""
    return _typed(expr, fields).field.kind


def _typed(expr: Expr, fields: dict[str, Field]) -> Typed:
    match expr:
        case Column(name):
            return Typed(expr, fields[name])
        case Constant():
            return Typed(expr, field_of(expr, {}))
        case Call(function, arguments):
            inside = [_typed(argument, fields) for argument in arguments]
            try:
                found = of_answers(function, inside)
            except (Refused, ValueError):  # a function of whole numbers, on what is a real number after noise
                return Typed(expr, Field(Kind.REAL, nullable=True))
            grows = function in _GROWING or (function in _ROUNDING and any(one.field.kind is Kind.REAL for one in inside))
            return Typed(expr, Field(Kind.REAL, nullable=True)) if grows else found
    assert_never(expr)


def _has_interval(expr: Expr, question: Question) -> bool:
    used = columns_of(expr)
    if isinstance(expr, Column) and expr.name in question.selected:
        return isinstance(question.selected[expr.name], Percentile)
    if not used & {*question.additive, *dict(question.windows)} or used & set(question.selected):
        return False
    return isinstance(expr, Column) or smooth(expr) is not None
