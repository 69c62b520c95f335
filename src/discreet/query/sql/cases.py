"""The closed list of syntax that an expression may use."""

from __future__ import annotations

from sqlglot import exp

from discreet.query.sql import conditions, date_formats, moments, numbers, words
from discreet.query.sql.literals import read_boolean, read_literal
from discreet.query.sql.reader import Case
from discreet.query.sql.typed import literal

CASES: dict[type[exp.Expr], Case] = {
    exp.Literal: lambda node, reader: read_literal(node),
    exp.Boolean: lambda node, reader: read_boolean(node),
    exp.Null: lambda node, reader: literal(None),
    **conditions.CASES,
    **numbers.CASES,
    **words.CASES,
    **moments.CASES,
    **date_formats.CASES,
}
NAMED: dict[str, Case] = {**numbers.NAMED, **moments.NAMED, **date_formats.NAMED}
