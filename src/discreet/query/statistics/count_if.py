"""COUNT_IF: how many rows meet a condition. COUNT(*) FILTER (WHERE …) is the same question, so it is the same value."""

from __future__ import annotations

from typing import Any, final

from attrs import frozen

from discreet.query.relation.expr import Literal, Schema, call
from discreet.query.statistics.count import Count
from discreet.query.statistics.spelling import Spelling
from discreet.query.statistics.statistic import Argument


@final
@frozen
class CountIf(Spelling):
    """An alternative spelling of a count."""

    spellings = {"COUNT_IF": {}, "COUNTIF": {}}
    methods = {"count_if": "COUNT_IF"}
    arguments = (Argument.CONDITION,)

    @classmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> Count:
        return Count(call("case", arguments[0], Literal(1), Literal(None)))
